//! Estimates the size of compact formats from a sample of the rows.

use super::coded::Code;
use super::csr::CsrPlan;
use super::hll::ragged;
use super::lines::Lines;
use super::values::ValueCoding;
use crate::matrix::{Csr, FormatError, Hll, HllLayout, Order, Scalar, SlotLayout};

/// Number of hacks, and of spans of as many rows, that are sampled.
const SAMPLES: usize = 2048;

/// Bytes that an SpMV in the compact formats would move. Distinct values are counted; which columns take 16
/// bits is known for a sample of the rows only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactEstimate {
    /// Minimum bytes of an SpMV in compact HLL, as in [`FormatSize`](crate::matrix::FormatSize).
    pub hll_bytes: u64,
    /// Stored slots of compact HLL, without rows kept apart.
    pub hll_slots: u64,
    /// Minimum bytes of an SpMV in compact CSR.
    pub csr_bytes: u64,
    /// Share of the sampled nonzeros whose column takes 16 bits in compact HLL.
    pub hll_narrow: f64,
    /// Share of the sampled nonzeros whose column takes 16 bits in compact CSR.
    pub csr_narrow: f64,
    /// Bits of a value's code; `None` where values stay plain.
    pub code_bits: Option<u32>,
    /// Number of distinct values, if there are few enough for a code.
    pub distinct: Option<usize>,
}

impl CompactEstimate {
    /// Samples up to 2048 evenly spaced hacks, and as many rows. Reads every row's length, and the values
    /// until there are too many distinct ones.
    pub fn sampled<T: Scalar>(
        a: &Csr<T>,
        layout: HllLayout,
        coding: ValueCoding,
    ) -> Result<Self, FormatError> {
        let layout = HllLayout { order: Order::ColumnMajor, ..layout };
        let (order, shape) = Hll::plan(a, layout)?;
        let code = Code::choose(a.val(), shape.slots(), coding)?;
        // An odd step avoids aliasing with patterns that repeat every few rows.
        let every = |count: usize| (0..count).step_by(count.div_ceil(SAMPLES).max(1) | 1);
        let of_hack = |h: usize| {
            let rows = shape.hack_rows(h);
            Lines::of_hack(rows.map(|p| a.row(order.row_at(p)).0))
        };
        let hacks = every(shape.hacks()).map(of_hack).fold(Lines::default(), Lines::join);
        let rows = every(a.rows() / layout.hack_size.max(1)).flat_map(|h| {
            let first = h * layout.hack_size;
            first..first + layout.hack_size
        });
        let rows = rows.map(|i| CsrPlan::<T>::row(a.row(i).0)).fold(Lines::default(), Lines::join);

        let (m, n, nnz) = (a.rows() as f64, a.cols() as f64, a.nnz() as f64);
        let vectors = T::BYTES as f64 * (m + n);
        let value = T::BYTES as f64;
        let slots = shape.slots() as f64;
        let share = |lines: Lines| match lines.lines {
            0 => 0.0,
            all => lines.wide as f64 / all as f64,
        };
        let tail = Hll::slots_of(a, &order, &shape) as f64 - slots;
        let hack_size = layout.hack_size as f64;
        let lines = slots / hack_size;
        let hll = (shape.bytes() + order.bytes()) as f64
            + 4.0 * (shape.hacks() as u64 + ragged(a, &order, &shape)) as f64
            + 4.0 * lines
            + 2.0 * slots * (1.0 + share(hacks))
            + code.bytes(shape.slots()) as f64
            + tail * (4.0 + value)
            + vectors;
        let csr = a.row_ptr().bytes() as f64
            + 4.0 * m
            + 2.0 * nnz * (2.0 - rows.narrow_share())
            + code.bytes(a.nnz() as u64) as f64
            + vectors;
        let (code_bits, distinct) = match &code {
            Code::Plain => (None, None),
            Code::Byte(dictionary) => (Some(8), Some(dictionary.len())),
            Code::Short(dictionary) => (Some(16), Some(dictionary.len())),
        };
        Ok(Self {
            hll_bytes: hll as u64,
            hll_slots: shape.slots(),
            csr_bytes: csr as u64,
            hll_narrow: hacks.narrow_share(),
            csr_narrow: rows.narrow_share(),
            code_bits,
            distinct,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{CompactCsr, CompactHll};
    use crate::memory::MemoryLimit;

    #[test]
    fn a_sample_is_close_to_what_is_built() {
        // Rows of 3 to 9 nonzeros around the diagonal, every 16th with one far away.
        let row = |i: usize| {
            let near = (0..3 + i % 7).map(move |j| (i, i + 3 * j, (j % 5) as f64));
            let far = i.is_multiple_of(16).then_some((i, 190_000, 7.0));
            near.chain(far)
        };
        let entries: Vec<_> = (0..100_000).flat_map(row).collect();
        let a = Csr::from_triplets(100_000, 200_000, &entries).unwrap();
        for layout in [8, 32].map(|size| HllLayout::plain(size, Order::ColumnMajor)) {
            let coding = ValueCoding::Auto;
            let estimate = CompactEstimate::sampled(&a, layout, coding).unwrap();
            let unlimited = MemoryLimit::unlimited();
            let hll = CompactHll::from_csr(&a, layout, coding, unlimited).unwrap().minimal_bytes();
            let csr = CompactCsr::from_csr(&a, coding, unlimited).unwrap().minimal_bytes();
            let off = |estimate: u64, real: u64| (estimate as f64 / real as f64 - 1.0).abs();
            assert!(off(estimate.hll_bytes, hll) < 0.05, "{} of {hll}", estimate.hll_bytes);
            assert!(off(estimate.csr_bytes, csr) < 0.05, "{} of {csr}", estimate.csr_bytes);
            assert_eq!((estimate.code_bits, estimate.distinct), (Some(8), Some(6)));
            assert!(estimate.hll_narrow < 1.0 && estimate.csr_narrow < 1.0);
        }
    }
}
