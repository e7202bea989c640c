//! The launches that a grid kernel makes for one SpMV, and what cannot be modelled.

use crate::kernel::parameters::SPILL;
use crate::kernel::{
    Allowed, Cut, DeviceKind, GridMapping, KernelDescriptor, LANES, Mapping, Work, span_entries,
};
use sparsescope_matrix::matrix::{AnyFormat, Coo, Scalar};

/// Why there is no model of a kernel on a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The slots of this format are not listed.
    #[error("the layout explorer supports COO, CSR, ELLPACK, HYB and HLL, not {format}")]
    Format {
        /// The format.
        format: &'static str,
    },
    /// The kernel does not run on a known grid, or not on known threads.
    #[error("the layout explorer cannot show how {kernel} maps work to {what}")]
    Mapping {
        /// Its id.
        kernel: &'static str,
        /// `GPU threads` or `CPU threads`.
        what: &'static str,
    },
    /// The matrix is in a format that the kernel does not read.
    #[error("{kernel} reads {expected}, not {found}")]
    WrongFormat {
        /// Its id.
        kernel: &'static str,
        /// The format that it reads.
        expected: &'static str,
        /// The actual format.
        found: &'static str,
    },
    /// The matrix cannot be converted to the form that the kernel reads.
    #[error("{0}")]
    Form(String),
    /// No kernel here is launched with this many threads per block.
    #[error("{0} threads per block: expected a multiple of 32 from 32 to 1024")]
    Block(u32),
    /// There are no workers.
    #[error("0 workers: expected at least 1")]
    Workers,
}

/// What a launch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaunchKind {
    /// Processes rows, hacks, tiles or block rows.
    Rows,
    /// Processes spans of coordinates.
    Spans,
    /// Adds what spans carry over to their rows.
    Carry,
}

/// One launch of SpMV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchInfo {
    /// What it does.
    pub kind: LaunchKind,
    /// Blocks in the grid.
    pub blocks: u64,
    /// Threads per block.
    pub block: u32,
    /// Warps in the grid.
    pub warps: u64,
}

impl LaunchInfo {
    /// The block that a warp belongs to.
    pub fn block_of(&self, warp: u64) -> u64 {
        warp / (u64::from(self.block) / LANES)
    }

    /// Threads in the grid.
    pub fn threads(&self) -> u64 {
        self.blocks * u64::from(self.block)
    }
}

/// The kernel's partition of `a`, with `block` threads per block unless the kernel fixes its block
/// size.
pub(super) fn cut<T: Scalar>(
    kernel: &'static KernelDescriptor,
    a: &AnyFormat<T>,
    block: u32,
) -> Result<Cut, LayoutError> {
    let is_whole = (1..=1024).contains(&block) && u64::from(block).is_multiple_of(LANES);
    if kernel.takes.block && !is_whole {
        return Err(LayoutError::Block(block));
    }
    let unknown = || LayoutError::Mapping { kernel: kernel.id, what: "GPU threads" };
    if !matches!(kernel.mapping, Mapping::Grid(_)) {
        return Err(unknown());
    }
    check_format(kernel, a)?;
    Cut::new(kernel, a, block).ok_or_else(unknown)
}

/// The launches of SpMV, in order, as the launchers make them. Empty grids are not launched.
pub(super) fn launches<T: Scalar>(a: &AnyFormat<T>, cut: &Cut) -> Vec<LaunchInfo> {
    let block = cut.block();
    let launch = |kind: LaunchKind, blocks: u64| LaunchInfo {
        kind,
        blocks,
        block,
        warps: blocks * (u64::from(block) / LANES),
    };
    let mut all = vec![launch(LaunchKind::Rows, cut.blocks())];
    if let Some(coo) = coordinates(a) {
        let (entries, spans) = (Work::Entries(coo.nnz() as u64), spans(coo));
        all.push(launch(LaunchKind::Spans, GridMapping::WarpPerSpan.blocks(entries, block)));
        if spans > 1 {
            let blocks = GridMapping::WarpPerRow.blocks(Work::Rows(spans), block);
            all.push(launch(LaunchKind::Carry, blocks));
        }
    }
    all.retain(|launch| launch.blocks > 0);
    all
}

