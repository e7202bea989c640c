//! The arrays of each format, cell by cell, with what every cell belongs to.

use std::fmt::Display;
use std::sync::Arc;

use sparsescope_core::matrix::{
    AnyFormat, Coo, Csr, Ellpack, FormatSize, FormatSpec, Hll, HllLayout, Order, SlotLayout,
};
use sparsescope_core::memory::MemoryLimit;

use super::board::{Cell, Owner, Strip};
use crate::state::LayoutsState;

/// One format of the matrix.
pub(super) struct Panel {
    /// The word for the format, e.g. `hll-column-major`.
    pub(super) id: String,
    pub(super) name: String,
    /// The arrays and what they occupy, or why there are none.
    pub(super) arrays: Result<(Vec<Strip>, FormatSize), String>,
}

/// Every format, in the order in which they are taught.
pub(super) fn panels(a: &Csr<f64>, state: &LayoutsState) -> Vec<Panel> {
    let hll = |order| {
        let (hack_size, sigma) = (state.hack as usize, state.sigma as usize);
        FormatSpec::Hll(HllLayout { hack_size, order, sigma, spill: None })
    };
    let (row, column) = (Order::RowMajor, Order::ColumnMajor);
    let formats = [
        (FormatSpec::Coo, "COO"),
        (FormatSpec::Csr, "CSR"),
        (FormatSpec::Ell { order: row }, "ELLPACK, row-major"),
        (FormatSpec::Ell { order: column }, "ELLPACK, column-major"),
        (hll(row), "HLL, row-major hacks"),
        (hll(column), "HLL, column-major hacks"),
        (FormatSpec::Hyb { width: None, order: column }, "HYB, column-major"),
    ];
    let a = Arc::new(a.clone());
    let panel = |(spec, name): (FormatSpec, &str)| {
        let arrays = spec.build(&a, MemoryLimit::bytes(1 << 20)).and_then(|format| {
            let size = spec.size(&a)?;
            Ok((strips(&format), size))
        });
        let arrays = arrays.map_err(|error| error.to_string());
        Panel { id: spec.name().into(), name: name.into(), arrays }
    };
    formats.into_iter().map(panel).collect()
}

fn strips(a: &AnyFormat) -> Vec<Strip> {
    match a {
        AnyFormat::Coo(a) => coo(a, ""),
        AnyFormat::Csr(a) => csr(a, ""),
        AnyFormat::Ell(a) => ell(a, ""),
        AnyFormat::Hyb(a) => {
            let mut strips = ell(a.ell(), "ell ");
            strips.extend(coo(a.tail(), "coo "));
            strips
        }
        AnyFormat::Hll(a) => hll(a),
        AnyFormat::Bsr(_) | AnyFormat::Dia(_) => Vec::new(),
    }
}

/// An array of elements of so many bytes.
fn strip(name: &str, element: usize, cells: impl IntoIterator<Item = (String, Owner)>) -> Strip {
    let cells = cells.into_iter();
    let cells = cells.map(|(text, owner)| Cell { text, owner, begins: false }).collect();
    Strip { name: name.into(), element, cells }
}

/// Values of an array and the owners of its cells.
fn with<T: Display>(values: &[T], owners: &[Owner]) -> Vec<(String, Owner)> {
    values.iter().zip(owners).map(|(value, owner)| (value.to_string(), *owner)).collect()
}

fn coo(a: &Coo<f64>, part: &str) -> Vec<Strip> {
    let entries = a.row().iter().zip(a.col());
    let owners: Vec<_> = entries.map(|(i, j)| Owner::Entry(*i as usize, *j as usize)).collect();
    vec![
        strip(&format!("{part}row"), 4, with(a.row(), &owners)),
        strip(&format!("{part}col"), 4, with(a.col(), &owners)),
        strip(&format!("{part}val"), 8, with(a.val(), &owners)),
    ]
}

fn csr(a: &Csr<f64>, part: &str) -> Vec<Strip> {
    let pointers: Vec<usize> = (0..=a.rows()).map(|i| a.row_ptr().get(i)).collect();
    let rows = (0..a.rows()).map(Owner::Row).chain([Owner::Free]).collect::<Vec<_>>();
    let slots = (0..a.rows())
        .flat_map(|i| a.row(i).0.iter().map(move |j| Owner::Entry(i, *j as usize)))
        .collect::<Vec<_>>();
    vec![
        strip(&format!("{part}row_ptr"), a.row_ptr().width().bytes(), with(&pointers, &rows)),
        strip(&format!("{part}col"), 4, with(a.col(), &slots)),
        strip(&format!("{part}val"), 8, with(a.val(), &slots)),
    ]
}

