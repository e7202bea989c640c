//! Matrices of which every rank has its own rows.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use sparsescope_core::distributed::Rows;
use sparsescope_core::experiment::MatrixSource;
use sparsescope_core::generate::{GeneratedRows, GeneratorSpec};
use sparsescope_core::io::{Field, Progress, Symmetry};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::mpi::{About, SharedMatrix, World, agreed, equal_entries, read};

use super::outcome::AgreedError;

/// Makes or reads a matrix on all ranks; fails on all alike. What a person should know of how it was read goes to
/// standard error.
pub(super) fn shared(
    world: &World,
    source: &MatrixSource,
    seed: u64,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> anyhow::Result<SharedMatrix> {
    let begun = Instant::now();
    let told = |error| anyhow::Error::from(AgreedError(error));
    let about = |generator: Option<&GeneratorSpec>, field: Field, symmetry: Symmetry| About {
        name: source.name(),
        source: source.origin(),
        generator: generator.map(ToString::to_string),
        field: field.as_str(),
        symmetry: symmetry.as_str(),
    };
    match source {
        MatrixSource::Generated(spec) | MatrixSource::Suite(_, spec) => {
            let rows = agreed(world, GeneratedRows::new(spec, limit)).map_err(told)?;
            let partition = equal_entries(world, &rows, cancel).map_err(told)?;
            let about = about(Some(spec), Field::Real, Symmetry::General);
            SharedMatrix::new(world, (&rows, &partition), (about, begun), seed, limit, cancel)
        }
        MatrixSource::File(path) | MatrixSource::SuiteFile(_, path) => {
            let progress = Progress::none().cancelled_by(cancel);
            let read = read(world, path, limit, progress).map_err(told)?;
            for warning in &read.warnings {
                eprintln!("warning: {source}, rank {}: {warning}", world.rank());
            }
            let about = about(None, read.field, read.symmetry);
            let rows = (&read.block as &dyn Rows, &read.partition);
            SharedMatrix::new(world, rows, (about, begun), seed, limit, cancel)
        }
    }
    .map_err(told)
}

/// What a rank may allocate: its share of what its machine has.
pub(super) fn memory(world: &World, asked: Option<u64>) -> MemoryLimit {
    let of_machine = || MemoryLimit::of_machine().get() / world.ranks_here() as u64;
    MemoryLimit::bytes(asked.unwrap_or_else(of_machine))
}
