//! Sweeps whose rows wait for one another within one launch, in the form that suits the matrix.

use sparsescope_core::experiment::Groups;
use sparsescope_core::matrix::Offset;

use super::plan::{By, Plan, parts};
use super::slices::{Half, Places, SLICE, Sides, Slices};
use super::system::{Operator, Sweeps, System, Vectors};
use crate::arguments::{
    Arguments, Element, Reads, SweepOfRows, SweepOfSlices, SweepOfThreads, Writes,
};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::kernels::Variant;
use crate::launch::{Bound, Launch, Shape, Step};
use crate::setup::Setup;
use crate::value::DeviceReal;

/// Threads per block of each form.
const THREAD_BLOCK: u32 = 512;
const ROW_BLOCK: u32 = 128;
const SLICE_BLOCK: u32 = 128;

/// Lanes that share a row.
const ROW_LANES: u32 = 8;

/// Blocks per multiprocessor over slices: more of them only poll the same places more often.
const MOST_BLOCKS: u32 = 4;

/// Levels between a slice and its gate.
const GATE: u32 = 3;

/// Maximum row length, and maximum number of levels, of a matrix whose rows are processed in matrix
/// order: then hardly any row waits for one that was not finished long before.
const SHORT: u64 = 8;
const FEW_LEVELS: u32 = 64;

/// How the rows are processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In matrix order, one thread per row.
    Threads,
    /// In slices in level order, rows with at most this many nonzeros on a side.
    Slices(u32),
    /// In level order, some lanes per row, of any length.
    Rows,
}

impl Form {
    fn of(plan: &Plan, rows: u32) -> Self {
        // Levels of few rows leave their slices mostly empty.
        let most = 4 * u64::from(rows) + 4096;
        let places = u64::from(rows) + u64::from(plan.groups) * u64::from(SLICE - 1);
        let width = Variant::WIDTHS.into_iter().find(|&width| u64::from(width) >= plan.widest);
        match width {
            _ if plan.longest <= SHORT && plan.groups <= FEW_LEVELS => Self::Threads,
            Some(width) if places <= most => Self::Slices(width),
            _ => Self::Rows,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Slices(_) => "slices",
            Self::Rows => "rows",
        }
    }
}

/// The result of the setup, one variant per form.
enum Made {
    /// Nonzeros of each row before its diagonal, which sweeps from zero need; empty otherwise.
    Threads(Buffer<u32>),
    Slices(u32, Box<Places>, [Buffer<u32>; 2]),
    /// The same, and the rows in order.
    Rows(Buffer<u32>, Buffer<u32>),
}

pub(super) fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
) -> Result<Sweeps, DeviceError> {
    let (setup, (form, made, levels), plan_s) = Setup::of(system.device, |setup| {
        let plan = Plan::of(setup, system, By::Levels)?;
        let form = Form::of(&plan, system.rows);
        let below = || match system.operator {
            Operator::Sweeps(_) => setup.array::<u32>("nothing", 0),
            Operator::ZeroStart(_) => Ok(plan.below.clone()),
        };
        let made = match form {
            Form::Threads => Made::Threads(below()?),
            Form::Rows => Made::Rows(below()?, plan.sorted.clone()),
            Form::Slices(width) => {
                let places = Places::of(setup, system, &plan, Sides::Columns)?;
                // Rows that wait for one element poll that one: there is no gate worth waiting for
                // first.
                let back = if width == 1 { plan.groups } else { GATE };
                let gates = places.gates(setup, &plan, back)?;
                Made::Slices(width, Box::new(places), gates)
            }
        };
        Ok((form, made, plan.groups))
    })?;
    let made = match made {
        Made::Threads(below) => in_csr(&setup, system, &below, None)?,
        Made::Rows(below, order) => in_csr(&setup, system, &below, Some(&order))?,
        Made::Slices(width, places, gates) => in_slices(&setup, system, width, &places, &gates)?,
    };
    let groups = Some(Groups::Levels([levels as usize; 2]));
    Ok(Sweeps { plan_s, groups, ..made }.chosen("form", form.name()))
}

