//! Shared memory that a user's kernel is launched with.

/// Most bytes of it that a block has without asking the device for more.
pub(super) const MOST_SHARED: u32 = 48 << 10;

/// The word for one value a thread.
pub(super) const VALUE_PER_THREAD: &str = "value-per-thread";

/// Shared memory of a block beside what the source declares with a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBytes {
    /// So many bytes.
    Fixed(u32),
    /// One value a thread.
    ValuePerThread,
}

impl SharedBytes {
    /// Bytes for a block of so many threads, with values of so many bytes.
    pub fn of_block(self, block: u32, value_bytes: u32) -> u32 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::ValuePerThread => block.saturating_mul(value_bytes),
        }
    }
}
