//! Compact CSR: the first column of each row, 16-bit differences from column to column, and values stored
//! plainly or as codes of a dictionary.

use super::coded::{Code, Coded, Pieces, in_pieces};
use super::lines::{Lines, WIDE};
use super::values::ValueCoding;
use crate::matrix::csr::{check_dimensions, check_len, check_offsets};
use crate::matrix::{Csr, FormatError, RowPtr, Scalar, SlotLayout};
use crate::memory::{MemoryLimit, zeroed};
use crate::parallel::*;

/// An m × n matrix in compact CSR. `start` holds the first column of each row and `low` the difference of
/// each nonzero's column to the previous one, 0 for the first. Where a difference needs more than 16 bits,
/// the row's start is [`WIDE`], `low` holds the lower halves of its columns and `high`, which has elements
/// for such rows only, the upper halves. An empty row starts at 0.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactCsr<T = f64> {
    rows: usize,
    cols: usize,
    row_ptr: RowPtr,
    start: Vec<u32>,
    low: Vec<u16>,
    high: Vec<u16>,
    /// Nonzeros of wide rows before each row; absent when there are none.
    wide: Option<RowPtr>,
    values: Coded<T>,
}

/// How a matrix is laid out in compact CSR.
#[derive(Clone, Debug)]
pub struct CsrPlan<T> {
    rows: usize,
    cols: usize,
    row_ptr_bytes: u64,
    lines: Lines,
    code: Code<T>,
}

/// Whether the ascending columns of a row fit 16-bit differences.
fn is_narrow(columns: &[u32]) -> bool {
    columns.windows(2).all(|w| w[1] - w[0] <= u32::from(u16::MAX))
}

impl<T: Scalar> CsrPlan<T> {
    /// The plan for `a`. Fails when the requested codes are too narrow.
    pub fn new(a: &Csr<T>, coding: ValueCoding) -> Result<Self, FormatError> {
        let of_rows = (0..a.rows()).into_par_iter().map(|i| Self::row(a.row(i).0));
        let lines = of_rows.reduce(Lines::default, Lines::join);
        let code = Code::choose(a.val(), a.nnz() as u64, coding)?;
        let row_ptr_bytes = a.row_ptr().bytes();
        Ok(Self { rows: a.rows(), cols: a.cols(), row_ptr_bytes, lines, code })
    }

    /// Treats a row as a line of its own.
    pub(super) fn row(columns: &[u32]) -> Lines {
        let (entries, wide) = (columns.len() as u64, !is_narrow(columns));
        let wide_entries = if wide { entries } else { 0 };
        Lines { lines: 1, wide: wide.into(), entries, wide_entries }
    }

    /// Number of rows, and of those that keep 32 bits.
    pub fn lines(&self) -> Lines {
        self.lines
    }

    /// Bytes of all arrays that every SpMV reads.
    fn bytes_read(&self) -> u128 {
        u128::from(self.row_ptr_bytes)
            + 4 * self.rows as u128
            + 2 * u128::from(self.lines.entries + self.lines.wide_entries)
            + self.code.bytes(self.lines.entries)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u128 {
        let wide = match self.lines.wide {
            0 => 0,
            _ => 4 * (self.rows as u128 + 1),
        };
        self.bytes_read() + wide
    }

    /// Minimum bytes that one SpMV moves.
    pub fn minimal_bytes(&self) -> u128 {
        self.bytes_read() + T::BYTES as u128 * (self.rows as u128 + self.cols as u128)
    }
}

/// The nonzeros of spans of rows, filled from a matrix.
struct OfSpans<'a, T> {
    a: &'a Csr<T>,
    bounds: Vec<u64>,
}

impl<T: Scalar> Pieces<T> for OfSpans<'_, T> {
    fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    fn each(&self, span: usize, mut put: impl FnMut(usize, T)) {
        let (from, to) = (self.bounds[span] as usize, self.bounds[span + 1] as usize);
        for (at, &value) in self.a.val()[from..to].iter().enumerate() {
            put(at, value);
        }
    }
}

