//! Block sparse rows (BSR): CSR of small dense blocks.

use crate::parallel::*;

use super::blocks::{BlockRow, blocks_in_row, gather_row};
use super::csr::{check_dimensions, check_len, check_offsets};
use super::{Csr, FormatError, RowPtr, Scalar, SlotLayout};
use crate::memory::{MemoryLimit, zeroed};
use crate::pace::{Pace, at_once};

/// Block sizes that are accepted.
pub const BSR_BLOCKS: std::ops::RangeInclusive<usize> = 2..=8;

/// Default minimum fill: percent of slots that must hold nonzeros.
pub const BSR_MIN_FILL: u32 = 70;

/// An m × n matrix in BSR: the b × b blocks that hold a nonzero, block row by block row, each block
/// row-major. Empty slots hold 0; a bit mask records which slots are filled, so that explicit zeros
/// survive.
#[derive(Clone, Debug, PartialEq)]
pub struct Bsr<T = f64> {
    rows: usize,
    cols: usize,
    block: usize,
    row_ptr: RowPtr,
    col: Vec<u32>,
    /// Bit r·b + c of a block: its slot in row r and column c holds a nonzero.
    stored: Vec<u64>,
    val: Vec<T>,
}

impl<T: Scalar> Bsr<T> {
    /// Takes the arrays after checking lengths, offsets, ascending block columns, and that every
    /// empty slot or slot outside the matrix holds 0. `row_ptr` counts blocks.
    pub fn try_new(
        (rows, cols): (usize, usize),
        block: usize,
        row_ptr: RowPtr,
        col: Vec<u32>,
        stored: Vec<u64>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        check_block(block)?;
        let b2 = block * block;
        check_len("row_ptr", row_ptr.len(), rows.div_ceil(block) + 1)?;
        check_len("stored", stored.len(), col.len())?;
        let slots = col.len() as u64 * b2 as u64;
        if val.len() as u64 != slots {
            let found = val.len() as u64;
            return Err(FormatError::Length { array: "val", expected: slots, found });
        }
        check_offsets("row_ptr", &row_ptr, col.len())?;
        for block_row in 0..row_ptr.len() - 1 {
            let range = row_ptr.range(block_row);
            let row = block_row * block;
            for k in range.clone() {
                let c = col[k] as usize;
                if c * block >= cols {
                    let col = (c * block) as u64;
                    return Err(FormatError::ColumnOutOfRange { row, col, cols });
                }
                if k > range.start && col[k - 1] >= col[k] {
                    return Err(FormatError::ColumnsNotAscending { row });
                }
                let bad = (0..b2).find(|slot| {
                    let inside = row + slot / block < rows && c * block + slot % block < cols;
                    let held = stored[k] >> slot & 1 == 1;
                    held && !inside || !held && val[k * b2 + slot] != T::ZERO
                });
                if bad.is_some() || b2 < 64 && stored[k] >> b2 != 0 {
                    return Err(FormatError::Invariant(format!(
                        "the block at row {row}, column {} has a nonzero value in an empty slot",
                        c * block
                    )));
                }
            }
        }
        Ok(Self { rows, cols, block, row_ptr, col, stored, val })
    }

    /// Number of blocks of each block row.
    fn block_counts(a: &Csr<T>, block: usize) -> Vec<usize> {
        let block_rows = 0..a.rows().div_ceil(block);
        let counts = block_rows.into_par_iter().with_min_len(64);
        counts.map(|h| blocks_in_row(a, block, h)).collect()
    }

    /// Number of b × b blocks that hold a nonzero of `a`.
    pub fn blocks_of(a: &Csr<T>, block: usize) -> usize {
        let block_rows = (0..a.rows().div_ceil(block)).into_par_iter().with_min_len(64);
        block_rows.map(|h| blocks_in_row(a, block, h)).reduce(|| 0, |a, b| a + b)
    }

