//! The backend: makes kernels ready on one device, which it opens itself and, once, anew.

#[cfg(not(target_family = "wasm"))]
use sparsescope_core::experiment::Ticket;
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, PrepareError, Prepared, Problem, SpmvProblem,
};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::memory::MemoryLimit;
#[cfg(not(target_family = "wasm"))]
use sparsescope_core::record::{Gpu, GpuAbsence};

use crate::error::DeviceError;
use crate::launchers::launcher;
use crate::machine::Adapter;
#[cfg(not(target_family = "wasm"))]
use crate::memory;
use crate::names;
use crate::options::Options;
use crate::prepared::PreparedProduct;
#[cfg(not(target_family = "wasm"))]
use crate::record;

/// The kernels of this crate on one device.
pub struct WgpuBackend {
    model: String,
    adapter: Adapter,
}

impl WgpuBackend {
    /// Opens the device with this number, from 0, or says why it cannot.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(ordinal: usize, options: Options) -> Result<Self, GpuAbsence> {
        let adapter = crate::native::adapter(ordinal)?;
        let opened = Ticket::later(Self::of(adapter, options)).wait();
        opened.map_err(|error| GpuAbsence::AdapterFailed(error.to_string()))
    }

    /// The same on an adapter.
    async fn of(adapter: wgpu::Adapter, options: Options) -> Result<Self, DeviceError> {
        let model = names::model(&adapter.get_info());
        Ok(Self { model, adapter: Adapter::open(adapter, options).await? })
    }

    /// Whether a processor plays the device.
    pub fn is_software(&self) -> bool {
        names::is_software(&self.adapter.raw.get_info())
    }

    /// Ends the device, as its driver may at any time.
    #[doc(hidden)]
    pub fn lose_device(&self) {
        self.adapter.lose_device();
    }

    /// The device as a bundle records it, measured.
    #[cfg(not(target_family = "wasm"))]
    async fn described(&self) -> Result<Gpu, DeviceError> {
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
                DeviceKind::Wgpu => "this build does not have it".to_owned(),
                _ => "it does not run through wgpu".to_owned(),
            });
        };
        let has_subgroups = self.adapter.raw.features().contains(wgpu::Features::SUBGROUP);
        match launcher.family.needs_subgroups() && !has_subgroups {
            true => {
                let name = self.adapter.raw.get_info().name;
                Availability::Missing(DeviceError::NoSubgroups(name).to_string())
            }
            false => Availability::Available,
        }
    }

    #[cfg(not(target_family = "wasm"))]
    fn describe(&self) -> Option<Gpu> {
        Some(Ticket::later(self.described()).wait().unwrap_or_else(|error| {
            let details = [("state".to_owned(), error.to_string())].into();
            Gpu { model: self.model.clone(), details, copy: None }
        }))
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.admit(configuration)?;
        if let Availability::Missing(reason) = self.availability(configuration.kernel) {
            return Err(PrepareError::Unsupported(reason));
        }
        let (Some(launcher), Some(problem)) = (launcher(configuration.kernel.id), problem.spmv())
        else {
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
