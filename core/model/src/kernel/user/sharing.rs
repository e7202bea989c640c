//! Shared memory that a user kernel is launched with.

/// Maximum bytes per block without asking the device for more.
pub(super) const MOST_SHARED: u32 = 48 << 10;

/// The word for one value per thread.
pub(super) const VALUE_PER_THREAD: &str = "value-per-thread";

/// Shared memory per block in addition to what the source declares with a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBytes {
    /// A fixed number of bytes.
    Fixed(u32),
    /// One value per thread.
    ValuePerThread,
}

impl SharedBytes {
    /// Bytes for a block of `block` threads with values of `value_bytes` bytes.
    pub fn of_block(self, block: u32, value_bytes: u32) -> u32 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::ValuePerThread => block.saturating_mul(value_bytes),
        }
    }
}
