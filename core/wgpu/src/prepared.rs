//! A kernel ready to run: its setup, its result, checked for writes outside of it, and its times.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsescope_core::experiment::{
    Configuration, Converted, Executed, Finished, Interruptions, KernelError, LastOutput, Output,
    Prepared, Sampled, SetUp, SpmvProblem, SpmvSide, Temperature, Ticket, Watch,
};
use sparsescope_core::record::Costs;
use web_time::Instant;

use crate::clock::Clock;
use crate::device::Device;
use crate::error::DeviceError;
use crate::grid::Launch;
use crate::launchers::{Bound, Launcher, Operands};
use crate::machine::{Adapter, Machine};
use crate::names::is_software;
use crate::operands::{GuardedVector, Matrix, Vector};
use crate::sampling::{Timed, calibrate, samples, to_picoseconds};

/// Products that take longer, in seconds, are not repeated: systems kill work that occupies a GPU for seconds.
const LONGEST_PRODUCT_S: f64 = 1.0;

/// The same where the GPU is emulated on a CPU; there the first product of a kernel includes its compilation.
const LONGEST_IN_SOFTWARE_S: f64 = 8.0;

/// Default invocations per workgroup, the minimum and the maximum.
const USUAL_BLOCK: u32 = 128;
const LEAST_BLOCK: u32 = 32;
const MOST_BLOCK: u32 = 256;

/// y = A·x or Y = A·X on a device, to be set up.
pub(crate) struct PreparedProduct<'p> {
    pub(crate) adapter: &'p Adapter,
    pub(crate) launcher: &'static Launcher,
    pub(crate) configuration: Configuration,
    pub(crate) side: Arc<SpmvSide<f32>>,
    /// x, or X by rows.
    pub(crate) x: Arc<Vec<f32>>,
    /// Columns of X; 1 in SpMV.
    pub(crate) columns: u32,
    pub(crate) converted: Converted<f32>,
    pub(crate) made: Option<Made>,
    /// Products per sample, once determined.
    pub(crate) products: Option<u32>,
    pub(crate) costs: Costs,
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) once: Option<f64>,
}

/// Result of the setup.
pub(crate) struct Made {
    machine: Arc<Machine>,
    clock: Arc<Clock>,
    bound: Bound,
    y: GuardedVector,
    /// Held so that other kernels find them.
    _operands: (Arc<Matrix>, Arc<Vector>),
}

/// Products to time, preceded by the launches of `before`.
struct Products<'a> {
    interruptions: &'a Interruptions,
    device: &'a Device,
    clock: &'a Clock,
    y: &'a GuardedVector,
    before: &'a [Launch],
    launches: &'a [Launch],
}

impl Timed for Products<'_> {
    type Error = DeviceError;

    fn resolution_s(&self) -> f64 {
        self.clock.resolution_s
    }

    async fn time(&mut self, products: u32) -> Result<Option<f64>, DeviceError> {
        self.clock.time(self.device, self.before, self.launches, products).await
    }

    async fn spoil(&mut self) -> Result<(), DeviceError> {
        self.y.enqueue_spoil(self.device);
        // Otherwise the wall clock would count it in the first sample.
        self.device.finish(None).await
    }

    fn interruptions(&self) -> u32 {
        self.interruptions.count()
    }

    fn no_time(&self, tries: u32) -> DeviceError {
        DeviceError::NoTime(tries)
    }
}

impl Made {
    fn products<'a>(
        &'a self,
        before: &'a [Launch],
        interruptions: &'a Interruptions,
    ) -> Products<'a> {
        let (device, launches) = (&self.machine.device, &self.bound.launches);
        Products { interruptions, device, clock: &self.clock, y: &self.y, before, launches }
    }

    /// Executes once, on a result filled with NaN.
    async fn execute(&self) -> Result<(), DeviceError> {
        let device = &self.machine.device;
        self.y.spoil(device).await?;
        let mut encoder = device.encoder();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            self.bound.launches.iter().for_each(|launch| launch.record(&mut pass));
        }
        device.finish(Some(encoder.finish())).await
    }
}

