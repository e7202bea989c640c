//! Matrices distributed by rows over the ranks.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use sparsescope_core::distributed::{Renumbered, Rows};
use sparsescope_core::experiment::{LoadedValues, MatrixSource};
use sparsescope_core::generate::{GeneratedRows, GeneratorSpec};
use sparsescope_core::io::{Field, IoError, Progress, Symmetry};
use sparsescope_core::matrix::Reordering;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_mpi::{About, Numbering, SharedMatrix, World, agreed, equal_entries, read};

use super::outcome::AgreedError;
use super::shared_args::RankArgs;

/// Generates or reads a matrix on all ranks; if it fails, it fails on all. Remarks on how it was read go to
/// standard error.
pub(super) fn shared(
    world: &World,
    source: &MatrixSource,
    anew: Anew<'_>,
    seed: u64,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> anyhow::Result<SharedMatrix> {
    let begun = Instant::now();
    let told = |error| anyhow::Error::from(AgreedError(error));
    let numbering = numbering(world, source, anew, limit, cancel)?;
    let about =
        |generator: Option<&GeneratorSpec>, field: Field, symmetry: Symmetry, numbering| About {
            name: source.name(),
            source: source.origin(),
            generator: generator.map(ToString::to_string),
            field: field.as_str(),
            symmetry: symmetry.as_str(),
            numbering,
        };
    match source {
        MatrixSource::Generated(spec) | MatrixSource::Suite(_, spec) => {
            let rows = agreed(world, GeneratedRows::new(spec, limit)).map_err(told)?;
            let rows: Box<dyn Rows> = match &numbering {
                None => Box::new(rows),
                Some(numbering) => {
                    let order = numbering.order().to_vec();
                    Box::new(agreed(world, Renumbered::new(rows, order)).map_err(told)?)
                }
            };
            let partition = match numbering.as_ref().and_then(Numbering::partition) {
                Some(partition) => partition.clone(),
                None => equal_entries(world, &*rows, cancel).map_err(told)?,
            };
            let about = about(Some(spec), Field::Real, Symmetry::General, numbering);
            SharedMatrix::new(world, (&*rows, &partition), (about, begun), seed, limit, cancel)
        }
        MatrixSource::File(path, _) | MatrixSource::SuiteFile(_, path) => {
            let progress = Progress::none().cancelled_by(cancel);
            let read = read(world, path, numbering.as_ref(), limit, progress).map_err(told)?;
            for warning in &read.warnings {
                eprintln!("warning: {source}, rank {}: {warning}", world.rank());
            }
            let about = about(None, read.field, read.symmetry, numbering);
            let rows = (&read.block as &dyn Rows, &read.partition);
            SharedMatrix::new(world, rows, (about, begun), seed, limit, cancel)
        }
    }
    .map_err(told)
}

/// How to renumber rows and columns, if at all.
#[derive(Clone, Copy, Default)]
pub(super) struct Anew<'a> {
    /// By a reordering, which needs the whole matrix.
    pub(super) reorder: Option<Reordering>,
    /// By a file: the rank of each row, or a permutation.
    pub(super) ranks: Option<&'a RankArgs>,
}

/// The new numbering, on all ranks. Rank 0 computes a reordering, for which it reads or generates the whole
/// matrix.
fn numbering(
    world: &World,
    source: &MatrixSource,
    anew: Anew<'_>,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> anyhow::Result<Option<Numbering>> {
    let told = |error| anyhow::Error::from(AgreedError(error));
    let file_of =
        |file: fn(&RankArgs) -> &Option<PathBuf>| anew.ranks.and_then(|args| file(args).as_deref());
    let partition = file_of(|args| &args.partition);
    let permutation = file_of(|args| &args.permutation);
    if let Some(path) = partition.or(permutation) {
        let made = source.probe().map_err(|error| error.to_string()).and_then(|extent| {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            let made = match partition {
                Some(_) => Numbering::of_partition(&text, extent.rows, world.ranks()),
                None => Numbering::of_permutation(&text, extent.rows),
            };
            made.map_err(|error| format!("{}: {error}", path.display()))
        });
        return Ok(Some(agreed(world, made).map_err(told)?));
    }
    let Some(rule) = anew.reorder else { return Ok(None) };
    let found = match world.is_first() {
        false => Ok(Vec::new()),
        true => ordered(source, rule, limit, cancel),
    };
    let order = world.numbers_from_first(agreed(world, found).map_err(told)?);
    Ok(Some(agreed(world, Numbering::new(rule.as_str(), order)).map_err(told)?))
}

/// The row order that a reordering gives for a matrix that fits in memory here.
fn ordered(
    source: &MatrixSource,
    rule: Reordering,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Vec<u32>, String> {
    let progress = Progress::none().cancelled_by(cancel);
    let loaded = source.load(limit, progress, cancel).map_err(|error| error.to_string())?;
    let LoadedValues::Real(a) = &loaded.values else { return Err(IoError::RealOnly.to_string()) };
    rule.order(a, limit).map_err(|error| error.to_string())
}

/// The memory that a rank may allocate: its share of its machine's.
pub(super) fn memory(world: &World, asked: Option<u64>) -> MemoryLimit {
    let of_machine = || MemoryLimit::of_machine().get() / world.ranks_here() as u64;
    MemoryLimit::bytes(asked.unwrap_or_else(of_machine))
}
