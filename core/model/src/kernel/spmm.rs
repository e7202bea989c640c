//! The kernels of Y = A·X, where X has several columns.

use super::descriptor::{DeviceKind, KernelDescriptor, Library, Needs, Origin, Reads, Takes};
use super::format::{BSR_BLOCK, Format, HACK_SIZE, MIN_FILL, SIGMA, SPILL};
use super::grid::LANES;
use super::mapping::Mapping;
use super::number::{plain, whole};
use super::parameter::{About, Group, Param, Values};
use sparsescope_matrix::matrix::Order;
use sparsescope_record::{Operation, Precision};

/// Largest number of columns of X.
pub const MOST_VECTORS: u32 = 1024;

/// Number of columns of X.
pub static VECTORS: Param<u32> = Param {
    usual: 8,
    values: Values::Text(|text| whole(text, MOST_VECTORS), plain),
    about: About {
        group: Group::Kernels,
        is_main: true,
        commands: &["bench", "spmm"],
        ..About::OPTION
            .named(31, "vectors", "vectors")
            .described("K,...", "SpMM: number of columns of X, 1 to 1024")
    },
};

/// Largest number of bytes that a thread of a GPU moves at once.
const WIDEST: usize = 16;

/// Threads of a row below which each takes fewer columns instead.
const FEWEST_THREADS: usize = 8;

/// The columns that a thread of our CUDA kernels takes, for values of this many bytes: as many as it moves at once, if
/// k is a multiple of that and a row still has enough threads. [`columns_of_row_split`] is for `cuda/spmm/row-split`.
pub fn columns_per_thread(k: usize, value_bytes: usize) -> usize {
    widest(k, value_bytes, FEWEST_THREADS)
}

/// The same for `cuda/spmm/row-split`, the columns of a pack: from 8 columns on, a row may have fewer packs than it has
/// threads in the other kernels.
pub fn columns_of_row_split(k: usize, value_bytes: usize) -> usize {
    widest(k, value_bytes, if k < FEWEST_THREADS { k } else { 1 })
}

/// The most columns that a thread moves at once, if k is a multiple of them and a row has at least `threads` threads.
fn widest(k: usize, value_bytes: usize, threads: usize) -> usize {
    let fits = |each: &usize| {
        k.is_multiple_of(*each) && each * value_bytes <= WIDEST && k / each >= threads
    };
    [4, 2].into_iter().find(fits).unwrap_or(1)
}

/// Steps of a piece. Longer ones are slower on large matrices; shorter ones leave more parts of long rows to add.
pub const PATH_STEPS: usize = 64;

/// How `cuda/spmm/merge` shares the merge path among threads, and `cuda/spmm/row-split` the parts of long rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathShares {
    /// Adjacent threads that take a piece, each with one pack of columns of X.
    pub width: usize,
    /// Slices of `width` packs, which blocks of their own take.
    pub slices: usize,
    /// Pieces of a block.
    pub at_once: usize,
}

impl PathShares {
    /// For rows of this many packs, at least 1, and blocks of at least 32 threads.
    pub fn new(packs: usize, block: u32) -> Self {
        // At most a warp takes a piece, in slices of equal width.
        let width = packs.div_ceil(packs.div_ceil(LANES as usize));
        Self { width, slices: packs.div_ceil(width), at_once: block as usize / width }
    }
}

/// A CPU kernel in CSR.
const fn cpu(
    id: &'static str,
    mapping: Mapping,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    let of = (Operation::Spmm, Reads::Matrix(Format::Csr));
    KernelDescriptor {
        precisions: &Precision::UNIFORM,
        parameters: const { &[VECTORS.any()] },
        ..KernelDescriptor::cpu(of, id, mapping, origin, summary)
    }
}

/// A GPU kernel in CSR; `block` says whether the block size can be set.
const fn cuda(
    id: &'static str,
    mapping: Mapping,
    block: bool,
    origin: &'static [Origin],
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        device: DeviceKind::Cuda,
        takes: Takes { threads: false, block, order: false },
        ..cpu(id, mapping, origin, summary)
    }
}

/// One of cuSPARSE's algorithms; only the second one guarantees the same bits in every run.
const fn cusparse(
    id: &'static str,
    deterministic: bool,
    summary: &'static str,
) -> KernelDescriptor {
    KernelDescriptor {
        deterministic,
        ..cuda(id, Mapping::Library, false, &[Origin::Vendor(Library::Cusparse)], summary)
    }
}

/// oneMKL's SpMM.
const fn mkl(id: &'static str, summary: &'static str) -> KernelDescriptor {
    KernelDescriptor {
        // The library does not guarantee it, and the matrix that its inspector builds may have padding.
        deterministic: false,
        needs: Needs { finite_x: true, spd: false, full_diagonal: false },
        ..cpu(id, Mapping::Library, &[Origin::Vendor(Library::Mkl)], summary)
    }
}

/// The kernels that take X and write Y by columns.
const BY_COLUMNS: [&str; 3] =
    ["cpu/spmm/columns", "vendor/mkl/spmm-columns", "vendor/cusparse/spmm-columns-alg1"];

/// The order in which a kernel of SpMM takes X and writes Y.
pub fn order_of_vectors(kernel: &KernelDescriptor) -> Order {
    match BY_COLUMNS.contains(&kernel.id) {
        true => Order::ColumnMajor,
        false => Order::RowMajor,
    }
}

