//! Diagonals (DIA): every diagonal that holds a nonzero, stored in full.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::parallel::*;

use super::csr::{check_dimensions, check_len};
use super::{Csr, FormatError, RowPtr, Scalar, SlotLayout};
use crate::memory::{MemoryLimit, zeroed};

/// Default minimum fill: percent of slots that must hold nonzeros.
pub const DIA_MIN_FILL: u32 = 20;

/// Rows that are scattered to the diagonals together, a multiple of 64. Each row is read once, and its part
/// of each diagonal is a few cache lines.
const ROWS_TOGETHER: usize = 256;

/// An m × n matrix in DIA: for each diagonal, by ascending offset j − i, one slot per row. Empty slots hold
/// 0; a bit mask records which slots are filled, so that explicit zeros survive.
#[derive(Clone, Debug, PartialEq)]
pub struct Dia<T = f64> {
    rows: usize,
    cols: usize,
    offsets: Vec<i64>,
    /// ⌈m/64⌉ words per diagonal: bit i says that the slot of row i holds a nonzero.
    stored: Vec<u64>,
    val: Vec<T>,
}

impl<T: Scalar> Dia<T> {
    /// Takes the arrays after checking lengths, ascending offsets, and that every empty slot or slot
    /// outside the matrix holds 0.
    pub fn try_new(
        (rows, cols): (usize, usize),
        offsets: Vec<i64>,
        stored: Vec<u64>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        let slots = offsets.len() as u128 * rows as u128;
        if val.len() as u128 != slots {
            let expected = u64::try_from(slots).unwrap_or(u64::MAX);
            return Err(FormatError::Length { array: "val", expected, found: val.len() as u64 });
        }
        let words = rows.div_ceil(64);
        check_len("stored", stored.len(), offsets.len() * words)?;
        let inside = rows > 0 && offsets.iter().all(|d| (1 - rows as i64..cols as i64).contains(d));
        if !offsets.is_empty() && !inside || offsets.windows(2).any(|w| w[0] >= w[1]) {
            return Err(FormatError::Invariant(
                "the diagonal offsets are unsorted or outside the matrix".to_owned(),
            ));
        }
        let a = Self { rows, cols, offsets, stored, val };
        let bad = (0..a.offsets.len()).into_par_iter().find_first(|&d| {
            let held = |i: usize| a.stored[d * words + i / 64] >> (i % 64) & 1 == 1;
            let past = (a.rows..words * 64).any(held);
            past || (0..a.rows).any(|i| match held(i) {
                true => a.column(d, i).is_none(),
                false => a.val[d * a.rows + i] != T::ZERO,
            })
        });
        match bad {
            None => Ok(a),
            Some(d) => Err(FormatError::Invariant(format!(
                "diagonal {} has a nonzero value in an empty slot",
                a.offsets[d]
            ))),
        }
    }

    /// Offsets of the diagonals of `a` that hold a nonzero, ascending. Fails when less than `min_fill`
    /// percent of their slots would hold nonzeros.
    pub fn diagonals(a: &Csr<T>, min_fill: u32) -> Result<Vec<i64>, FormatError> {
        let (m, n) = (a.rows(), a.cols());
        // The number of diagonals may exceed the 32-bit sizes of WebAssembly.
        let sides = m as u64 + n as u64;
        let offsets = if sides / 64 > a.nnz() as u64 { Self::few(a) } else { Self::any(a) };
        let slots = offsets.len() as f64 * m as f64;
        let fill = if slots > 0.0 { 100.0 * a.nnz() as f64 / slots } else { 100.0 };
        if fill < f64::from(min_fill) {
            return Err(FormatError::Invariant(format!(
                "DIA with its {} diagonals would be only {fill:.1} % full, less than {min_fill} %",
                offsets.len()
            )));
        }
        Ok(offsets)
    }

