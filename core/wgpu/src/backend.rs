//! The backend: prepares kernels on one device, which it opens itself and reopens once if it is lost.

#[cfg(not(target_family = "wasm"))]
use sparsescope_core::experiment::Ticket;
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, Interruptions, PrepareError, Prepared, Problem,
    SpmvProblem,
};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Gpu;
#[cfg(not(target_family = "wasm"))]
use sparsescope_core::record::GpuAbsence;

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
}

impl Backend for WgpuBackend {
    fn model(&self) -> &str {
        &self.model
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        let Some(launcher) = launcher(kernel.id) else {
            return Availability::Missing(match kernel.device {
                DeviceKind::Wgpu => "not included in this build".to_owned(),
                _ => "does not run on wgpu".to_owned(),
            });
        };
        let device = &self.adapter.at_present().device;
        match launcher.family.needs_subgroups() && !device.has_subgroups {
            true => {
                let name = device.info.name.clone();
                Availability::Missing(DeviceError::NoSubgroups(name).to_string())
            }
            false => Availability::Available,
        }
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
        problem.admit(configuration)?;
        if let Availability::Missing(reason) = self.availability(configuration.kernel) {
            return Err(PrepareError::Unsupported(reason));
        }
        let launcher = launcher(configuration.kernel.id);
        let (Some(launcher), Some(problem)) = (launcher, problem.of::<SpmvProblem>()) else {
            return Err(DeviceError::Absent.into());
        };
        let side = problem.single(memory)?;
        let converted = side.format(SpmvProblem::spec(configuration), memory);
        let converted = converted.map_err(|error| PrepareError::Refused(error.to_string()))?;
        let (made, products, costs, params, once) = Default::default();
        let configuration = configuration.clone();
        Ok(Box::new(PreparedProduct {
            adapter: &self.adapter,
            launcher,
            configuration,
            side,
            converted,
            made,
            products,
            costs,
            params,
            once,
        }))
    }
}
