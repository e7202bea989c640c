//! The arrays of each format, cell by cell, with the owner of every cell.

use std::fmt::Display;
use std::sync::Arc;

use sparsescope_core::experiment::{convert, format_size};
use sparsescope_core::kernel::row_at;
use sparsescope_core::layout::{Array, Held, SlotMap, Slots};
use sparsescope_core::matrix::{AnyFormat, Csr, FormatSize, FormatSpec, Hll, HllLayout, Order};
use sparsescope_core::memory::MemoryLimit;

use super::cells::{Cell, Owner, Strip};
use crate::state::LayoutsState;

/// One format of the matrix.
pub(super) struct Panel {
    /// Id of the format, e.g. `hll-column-major`.
    pub(super) id: String,
    pub(super) name: String,
    /// The arrays and their size, or why there are none.
    pub(super) arrays: Result<(Vec<Strip>, FormatSize), String>,
}

/// The formats to show.
pub(super) fn panels(a: &Arc<Csr<f64>>, state: &LayoutsState) -> Vec<Panel> {
    let panel = |spec: FormatSpec| {
        let arrays = convert(&spec, a, MemoryLimit::bytes(1 << 20)).and_then(|format| {
            let size = format_size(&spec, a)?;
            Ok((format, size))
        });
        let arrays = arrays.map_err(|error| error.to_string());
        let arrays = arrays.and_then(|(format, size)| Ok((strips(&format)?, size)));
        Panel { id: spec.name().into(), name: name(&spec).into(), arrays }
    };
    let wanted = |spec: &FormatSpec| {
        let words = &state.formats;
        words.is_empty() || words.split(',').any(|word| is_word(spec.name(), word))
    };
    specs(state).into_iter().filter(wanted).map(panel).collect()
}

/// Every format, in teaching order.
pub fn specs(state: &LayoutsState) -> [FormatSpec; 7] {
    let (row, column) = (Order::RowMajor, Order::ColumnMajor);
    [
        FormatSpec::Coo,
        FormatSpec::Csr,
        FormatSpec::Ell { order: row },
        FormatSpec::Ell { order: column },
        hll(row, state),
        hll(column, state),
        FormatSpec::Hyb { width: None, order: column },
    ]
}

/// HLL with the state's parameters.
fn hll(order: Order, state: &LayoutsState) -> FormatSpec {
    let (hack_size, sigma) = (state.hack as usize, state.sigma as usize);
    FormatSpec::Hll(HllLayout { hack_size, order, sigma, spill: None })
}

/// Returns whether a word names a format; the sorting of rows does not matter.
pub(super) fn is_word(format: &str, word: &str) -> bool {
    format.strip_suffix("-sigma").unwrap_or(format) == word
}

/// Display name of a format.
pub fn name(spec: &FormatSpec) -> &'static str {
    match spec {
        FormatSpec::Coo => "COO",
        FormatSpec::Csr => "CSR",
        FormatSpec::Ell { order: Order::RowMajor } => "ELLPACK, row-major",
        FormatSpec::Ell { order: Order::ColumnMajor } => "ELLPACK, column-major",
        FormatSpec::Hyb { order: Order::RowMajor, .. } => "HYB, row-major",
        FormatSpec::Hyb { order: Order::ColumnMajor, .. } => "HYB, column-major",
        FormatSpec::Hll(HllLayout { order: Order::RowMajor, .. }) => "HLL, row-major hacks",
        FormatSpec::Hll(HllLayout { order: Order::ColumnMajor, .. }) => "HLL, column-major hacks",
        FormatSpec::Bsr { .. } => "BSR",
        FormatSpec::Dia { .. } => "DIA",
        FormatSpec::CsrCompact(_) => "compact CSR",
        FormatSpec::HllCompact(..) => "compact HLL",
    }
}

/// The arrays of a format, without x and y, or why they cannot be shown.
pub(super) fn strips(a: &AnyFormat) -> Result<Vec<Strip>, String> {
    let slots = Slots::new(a).map_err(|error| error.to_string())?;
    let map = slots.map(MemoryLimit::bytes(1 << 20)).map_err(|error| error.to_string())?;
    let lists = slots.arrays().iter().filter(|info| !matches!(info.array, Array::X | Array::Y));
    Ok(lists
        .map(|info| {
            let mut cells = cells(a, &map, info.array);
            for (index, cell) in cells.iter_mut().enumerate() {
                cell.begins = begins(a, info.array, index as u64);
            }
            let (name, element) = (info.array.as_str().into(), info.element_bytes as usize);
            Strip { array: info.array, name, element, cells }
        })
        .collect())
}

