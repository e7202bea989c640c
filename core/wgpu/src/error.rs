//! Device errors, as sentences.

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::memory::gigabytes;

/// Why an operation on a device failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum DeviceError {
    #[error("{what}: needs {bytes} bytes ({}), but this device binds at most {most} ({})", gigabytes(*bytes), gigabytes(*most))]
    TooLarge { what: &'static str, bytes: u64, most: u64 },
    #[error("not enough device memory for {0}")]
    OutOfMemory(String),
    #[error("the device rejected {what}: {reason}")]
    Invalid { what: String, reason: String },
    #[error("the device failed on {what}: {reason}")]
    Internal { what: String, reason: String },
    #[error("the device was lost: {0}")]
    Lost(String),
    #[error("cannot open the device: {0}")]
    Closed(String),
    #[error("the device has not responded for {0} s")]
    Silent(u64),
    #[error("{found} invocations per workgroup: expected a multiple of 32 from 32 to {most}")]
    Block { found: u32, most: u32 },
    #[error(
        "its first product took {0:.1} s: the system may reset the device if one takes more than 1 s"
    )]
    Slow(f64),
    #[error("{0} or its driver does not support subgroups")]
    NoSubgroups(String),
    #[error("the device clock returned no time in {0} attempts")]
    NoTime(u32),
    #[error(
        "one product with flushed caches is too short for the clock, whose resolution is {0:e} s"
    )]
    TooShortCold(f64),
    #[error("this browser supports WebGPU, but no adapter was found")]
    #[cfg(target_family = "wasm")]
    NoAdapter,
    #[error("not included in this build")]
    Absent,
    #[error("it was not set up")]
    NotSetUp,
}

impl DeviceError {
    /// The error of an error scope.
    pub(crate) fn of(what: &str, error: wgpu::Error) -> Self {
        let what = what.to_owned();
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory(what),
            wgpu::Error::Validation { description, .. } => {
                Self::Invalid { what, reason: one_line(&description) }
            }
            wgpu::Error::Internal { description, .. } => {
                Self::Internal { what, reason: one_line(&description) }
            }
        }
    }
}

impl From<DeviceError> for PrepareError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::NoSubgroups(_) | DeviceError::Absent => {
                Self::Unsupported(error.to_string())
            }
            _ => Self::Refused(error.to_string()),
        }
    }
}

/// Joins a message of several lines into one.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
