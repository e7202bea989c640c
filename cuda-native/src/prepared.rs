//! A kernel ready to run: its result, checked for out-of-bounds writes, and its times.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use sparsescope_core::experiment::{
    Executed, Groups, KernelError, LastOutput, Output, Prepared, Sampled, Temperature, Ticket,
    Watch,
};
use sparsescope_core::record::{Costs, History};

use crate::buffer::{Buffer, Spent};
use crate::clock::{Clock, to_picoseconds};
use crate::device::{Device, DeviceError};
use crate::launch::{Bound, Graph, Step, enqueue};
use crate::machine::Machine;
use crate::nvml::Nvml;
use crate::sampling::{Execution, Samples, sampled};
use crate::symgs::Passes;
use crate::throttle::Throttling;
use crate::value::DeviceReal;

/// Number of guard elements before and after a result that no kernel may write.
pub(crate) const GUARD: usize = 64;

/// The output of a kernel.
pub(crate) trait Written {
    /// Fills it with a value that no kernel computes.
    fn spoil(&self, device: &Device) -> Result<(), DeviceError>;

    /// The result or what is wrong with it, and the seconds of copying.
    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError>;
}

/// A result vector between guards.
pub(crate) struct GuardedVector<T> {
    with_guards: Buffer<T>,
    elements: Buffer<T>,
}

impl<T: DeviceReal> GuardedVector<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let host = vec![T::GUARD; len + 2 * GUARD];
        let with_guards = Buffer::of(device, "the vector y", &host)?;
        let elements = with_guards.part(GUARD..GUARD + len);
        let elements = elements.expect("the elements lie between the guards"); // invariant
        Ok(Self { with_guards, elements })
    }

    /// Time spent on creating it; the guards, which are for the check, are not counted as copies.
    pub(crate) fn spent(&self) -> Spent {
        Spent { upload_s: 0.0, ..self.with_guards.spent() }
    }

    /// The elements without the guards.
    pub(crate) fn elements(&self) -> &Buffer<T> {
        &self.elements
    }
}

impl<T: DeviceReal> Written for GuardedVector<T> {
    /// Fills the elements, not the guards, with NaN: all bits set.
    fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &[Step::fill(&self.elements, 0xff)])
    }

    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (mut host, seconds) = self.with_guards.read(device)?;
        let intact = |guard: &[T]| guard.iter().all(|v| v.is_guard());
        let after = host.split_off(GUARD + self.elements.len());
        let elements = host.split_off(GUARD);
        let result = match intact(&host) && intact(&after) {
            true => Ok(T::output(elements)),
            false => Err(WROTE_BESIDE.to_owned()),
        };
        Ok((result, seconds))
    }
}

/// The message when guards have changed.
pub(crate) const WROTE_BESIDE: &str = "it wrote outside its result";

/// A kernel bound to its operands on a device.
pub(crate) struct Parts<Y> {
    pub(crate) bound: Bound,
    /// The result.
    pub(crate) y: Y,
    /// The groups that the rows form, for kernels that use them.
    pub(crate) groups: Option<Groups>,
    /// What the passes of the last sweeps did, for kernels that make passes.
    pub(crate) passes: Option<Rc<RefCell<Passes>>>,
    /// The operands, kept alive so that other kernels can share them.
    pub(crate) _operands: Vec<Box<dyn Any>>,
}

/// SpMVs shorter than this are also timed as a graph: launch latency is a large part of them.
const SMALL_PRODUCT_S: f64 = 50e-6;

/// Samples per trial.
const TRIAL_SAMPLES: usize = 5;

pub(crate) struct PreparedProduct<'p, Y> {
    parts: Parts<Y>,
    machine: &'p Machine,
    kernel: &'static str,
    costs: Costs,
    params: BTreeMap<String, String>,
    repetitions: u32,
    /// Seconds of the execution that gave the first result.
    once: Option<f64>,
    throttling: Throttling,
}

/// Executions one after another, with the clock that times them.
struct Timed<'a, Y> {
    machine: &'a Machine,
    bound: &'a Bound,
    y: &'a Y,
    clock: Clock,
}

impl<Y: Written> Execution for Timed<'_, Y> {
    type Error = DeviceError;

    fn is_in_place(&self) -> bool {
        self.bound.is_in_place()
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        enqueue(self.machine.device(), &self.bound.reset)
    }

    fn spoil(&mut self) -> Result<(), DeviceError> {
        match self.is_in_place() {
            true => Ok(()),
            false => self.y.spoil(self.machine.device()),
        }
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.machine.memory()?.flush(self.machine.device())
    }

    fn time(&mut self, executions: u32) -> Result<f64, DeviceError> {
        let device = self.machine.device();
        let times = u64::from(executions) * u64::from(self.bound.times);
        self.clock.time(device, || (0..times).try_for_each(|_| enqueue(device, &self.bound.steps)))
    }
}

impl<'p, Y: Written> PreparedProduct<'p, Y> {
    pub(crate) fn new(
        machine: &'p Machine,
        kernel: &'static str,
        parts: Parts<Y>,
        costs: Costs,
        params: BTreeMap<String, String>,
    ) -> Self {
        let (once, throttling) = Default::default();
        Self { parts, machine, kernel, costs, params, repetitions: 1, once, throttling }
    }

    /// The kernel and its operands, without what times it.
    pub(crate) fn into_parts(self) -> Parts<Y> {
        self.parts
    }

