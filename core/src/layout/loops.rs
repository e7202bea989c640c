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

use crate::kernel::{KernelDescriptor, Unrolling};

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

/// How the inner loop of a kernel on a grid is cut. Loops over coordinates, which shuffle in each
/// step, stay whole.
pub(super) fn unrolling(kernel: &KernelDescriptor, loops: Loops) -> Unrolling {
    match (loops, kernel.model) {
        (Loops::AsCompiled, Some(model)) => model.unrolling,
        _ => Unrolling::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{DeviceKind, Mapping, Origin, kernels};
    use crate::record::Operation;

    #[test]
    fn every_loop_over_rows_on_a_grid_has_its_unrolling() {
        let on_grid = |k: &&KernelDescriptor| matches!(k.mapping, Mapping::Grid(_));
        for k in kernels(Operation::Spmv).iter().filter(on_grid) {
            let cut = unrolling(k, Loops::AsCompiled);
            // Loops whose steps shuffle stay whole, and so do those that have several loads under way.
            // What becomes of WGSL's loops is up to each device's compiler.
            let own = k.origin == [Origin::Ours] && k.id != "cuda/ell/column-major";
            let whole = own || k.device == DeviceKind::Wgpu;
            assert_eq!(cut == Unrolling::None, whole, "{}", k.id);
            assert_eq!(unrolling(k, Loops::AsWritten), Unrolling::None);
        }
    }
}
