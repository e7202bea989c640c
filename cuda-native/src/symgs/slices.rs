//! Rows in slices of 32 on the device, in group order.

use sparsescope_core::matrix::Offset;

use super::plan::{By, Plan};
use super::system::{Iteration, Operator, System};
use crate::arguments::{
    Element, FillSlices, FromPlaces, OrderGates, OrderPlaces, OrderSlices, PlanEarlier, PlanWidths,
    Reads, ToPlaces, Writes,
};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::device::DeviceError;
use crate::launch::{Bound, Launch, Shape, Step, enqueue};
use crate::order::scan;
use crate::setup::Setup;
use crate::value::DeviceReal;

/// Rows per slice.
pub(super) const SLICE: u32 = 32;

/// The places of rows: what is known before the nonzeros are moved.
pub(super) struct Places {
    pub(super) slices: u32,
    /// Where the slices of each group begin, on the device and on the host.
    pub(super) slice_ptr: Buffer<u32>,
    pub(super) slice_ptr_host: Vec<u32>,
    row_at: Buffer<u32>,
    place_of: Buffer<u32>,
    below: Buffer<u32>,
    before_ptr: Buffer<u32>,
    after_ptr: Buffer<u32>,
    /// Slots before and after the diagonals, in units of 32.
    slots: [u32; 2],
    sides: Sides,
}

/// What decides whether a nonzero lies before or after the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sides {
    /// Its column in the matrix. In level order, the places of its row and column decide the same.
    Columns,
    /// Its column's place.
    Places,
}

/// The nonzeros on one side of the diagonals.
pub(super) struct Half<T> {
    pub(super) ptr: Buffer<u32>,
    pub(super) col: Buffer<u32>,
    pub(super) val: Buffer<T>,
}

/// A matrix in slices.
pub(super) struct Slices<T> {
    pub(super) before: Half<T>,
    pub(super) after: Half<T>,
    pub(super) diagonal: Buffer<T>,
}

/// The vectors of sweeps over slices, one element per place.
pub(super) struct ByPlace<T> {
    pub(super) b: Buffer<T>,
    pub(super) x: Buffer<T>,
    /// x before the first sweep, if it is not zero.
    start: Option<Buffer<T>>,
    /// Permute b into place order, and x back.
    there: Step,
    back: Step,
    /// Seconds of permuting b and x, and x back, if that is not part of an execution.
    pub(super) permute_s: Option<f64>,
}

/// A setup, its result, and the seconds of computing that.
type Timed<'a, R> = (Setup<'a>, R, f64);

