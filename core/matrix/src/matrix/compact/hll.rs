//! Compact HLL: column-major hacks with a base column for each line of a hack, 16-bit distances from it, and
//! values stored plainly or as codes of a dictionary.

use super::coded::{Code, Coded, Pieces, in_pieces};
use super::lines::{Lines, WIDE, spans};
use super::values::ValueCoding;
use crate::matrix::csr::{check_dimensions, check_len};
use crate::matrix::{
    Csr, FormatError, Hll, HllLayout, HllShape, Order, RowOrder, RowPtr, Scalar, SlotLayout,
};
use crate::memory::{MemoryLimit, zeroed};
use crate::pace::{Pace, at_once};
use crate::parallel::*;

/// An m × n matrix in compact HLL. The j-th slots of a hack's rows form a line: `base` holds its smallest
/// column and `low` the distances from it. Where these need more than 16 bits, the base is [`WIDE`], `low`
/// holds the lower halves of the columns and `high`, which has slots for such lines only, the upper halves.
/// Empty slots hold 0 everywhere, and the dictionary's first code.
///
/// Rows lie in hacks in the order of [`row_order`](Self::row_order), as in [`Hll`]; rows kept apart are CSR.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactHll<T = f64> {
    shape: HllShape,
    row_order: RowOrder,
    cols: usize,
    tail: Csr<T>,
    row_len: Vec<u32>,
    /// Shortest row of each hack.
    shortest: Vec<u32>,
    base: Vec<u32>,
    low: Vec<u16>,
    high: Vec<u16>,
    /// Wide lines before each hack; absent when there are none.
    wide: Option<RowPtr>,
    values: Coded<T>,
}

/// The layout of a matrix in compact HLL, computed without allocating its slots.
#[derive(Clone, Debug)]
pub struct HllPlan<T> {
    order: RowOrder,
    shape: HllShape,
    /// Wide lines of each hack.
    wide: Vec<u32>,
    lines: Lines,
    /// Rows in hacks whose rows differ in length.
    ragged: u64,
    tail_nnz: usize,
    code: Code<T>,
}

impl<T: Scalar> HllPlan<T> {
    /// The plan for `a`; the order of slots in `layout` does not matter. Fails when the hack size is not
    /// allowed or the requested codes are too narrow.
    pub fn new(a: &Csr<T>, layout: HllLayout, coding: ValueCoding) -> Result<Self, FormatError> {
        at_once(Self::at(a, layout, coding, Pace::AtOnce))
    }

    /// Like [`new`](Self::new), in steps if `pace` asks for them.
    pub(in crate::matrix) async fn at(
        a: &Csr<T>,
        layout: HllLayout,
        coding: ValueCoding,
        pace: Pace,
    ) -> Result<Self, FormatError> {
        let layout = HllLayout { order: Order::ColumnMajor, ..layout };
        let (order, shape) = Hll::plan(a, layout)?;
        let mut wide = Vec::with_capacity(shape.hacks());
        let mut lines = Lines::default();
        for hacks in pace.pieces(shape.hacks()) {
            let of_hacks: Vec<Lines> = hacks
                .into_par_iter()
                .map_init(Vec::new, |scratch, h| {
                    spans(rows_of(a, &order, &shape, h), scratch);
                    Lines::of(scratch)
                })
                .collect();
            wide.extend(of_hacks.iter().map(|lines| lines.wide as u32));
            lines = of_hacks.into_iter().fold(lines, Lines::join);
            pace.rest().await;
        }
        let code = Code::choose(a.val(), shape.slots(), coding)?;
        let ragged = ragged(a, &order, &shape);
        let tail = (order.in_blocks()..order.rows()).map(|p| a.row_len(order.row_at(p)));
        Ok(Self { tail_nnz: tail.sum(), order, shape, wide, lines, ragged, code })
    }

    /// Number of lines, and of those that keep 32 bits.
    pub fn lines(&self) -> Lines {
        self.lines
    }

    /// Slots, plus nonzeros of rows kept apart.
    pub fn slots(&self) -> u64 {
        self.shape.slots() + self.tail_nnz as u64
    }