/// x or y of `n` elements, or X or Y with `n` rows of k elements.
pub(super) fn vectors(array: Array, n: usize, k: usize) -> Strip {
    let name = name_of(array, k);
    let cell = |index: usize| {
        let (i, column) = (index / k, index % k);
        let owner = if array == Array::X { Owner::Col(i) } else { Owner::Row(i) };
        let text = if k == 1 { format!("{name}{i}") } else { format!("{i},{column}") };
        Cell { begins: k > 1 && column == 0, ..Cell::new(index, text, owner) }
    };
    Strip { array, name: name.into(), element: 8, cells: (0..n * k).map(cell).collect() }
}

/// The name of an array of a product with this many columns.
pub(super) fn name_of(array: Array, columns: usize) -> &'static str {
    match array {
        Array::X if columns > 1 => "X",
        Array::Y if columns > 1 => "Y",
        _ => array.as_str(),
    }
}

/// Values of an array and the owners of its cells.
pub(super) fn with<T: Display>(
    values: impl IntoIterator<Item = T>,
    owners: impl Iterator<Item = Owner>,
) -> Vec<Cell> {
    let pairs = values.into_iter().zip(owners).enumerate();
    pairs.map(|(index, (value, owner))| Cell::new(index, value.to_string(), owner)).collect()
}

/// Line and column of a cell of an array of `cells` cells, of which `a_line` fit into a line. No line but the
/// first holds a single cell: where one would be left, the line before gives it another.
pub(super) fn place(index: usize, cells: usize, a_line: usize) -> (usize, usize) {
    let (line, column) = (index / a_line, index % a_line);
    let one_is_left = a_line > 2 && cells > a_line && cells % a_line == 1;
    match cells.saturating_sub(index) {
        2 if one_is_left => (line + 1, 0),
        1 if one_is_left => (line, 1),
        _ => (line, column),
    }
}

fn cells(a: &AnyFormat, map: &SlotMap, array: Array) -> Vec<Cell> {
    let tail = matches!(array, Array::TailRow | Array::TailCol | Array::TailVal);
    let slots = if tail { &map.tail } else { &map.main };
    let of_slots = |text: fn(&Held) -> String| {
        with(slots.iter().map(|slot| text(&slot.held)), slots.iter().map(|slot| owner(&slot.held)))
    };
    let rows = |n: usize| (0..n).map(|position| Owner::Row(row_at(a, position)));
    match (array, a) {
        (Array::Col | Array::TailCol, _) => of_slots(|held| match held {
            Held::Entry { col, .. } | Held::Padding { col, .. } => col.to_string(),
        }),
        (Array::Val | Array::TailVal, _) => of_slots(|held| match held {
            Held::Entry { val, .. } => crate::model::value(*val),
            Held::Padding { .. } => "0".into(),
        }),
        (Array::Row | Array::TailRow, _) => of_slots(|held| match held {
            Held::Entry { row, .. } | Held::Padding { row: Some(row), .. } => row.to_string(),
            Held::Padding { row: None, .. } => String::new(),
        }),
        (Array::RowPtr, AnyFormat::Csr(a)) => {
            let m = a.rows();
            with((0..=m).map(|i| a.row_ptr().get(i)), rows(m).chain([Owner::Free]))
        }
        (Array::RowLen, AnyFormat::Ell(e)) => with(e.row_len(), rows(e.row_len().len())),
        (Array::RowLen, AnyFormat::Hyb(h)) => {
            with(h.ell().row_len(), rows(h.ell().row_len().len()))
        }
        (Array::RowLen, AnyFormat::Hll(h)) => with(h.row_len(), rows(h.row_len().len())),
        (Array::RowOf, AnyFormat::Hll(h)) => {
            with(h.row_order().row_of().unwrap_or_default(), rows(h.rows()))
        }
        (Array::Offsets, AnyFormat::Hll(h)) => {
            with(h.shape().offsets(), hacks(h).chain([Owner::Free]))
        }
        (Array::MaxNzr, AnyFormat::Hll(h)) => with(h.shape().max_nzr(), hacks(h)),
        _ => Vec::new(),
    }
}

fn owner(held: &Held) -> Owner {
    match held {
        Held::Entry { row, col, .. } => Owner::Entry(*row, *col as usize),
        Held::Padding { row: Some(row), .. } => Owner::Padding(*row),
        Held::Padding { row: None, .. } => Owner::Free,
    }
}

/// The rows of each hack; sorted rows are not consecutive.
fn hacks(a: &Hll<f64>) -> impl Iterator<Item = Owner> + '_ {
    let sorted = a.row_order().row_of().is_some();
    (0..a.shape().hacks()).map(move |hack| {
        let rows = a.shape().hack_rows(hack);
        if sorted { Owner::Free } else { Owner::Rows(rows.start, rows.end) }
    })
}

/// Returns whether a row, a column of slots or a hack starts at this slot.
fn begins(a: &AnyFormat, array: Array, slot: u64) -> bool {
    if !matches!(array, Array::Col | Array::Val) {
        return false;
    }
    let ell = match a {
        AnyFormat::Ell(a) => a.shape(),
        AnyFormat::Hyb(a) => a.ell().shape(),
        AnyFormat::Hll(a) => return a.shape().offsets().contains(&slot),
        _ => return false,
    };
    let span = if ell.order == Order::RowMajor { ell.width } else { ell.rows };
    slot.is_multiple_of(span.max(1) as u64)
}

