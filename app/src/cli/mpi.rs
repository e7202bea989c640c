//! Commands that several ranks run together: rank 0 prints and writes, and an error on one ends all.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use sparsescope_core::experiment::{
    Backend, Configuration, Finished, MatrixSource, Output, OwnFailure, Prepared, Watch,
};
use sparsescope_core::kernel::parameters::{HYB_WIDTH, PATTERN, RANKS, RIGHT_SIDE, START};
use sparsescope_core::kernel::{
    DeviceKind, Format, KernelDescriptor, Parameter, Parameters, distributed_kernels, kernel,
    kernels_of_ranks,
};
use sparsescope_core::measure::DEFAULT_SEED;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Costs, Operation, Verdict};
use sparsescope_mpi::{RankBackend, SharedMatrix, World, agreed, shared_problem};

use super::args::Command;
use super::bench;
use super::gpu_of_rank::{self, RankGpu};
use super::interrupt::Interrupt;
use super::operand_args::{SolveArgs, SpmvArgs};
use super::operands::{Desk, RESULT_FORMS};
use super::outcome::{AgreedError, Outcome, UsageError, is_usage, not_right, sentence};
use super::output::{check_form, check_free, check_result, print_json};
use super::shared_matrix::{Anew, memory, shared};
use super::solve::{Report, check_forms, deliver};
use super::spmv;

/// Runs a command on all ranks. An error on only some ranks ends the others, whatever they are doing; an
/// error in the arguments, which all ranks have, is reported by rank 0.
pub(super) fn run(command: &Command, interrupt: &Interrupt, quiet: bool) -> u8 {
    let world = match World::start() {
        Ok(world) => Arc::new(world),
        Err(error) => {
            eprintln!("error: {error}");
            return 1;
        }
    };
    let (rank, ranks) = (world.rank(), world.ranks());
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        eprintln!("error: rank {rank} of {ranks} panicked; this is a bug in Sparsescope");
        // No rank waits for another that has failed.
        std::process::abort();
    }));
    let quiet = quiet || !world.is_first();
    let done = match command {
        Command::Bench(args) => bench::mpi::run(&world, args, interrupt, quiet),
        Command::Spmv(args) => product(&world, args, interrupt, quiet),
        Command::Solve(args) => solve(&world, args, interrupt, quiet),
        _ => Err(UsageError("only bench, spmv and solve run on several ranks".to_owned()).into()),
    };
    match done {
        Ok(outcome) => outcome.into(),
        Err(error) if is_usage(&error) => {
            if world.is_first() {
                eprintln!("error: {}", sentence(&error));
            }
            2
        }
        Err(error) if error.is::<AgreedError>() => {
            if world.is_first() {
                eprintln!("error: {}", sentence(&error));
            }
            1
        }
        Err(error) => {
            let who = if ranks == 1 { String::new() } else { format!("rank {rank} of {ranks}: ") };
            eprintln!("error: {who}{}", sentence(&error));
            world.abort(1)
        }
    }
}

/// One checked SpMV.
fn product(
    world: &Arc<World>,
    args: &SpmvArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let kernel = shared_kernel(Operation::Spmv, &args.kernel)?;
    let one_value = "spmv takes one value per parameter, not a list";
    let parameters = args.parameters.lists().single();
    let parameters = parameters.ok_or_else(|| UsageError(one_value.to_owned()))?;
    let parameters = on_all(world, kernel, kernel.listed(&parameters));
    for (option, file) in [("--x", &args.x), ("--y", &args.y)] {
        if file.is_some() {
            let why = format!(
                "{option} works with one process only; several ranks compute A x of a random x"
            );
            return Err(UsageError(why).into());
        }
    }
    args.read.none_on_ranks()?;
    let source = MatrixSource::parse(&args.matrix)?;
    if let (Some(path), true) = (&args.output, world.is_first()) {
        check_free(path, args.force)?;
        check_form(path, &RESULT_FORMS)?;
    }
    let memory = memory(world, None);
    let gpu = gpu_for(world, kernel)?;
    let matrix = shared(world, &source, Anew::default(), args.seed, memory, interrupt.flag())?;
    let matrix = Arc::new(matrix);
    let usual = Configuration::usual(kernel);
    let precision = args.precision.map_or(usual.precision, Into::into);
    let threads = args.threads.unwrap_or(1);
    let configuration = Configuration { precision, parameters, threads, ..usual };
    let place = (world, gpu.as_ref(), memory);
    let once = run_once(place, (&matrix, &source), &configuration, interrupt)?;
    let Some(Once { output, check, .. }) = once else { return Ok(Outcome::Interrupted) };
    if check.verdict != Verdict::Pass {
        if world.is_first() {
            eprintln!("error: {}; nothing was written", not_right(kernel.id, &check));
        }
        return Ok(Outcome::CheckFailed);
    }
    let Some(y) = world.gathered(&output.in_f64()) else { return Ok(Outcome::Success) };
    let desk = Desk { interrupt, quiet, memory };
    let expected =
        args.expect.as_ref().map(|path| desk.vector(path, "--expect", &source, (y.len(), "rows")));
    spmv::finish(args, &desk, &y, expected.transpose()?)
}

