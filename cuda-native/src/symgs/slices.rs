//! Rows in slices of 32 on the device, in the order of their groups.

use sparsescope_core::matrix::Offset;

use super::plan::{By, Plan, scan};
use super::setup::Setup;
use super::system::System;
use crate::arguments::{
    Element, FillSlices, FromPlaces, OrderGates, OrderPlaces, OrderSlices, PlanWidths, Reads,
    ToPlaces, Writes,
};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::device::DeviceError;
use crate::launch::{Launch, Shape, Step, enqueue};
use crate::value::DeviceReal;

/// Rows of a slice.
pub(super) const SLICE: u32 = 32;

/// Where the rows are: what is known before the entries are moved.
pub(super) struct Places {
    pub(super) slices: u32,
    /// Where the slices of each group begin, on the device and here.
    pub(super) slice_ptr: Buffer<u32>,
    pub(super) slice_ptr_host: Vec<u32>,
    row_at: Buffer<u32>,
    place_of: Buffer<u32>,
    below: Buffer<u32>,
    before_ptr: Buffer<u32>,
    after_ptr: Buffer<u32>,
    /// Slots before and after the diagonals, 32 a count.
    slots: [u32; 2],
}

/// The entries on one side of the diagonals.
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

/// The vectors of sweeps over slices, an element a place.
pub(super) struct ByPlace<T> {
    pub(super) b: Buffer<T>,
    /// x before the first sweep, and x.
    pub(super) start: Buffer<T>,
    pub(super) x: Buffer<T>,
    /// Brings x back into the matrix's order.
    pub(super) finish: Vec<Step>,
    /// Seconds of bringing b and x there, and x back.
    pub(super) permute_s: f64,
}

/// A set-up, what it has made, and the seconds of making that.
type Timed<'a, R> = (Setup<'a>, R, f64);

impl Places {
    /// How many groups the rows fall into, and their places in the order of these.
    pub(super) fn planned<'a, T: DeviceReal, O: Offset + Element>(
        system: &System<'a, T, O>,
        by: By,
    ) -> Result<Timed<'a, (u32, Self)>, DeviceError> {
        Setup::of(system.device, |setup| {
            let plan = Plan::of(setup, system, by)?;
            Ok((plan.groups, Self::of(setup, system, &plan)?))
        })
    }

    pub(super) fn of<T: DeviceReal, O: Offset + Element>(
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
        plan: &Plan,
    ) -> Result<Self, DeviceError> {
        let (rows, groups) = (system.rows, plan.groups);
        let what = "the places of the rows";
        // What the loops count with: places, and slots of 32.
        let places = u64::from(rows) + u64::from(groups) * u64::from(SLICE - 1);
        let slots = places / u64::from(SLICE) * (plan.widest + 1);
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

        // SAFETY: all bits set are what kernels take for no row.
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
        // SAFETY: the rows of a group fit into its slices, each at a place of its own.
        unsafe { setup.threads("symgs_order_places", rows.into(), &arguments)? };
        let [before, after] = [0; 2].map(|_| setup.array::<u32>(what, slices as usize));
        let (before, after) = (before?, after?);
        let arguments = PlanWidths {
            slices,
            row_at: Reads(&row_at),
            row_ptr: Reads(system.row_ptr),
            below: Reads(&plan.below),
            before: Writes(&before),
            after: Writes(&after),
        };
        let threads = u64::from(slices) * u64::from(SLICE);
        // SAFETY: a warp a slice; its places hold rows or none.
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
        };
        Ok(made)
    }

    /// How many there are, those without a row among them.
    pub(super) fn places(&self) -> usize {
        (self.slices * SLICE) as usize
    }

    /// The gates of each slice in either sweep: what is done `back` levels before its own.
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

    /// The entries in slices.
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
        // SAFETY: a warp a slice writes the slots that the offsets give it, which are as many as its
        // longest row has on a side. Every row has its diagonal at `below`: the system has checked it.
        unsafe { setup.blocks("symgs_fill", (grid, 64), &arguments)? };
        Ok(Slices { before, after, diagonal })
    }

    /// The same, and the seconds that it takes once the kernel is loaded.
    pub(super) fn filled<T: DeviceReal, O: Offset + Element>(
        &self,
        setup: &Setup<'_>,
        system: &System<'_, T, O>,
    ) -> Result<(Slices<T>, f64), DeviceError> {
        // The kernel may have been built for nothing as yet; its arrays are as large as the matrix.
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
        let places = self.places();
        let array = || setup.array::<T>("a vector in the order of the rows", places);
        let (b, start, x) = (array()?, array()?, array()?);
        let shape = |threads: u64| {
            let (block, shared_bytes) = (super::setup::BLOCK, 0);
            Shape { grid: threads.div_ceil(block.into()), block, shared_bytes }
        };
        let row_at = Reads(&self.row_at);
        let there = |from: &Buffer<T>, to: &Buffer<T>| {
            let (x, by_place) = (Reads(from), Writes(to));
            let arguments = ToPlaces { places: places as u64, row_at, x, by_place };
            let shape = shape(places as u64);
            // SAFETY: a place holds a row or none; the vectors have an element a row and a place.
            unsafe { Launch::new(setup.device(), "symgs_to_places", shape, &arguments) }
                .map(Step::Launch)
        };
        let arguments = FromPlaces {
            rows: system.rows,
            place_of: Reads(&self.place_of),
            by_place: Reads(&x),
            x: Writes(system.x),
        };
        // SAFETY: as above.
        let back = unsafe {
            Launch::new(setup.device(), "symgs_from_places", shape(system.rows.into()), &arguments)
        };
        let (there, back) = ([there(system.b, &b)?, there(system.start, &start)?], back?);
        // Run once before they are timed: the first launch loads a kernel.
        let finish = vec![Step::Launch(back)];
        enqueue(setup.device(), &there)?;
        enqueue(setup.device(), &[Step::copy(&x, &start)])?;
        enqueue(setup.device(), &finish)?;
        let clock = Clock::new(setup.device())?;
        let permute_s = clock.time(setup.device(), || {
            enqueue(setup.device(), &there)?;
            enqueue(setup.device(), &finish)
        })?;
        Ok(ByPlace { b, start, x, finish, permute_s })
    }
}

impl<T: DeviceReal> Slices<T> {
    pub(super) fn bytes(&self) -> u64 {
        let half = |half: &Half<T>| half.ptr.bytes() + half.col.bytes() + half.val.bytes();
        half(&self.before) + half(&self.after) + self.diagonal.bytes()
    }
}