/// What every slot of a padded format belongs to; `row_at` tells the row at a position.
fn owners(
    layout: &impl SlotLayout,
    row_len: &[u32],
    col: &[u32],
    row_at: impl Fn(usize) -> usize,
) -> Vec<Owner> {
    let mut owners = vec![Owner::Free; col.len()];
    for (position, length) in row_len.iter().enumerate() {
        for j in 0..layout.row_slots(position) {
            let slot = layout.slot(position, j) as usize;
            let row = row_at(position);
            if let (Some(owner), Some(&column)) = (owners.get_mut(slot), col.get(slot)) {
                let is_entry = j < *length as usize;
                *owner = match is_entry {
                    true => Owner::Entry(row, column as usize),
                    false => Owner::Padding(row),
                };
            }
        }
    }
    owners
}

fn ell(a: &Ellpack<f64>, part: &str) -> Vec<Strip> {
    let shape = a.shape();
    let owners = owners(&shape, a.row_len(), a.col(), |row| row);
    let rows: Vec<_> = (0..shape.rows).map(Owner::Row).collect();
    let mut strips = vec![
        strip(&format!("{part}row_len"), 4, with(a.row_len(), &rows)),
        strip(&format!("{part}col"), 4, with(a.col(), &owners)),
        strip(&format!("{part}val"), 8, with(a.val(), &owners)),
    ];
    // A row, or a column of slots, begins.
    let span = if shape.order == Order::RowMajor { shape.width } else { shape.rows };
    for strip in strips.iter_mut().skip(1) {
        mark(strip, |slot| slot.is_multiple_of(span.max(1)));
    }
    strips
}

fn hll(a: &Hll<f64>) -> Vec<Strip> {
    let (shape, order) = (a.shape(), a.row_order());
    let slots = owners(shape, a.row_len(), a.col(), |position| order.row_at(position));
    let hacks: Vec<_> = (0..shape.hacks())
        .map(|hack| shape.hack_rows(hack))
        .map(|rows| match order.row_of() {
            // Sorted rows of a hack do not follow one another.
            Some(_) => Owner::Free,
            None => Owner::Rows(rows.start, rows.end),
        })
        .collect();
    let ends = [&hacks[..], &[Owner::Free]].concat();
    let rows: Vec<_> = (0..a.row_len().len()).map(|p| Owner::Row(order.row_at(p))).collect();
    let mut strips = vec![
        strip("offsets", 8, with(shape.offsets(), &ends)),
        strip("max_nzr", 4, with(shape.max_nzr(), &hacks)),
        strip("row_len", 4, with(a.row_len(), &rows)),
        strip("col", 4, with(a.col(), &slots)),
        strip("val", 8, with(a.val(), &slots)),
    ];
    if let Some(row_of) = order.row_of() {
        strips.insert(2, strip("row_of", 4, with(row_of, &rows)));
    }
    let offsets = shape.offsets();
    for strip in strips.iter_mut().filter(|strip| matches!(&*strip.name, "col" | "val")) {
        mark(strip, |slot| offsets.contains(&(slot as u64)));
    }
    strips
}

fn mark(strip: &mut Strip, begins: impl Fn(usize) -> bool) {
    for (index, cell) in strip.cells.iter_mut().enumerate() {
        cell.begins = begins(index);
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::matrix::examples::{five_by_five, four_by_four};

    use super::*;
    use crate::state::{Pattern, Small};

    /// Every format keeps every entry in exactly one slot, with its own value and column, and has
    /// as many slots as `FormatSpec::size` says.
    #[test]
    fn every_entry_is_in_one_slot_of_every_format_and_the_rest_is_padding() {
        let scattered = Pattern::of(7, 6, (0..20).map(|k| (k * k % 7, k * 5 % 6)));
        assert!(matches!(Small::Drawn(scattered.clone()), Small::Drawn(_)));
        let triplets: Vec<_> =
            scattered.entries().map(|(i, j)| (i, j, (i * 9 + j) as f64)).collect();
        let scattered = Csr::from_triplets(7, 6, &triplets).unwrap();
        for a in [five_by_five(), four_by_four(), scattered] {
            for sigma in [1, 4] {
                let state = LayoutsState { sigma, ..LayoutsState::default() };
                for panel in panels(&a, &state) {
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
    fn the_papers_arrays_of_their_example() {
        let panels = panels(&four_by_four(), &LayoutsState::default());
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
