//! The memory traffic of a whole SpMV, array by array, for matrices of any size.

use std::sync::atomic::{AtomicBool, Ordering};

use sparsescope_matrix::parallel::*;

use super::array::Array;
use super::launch::LaunchInfo;
use super::request::{Counts, Direction, Request};
use super::schedule::Schedule;
use super::step::{Sink, StepKind};
use crate::kernel::{Access, LANES};
use sparsescope_matrix::matrix::Scalar;

/// The memory traffic of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayTraffic {
    /// The array.
    pub array: Array,
    /// Loads.
    pub loads: Counts,
    /// Stores.
    pub stores: Counts,
}

/// The memory traffic of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchTraffic {
    /// The launch.
    pub launch: LaunchInfo,
    /// The arrays with traffic, in the order of [`Array::ALL`].
    pub arrays: Vec<ArrayTraffic>,
    /// Threads that have a row, a hack or nonzeros to work on.
    pub busy_threads: u64,
    /// Steps of the loops over slots or nonzeros, summed over the warps.
    pub loop_steps: u64,
    /// Idle lanes in these steps, summed over the steps.
    pub idle_lane_steps: u64,
}

impl LaunchTraffic {
    /// All loads: `loads().sectors` is what Nsight Compute counts as
    /// `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`.
    pub fn loads(&self) -> Counts {
        self.arrays.iter().map(|a| a.loads).sum()
    }

    /// All stores.
    pub fn stores(&self) -> Counts {
        self.arrays.iter().map(|a| a.stores).sum()
    }
}

/// The memory traffic of one SpMV. Sectors are counted where warps request them, cache hits
/// included; what the caches save is not modelled.
///
/// ```
/// use std::sync::Arc;
/// use sparsescope_model::kernel::kernel;
/// use sparsescope_model::layout::{Array, Loops, Schedule, Traffic};
/// use sparsescope_matrix::matrix::{AnyFormat, examples};
/// let a = AnyFormat::Csr(Arc::new(examples::five_by_five()));
/// let vector = kernel("cuda/csr/warp-shuffle").unwrap();
/// let traffic = Traffic::of(&Schedule::new(vector, &a, 32, Loops::AsCompiled)?);
/// // One request a row for its two values.
/// assert_eq!(traffic.array(Array::Val).unwrap().loads.requests, 5);
/// # Ok::<(), sparsescope_model::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Launch by launch.
    pub launches: Vec<LaunchTraffic>,
}

/// Number of warps per task.
const CHUNK: u64 = 256;

impl Traffic {
    /// Walks all warps of a schedule in parallel; the result does not depend on the number of
    /// threads. It builds no lists: memory does not grow with the matrix.
    pub fn of(schedule: &Schedule) -> Self {
        Self::through(schedule, &AtomicBool::new(false))
    }

    /// Like [`of`](Self::of), but returns nothing once `cancel` is set.
    pub fn unless<T: Scalar>(schedule: &Schedule<T>, cancel: &AtomicBool) -> Option<Self> {
        let traffic = Self::through(schedule, cancel);
        (!cancel.load(Ordering::Relaxed)).then_some(traffic)
    }

    /// Once `cancel` is set, the remaining warps are skipped.
    fn through<T: Scalar>(schedule: &Schedule<T>, cancel: &AtomicBool) -> Self {
        let value_bytes = schedule.value_bytes();
        let launches = schedule.launches().iter().map(|&launch| {
            let walker = schedule.walker(launch.kind);
            let chunks = 0..launch.warps.div_ceil(CHUNK) as usize;
            let sums = chunks
                .into_par_iter()
                .map(|chunk| {
                    let mut sums = Sums { value_bytes, ..Sums::default() };
                    if cancel.load(Ordering::Relaxed) {
                        return sums;
                    }
                    let first = chunk as u64 * CHUNK;
                    for warp in first..launch.warps.min(first + CHUNK) {
                        sums.busy_threads += walker.warp(warp, &mut sums);
                    }
                    sums
                })
                .reduce(Sums::default, Sums::plus);
            sums.of_launch(launch)
        });
        Self { launches: launches.collect() }
    }