/// Solves one system and checks the solution.
fn solve(
    world: &Arc<World>,
    args: &SolveArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let id = args.kernel.as_deref().unwrap_or_else(|| usual_kernel(Operation::Solve));
    let kernel = shared_kernel(Operation::Solve, id)?;
    let is_file = |parameter: Parameter, text: &str| parameter.value(text).is_err();
    let for_one = [
        (args.matrices.len() > 1, "a second matrix"),
        (args.backend.is_some(), "--backend"),
        (!args.parameters.lists().values(HYB_WIDTH.id()).is_empty(), "--hyb-width"),
        (args.read_g.is_some(), "--read-g"),
        (args.write_g.is_some(), "--write-g"),
        (args.reuse_pattern, "--reuse-pattern"),
        (is_file(PATTERN.id(), &args.pattern), "a pattern from a file"),
        (is_file(RIGHT_SIDE.id(), &args.b), "b from a file"),
        (is_file(START.id(), &args.x0), "x0 from a file"),
    ];
    if let Some((_, what)) = for_one.iter().find(|(is_given, _)| *is_given) {
        return Err(UsageError(format!(
            "{what} works with one process only, not with several ranks"
        ))
        .into());
    }
    let parameters = super::solve::parameters(args, kernel)?;
    if let Some((parameter, _)) = parameters.iter().find(|(of, _)| kernel.allowed(*of).is_none()) {
        let name = parameter.name();
        return Err(UsageError(format!("{} has no parameter {name}", kernel.id)).into());
    }
    let parameters = on_all(world, kernel, parameters);
    let threads = args.threads.unwrap_or(1);
    let configuration = Configuration { parameters, threads, ..Configuration::usual(kernel) };
    configuration
        .admit()
        .map_err(|error| UsageError(format!("{} cannot run: {error}", kernel.id)))?;
    let matrix_name = args.matrices.first().map(String::as_str).unwrap_or_default();
    args.read.none_on_ranks()?;
    let source = MatrixSource::parse(matrix_name)?;
    for path in [&args.output, &args.history].into_iter().flatten().filter(|_| world.is_first()) {
        check_result(path, args.force, args.json)?;
    }
    check_forms(args)?;
    let memory = memory(world, None);
    let gpu = gpu_for(world, kernel)?;
    let anew = Anew { ranks: Some(&args.ranks), reorder: None };
    let matrix = shared(world, &source, anew, DEFAULT_SEED, memory, interrupt.flag())?;
    let matrix = Arc::new(matrix);
    let place = (world, gpu.as_ref(), memory);
    let once = run_once(place, (&matrix, &source), &configuration, interrupt)?;
    let Some(Once { output, check, costs, params, seconds }) = once else {
        return Ok(Outcome::Interrupted);
    };
    let Output::Solution(solution) = output else {
        bail!("{} returned {}, expected a solution", kernel.id, output.kind());
    };
    let Some(x) = world.gathered(&solution.x) else { return Ok(Outcome::Success) };
    let x = matrix.numbering().map_or(x.clone(), |numbering| numbering.undone(&x));
    let sizes = [matrix.partition().rows(), matrix.nnz()];
    let report = Report::of(
        (matrix_name, sizes),
        &configuration,
        (costs.conversion_s, seconds),
        (&solution, check),
    );
    let report = report.with(params);
    let desk = Desk { interrupt, quiet, memory };
    let outcome = deliver(args, &desk, &report, (&solution, &x))?;
    if args.json {
        print_json(&report)?;
    }
    Ok(outcome)
}