/// Rows converted at a time.
const SPAN: usize = 1 << 10;

impl<T: Scalar> CompactCsr<T> {
    /// Takes the arrays after checking lengths, offsets, column ranges, ascending columns in each row and
    /// codes. `low` has one element per nonzero, `high` one per nonzero of the rows that start at [`WIDE`].
    pub fn try_new(
        cols: usize,
        row_ptr: RowPtr,
        (start, low, high): (Vec<u32>, Vec<u16>, Vec<u16>),
        values: Coded<T>,
    ) -> Result<Self, FormatError> {
        let rows = start.len();
        check_dimensions(rows, cols)?;
        check_len("row_ptr", row_ptr.len(), rows + 1)?;
        check_offsets("row_ptr", &row_ptr, low.len())?;
        check_len("values", values.len(), low.len())?;
        values.check()?;
        let wide = wide_before(&row_ptr, &start);
        check_len("high", high.len(), wide.as_ref().map_or(0, |wide| wide.get(rows)))?;
        let a = Self { rows, cols, row_ptr, start, low, high, wide, values };
        match (0..rows).into_par_iter().find_map_first(|i| a.wrong_in(i)) {
            Some(error) => Err(error),
            None => Ok(a),
        }
    }

    /// Returns what is wrong with a row, if anything.
    fn wrong_in(&self, row: usize) -> Option<FormatError> {
        let range = self.row_ptr.range(row);
        let start = self.start[row];
        let is_canonical = match (range.is_empty(), start) {
            (true, start) => start == 0,
            (false, WIDE) => true,
            (false, _) => self.low[range.start] == 0,
        };
        if !is_canonical {
            let what = format!("row {row} does not start at its first column");
            return Some(FormatError::Invariant(what));
        }
        let mut previous = None;
        for col in self.columns(row) {
            if col >= self.cols as u64 {
                return Some(FormatError::ColumnOutOfRange { row, col, cols: self.cols });
            }
            if previous.is_some_and(|previous| previous >= col) {
                return Some(FormatError::ColumnsNotAscending { row });
            }
            previous = Some(col);
        }
        None
    }

