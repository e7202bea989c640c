//! Memory that a configuration uses.

use super::configuration::{Configuration, Temperature};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

/// An array that a configuration keeps in memory while it is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Name of the array; configurations with the same name share it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

impl Resident {
    /// An array that no other configuration shares, whatever they differ in.
    pub(super) fn own(what: &str, of: &Configuration, bytes: u64) -> Self {
        let Configuration { kernel, precision, parameters, threads, block, temperature } = of;
        let (id, precision, block) = (kernel.id, precision.as_str(), block.unwrap_or_default());
        let caches = match temperature {
            Temperature::Hot => "hot",
            Temperature::Cold => "cold",
        };
        let name = format!(
            "{what} of {id} in {precision}, {parameters}, {threads} threads, blocks of {block}, {caches}"
        );
        Self { name, bytes }
    }

    /// The memory that a user's library shares, which has a copy of A; none if it is refused.
    pub(super) fn shared(of: &Configuration, a: &Csr, memory: MemoryLimit) -> Self {
        let bytes = if a.bytes() <= memory.get() { a.bytes() } else { 0 };
        Self::own("A", of, bytes)
    }
}