    /// The diagonals of a matrix with far fewer nonzeros than rows and columns, which may number more than
    /// memory has bytes.
    fn few(a: &Csr<T>) -> Vec<i64> {
        let of_row = |i: usize| a.row(i).0.iter().map(move |&c| i64::from(c) - i as i64);
        let mut offsets: Vec<i64> = (0..a.rows()).flat_map(of_row).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    /// The diagonals of any matrix.
    fn any(a: &Csr<T>) -> Vec<i64> {
        let (m, n) = (a.rows(), a.cols());
        let present: Vec<AtomicBool> =
            (0..(m + n).saturating_sub(1)).map(|_| AtomicBool::new(false)).collect();
        (0..m).into_par_iter().with_min_len(256).for_each(|i| {
            for &c in a.row(i).0 {
                let diagonal = &present[c as usize + m - 1 - i];
                // Read first: a cache line that is not written stays in the caches of all threads.
                if !diagonal.load(Relaxed) {
                    diagonal.store(true, Relaxed);
                }
            }
        });
        let present = present.into_iter().map(AtomicBool::into_inner);
        let numbered = present.enumerate().filter(|(_, present)| *present);
        numbered.map(|(k, _)| k as i64 - (m as i64 - 1)).collect()
    }

    /// Bytes that the arrays of this many diagonals take.
    pub fn bytes_needed(rows: usize, diagonals: usize) -> u128 {
        let bits = 8 * rows.div_ceil(64) as u128;
        diagonals as u128 * (T::BYTES as u128 * rows as u128 + 8 + bits)
    }

    /// Minimum bytes that one SpMV moves: the diagonals, y and x.
    pub fn minimal_bytes_of(rows: usize, cols: usize, diagonals: usize) -> u128 {
        T::BYTES as u128 * (rows as u128 * (diagonals as u128 + 1) + cols as u128)
    }

    /// Scatters `a` to its diagonals. Fails, before allocating, when less than `min_fill` percent of the
    /// slots would hold nonzeros or more than `limit` is needed.
    pub fn from_csr(a: &Csr<T>, min_fill: u32, limit: MemoryLimit) -> Result<Self, FormatError> {
        let offsets = Self::diagonals(a, min_fill)?;
        let (rows, cols) = (a.rows(), a.cols());
        let what = format!("DIA of {rows} x {cols} with {} diagonals", offsets.len());
        limit.check(what, Self::bytes_needed(rows, offsets.len()))?;
        let words = rows.div_ceil(64);
        let mut stored = zeroed(0u64, offsets.len() * words);
        let mut val = zeroed(T::ZERO, offsets.len() * rows);
        let mut stretches: Vec<Vec<(&mut [u64], &mut [T])>> =
            (0..rows.div_ceil(ROWS_TOGETHER)).map(|_| Vec::with_capacity(offsets.len())).collect();
        for (bits, val) in stored.chunks_mut(words.max(1)).zip(val.chunks_mut(rows.max(1))) {
            let parts = bits.chunks_mut(ROWS_TOGETHER / 64).zip(val.chunks_mut(ROWS_TOGETHER));
            stretches.iter_mut().zip(parts).for_each(|(stretches, part)| stretches.push(part));
        }
        stretches.into_par_iter().enumerate().for_each(|(k, mut diagonals)| {
            let first = k * ROWS_TOGETHER;
            for i in first..rows.min(first + ROWS_TOGETHER) {
                let (col, val) = a.row(i);
                let mut d = 0;
                for (&c, &v) in col.iter().zip(val) {
                    let offset = i64::from(c) - i as i64;
                    while offsets[d] < offset {
                        d += 1;
                    }
                    let (bits, val) = &mut diagonals[d];
                    val[i - first] = v;
                    bits[(i - first) / 64] |= 1 << (i % 64);
                }
            }
        });
        Ok(Self { rows, cols, offsets, stored, val })
    }

    /// Converts back to CSR and drops empty slots.
    pub fn to_csr(&self) -> Csr<T> {
        let words = self.rows.div_ceil(64);
        let row_ptr = RowPtr::from_lengths(self.row_lengths().into_iter().map(|l| l as usize));
        Csr::filled(self.rows, self.cols, row_ptr, |i, col, val| {
            let mut to = col.iter_mut().zip(val);
            for (d, &offset) in self.offsets.iter().enumerate() {
                if self.stored[d * words + i / 64] >> (i % 64) & 1 == 1
                    && let Some((col, val)) = to.next()
                {
                    *col = (i as i64 + offset) as u32;
                    *val = self.val[d * self.rows + i];
                }
            }
        })
        .expect("diagonals ascend and their entries lie inside") // invariant
    }

    /// Number of nonzeros of each row.
    fn row_lengths(&self) -> Vec<u32> {
        let words = self.rows.div_ceil(64);
        let mut lengths = vec![0u32; self.rows];
        lengths.par_chunks_mut(64).enumerate().for_each(|(word, lengths)| {
            for d in 0..self.offsets.len() {
                let bits = self.stored[d * words + word];
                for (i, length) in lengths.iter_mut().enumerate() {
                    *length += (bits >> i) as u32 & 1;
                }
            }
        });
        lengths
    }

    /// The column where diagonal `d` crosses row `i`, if it does.
    fn column(&self, d: usize, i: usize) -> Option<usize> {
        let column = usize::try_from(i as i64 + self.offsets[d]).ok();
        column.filter(|&column| column < self.cols)
    }

    /// The diagonals that cross row `i`, which are contiguous.
    pub fn crossing(&self, i: usize) -> std::ops::Range<usize> {
        let first = self.offsets.partition_point(|&offset| i as i64 + offset < 0);
        let end = self.offsets.partition_point(|&offset| i as i64 + offset < self.cols as i64);
        first..end
    }

    /// The column and value of slot `d` of row `i`, if diagonal `d` crosses the row.
    pub fn slot_entry(&self, i: usize, d: usize) -> Option<(u32, T)> {
        let column = self.column(d, i)?;
        Some((column as u32, self.val[self.slot(i, d) as usize]))
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Offset j − i of each diagonal, ascending.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// Which slots hold a nonzero: ⌈m/64⌉ words per diagonal, bit i for row i.
    pub fn stored(&self) -> &[u64] {
        &self.stored
    }

    /// Values, m per diagonal.
    pub fn val(&self) -> &[T] {
        &self.val
    }

    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        Self::bytes_needed(self.rows, self.offsets.len()) as u64
    }

    /// Minimum bytes that one SpMV moves.
    pub fn minimal_bytes(&self) -> u64 {
        Self::minimal_bytes_of(self.rows, self.cols, self.offsets.len()) as u64
    }
}

/// Slot `j` of a row lies on diagonal j; diagonals are stored one after another, m slots each.
impl<T: Scalar> SlotLayout for Dia<T> {
    fn slots(&self) -> u64 {
        self.val.len() as u64
    }

