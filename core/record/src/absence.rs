//! Why no kernel can run on a GPU here. A missing GPU is a value, not a failure.

/// The environment variable that turns GPUs off when it is `off`.
pub const GPU_SWITCH: &str = "SPARSESCOPE_GPU";

/// Why there is no GPU to run on, one sentence each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuAbsence {
    /// The program was compiled without the CUDA backend.
    #[error("this build has no CUDA backend (`--features cuda`)")]
    NotCompiled,
    /// The program was compiled without the wgpu backend.
    #[error("this build has no wgpu backend (`--features wgpu`)")]
    NoWgpu,
    /// No adapter was found.
    #[error("no GPU was found through Vulkan, Metal or Direct3D 12")]
    NoAdapter,
    /// The requested adapter does not exist.
    #[error(
        "there is no device {asked}: found {found} through Vulkan, Metal or Direct3D 12, numbered from 0"
    )]
    NoSuchAdapter {
        /// Number of the requested device.
        asked: usize,
        /// Number of devices.
        found: usize,
    },
    /// The adapter exists but its device cannot be opened.
    #[error("{0}")]
    AdapterFailed(String),
    /// The user turned GPUs off.
    #[error("GPUs are turned off by {GPU_SWITCH}=off")]
    Disabled,
    /// The driver library was not found.
    #[error("no NVIDIA driver was found (library {library})")]
    DriverMissing {
        /// File name of the library.
        library: &'static str,
    },
    /// The library found is the stub that the toolkit ships for linking.
    #[error(
        "the NVIDIA driver library found is a stub for linking: remove the toolkit's `stubs` folder \
         from the library path"
    )]
    StubDriver,
    /// The driver is older than the program needs.
    #[error("the NVIDIA driver supports CUDA {found}, expected {needed} or newer{detail}")]
    DriverTooOld {
        /// CUDA version that the driver supports, e.g. `12.4`.
        found: String,
        /// Oldest supported version.
        needed: &'static str,
        /// What it lacks, if known: begins with a colon, or is empty.
        detail: String,
    },
    /// The driver is installed but does not start.
    #[error("the NVIDIA driver failed to start: {call} returned {status}")]
    DriverFailed {
        /// The function that failed.
        call: &'static str,
        /// Name and number of the returned status.
        status: String,
    },
    /// The driver works but offers no device.
    #[error("the NVIDIA driver found no GPU")]
    NoDevice,
    /// The requested device does not exist.
    #[error("there is no GPU {asked}: the NVIDIA driver found {found}, numbered from 0")]
    NoSuchDevice {
        /// Number of the requested device.
        asked: usize,
        /// Number of devices.
        found: usize,
    },
    /// The run-time compiler that builds kernels was not found.
    #[error("NVRTC, NVIDIA's runtime compiler, was not found: {0}")]
    NvrtcMissing(String),
    /// The multi-GPU communication library was not found.
    #[error("NCCL, which multi-GPU kernels need, was not found: {0}")]
    NcclMissing(String),
}
