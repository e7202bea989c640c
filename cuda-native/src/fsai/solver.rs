//! The values of G: dense systems gathered, factored and solved.

use std::ops::Range;

use sparsescope_core::fsai::FsaiError;
use sparsescope_core::matrix::Offset;

use super::classes::packed;
use super::error::FsaiSetUpError;
use super::factor::DeviceFactor;
use super::matrix::Matrix;
use super::powers::blocks_of;
use super::queue::Queue;
use super::systems::Systems;
use crate::arguments::{Element, FsaiLong, FsaiSolve, Reads, Writes};
use crate::arrays::Slots;
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::launch::Shape;
use crate::setup::Setup;

/// Threads per block of the kernel for systems that no class takes.
const LONG_BLOCK: u32 = 256;

/// Maximum bytes for these systems at a time, unless one needs more.
const WORKSPACE: u64 = 4 << 30;

/// No row.
const NONE: u32 = u32::MAX;

/// Systems gathered elsewhere: where each begins, by its place in the order, and their packed
/// triangles.
pub(super) struct Dense {
    pub(super) ptr: Buffer<u64>,
    pub(super) triangles: Buffer<f64>,
}

/// Memory for systems that no class takes, one block at a time.
struct Space {
    blocks: u64,
    /// Numbers per block.
    stride: u64,
    numbers: Buffer<f64>,
}

/// Solves systems and fills in G.
pub(super) struct Solver<'s, 'd, O> {
    setup: &'s Setup<'d>,
    a: &'s Matrix<'s, O>,
    systems: &'s Systems,
    queue: &'s Queue,
    space: Space,
    none: Dense,
    g: Slots<f64>,
    /// The first row whose system is not positive definite.
    failed: Buffer<u32>,
}

impl<'s, 'd, O: Offset + Element> Solver<'s, 'd, O> {
    pub(super) fn new(
        setup: &'s Setup<'d>,
        a: &'s Matrix<'s, O>,
        systems: &'s Systems,
        queue: &'s Queue,
    ) -> Result<Self, DeviceError> {
        let what = "the factor";
        let col = match systems.members {
            None => systems.col.clone(),
            Some(_) => setup.array(what, systems.entries as usize)?,
        };
        let val = setup.array(what, systems.entries as usize)?;
        let none =
            Dense { ptr: setup.array("no systems", 1)?, triangles: setup.array("no systems", 1)? };
        // SAFETY: all bits set mean "no row" to the kernels.
        let failed = unsafe { setup.filled(what, 1, 0xff)? };
        let space = Self::space(setup, queue)?;
        Ok(Self { setup, a, systems, queue, space, none, g: Slots { col, val }, failed })
    }

    fn space(setup: &Setup<'_>, queue: &Queue) -> Result<Space, DeviceError> {
        let large = queue.class(queue.classes.len()).len() as u64;
        if large == 0 {
            let numbers = setup.array("no systems", 1)?;
            return Ok(Space { blocks: 0, stride: 0, numbers });
        }
        // The triangle, the pivots, their reciprocals, and a row.
        let stride = packed(queue.largest) + 3 * queue.largest;
        let device = setup.device();
        let bytes = WORKSPACE.min(device.free_bytes()? / 2);
        let most = 2 * u64::from(device.properties().multiprocessors);
        let blocks = blocks_of(large, most, bytes / (8 * stride));
        let needed = usize::try_from(blocks * stride).unwrap_or(usize::MAX);
        Ok(Space { blocks, stride, numbers: setup.array("the largest dense systems", needed)? })
    }

    /// Gathers and solves all systems.
    pub(super) fn all(&self) -> Result<(), DeviceError> {
        (0..=self.queue.classes.len())
            .try_for_each(|class| self.solve(class, self.queue.class(class), None))
    }

