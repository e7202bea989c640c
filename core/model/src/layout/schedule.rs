//! What the warps of a kernel do, step by step.

use std::ops::Range;
use std::sync::Arc;

use super::array::{ArrayInfo, arrays_of_product};
use super::block_rows::BlockRowPass;
use super::diagonals::DiagonalPass;
use super::fours::FourPass;
use super::lanes::LanePass;
use super::launch::{
    LaunchInfo, LaunchKind, LayoutError, coordinates, cut, keeps_x, launches, takes_any_order,
};
use super::loops::Loops;
use super::request::Request;
use super::rows::RowPass;
use super::spans::SpanPass;
use super::step::{Sink, Step, StepKind};
use super::tiles::TilePass;
use crate::kernel::{Access, Cut, GridMapping, KernelDescriptor, LANES, Mapping};
use sparsescope_matrix::matrix::{AnyFormat, Fours, Scalar};

/// A GPU kernel on a matrix: which thread handles what, and when.
///
/// ```
/// use std::sync::Arc;
/// use sparsescope_model::kernel::kernel;
/// use sparsescope_model::layout::{Loops, Schedule};
/// use sparsescope_matrix::matrix::{AnyFormat, examples};
/// let a = AnyFormat::Csr(Arc::new(examples::five_by_five()));
/// let scalar = kernel("cuda/csr/thread-per-row").unwrap();
/// let schedule = Schedule::new(scalar, &a, 32, Loops::AsWritten)?;
/// // Row pointers, two steps of the loop, and the store of y.
/// assert_eq!(schedule.steps(0, 0), 4);
/// # Ok::<(), sparsescope_model::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Schedule<T = f64> {
    kernel: &'static KernelDescriptor,
    a: AnyFormat<T>,
    cut: Cut,
    /// Compact HLL as the kernel reads it.
    fours: Option<Arc<Fours<T>>>,
    loops: Loops,
    launches: Vec<LaunchInfo>,
    arrays: Vec<ArrayInfo>,
    /// Bytes per value, where these are fewer than those of the matrix in memory here.
    value_bytes: Option<u32>,
}

impl<T: Scalar> Schedule<T> {
    /// The schedule with `block` threads per block, unless the kernel fixes its block size. Fails
    /// for kernels that do not run on a grid known here (CPU and vendor kernels), for a matrix that
    /// is not in the kernel's format, and for a block that is not a multiple of 32 from 32 to 1024.
    pub fn new(
        kernel: &'static KernelDescriptor,
        a: &AnyFormat<T>,
        block: u32,
        loops: Loops,
    ) -> Result<Self, LayoutError> {
        let cut = cut(kernel, a, block)?;
        let fours = match a {
            AnyFormat::HllCompact(a) => {
                let fours = Fours::of(a).map_err(|error| LayoutError::Form(error.to_string()))?;
                Some(Arc::new(fours))
            }
            _ => None,
        };
        let launches = launches(a, &cut);
        let arrays = arrays_of_product(a, &cut, fours.as_deref());
        let value_bytes = None;
        Ok(Self { kernel, a: a.clone(), cut, fours, loops, launches, arrays, value_bytes })
    }

    /// The same kernel on values of this many bytes, for [`Traffic`](super::Traffic): fewer than those of vectors and
    /// sums, if the kernel widens values as it loads them.
    pub fn storing(mut self, value_bytes: u32) -> Self {
        self.value_bytes = (value_bytes as usize != T::BYTES).then_some(value_bytes);
        self
    }

    /// Bytes per value, where these are fewer than those of the matrix in memory here.
    pub(super) fn value_bytes(&self) -> Option<u32> {
        self.value_bytes
    }

    /// The kernel.
    pub fn kernel(&self) -> &'static KernelDescriptor {
        self.kernel
    }

    /// The matrix.
    pub fn matrix(&self) -> &AnyFormat<T> {
        &self.a
    }

    /// The kernel's partition of the matrix.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// The launches of one SpMV, in order.
    pub fn launches(&self) -> &[LaunchInfo] {
        &self.launches
    }

    /// The arrays that requests refer to.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    /// Walks the warps of one launch.
    pub(super) fn walker(&self, kind: LaunchKind) -> Walker<'_, T> {
        match (kind, coordinates(&self.a)) {
            (LaunchKind::Spans, Some(coo)) => {
                Walker::Spans(SpanPass::new(self.kernel, &self.a, coo, &self.cut))
            }
            (LaunchKind::Carry, Some(coo)) => {
                Walker::Carry(SpanPass::new(self.kernel, &self.a, coo, &self.cut))
            }
            _ => self.over_rows(),
        }
    }

    fn over_rows(&self) -> Walker<'_, T> {
        let (kernel, cut, loops) = (self.kernel, &self.cut, self.loops);
        match (kernel.mapping, &self.a, cut.tiles()) {
            (_, AnyFormat::Csr(a), Some(tiles)) => {
                Walker::Tiles(TilePass::new(&self.a, a, tiles, loops))
            }
            (Mapping::Grid(GridMapping::LanesPerRow), AnyFormat::Hll(a), _) => {
                Walker::Lanes(LanePass::new(kernel, &self.a, a, cut))
            }
            (_, AnyFormat::Dia(a), _) => {
                Walker::Diagonals(DiagonalPass::new(kernel, &self.a, a, cut))
            }
            (_, AnyFormat::Bsr(a), _) => {
                Walker::BlockRows(BlockRowPass::new(kernel, &self.a, a, cut))
            }
            (_, AnyFormat::HllCompact(a), _) if let Some(fours) = &self.fours => {
                let value_bytes = self.value_bytes.unwrap_or(T::BYTES as u32);
                Walker::Fours(FourPass::new(kernel, (&self.a, a), fours, (cut, value_bytes)))
            }
            _ => Walker::Rows(RowPass::new(kernel, &self.a, cut, loops)),
        }
    }
}

