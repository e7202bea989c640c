//! A kernel on one GPU: its executions, timed by the GPU's clock, and the overhead of timing them.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use sparsescope_core::experiment::{Groups, Output, PrepareError, Temperature};
use sparsescope_core::record::{Costs, History};

use crate::clock::{Clock, to_picoseconds};
use crate::device::DeviceError;
use crate::guarded::Written;
use crate::launch::{Bound, Graph, enqueue};
use crate::machine::Machine;
use crate::prepared::{Executes, Kernel};
use crate::refusal::refused;
use crate::sampling::{Execution, Samples};
use crate::symgs::Passes;

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

/// A kernel with its GPU, and the clock that times it.
pub(crate) struct OneGpu<'p, Y> {
    machine: &'p Machine,
    parts: Parts<Y>,
    clock: Clock,
}

impl<'p, Y: Written> OneGpu<'p, Y> {
    /// A kernel bound on the machine's GPU.
    pub(crate) fn kernel(
        machine: &'p Machine,
        id: &'static str,
        parts: Parts<Y>,
        costs: Costs,
        params: BTreeMap<String, String>,
    ) -> Result<Kernel<'p, Self>, PrepareError> {
        let clock = Clock::new(machine.device()).map_err(refused)?;
        let execution = Self { machine, parts, clock };
        Ok(Kernel::new(id, execution, Some(machine), costs, params))
    }

    /// Times the same SpMVs launched as one graph, and an empty kernel launch: together they show
    /// how much of a small SpMV is launch latency.
    fn time_graph(&self, repetitions: u32, costs: &mut Costs) -> Result<(), DeviceError> {
        let device = self.machine.device();
        costs.launch_s = Some(self.machine.memory()?.launch_seconds(device)?);
        let graph = Graph::record(device, &self.parts.bound.steps, repetitions)?;
        let Some(graph) = graph else { return Ok(()) };
        self.clock.time(device, || graph.launch())?;
        let time = || Ok(self.clock.time(device, || graph.launch())? / f64::from(repetitions));
        costs.graph_s = Some(to_picoseconds(median_of_nine(time)?));
        Ok(())
    }
}

impl<Y> Kernel<'_, OneGpu<'_, Y>> {
    /// The kernel and its operands, without what times it.
    pub(crate) fn into_parts(self) -> Parts<Y> {
        self.execution.parts
    }
}

impl<Y: Written> Execution for OneGpu<'_, Y> {
    type Error = DeviceError;

    fn is_in_place(&self) -> bool {
        self.parts.bound.is_in_place()
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        enqueue(self.machine.device(), &self.parts.bound.reset)
    }

    fn spoil(&mut self) -> Result<(), DeviceError> {
        match self.is_in_place() {
            true => Ok(()),
            false => self.parts.y.spoil(self.machine.device()),
        }
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        self.machine.memory()?.flush(self.machine.device())
    }

    fn time(&mut self, executions: u32) -> Result<f64, DeviceError> {
        let (device, bound) = (self.machine.device(), &self.parts.bound);
        let times = u64::from(executions) * u64::from(bound.times);
        self.clock.time(device, || (0..times).try_for_each(|_| enqueue(device, &bound.steps)))
    }

    /// Waits only for the last execution, in place too, so that the GPU is never idle between two.
    fn repeat(&mut self, executions: u32) -> Result<(), DeviceError> {
        let (device, bound) = (self.machine.device(), &self.parts.bound);
        let once = || {
            enqueue(device, &bound.reset)?;
            (0..bound.times).try_for_each(|_| enqueue(device, &bound.steps))
        };
        self.clock.time(device, || (0..executions).try_for_each(|_| once())).map(|_| ())
    }
}

impl<Y: Written> Executes for OneGpu<'_, Y> {
    fn read(&mut self) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (device, Parts { bound, y, .. }) = (self.machine.device(), &self.parts);
        enqueue(device, &bound.finish)?;
        let (result, seconds) = y.read(device)?;
        if bound.is_stuck(device)? {
            let reason = "timed out waiting for a row dependency, so there is no result";
            return Ok((Err(reason.to_owned()), seconds));
        }
        Ok((result, seconds))
    }

    /// Measures the overhead of timing a sample, once for all chunks.
    fn follow(
        &mut self,
        samples: &Samples,
        temperature: Temperature,
        costs: &mut Costs,
    ) -> Result<(), DeviceError> {
        if self.is_in_place() {
            if costs.clock_s.is_none() {
                // What the clock measures for no work.
                let no_work = || self.clock.time(self.machine.device(), || Ok(()));
                costs.clock_s = Some(to_picoseconds(median_of_nine(no_work)?));
            }
            return Ok(());
        }
        // One interrupted sample does not make an SpMV long.
        let small = samples.seconds.iter().any(|&s| s < SMALL_PRODUCT_S);
        if temperature == Temperature::Hot && costs.graph_s.is_none() && small {
            self.time_graph(samples.repetitions, costs)?;
        }
        Ok(())
    }

    fn groups(&self) -> Option<Groups> {
        self.parts.groups
    }

    fn told(&self) -> Option<History> {
        let passes = self.parts.passes.as_ref()?.borrow();
        Some(passes.history())
    }
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
