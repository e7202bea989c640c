//! Conversions of matrices in f64, compiled in this crate: one that calls the generic functions compiles all of them
//! again.

use std::sync::Arc;

use sparsescope_matrix::matrix::{AnyFormat, Csr, FormatError, FormatSize, FormatSpec};
use sparsescope_matrix::memory::MemoryLimit;

/// [`FormatSpec::build`].
pub fn convert(
    spec: &FormatSpec,
    a: &Arc<Csr>,
    limit: MemoryLimit,
) -> Result<AnyFormat, FormatError> {
    spec.build(a, limit)
}

/// [`FormatSpec::size`].
pub fn format_size(spec: &FormatSpec, a: &Csr) -> Result<FormatSize, FormatError> {
    spec.size(a)
}
