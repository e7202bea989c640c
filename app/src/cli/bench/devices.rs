//! The devices that a bench runs on.

use anyhow::bail;
use sparsescope_core::experiment::{Backend, Configuration};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Mapping, is_user_id};
use sparsescope_core::libraries::{KernelLibrary, WithLibraries};
use sparsescope_core::record::{Environment, GpuAbsence};

use super::user::AbsentGpu;
use crate::cli::adapter;
use crate::cli::bench_args::BenchArgs;
use crate::cli::gpu::{self, Gpu};

/// The devices that kernels need besides the CPU.
pub(super) struct Devices {
    /// The GPU, or what stands in for it.
    pub(super) cuda: Result<Gpu, AbsentGpu>,
    adapter: Option<Gpu>,
    several: Option<Gpu>,
}

impl Devices {
    /// Opens those that the kernels need. Only user kernels may lack the GPU, unless the bundle was
    /// `begun_on_gpu`.
    pub(super) fn open(
        args: &BenchArgs,
        kernels: &[&'static KernelDescriptor],
        gpu: Result<Gpu, GpuAbsence>,
        begun_on_gpu: bool,
    ) -> anyhow::Result<Self> {
        let uses = |device: DeviceKind| kernels.iter().any(|kernel| kernel.device == device);
        let uses_wgpu = uses(DeviceKind::Wgpu);
        let adapter = if uses_wgpu { Some(adapter::open(args.gpu.device)?) } else { None };
        let mut on_gpu = kernels.iter().filter(|k| k.device == DeviceKind::Cuda);
        let needs_gpu = on_gpu.any(|k| !is_user_id(k.id) || begun_on_gpu);
        if let (Err(absence), true, false) = (&gpu, needs_gpu, args.plan) {
            bail!("the bundle's plan has GPU kernels, which cannot run here: {absence}");
        }
        // If several GPUs are requested, they must exist.
        let uses_several = uses(DeviceKind::Nccl) && !args.plan;
        let several = if uses_several { Some(gpu::several()?) } else { None };
        let cuda = match uses(DeviceKind::Cuda) {
            true => gpu,
            false => Err(GpuAbsence::Disabled),
        };
        Ok(Self { cuda: cuda.map_err(AbsentGpu), adapter, several })
    }

    /// The GPU's backend, or what stands in for it, with these libraries.
    pub(super) fn cuda_with<'b>(&'b self, libraries: &'b [KernelLibrary]) -> WithLibraries<'b> {
        match &self.cuda {
            Ok(gpu) => WithLibraries::new(&**gpu, libraries, None),
            Err(absent) => WithLibraries::new(absent, libraries, Some(absent.0.to_string())),
        }
    }

    /// The backends of all devices.
    pub(super) fn backends<'b>(
        &'b self,
        [cpu, cuda]: [&'b dyn Backend; 2],
    ) -> Vec<(DeviceKind, &'b dyn Backend)> {
        let mut backends = vec![(DeviceKind::Cpu, cpu), (DeviceKind::Cuda, cuda)];
        backends.extend(self.adapter.as_deref().map(|adapter| (DeviceKind::Wgpu, adapter)));
        backends.extend(self.several.as_deref().map(|several| (DeviceKind::Nccl, several)));
        backends
    }

    /// Adds the GPUs, and the libraries that the configurations need, to the record of the machine.
    pub(super) fn describe(
        &self,
        [cpu, cuda]: [&dyn Backend; 2],
        configurations: &[Configuration],
        machine: &mut Environment,
    ) {
        let of_library = |c: &Configuration, device: DeviceKind| {
            c.kernel.mapping == Mapping::Library && c.kernel.device == device
        };
        for (device, backend) in [(DeviceKind::Cpu, cpu), (DeviceKind::Cuda, cuda)] {
            if configurations.iter().any(|c| of_library(c, device)) {
                machine.libraries.extend(backend.libraries());
            }
        }
        if let Ok(gpu) = &self.cuda {
            // Libraries are loaded when first needed, and recorded from then on.
            let on_gpu = configurations.iter().filter(|c| of_library(c, DeviceKind::Cuda));
            on_gpu.for_each(|c| drop(gpu.availability(c.kernel)));
        }
        let all = [self.cuda.as_ref().ok(), self.several.as_ref(), self.adapter.as_ref()];
        machine.gpus.extend(all.into_iter().flatten().filter_map(|gpu| gpu.describe()));
    }
}
