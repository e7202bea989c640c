//! Commands that several ranks run together: rank 0 prints and writes, and an error of one ends all.

use std::process::ExitCode;

use anyhow::bail;
use sparsescope_core::experiment::{Configuration, MatrixSource, Settings};
use sparsescope_core::io::{Progress, open_vector};
use sparsescope_core::kernel::{KernelDescriptor, distributed_kernels, kernel};
use sparsescope_core::measure::environment;
use sparsescope_core::mpi::{MpiRunner, World};
use sparsescope_core::record::{Operation, Verdict};

use super::args::Command;
use super::bench;
use super::interrupt::Interrupt;
use super::operand_args::SpmvArgs;
use super::operands::{Desk, Differences};
use super::outcome::{AgreedError, Outcome, UsageError, is_usage, sentence};
use super::output::check_free;
use super::shared_matrix::{memory, shared};

/// Runs a command on all ranks. An error that only some ranks have ends the others, whatever they do; one in the
/// arguments, which all ranks have, is told by rank 0.
pub(super) fn run(command: &Command, interrupt: &Interrupt, quiet: bool) -> ExitCode {
    let world = match World::start() {
        Ok(world) => world,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(1);
        }
    };
    let (rank, ranks) = (world.rank(), world.ranks());
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        eprintln!("error: rank {rank} of {ranks} panicked, which is a defect of the program");
        // No rank waits for one that will not come.
        std::process::abort();
    }));
    let quiet = quiet || !world.is_first();
    let done = match command {
        Command::Bench(args) => bench::mpi::run(&world, args, interrupt, quiet),
        Command::Spmv(args) => spmv(&world, args, interrupt, quiet),
        _ => {
            Err(UsageError("solves do not run on several ranks yet; products do".to_owned()).into())
        }
    };
    match done {
        Ok(outcome) => outcome.into(),
        Err(error) if is_usage(&error) => {
            if world.is_first() {
                eprintln!("error: {}", sentence(&error));
            }
            ExitCode::from(2)
        }
        Err(error) if error.is::<AgreedError>() => {
            if world.is_first() {
                eprintln!("error: {}", sentence(&error));
            }
            ExitCode::from(1)
        }
        Err(error) => {
            let who = if ranks == 1 { String::new() } else { format!("rank {rank} of {ranks}: ") };
            eprintln!("error: {who}{}", sentence(&error));
            world.abort(1)
        }
    }
}

/// One checked product.
fn spmv(
    world: &World,
    args: &SpmvArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let kernel = shared_kernel(&args.kernel)?;
    let one_value = "a single product takes one value of each parameter, not a list";
    let parameters = args.format.lists()?.single();
    let parameters = parameters.ok_or_else(|| UsageError(one_value.to_owned()))?;
    let parameters = kernel.listed(&parameters);
    if args.x.is_some() {
        let why = "on several ranks x is made from --seed; --x is for one process";
        return Err(UsageError(why.to_owned()).into());
    }
    let source = MatrixSource::parse(&args.matrix)?;
    if let (Some(path), true) = (&args.output, world.is_first()) {
        check_free(path, args.force)?;
    }
    let memory = memory(world, None);
    let matrix = shared(world, &source, args.seed, memory, interrupt.flag())?;
    let settings = Settings {
        runs: 1,
        until: None,
        warmup: 0,
        threads: vec![1],
        blocks: Vec::new(),
        cold: false,
        seed: args.seed,
        precisions: Vec::new(),
        parameters: Default::default(),
    };
    let environment = environment(Vec::new());
    let cancel = interrupt.flag();
    let runner =
        MpiRunner { world, settings: &settings, environment: &environment, memory, cancel };
    let usual = Configuration::usual(kernel);
    let precision = args.precision.map_or(usual.precision, Into::into);
    let threads = args.threads.unwrap_or(1);
    let configuration = Configuration { precision, parameters, threads, ..usual };
    let (y, check) = runner
        .once(&matrix, &configuration)
        .map_err(|reason| AgreedError(format!("{} cannot run on {source}: {reason}", kernel.id)))?;
    if check.verdict != Verdict::Pass {
        if world.is_first() {
            let reason = check.reason.unwrap_or_default();
            eprintln!(
                "error: {} computed a wrong result: {reason}; nothing was written",
                kernel.id
            );
        }
        return Ok(Outcome::CheckFailed);
    }
    let Some(y) = world.gathered(&y) else { return Ok(Outcome::Success) };
    let desk = Desk { interrupt, quiet, memory };
    if let Some(path) = &args.output {
        desk.write(path, args.force, &y)?;
    }
    let Some(path) = &args.expect else { return Ok(Outcome::Success) };
    let expected = open_vector(path, memory, Progress::none())?;
    if expected.len() != y.len() {
        bail!(
            "{} has {} elements, but {source} has {} rows",
            path.display(),
            expected.len(),
            y.len()
        );
    }
    let tol = args.tol;
    let differences = Differences::of(&y, &expected, |e| tol * e.abs().max(1.0));
    match differences.sentence(tol) {
        Some(sentence) => {
            eprintln!("error: {sentence}");
            Ok(Outcome::CheckFailed)
        }
        None => Ok(Outcome::Success),
    }
}

/// A kernel that runs on several ranks.
fn shared_kernel(id: &str) -> Result<&'static KernelDescriptor, UsageError> {
    let mut all = distributed_kernels(Operation::Spmv);
    all.find(|kernel| kernel.id == id).ok_or_else(|| {
        UsageError(match kernel(id) {
            Some(_) => format!(
                "`{id}` runs in one process; several ranks run --kernel mpi/csr/halo-overlap"
            ),
            None => format!("there is no kernel `{id}`; `sparsescope kernels` lists them all"),
        })
    })
}