// Of f64 only, so that it is compiled in this crate.
impl Schedule {
    /// Number of steps of warp `warp` in launch `launch`; 0 if there is no such warp or it has no
    /// work.
    pub fn steps(&self, launch: usize, warp: u64) -> usize {
        let mut steps = Window { range: 0..0, seen: 0, steps: Vec::new() };
        self.tell(launch, warp, &mut steps);
        steps.seen
    }

    /// The steps of a warp in `range`, numbered from 0; a warp in the longest rows has many.
    pub fn warp(&self, launch: usize, warp: u64, range: Range<usize>) -> Vec<Step> {
        let mut steps = Window { range, seen: 0, steps: Vec::new() };
        self.tell(launch, warp, &mut steps);
        steps.steps
    }

    fn tell(&self, launch: usize, warp: u64, sink: &mut impl Sink) {
        if let Some(info) = self.launches.get(launch).filter(|info| warp < info.warps) {
            self.walker(info.kind).warp(warp, sink);
        }
    }

    /// Whether the totals depend on the number of threads per block. For most kernels they do not,
    /// since each warp does the same in any block. They do if a block keeps a part of x or a
    /// dictionary, or has a row to itself.
    pub fn depends_on_block(kernel: &KernelDescriptor) -> bool {
        let keeps_values = kernel.mapping == Mapping::Grid(GridMapping::WarpPerHack);
        keeps_x(kernel) || keeps_values || kernel.takes.block && takes_any_order(kernel)
    }
}

/// The model of one launch's warps.
pub(super) enum Walker<'a, T> {
    Rows(RowPass<'a, T>),
    Spans(SpanPass<'a, T>),
    Carry(SpanPass<'a, T>),
    Tiles(TilePass<'a, T>),
    Lanes(LanePass<'a, T>),
    Diagonals(DiagonalPass<'a, T>),
    BlockRows(BlockRowPass<'a, T>),
    Fours(FourPass<'a, T>),
}

impl<T: Scalar> Walker<'_, T> {
    /// Reports all that a warp does to `sink`; returns how many of its threads have work.
    #[inline]
    pub(super) fn warp(&self, warp: u64, sink: &mut impl Sink) -> u64 {
        match self {
            Self::Rows(pass) => pass.warp(warp, sink),
            Self::Spans(pass) => pass.warp(warp, sink),
            Self::Carry(pass) => pass.carry_warp(warp, sink),
            Self::Tiles(pass) => pass.warp(warp, sink),
            Self::Lanes(pass) => pass.warp(warp, sink),
            Self::Diagonals(pass) => pass.warp(warp, sink),
            Self::BlockRows(pass) => pass.warp(warp, sink),
            Self::Fours(pass) => pass.warp(warp, sink),
        }
    }
}

/// Collects the steps in a range.
struct Window {
    range: Range<usize>,
    /// Number of steps started.
    seen: usize,
    steps: Vec<Step>,
}

impl Window {
    /// The current step, if it is to be collected.
    fn current(&mut self) -> Option<&mut Step> {
        let current = self.seen.checked_sub(1)?;
        self.range.contains(&current).then(|| self.steps.last_mut()).flatten()
    }
}

impl Sink for Window {
    fn step(&mut self, kind: StepKind) {
        if self.range.contains(&self.seen) {
            let lanes = [None; LANES as usize];
            self.steps.push(Step { kind, lanes, requests: Vec::new() });
        }
        self.seen += 1;
    }

    fn lane(&mut self, lane: usize, access: Access) {
        if let Some(step) = self.current() {
            step.lanes[lane] = Some(access);
        }
    }

    fn request(&mut self, request: &Request) {
        if let Some(step) = self.current() {
            step.requests.push(*request);
        }
    }
}
