//! The backend: prepares kernels on one device, which it opens itself and reopens once if it is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(not(target_family = "wasm"))]
use sparsescope_core::experiment::Ticket;
use sparsescope_core::experiment::{
    Availability, Backend, Binding, Binds, Configuration, Interruptions, PrepareError, Prepared,
    Problem, SpmmProblem, SpmvProblem, SpmvSide,
};
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::memory::MemoryLimit;
#[cfg(not(target_family = "wasm"))]
use sparsescope_core::record::GpuAbsence;
use sparsescope_core::record::{Gpu, Operation};

use crate::error::DeviceError;
use crate::launchers::launcher;
use crate::machine::Adapter;
use crate::memory;
use crate::names;
use crate::options::Options;
#[cfg(target_family = "wasm")]
use crate::page::Teller;
use crate::prepared::PreparedProduct;
use crate::record;
use crate::source::Source;

/// The kernels of this crate on one device.
pub struct WgpuBackend {
    model: String,
    adapter: Adapter,
}

impl WgpuBackend {
    /// Opens the device with this number, from 0; fails with the reason.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(ordinal: usize, options: Options) -> Result<Self, GpuAbsence> {
        let source = Source(crate::native::adapter(ordinal)?);
        let opened = Ticket::later(Self::of(source, options, Interruptions::default())).wait();
        opened.map_err(|error| GpuAbsence::AdapterFailed(error.to_string()))
    }

    /// Opens the browser's device; `page` provides what wgpu does not report about it. Samples during which
    /// `interruptions` records one are taken again. The browser checks every index.
    ///
    /// # Errors
    /// The reason why there is no device, in words.
    #[cfg(target_family = "wasm")]
    pub async fn open_in_page(page: Teller, interruptions: Interruptions) -> Result<Self, String> {
        let options = Options { checks: true, ..Options::default() };
        let opened = Self::of(Source(page), options, interruptions).await;
        opened.map_err(|error| error.to_string())
    }

    async fn of(
        source: Source,
        options: Options,
        interruptions: Interruptions,
    ) -> Result<Self, DeviceError> {
        let adapter = Adapter::open(source, options, interruptions).await?;
        Ok(Self { model: names::model(&adapter.at_present().device.info), adapter })
    }

    /// Whether the device is emulated on a CPU.
    pub fn is_software(&self) -> bool {
        names::is_software(&self.adapter.at_present().device.info)
    }

    /// Destroys the device, as its driver may at any time.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.adapter.lose_device();
    }

    /// The device as a bundle records it, with its measured bandwidth.
    pub async fn described(&self) -> Gpu {
        self.measured().await.unwrap_or_else(|error| {
            let details = [("state".to_owned(), error.to_string())].into();
            Gpu { model: self.model.clone(), details, copy: None }
        })
    }

    async fn measured(&self) -> Result<Gpu, DeviceError> {
        let machine = self.adapter.machine().await?;
        let clock = machine.clock().await;
        let copy = match &clock {
            Ok(clock) => memory::copy_bandwidth(&machine.device, clock).await,
            Err(error) => Err(error.clone()),
        };
        Ok(record::gpu(&machine.device, clock.as_deref(), &copy))
    }

    /// Whether the device can run one of this crate's kernels.
    fn supports(&self, kernel: &KernelDescriptor) -> Availability {
        let Some(launcher) = launcher(kernel.id) else { return Availability::built(false) };
        let device = &self.adapter.at_present().device;
        match launcher.family.needs_subgroups() && !device.has_subgroups {
            true => {
                let name = device.info.name.clone();
                Availability::Missing(DeviceError::NoSubgroups(name).to_string())
            }
            false => Availability::Available,
        }
    }

    /// Prepares a product with X of k columns; `params` describes it besides the format.
    fn prepared(
        &self,
        configuration: &Configuration,
        side: Arc<SpmvSide<f32>>,
        (columns, x): (u32, Arc<Vec<f32>>),
        params: BTreeMap<String, String>,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + '_>, PrepareError> {
        if let Availability::Missing(reason) = self.supports(configuration.kernel) {
            return Err(PrepareError::Unsupported(reason));
        }
        let launcher = launcher(configuration.kernel.id).ok_or(DeviceError::Absent)?;
        let converted = side.format(SpmvProblem::spec(configuration), memory);
        let converted = converted.map_err(|error| PrepareError::Refused(error.to_string()))?;
        let (made, products, costs, once) = Default::default();
        let configuration = configuration.clone();
        Ok(Box::new(PreparedProduct {
            adapter: &self.adapter,
            launcher,
            configuration,
            side,
            x,
            columns,
            converted,
            made,
            products,
            costs,
            params,
            once,
        }))
    }
}

/// The operations that run on the device.
const OPERATIONS: &[Binding<WgpuBackend>] =
    &[Binding::of::<SpmvProblem>(Operation::Spmv), Binding::of::<SpmmProblem>(Operation::Spmm)];

impl Backend for WgpuBackend {
    fn model(&self) -> &str {
        &self.model
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        if kernel.device != DeviceKind::Wgpu {
            return Availability::Missing("does not run on wgpu".to_owned());
        }
        Binding::availability(OPERATIONS, self, kernel)
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(&self) -> Option<Gpu> {
        Some(Ticket::later(self.described()).wait())
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Binding::prepare(OPERATIONS, self, configuration, problem, memory)
    }
}

impl Binds<SpmvProblem> for WgpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        self.supports(kernel)
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmvProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let side = problem.single(memory)?;
        let x = Arc::clone(side.x());
        self.prepared(configuration, side, (1, x), BTreeMap::new(), memory)
    }
}

impl Binds<SpmmProblem> for WgpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        self.supports(kernel)
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmmProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.check_blocks(configuration, memory)?;
        let k = SpmmProblem::vectors(configuration);
        let (side, x) = (problem.single(memory)?, problem.single_block(k)?);
        let params = [(VECTORS.id().name().to_owned(), k.to_string())].into();
        self.prepared(configuration, side, (k as u32, x), params, memory)
    }
}
