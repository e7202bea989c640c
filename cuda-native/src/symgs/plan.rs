//! The levels or colours of a matrix, computed on the device, and its rows sorted by them.

use std::hash::{BuildHasher, RandomState};

use sparsescope_core::matrix::Offset;
use sparsescope_core::symgs::Coloring;

use super::system::System;
use crate::arguments::{
    Element, OrderOpen, OrderUnpack, PlanAbove, PlanLevels, PlanRows, PlanWave, Reads, Writes,
};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::launch::{Launch, Shape, Step, enqueue};
use crate::order::sort;
use crate::setup::Setup;
use crate::value::DeviceReal;

/// How rows are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Dependency levels of A + Aᵀ: they serve both sweeps; the backward one starts from the last.
    Levels,
    /// First-fit colours of A + Aᵀ.
    Colors,
}

/// The rows of a matrix in groups.
pub(super) struct Plan {
    /// Number of groups.
    pub(super) groups: u32,
    /// Group of each row.
    pub(super) key: Buffer<u32>,
    /// All rows, by group, ascending within each.
    pub(super) sorted: Buffer<u32>,
    /// Where each group begins among them, and the end of the last one.
    pub(super) group_ptr: Buffer<u32>,
    /// Nonzeros of each row before its diagonal.
    pub(super) below: Buffer<u32>,
    /// Nonzeros of the longest row, and the maximum on one side of the diagonal.
    pub(super) longest: u64,
    pub(super) widest: u64,
}

/// Number of rows from which on levels and colours no longer fit together in 32 bits.
const MOST_PACKED: u32 = 1 << 26;

/// The colour that stands for itself and all above.
const LAST_COLOR: u32 = 63;

/// Threads per block of the kernel that computes levels and colours.
const WAVE_BLOCK: u32 = 1024;

/// Results of one pass over the structure.
struct Rows {
    below: Buffer<u32>,
    pending: Buffer<u32>,
    first: Buffer<u32>,
    firsts: Buffer<u32>,
    is_symmetric: bool,
    /// Whether nothing lies after a diagonal.
    is_lower: bool,
    longest: u64,
    widest: u64,
}

impl Plan {
    /// For a system with at least one row.
    pub(super) fn of<T: DeviceReal, O: Offset + Element>(
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
        by: By,
    ) -> Result<Self, DeviceError> {
        let rows = look(setup, system)?;
        let fits = system.rows < MOST_PACKED;
        let (key, highest) = match by {
            _ if rows.is_symmetric && fits => wave(setup, system, &rows, by)?,
            By::Levels => in_order(setup, system, &rows, by)?,
            By::Colors if rows.is_lower => in_order(setup, system, &rows, by)?,
            By::Colors => on_host(setup, system)?,
        };
        let (key, highest) = match by {
            By::Colors if highest == LAST_COLOR => on_host(setup, system)?,
            _ => (key, highest),
        };
        let groups = highest + 1;
        let (sorted, group_ptr) = sort(setup, system.rows, &key, groups)?;
        let Rows { below, longest, widest, .. } = rows;
        Ok(Self { groups, key, sorted, group_ptr, below, longest, widest })
    }
}

fn look<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
) -> Result<Rows, DeviceError> {
    let n = system.rows as usize;
    let what = "the row dependencies";
    let (below, pending) = (setup.array::<u32>(what, n)?, setup.array::<u32>(what, n)?);
    let first = setup.array::<u32>(what, n)?;
    // SAFETY: both are counted from zero.
    let (firsts, facts) =
        unsafe { (setup.filled::<u32>(what, 1, 0)?, setup.filled::<u64>(what, 7, 0)?) };
    let arguments = PlanRows {
        rows: system.rows,
        row_ptr: Reads(system.row_ptr),
        col: Reads(&system.slots.col),
        // A fixed seed would allow unsymmetric structures crafted to look symmetric.
        seed: RandomState::new().hash_one(n),
        below: Writes(&below),
        pending: Writes(&pending),
        first: Writes(&first),
        firsts: Writes(&firsts),
        facts: Writes(&facts),
    };
    let most = u64::from(setup.device().properties().multiprocessors) * 8;
    let grid = (u64::from(system.rows) * 8).div_ceil(256).clamp(1, most);
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col; the arrays have
    // one element per row, and those of facts and of a count; groups of lanes without a row do
    // nothing.
    unsafe { setup.blocks("symgs_plan_rows", (grid, 256), &arguments)? };
    let facts = facts.to_host(setup.device())?;
    let [hash_below, hash_above, all_below, all_above, longest, most_below, most_above] = facts[..]
    else {
        return Err(DeviceError::Driver { doing: "read facts", status: "too few".to_owned() });
    };
    Ok(Rows {
        below,
        pending,
        first,
        firsts,
        is_symmetric: hash_below == hash_above && all_below == all_above,
        is_lower: all_above == 0,
        longest,
        widest: most_below.max(most_above),
    })
}

