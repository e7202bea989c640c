//! Sweeps level by level.

use sparsescope_core::experiment::Groups;
use sparsescope_core::matrix::Offset;

use super::plan::{By, parts};
use super::slices::{Places, Sides};
use super::system::{Sweeps, System, Vectors};
use crate::arguments::{Element, Reads, SweepOfLevels, Writes};
use crate::device::DeviceError;
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Threads per block.
const BLOCK: u32 = 128;

/// Warps per block, each with one slice.
const WARPS: u32 = BLOCK / 32;

/// Slices of a level, per warp that the device gets for merged levels, from which on it has its own
/// launch.
const WIDE: u32 = 16;

pub(super) fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
) -> Result<Sweeps, DeviceError> {
    let (setup, planned, plan_s) = Places::planned(system, By::Levels, Sides::Columns)?;
    let (levels, places) = planned;
    let (slices, conversion_s) = places.filled(&setup, system)?;
    let vectors = places.vectors(&setup, system)?;
    let other = setup.array::<T>("the vector between the sweeps", places.places())?;

    let mut widths: Vec<u32> = places
        .slice_ptr_host
        .iter()
        .zip(places.slice_ptr_host.iter().skip(1))
        .map(|(a, b)| b - a)
        .collect();
    let multiprocessors = system.device.properties().multiprocessors;
    let forward = runs(&widths, WIDE * WARPS * multiprocessors);
    widths.reverse();
    let backward = runs(&widths, WIDE * WARPS * multiprocessors);
    // SAFETY: counted from zero; the first is a flag.
    let counts = unsafe { setup.filled::<u32>("barriers", 1 + forward.len() + backward.len(), 0)? };
    let [stuck] = parts(&counts);
    let barriers = counts.part(1..counts.len()).expect("the flag is the first"); // invariant
    // SAFETY: counted from zero.
    let mut steps = vec![unsafe { Step::fill_numbers(&barriers, 0) }];
    let mut barrier = 0..barriers.len();
    let sweeps = system.operator.there_and_back(&vectors.b, &vectors.x, &other);
    for (sweep, runs) in sweeps.into_iter().zip([&forward, &backward]) {
        let Vectors { backward, rhs, old, sums, new } = sweep;
        for run in runs {
            let arrived = barrier.next().and_then(|k| barriers.part(k..k + 1));
            let arrived = arrived.expect("there is a barrier a run"); // invariant
            let (before, after) = (&slices.before, &slices.after);
            let arguments = SweepOfLevels {
                first: run.first,
                last: run.last,
                levels,
                backward,
                form: system.operator.form(),
                level_ptr: Reads(&places.slice_ptr),
                before_ptr: Reads(&before.ptr),
                before_col: Reads(&before.col),
                before_val: Reads(&before.val),
                after_ptr: Reads(&after.ptr),
                after_col: Reads(&after.col),
                after_val: Reads(&after.val),
                diagonal: Reads(&slices.diagonal),
                rhs: Reads(rhs),
                old: Reads(old),
                sums: Writes(sums),
                out: Writes(new),
                arrived: Writes(&arrived),
                stuck: Writes(&stuck),
            };
            let grid = u64::from(run.widest.div_ceil(WARPS));
            let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
            // SAFETY: there are this many levels, whose slices `level_ptr` delimits; columns are
            // places or none, and the vectors have one element per place. Any number of blocks
            // processes all slices of a level, and only a launch that the device holds at once has
            // several levels.
            let launch = unsafe { Launch::new(system.device, "symgs_levels", shape, &arguments)? };
            steps.push(Step::Launch(match run.last - run.first {
                1 => launch,
                _ => launch.resident(system.device, 1)?,
            }));
        }
    }
    let (matrix_bytes, permute_s) = (Some(slices.bytes()), vectors.permute_s);
    let bound = vectors.bound(steps);
    let workspace_bytes = bound.workspace_bytes + other.bytes();
    let bound = Bound { stuck: Some(stuck), workspace_bytes, spent: setup.spent(), ..bound };
    let groups = Some(Groups::Levels([levels as usize; 2]));
    Ok(Sweeps { plan_s, conversion_s, permute_s, matrix_bytes, groups, ..Sweeps::of(bound) })
}

/// Steps `first` to `last` of a sweep, in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    last: u32,
    /// Slices of its widest level.
    widest: u32,
}

/// Consecutive levels of fewer than `wide` slices share one launch; each other level has its own.
fn runs(widths: &[u32], wide: u32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (step, &width) in (0..).zip(widths) {
        match runs.last_mut() {
            Some(run) if width < wide && run.widest < wide => {
                run.last = step + 1;
                run.widest = run.widest.max(width);
            }
            _ => runs.push(Run { first: step, last: step + 1, widest: width }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_levels_are_merged_and_wide_ones_stand_alone() {
        let run = |first, last, widest| Run { first, last, widest };
        assert_eq!(runs(&[], 4), []);
        assert_eq!(runs(&[1, 3, 2], 4), [run(0, 3, 3)]);
        assert_eq!(
            runs(&[1, 3, 4, 9, 2, 1, 8], 4),
            [run(0, 2, 3), run(2, 3, 4), run(3, 4, 9), run(4, 6, 2), run(6, 7, 8)]
        );
    }
}