    /// Solves these systems of a class, gathered here or elsewhere.
    pub(super) fn solve(
        &self,
        class: usize,
        range: Range<u32>,
        dense: Option<&Dense>,
    ) -> Result<(), DeviceError> {
        let count = u64::from(range.end - range.start);
        if count == 0 {
            return Ok(());
        }
        match self.queue.classes.get(class) {
            Some(class) => {
                let grid = count.div_ceil(class.systems.into());
                let shared_bytes = class.shared_bytes();
                let shape = Shape { grid, block: class.block, shared_bytes };
                // SAFETY: blocks take that many systems of the range, none with more unknowns than
                // the kernel's, whose columns, members and rows of G lie in the arrays; each row
                // belongs to one system. What lies elsewhere is accessed only if it is given.
                unsafe { self.setup.shaped(class.function, shape, &self.arguments(range, dense)) }
            }
            None => {
                let FsaiSolve {
                    first,
                    systems,
                    gathered,
                    on_diagonal,
                    queue,
                    sys_begin,
                    sys_len,
                    sys_col,
                    row_ptr,
                    low,
                    col,
                    val,
                    dense_ptr,
                    dense,
                    merged,
                    member_ptr,
                    member,
                    place,
                    g_ptr,
                    g_col,
                    g_val,
                    failed,
                } = self.arguments(range, dense);
                let arguments = FsaiLong {
                    first,
                    systems,
                    gathered,
                    on_diagonal,
                    queue,
                    sys_begin,
                    sys_len,
                    sys_col,
                    row_ptr,
                    low,
                    col,
                    val,
                    dense_ptr,
                    dense,
                    merged,
                    member_ptr,
                    member,
                    place,
                    g_ptr,
                    g_col,
                    g_val,
                    failed,
                    space: Writes(&self.space.numbers),
                    stride: self.space.stride,
                };
                let grid = self.space.blocks.min(count);
                // SAFETY: each block has its own memory for the largest system, and strides over
                // the range; otherwise as above.
                unsafe { self.setup.blocks("fsai_long_solve", (grid, LONG_BLOCK), &arguments) }
            }
        }
    }

    fn arguments<'l>(&'l self, range: Range<u32>, dense: Option<&'l Dense>) -> FsaiSolve<'l, O> {
        let Self { a, systems, queue, .. } = self;
        let given = dense.unwrap_or(&self.none);
        // Without members, these arrays are not read.
        let of_members = |take: fn(&super::systems::Members) -> &Buffer<u32>| {
            Reads(systems.members.as_ref().map_or(&systems.len, take))
        };
        FsaiSolve {
            first: range.start,
            systems: range.end - range.start,
            gathered: u32::from(dense.is_some()),
            on_diagonal: a.on_diagonal,
            queue: Reads(&queue.order),
            sys_begin: Reads(&systems.begin),
            sys_len: Reads(&systems.len),
            sys_col: Reads(&systems.col),
            row_ptr: Reads(a.row_ptr),
            low: Reads(&a.low),
            col: Reads(&a.slots.col),
            val: Reads(&a.slots.val),
            dense_ptr: Reads(&given.ptr),
            dense: Reads(&given.triangles),
            merged: u32::from(systems.members.is_some()),
            member_ptr: of_members(|members| &members.ptr),
            member: of_members(|members| &members.row),
            place: of_members(|members| &members.place),
            g_ptr: Reads(&systems.g_ptr),
            g_col: Writes(&self.g.col),
            g_val: Writes(&self.g.val),
            failed: Writes(&self.failed),
        }
    }

    /// Returns G, or the first row whose system is not positive definite.
    pub(super) fn finished(self) -> Result<DeviceFactor, FsaiSetUpError> {
        let row = self.setup.element(&self.failed, 0)?;
        let ptr = &self.systems.g_ptr;
        if row != NONE {
            let row = row as usize;
            let ends = (self.setup.element(ptr, row)?, self.setup.element(ptr, row + 1)?);
            let size = (ends.1 - ends.0) as usize;
            return Err(FsaiError::NotPositiveDefinite { row, size }.into());
        }
        Ok(DeviceFactor::new(self.systems.rows, ptr.clone(), self.g))
    }
}
