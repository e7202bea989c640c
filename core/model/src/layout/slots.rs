//! What every slot of a format holds, and every place that belongs to one nonzero of the matrix.

use super::array::{Array, ArrayInfo, arrays};
use super::launch::LayoutError;
use crate::kernel::{row_at, row_length, slot};
use sparsescope_matrix::matrix::{AnyFormat, Csr};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// A stored nonzero of the matrix.
    Entry {
        /// Its row.
        row: usize,
        /// Its column.
        col: u32,
        /// Its value.
        val: f64,
    },
    /// Padding.
    Padding {
        /// The row that it pads; absent past the last row.
        row: Option<usize>,
        /// Its column index; a kernel that multiplies padding reads this element of x.
        col: u32,
    },
}

/// One slot: an index into both `col` and `val`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Index into both arrays.
    pub index: u64,
    /// What the slot holds.
    pub held: Held,
}

/// An element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The array.
    pub array: Array,
    /// Index into it, from 0.
    pub index: u64,
}

/// The places of a matrix in a format: COO, CSR, ELLPACK, HYB or HLL. It stores no list of slots;
/// [`map`](Self::map) makes one.
#[derive(Clone, Debug)]
pub struct Slots {
    a: AnyFormat,
    arrays: Vec<ArrayInfo>,
    /// Position of each row, if the format sorts rows.
    positions: Option<Vec<u32>>,
}

/// What every slot of `col` and `val`, and of `tail_col` and `tail_val`, holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotMap {
    /// Slots of `col` and `val`, by index.
    pub main: Vec<Slot>,
    /// Slots of the tail, by index; empty for formats without one.
    pub tail: Vec<Slot>,
}

impl SlotMap {
    /// Number of padding slots.
    pub fn padding(&self) -> usize {
        let padding = |slot: &&Slot| matches!(slot.held, Held::Padding { .. });
        self.main.iter().chain(&self.tail).filter(padding).count()
    }
}

impl Slots {
    /// The places of `a`. Fails for BSR and DIA, whose slots have no column of their own, and for
    /// compact formats, which store it in parts.
    pub fn new(a: &AnyFormat) -> Result<Self, LayoutError> {
        let positions = match a {
            AnyFormat::Bsr(_) => return Err(LayoutError::Format { format: "BSR" }),
            AnyFormat::Dia(_) => return Err(LayoutError::Format { format: "DIA" }),
            AnyFormat::CsrCompact(_) => return Err(LayoutError::Format { format: "compact CSR" }),
            AnyFormat::HllCompact(_) => return Err(LayoutError::Format { format: "compact HLL" }),
            AnyFormat::Hll(a) if !a.is_plain() => Some(a.row_order().positions()),
            _ => None,
        };
        Ok(Self { a: a.clone(), arrays: arrays(a), positions })
    }

    /// The matrix.
    pub fn matrix(&self) -> &AnyFormat {
        &self.a
    }

    /// The arrays of the format, x and y.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    /// The array, if the format has it.
    pub fn array(&self, array: Array) -> Option<&ArrayInfo> {
        self.arrays.iter().find(|info| info.array == array)
    }

    /// What every slot holds. Fails, before allocating, if the list needs more than `limit`.
    pub fn map(&self, limit: MemoryLimit) -> Result<SlotMap, MemoryError> {
        let len = |array| self.array(array).map_or(0, |info| info.len as usize);
        let (main, tail) = (len(Array::Val), len(Array::TailVal));
        let bytes = (main as u128 + tail as u128) * size_of::<Slot>() as u128;
        limit.check(format!("a list of {} slots", main + tail), bytes)?;
        let beyond = Held::Padding { row: None, col: 0 };
        let list = |len: usize| -> Vec<Slot> {
            (0..len as u64).map(|index| Slot { index, held: beyond }).collect()
        };
        let mut map = SlotMap { main: list(main), tail: list(tail) };
        let (col, val) = self.main();
        for (k, slot) in map.main.iter_mut().enumerate() {
            slot.held = match &self.a {
                AnyFormat::Coo(a) => {
                    Held::Entry { row: a.row()[k] as usize, col: col[k], val: val[k] }
                }
                _ => Held::Padding { row: None, col: col[k] },
            };
        }
        for position in 0..self.positions_in_blocks() {
            let (entries, all) =
                (row_length(&self.a, position, false), row_length(&self.a, position, true));
            for j in 0..all {
                let k = slot(&self.a, position, j) as usize;
                let (row, col) = (row_at(&self.a, position), col[k]);
                map.main[k].held = match j < entries {
                    true => Held::Entry { row, col, val: val[k] },
                    false => Held::Padding { row: Some(row), col },
                };
            }
        }
        match &self.a {
            AnyFormat::Hyb(a) => {
                let t = a.tail();
                for (k, slot) in map.tail.iter_mut().enumerate() {
                    let (row, col, val) = (t.row()[k] as usize, t.col()[k], t.val()[k]);
                    slot.held = Held::Entry { row, col, val };
                }
            }
            AnyFormat::Hll(a) => {
                let first = a.row_order().in_blocks();
                for r in 0..a.tail().rows() {
                    for k in a.tail().row_range(r) {
                        let (row, col) = (a.row_order().row_at(first + r), a.tail().col()[k]);
                        map.tail[k].held = Held::Entry { row, col, val: a.tail().val()[k] };
                    }
                }
            }
            _ => {}
        }
        Ok(map)
    }

