//! Hybrid format (HYB): the regular part of each row in ELLPACK, the rest in COO.

use super::csr::check_len;
use super::ellpack::copy_row;
use super::{Coo, Csr, EllShape, Ellpack, FormatError, Order, RowPtr, Scalar};
use crate::memory::MemoryLimit;
use crate::parallel::*;

/// An m × n matrix as ELLPACK of width K plus the nonzeros beyond K of each row as COO.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyb<T = f64> {
    ell: Ellpack<T>,
    tail: Coo<T>,
}

impl<T: Scalar> Hyb<T> {
    /// Takes both parts after checking that they have the same size, that only full ELLPACK rows
    /// have a tail, and that the tail's columns lie to the right.
    pub fn try_new(ell: Ellpack<T>, tail: Coo<T>) -> Result<Self, FormatError> {
        check_len("tail rows", tail.rows(), ell.shape().rows)?;
        check_len("tail columns", tail.cols(), ell.cols())?;
        let shape = ell.shape();
        for (&r, &c) in tail.row().iter().zip(tail.col()) {
            let row = r as usize;
            let full = ell.row_len()[row] as usize == shape.width;
            let last = shape.width.checked_sub(1).map(|j| {
                let slot = super::SlotLayout::slot(&shape, row, j);
                ell.col()[slot as usize]
            });
            if !full || last.is_some_and(|last| last >= c) {
                return Err(FormatError::Invariant(format!(
                    "tail nonzero ({row}, {c}) does not continue a full ELLPACK row"
                )));
            }
        }
        Ok(Self { ell, tail })
    }

    /// Bell and Garland's width: the largest that at least one third of the rows reach.
    pub fn default_width(a: &Csr<T>) -> usize {
        let longest = a.max_row_len();
        if longest == 0 {
            return 0;
        }
        let mut rows_of_len = vec![0usize; longest + 1];
        for i in 0..a.rows() {
            rows_of_len[a.row_len(i)] += 1;
        }
        let mut reaching = 0;
        for width in (1..=longest).rev() {
            reaching += rows_of_len[width];
            if 3 * reaching >= a.rows() {
                return width;
            }
        }
        0
    }

    /// The requested width, at most the longest row (slots beyond it would be padding in every row,
    /// without a column to name if there is none), or the default width.
    pub fn width(a: &Csr<T>, wanted: Option<usize>) -> usize {
        match wanted {
            Some(width) => width.min(a.max_row_len()),
            None => Self::default_width(a),
        }
    }

    /// Number of nonzeros that do not fit into `width` slots of their rows.
    pub fn tail_len(a: &Csr<T>, width: usize) -> usize {
        let beyond = (0..a.rows()).into_par_iter().map(|i| a.row_len(i).saturating_sub(width));
        beyond.reduce(|| 0, |a, b| a + b)
    }

    /// Bytes that [`from_csr`](Self::from_csr) will allocate.
    pub fn bytes_needed(a: &Csr<T>, width: usize) -> u128 {
        Ellpack::<T>::bytes_needed(a.rows(), width)
            + Self::tail_len(a, width) as u128 * (8 + T::BYTES as u128)
    }

    /// Splits each row of `a` after `width` nonzeros, or after the length of the longest row if
    /// that is less.
    pub fn from_csr(
        a: &Csr<T>,
        width: usize,
        order: Order,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let width = Self::width(a, Some(width));
        let what = format!("HYB of {} x {} with width {width}", a.rows(), a.cols());
        limit.check(what, Self::bytes_needed(a, width))?;
        let shape = EllShape { rows: a.rows(), width, order };
        let ell = Ellpack::from_csr_truncated(a, shape);
        let lengths = (0..a.rows()).map(|i| a.row_len(i).saturating_sub(width));
        let beyond = RowPtr::from_lengths(lengths);
        let tail = Csr::filled(a.rows(), a.cols(), beyond, |i, col, val| {
            let (c, v) = a.row(i);
            col.copy_from_slice(&c[c.len() - col.len()..]);
            val.copy_from_slice(&v[v.len() - val.len()..]);
        })
        .expect("ends of a matrix's rows are rows"); // invariant
        let tail = Coo::from_rows(tail);
        Ok(Self { ell, tail })
    }