/// Fails if the format or slot order of `a` is not the one that the kernel reads.
pub(super) fn check_format<T: Scalar>(
    kernel: &'static KernelDescriptor,
    a: &AnyFormat<T>,
) -> Result<(), LayoutError> {
    let expected = kernel.format().map_or("", |format| format.with(&Default::default()).name());
    let found = name_of(a);
    let found = match takes_any_order(kernel) {
        true => found.strip_suffix("-sigma").unwrap_or(found),
        false => found,
    };
    let is_regular = match (kernel.device, a) {
        (DeviceKind::Cuda, AnyFormat::HllCompact(a)) => {
            a.row_order().tail() == 0 && a.shape().hack_size() as u64 == LANES
        }
        _ => true,
    };
    if expected == found && !is_regular {
        let (expected, found) = ("hll-compact of hacks of 32 rows, none kept apart", "another");
        return Err(LayoutError::WrongFormat { kernel: kernel.id, expected, found });
    }
    match expected == found {
        true => Ok(()),
        false => Err(LayoutError::WrongFormat { kernel: kernel.id, expected, found }),
    }
}

/// Whether rows may be sorted and spilled.
pub(super) fn takes_any_order(kernel: &KernelDescriptor) -> bool {
    kernel.allowed(SPILL.id()) == Some(Allowed::Any)
}

/// The format's name as in `FormatSpec::name`; spilled rows count as sorted.
fn name_of<T: Scalar>(a: &AnyFormat<T>) -> &'static str {
    use sparsescope_matrix::matrix::{FormatSpec, HllLayout};
    match a {
        AnyFormat::Coo(_) => "coo",
        AnyFormat::Csr(_) => "csr",
        AnyFormat::Ell(a) => FormatSpec::Ell { order: a.shape().order }.name(),
        AnyFormat::Hyb(a) => FormatSpec::Hyb { width: None, order: a.ell().shape().order }.name(),
        AnyFormat::Hll(a) => {
            let (hack_size, order) = (a.shape().hack_size(), a.shape().order());
            let sigma = if a.is_plain() { 1 } else { 2 };
            FormatSpec::Hll(HllLayout { sigma, ..HllLayout::plain(hack_size, order) }).name()
        }
        AnyFormat::Bsr(_) => "bsr",
        AnyFormat::Dia(_) => "dia",
        AnyFormat::CsrCompact(_) => "csr-compact",
        AnyFormat::HllCompact(_) => "hll-compact",
    }
}

/// The coordinates of `a`: COO's, or those of HYB's tail.
pub(super) fn coordinates<T: Scalar>(a: &AnyFormat<T>) -> Option<&Coo<T>> {
    match a {
        AnyFormat::Coo(a) => Some(a),
        AnyFormat::Hyb(a) => Some(a.tail()),
        _ => None,
    }
}

/// Number of spans that the coordinates are divided into.
pub(super) fn spans<T: Scalar>(coo: &Coo<T>) -> u64 {
    (coo.nnz() as u64).div_ceil(crate::kernel::COO_SPAN)
}

/// The row that a span shares with the span before it.
pub(super) fn shared_row<T: Scalar>(coo: &Coo<T>, span: u64) -> Option<u32> {
    let begin = span_entries(coo, span).start as usize;
    let before = begin.checked_sub(1).and_then(|k| coo.row().get(k));
    coo.row().get(begin).copied().filter(|row| before == Some(row))
}

/// Whether the blocks of a kernel keep the first elements of x in shared memory.
pub(super) fn keeps_x(kernel: &KernelDescriptor) -> bool {
    kernel.model.is_some_and(|model| model.keeps_x)
}

/// Number of elements of x that such a kernel keeps: one per thread of a block.
pub(super) fn kept_of_x<T: Scalar>(a: &AnyFormat<T>, block: u32) -> u64 {
    u64::from(block).min(a.cols() as u64)
}