    /// Returns the requested block size, or the one for which an SpMV moves the fewest bytes. Fails
    /// when less than `min_fill` percent of its slots would hold nonzeros.
    pub fn choose(
        a: &Csr<T>,
        block: Option<usize>,
        min_fill: u32,
    ) -> Result<(usize, usize), FormatError> {
        at_once(Self::choose_at(a, block, min_fill, Pace::AtOnce))
    }

    /// Like [`choose`](Self::choose), in steps if `pace` asks for them; each block size is a step.
    pub(super) async fn choose_at(
        a: &Csr<T>,
        block: Option<usize>,
        min_fill: u32,
        pace: Pace,
    ) -> Result<(usize, usize), FormatError> {
        let candidates = match block {
            Some(block) => {
                check_block(block)?;
                block..=block
            }
            None => BSR_BLOCKS,
        };
        let fill = |&(block, blocks): &(usize, usize)| match blocks {
            0 => 100.0,
            _ => 100.0 * a.nnz() as f64 / (blocks as f64 * (block * block) as f64),
        };
        let mut counted = Vec::new();
        for b in candidates {
            counted.push((b, Self::blocks_of(a, b)));
            pace.rest().await;
        }
        let full = counted.iter().copied().filter(|c| fill(c) >= f64::from(min_fill));
        let best = full.min_by_key(|&(b, blocks)| Self::minimal_bytes_of(a, b, blocks));
        best.ok_or_else(|| {
            let fullest = counted.iter().max_by(|a, b| fill(a).total_cmp(&fill(b)));
            let (block, share) = fullest.map_or((0, 0.0), |c| (c.0, fill(c)));
            FormatError::Invariant(format!(
                "BSR with {block} x {block} blocks would be only {share:.1} % full, less than {min_fill} %"
            ))
        })
    }

    /// Bytes that the arrays of this many blocks take.
    pub fn bytes_needed(a: &Csr<T>, block: usize, blocks: usize) -> u128 {
        Self::read_bytes(a.rows(), block, blocks) + 8 * blocks as u128
    }

    /// Minimum bytes that one SpMV moves: blocks, their columns, `row_ptr`, y and x.
    pub fn minimal_bytes_of(a: &Csr<T>, block: usize, blocks: usize) -> u128 {
        Self::read_bytes(a.rows(), block, blocks)
            + T::BYTES as u128 * (a.rows() as u128 + a.cols() as u128)
    }

    fn read_bytes(rows: usize, block: usize, blocks: usize) -> u128 {
        let offset = if blocks as u64 <= super::NARROW_MAX { 4 } else { 8 };
        blocks as u128 * (4 + (block * block * T::BYTES) as u128)
            + offset * (rows.div_ceil(block) as u128 + 1)
    }

    /// Gathers `a` into b × b blocks. Fails, before allocating, when that needs more than `limit`
    /// or b is not from 2 to 8.
    pub fn from_csr(a: &Csr<T>, block: usize, limit: MemoryLimit) -> Result<Self, FormatError> {
        check_block(block)?;
        let counts = Self::block_counts(a, block);
        let blocks = counts.iter().sum();
        let what = format!("BSR of {} x {} with {block} x {block} blocks", a.rows(), a.cols());
        limit.check(what, Self::bytes_needed(a, block, blocks))?;
        let b2 = block * block;
        let row_ptr = RowPtr::from_lengths(counts.iter().copied());
        let (mut col, mut stored) = (zeroed(0u32, blocks), zeroed(0u64, blocks));
        let mut val = zeroed(T::ZERO, blocks * b2);
        let mut parts = Vec::with_capacity(counts.len());
        let (mut c, mut s, mut v) = (&mut col[..], &mut stored[..], &mut val[..]);
        for &count in &counts {
            let col = c.split_off_mut(..count).unwrap_or_default();
            let stored = s.split_off_mut(..count).unwrap_or_default();
            let val = v.split_off_mut(..count * b2).unwrap_or_default();
            parts.push(BlockRow { col, stored, val });
        }
        let parts = parts.into_par_iter().enumerate().with_min_len(64);
        parts.for_each(|(h, part)| gather_row(a, block, h, part));
        let (rows, cols) = (a.rows(), a.cols());
        Ok(Self { rows, cols, block, row_ptr, col, stored, val })
    }

