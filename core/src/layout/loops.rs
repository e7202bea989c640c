//! In which groups the lanes of a warp go through a kernel's inner loop.
//!
//! Lanes whose rows differ in length do not stay side by side in step k of the source's loop: the
//! compiler unrolls it, and lanes meet again only between its parts. Which lanes share a request,
//! and so how many sectors it touches, follows from these parts. They were read from the machine
//! code that NVRTC 12.9 and 13.5 make for sm_90 (both the same in this respect); they are the one
//! place to change when a compiler unrolls otherwise.
//!
//! What the compiler does besides, and the model with it: the end of a row is loaded once
//! (`row_ptr[row + 1]` in the loop's condition of `csr_thread_per_row` is hoisted, since y is
//! stored only after the loop); `hll_warp_per_row` loads a hack's offset only in lanes that have a
//! slot to read; both rows that `coo_segmented` compares at its start are loaded by all lanes.

use crate::kernel::KernelDescriptor;

/// Which of two forms of the loops is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loops {
    /// As the source reads: lanes side by side in step k, as the papers' tables and lessons have
    /// it.
    AsWritten,
    /// As compiled: what a profiler counts.
    #[default]
    AsCompiled,
}

/// How a loop of n steps is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unrolling {
    /// Not at all.
    None,
    /// n mod 4 single steps, then as many 16 as there are, then 8, then 4.
    RestFirst,
    /// As many 16 as there are, then 8, then 4, then n mod 4 single steps.
    RestLast,
    /// As many 4 as there are, then n mod 4 single steps.
    FoursRestLast,
}

/// Parts of a cut loop.
pub(super) const PARTS: usize = 4;

impl Unrolling {
    /// How the compiler cuts the inner loop of a kernel on a grid. Loops over coordinates, which
    /// shuffle in each step, stay whole.
    pub(super) fn of(kernel: &KernelDescriptor, loops: Loops) -> Self {
        if loops == Loops::AsWritten {
            return Self::None;
        }
        match kernel.id {
            "cuda/csr/thread-per-row"
            | "cuda/csr/warp-shuffle"
            | "cuda/csr/warp-shared"
            | "cuda/csr/warp-ldg"
            | "cuda/csr/vector-mining"
            | "cuda/hll/warp-per-row" => Self::RestFirst,
            "cuda/ell/thread-per-row"
            | "cuda/ell/column-major"
            | "cuda/hll/thread-per-hack"
            | "cuda/hll/thread-per-row"
            | "cuda/hyb/ell-coo" => Self::RestLast,
            "cuda/hll/shared-x" => Self::FoursRestLast,
            _ => Self::None,
        }
    }

    /// Steps of each part of a loop of `steps`; together they are all steps, in order.
    #[inline]
    pub(super) fn cut(self, steps: u64) -> [u64; PARTS] {
        let (rest, sixteens, eight, four) = (steps % 4, steps / 16 * 16, steps & 8, steps & 4);
        match self {
            Self::None => [steps, 0, 0, 0],
            Self::RestFirst => [rest, sixteens, eight, four],
            Self::RestLast => [sixteens, eight, four, rest],
            Self::FoursRestLast => [steps - rest, rest, 0, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{KERNELS, Mapping, kernel};

    #[test]
    fn parts_are_the_whole_loop() {
        use Unrolling::{FoursRestLast, None, RestFirst, RestLast};
        for unrolling in [None, RestFirst, RestLast, FoursRestLast] {
            for steps in 0..200 {
                assert_eq!(unrolling.cut(steps).iter().sum::<u64>(), steps, "{unrolling:?}");
            }
        }
        assert_eq!(RestFirst.cut(47), [3, 32, 8, 4]);
        assert_eq!(RestLast.cut(47), [32, 8, 4, 3]);
        assert_eq!(FoursRestLast.cut(47), [44, 3, 0, 0]);
    }

    #[test]
    fn every_loop_over_rows_on_a_grid_has_its_unrolling() {
        for k in KERNELS.iter().filter(|k| matches!(k.mapping, Mapping::Grid(_))) {
            let unrolling = Unrolling::of(k, Loops::AsCompiled);
            assert_eq!(unrolling == Unrolling::None, k.id == "cuda/coo/segmented", "{}", k.id);
            assert_eq!(Unrolling::of(k, Loops::AsWritten), Unrolling::None);
        }
        assert!(kernel("cuda/coo/segmented").is_some());
    }
}