    /// Traffic by array over all launches, in the order of [`Array::ALL`].
    pub fn arrays(&self) -> Vec<ArrayTraffic> {
        Array::ALL.into_iter().filter_map(|array| self.array(array)).collect()
    }

    /// Traffic of one array over all launches; absent if it has none.
    pub fn array(&self, array: Array) -> Option<ArrayTraffic> {
        let all = || self.launches.iter().flat_map(|l| &l.arrays).filter(|a| a.array == array);
        all().next()?;
        let (loads, stores) = (all().map(|a| a.loads).sum(), all().map(|a| a.stores).sum());
        Some(ArrayTraffic { array, loads, stores })
    }

    /// All loads.
    pub fn loads(&self) -> Counts {
        self.launches.iter().map(LaunchTraffic::loads).sum()
    }

    /// All stores.
    pub fn stores(&self) -> Counts {
        self.launches.iter().map(LaunchTraffic::stores).sum()
    }

    /// Predicted bytes moved between the warps and the memory behind them: 32 per sector, loads and
    /// stores.
    pub fn moved_bytes(&self) -> u64 {
        self.loads().moved_bytes() + self.stores().moved_bytes()
    }

    /// Predicted fraction of the moved bytes that lanes requested, 0 to 1; absent if nothing is
    /// moved.
    pub fn efficiency(&self) -> Option<f64> {
        let mut all = self.loads();
        all += self.stores();
        all.efficiency()
    }

    /// Fraction of idle lanes per loop step, 0 to 1; absent without steps.
    pub fn idle_share(&self) -> Option<f64> {
        let steps: u64 = self.launches.iter().map(|l| l.loop_steps).sum();
        let idle: u64 = self.launches.iter().map(|l| l.idle_lane_steps).sum();
        (steps > 0).then(|| idle as f64 / (steps * LANES) as f64)
    }
}

/// The traffic of some of the warps.
#[derive(Clone, Default)]
struct Sums {
    loads: [Counts; Array::ALL.len()],
    stores: [Counts; Array::ALL.len()],
    busy_threads: u64,
    loop_steps: u64,
    busy_lane_steps: u64,
    /// Whether no lane has worked on a slot in this step yet.
    step_is_new: bool,
    /// Bytes per value, where these differ from those of the requests.
    value_bytes: Option<u32>,
}

impl Sums {
    fn plus(mut self, other: Self) -> Self {
        for (sum, counts) in self.loads.iter_mut().zip(other.loads) {
            *sum += counts;
        }
        for (sum, counts) in self.stores.iter_mut().zip(other.stores) {
            *sum += counts;
        }
        self.busy_threads += other.busy_threads;
        self.loop_steps += other.loop_steps;
        self.busy_lane_steps += other.busy_lane_steps;
        self
    }

    fn of_launch(self, launch: LaunchInfo) -> LaunchTraffic {
        let all = Array::ALL.into_iter().map(|array| {
            let k = array.index();
            ArrayTraffic { array, loads: self.loads[k], stores: self.stores[k] }
        });
        let asked = |a: &ArrayTraffic| a.loads.requests + a.stores.requests > 0;
        LaunchTraffic {
            launch,
            arrays: all.filter(asked).collect(),
            busy_threads: self.busy_threads,
            loop_steps: self.loop_steps,
            idle_lane_steps: self.loop_steps * LANES - self.busy_lane_steps,
        }
    }
}

impl Sink for Sums {
    #[inline]
    fn step(&mut self, kind: StepKind) {
        self.step_is_new = matches!(kind, StepKind::Loop(_));
    }

    #[inline]
    fn lane(&mut self, _lane: usize, _access: Access) {
        self.loop_steps += u64::from(self.step_is_new);
        self.step_is_new = false;
        self.busy_lane_steps += 1;
    }

    #[inline]
    fn request(&mut self, request: &Request) {
        let of = match request.direction {
            Direction::Load => &mut self.loads,
            Direction::Store => &mut self.stores,
        };
        of[request.array.index()] += match self.value_bytes {
            Some(bytes) if request.array == Array::Val => {
                let mut request = *request;
                request.element_bytes = bytes;
                request.counts()
            }
            _ => request.counts(),
        };
    }
}