    fn row_slots(&self, _row: usize) -> usize {
        self.offsets.len()
    }

    fn slot(&self, row: usize, j: usize) -> u64 {
        j as u64 * self.rows as u64 + row as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    #[test]
    fn the_papers_example_has_three_diagonals() {
        let a = Dia::from_csr(&examples::five_by_five(), 20, MemoryLimit::unlimited()).unwrap();
        assert_eq!(a.offsets(), [-1, 0, 1]);
        assert_eq!(a.val()[..5], [0.0, 0.0, 1.0, 2.0, 1.0]);
        assert_eq!(a.val()[5..10], [3.0, 5.0, 2.0, 3.0, 6.0]);
        assert_eq!(a.val()[10..], [4.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!((a.slot(4, 0), a.slot_entry(4, 2), a.slot_entry(0, 0)), (4, None, None));
        assert_eq!([0, 1, 4].map(|i| a.crossing(i)), [1..3, 0..3, 0..2]);
        assert_eq!(a.minimal_bytes(), 8 * 5 * 3 + 8 * 5 + 8 * 5);
        assert_eq!(a.to_csr(), examples::five_by_five());
    }

    #[test]
    fn few_entries_have_the_diagonals_that_any_would_have() {
        let entries = [(0, 0, 1.0), (0, 399, 1.0), (3, 3, 1.0), (99, 0, 1.0), (99, 98, 1.0)];
        let a = Csr::from_triplets(100, 400, &entries).unwrap();
        assert_eq!(Dia::few(&a), [-99, -1, 0, 399]);
        assert_eq!(Dia::any(&a), [-99, -1, 0, 399]);
        // No array has one element per column.
        let wide = Csr::from_triplets(1, u32::MAX as usize, &[(0, 5, 1.0)]).unwrap();
        assert_eq!(Dia::diagonals(&wide, 20).unwrap(), [5]);
    }

    #[test]
    fn many_diagonals_or_bytes_are_refused_before_allocating() {
        let arrow: Vec<_> = (0..100).flat_map(|i| [(0, i, 1.0), (i, i, 1.0)]).collect();
        let a = Csr::from_triplets(100, 100, &arrow).unwrap();
        let error = Dia::from_csr(&a, 20, MemoryLimit::unlimited()).unwrap_err().to_string();
        assert!(
            error.contains("its 100 diagonals would be only 2.0 % full, less than 20 %"),
            "{error}"
        );
        // 100 diagonals of 100 values, plus an offset and two words of bits each.
        let error = Dia::from_csr(&a, 0, MemoryLimit::bytes(80_000)).unwrap_err().to_string();
        assert!(error.contains("82400 bytes"), "{error}");
    }

    #[test]
    fn arrays_that_break_the_invariants_are_refused() {
        let build = |offsets: &[i64], stored: &[u64], val: &[f64]| {
            Dia::try_new((2, 3), offsets.to_vec(), stored.to_vec(), val.to_vec())
        };
        assert!(build(&[-1, 2], &[0b10, 0b01], &[0.0, 5.0, 6.0, 0.0]).is_ok());
        assert!(build(&[2, -1], &[0b01, 0b10], &[6.0, 0.0, 0.0, 5.0]).is_err(), "descending");
        assert!(build(&[3], &[0], &[0.0, 0.0]).is_err(), "outside");
        assert!(build(&[2], &[0b11], &[6.0, 0.0]).is_err(), "entry outside");
        assert!(build(&[2], &[0b100], &[0.0, 0.0]).is_err(), "bit past the rows");
        assert!(build(&[0], &[0b01], &[1.0, 2.0]).is_err(), "value without entry");
        assert!(build(&[0], &[0b01], &[1.0]).is_err(), "too few values");
    }
}
