//! What is refused before anything runs, in words.

use sparsescope_core::experiment::PrepareError;
use sparsescope_core::kernel::LANES;

use crate::device::DeviceError;

/// Most threads a block that a device takes.
const MOST_THREADS: u32 = 1024;

/// Refuses blocks that no device takes.
pub(crate) fn admit_block(block: u32) -> Result<(), PrepareError> {
    if u64::from(block) % LANES == 0 && (1..=MOST_THREADS).contains(&block) {
        return Ok(());
    }
    let reason =
        format!("blocks of {block} threads are no multiple of {LANES} up to {MOST_THREADS}");
    Err(PrepareError::Refused(reason))
}

/// Memory, counts and registers that do not suffice are the problem's size; everything else is this machine.
pub(crate) fn refused(error: DeviceError) -> PrepareError {
    match error {
        DeviceError::Memory { .. }
        | DeviceError::TooLarge { .. }
        | DeviceError::Block { .. }
        | DeviceError::Arrays(_) => PrepareError::Refused(error.to_string()),
        _ => PrepareError::Unsupported(error.to_string()),
    }
}