/// Sweeps over CSR, in a given order or in matrix order.
fn in_csr<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
    below: &Buffer<u32>,
    order: Option<&Buffer<u32>>,
) -> Result<Sweeps, DeviceError> {
    let other = setup.array::<T>("the vector between the sweeps", system.rows as usize)?;
    // SAFETY: counted from zero.
    let counts = unsafe { setup.filled::<u32>("tickets", 3, 0)? };
    let [forward, backward, stuck] = parts(&counts);
    let tickets = counts.part(0..2).expect("there are three"); // invariant
    // SAFETY: counted from zero.
    let mut steps = vec![unsafe { Step::fill_numbers(&tickets, 0) }];
    let sweeps = system.operator.there_and_back(system.b, system.x, &other);
    for (vectors, ticket) in sweeps.into_iter().zip([&forward, &backward]) {
        let Vectors { backward, rhs, old, sums, new } = vectors;
        let (rows, form) = (system.rows, system.operator.form());
        let (row_ptr, below) = (Reads(system.row_ptr), Reads(below));
        let (col, val) = (Reads(&system.slots.col), Reads(&system.slots.val));
        let (rhs, old, sums, out) = (Reads(rhs), Reads(old), Writes(sums), Writes(new));
        let (ticket, stuck) = (Writes(ticket), Writes(&stuck));
        // SAFETY, of both: a CSR matrix has rows + 1 ascending offsets up to the length of col and
        // val, and columns that are rows; the vectors have one element per row, and so have an
        // order and, where it is read, `below`. Threads beyond the last row access none.
        let launch = match order {
            None => {
                let arguments = SweepOfThreads {
                    rows,
                    backward,
                    form,
                    row_ptr,
                    below,
                    col,
                    val,
                    rhs,
                    old,
                    sums,
                    out,
                    ticket,
                    stuck,
                };
                // SAFETY: as above.
                unsafe { over(system, "symgs_sync_free_thread", 1, THREAD_BLOCK, &arguments)? }
            }
            Some(order) => {
                let order = Reads(order);
                let arguments = SweepOfRows {
                    rows,
                    order,
                    backward,
                    form,
                    row_ptr,
                    below,
                    col,
                    val,
                    rhs,
                    old,
                    sums,
                    out,
                    ticket,
                    stuck,
                };
                // SAFETY: as above.
                unsafe { over(system, "symgs_sync_free_rows", ROW_LANES, ROW_BLOCK, &arguments)? }
            }
        };
        steps.extend([Step::fill(new, 0xff), launch]);
    }
    let bound = Bound {
        reset: system.reset(),
        stuck: Some(stuck),
        workspace_bytes: other.bytes() + order.map_or(0, Buffer::bytes),
        spent: setup.spent(),
        ..Bound::of(steps)
    };
    Ok(Sweeps::of(bound))
}

/// A launch with some lanes per row.
///
/// # Safety
/// As for [`Launch::new`].
unsafe fn over<T: DeviceReal, O: Offset + Element, A: Arguments>(
    system: &System<'_, T, O>,
    function: &str,
    lanes: u32,
    block: u32,
    arguments: &A,
) -> Result<Step, DeviceError> {
    let grid = (u64::from(system.rows) * u64::from(lanes)).div_ceil(block.into());
    let shape = Shape { grid, block, shared_bytes: 0 };
    // SAFETY: the caller's promise.
    unsafe { Launch::new(system.device, function, shape, arguments) }.map(Step::Launch)
}

/// Sweeps over slices.
fn in_slices<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
    width: u32,
    places: &Places,
    gates: &[Buffer<u32>; 2],
) -> Result<Sweeps, DeviceError> {
    let (slices, conversion_s) = places.filled(setup, system)?;
    let vectors = places.vectors(setup, system)?;
    let other = setup.array::<T>("the vector between the sweeps", places.places())?;
    // SAFETY: a flag.
    let stuck = unsafe { setup.filled::<u32>("a flag", 1, 0)? };
    let mut steps = Vec::new();
    let Slices { before, after, diagonal } = &slices;
    let sides = [("forward", before, after), ("backward", after, before)];
    let sweeps = system.operator.there_and_back(&vectors.b, &vectors.x, &other);
    for ((sweep, (name, made, found)), gates) in sweeps.into_iter().zip(sides).zip(gates) {
        let Vectors { rhs, old, sums, new, .. } = sweep;
        let Half { ptr: made_ptr, col: made_col, val: made_val } = made;
        let Half { ptr: found_ptr, col: found_col, val: found_val } = found;
        let arguments = SweepOfSlices {
            slices: places.slices,
            form: system.operator.form(),
            made_ptr: Reads(made_ptr),
            made_col: Reads(made_col),
            made_val: Reads(made_val),
            found_ptr: Reads(found_ptr),
            found_col: Reads(found_col),
            found_val: Reads(found_val),
            diagonal: Reads(diagonal),
            rhs: Reads(rhs),
            old: Reads(old),
            sums: Writes(sums),
            out: Writes(new),
            gates: Reads(gates),
            stuck: Writes(&stuck),
        };
        let variant = SweepOfSlices::<T>::VARIANT.of_width(width);
        let function = format!("symgs_sync_free_{name}");
        let shape = Shape { grid: 1, block: SLICE_BLOCK, shared_bytes: 0 };
        // SAFETY: a warp takes slices below their number, whose slots the offsets delimit; columns
        // are places or none, and the vectors have one element per place; no side of a row has more
        // nonzeros than the variant's width. Any number of blocks processes all slices.
        let launch =
            unsafe { Launch::in_variant(system.device, variant, &function, shape, &arguments)? };
        let launch = launch.resident(system.device, MOST_BLOCKS)?;
        steps.extend([Step::fill(new, 0xff), Step::Launch(launch)]);
    }
    let (matrix_bytes, permute_s) = (Some(slices.bytes()), vectors.permute_s);
    let bound = vectors.bound(steps);
    let workspace_bytes = bound.workspace_bytes + other.bytes();
    let bound = Bound { stuck: Some(stuck), workspace_bytes, spent: setup.spent(), ..bound };
    Ok(Sweeps { conversion_s, permute_s, matrix_bytes, ..Sweeps::of(bound) })
}