    /// The columns of a row.
    fn columns(&self, row: usize) -> impl Iterator<Item = u64> + '_ {
        let (range, start) = (self.row_ptr.range(row), self.start[row]);
        let first_high = self.wide_before(row);
        let mut col = u64::from(start);
        range.enumerate().map(move |(j, k)| {
            let low = u64::from(self.low[k]);
            match start {
                WIDE => u64::from(self.high[first_high + j]) << 16 | low,
                _ => {
                    col += low;
                    col
                }
            }
        })
    }

    /// Stores `a` in the fewest bytes without loss. Fails, before allocating, when that needs more than
    /// `limit` or the requested codes are too narrow.
    pub fn from_csr(
        a: &Csr<T>,
        coding: ValueCoding,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let plan = CsrPlan::new(a, coding)?;
        let (rows, cols) = (a.rows(), a.cols());
        limit.check(format!("compact CSR of {rows} x {cols}"), plan.bytes())?;
        let narrow = |i: usize| is_narrow(a.row(i).0);
        let first = |i: usize| match (a.row(i).0.first(), narrow(i)) {
            (Some(&c), true) => c,
            (Some(_), false) => WIDE,
            (None, _) => 0,
        };
        let start: Vec<u32> = (0..rows).into_par_iter().map(first).collect();
        let wide = wide_before(a.row_ptr(), &start);
        let mut low = zeroed(0u16, a.nnz());
        let mut high = zeroed(0u16, plan.lines.wide_entries as usize);
        let rows_at = |s: usize| rows.min(s * SPAN);
        let spans = 0..=rows.div_ceil(SPAN);
        let bounds: Vec<u64> = spans.clone().map(|s| a.row_ptr().get(rows_at(s)) as u64).collect();
        let high_at = |s: usize| wide.as_ref().map_or(0, |wide| wide.get(rows_at(s)) as u64);
        let of_low = in_pieces(&mut low, bounds.iter().copied());
        let of_high = in_pieces(&mut high, spans.map(high_at));
        of_low.into_par_iter().zip(of_high).enumerate().for_each(|(s, (low, high))| {
            let (mut at, mut upper) = (0, 0);
            let rows = rows_at(s)..rows_at(s + 1);
            for (i, &start) in rows.clone().zip(&start[rows]) {
                let mut previous = start;
                for &c in a.row(i).0 {
                    if start == WIDE {
                        low[at] = c as u16;
                        high[upper] = (c >> 16) as u16;
                        upper += 1;
                    } else {
                        low[at] = (c - previous) as u16;
                        previous = c;
                    }
                    at += 1;
                }
            }
        });
        let values = plan.code.store(&OfSpans { a, bounds });
        let row_ptr = a.row_ptr().clone();
        Ok(Self { rows, cols, row_ptr, start, low, high, wide, values })
    }

    /// The column and value of each nonzero of a row.
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (u32, T)> + '_ {
        let slots = self.row_ptr.range(row);
        // Columns of a checked matrix are below 2³².
        self.columns(row).zip(slots).map(|(col, slot)| (col as u32, self.values.get(slot)))
    }

    /// Converts back to CSR, bit for bit.
    pub fn to_csr(&self) -> Csr<T> {
        let all = || (0..self.rows).flat_map(|i| self.entries(i));
        let (col, val) = (all().map(|(c, _)| c).collect(), all().map(|(_, v)| v).collect());
        Csr::try_new(self.rows, self.cols, self.row_ptr.clone(), col, val)
            .expect("compact rows hold the rows of a matrix") // invariant
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored nonzeros.
    pub fn nnz(&self) -> usize {
        self.low.len()
    }

    /// The `rows + 1` row offsets.
    pub fn row_ptr(&self) -> &RowPtr {
        &self.row_ptr
    }

    /// The first column of each row, or [`WIDE`].
    pub fn start(&self) -> &[u32] {
        &self.start
    }

    /// The difference of each nonzero's column to the previous one, or the lower half of its column.
    pub fn low(&self) -> &[u16] {
        &self.low
    }

    /// The upper half of the column of each nonzero of the wide rows.
    pub fn high(&self) -> &[u16] {
        &self.high
    }

    /// The value of each nonzero.
    pub fn values(&self) -> &Coded<T> {
        &self.values
    }

    /// Nonzeros of wide rows before a row; all of them if `row` is the number of rows.
    pub fn wide_before(&self, row: usize) -> usize {
        self.wide.as_ref().map_or(0, |wide| wide.get(row))
    }

    /// Number of rows whose columns take 32 bits.
    pub fn wide_rows(&self) -> usize {
        self.start.iter().filter(|&&start| start == WIDE).count()
    }

    /// Bytes of all arrays that every SpMV reads.
    fn read(&self) -> u64 {
        self.row_ptr.bytes()
            + 4 * self.rows as u64
            + 2 * (self.low.len() + self.high.len()) as u64
            + self.values.bytes()
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.read() + self.wide.as_ref().map_or(0, RowPtr::bytes)
    }

    /// Minimum bytes that one SpMV moves.
    pub fn minimal_bytes(&self) -> u64 {
        self.read() + T::BYTES as u64 * (self.rows + self.cols) as u64
    }
}

/// Slot k is nonzero k in row-major order.
impl<T: Scalar> SlotLayout for CompactCsr<T> {
    fn slots(&self) -> u64 {
        self.nnz() as u64
    }

    fn row_slots(&self, row: usize) -> usize {
        self.row_ptr.range(row).len()
    }

    fn slot(&self, row: usize, j: usize) -> u64 {
        (self.row_ptr.get(row) + j) as u64
    }
}

