//! Why a setup on a device failed.

use sparsescope_core::fsai::FsaiError;

use crate::device::DeviceError;

/// Why a factorised inverse cannot be set up on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FsaiSetUpError {
    /// The matrix or a parameter does not allow it.
    #[error(transparent)]
    Fsai(#[from] FsaiError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