impl Places {
    /// Number of groups of the rows, and the rows' places in group order.
    pub(super) fn planned<'a, T: DeviceReal, O: Offset + Element>(
        system: &System<'a, T, O>,
        by: By,
        sides: Sides,
    ) -> Result<Timed<'a, (u32, Self)>, DeviceError> {
        Setup::of(system.device, |setup| {
            let plan = Plan::of(setup, system, by)?;
            Ok((plan.groups, Self::of(setup, system, &plan, sides)?))
        })
    }

    pub(super) fn of<T: DeviceReal, O: Offset + Element>(
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
        plan: &Plan,
        sides: Sides,
    ) -> Result<Self, DeviceError> {
        let (rows, groups) = (system.rows, plan.groups);
        let what = "the places of the rows";
        // What the loops count: places, and slots in units of 32.
        let places = u64::from(rows) + u64::from(groups) * u64::from(SLICE - 1);
        let widest = match sides {
            Sides::Columns => plan.widest,
            Sides::Places => plan.longest,
        };
        let slots = places / u64::from(SLICE) * (widest + 1);
        for (what, found) in [("the number of places", places), ("the number of slots", slots)] {
            let most = u64::from(u32::MAX - SLICE);
            if found > most {
                return Err(DeviceError::TooLarge { what, found, most });
            }
        }
        let slice_ptr = setup.array::<u32>(what, groups as usize + 1)?;
        let counts = setup.array::<u32>(what, groups as usize)?;
        let group_ptr = Reads(&plan.group_ptr);
        let arguments = OrderSlices { groups, group_ptr, slices: Writes(&counts) };
        // SAFETY: there are groups + 1 offsets.
        unsafe { setup.threads("symgs_order_slices", groups.into(), &arguments)? };
        scan(setup, groups, &counts, &slice_ptr)?;
        let slice_ptr_host = slice_ptr.to_host(setup.device())?;
        let slices = slice_ptr_host.last().copied().unwrap_or(0);

        // SAFETY: all bits set mean "no row" to the kernels.
        let row_at = unsafe { setup.filled::<u32>(what, (slices * SLICE) as usize, 0xff)? };
        let place_of = setup.array::<u32>(what, rows as usize)?;
        let arguments = OrderPlaces {
            rows,
            sorted: Reads(&plan.sorted),
            key: Reads(&plan.key),
            group_ptr,
            slice_ptr: Reads(&slice_ptr),
            row_at: Writes(&row_at),
            place_of: Writes(&place_of),
        };
        // SAFETY: the rows of a group fit into its slices, each at its own place.
        unsafe { setup.threads("symgs_order_places", rows.into(), &arguments)? };
        let entries_before = match sides {
            Sides::Columns => plan.below.clone(),
            Sides::Places => earlier(setup, system, plan)?,
        };
        let [before, after] = [0; 2].map(|_| setup.array::<u32>(what, slices as usize));
        let (before, after) = (before?, after?);
        let arguments = PlanWidths {
            slices,
            row_at: Reads(&row_at),
            row_ptr: Reads(system.row_ptr),
            below: Reads(&entries_before),
            before: Writes(&before),
            after: Writes(&after),
        };
        let threads = u64::from(slices) * u64::from(SLICE);
        // SAFETY: one warp per slice; its places hold rows or none.
        unsafe { setup.threads("symgs_plan_widths", threads, &arguments)? };
        let mut ends = [0; 2];
        let ptr = |widths: &Buffer<u32>, end: &mut u32| {
            let ptr = setup.array::<u32>(what, slices as usize + 1)?;
            scan(setup, slices, widths, &ptr)?;
            *end = setup.element(&ptr, slices as usize)?;
            Ok::<_, DeviceError>(ptr)
        };
        let [before_end, after_end] = &mut ends;
        let (before_ptr, after_ptr) = (ptr(&before, before_end)?, ptr(&after, after_end)?);
        let (below, slots) = (plan.below.clone(), ends);
        let made = Self {
            slices,
            slice_ptr,
            slice_ptr_host,
            row_at,
            place_of,
            below,
            before_ptr,
            after_ptr,
            slots,
            sides,
        };
        Ok(made)
    }

    /// Number of places, including those without a row.
    pub(super) fn places(&self) -> usize {
        (self.slices * SLICE) as usize
    }

    /// The gates of each slice in either sweep: a row that is done `back` levels before its own.
    pub(super) fn gates(
        &self,
        setup: &Setup<'_>,
        plan: &Plan,
        back: u32,
    ) -> Result<[Buffer<u32>; 2], DeviceError> {
        let [forward, backward] =
            [0; 2].map(|_| setup.array::<u32>("the gates", self.slices as usize));
        let (forward, backward) = (forward?, backward?);
        let arguments = OrderGates {
            levels: plan.groups,
            back,
            level_ptr: Reads(&plan.group_ptr),
            slice_ptr: Reads(&self.slice_ptr),
            forward: Writes(&forward),
            backward: Writes(&backward),
        };
        let grid = u64::from(plan.groups.min(4096));
        // SAFETY: a level's slices are its own, and no level is empty.
        unsafe { setup.blocks("symgs_order_gates", (grid, 128), &arguments)? };
        Ok([forward, backward])
    }

    /// Moves the nonzeros into slices.
    fn fill<T: DeviceReal, O: Offset + Element>(
        &self,
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
    ) -> Result<Slices<T>, DeviceError> {
        let what = "the rows in slices";
        let half = |ptr: &Buffer<u32>, slots: u32| {
            let slots = slots as usize * SLICE as usize;
            let (col, val) = (setup.array::<u32>(what, slots)?, setup.array::<T>(what, slots)?);
            Ok::<_, DeviceError>(Half { ptr: ptr.clone(), col, val })
        };
        let [before, after] = self.slots;
        let (before, after) = (half(&self.before_ptr, before)?, half(&self.after_ptr, after)?);
        let diagonal = setup.array::<T>(what, self.places())?;
        let arguments = FillSlices {
            slices: self.slices,
            by_place: u32::from(self.sides == Sides::Places),
            row_at: Reads(&self.row_at),
            place_of: Reads(&self.place_of),
            row_ptr: Reads(system.row_ptr),
            below: Reads(&self.below),
            col: Reads(&system.slots.col),
            val: Reads(&system.slots.val),
            before_ptr: Reads(&self.before_ptr),
            after_ptr: Reads(&self.after_ptr),
            before_col: Writes(&before.col),
            before_val: Writes(&before.val),
            after_col: Writes(&after.col),
            after_val: Writes(&after.val),
            diagonal: Writes(&diagonal),
        };
        let grid = u64::from(self.slices).div_ceil(2);
        // SAFETY: one warp per slice writes the slots that the offsets give it, as many as its
        // longest row has on a side. Every row has its diagonal at `below`: the system has checked
        // it.
        unsafe { setup.blocks("symgs_fill", (grid, 64), &arguments)? };
        Ok(Slices { before, after, diagonal })
    }

    /// The same, with the seconds it takes once the kernel is loaded.
    pub(super) fn filled<T: DeviceReal, O: Offset + Element>(
        &self,
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
    ) -> Result<(Slices<T>, f64), DeviceError> {
        // The kernel may not have been built yet; its arrays are as large as the matrix.
        drop(self.fill(&Setup::new(setup.device()), system)?);
        setup.begin()?;
        let slices = self.fill(setup, system)?;
        Ok((slices, setup.seconds()?))
    }

    /// The system's vectors by place.
    pub(super) fn vectors<T: DeviceReal, O: Offset + Element>(
        &self,
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
    ) -> Result<ByPlace<T>, DeviceError> {
        let array = || setup.array::<T>("a vector in the order of the rows", self.places());
        let (b, x) = (array()?, array()?);
        let there = self.there(setup, system.b, &b)?;
        let arguments = FromPlaces {
            rows: system.rows,
            place_of: Reads(&self.place_of),
            by_place: Reads(&x),
            x: Writes(system.x),
        };
        // SAFETY: the vectors have one element per row and per place.
        let back = unsafe {
            let shape = thread_each(system.rows.into());
            Launch::new(setup.device(), "symgs_from_places", shape, &arguments)
        };
        let back = Step::Launch(back?);
        let Operator::Sweeps(Iteration { start: natural, .. }) = system.operator else {
            return Ok(ByPlace { b, x, start: None, there, back, permute_s: None });
        };
        let start = array()?;
        let steps = [there, self.there(setup, natural, &start)?, Step::copy(&x, &start), back];
        // Run once before they are timed: the first launch loads a kernel.
        enqueue(setup.device(), &steps)?;
        let [there, start_there, _, back] = steps;
        let clock = Clock::new(setup.device())?;
        let permute_s = clock.time(setup.device(), || {
            [&there, &start_there, &back]
                .into_iter()
                .try_for_each(|step| step.enqueue(setup.device()))
        })?;
        Ok(ByPlace { b, x, start: Some(start), there, back, permute_s: Some(permute_s) })
    }

    /// Permutes a vector into place order.
    fn there<T: DeviceReal>(
        &self,
        setup: &Setup<'_>,
        from: &Buffer<T>,
        to: &Buffer<T>,
    ) -> Result<Step, DeviceError> {
        let (row_at, x, by_place) = (Reads(&self.row_at), Reads(from), Writes(to));
        let arguments = ToPlaces { places: self.places() as u64, row_at, x, by_place };
        let shape = thread_each(arguments.places);
        // SAFETY: a place holds a row or none; the vectors have one element per row and per place.
        unsafe { Launch::new(setup.device(), "symgs_to_places", shape, &arguments) }
            .map(Step::Launch)
    }
}

