//! How the lanes of a warp are grouped in a kernel's inner loop.
//!
//! Lanes whose rows differ in length do not stay in lockstep at step k of the source's loop: the
//! compiler unrolls it, and lanes reconverge only between its parts. These parts determine which
//! lanes share a request, and so how many sectors it touches. They were read from the machine code
//! that NVRTC 12.9 and 13.5 generate for sm_90 (the same in this respect). If a compiler unrolls
//! differently, this is the only place to change.
//!
//! The model also follows these compiler decisions: the end of a row is loaded once
//! (`row_ptr[row + 1]` in the loop condition of `csr_thread_per_row` is hoisted, since y is stored
//! only after the loop); `hll_warp_per_row` loads a hack's offset only in lanes that have a slot to
//! read; all lanes load both rows that `coo_segmented` compares at its start.

use crate::kernel::{KernelDescriptor, Unrolling};

/// Which of two forms of the loops the model follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Loops {
    /// As written in the source: lanes in lockstep at step k, as in the papers' tables and the
    /// lessons.
    AsWritten,
    /// As compiled: what a profiler counts.
    #[default]
    AsCompiled,
}

/// How the inner loop of a grid kernel is split. Loops over coordinates, which shuffle in each
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
    use sparsescope_record::Operation;

    #[test]
    fn every_loop_over_rows_on_a_grid_has_its_unrolling() {
        let on_grid = |k: &&KernelDescriptor| matches!(k.mapping, Mapping::Grid(_));
        for k in kernels(Operation::Spmv).iter().filter(on_grid) {
            let cut = unrolling(k, Loops::AsCompiled);
            // Loops whose steps shuffle stay whole, and so do those with several loads in flight.
            // How WGSL loops are compiled is up to each device's compiler.
            let own = k.origin == [Origin::Ours] && k.id != "cuda/ell/column-major";
            let whole = own || k.device == DeviceKind::Wgpu;
            assert_eq!(cut == Unrolling::None, whole, "{}", k.id);
            assert_eq!(unrolling(k, Loops::AsWritten), Unrolling::None);
        }
    }
}