    /// Converts back to CSR and drops empty slots.
    pub fn to_csr(&self) -> Csr<T> {
        let b2 = self.block * self.block;
        // The bits of row i in block k.
        let held = |i: usize, k: usize| {
            self.stored[k] >> (i % self.block * self.block) & ((1 << self.block) - 1)
        };
        let length = |i: usize| -> usize {
            let blocks = self.row_ptr.range(i / self.block);
            blocks.map(|k| held(i, k).count_ones() as usize).sum()
        };
        let rows = (0..self.rows).into_par_iter().with_min_len(256);
        let lengths: Vec<usize> = rows.map(length).collect();
        let row_ptr = RowPtr::from_lengths(lengths.into_iter());
        Csr::filled(self.rows, self.cols, row_ptr, |i, col, val| {
            let mut to = col.iter_mut().zip(val);
            for k in self.row_ptr.range(i / self.block) {
                let first = k * b2 + i % self.block * self.block;
                let base = self.col[k] * self.block as u32;
                let mut held = held(i, k);
                while held != 0 {
                    let c = held.trailing_zeros();
                    held &= held - 1;
                    if let Some((col, val)) = to.next() {
                        (*col, *val) = (base + c, self.val[first + c as usize]);
                    }
                }
            }
        })
        .expect("blocks ascend and their entries lie inside") // invariant
    }

    /// The matrix column of a slot of block `k`; beyond the last column in the rightmost blocks.
    fn column(&self, k: usize, slot: usize) -> usize {
        self.col[k] as usize * self.block + slot % self.block
    }

    /// The column and value of slot `j` of row `i`, if the column exists.
    pub fn slot_entry(&self, i: usize, j: usize) -> Option<(u32, T)> {
        let slot = self.slot(i, j) as usize;
        let b2 = self.block * self.block;
        let column = self.column(slot / b2, slot % b2);
        (column < self.cols).then(|| (column as u32, self.val[slot]))
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Block size b.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Offsets of the block rows, counted in blocks.
    pub fn row_ptr(&self) -> &RowPtr {
        &self.row_ptr
    }

    /// Block column of each block: its first column divided by b.
    pub fn col(&self) -> &[u32] {
        &self.col
    }

    /// Which slots of each block hold a nonzero: bit r·b + c for its row r and column c.
    pub fn stored(&self) -> &[u64] {
        &self.stored
    }

    /// Values, b² per block, each block row-major.
    pub fn val(&self) -> &[T] {
        &self.val
    }

    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        let blocks = self.col.len();
        Self::read_bytes(self.rows, self.block, blocks) as u64 + 8 * blocks as u64
    }

    /// Minimum bytes that one SpMV moves.
    pub fn minimal_bytes(&self) -> u64 {
        Self::read_bytes(self.rows, self.block, self.col.len()) as u64
            + T::BYTES as u64 * (self.rows + self.cols) as u64
    }
}

fn check_block(block: usize) -> Result<(), FormatError> {
    match BSR_BLOCKS.contains(&block) {
        true => Ok(()),
        false => Err(FormatError::Invariant(format!(
            "expected a BSR block size from 2 to 8, found {block}"
        ))),
    }
}

/// Slot `j` of a row is column j mod b of its block j / b; blocks are row-major, one after another.
impl<T: Scalar> SlotLayout for Bsr<T> {
    fn slots(&self) -> u64 {
        self.val.len() as u64
    }

    fn row_slots(&self, row: usize) -> usize {
        self.row_ptr.range(row / self.block).len() * self.block
    }