/// Levels or colours of a symmetric structure, and the highest of them.
fn wave<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
    rows: &Rows,
    by: By,
) -> Result<(Buffer<u32>, u32), DeviceError> {
    let n = system.rows;
    let what = "the levels and colors";
    // SAFETY: all bits set mean "not done" to the kernels.
    let packed = unsafe { setup.filled::<u32>(what, n as usize, 0xff)? };
    // SAFETY: these are counted from zero.
    let counts = unsafe { setup.filled::<u32>(what, 3, 0)? };
    let [deepest, stuck, highest] = parts(&counts);
    let wave = |room: u32, tails: &Buffer<u32>, queue: &Buffer<u32>| {
        let arguments = PlanWave {
            rows: n,
            room,
            row_ptr: Reads(system.row_ptr),
            col: Reads(&system.slots.col),
            pending: Writes(&rows.pending),
            packed: Writes(&packed),
            tails: Writes(tails),
            queue: Writes(queue),
            deepest: Writes(&deepest),
            stuck: Writes(&stuck),
        };
        let shape = Shape { grid: 1, block: WAVE_BLOCK, shared_bytes: 0 };
        // SAFETY: queue q takes the rows r with r mod queues = q, at most `room`, each once: when
        // the last row that it waits for has counted it down, or initially. Columns are rows.
        unsafe { Launch::new(system.device, "symgs_plan_wave", shape, &arguments) }
    };
    let none = setup.array::<u32>(what, 1)?;
    let queues = wave(1, &none, &none)?.resident(system.device, 2)?.grid();
    if queues == 0 {
        let status = "the device cannot run a block of 1024 threads".to_owned();
        return Err(DeviceError::Driver { doing: "find levels", status });
    }
    let room = n.div_ceil(queues);
    // SAFETY: counted from zero; all bits set mean "no row" to the kernel.
    let (tails, queue) = unsafe {
        let tails = setup.filled::<u32>(what, queues as usize, 0)?;
        (tails, setup.filled::<u32>(what, queues as usize * room as usize, 0xff)?)
    };
    let arguments = OrderOpen {
        rows: n,
        first: Reads(&rows.first),
        firsts: Reads(&rows.firsts),
        queues,
        room,
        tails: Writes(&tails),
        queue: Writes(&queue),
    };
    // SAFETY: the rows without dependencies were listed before; each queue has space for all of its
    // own.
    unsafe { setup.threads("symgs_order_open", n.into(), &arguments)? };
    let launch = wave(room, &tails, &queue)?.resident(system.device, 2)?;
    enqueue(system.device, &[Step::Launch(launch)])?;
    let key = setup.array::<u32>(what, n as usize)?;
    let arguments = OrderUnpack {
        rows: n,
        colors: u32::from(by == By::Colors),
        packed: Reads(&packed),
        key: Writes(&key),
        highest: Writes(&highest),
    };
    // SAFETY: both arrays have one element per row; threads beyond the last write none.
    unsafe { setup.threads("symgs_order_unpack", n.into(), &arguments)? };
    let highest = finished(setup, &stuck, &highest)?;
    Ok((key, highest))
}

/// Levels of any structure, or colours of one with nothing after the diagonal, and the highest of them.
fn in_order<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
    found: &Rows,
    by: By,
) -> Result<(Buffer<u32>, u32), DeviceError> {
    let n = system.rows;
    let what = "the levels and colors";
    // SAFETY: the first are counted from zero, and all bits set mean "not done" to the kernel.
    let (pending, pushed, key, counts) = unsafe {
        let zero = |len| setup.filled::<u32>(what, len, 0);
        let key = setup.filled::<u32>(what, n as usize, 0xff)?;
        (zero(n as usize)?, zero(n as usize)?, key, zero(3)?)
    };
    let [highest, stuck, ticket] = parts(&counts);
    let (row_ptr, col) = (Reads(system.row_ptr), Reads(&system.slots.col));
    let above = PlanAbove { rows: n, row_ptr, col, pending: Writes(&pending) };
    let arguments = PlanLevels {
        rows: n,
        colors: u32::from(by == By::Colors),
        row_ptr,
        col,
        pending: Writes(&pending),
        pushed: Writes(&pushed),
        key: Writes(&key),
        highest: Writes(&highest),
        ticket: Writes(&ticket),
        stuck: Writes(&stuck),
    };
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col, and columns that
    // are rows; the arrays have one element per row. Threads beyond the last row do nothing.
    unsafe {
        if !found.is_lower {
            setup.threads("symgs_plan_above", n.into(), &above)?;
        }
        setup.threads("symgs_plan_levels", n.into(), &arguments)?;
    }
    let highest = finished(setup, &stuck, &highest)?;
    Ok((key, highest))
}

/// Colours computed on the host, and the last of them, for structures that the device's loop does
/// not handle.
fn on_host<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
) -> Result<(Buffer<u32>, u32), DeviceError> {
    let colors = Coloring::greedy(system.a, system.memory)
        .map_err(|error| DeviceError::Driver { doing: "find colors", status: error.to_string() })?;
    let groups = colors.groups();
    let key = setup.upload("the colors", groups.group_of())?;
    Ok((key, groups.len().saturating_sub(1) as u32))
}

/// The number that a kernel computed, unless it gave up.
fn finished(
    setup: &Setup<'_>,
    stuck: &Buffer<u32>,
    number: &Buffer<u32>,
) -> Result<u32, DeviceError> {
    if setup.element(stuck, 0)? != 0 {
        let status = "timed out waiting for a row dependency".to_owned();
        return Err(DeviceError::Driver { doing: "find levels", status });
    }
    setup.element(number, 0)
}

/// Single elements of an array.
pub(super) fn parts<const N: usize>(of: &Buffer<u32>) -> [Buffer<u32>; N] {
    std::array::from_fn(|k| of.part(k..k + 1).expect("the array has this many elements")) // invariant
}