/// A checked execution on all ranks: this rank's part of the result, and what it took.
struct Once {
    output: Output,
    check: Check,
    costs: Costs,
    params: BTreeMap<String, String>,
    /// Seconds of the execution, on the slowest rank.
    seconds: Option<f64>,
}

/// Executes once on all ranks or their GPUs; nothing if any rank was asked to stop.
fn run_once(
    (world, gpu, memory): (&Arc<World>, Option<&RankGpu>, MemoryLimit),
    (matrix, source): (&Arc<SharedMatrix>, &MatrixSource),
    configuration: &Configuration,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Once>> {
    let kernel = configuration.kernel;
    let ranks: &World = world;
    let sentence = |reason: String| format!("{} cannot run on {source}: {reason}", kernel.id);
    let problem = shared_problem(kernel.operation, world, matrix);
    let backend = match gpu {
        Some(gpu) => RankBackend::on_devices(gpu.device()),
        None => RankBackend::on_cpus(ranks.ranks()),
    };
    let prepared = agreed(ranks, backend.prepare(configuration, &*problem, memory));
    let mut prepared = prepared.map_err(|reason| AgreedError(sentence(reason)))?;
    let watch = Watch::cancelled_by(interrupt.flag()).agreeing(ranks);
    let finished = prepared.set_up(&watch).wait();
    if together(ranks, &*prepared, finished, &sentence)? == Finished::Cancelled {
        return Ok(None);
    }
    let output = prepared.output(&watch).wait();
    let Some(output) = together(ranks, &*prepared, output, &sentence)? else { return Ok(None) };
    let check = problem.check(configuration, &output);
    let (costs, params, seconds) = (prepared.costs(), prepared.params(), prepared.once());
    Ok(Some(Once { output, check, costs, params, seconds }))
}

/// What a call returned if no rank failed; otherwise an error that all ranks have, or that only this one
/// knows.
fn together<T, E: ToString>(
    ranks: &World,
    prepared: &dyn Prepared,
    own: Result<T, E>,
    sentence: &dyn Fn(String) -> String,
) -> anyhow::Result<T> {
    if let Some(OwnFailure(reason)) = prepared.own_failure().filter(|_| own.is_err()) {
        return Err(anyhow!(sentence(reason)));
    }
    Ok(agreed(ranks, own).map_err(|reason| AgreedError(sentence(reason)))?)
}

/// The GPUs of all ranks, if the kernel runs there.
fn gpu_for(world: &World, kernel: &KernelDescriptor) -> anyhow::Result<Option<RankGpu>> {
    let on_gpus = kernel.device == DeviceKind::Nccl;
    on_gpus.then(|| gpu_of_rank::open(world)).transpose()
}

/// The parameters of a run: kernels for several GPUs use those of all ranks.
fn on_all(world: &World, kernel: &KernelDescriptor, parameters: Parameters) -> Parameters {
    match kernel.device {
        DeviceKind::Nccl => parameters.with(RANKS.id(), &world.ranks().to_string()),
        _ => parameters,
    }
}

/// The id of the kernel for ranks that is suggested: the last in CSR overlaps the halo exchange.
fn usual_kernel(operation: Operation) -> &'static str {
    let in_csr = distributed_kernels(operation).filter(|k| k.format() == Some(Format::Csr));
    in_csr.last().map_or("", |kernel| kernel.id)
}

/// A kernel of this operation that runs on several ranks.
fn shared_kernel(operation: Operation, id: &str) -> Result<&'static KernelDescriptor, UsageError> {
    let mut all = kernels_of_ranks(operation);
    all.find(|kernel| kernel.id == id).ok_or_else(|| {
        let usual = usual_kernel(operation);
        UsageError(match kernel(id) {
            Some(_) => {
                format!("`{id}` does not run on several ranks here; use e.g. --kernel {usual}")
            }
            None => format!("there is no kernel `{id}`; `sparsescope kernels` lists them all"),
        })
    })
}