/// The nonzeros of wide rows before each row, if there are any.
fn wide_before(row_ptr: &RowPtr, start: &[u32]) -> Option<RowPtr> {
    let length = |i: usize| if start[i] == WIDE { row_ptr.range(i).len() } else { 0 };
    let any = start.contains(&WIDE);
    any.then(|| RowPtr::from_lengths((0..start.len()).map(length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    fn made(a: &Csr, coding: ValueCoding) -> CompactCsr {
        CompactCsr::from_csr(a, coding, MemoryLimit::unlimited()).unwrap()
    }

    #[test]
    fn the_papers_example_has_its_differences() {
        let a = made(&examples::five_by_five(), ValueCoding::Plain);
        assert_eq!(a.start(), [0, 1, 1, 2, 3]);
        assert_eq!(a.low(), [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!((a.high().len(), a.wide_rows()), (0, 0));
        // 10 values and differences, 6 offsets, 5 starts, y and x.
        assert_eq!(a.minimal_bytes(), 10 * (8 + 2) + 4 * 6 + 4 * 5 + 8 * 5 + 8 * 5);
        assert_eq!(a.to_csr(), examples::five_by_five());
        // Values 1, 2, 3, 4, 5, 6 as 8-bit codes.
        let coded = made(&examples::five_by_five(), ValueCoding::Auto);
        assert_eq!((coded.values().as_str(), coded.values().distinct()), ("8", Some(6)));
        assert_eq!(a.bytes() - coded.bytes(), 10 * 7 - 6 * 8);
        assert_eq!(coded.to_csr(), examples::five_by_five());
    }

    #[test]
    fn a_gap_of_65536_keeps_a_row_in_32_bits() {
        let a = Csr::from_triplets(
            4,
            200_000,
            &[(0, 3, 1.0), (0, 65_538, 2.0), (1, 3, 3.0), (1, 65_539, 4.0), (3, 199_999, 5.0)],
        );
        let a = a.unwrap();
        let compact = made(&a, ValueCoding::Plain);
        assert_eq!(compact.start(), [3, WIDE, 0, 199_999]);
        assert_eq!(compact.low(), [0, 65_535, 3, 3, 0]);
        assert_eq!((compact.high(), compact.wide_before(3)), (&[0, 1][..], 2));
        assert_eq!(compact.to_csr(), a);
        let plan = CsrPlan::new(&a, ValueCoding::Plain).unwrap();
        assert_eq!(plan.lines(), Lines { lines: 4, wide: 1, entries: 5, wide_entries: 2 });
        assert_eq!(plan.bytes(), u128::from(compact.bytes()));
    }

    #[test]
    fn arrays_that_break_the_invariants_are_refused() {
        let good = made(&examples::five_by_five(), ValueCoding::Auto);
        let build = |start: &[u32], low: &[u16], high: &[u16], values: &Coded<f64>| {
            let arrays = (start.to_vec(), low.to_vec(), high.to_vec());
            CompactCsr::try_new(5, good.row_ptr().clone(), arrays, values.clone())
        };
        let (start, low, values) = (good.start(), good.low(), good.values());
        assert_eq!(build(start, low, &[], values).as_ref(), Ok(&good));
        assert!(build(&start[1..], low, &[], values).is_err(), "a row too few");
        assert!(build(start, low, &[0], values).is_err(), "upper halves without a wide row");
        assert!(build(&[WIDE, 1, 1, 2, 3], low, &[], values).is_err(), "no upper halves");
        assert!(build(&[4, 1, 1, 2, 3], low, &[], values).is_err(), "column past the last");
        let changed = |k: usize, to: u16| {
            let mut low = low.to_vec();
            low[k] = to;
            low
        };
        assert!(build(start, &changed(1, 0), &[], values).is_err(), "columns repeat");
        assert!(build(start, &changed(0, 1), &[], values).is_err(), "first column elsewhere");
        let coded = |codes: Vec<u8>, table: Vec<f64>| Coded::Byte { codes, table };
        assert!(build(start, low, &[], &coded(vec![1; 10], vec![1.0])).is_err(), "no such code");
        assert!(build(start, low, &[], &coded(vec![0; 10], vec![2.0, 1.0])).is_err(), "descending");
        assert!(build(start, low, &[], &coded(vec![0; 9], vec![1.0])).is_err(), "too few codes");
    }
}
