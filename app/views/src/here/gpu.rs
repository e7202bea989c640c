//! What the panel knows about the GPU.

use sparsescope_core::experiment::{Availability, Backend};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_wgpu::WgpuBackend;

use super::wanted::{OPERATIONS, kernels_here};

/// What the panel knows about the GPU.
#[derive(Clone, Debug, Default)]
pub(super) enum GpuSeen {
    /// Not requested yet.
    #[default]
    Unasked,
    /// Requested, no answer yet.
    Asked,
    /// A GPU exists.
    There {
        /// Its name.
        model: String,
        /// The CPU emulates it.
        is_software: bool,
        /// Kernels that it cannot run, and why.
        missing: Vec<(&'static str, String)>,
    },
    /// There is no GPU, for this reason.
    None(String),
}

impl GpuSeen {
    /// Describes an opened GPU.
    pub(super) fn of(backend: &WgpuBackend) -> Self {
        let missing = |kernel: &'static KernelDescriptor| match backend.availability(kernel) {
            Availability::Missing(why) => Some((kernel.id, why)),
            Availability::Available => None,
        };
        let here = OPERATIONS.into_iter().flat_map(kernels_here);
        let of_gpu = here.filter(|kernel| kernel.device == DeviceKind::Wgpu);
        Self::There {
            model: backend.model().to_owned(),
            is_software: backend.is_software(),
            missing: of_gpu.filter_map(missing).collect(),
        }
    }
}
