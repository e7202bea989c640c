//! `sparsescope convert`: a matrix or points, written in another form.

use std::sync::Arc;

use sparsescope_core::experiment::{LoadedValues, MatrixSource, PointsSource, SubjectSource};
use sparsescope_core::io::AnyMatrix;
use sparsescope_core::memory::MemoryLimit;

use super::args::ConvertArgs;
use super::generate::write_points;
use super::interrupt::Interrupt;
use super::matrix_output::{MatrixOutput, check_extension};
use super::operands::Desk;
use super::outcome::{Outcome, UsageError};
use super::output::ends_in;

pub(super) fn run(
    args: &ConvertArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let path = &args.output;
    if ends_in(path, "points") || ends_in(path, "csv") {
        if args.symmetric {
            let sentence = "--symmetric writes one triangle of a matrix, but the output is points";
            return Err(UsageError(sentence.to_owned()).into());
        }
        let source = PointsSource::parse(&args.input)?;
        args.read.of(SubjectSource::Other(Box::new(source.clone())))?;
        return write_points(&source, (path, args.force), interrupt, quiet);
    }
    check_extension(path)?;
    let output = MatrixOutput::new(path, args.symmetric, args.force)?;
    let source = args.read.of_matrix(MatrixSource::parse(&args.input)?)?;
    let read = Desk { interrupt, quiet, memory: MemoryLimit::of_machine() }.matrix(&source)?;
    let a = match read.values {
        LoadedValues::Real(a) => AnyMatrix::Real(Arc::unwrap_or_clone(a)),
        LoadedValues::Complex(a) => AnyMatrix::Complex(Arc::unwrap_or_clone(a)),
    };
    output.write(&a, read.field, interrupt, quiet)?;
    Ok(Outcome::Success)
}