    /// Columns and values of the slots.
    fn main(&self) -> (&[u32], &[f64]) {
        match &self.a {
            AnyFormat::Coo(a) => (a.col(), a.val()),
            AnyFormat::Csr(a) => (a.col(), a.val()),
            AnyFormat::Ell(a) => (a.col(), a.val()),
            AnyFormat::Hyb(a) => (a.ell().col(), a.ell().val()),
            AnyFormat::Hll(a) => (a.col(), a.val()),
            AnyFormat::Bsr(_)
            | AnyFormat::Dia(_)
            | AnyFormat::CsrCompact(_)
            | AnyFormat::HllCompact(_) => (&[], &[]),
        }
    }

    /// Positions whose slots are in `col` and `val`.
    fn positions_in_blocks(&self) -> usize {
        match &self.a {
            AnyFormat::Hll(a) => a.row_order().in_blocks(),
            a => a.rows(),
        }
    }

    /// Every place that belongs to nonzero (row, col): its slot, what leads to it (row pointer and
    /// the next row's, row length, hack offset and width, row number) and the elements of x and y.
    /// In the order of [`Array::ALL`]; empty if nothing is stored there.
    pub fn places(&self, row: usize, col: usize) -> Vec<Place> {
        let mut places = self.stored(row, col).unwrap_or_default();
        if !places.is_empty() {
            places.push(Place { array: Array::X, index: col as u64 });
            places.push(Place { array: Array::Y, index: row as u64 });
            places.sort_unstable();
        }
        places
    }

    /// The places without x and y.
    fn stored(&self, row: usize, col: usize) -> Option<Vec<Place>> {
        let col = u32::try_from(col).ok()?;
        if row >= self.a.rows() {
            return None;
        }
        let at = |array: Array, index: usize| Place { array, index: index as u64 };
        let position = self.positions.as_ref().map_or(row, |p| p[row] as usize);
        match &self.a {
            AnyFormat::Coo(a) => {
                let k = coordinate(a.row(), a.col(), row, col)?;
                Some(vec![at(Array::Row, k), at(Array::Col, k), at(Array::Val, k)])
            }
            AnyFormat::Csr(_) => {
                let k = self.slot_in_row(position, col)?;
                let bounds = [at(Array::RowPtr, row), at(Array::RowPtr, row + 1)];
                Some([&bounds[..], &[at(Array::Col, k), at(Array::Val, k)]].concat())
            }
            AnyFormat::Ell(_) => {
                let k = self.slot_in_row(position, col)?;
                Some(vec![at(Array::RowLen, row), at(Array::Col, k), at(Array::Val, k)])
            }
            AnyFormat::Hyb(a) => match self.slot_in_row(position, col) {
                Some(k) => Some(vec![at(Array::RowLen, row), at(Array::Col, k), at(Array::Val, k)]),
                None => {
                    let k = coordinate(a.tail().row(), a.tail().col(), row, col)?;
                    let slot = [at(Array::TailCol, k), at(Array::TailVal, k)];
                    Some([&[at(Array::TailRow, k)], &slot[..]].concat())
                }
            },
            AnyFormat::Hll(a) => {
                let mut places = match position.checked_sub(a.row_order().in_blocks()) {
                    None => {
                        let k = self.slot_in_row(position, col)?;
                        let hack = a.shape().hack_of(position);
                        vec![
                            at(Array::RowLen, position),
                            at(Array::Offsets, hack),
                            at(Array::MaxNzr, hack),
                            at(Array::Col, k),
                            at(Array::Val, k),
                        ]
                    }
                    Some(r) => {
                        let k = in_csr(a.tail(), r, col)?;
                        vec![
                            at(Array::TailRowPtr, r),
                            at(Array::TailRowPtr, r + 1),
                            at(Array::TailCol, k),
                            at(Array::TailVal, k),
                        ]
                    }
                };
                if self.positions.is_some() {
                    places.push(at(Array::RowOf, position));
                }
                Some(places)
            }
            AnyFormat::Bsr(_)
            | AnyFormat::Dia(_)
            | AnyFormat::CsrCompact(_)
            | AnyFormat::HllCompact(_) => None,
        }
    }

    /// The slot of column `col` in the row at a position.
    fn slot_in_row(&self, position: usize, col: u32) -> Option<usize> {
        let cols = self.main().0;
        let at = |j: usize| slot(&self.a, position, j) as usize;
        // The nonzeros of a row are sorted by column.
        let (mut low, mut high) = (0, row_length(&self.a, position, false));
        while low < high {
            let middle = low + (high - low) / 2;
            match cols[at(middle)] < col {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let found = low < row_length(&self.a, position, false) && cols[at(low)] == col;
        found.then(|| at(low))
    }
}

/// Index of a coordinate in ascending ones.
fn coordinate(rows: &[u32], cols: &[u32], row: usize, col: u32) -> Option<usize> {
    let first = rows.partition_point(|&r| (r as usize) < row);
    let end = rows.partition_point(|&r| r as usize <= row);
    cols[first..end].binary_search(&col).ok().map(|k| first + k)
}

fn in_csr(a: &Csr, row: usize, col: u32) -> Option<usize> {
    let range = a.row_range(row);
    a.col()[range.clone()].binary_search(&col).ok().map(|k| range.start + k)
}