    /// Bytes of all arrays that every SpMV reads.
    fn bytes_read(&self) -> u128 {
        let (slots, hack_size) = (u128::from(self.shape.slots()), self.shape.hack_size() as u128);
        let tail_ptr = 4 * (self.order.tail() as u128 + 1);
        let tail = self.tail_nnz as u128 * (4 + T::BYTES as u128);
        u128::from(self.shape.bytes() + self.order.bytes())
            + 4 * self.shape.hacks() as u128
            + 4 * u128::from(self.lines.lines)
            + 2 * (slots + hack_size * u128::from(self.lines.wide))
            + self.code.bytes(self.shape.slots())
            + if self.tail_nnz > 0 { tail + tail_ptr } else { 0 }
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u128 {
        let wide = match self.lines.wide {
            0 => 0,
            _ => 4 * (self.shape.hacks() as u128 + 1),
        };
        self.bytes_read() + wide + 4 * self.shape.rows() as u128
    }

    /// Minimum bytes that one SpMV moves; lengths are read in hacks whose rows differ in length.
    pub fn minimal_bytes(&self, cols: usize) -> u128 {
        let vectors = T::BYTES as u128 * (self.order.rows() as u128 + cols as u128);
        self.bytes_read() + 4 * u128::from(self.ragged) + vectors
    }
}

/// Rows in hacks whose rows differ in length, missing rows included.
pub(super) fn ragged<T: Scalar>(a: &Csr<T>, order: &RowOrder, shape: &HllShape) -> u64 {
    let rows_of_ragged = |h: usize| {
        let (rows, width) = (shape.hack_rows(h), u64::from(shape.max_nzr()[h]));
        let entries = rows.clone().map(|p| a.row_len(order.row_at(p)) as u64).sum::<u64>();
        if entries < width * shape.hack_size() as u64 { rows.len() as u64 } else { 0 }
    };
    let hacks = (0..shape.hacks()).into_par_iter().map(rows_of_ragged);
    hacks.reduce(|| 0, |a, b| a + b)
}

/// Columns of the rows of a hack.
fn rows_of<'r, T: Scalar>(
    a: &'r Csr<T>,
    order: &'r RowOrder,
    shape: &HllShape,
    h: usize,
) -> impl Iterator<Item = &'r [u32]> {
    shape.hack_rows(h).map(|p| a.row(order.row_at(p)).0)
}

/// The slots of hacks, filled from a matrix.
struct OfHacks<'a, T> {
    a: &'a Csr<T>,
    order: &'a RowOrder,
    shape: &'a HllShape,
}

impl<T: Scalar> Pieces<T> for OfHacks<'_, T> {
    fn bounds(&self) -> &[u64] {
        self.shape.offsets()
    }

    fn each(&self, h: usize, mut put: impl FnMut(usize, T)) {
        for (r, p) in self.shape.hack_rows(h).enumerate() {
            let values = self.a.row(self.order.row_at(p)).1;
            for (j, &value) in values.iter().enumerate() {
                put(j * self.shape.hack_size() + r, value);
            }
        }
    }
}

impl<T: Scalar> CompactHll<T> {
    /// Takes the arrays after checking lengths, column ranges, ascending columns in each row, codes, and that
    /// empty slots are blank. The widths of the hacks follow from `row_len`; `base` has one element per line,
    /// `low` one per slot and `high` one per slot of the lines whose base is [`WIDE`].
    pub fn try_new(
        hack_size: usize,
        row_order: RowOrder,
        row_len: Vec<u32>,
        (base, low, high): (Vec<u32>, Vec<u16>, Vec<u16>),
        values: Coded<T>,
        tail: Csr<T>,
    ) -> Result<Self, FormatError> {
        let cols = tail.cols();
        check_dimensions(row_order.rows(), cols)?;
        check_len("row_len", row_len.len(), row_order.in_blocks())?;
        check_len("tail rows", tail.rows(), row_order.tail())?;
        let shape = HllShape::new(row_len.iter().copied(), hack_size, Order::ColumnMajor)?;
        if low.len() as u64 != shape.slots() {
            let (expected, found) = (shape.slots(), low.len() as u64);
            return Err(FormatError::Length { array: "low", expected, found });
        }
        check_len("base", base.len(), low.len() / hack_size)?;
        check_len("values", values.len(), low.len())?;
        values.check()?;
        let wide: Vec<u32> = (0..shape.hacks())
            .map(|h| base[lines(&shape, h)].iter().filter(|&&b| b == WIDE).count() as u32)
            .collect();
        let wide = wide_before(&wide);
        let wide_lines = wide.as_ref().map_or(0, |wide| wide.get(shape.hacks()));
        check_len("high", high.len(), wide_lines * hack_size)?;
        let shortest = shortest(&shape, &row_len);
        let a =
            Self { shape, row_order, cols, tail, row_len, shortest, base, low, high, wide, values };
        let bad = (0..a.shape.hacks()).into_par_iter().find_map_first(|h| a.wrong_in(h));
        match bad {
            Some(error) => Err(error),
            None => Ok(a),
        }
    }

