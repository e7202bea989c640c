//! A kernel ready to run: its result, checked for writes beside it, and its times.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsescope_core::experiment::{KernelError, Output, Prepared, Temperature, Watch};
use sparsescope_core::record::Costs;

use crate::buffer::Buffer;
use crate::clock::{Clock, to_picoseconds};
use crate::device::{Device, DeviceError};
use crate::launch::{Graph, Step, enqueue};
use crate::machine::Machine;
use crate::spmv::Bound;
use crate::upload::{Uploaded, UploadedVector};

/// Elements before and after y that no kernel may touch.
const GUARD: usize = 64;

/// What a guard holds: a NaN that no arithmetic gives.
const GUARD_BITS: u64 = 0x7ff8_dead_beef_cafe;

/// A result vector between guards.
pub(crate) struct GuardedVector {
    with_guards: Buffer<f64>,
    elements: Buffer<f64>,
}

impl GuardedVector {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let host = vec![f64::from_bits(GUARD_BITS); len + 2 * GUARD];
        let with_guards = Buffer::of(device, "the vector y", &host)?;
        let elements = with_guards.part(GUARD..GUARD + len);
        let elements = elements.expect("the elements lie between the guards"); // invariant
        Ok(Self { with_guards, elements })
    }

    /// The elements without the guards.
    pub(crate) fn elements(&self) -> &Buffer<f64> {
        &self.elements
    }

    /// Fills the elements, not the guards, with NaN: all bits set.
    fn fill_with_nan(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &[Step::fill(&self.elements, 0xff)])
    }

    /// The elements, and whether the guards are as they were.
    fn read(&self, device: &Device) -> Result<(Vec<f64>, bool), DeviceError> {
        let mut host = self.with_guards.read(device)?;
        let intact = |guard: &[f64]| guard.iter().all(|v| v.to_bits() == GUARD_BITS);
        let after = host.split_off(GUARD + self.elements.len());
        let elements = host.split_off(GUARD);
        Ok((elements, intact(&host) && intact(&after)))
    }
}

/// A product on a device.
pub(crate) struct Parts {
    pub(crate) bound: Bound,
    pub(crate) y: GuardedVector,
    /// Held so that other kernels find them.
    pub(crate) _x: Arc<UploadedVector>,
    pub(crate) _matrix: Arc<Uploaded>,
}

/// Hot samples shorter than this are measured over several products: events are exact to half a
/// microsecond.
const SHORTEST_SAMPLE_S: f64 = 500e-6;

/// Most products behind one sample.
const MOST_REPETITIONS: f64 = 1000.0;

/// Products shorter than this are timed as a graph too: the launch takes a good part of them.
const SMALL_PRODUCT_S: f64 = 50e-6;

pub(crate) struct PreparedProduct<'p> {
    parts: Parts,
    machine: &'p Machine,
    kernel: &'static str,
    costs: Costs,
    params: BTreeMap<String, String>,
    repetitions: u32,
}

impl<'p> PreparedProduct<'p> {
    pub(crate) fn new(
        machine: &'p Machine,
        kernel: &'static str,
        parts: Parts,
        costs: Costs,
        params: BTreeMap<String, String>,
    ) -> Self {
        Self { parts, machine, kernel, costs, params, repetitions: 1 }
    }

    fn failed(&self, error: DeviceError) -> KernelError {
        KernelError { kernel: self.kernel.to_owned(), reason: error.to_string() }
    }

    /// The result, unless something was written beside it.
    fn read(&self) -> Result<Result<Output, KernelError>, DeviceError> {
        let (y, untouched) = self.parts.y.read(self.machine.device())?;
        Ok(match untouched {
            true => Ok(Output::Vector(y)),
            false => Err(KernelError {
                kernel: self.kernel.to_owned(),
                reason: "it wrote beside its result".to_owned(),
            }),
        })
    }

    fn enqueue(&self) -> Result<(), DeviceError> {
        enqueue(self.machine.device(), &self.parts.bound.steps)
    }

    fn sample_hot(&mut self, n: usize) -> Result<Vec<f64>, DeviceError> {
        let device = self.machine.device();
        let clock = Clock::new(device)?;
        // Untimed first: it may have to load the kernel.
        self.enqueue()?;
        let once = clock.time(device, || self.enqueue())?.max(1e-7);
        let repetitions = (SHORTEST_SAMPLE_S / once).ceil().clamp(1.0, MOST_REPETITIONS) as u32;
        let sample = || {
            let time = clock.time(device, || (0..repetitions).try_for_each(|_| self.enqueue()))?;
            Ok(to_picoseconds(time / f64::from(repetitions)))
        };
        let samples: Result<Vec<f64>, DeviceError> =
            std::iter::repeat_with(sample).take(n).collect();
        let samples = samples?;
        self.repetitions = self.repetitions.max(repetitions);
        if self.costs.graph_s.is_none() && samples.iter().all(|&s| s < SMALL_PRODUCT_S) {
            self.time_graph(&clock, repetitions)?;
        }
        Ok(samples)
    }

    /// The same products launched as one graph, and a launch of nothing: together they tell how
    /// much of a small product is launching.
    fn time_graph(&mut self, clock: &Clock, repetitions: u32) -> Result<(), DeviceError> {
        let device = self.machine.device();
        self.costs.launch_s = Some(self.machine.memory()?.launch_seconds(device)?);
        let graph = Graph::record(device, &self.parts.bound.steps, repetitions)?;
        let Some(graph) = graph else { return Ok(()) };
        clock.time(device, || graph.launch())?;
        let mut times = Vec::new();
        for _ in 0..9 {
            times.push(clock.time(device, || graph.launch())? / f64::from(repetitions));
        }
        times.sort_by(f64::total_cmp);
        self.costs.graph_s = times.get(times.len() / 2).copied().map(to_picoseconds);
        Ok(())
    }

    fn sample_cold(&mut self, n: usize) -> Result<Vec<f64>, DeviceError> {
        let device = self.machine.device();
        let memory = self.machine.memory()?;
        let clock = Clock::new(device)?;
        // Loads the kernel, which the first launch does.
        self.enqueue()?;
        let sample = || {
            memory.flush(device)?;
            clock.time(device, || self.enqueue()).map(to_picoseconds)
        };
        std::iter::repeat_with(sample).take(n).collect()
    }
}

impl Prepared for PreparedProduct<'_> {
    fn sample(
        &mut self,
        n: usize,
        temperature: Temperature,
        _: &Watch<'_>,
    ) -> Result<Vec<f64>, KernelError> {
        let samples = match temperature {
            Temperature::Hot => self.sample_hot(n),
            Temperature::Cold => self.sample_cold(n),
        };
        samples.map_err(|error| self.failed(error))
    }

    fn last_output(&mut self) -> Result<Output, KernelError> {
        self.read().map_err(|error| self.failed(error))?
    }

    fn output(&mut self, _: &Watch<'_>) -> Result<Option<Output>, KernelError> {
        let device = self.machine.device();
        let run = || {
            self.parts.y.fill_with_nan(device)?;
            self.enqueue()
        };
        run().map_err(|error| self.failed(error))?;
        self.last_output().map(Some)
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        None
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}
