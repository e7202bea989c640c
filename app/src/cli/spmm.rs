//! `sparsescope spmm`: one checked product of a matrix with several vectors.

use std::fs::{self, File};
use std::io::Read as _;
use std::sync::Arc;

use anyhow::Context;
use sparsescope_core::experiment::{Configuration, MatrixSource, SpmmProblem, SpmvProblem};
use sparsescope_core::io::numpy::{is_by_columns, write_npy};
use sparsescope_core::io::vector::write_columns;
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::matrix::{Csr, Order};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Operation;

use super::interrupt::Interrupt;
use super::operand_args::SpmmArgs;
use super::operands::{Desk, kernel_of, threads};
use super::outcome::{Outcome, UsageError};
use super::output::{check_form, check_free, ends_in, overwrite, save, say_written, watched};
use super::table::count;

pub(super) fn run(args: &SpmmArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let kernel = kernel_of(Operation::Spmm, &args.kernel)?;
    let mut parameters =
        args.parameters.lists().single().ok_or_else(|| {
            UsageError("spmm takes one value per parameter, not a list".to_owned())
        })?;
    check_free(&args.output, args.force)?;
    check_form(&args.output, &["Matrix Market", "NumPy array"])?;
    let memory = MemoryLimit::of_machine();
    let desk = Desk { interrupt, quiet, memory };
    let source = args.read.of_matrix(MatrixSource::parse(&args.matrix)?)?;
    let a = desk.real_matrix(&source)?;
    SpmvProblem::check_vectors(&a, memory).with_context(|| format!("{source}"))?;
    let problem = match &args.x {
        Some(file) => {
            let x = desk.real_matrix(&MatrixSource::parse(file)?)?;
            let vectors = VECTORS.id().value(&x.cols().to_string());
            let vectors = vectors.map_err(|error| UsageError(format!("--x: {error}")))?;
            parameters = parameters.with(VECTORS.id(), &vectors);
            SpmmProblem::given(Arc::clone(&a), x.cols(), by_rows(&x, &a, &source, memory)?)
        }
        None => SpmmProblem::drawn(Arc::clone(&a), args.seed),
    };
    let configuration = Configuration {
        precision: args.precision.into(),
        parameters: kernel.listed(&parameters),
        threads: threads(kernel, args.threads),
        block: kernel.takes.block.then_some(args.block_size),
        ..Configuration::usual(kernel)
    };
    let y = match desk.product(&configuration, &problem, args.gpu.device, &source)? {
        Ok(y) => y,
        Err(outcome) => return Ok(outcome),
    };
    let columns = SpmmProblem::vectors(&configuration);
    let what = format!("writing {}", args.output.display());
    watched(interrupt, quiet, &what, None, |progress| {
        save(&args.output, overwrite(args.force), |out| match ends_in(&args.output, "npy") {
            true => {
                let order = args.x.as_deref().map_or(Order::RowMajor, order_of);
                write_npy(&y, columns, order, out, MemoryLimit::of_machine(), progress)
            }
            false => write_columns(&y, columns, out, progress),
        })
    })?;
    let (rows, columns) = (count((y.len() / columns.max(1)) as u64), count(columns as u64));
    say_written(&args.output, quiet, &format!("{rows} x {columns} numbers"));
    Ok(Outcome::Success)
}

/// The order of X's elements in a file. That of NumPy is known from the beginning of a regular file that is not
/// compressed.
fn order_of(file: &str) -> Order {
    const HEAD: u64 = 1 << 17;
    let mut head = Vec::new();
    // A pipe has been read, and opening it again could wait forever.
    if !fs::metadata(file).is_ok_and(|of| of.is_file()) {
        return Order::RowMajor;
    }
    let read = File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    match read.is_ok() && is_by_columns(&head) {
        true => Order::ColumnMajor,
        false => Order::RowMajor,
    }
}

/// All elements of X by rows, which must be as many as A has columns.
fn by_rows(
    x: &Csr,
    a: &Csr,
    source: &MatrixSource,
    memory: MemoryLimit,
) -> anyhow::Result<Vec<f64>> {
    let (rows, cols, columns) = (x.rows(), x.cols(), a.cols());
    if rows != columns {
        let sentence = format!("--x has {rows} rows, but {source} has {columns} columns");
        return Err(UsageError(sentence).into());
    }
    memory.check("X", 8 * rows as u128 * cols as u128)?;
    let mut block = vec![0.0; rows * cols];
    for (i, row) in block.chunks_exact_mut(cols).enumerate() {
        let (col, val) = x.row(i);
        for (&c, &v) in col.iter().zip(val) {
            if let Some(element) = row.get_mut(c as usize) {
                *element = v;
            }
        }
    }
    Ok(block)
}