    fn failed(&self, error: DeviceError) -> KernelError {
        KernelError { kernel: self.kernel.to_owned(), reason: error.to_string() }
    }

    fn timed(&self) -> Result<Timed<'_, Y>, DeviceError> {
        let clock = Clock::new(self.machine.device())?;
        let Parts { bound, y, .. } = &self.parts;
        Ok(Timed { machine: self.machine, bound, y, clock })
    }

    /// The result, unless something was written outside it.
    fn read(&mut self) -> Result<Result<Output, KernelError>, DeviceError> {
        let device = self.machine.device();
        enqueue(device, &self.parts.bound.finish)?;
        let (result, seconds) = self.parts.y.read(device)?;
        self.costs.download_s = Some(seconds);
        if self.parts.bound.is_stuck(device)? {
            return Ok(Err(KernelError {
                kernel: self.kernel.to_owned(),
                reason: "timed out waiting for a row dependency, so there is no result".to_owned(),
            }));
        }
        let failed = |reason| KernelError { kernel: self.kernel.to_owned(), reason };
        Ok(result.map_err(failed))
    }

    /// Executes once, after a reset or on a spoilt result.
    fn execute(&mut self) -> Result<(), DeviceError> {
        let mut timed = self.timed()?;
        timed.reset()?;
        timed.spoil()?;
        self.once = Some(timed.time(1)?);
        Ok(())
    }

    /// Samples, retaken while the GPU is throttled.
    fn samples(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Samples, DeviceError> {
        let stop = || watch.is_cancelled();
        let mut timed = self.timed()?;
        let chunk = || sampled(&mut timed, temperature, n, self.once, &stop);
        let reasons = || self.machine.nvml().and_then(Nvml::reasons);
        let mut throttling = self.throttling;
        let samples = throttling.watch(reasons, chunk, &stop)?;
        self.throttling = throttling;
        Ok(samples)
    }

    /// Seconds of the fastest of a few SpMVs; fewer if it is stopped.
    pub(crate) fn trial(&mut self, watch: &Watch<'_>) -> Result<f64, KernelError> {
        let samples = self.samples(TRIAL_SAMPLES, Temperature::Hot, watch);
        let samples = samples.map_err(|error| self.failed(error))?;
        Ok(samples.seconds.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// Measures the overhead of timing a sample, once for all chunks.
    fn time_the_timing(
        &mut self,
        samples: &Samples,
        temperature: Temperature,
    ) -> Result<(), DeviceError> {
        if self.parts.bound.is_in_place() {
            if self.costs.clock_s.is_none() {
                self.costs.clock_s = Some(clock_seconds(self.machine.device())?);
            }
            return Ok(());
        }
        // One interrupted sample does not make an SpMV long.
        let small = samples.seconds.iter().any(|&s| s < SMALL_PRODUCT_S);
        if temperature == Temperature::Hot && self.costs.graph_s.is_none() && small {
            self.time_graph(samples.repetitions)?;
        }
        Ok(())
    }

    /// Times the same SpMVs launched as one graph, and an empty kernel launch: together they show
    /// how much of a small SpMV is launch latency.
    fn time_graph(&mut self, repetitions: u32) -> Result<(), DeviceError> {
        let device = self.machine.device();
        self.costs.launch_s = Some(self.machine.memory()?.launch_seconds(device)?);
        let graph = Graph::record(device, &self.parts.bound.steps, repetitions)?;
        let Some(graph) = graph else { return Ok(()) };
        let clock = Clock::new(device)?;
        clock.time(device, || graph.launch())?;
        let time = || Ok(clock.time(device, || graph.launch())? / f64::from(repetitions));
        self.costs.graph_s = Some(to_picoseconds(median_of_nine(time)?));
        Ok(())
    }
}

/// Seconds that the clock measures for no work.
fn clock_seconds(device: &Device) -> Result<f64, DeviceError> {
    let clock = Clock::new(device)?;
    Ok(to_picoseconds(median_of_nine(|| clock.time(device, || Ok(())))?))
}

fn median_of_nine(time: impl Fn() -> Result<f64, DeviceError>) -> Result<f64, DeviceError> {
    let mut times = [0.0; 9];
    for one in &mut times {
        *one = time()?;
    }
    times.sort_by(f64::total_cmp);
    let [_, _, _, _, median, ..] = times;
    Ok(median)
}

impl<Y: Written> Prepared for PreparedProduct<'_, Y> {
    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| {
            let mut take = || {
                let samples = self.samples(n, temperature, watch)?;
                self.repetitions = self.repetitions.max(samples.repetitions);
                self.time_the_timing(&samples, temperature)?;
                Ok(samples.seconds.into_iter().map(to_picoseconds).collect())
            };
            take().map_err(|error| self.failed(error))
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| self.read().map_err(|error| self.failed(error))?)
    }

    fn output<'t>(&'t mut self, _: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            self.execute().map_err(|error| self.failed(error))?;
            self.last_output().wait().map(Some)
        })
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        None
    }

    fn costs(&self) -> Costs {
        let (retaken, throttled) = (self.throttling.retaken(), self.throttling.throttled());
        Costs { retaken, throttled, ..self.costs.clone() }
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn groups(&self) -> Option<Groups> {
        self.parts.groups
    }

    fn told(&mut self) -> Option<History> {
        let passes = self.parts.passes.as_ref()?.borrow();
        Some(passes.history())
    }
}
