//! The arrays of formats that store no column per slot, as the warps of a GPU read them: BSR, DIA,
//! and compact HLL in groups of four slots.

use sparsescope_core::kernel::LANES;
use sparsescope_core::layout::{Array, ArrayInfo};
use sparsescope_core::matrix::{AnyFormat, Bsr, Coded, CompactHll, Dia, Fours};

use super::arrays::with;
use super::cells::{Cell, Owner, Strip};
use crate::model::value;

/// Rows of a hack, one per lane (compact HLL).
const ROWS: usize = LANES as usize;

/// Slots of a group: four per lane (compact HLL).
const GROUP: usize = 4 * ROWS;

/// Details that the name of the format omits.
pub(super) fn detail(a: &AnyFormat) -> Option<String> {
    match a {
        AnyFormat::Bsr(a) => Some(format!("blocks of {0} × {0}", a.block())),
        AnyFormat::Dia(a) => match a.offsets() {
            [_] => Some("1 diagonal".into()),
            offsets => Some(format!("{} diagonals", offsets.len())),
        },
        AnyFormat::HllCompact(a) => Some(match a.values() {
            Coded::Plain(_) => "values uncompressed".into(),
            Coded::Byte { table, .. } => format!("8-bit codes of {} values", table.len()),
            Coded::Short { table, .. } => format!("16-bit codes of {} values", table.len()),
        }),
        _ => None,
    }
}

/// The arrays of such a format among those of an SpMV, without x and y, or why they cannot be
/// shown.
pub(super) fn strips(a: &AnyFormat, arrays: &[ArrayInfo]) -> Result<Vec<Strip>, String> {
    let groups = match a {
        AnyFormat::HllCompact(a) => Some(Groups::of(a)?),
        _ => None,
    };
    let cells = |array: Array| match (a, &groups) {
        (AnyFormat::Bsr(a), _) => of_blocks(a, array),
        (AnyFormat::Dia(a), _) => of_diagonals(a, array),
        (_, Some(groups)) => groups.cells(array),
        _ => Vec::new(),
    };
    let held = arrays.iter().filter(|info| !matches!(info.array, Array::X | Array::Y));
    Ok(held
        .map(|info| {
            let (name, element) = (info.array.as_str().into(), info.element_bytes as usize);
            Strip { array: info.array, name, element, cells: cells(info.array) }
        })
        .collect())
}

/// Starts a part at every cell whose index is a multiple of `span`.
fn in_parts(mut cells: Vec<Cell>, span: usize) -> Vec<Cell> {
    for cell in cells.iter_mut().step_by(span.max(1)) {
        cell.begins = true;
    }
    cells
}

fn of_blocks(a: &Bsr<f64>, array: Array) -> Vec<Cell> {
    let (edge, rows, cols) = (a.block(), a.rows(), a.cols());
    let rows_of = |h: usize| (h * edge, rows.min((h + 1) * edge));
    let lines = 0..a.row_ptr().len() - 1;
    let row_of_blocks = lines.clone().flat_map(|h| a.row_ptr().range(h).map(move |_| h));
    let blocks = row_of_blocks.zip(a.col()).map(|(h, &c)| (h, c as usize));
    match array {
        Array::RowPtr => {
            let owners = lines.clone().map(|h| Owner::Rows(rows_of(h).0, rows_of(h).1));
            with((0..=lines.end).map(|h| a.row_ptr().get(h)), owners.chain([Owner::Free]))
        }
        Array::Col => {
            let cols_of = |c: usize| (c * edge, cols.min((c + 1) * edge));
            let owners = blocks.map(|(h, c)| Owner::Block { rows: rows_of(h), cols: cols_of(c) });
            with(a.col(), owners)
        }
        Array::Val => {
            let owners = blocks.zip(a.stored()).flat_map(|((h, c), &stored)| {
                (0..edge * edge).map(move |slot| {
                    let (i, j) = (h * edge + slot / edge, c * edge + slot % edge);
                    Owner::of_slot((i, j), i < rows && j < cols, stored >> slot & 1 == 1)
                })
            });
            in_parts(with(a.val().iter().map(|v| value(*v)), owners), edge * edge)
        }
        _ => Vec::new(),
    }
}