    fn slot(&self, row: usize, j: usize) -> u64 {
        let b = self.block as u64;
        let k = (self.row_ptr.range(row / self.block).start + j / self.block) as u64;
        k * b * b + row as u64 % b * b + j as u64 % b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    #[test]
    fn the_papers_example_in_blocks_of_two() {
        let a = Bsr::from_csr(&examples::five_by_five(), 2, MemoryLimit::unlimited()).unwrap();
        // Block rows 3 4 . . . / . 5 1 . . and . 1 2 . . / . . 2 3 . and . . . 1 6.
        assert_eq!(a.row_ptr(), &RowPtr::Narrow(vec![0, 2, 4, 6]));
        assert_eq!(a.col(), [0, 1, 0, 1, 1, 2]);
        assert_eq!(a.val()[..8], [3.0, 4.0, 0.0, 5.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(a.val()[16..], [0.0, 1.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0]);
        assert_eq!((a.stored()[0], a.slot(3, 2)), (0b1011, 3 * 4 + 2));
        // (8 + 4/b²)·stored + 4(m/b + 1) + 8m + 8n
        assert_eq!(a.minimal_bytes(), 9 * 24 + 4 * 4 + 8 * 5 + 8 * 5);
        assert_eq!(a.to_csr(), examples::five_by_five());
    }

    #[test]
    fn the_block_chosen_moves_the_fewest_bytes_and_is_full_enough() {
        // 12 x 12 with dense blocks of 3 on the diagonal.
        let triplets: Vec<_> =
            (0..12).flat_map(|i| (0..3).map(move |j| (i, i / 3 * 3 + j, 1.0 + j as f64))).collect();
        let a = Csr::from_triplets(12, 12, &triplets).unwrap();
        assert_eq!(Bsr::choose(&a, None, 70).unwrap(), (3, 4));
        let error = Bsr::choose(&a, Some(2), 70).unwrap_err().to_string();
        // Block rows of rows 0..2 hold columns 0..3, 2..4 hold 0..6, 4..6 hold 3..6: 2 + 3 + 2
        // blocks.
        assert!(
            error.contains("2 x 2 blocks would be only 64.3 % full, less than 70 %"),
            "{error}"
        );
        assert_eq!(Bsr::choose(&a, Some(2), 0).unwrap().0, 2);
        assert!(Bsr::choose(&a, Some(9), 0).unwrap_err().to_string().contains("from 2 to 8"));
    }

    #[test]
    fn a_stored_zero_survives_and_bytes_are_known_before() {
        let a = Csr::from_triplets(3, 3, &[(0, 0, 0.0), (2, 2, 4.0)]).unwrap();
        for block in BSR_BLOCKS {
            let made = Bsr::from_csr(&a, block, MemoryLimit::unlimited()).unwrap();
            assert_eq!(made.to_csr(), a);
            let short = MemoryLimit::bytes(made.bytes() - 1);
            let error = Bsr::from_csr(&a, block, short).unwrap_err().to_string();
            assert!(error.contains(&format!("{} bytes", made.bytes())), "{error}");
        }
    }

    #[test]
    fn arrays_that_break_the_invariants_are_refused() {
        let build = |ptr: &[u32], col: &[u32], stored: u64, val: [f64; 4]| {
            let row_ptr = RowPtr::Narrow(ptr.to_vec());
            let stored = vec![stored; col.len()];
            Bsr::try_new((2, 3), 2, row_ptr, col.to_vec(), stored, val.to_vec())
        };
        let val = [1.0, 0.0, 0.0, 0.0];
        assert!(build(&[0, 1], &[1], 1, val).is_ok());
        assert!(build(&[0, 1], &[2], 1, val).is_err(), "column past the matrix");
        assert!(build(&[0, 1], &[1], 0b11, val).is_err(), "entry past the matrix");
        assert!(build(&[0, 1], &[0], 2, val).is_err(), "value without entry");
        assert!(build(&[0, 1], &[0], 1 << 4 | 1, val).is_err(), "bit past the block");
        assert!(build(&[0, 2], &[0], 1, val).is_err(), "offsets past the blocks");
        assert!(build(&[0, 2], &[0, 1], 1, val).is_err(), "too few values");
    }
}