    /// Returns what is wrong with a hack, if anything.
    fn wrong_in(&self, h: usize) -> Option<FormatError> {
        let first = h * self.shape.hack_size();
        for r in 0..self.shape.hack_size() {
            let len = self.row_len.get(first + r).map_or(0, |&len| len as usize);
            let mut previous = None;
            for (j, slot) in self.slots_of(h, r).enumerate() {
                let row = first + r;
                if j >= len {
                    if slot.is_blank && self.values.is_blank(slot.at) {
                        continue;
                    }
                    let what = format!("position {row} has an empty slot that is not blank");
                    return Some(FormatError::Invariant(what));
                }
                if slot.col >= self.cols as u64 {
                    let (col, cols) = (slot.col, self.cols);
                    return Some(FormatError::ColumnOutOfRange { row, col, cols });
                }
                if previous.is_some_and(|previous| previous >= slot.col) {
                    return Some(FormatError::ColumnsNotAscending { row });
                }
                previous = Some(slot.col);
            }
        }
        None
    }

    /// The slots of row `r` of a hack, padding included.
    fn slots_of(&self, h: usize, r: usize) -> impl Iterator<Item = SlotAt> + '_ {
        let size = self.shape.hack_size();
        let mut high = self.wide.as_ref().map_or(0, |wide| wide.get(h)) * size + r;
        lines(&self.shape, h).map(move |line| {
            let at = line * size + r;
            let (base, low) = (self.base[line], self.low[at]);
            match base {
                WIDE => {
                    let upper = self.high[high];
                    high += size;
                    let col = u64::from(upper) << 16 | u64::from(low);
                    SlotAt { at, col, is_blank: col == 0 }
                }
                base => SlotAt { at, col: u64::from(base) + u64::from(low), is_blank: low == 0 },
            }
        })
    }

    /// Stores `a` in the fewest bytes without loss. Fails, before allocating, when that needs more than
    /// `limit`, the hack size is not allowed, or the requested codes are too narrow.
    pub fn from_csr(
        a: &Csr<T>,
        layout: HllLayout,
        coding: ValueCoding,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let plan = HllPlan::new(a, layout, coding)?;
        let (rows, cols) = (a.rows(), a.cols());
        let what = format!("compact HLL of {rows} x {cols} with hack size {}", layout.hack_size);
        limit.check(what, plan.bytes())?;
        let HllPlan { order, shape, wide, lines: counted, code, .. } = plan;
        let size = shape.hack_size();
        let wide = wide_before(&wide);
        let mut base = zeroed(0u32, counted.lines as usize);
        let mut low = zeroed(0u16, shape.slots() as usize);
        let mut high = zeroed(0u16, counted.wide as usize * size);
        {
            let of_lines = shape.offsets().iter().map(|&offset| offset / size as u64);
            let of_base = in_pieces(&mut base, of_lines);
            let of_low = in_pieces(&mut low, shape.offsets().iter().copied());
            let wide_at = |h| wide.as_ref().map_or(0, |wide| wide.get(h));
            let of_wide = (0..=shape.hacks()).map(|h| (wide_at(h) * size) as u64);
            let of_high = in_pieces(&mut high, of_wide);
            let hacks = of_base.into_par_iter().zip(of_low).zip(of_high).enumerate();
            hacks.for_each_init(Vec::new, |scratch, (h, ((base, low), high))| {
                spans(rows_of(a, &order, &shape, h), scratch);
                for (base, span) in base.iter_mut().zip(&*scratch) {
                    *base = span.base();
                }
                for (r, columns) in rows_of(a, &order, &shape, h).enumerate() {
                    let mut upper = r;
                    for (j, (&c, &base)) in columns.iter().zip(&*base).enumerate() {
                        if base == WIDE {
                            low[j * size + r] = c as u16;
                            high[upper] = (c >> 16) as u16;
                            upper += size;
                        } else {
                            low[j * size + r] = (c - base) as u16;
                        }
                    }
                }
            });
        }
        let values = code.store(&OfHacks { a, order: &order, shape: &shape });
        let length = |p: usize| a.row_len(order.row_at(p)) as u32;
        let row_len: Vec<u32> = (0..order.in_blocks()).into_par_iter().map(length).collect();
        let tail = Hll::gather(a, (order.in_blocks()..a.rows()).map(|p| order.row_at(p)));
        let shortest = shortest(&shape, &row_len);
        let row_order = order;
        Ok(Self { shape, row_order, cols, tail, row_len, shortest, base, low, high, wide, values })
    }

    /// The column and value of each slot, padding included, of the row at a position in the hacks.
    pub fn row_slots(&self, position: usize) -> impl Iterator<Item = (u32, T)> + '_ {
        let size = self.shape.hack_size();
        let slots = self.slots_of(position / size, position % size);
        // Columns of a checked matrix are below 2³².
        slots.map(|slot| (slot.col as u32, self.values.get(slot.at)))
    }

    /// Converts back to CSR, bit for bit.
    pub fn to_csr(&self) -> Csr<T> {
        let positions = self.row_order.positions();
        let in_hacks = self.row_order.in_blocks();
        let length = |&p: &u32| match (p as usize).checked_sub(in_hacks) {
            None => self.row_len[p as usize] as usize,
            Some(k) => self.tail.row_len(k),
        };
        let row_ptr = RowPtr::from_lengths(positions.iter().map(length));
        let nnz = row_ptr.get(positions.len());
        let (mut col, mut val) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
        for p in &positions {
            match (*p as usize).checked_sub(in_hacks) {
                None => {
                    for (c, v) in self.row_slots(*p as usize).take(length(p)) {
                        col.push(c);
                        val.push(v);
                    }
                }
                Some(k) => {
                    col.extend_from_slice(self.tail.row(k).0);
                    val.extend_from_slice(self.tail.row(k).1);
                }
            }
        }
        Csr::try_new(positions.len(), self.cols, row_ptr, col, val)
            .expect("hacks and tail hold every row once") // invariant
    }

    /// Number of rows m, including those kept apart.
    pub fn rows(&self) -> usize {
        self.row_order.rows()
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Hacks, their widths and the offsets of their slots.
    pub fn shape(&self) -> &HllShape {
        &self.shape
    }

    /// The row at each position.
    pub fn row_order(&self) -> &RowOrder {
        &self.row_order
    }

    /// The rows kept apart, in the order of their positions.
    pub fn tail(&self) -> &Csr<T> {
        &self.tail
    }

    /// Number of nonzeros of the row at each position in the hacks.
    pub fn row_len(&self) -> &[u32] {
        &self.row_len
    }

    /// Nonzeros of the shortest row of each hack; 0 if rows are missing.
    pub fn shortest(&self) -> &[u32] {
        &self.shortest
    }

    /// The smallest column of each line, or [`WIDE`].
    pub fn base(&self) -> &[u32] {
        &self.base
    }

    /// Distance from the base of each slot, or the lower half of its column.
    pub fn low(&self) -> &[u16] {
        &self.low
    }

    /// The upper half of the column of each slot of the wide lines.
    pub fn high(&self) -> &[u16] {
        &self.high
    }

    /// The value of each slot.
    pub fn values(&self) -> &Coded<T> {
        &self.values
    }

    /// Wide lines before a hack; all of them if `hack` is the number of hacks.
    pub fn wide_before(&self, hack: usize) -> usize {
        self.wide.as_ref().map_or(0, |wide| wide.get(hack))
    }

    /// Number of lines whose columns take 32 bits.
    pub fn wide_lines(&self) -> usize {
        self.high.len() / self.shape.hack_size()
    }

    /// Bytes of all arrays that every SpMV reads.
    fn read(&self) -> u64 {
        let tail = if self.tail.nnz() > 0 { self.tail.bytes() } else { 0 };
        self.shape.bytes()
            + self.row_order.bytes()
            + 4 * (self.shortest.len() + self.base.len()) as u64
            + 2 * (self.low.len() + self.high.len()) as u64
            + self.values.bytes()
            + tail
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let wide = self.wide.as_ref().map_or(0, RowPtr::bytes);
        self.read() + wide + 4 * self.row_len.len() as u64
    }

    /// Minimum bytes that one SpMV moves; lengths are read in hacks whose rows differ in length.
    pub fn minimal_bytes(&self) -> u64 {
        let is_ragged = |h: &usize| self.shortest[*h] < self.shape.max_nzr()[*h];
        let ragged = (0..self.shape.hacks()).filter(is_ragged);
        let ragged: usize = ragged.map(|h| self.shape.hack_rows(h).len()).sum();
        let vectors = T::BYTES as u64 * (self.rows() + self.cols) as u64;
        self.read() + 4 * ragged as u64 + vectors
    }
}

/// A slot of a row.
struct SlotAt {
    at: usize,
    col: u64,
    /// Whether the slot holds what an empty slot stores.
    is_blank: bool,
}

/// The lines of a hack.
fn lines(shape: &HllShape, h: usize) -> std::ops::Range<usize> {
    let size = shape.hack_size() as u64;
    (shape.offsets()[h] / size) as usize..(shape.offsets()[h + 1] / size) as usize
}

/// The wide lines before each hack, if there are any.
fn wide_before(wide: &[u32]) -> Option<RowPtr> {
    let any = wide.iter().any(|&wide| wide > 0);
    any.then(|| RowPtr::from_lengths(wide.iter().map(|&wide| wide as usize)))
}

/// Nonzeros of the shortest row of each hack; 0 if rows are missing.
fn shortest(shape: &HllShape, row_len: &[u32]) -> Vec<u32> {
    let of_hack = |h: usize| {
        let rows = shape.hack_rows(h);
        match rows.len() == shape.hack_size() {
            true => row_len[rows].iter().copied().min().unwrap_or(0),
            false => 0,
        }
    };
    (0..shape.hacks()).map(of_hack).collect()
}

#[cfg(test)]
mod tests;
