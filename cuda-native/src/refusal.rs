//! Refusals before anything runs, as messages.

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::kernel::LANES;

use crate::device::DeviceError;

/// Maximum threads per block of a device.
const MOST_THREADS: u32 = 1024;

/// Refuses blocks that no device takes.
pub(crate) fn admit_block(block: u32) -> Result<(), PrepareError> {
    if u64::from(block) % LANES == 0 && (1..=MOST_THREADS).contains(&block) {
        return Ok(());
    }
    let reason =
        format!("{block} threads per block: expected a multiple of {LANES} up to {MOST_THREADS}");
    Err(PrepareError::Refused(reason))
}

/// Insufficient memory, counts or registers are due to the problem's size; everything else is due
/// to this machine.
pub(crate) fn refused(error: DeviceError) -> PrepareError {
    match error {
        DeviceError::Memory { .. }
        | DeviceError::TooLarge { .. }
        | DeviceError::Block { .. }
        | DeviceError::Arrays(_) => PrepareError::Refused(error.to_string()),
        _ => PrepareError::Unsupported(error.to_string()),
    }
}
