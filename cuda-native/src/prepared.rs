//! A kernel ready to run, on one GPU or several: its results, its times, and a setup that may
//! select it.

use std::collections::BTreeMap;

use sparsescope_core::experiment::{
    Executed, Finished, Groups, KernelError, LastOutput, Metered, Output, PrepareError, Prepared,
    Sampled, SetUp, Temperature, Ticket, Watch,
};
use sparsescope_core::record::{Costs, Distributed, History};

use crate::clock::to_picoseconds;
use crate::device::DeviceError;
use crate::energy::energy;
use crate::machine::Machine;
use crate::nvml::Nvml;
use crate::sampling::{Execution, Samples, sampled};
use crate::throttle::Throttling;

/// Samples per trial.
const TRIAL_SAMPLES: usize = 5;

/// A kernel bound to its operands.
pub(crate) trait Executes: Execution<Error = DeviceError> {
    /// The result of the last execution or what is wrong with it, and the seconds of copying.
    fn read(&mut self) -> Result<(Result<Output, String>, f64), DeviceError>;

    /// Follows each chunk of samples, except in a trial.
    fn follow(
        &mut self,
        samples: &Samples,
        temperature: Temperature,
        costs: &mut Costs,
    ) -> Result<(), DeviceError>;

    /// The groups that the rows form, for kernels that use them.
    fn groups(&self) -> Option<Groups> {
        None
    }

    /// How several GPUs share the work.
    fn distributed(&mut self) -> Option<Distributed> {
        None
    }

    /// The passes of the last execution, for kernels that make passes.
    fn told(&self) -> Option<History> {
        None
    }
}

/// A kernel with its times so far.
pub(crate) struct Kernel<'p, E> {
    id: &'static str,
    pub(crate) execution: E,
    /// Where samples are taken again while the GPU is throttled.
    watched: Option<&'p Machine>,
    pub(crate) costs: Costs,
    pub(crate) params: BTreeMap<String, String>,
    repetitions: u32,
    /// Seconds of the execution that gave the last checked result.
    once: Option<f64>,
    throttling: Throttling,
}

impl<'p, E: Executes> Kernel<'p, E> {
    /// On a GPU whose throttling counts, if given.
    pub(crate) fn new(
        id: &'static str,
        execution: E,
        watched: Option<&'p Machine>,
        costs: Costs,
        params: BTreeMap<String, String>,
    ) -> Self {
        let (once, throttling) = Default::default();
        Self { id, execution, watched, costs, params, repetitions: 1, once, throttling }
    }