/// Every kernel of Y = A·X, in the order in which tables list them.
#[rustfmt::skip]
pub(super) static KERNELS: &[KernelDescriptor] = &[
    cpu("cpu/spmm/serial", Mapping::Serial, &[Origin::Ours],
        "one thread, row by row; the reference"),
    cpu("cpu/spmm/rows", Mapping::EqualRows, &[Origin::Ours],
        "equal rows, one part per thread"),
    cpu("cpu/spmm/nnz", Mapping::EqualEntries, &[Origin::Ours],
        "about equal nonzeros, one part of whole rows per thread"),
    cpu("cpu/spmm/simd", Mapping::EqualEntries, &[Origin::Ours],
        "about equal nonzeros per thread; sums of a row in registers, in vectors of columns of X"),
    KernelDescriptor {
        reads: Reads::Matrix(Format::Hll(Order::RowMajor)),
        parameters: const { &[VECTORS.any(), HACK_SIZE.any(), SIGMA.any(), SPILL.any()] },
        ..cpu("cpu/spmm/hll", Mapping::EqualSlots, &[Origin::Ours],
            "HLL, about equal slots per thread; sums of a row in registers, in vectors of columns of X")
    },
    cpu("cpu/spmm/columns", Mapping::EqualEntries, &[Origin::Ours],
        "about equal nonzeros per thread; X and Y by columns, up to four at once with sums in registers").ranked(6),
    mkl("vendor/mkl/spmm",
        "oneMKL SpMM on a matrix that its inspector optimized (and may have copied) for many calls"),
    mkl("vendor/mkl/spmm-columns",
        "oneMKL SpMM with X and Y by columns, on a matrix that its inspector optimized for many calls").ranked(7),
    cuda("cuda/spmm/row-split", Mapping::ColumnsOfRows, true, &[Origin::Ours],
        "adjacent threads on adjacent columns of X, row after row; long rows by several blocks, rows with the same columns together").of_any_values(),
    cuda("cuda/spmm/merge", Mapping::MergePath, true, &[Origin::Ours],
        "equal pieces of rows plus nonzeros, the columns of X as in row-split; parts of a row that is cut are added in order").of_any_values().ranked(1),
    KernelDescriptor {
        reads: Reads::Matrix(Format::Bsr),
        needs: Needs { finite_x: true, spd: false, full_diagonal: false },
        parameters: const { &[VECTORS.any(), BSR_BLOCK.any(), MIN_FILL.any()] },
        ..cuda("cuda/spmm/bsr", Mapping::ColumnsOfRows, true, &[Origin::Ours],
            "as row-split on block rows, whose sums a thread keeps in registers; zeros multiplied").of_any_values().ranked(2)
    },
    KernelDescriptor {
        reads: Reads::Matrix(Format::Hll(Order::ColumnMajor)),
        parameters: const { &[VECTORS.any(), HACK_SIZE.any(), SIGMA.any(), SPILL.only(&[])] },
        ..cuda("cuda/spmm/hll", Mapping::ColumnsOfRows, true, &[Origin::Ours],
            "as row-split on column-major HLL, each row to its own end; rows may be sorted by length").ranked(3)
    },
    cusparse("vendor/cusparse/spmm-alg1", false,
        "cuSPARSE SpMM on CSR, X and Y by rows, algorithm 1, preprocessed"),
    cusparse("vendor/cusparse/spmm-alg2", false,
        "cuSPARSE SpMM on CSR, X and Y by rows, algorithm 2, preprocessed"),
    cusparse("vendor/cusparse/spmm-alg3", false,
        "cuSPARSE SpMM on CSR, X and Y by rows, algorithm 3, preprocessed"),
    cusparse("vendor/cusparse/spmm-columns-alg1", false,
        "cuSPARSE SpMM on CSR, X and Y by columns, algorithm 1, preprocessed").ranked(5),
    KernelDescriptor {
        device: DeviceKind::Wgpu,
        precisions: &[Precision::F32],
        ..cuda("wgpu/spmm/row-split", Mapping::ColumnsOfRows, true, &[Origin::Ours],
            "adjacent invocations on adjacent columns of X, row after row; 1, 2 or 4 columns per invocation").ranked(4)
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_columns_that_divide_k_and_leave_threads_for_a_row() {
        // In f64 and f32, then those of row-split.
        for (k, expected, of_row_split) in [
            (1, [1, 1], [1, 1]),
            (4, [1, 1], [1, 1]),
            (8, [1, 1], [2, 4]),
            (10, [1, 1], [2, 2]),
            (16, [2, 2], [2, 4]),
            (24, [2, 2], [2, 4]),
            (32, [2, 4], [2, 4]),
            (33, [1, 1], [1, 1]),
            (34, [2, 2], [2, 2]),
            (64, [2, 4], [2, 4]),
        ] {
            assert_eq!([8, 4].map(|bytes| columns_per_thread(k, bytes)), expected, "{k} columns");
            let found = [8, 4].map(|bytes| columns_of_row_split(k, bytes));
            assert_eq!(found, of_row_split, "{k} columns");
        }
    }

    #[test]
    fn wide_rows_are_shared_in_slices() {
        // 33 packs are more than a warp has threads: two slices, of 17 and 16.
        let wide = PathShares::new(33, 128);
        assert_eq!((wide.width, wide.slices, wide.at_once), (17, 2, 7));
    }
}
