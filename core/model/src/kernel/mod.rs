//! One static descriptor per kernel: its name, what it reads, how it maps work to workers, and the
//! index arithmetic of its mapping. Backends hold the launchers; a test checks that the two lists
//! agree.

mod bands;
mod counting;
mod cut;
mod dense;
mod descriptor;
mod distributed;
mod effect;
mod format;
mod grid;
mod inverse;
mod mapping;
mod model;
mod name;
mod number;
mod parameter;
pub mod parameters;
mod pcg;
mod ranks;
mod right_side;
mod rows;
mod scaled;
mod set_up;
mod skyline;
mod solver;
mod spmm;
mod spmv;
mod symgs;
mod threads;
mod tiles;
mod user;
mod windows;

pub use bands::{Band, BandShape, BandTile, Bands, LongPart};
pub use counting::Counting;
pub use cut::{BlockLanes, Cut};
pub use descriptor::{DeviceKind, KernelDescriptor, Library, Needs, Origin, Reads, Takes, Version};
pub use format::{Format, FormatParams};
pub(crate) use grid::span_entries;
pub use grid::{COO_SPAN, GridMapping, LANES, Work};
pub use inverse::PatternKind;
pub use mapping::{Mapping, Share};
pub(crate) use model::PARTS;
pub use model::{Model, Unrolling};
pub use name::{CHOSEN_FAMILY, KernelName, USER_FAMILY};
pub use parameter::{About, Alias, Allowed, Group, Param, Parameter, ParameterError, Parameters};
pub use ranks::Iteration;
pub use right_side::RightSide;
pub use rows::{row_at, row_steps};
pub(crate) use rows::{row_length, slot};
pub use scaled::{Op, Scale};
pub use set_up::SetUpBy;
pub use solver::{Applied, Guess, SolverFormat};
pub use spmm::{
    MOST_VECTORS, PATH_STEPS, PathShares, columns_of_row_split, columns_per_thread,
    order_of_vectors,
};
pub use threads::{Access, Pass, StridedSlots, ThreadSlots};
pub use tiles::{LaneShape, MOST_PER_LANE, Tile, TileShape, Tiles, lanes_a_row};
pub use user::{
    ArgumentType, SharedBytes, UserFamily, UserKernel, UserKernelError, UserSource, is_user_id,
    mapping_of, user_kernels,
};
pub use windows::{Piece, WindowBlock, WindowShape, Windows};

use sparsescope_record::Operation;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The kernels of an operation, in the order in which tables list them. The first is the reference:
/// every result is checked against it, and speed-ups are relative to it.
pub fn kernels(operation: Operation) -> &'static [KernelDescriptor] {
    match operation {
        Operation::Spmv => spmv::KERNELS,
        Operation::Symgs => symgs::KERNELS,
        Operation::Skyline => skyline::KERNELS,
        Operation::Solve => pcg::KERNELS,
        Operation::BatchedDense => dense::KERNELS,
        Operation::Spmm => spmm::KERNELS,
    }
}

/// The kernel that every result of an operation is checked against and that speed-ups are relative
/// to.
pub fn reference(operation: Operation) -> &'static KernelDescriptor {
    kernels(operation).first().expect("every operation has a reference") // invariant
}

/// The kernels of all operations, operation by operation.
pub fn all_kernels() -> impl Iterator<Item = &'static KernelDescriptor> {
    Operation::ALL.iter().flat_map(|&operation| kernels(operation))
}

/// The kernels of an operation that run on several ranks, in the order in which tables list them.
/// No single-process backend has them.
pub fn distributed_kernels(
    operation: Operation,
) -> impl Iterator<Item = &'static KernelDescriptor> {
    distributed::KERNELS.iter().filter(move |kernel| kernel.operation == operation)
}

/// The kernels of an operation that the ranks of several processes can run together: those for
/// ranks, then those for several GPUs.
pub fn kernels_of_ranks(operation: Operation) -> impl Iterator<Item = &'static KernelDescriptor> {
    let on_gpus = kernels(operation).iter().filter(|kernel| kernel.device == DeviceKind::Nccl);
    distributed_kernels(operation).chain(on_gpus)
}

/// The built-in kernel with this id.
pub fn kernel(id: &str) -> Option<&'static KernelDescriptor> {
    static BY_ID: LazyLock<HashMap<&str, &KernelDescriptor>> = LazyLock::new(|| {
        all_kernels().chain(distributed::KERNELS).map(|kernel| (kernel.id, kernel)).collect()
    });
    BY_ID.get(id).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_three_lower_case_parts_and_are_unique() {
        for k in all_kernels() {
            assert_eq!(k.id.split('/').count(), 3, "{}", k.id);
            assert_eq!(k.id, k.id.to_lowercase());
            assert_eq!(all_kernels().filter(|other| other.id == k.id).count(), 1, "{}", k.id);
            match k.origin {
                [Origin::Vendor(library)] => {
                    assert!(k.id.starts_with(&format!("vendor/{}/", library.as_str())), "{}", k.id);
                }
                _ => {
                    let (device, what) = (k.device.as_str(), k.what());
                    assert!(k.id.starts_with(&format!("{device}/{what}/")), "{}", k.id);
                }
            }
        }
        for k in distributed::KERNELS {
            let of = format!("mpi/{}", k.what());
            assert!(k.id == of || k.id.starts_with(&format!("{of}/")), "{}", k.id);
            assert_eq!((k.device, k.device.as_str()), (DeviceKind::Ranks, "cpu"));
            assert_eq!(kernel(k.id).map(|found| found.id), Some(k.id));
            assert!(all_kernels().all(|other| other.id != k.id));
        }
        assert_eq!(reference(Operation::Spmv).id, "cpu/csr/serial");
        assert!(kernel("cpu/csr/none").is_none());
    }

    #[test]
    fn a_reference_is_serial_and_takes_the_usual_precision() {
        for &operation in Operation::ALL {
            let reference = reference(operation);
            assert_eq!((reference.operation, reference.takes), (operation, Takes::default()));
            assert_eq!(reference.precisions.first(), Some(&Default::default()));
        }
    }
}
