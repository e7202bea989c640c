//! Generated matrices: one file per family of structures, each a rule that produces any row
//! independently, so that rows are generated in parallel and do not depend on the number of threads.
//! To add a kind, add its rule and one line in `KINDS`. Point sets (`points/`) and batches of dense
//! systems (`batches/`) are generated in the same way, with their own recipes and kinds.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod assemble;
mod batches;
mod dominant;
mod extent;
mod fem;
mod graph;
mod keys;
mod kinds;
mod kkt;
mod kmer;
mod lengths;
mod lp;
mod made;
mod paper;
mod points;
mod powerlaw;
mod random;
mod recipe;
mod rows;
mod scattered;
mod shaped;
mod spec;
mod stencil;
mod suite;
mod suites;
mod symmetric;

pub use assemble::GenerateError;
pub use batches::{
    BatchEntry, BatchKind, BatchSpec, BatchSuite, RowsSpec, batch_kinds, batch_suite_entry,
    batch_suites, generate_batch,
};
pub use keys::{DEFAULT_SEED, DefaultValue, Key};
pub use kinds::{Kind, kinds};
pub use made::{Made, measure_made};
pub use points::{
    PointsEntry, PointsKind, PointsRecipe, PointsSpec, PointsSuite, generate_points, points_kinds,
    points_suite, points_suite_entry, points_suites,
};
pub use recipe::SpecError;
pub use rows::GeneratedRows;
pub use spec::GeneratorSpec;
pub use suite::{Figure, Suite, SuiteEntry, Wanted};
pub use suites::{suite, suite_entry, suites};

use std::sync::atomic::AtomicBool;

use crate::matrix::Csr;
use crate::memory::MemoryLimit;

/// Generates the matrix. Fails before allocating when it needs more than `limit`; ends early when
/// `cancel` is set.
///
/// ```
/// use sparsescope_matrix::generate::{GeneratorSpec, generate};
/// use sparsescope_matrix::memory::MemoryLimit;
/// let spec = GeneratorSpec::parse("poisson2d?n=3")?;
/// let a = generate(&spec, MemoryLimit::of_machine(), &false.into())?;
/// assert_eq!(a.row(0), (&[0u32, 1, 3][..], &[4.0, -1.0, -1.0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate(
    spec: &GeneratorSpec,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Csr, GenerateError> {
    let rule = spec.rule(limit)?;
    assemble::assemble(&spec.to_string(), rule.as_ref(), limit, cancel)
}

/// Like [`generate`], in steps, so that the caller can do other work between polls; to cancel, stop
/// polling.
pub async fn generate_in_steps(
    spec: &GeneratorSpec,
    limit: MemoryLimit,
) -> Result<Csr, GenerateError> {
    let rule = spec.rule(limit)?;
    assemble::assemble_in_steps(&spec.to_string(), rule.as_ref(), limit).await
}

#[cfg(test)]
mod compact_tests;
#[cfg(test)]
mod tests;