#[cfg(test)]
mod tests {
    use sparsescope_core::matrix::examples::{five_by_five, four_by_four};

    use super::*;
    use crate::state::Pattern;

    /// Every format stores every nonzero in exactly one slot, with its value and column, and has as
    /// many slots as `FormatSpec::size` says.
    #[test]
    fn every_entry_is_in_one_slot_of_every_format_and_the_rest_is_padding() {
        let scattered = Pattern::of(7, 6, (0..20).map(|k| (k * k % 7, k * 5 % 6)));
        let triplets: Vec<_> =
            scattered.entries().map(|(i, j)| (i, j, (i * 9 + j) as f64)).collect();
        let scattered = Csr::from_triplets(7, 6, &triplets).unwrap();
        for a in [five_by_five(), four_by_four(), scattered] {
            for sigma in [1, 4] {
                let state = LayoutsState { sigma, ..LayoutsState::default() };
                for panel in panels(&Arc::new(a.clone()), &state) {
                    let (strips, size) = panel.arrays.unwrap();
                    let slots = |name: &str| -> Vec<&Cell> {
                        let named = strips.iter().filter(|strip| strip.name.ends_with(name));
                        named.flat_map(|strip| &strip.cells).collect()
                    };
                    let (col, val) = (slots("col"), slots("val"));
                    assert_eq!(val.len() as u64, size.slots, "{}", panel.name);
                    for i in 0..a.rows() {
                        let (columns, values) = a.row(i);
                        for (j, value) in columns.iter().zip(values) {
                            let owner = Owner::Entry(i, *j as usize);
                            let mine = |cells: &[&Cell]| -> Vec<String> {
                                let found = cells.iter().filter(|cell| cell.owner == owner);
                                found.map(|cell| cell.text.clone()).collect()
                            };
                            assert_eq!(mine(&col), [j.to_string()], "{}: {i}, {j}", panel.name);
                            assert_eq!(mine(&val), [value.to_string()], "{}: {i}, {j}", panel.name);
                        }
                    }
                    let entries = val.iter().filter(|cell| matches!(cell.owner, Owner::Entry(..)));
                    assert_eq!(entries.count(), a.nnz(), "{}", panel.name);
                }
            }
        }
    }

    #[test]
    fn values_are_short_however_large_they_are() {
        let a = Csr::from_triplets(1, 1, &[(0, 0, 2.063_006_902_324_907_2e31)]).unwrap();
        for panel in panels(&Arc::new(a), &LayoutsState::default()) {
            let (strips, _) = panel.arrays.unwrap();
            let val = strips.iter().find(|strip| strip.name.ends_with("val")).unwrap();
            assert_eq!(val.cells[0].text, "2.0630e31", "{}", panel.name);
        }
    }

    #[test]
    fn no_line_of_an_array_holds_a_single_cell_that_another_could_join() {
        let lengths = |cells: usize, a_line: usize| {
            let mut lengths = vec![0; cells.div_ceil(a_line)];
            for index in 0..cells {
                let (line, column) = place(index, cells, a_line);
                assert_eq!(column, lengths[line], "{index} of {cells}, {a_line} in a line");
                lengths[line] += 1;
            }
            lengths
        };
        assert_eq!(lengths(9, 8), [7, 2]);
        assert_eq!(lengths(17, 8), [8, 7, 2]);
        assert_eq!(lengths(10, 8), [8, 2]);
        assert_eq!(lengths(8, 8), [8]);
        assert_eq!(lengths(1, 8), [1]);
        for a_line in 4..20 {
            for cells in 2..100 {
                let lengths = lengths(cells, a_line);
                assert!(lengths.iter().all(|length| (2..=a_line).contains(length)), "{lengths:?}");
            }
        }
    }

    #[test]
    fn the_papers_arrays_of_their_example() {
        let panels = panels(&Arc::new(four_by_four()), &LayoutsState::default());
        let csr = panels.iter().find(|panel| panel.id == "csr").unwrap();
        let (strips, _) = csr.arrays.as_ref().unwrap();
        let texts = |name: &str| -> Vec<&str> {
            let strip = strips.iter().find(|strip| strip.name == name).unwrap();
            strip.cells.iter().map(|cell| cell.text.as_str()).collect()
        };
        assert_eq!(texts("row_ptr"), ["0", "2", "4", "7", "9"]);
        assert_eq!(texts("col"), ["0", "1", "1", "2", "0", "2", "3", "1", "3"]);
        assert_eq!(texts("val"), ["1", "7", "2", "8", "5", "3", "9", "6", "4"]);
    }
}
