//! The student report's iteration: passes over the rows until all of them are done.

use std::cell::RefCell;
use std::rc::Rc;

use sparsescope_core::matrix::Offset;
use sparsescope_core::symgs::Mode;

use super::system::{Iteration, Operator, Passes, Sweeps, System, Vectors};
use crate::arguments::{Element, Reads, Ready, ReadyCompact, ReadyDone, ReadyList, Writes};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::guarded::Written;
use crate::launch::{Bound, Launch, Shape, Step, enqueue};
use crate::setup::{BLOCK, Setup};
use crate::value::DeviceReal;

/// Minimum and maximum threads of the report's blocks: a warp, and the device's limit.
const LEAST_BLOCK: u64 = 32;
const MOST_BLOCK: u64 = 1024;

/// One sweep: the launches of a pass, and where it counts its progress.
struct Sweep {
    /// Marks all rows as not done.
    clear: Vec<Step>,
    /// Finds the rows that are ready, after resetting its counters.
    ready: Vec<Step>,
    /// Processes them, one block per row.
    work: Launch,
    /// Counts the rows that are done, or, if they are listed, those of the pass.
    count: Buffer<u32>,
    is_listed: bool,
    rows: u32,
}

impl Sweep {
    fn run(&self, device: &Device, passes: &mut Passes) -> Result<(), DeviceError> {
        enqueue(device, &self.clear)?;
        let mut done = 0;
        while done < self.rows {
            enqueue(device, &self.ready)?;
            let mut listed = 0;
            if self.is_listed {
                listed = self.count(device)?;
                enqueue(device, &[Step::Launch(self.work.with_grid(listed))])?;
            } else {
                enqueue(device, &[Step::Launch(self.work.clone())])?;
            }
            let before = done;
            done = match self.is_listed {
                true => done + listed,
                false => self.count(device)?,
            };
            let launched = if self.is_listed { listed } else { self.work.grid() };
            passes.launched.push(launched.into());
            passes.with_work.push((done - before).into());
            if done == before {
                let status = "some rows are left, but none is ready".to_owned();
                return Err(DeviceError::Driver { doing: "finish a sweep", status });
            }
        }
        Ok(())
    }

    /// Reads the count: a round trip.
    fn count(&self, device: &Device) -> Result<u32, DeviceError> {
        Ok(self.count.to_host(device)?.into_iter().next().unwrap_or(0))
    }
}

/// The report's block size: a power of two above the longest row, within the device's limit.
fn block(longest: u64) -> u32 {
    let above = (longest + 1).next_power_of_two();
    above.clamp(LEAST_BLOCK, MOST_BLOCK) as u32
}

/// Every pass launches one block per row.
pub(super) fn done<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
    iteration: &Iteration<'_, T>,
) -> Result<Sweeps, DeviceError> {
    bind(system, iteration, false)
}

/// A pass lists the rows that are ready, and launches one block for each of them.
pub(super) fn compact<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
    iteration: &Iteration<'_, T>,
) -> Result<Sweeps, DeviceError> {
    bind(system, iteration, true)
}

fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
    iteration: &Iteration<'_, T>,
    is_listed: bool,
) -> Result<Sweeps, DeviceError> {
    let setup = Setup::new(system.device);
    let (rows, n) = (system.rows, system.rows as usize);
    let what = "which rows are done";
    let other = setup.array::<T>("the vector between the sweeps", n)?;
    let (done, count) = (setup.array::<u8>(what, n)?, setup.array::<u32>(what, 1)?);
    let ready = setup.array::<u8>(what, if is_listed { 0 } else { n })?;
    let list = setup.array::<u32>(what, if is_listed { n } else { 0 })?;
    let longest = (0..n).map(|i| system.a.row_len(i)).max().unwrap_or(0);
    let block = block(longest as u64);

    let mut sweeps = Vec::new();
    let operator = Operator::Sweeps(*iteration);
    for vectors in operator.there_and_back(system.b, system.x, &other) {
        let Vectors { backward, rhs, old, new, .. } = vectors;
        let (row_ptr, col) = (Reads(system.row_ptr), Reads(&system.slots.col));
        let (val, rhs, old, out) = (Reads(&system.slots.val), Reads(rhs), Reads(old), Writes(new));
        let smoother = u32::from(iteration.mode == Mode::Smoother);
        let over_rows =
            Shape { grid: u64::from(rows.div_ceil(BLOCK)), block: BLOCK, shared_bytes: 0 };
        let over_blocks = Shape { grid: rows.into(), block, shared_bytes: 0 };
        // SAFETY: flags and a counter, which kernels use as an index only to append to the list, at
        // most as many rows as there are.
        let (none_done, none_ready, none) = unsafe {
            let none_ready = Step::fill_numbers(&ready, 0);
            (Step::fill_numbers(&done, 0), none_ready, || Step::fill_numbers(&count, 0))
        };
        // SAFETY, of all: a CSR matrix has rows + 1 ascending offsets up to the length of col and
        // val, and columns that are rows; vectors, flags and list have one element per row. Threads
        // and blocks beyond the last row do nothing, and a block of the list reads what the pass
        // has listed.
        sweeps.push(if is_listed {
            let find = ReadyList {
                rows,
                backward,
                row_ptr,
                col,
                done: Reads(&done),
                list: Writes(&list),
                count: Writes(&count),
            };
            let work = ReadyCompact {
                listed: rows,
                list: Reads(&list),
                backward,
                smoother,
                row_ptr,
                col,
                val,
                rhs,
                old,
                out,
                done: Writes(&done),
            };
            // SAFETY: as above.
            let (find, work) = unsafe {
                let find = Launch::new(system.device, "symgs_ready_list", over_rows, &find)?;
                let work = Launch::new(system.device, "symgs_ready_compact", over_blocks, &work)?;
                (find, work)
            };
            let (clear, ready) = (vec![none_done], vec![none(), Step::Launch(find)]);
            Sweep { clear, ready, work, count: count.clone(), is_listed, rows }
        } else {
            let done_now = Writes(&done);
            let find =
                Ready { rows, backward, row_ptr, col, done: Reads(&done), ready: Writes(&ready) };
            let work = ReadyDone {
                rows,
                backward,
                smoother,
                row_ptr,
                col,
                val,
                rhs,
                old,
                out,
                ready: Reads(&ready),
                done: done_now,
                count: Writes(&count),
            };
            // SAFETY: as above.
            let (find, work) = unsafe {
                let find = Launch::new(system.device, "symgs_ready", over_rows, &find)?;
                let work = Launch::new(system.device, "symgs_ready_done", over_blocks, &work)?;
                (find, work)
            };
            let clear = vec![none_done, none_ready, none()];
            let ready = vec![Step::Launch(find)];
            Sweep { clear, ready, work, count: count.clone(), is_listed, rows }
        });
    }
    let passes = Rc::new(RefCell::new(Passes::default()));
    let record = Rc::clone(&passes);
    let execute = move |device: &Device| {
        let mut passes = Passes::default();
        sweeps.iter().try_for_each(|sweep| sweep.run(device, &mut passes))?;
        *record.borrow_mut() = passes;
        Ok(())
    };
    let flags = done.bytes() + ready.bytes() + list.bytes();
    let bound = Bound {
        reset: system.reset(),
        workspace_bytes: other.bytes() + flags,
        spent: setup.spent(),
        ..Bound::of(vec![Step::Call(Box::new(execute))])
    };
    let between: Option<Box<dyn Written>> = Some(Box::new(other));
    let made = Sweeps { passes: Some(passes), between, ..Sweeps::of(bound) };
    Ok(made.chosen("block", &block.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_reports_where_a_device_takes_them() {
        // 2^(log2 maxl + 1) threads, log2 rounded down.
        assert_eq!([0, 1, 31, 32, 33, 63].map(block), [32, 32, 32, 64, 64, 64]);
        assert_eq!([511, 512, 1023, 1024, 46_500].map(block), [512, 1024, 1024, 1024, 1024]);
    }
}
