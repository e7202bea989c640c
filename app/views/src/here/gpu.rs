//! What the panel knows of the GPU.

use sparsescope_core::experiment::{Availability, Backend};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_wgpu::WgpuBackend;

use super::wanted::kernels_here;

/// What the panel knows of the GPU.
#[derive(Clone, Debug, Default)]
pub(super) enum GpuSeen {
    /// It was not asked for yet.
    #[default]
    Unasked,
    /// It is being asked for.
    Asked,
    /// There is one.
    There {
        /// What it is called.
        model: String,
        /// A processor plays it.
        is_software: bool,
        /// Kernels that it cannot run, and why.
        missing: Vec<(&'static str, String)>,
    },
    /// There is none, for this reason.
    None(String),
}

impl GpuSeen {
    /// What is seen of a GPU that was opened.
    pub(super) fn of(backend: &WgpuBackend) -> Self {
        let missing = |kernel: &'static KernelDescriptor| match backend.availability(kernel) {
            Availability::Missing(why) => Some((kernel.id, why)),
            Availability::Available => None,
        };
        let of_gpu = kernels_here().filter(|kernel| kernel.device == DeviceKind::Wgpu);
        Self::There {
            model: backend.model().to_owned(),
            is_software: backend.is_software(),
            missing: of_gpu.filter_map(missing).collect(),
        }
    }
}