    /// Converts back to CSR.
    pub fn to_csr(&self) -> Csr<T> {
        let tail = self.tail.row_offsets();
        let (ell, head) = (&self.ell, self.ell.row_len());
        let lengths = (0..head.len()).map(|i| head[i] as usize + tail.range(i).len());
        let row_ptr = RowPtr::from_lengths(lengths);
        Csr::filled(head.len(), ell.cols(), row_ptr, |i, col, val| {
            let (col, end_col) = col.split_at_mut(head[i] as usize);
            let (val, end_val) = val.split_at_mut(head[i] as usize);
            copy_row(&ell.shape(), i, (ell.col(), ell.val()), (col, val));
            end_col.copy_from_slice(&self.tail.col()[tail.range(i)]);
            end_val.copy_from_slice(&self.tail.val()[tail.range(i)]);
        })
        .expect("the tail continues full rows to the right") // invariant
    }

    /// The regular part.
    pub fn ell(&self) -> &Ellpack<T> {
        &self.ell
    }

    /// The nonzeros beyond the regular part.
    pub fn tail(&self) -> &Coo<T> {
        &self.tail
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.ell.bytes() + self.tail.bytes()
    }

    /// Minimum bytes that one SpMV moves; x and y are counted once.
    pub fn minimal_bytes(&self) -> u64 {
        self.ell.minimal_bytes() + self.tail.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    fn hyb(a: &Csr, width: usize) -> Hyb {
        Hyb::from_csr(a, width, Order::RowMajor, MemoryLimit::unlimited()).unwrap()
    }

    #[test]
    fn the_thesis_example_leaves_one_entry_in_the_tail() {
        let a = examples::four_by_four();
        assert_eq!(Hyb::default_width(&a), 2);
        let h = hyb(&a, 2);
        assert_eq!(
            (h.tail().row(), h.tail().col(), h.tail().val()),
            (&[2][..], &[3][..], &[9.0][..])
        );
        assert_eq!(h.minimal_bytes(), 12 * 8 + 16 + 8 * 4 + 8 * 4);
    }

    #[test]
    fn the_default_width_is_reached_by_at_least_a_third_of_the_rows() {
        let rows = |lengths: &[usize]| {
            let t: Vec<_> = lengths
                .iter()
                .enumerate()
                .flat_map(|(i, &l)| (0..l).map(move |j| (i, j, 1.0)))
                .collect();
            Csr::from_triplets(lengths.len(), 10, &t).unwrap()
        };
        assert_eq!(Hyb::default_width(&rows(&[9, 1, 1])), 9);
        assert_eq!(Hyb::default_width(&rows(&[9, 1, 1, 1])), 1);
        assert_eq!(Hyb::default_width(&rows(&[0, 0, 0, 5])), 0);
    }

    #[test]
    fn every_width_gives_the_matrix_back() {
        let a = examples::four_by_four();
        for width in 0..=4 {
            assert_eq!(hyb(&a, width).to_csr(), a, "width {width}");
        }
    }

    #[test]
    fn a_tail_that_does_not_continue_its_row_is_refused() {
        let a = examples::four_by_four();
        let ell = hyb(&a, 2).ell().clone();
        let tail =
            |row: u32, col: u32| Coo::try_new(4, 4, vec![row], vec![col], vec![1.0]).unwrap();
        assert!(Hyb::try_new(ell.clone(), tail(2, 3)).is_ok());
        assert!(Hyb::try_new(ell.clone(), tail(2, 1)).is_err(), "left of the row's end");
        let short = hyb(&a, 3).ell().clone();
        assert!(Hyb::try_new(short, tail(0, 3)).is_err(), "row 0 is not full");
    }
}