    /// To be run without a setup.
    pub(crate) fn prepared(self) -> PreparedKernel<'p, E> {
        PreparedKernel { id: self.id, choose: None, kernel: Some(self) }
    }

    fn failed(&self, reason: impl ToString) -> KernelError {
        KernelError::new(self.id, reason.to_string())
    }

    /// Executes once, after a reset or on a spoilt result.
    pub(crate) fn execute(&mut self) -> Result<(), DeviceError> {
        self.execution.reset()?;
        self.execution.spoil()?;
        self.once = Some(self.execution.time(1)?);
        Ok(())
    }

    /// The result of one execution.
    pub(crate) fn output(&mut self) -> Result<Output, KernelError> {
        self.execute().map_err(|error| self.failed(error))?;
        self.last_output()
    }

    /// The result of the last execution, unless something was written outside it.
    fn last_output(&mut self) -> Result<Output, KernelError> {
        let (result, seconds) = self.execution.read().map_err(|error| self.failed(error))?;
        self.costs.download_s = Some(seconds);
        result.map_err(|reason| self.failed(reason))
    }

    /// Samples, retaken while the GPU is throttled.
    fn retaken(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Samples, DeviceError> {
        let (watched, once) = (self.watched, self.once);
        let Self { execution, throttling, .. } = self;
        let stop = || watch.is_cancelled();
        let chunk = || sampled(execution, temperature, n, once, &stop);
        let reasons = || watched.and_then(Machine::nvml).and_then(Nvml::reasons);
        throttling.watch(reasons, chunk, &stop)
    }

    /// Seconds per execution of each sample; fewer if it is stopped.
    pub(crate) fn sample(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Vec<f64>, KernelError> {
        let samples = self.retaken(n, temperature, watch).map_err(|error| self.failed(error))?;
        self.repetitions = self.repetitions.max(samples.repetitions);
        let followed = self.execution.follow(&samples, temperature, &mut self.costs);
        followed.map_err(|error| self.failed(error))?;
        Ok(samples.seconds.into_iter().map(to_picoseconds).collect())
    }

    /// Seconds of the fastest of a few executions; fewer if it is stopped.
    pub(crate) fn trial(&mut self, watch: &Watch<'_>) -> Result<f64, KernelError> {
        let samples = self.retaken(TRIAL_SAMPLES, Temperature::Hot, watch);
        let samples = samples.map_err(|error| self.failed(error))?;
        Ok(samples.seconds.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// Its costs so far.
    pub(crate) fn costs(&self) -> Costs {
        let (retaken, throttled) = (self.throttling.retaken(), self.throttling.throttled());
        Costs { retaken, throttled, ..self.costs.clone() }
    }
}

/// Selects a kernel and binds it; `None` when cancelled.
type Choose<'p, E> = dyn Fn(&Watch<'_>) -> Result<Option<Kernel<'p, E>>, PrepareError> + 'p;

/// A kernel for the runner, bound already or selected by its setup.
pub(crate) struct PreparedKernel<'p, E> {
    id: &'static str,
    choose: Option<Box<Choose<'p, E>>>,
    kernel: Option<Kernel<'p, E>>,
}

impl<'p, E: Executes> PreparedKernel<'p, E> {
    /// A kernel that its setup selects.
    pub(crate) fn chosen_by(id: &'static str, choose: Box<Choose<'p, E>>) -> Self {
        Self { id, choose: Some(choose), kernel: None }
    }

    fn kernel(&mut self) -> Result<&mut Kernel<'p, E>, KernelError> {
        let id = self.id;
        let unset = || KernelError::new(id, "it was not set up, so no kernel was chosen");
        self.kernel.as_mut().ok_or_else(unset)
    }
}

impl<E: Executes> Prepared for PreparedKernel<'_, E> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::at_once(|| {
            if let Some(choose) = &self.choose {
                self.kernel = choose(watch)?;
            }
            Ok(if self.kernel.is_some() { Finished::Done } else { Finished::Cancelled })
        })
    }

    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::at_once(|| self.kernel()?.sample(n, temperature, watch))
    }

    fn output<'t>(&'t mut self, _: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| self.kernel()?.output().map(Some))
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::at_once(|| self.kernel()?.last_output())
    }

    fn energy<'t>(&'t mut self, temperature: Temperature, watch: &'t Watch<'_>) -> Metered<'t> {
        Ticket::at_once(|| {
            let kernel = self.kernel().map_err(|error| error.to_string())?;
            energy(kernel.watched, &mut kernel.execution, temperature, watch)
        })
    }

    fn once(&self) -> Option<f64> {
        self.kernel.as_ref()?.once
    }

    fn groups(&self) -> Option<Groups> {
        self.kernel.as_ref()?.execution.groups()
    }

    fn repetitions(&self) -> u32 {
        self.kernel.as_ref().map_or(1, |kernel| kernel.repetitions)
    }

    fn costs(&self) -> Costs {
        self.kernel.as_ref().map(Kernel::costs).unwrap_or_default()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.kernel.as_ref().map(|kernel| kernel.params.clone()).unwrap_or_default()
    }

    fn distributed(&mut self) -> Option<Distributed> {
        self.kernel.as_mut()?.execution.distributed()
    }

    fn told(&mut self) -> Option<History> {
        self.kernel.as_ref()?.execution.told()
    }
}

#[cfg(test)]
mod tests;
