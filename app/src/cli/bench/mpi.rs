//! `bench` on several ranks: all run in step, rank 0 keeps the runs and writes the bundle.

use anyhow::anyhow;
use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::{
    Configuration, Ending, MatrixSource, Observer, Settings, SubjectSource, select_distributed,
};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::measure::{NoiseWatch, environment};
use sparsescope_core::mpi::{MpiRunner, World, measure_bandwidth};
use sparsescope_core::record::{Distributed, Environment, Operation};

use super::bandwidth_threads;
use super::end::{NOTHING_READ, check_outputs, end, kept};
use super::recorder::{Part, Recorder};
use super::sweep::{self, Sweep};
use crate::cli::args::BenchArgs;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{AgreedError, Outcome, UsageError, sentence};
use crate::cli::output::now;
use crate::cli::progress;
use crate::cli::shared_args::BackendArg;
use crate::cli::shared_matrix::{Anew, memory, shared};
use crate::cli::table::seconds as seconds_of;
use crate::producer::producer;

/// What all ranks read out of the arguments alike.
struct Plan {
    operation: Operation,
    sources: Vec<MatrixSource>,
    kernels: Vec<&'static KernelDescriptor>,
    settings: Settings,
}

pub(in crate::cli) fn run(
    world: &World,
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let plan = plan(world, args, interrupt, quiet)?;
    let _deadline = args.time_limit.map(|limit| interrupt.after(limit));
    let Plan { sources, kernels, settings, .. } = &plan;
    let configurations = Configuration::all(kernels, settings);
    let output = if world.is_first() { sweep::output(args, None)? } else { Default::default() };
    if world.is_first() {
        check_outputs(args, &output, args.force)?;
    }
    let shown = progress::Progress::new(quiet);
    let noise = NoiseWatch::start();
    let threads = bandwidth_threads(&configurations);
    let bandwidth = measure_bandwidth(world, &threads, interrupt.flag());
    let machine = environment(bandwidth.map_err(AgreedError)?);

    let mut recorder = match world.is_first() {
        true => Some(recorder(&plan, args, machine.clone(), shown, &output)?),
        false => None,
    };
    let environment = recorder.as_ref().map_or(machine, Recorder::environment);
    let memory = memory(world, args.memory_limit);
    let runner =
        MpiRunner { world, settings, environment: &environment, memory, cancel: interrupt.flag() };
    let anew = Anew { reorder: args.reorder.map(Into::into), ranks: Some(&args.ranks) };
    let (mut seen, mut unread) = (Vec::new(), 0);
    for (first, source) in sources.iter().enumerate() {
        if let Some(recorder) = &mut recorder {
            recorder.begin(Part { first, of: sources.len(), name: source.name() });
        }
        let matrix = shared(world, source, anew, settings.seed, memory, interrupt.flag());
        let matrix = match matrix {
            Ok(matrix) => matrix,
            Err(_) if world.any(interrupt.raised()) => break,
            Err(error) if error.is::<AgreedError>() => {
                if let Some(recorder) = &recorder {
                    recorder.line(&format!("error: {}", sentence(&error)));
                }
                unread += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        if let (Some(recorder), Some(record)) = (&mut recorder, matrix.record()) {
            let id = recorder.add_record(record).map_err(|error| kept(&output, &error.into()))?;
            seen.push(id);
        }
        let is_known = seen.iter().filter(|id| Some(*id) == seen.last()).count() > 1;
        if world.any(is_known) {
            continue;
        }
        let observer = recorder.as_mut().map(|recorder| recorder as &mut dyn Observer);
        if runner.run(&matrix, &configurations, observer) == Ending::Cancelled {
            break;
        }
    }
    let stopped = world.any(interrupt.raised());
    let again = match stopped {
        true => Vec::new(),
        false => measure_bandwidth(world, &threads, interrupt.flag()).unwrap_or_default(),
    };
    let Some(mut recorder) = recorder else { return Ok(Outcome::Success) };
    recorder.take_failure().map_err(|error| kept(&output, &error.into()))?;
    if sources.len() == unread {
        recorder.discard()?;
        return Err(AgreedError(NOTHING_READ.to_owned()).into());
    }
    recorder.better_bandwidth(&again);
    let bundle = recorder.finish(noise.finish(), !stopped && unread == 0)?;
    end(&bundle, args, &output, &shares(&bundle), (interrupt, unread))
}

/// The plan of the arguments; or what of them is for one process.
fn plan(
    world: &World,
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Plan> {
    let for_one = [
        (args.x.is_some(), "--x"),
        (args.cold, "--cold"),
        (args.until.is_some(), "--until"),
        (args.resume.is_some(), "--resume"),
        (args.plan, "--plan"),
        (!args.kernel_file.is_empty(), "--kernel-file"),
        (args.backend.contains(&BackendArg::Cuda), "--backend cuda"),
        (args.backend.contains(&BackendArg::Wgpu), "--backend wgpu"),
    ];
    if let Some((_, option)) = for_one.iter().find(|(is_given, _)| *is_given) {
        return Err(
            UsageError(format!("{option} is for one process, not for several ranks")).into()
        );
    }
    let operation: Operation = args.operation.into();
    if !matches!(operation, Operation::Spmv | Operation::Solve) {
        let word = operation.as_str();
        let sentence = format!("several ranks compute products and solves only, not {word}");
        return Err(UsageError(sentence).into());
    }
    let patterns: Vec<String> =
        args.kernels.iter().flat_map(|list| crate::patterns::split(list)).collect();
    let kernels = select_distributed(operation, &patterns)?;
    let mut settings = sweep::settings(args, &kernels)?;
    if args.threads.is_empty() {
        // As many ranks as the machines have processors are usual.
        settings.threads = vec![1];
    }
    if let Some(untaken) = settings.untaken(&kernels) {
        return Err(UsageError(untaken).into());
    }
    // A list may be on some machines only: that is an error of those ranks, not in the arguments.
    let named = sweep::sources(args, interrupt, quiet);
    let is_elsewhere = world.any(named.is_ok());
    let named = named.map_err(|error| match is_elsewhere {
        true => anyhow!(sentence(&error)),
        false => error,
    });
    let mut sources = Vec::new();
    for source in named? {
        if let SubjectSource::Matrix(source) = source {
            sources.push(source);
        }
    }
    Ok(Plan { operation, sources, kernels, settings })
}

/// Begins the bundle, on rank 0.
fn recorder(
    plan: &Plan,
    args: &BenchArgs,
    machine: Environment,
    shown: progress::Progress,
    output: &std::path::Path,
) -> anyhow::Result<Recorder> {
    let mut bundle = Bundle::new(producer(), now());
    bundle.label = args.label.clone();
    let sources = plan.sources.iter().cloned().map(SubjectSource::Matrix).collect();
    let sweep = Sweep {
        operation: plan.operation,
        sources,
        kernels: plan.kernels.clone(),
        settings: plan.settings.clone(),
        x: None,
        reordering: args.reorder.map(Into::into),
        shard: None,
        portions: None,
    };
    let probed: Vec<_> = sweep.sources.iter().map(SubjectSource::probe).collect();
    bundle.plan = Some(serde_json::to_value(sweep.plan(&probed))?);
    Ok(Recorder::new(output, bundle, machine, shown, (plan.operation, args), args.force)?)
}

/// A line a run on how its ranks shared the work.
fn shares(bundle: &Bundle) -> String {
    let mut text = String::from("\n");
    for run in &bundle.runs {
        if let Some(shared) = &run.distributed {
            text += &format!("{} with {}\n", run.kernel, told(shared));
        }
    }
    text
}

/// `4 ranks of 1 thread: the most entries are 1.01 times the mean, …`.
fn told(shared: &Distributed) -> String {
    let (ranks, threads) = (shared.ranks.len(), shared.threads);
    let of = |seconds: fn(&sparsescope_core::record::RankShare) -> f64| {
        seconds_of(shared.ranks.iter().map(seconds).fold(0.0, f64::max))
    };
    let each = if shared.reductions.is_some() { "an iteration" } else { "a product" };
    let (computing, waiting) = (of(|rank| rank.computing_s), of(|rank| rank.waiting_s));
    format!(
        "{ranks} rank{} of {threads} thread{}: the most entries are {:.2} times the mean, {} bytes in {} messages \
         {each}, at most {computing} computing and {waiting} waiting",
        if ranks == 1 { "" } else { "s" },
        if threads == 1 { "" } else { "s" },
        shared.imbalance(),
        shared.bytes(),
        shared.messages(),
    )
}