/// Nonzeros of each row in columns whose rows are in an earlier group.
fn earlier<T: DeviceReal, O: Offset + Element>(
    setup: &Setup<'_>,
    system: &System<'_, T, O>,
    plan: &Plan,
) -> Result<Buffer<u32>, DeviceError> {
    let earlier = setup.array::<u32>("the nonzeros before each place", system.rows as usize)?;
    let arguments = PlanEarlier {
        rows: system.rows,
        row_ptr: Reads(system.row_ptr),
        col: Reads(&system.slots.col),
        key: Reads(&plan.key),
        earlier: Writes(&earlier),
    };
    let threads = u64::from(system.rows) * 8;
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col, and columns that
    // are rows; there is one key and one count per row. Lanes without a row write nothing.
    unsafe { setup.threads("symgs_plan_earlier", threads, &arguments)? };
    Ok(earlier)
}

/// One thread per element.
fn thread_each(elements: u64) -> Shape {
    let block = crate::setup::BLOCK;
    Shape { grid: elements.div_ceil(block.into()), block, shared_bytes: 0 }
}

impl<T: DeviceReal> ByPlace<T> {
    /// These sweeps with the permutations around them. From zero, an execution starts with b and
    /// ends with x in the matrix's order; otherwise b is permuted already, and x is reset before
    /// and permuted back after it.
    pub(super) fn bound(self, mut steps: Vec<Step>) -> Bound {
        let vectors = 2 * self.x.bytes();
        match self.start {
            Some(start) => Bound {
                reset: vec![Step::copy(&self.x, &start)],
                finish: vec![self.back],
                workspace_bytes: vectors + start.bytes(),
                ..Bound::of(steps)
            },
            None => {
                steps.insert(0, self.there);
                steps.push(self.back);
                Bound { workspace_bytes: vectors, ..Bound::of(steps) }
            }
        }
    }
}

impl<T: DeviceReal> Slices<T> {
    pub(super) fn bytes(&self) -> u64 {
        let half = |half: &Half<T>| half.ptr.bytes() + half.col.bytes() + half.val.bytes();
        half(&self.before) + half(&self.after) + self.diagonal.bytes()
    }
}