impl PreparedProduct<'_> {
    fn failed(&self, error: DeviceError) -> KernelError {
        KernelError::new(self.launcher.id, error.to_string())
    }

    /// Invocations per workgroup, if the device supports that many.
    fn block(&self, device: &Device) -> Result<u32, DeviceError> {
        let found = self.configuration.block.unwrap_or(USUAL_BLOCK);
        let limits = device.raw.limits();
        let most = limits.max_compute_invocations_per_workgroup;
        let most = most.min(limits.max_compute_workgroup_size_x).min(MOST_BLOCK);
        match found.is_multiple_of(LEAST_BLOCK) && (LEAST_BLOCK..=most).contains(&found) {
            true => Ok(found),
            false => Err(DeviceError::Block { found, most }),
        }
    }

    /// Uploads everything, and executes once.
    async fn make(&mut self) -> Result<Made, DeviceError> {
        let machine = self.adapter.machine().await?;
        let device = &machine.device;
        let block = self.block(device)?;
        let (a, columns) = (self.side.a(), self.columns as usize);
        let spec = SpmvProblem::spec(&self.configuration);
        let matrix = machine.uploads.matrix(device, a, spec, &self.converted).await?;
        let x = machine.uploads.x(device, &self.x).await?;
        let y = GuardedVector::new(device, columns * a.rows()).await?;
        let start = Instant::now();
        let operands = Operands {
            host: &self.converted.matrix,
            arrays: &matrix.arrays.all,
            x: &x.elements,
            columns: self.columns,
            y: &y.with_guards,
            block,
        };
        let bound = self.launcher.bind(device, &operands).await?;
        let planned_s = start.elapsed().as_secs_f64();
        let clock = machine.clock().await?;
        let workspace_bytes: u64 = bound.workspace.iter().map(|array| array.bytes).sum();
        let workspace_s: f64 = bound.workspace.iter().map(|array| array.spent.allocate_s).sum();
        let spent = matrix.arrays.spent() + x.elements.spent;
        let entry = 2 * size_of::<u32>() as u64;
        let skipped = match self.configuration.kernel.needs.finite_x {
            true => 0,
            false => entry * matrix.arrays.padding,
        };
        self.costs = Costs {
            conversion_s: self.converted.seconds,
            plan_s: (planned_s - workspace_s).max(0.0),
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s + y.with_guards.spent.allocate_s + workspace_s),
            format_bytes: matrix.arrays.bytes() + workspace_bytes,
            minimal_bytes: matrix.arrays.bytes() - skipped
                + 4 * (columns * (a.rows() + a.cols())) as u64,
            ..Costs::default()
        };
        let made = Made { machine: Arc::clone(&machine), clock, bound, y, _operands: (matrix, x) };
        let start = Instant::now();
        made.execute().await?;
        let seconds = start.elapsed().as_secs_f64();
        let longest_s = match is_software(&device.info) {
            true => LONGEST_IN_SOFTWARE_S,
            false => LONGEST_PRODUCT_S,
        };
        if seconds > longest_s {
            return Err(DeviceError::Slow(seconds));
        }
        self.params.extend(spec.in_force(&self.converted.matrix));
        let mut tell = |name: &str, value: String| self.params.insert(name.to_owned(), value);
        tell("clock", made.clock.name());
        tell("checks", if device.options.checks { "on" } else { "off" }.to_owned());
        if let Some(seen) = &made.bound.seen {
            let (sizes, _) = seen.read::<u32>(device).await?;
            if let Some(size) = sizes.first().filter(|size| **size > 0) {
                tell("subgroup_size", size.to_string());
            }
        }
        Ok(made)
    }

    fn made(&self) -> Result<&Made, DeviceError> {
        self.made.as_ref().ok_or(DeviceError::NotSetUp)
    }

    /// The result of the last execution.
    async fn read(&mut self) -> Result<Output, DeviceError> {
        let made = self.made()?;
        let (result, seconds) = made.y.read(&made.machine.device).await?;
        self.costs.download_s = Some(seconds);
        result.map_err(|reason| DeviceError::Internal { what: "its result".to_owned(), reason })
    }

    async fn samples(
        &mut self,
        n: usize,
        temperature: Temperature,
        watch: &Watch<'_>,
    ) -> Result<Vec<f64>, DeviceError> {
        let stop = || watch.is_cancelled();
        let interruptions = &self.adapter.interruptions;
        let made = self.made()?;
        if made.bound.launches.is_empty() {
            // A product without rows has nothing to do: it takes less than the clock can measure.
            return Ok(vec![made.clock.resolution_s; n]);
        }
        match temperature {
            Temperature::Hot => {
                let mut timed = made.products(&[], interruptions);
                let products = match self.products {
                    Some(products) => products,
                    None => calibrate(&mut timed).await?,
                };
                let taken = samples(&mut timed, n, products, &stop).await?;
                self.products = Some(products);
                Ok(taken)
            }
            Temperature::Cold => {
                let flusher = made.machine.flusher().await?;
                let taken =
                    samples(&mut made.products(&flusher, interruptions), n, 1, &stop).await?;
                let resolution_s = made.clock.resolution_s;
                match taken.iter().any(|&seconds| seconds < 20.0 * resolution_s) {
                    true => Err(DeviceError::TooShortCold(resolution_s)),
                    false => Ok(taken),
                }
            }
        }
    }
}

impl Prepared for PreparedProduct<'_> {
    fn set_up<'t>(&'t mut self, _: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::later(async {
            self.made = Some(self.make().await?);
            Ok(Finished::Done)
        })
    }

    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t> {
        Ticket::later(async move {
            let taken = self.samples(n, temperature, watch).await;
            taken.map_err(|error| self.failed(error))
        })
    }

    fn output<'t>(&'t mut self, _: &'t Watch<'_>) -> Executed<'t> {
        Ticket::later(async {
            let start = Instant::now();
            let executed = match self.made() {
                Ok(made) => made.execute().await,
                Err(error) => Err(error),
            };
            executed.map_err(|error| self.failed(error))?;
            self.once = Some(to_picoseconds(start.elapsed().as_secs_f64()));
            self.read().await.map(Some).map_err(|error| self.failed(error))
        })
    }

    fn last_output(&mut self) -> LastOutput<'_> {
        Ticket::later(async { self.read().await.map_err(|error| self.failed(error)) })
    }

    fn once(&self) -> Option<f64> {
        self.once
    }

    fn repetitions(&self) -> u32 {
        match self.configuration.temperature {
            Temperature::Hot => self.products.unwrap_or(1),
            Temperature::Cold => 1,
        }
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}
