//! `sparsescope generate`: a matrix from a generator, written as Matrix Market.

use std::fmt::Write;

use anyhow::bail;
use sparsescope_core::experiment::MatrixSource;
use sparsescope_core::generate::{GeneratorSpec, generate, kinds, suites};
use sparsescope_core::io::{matrix_market, save};
use sparsescope_core::memory::MemoryLimit;

use super::Outcome;
use super::args::GenerateArgs;
use super::interrupt::Interrupt;
use super::output::{check_free, overwrite, print, watched};
use super::table::count;

pub(super) fn run(
    args: &GenerateArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    if args.list {
        print(&list()?)?;
        return Ok(Outcome::Success);
    }
    let (Some(spec), Some(path)) = (&args.spec, &args.output) else {
        bail!("a generator and -o FILE are needed; `sparsescope generate --list` explains them");
    };
    let spec = match MatrixSource::parse(spec) {
        Ok(MatrixSource::Suite(_, spec) | MatrixSource::Generated(spec)) => spec,
        _ => GeneratorSpec::parse(spec)?,
    };
    check_free(path, args.force)?;
    let a = watched(interrupt, quiet, &format!("generating {spec}"), None, |_| {
        generate(&spec, MemoryLimit::of_machine(), interrupt.flag())
    })?;
    watched(interrupt, quiet, &format!("writing {}", path.display()), None, |progress| {
        save(path, overwrite(args.force), |out| matrix_market::write(&a, out, progress))
    })?;
    let (rows, cols, nnz) = (a.rows() as u64, a.cols() as u64, a.nnz() as u64);
    eprintln!("{}: {} x {}, {} entries", path.display(), count(rows), count(cols), count(nnz));
    Ok(Outcome::Success)
}

/// Every generator with its keys, then every suite.
fn list() -> Result<String, std::fmt::Error> {
    let mut out = String::from("Generators (KIND?key=value&key=value, perhaps after gen:)\n");
    for kind in kinds() {
        writeln!(out, "\n  {}\n      {}", kind.usage(), kind.what)?;
        for key in kind.keys {
            writeln!(out, "      {:<6} {}", key.name, key.explain())?;
        }
    }
    out.push_str("\nSuites (bench --suite NAME; one of their matrices: suite:MATRIX)\n");
    for suite in suites() {
        writeln!(out, "\n  {}: {}", suite.name, suite.what)?;
        for entry in suite.entries {
            writeln!(out, "      {:<18} {:<44} {}", entry.name, entry.spec, entry.what)?;
        }
    }
    Ok(out)
}
