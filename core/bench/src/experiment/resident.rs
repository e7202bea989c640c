//! Memory that a configuration uses.

use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;

/// An array that a configuration keeps in memory while it is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Name of the array; configurations with the same name share it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

impl Resident {
    /// The memory that a user's library shares, which has a copy of A; none if it is refused.
    pub(super) fn shared(kernel: &KernelDescriptor, a: &Csr, memory: MemoryLimit) -> Self {
        let bytes = if a.bytes() <= memory.get() { a.bytes() } else { 0 };
        Self { name: kernel.id.to_owned(), bytes }
    }
}