fn of_diagonals(a: &Dia<f64>, array: Array) -> Vec<Cell> {
    let (rows, cols) = (a.rows(), a.cols());
    match array {
        Array::Offsets => with(a.offsets(), a.offsets().iter().map(|d| Owner::Diagonal(*d))),
        Array::Val => {
            let words = rows.div_ceil(64);
            let stored = |d: usize, i: usize| {
                let word = a.stored().get(d * words + i / 64).copied().unwrap_or_default();
                word >> (i % 64) & 1 == 1
            };
            let owners = a.offsets().iter().enumerate().flat_map(|(d, offset)| {
                (0..rows).map(move |i| match usize::try_from(i as i64 + offset) {
                    Ok(j) => Owner::of_slot((i, j), j < cols, stored(d, i)),
                    Err(_) => Owner::Outside,
                })
            });
            in_parts(with(a.val().iter().map(|v| value(*v)), owners), rows)
        }
        _ => Vec::new(),
    }
}

/// Compact HLL in groups of four slots.
struct Groups<'a> {
    a: &'a CompactHll<f64>,
    fours: Fours<f64>,
}

impl<'a> Groups<'a> {
    fn of(a: &'a CompactHll<f64>) -> Result<Self, String> {
        Ok(Self { a, fours: Fours::of(a).map_err(|error| error.to_string())? })
    }

    /// The hack of each group, and the group's index in it.
    fn hacks(&self) -> impl Iterator<Item = (usize, usize)> {
        let ends = self.fours.group_ptr().windows(2).enumerate();
        ends.flat_map(|(hack, ends)| {
            let groups = ends.last().zip(ends.first()).map_or(0, |(end, begin)| end - begin);
            (0..groups as usize).map(move |number| (hack, number))
        })
    }

    /// Rows of a hack: the last one may have fewer rows than a warp has lanes.
    fn rows(&self, hack: usize) -> usize {
        ROWS.min(self.a.rows().saturating_sub(hack * ROWS))
    }

    fn cells(&self, array: Array) -> Vec<Cell> {
        let fours = &self.fours;
        match (array, fours.values()) {
            (Array::RowOf, _) => {
                let order = self.a.row_order();
                let owners = (0..self.a.rows()).map(|position| Owner::Row(order.row_at(position)));
                with(order.row_of().unwrap_or_default(), owners)
            }
            (Array::GroupPtr, _) => {
                let sorted = self.a.row_order().row_of().is_some();
                let owners = (0..self.a.shape().hacks()).map(|hack| match sorted {
                    true => Owner::Free,
                    false => Owner::Rows(hack * ROWS, hack * ROWS + self.rows(hack)),
                });
                with(fours.group_ptr(), owners.chain([Owner::Free]))
            }
            (Array::Base, _) => {
                let lines = self.hacks().flat_map(|(_, group)| (0..4).map(move |j| 4 * group + j));
                in_parts(with(fours.base(), lines.map(Owner::Line)), 4)
            }
            (Array::Low, _) => self.slots(|slot| text(fours.low(), slot)),
            (Array::Codes, Coded::Byte { codes, .. }) => self.slots(|slot| text(codes, slot)),
            (Array::Codes, Coded::Short { codes, .. }) => self.slots(|slot| text(codes, slot)),
            (Array::Val, Coded::Plain(val)) => {
                self.slots(|slot| val.get(slot).map_or_else(String::new, |v| value(*v)))
            }
            (Array::Dictionary, Coded::Byte { table, .. } | Coded::Short { table, .. }) => {
                with(table.iter().map(|v| value(*v)), table.iter().map(|_| Owner::Value))
            }
            _ => Vec::new(),
        }
    }

    /// The slots of an array that stores the four of a lane consecutively. The slots of lanes
    /// without a row are one cell.
    fn slots(&self, text: impl Fn(usize) -> String) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (group, (hack, _)) in self.hacks().enumerate() {
            let lanes = self.rows(hack);
            for k in 0..4 * lanes {
                let (lane, j) = (k / 4, k % 4);
                let row = self.a.row_order().row_at(hack * ROWS + lane);
                let slot = GROUP * group + k;
                let (text, owner) = match self.fours.entry(group, lane, j) {
                    Some((col, _)) => (text(slot), Owner::Entry(row, col as usize)),
                    None => ("–".into(), Owner::Padding(row)),
                };
                cells.push(Cell { begins: j == 0, ..Cell::new(slot, text, owner) });
            }
            if lanes < ROWS {
                cells.push(Cell::left_out(GROUP * group + 4 * lanes..GROUP * (group + 1)));
            }
        }
        cells
    }
}

fn text<T: ToString>(values: &[T], at: usize) -> String {
    values.get(at).map_or_else(String::new, T::to_string)
}
