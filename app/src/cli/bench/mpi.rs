//! `bench` on several ranks: all run in step; rank 0 keeps the runs and writes the bundle.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::experiment::{
    Backend, Configuration, Ending, MatrixSource, Runner, SubjectSource, select_distributed,
};
use sparsescope_core::kernel::parameters::RANKS;
use sparsescope_core::kernel::{
    DeviceKind, KernelDescriptor, distributed_kernels, kernels_of_ranks,
};
use sparsescope_core::measure::{NoiseWatch, environment};
use sparsescope_core::record::{Environment, Run};
use sparsescope_mpi::{RankBackend, World, agreed, measure_bandwidth, shared_problem};

use super::bandwidth_threads;
use super::end::{NOTHING_READ, TOO_EARLY, check_outputs, end, kept};
use super::planned::{NOT_A_PLAN, Plan as PlannedSweep};
use super::recorder::{Place, Recorder};
use super::share::Share;
use super::summary;
use super::sweep::{self, Sweep};
use super::user::Users;
use crate::cli::bench_args::BenchArgs;
use crate::cli::gpu_of_rank::{self, RankGpu};
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{AgreedError, Outcome, UsageError, is_usage, sentence};
use crate::cli::output::print;
use crate::cli::progress;
use crate::cli::shared_args::BackendArg;
use crate::cli::shared_matrix::{Anew, memory, shared};
use crate::producer::producer;
use crate::utc::now;

/// The plan that all ranks read from the arguments, or from the bundle to continue.
struct Plan {
    sweep: Sweep,
    matrices: Vec<MatrixSource>,
    /// That bundle, on rank 0.
    earlier: Option<Bundle>,
}

pub(in crate::cli) fn run(
    world: &Arc<World>,
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    refuse(args)?;
    let Plan { sweep, matrices, earlier } = match &args.resume {
        Some(path) => continued(world, args, path, (interrupt, quiet))?,
        None => plan(world, args, interrupt, quiet)?,
    };
    let _deadline = args.time_limit.map(|limit| interrupt.after(limit)).transpose()?;
    let Sweep { kernels, settings, .. } = &sweep;
    let configurations = Configuration::all(kernels, settings);
    if args.plan {
        if world.is_first() {
            let (share, _) = Share::of(&sweep)?;
            let bytes = Limits::default().foresee(share.runs() as u64, settings.runs as u64)?;
            print(&summary::plan(&share, None, &configurations, settings, bytes)?)?;
        }
        return Ok(Outcome::Success);
    }
    let output = if world.is_first() { sweep::output(args, None)? } else { Default::default() };
    if world.is_first() {
        check_outputs(args, &output, args.force || earlier.is_some())?;
    }
    let shown = progress::Progress::new(quiet);
    let noise = NoiseWatch::start();
    let threads = bandwidth_threads(&configurations);
    let bandwidth = measure_bandwidth(world, &threads, interrupt.flag());
    let mut machine = environment(bandwidth.map_err(AgreedError)?);
    let on_gpus = kernels.iter().any(|kernel| kernel.device == DeviceKind::Nccl);
    let gpu = if on_gpus { Some(gpu_of_rank::open(world)?) } else { None };
    machine.gpus.extend(gpu.iter().map(RankGpu::told));

    let mut recorder = match world.is_first() {
        true => {
            let begun = (earlier, machine.clone());
            Some(recorder(&sweep, args, begun, shown, &output)?)
        }
        false => None,
    };
    let environment = recorder.as_ref().map_or(machine, Recorder::environment);
    let memory = memory(world, args.memory_limit);
    let cpus = RankBackend::on_cpus(world.ranks());
    let gpus = gpu.as_ref().map(|gpu| RankBackend::on_devices(gpu.device()));
    let mut backends: Vec<(DeviceKind, &dyn Backend)> = vec![(DeviceKind::Ranks, &cpus)];
    backends.extend(gpus.as_ref().map(|gpus| (DeviceKind::Nccl, gpus as &dyn Backend)));
    let ranks: &World = world;
    let runner = Runner {
        backends,
        settings,
        environment: &environment,
        memory: Some(memory),
        cancel: interrupt.flag(),
        agreement: ranks,
    };
    let anew = Anew { reorder: sweep.reordering, ranks: Some(&args.ranks) };
    let mut unread = 0;
    for (first, source) in matrices.iter().enumerate() {
        if let Some(recorder) = &mut recorder {
            recorder.begin(Place { first, of: matrices.len(), name: source.name() });
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
        // Rank 0 knows whether an earlier matrix was the same, and which runs there are.
        let mut known = None;
        if let (Some(recorder), Some(record)) = (&mut recorder, matrix.record()) {
            let id = recorder.add_record(record).map_err(|error| kept(&output, &error))?;
            known = id.map(|id| (recorder.runs_of(&id), id));
        }
        if !world.any(known.is_some()) {
            continue;
        }
        let (measured, id) = known.unwrap_or_default();
        let problem = shared_problem(sweep.operation, world, &Arc::new(matrix));
        let ending = runner.run(&id, &*problem, &configurations, &measured, &mut recorder)?;
        if ending == Ending::Cancelled {
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
    if matrices.len() == unread {
        recorder.discard()?;
        return Err(AgreedError(NOTHING_READ.to_owned()).into());
    }
    if stopped && recorder.has_no_runs() && !interrupt.by_user() {
        recorder.discard()?;
        return Err(AgreedError(TOO_EARLY.to_owned()).into());
    }
    recorder.better_bandwidth(&again);
    let bundle = recorder.finish(noise.finish(), !stopped && unread == 0)?;
    end(bundle, args, &output, (interrupt, unread))
}

/// Fails if an argument only works in one process.
fn refuse(args: &BenchArgs) -> Result<(), UsageError> {
    let for_one = [
        (args.x.is_some(), "--x"),
        (!args.kernel_file.is_empty(), "--kernel-file"),
        (!args.kernel_library.is_empty(), "--kernel-library"),
        (args.backend.contains(&BackendArg::Wgpu), "--backend wgpu"),
    ];
    if let Some((_, option)) = for_one.iter().find(|(is_given, _)| *is_given) {
        return Err(UsageError(format!(
            "{option} works with one process only, not with several ranks"
        )));
    }
    Ok(())
}

/// The plan of the arguments.
fn plan(
    world: &World,
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Plan> {
    let operation = args.operation;
    if distributed_kernels(operation).next().is_none() {
        let word = operation.as_str();
        let sentence = format!("only spmv and solve run on several ranks, not {word}");
        return Err(UsageError(sentence).into());
    }
    let patterns: Vec<String> =
        args.kernels.iter().flat_map(|list| crate::patterns::split(list)).collect();
    let asked = |backend: BackendArg| args.backend.contains(&backend);
    let names_nccl = patterns.iter().any(|pattern| pattern.starts_with("nccl/"));
    if names_nccl && !args.backend.is_empty() && !asked(BackendArg::Cuda) {
        let sentence = "nccl/* kernels need one GPU per rank, but --backend excludes cuda";
        return Err(UsageError(sentence.to_owned()).into());
    }
    let ranks = world.ranks().to_string();
    let gpus = args.parameters.lists().values(RANKS.id());
    if gpus.iter().any(|gpus| *gpus != ranks) {
        let sentence =
            format!("each of the {ranks} ranks has one GPU: expected --gpus {ranks} or no --gpus");
        return Err(UsageError(sentence).into());
    }
    let mut devices = Vec::new();
    if args.backend.is_empty() || asked(BackendArg::Cpu) {
        devices.push(DeviceKind::Ranks);
    }
    if names_nccl || asked(BackendArg::Cuda) || !gpus.is_empty() {
        devices.push(DeviceKind::Nccl);
    }
    let kernels = select_distributed(operation, &devices, &patterns)?;
    let mut settings = sweep::settings(args, &kernels, || Ok(world.ranks()))?;
    if args.threads.is_empty() {
        // Usually there is one rank per core.
        settings.threads = vec![1];
    }
    if let Some(untaken) = settings.untaken(&kernels) {
        return Err(UsageError(untaken).into());
    }
    // A list file may exist on some machines only: that is an error of those ranks, not of the arguments.
    let named = sweep::sources(args, interrupt, quiet);
    let is_elsewhere = world.any(named.is_ok());
    let named = named.map_err(|error| match is_elsewhere {
        true => anyhow!(sentence(&error)),
        false => error,
    });
    let sweep = Sweep {
        operation,
        sources: named?,
        kernels,
        libraries: Vec::new(),
        library_limit_s: None,
        settings,
        x: None,
        reordering: args.reorder.map(Into::into),
        shard: None,
        portions: None,
        ranks: Some(world.ranks()),
    };
    Ok(Plan { matrices: matrices(&sweep), sweep, earlier: None })
}

/// The plan of a bundle that ranks began, which rank 0 reads.
fn continued(
    world: &World,
    args: &BenchArgs,
    path: &Path,
    (interrupt, quiet): (&Interrupt, bool),
) -> anyhow::Result<Plan> {
    let read = match world.is_first() {
        true => sweep::interrupted(path).and_then(|bundle| {
            begun_by(&bundle, world.ranks())?;
            Ok(Some(bundle))
        }),
        false => Ok(None),
    };
    let told = |error: anyhow::Error| sentence(&error);
    let earlier = agreed(world, read.map_err(told)).map_err(AgreedError)?;
    let plan = earlier.as_ref().and_then(|bundle| bundle.plan.as_ref());
    let plan = world.of_first(&plan.map(ToString::to_string).unwrap_or_default());
    let mut begun = Bundle::new(producer(), now());
    begun.plan = Some(serde_json::from_str(&plan).context(NOT_A_PLAN)?);
    // As for the arguments: one rank reports what all ranks know about the plan.
    let sweep = Sweep::continuing(&begun, args, &Users::default(), None, (interrupt, quiet));
    let is_elsewhere = world.any(sweep.is_ok());
    let mut sweep = sweep.map_err(|error| match is_elsewhere || is_usage(&error) {
        true => error,
        false => AgreedError(sentence(&error)).into(),
    })?;
    if let Some(kernel) = sweep.kernels.iter().find(|kernel| !is_of_ranks(kernel)) {
        let sentence = format!(
            "the bundle was started by one process: {} does not run on several ranks",
            kernel.id
        );
        return Err(AgreedError(sentence).into());
    }
    sweep.ranks = Some(world.ranks());
    Ok(Plan { matrices: matrices(&sweep), sweep, earlier })
}

/// Fails if a different number of ranks began the bundle, or if it is a part of a plan.
fn begun_by(bundle: &Bundle, ranks: usize) -> anyhow::Result<()> {
    if bundle.shard.is_some() {
        bail!("the bundle is one part of a plan: resume it with one process");
    }
    let of_run = |run: &Run| run.params.get(RANKS.id().name())?.parse().ok();
    let planned = PlannedSweep::of(bundle)?.ranks;
    match planned.or_else(|| bundle.runs.iter().find_map(of_run)) {
        Some(begun) if begun != ranks => {
            bail!(
                "the bundle was started with {begun} ranks: resume it with {begun} ranks, not {ranks}"
            )
        }
        _ => Ok(()),
    }
}

fn is_of_ranks(kernel: &KernelDescriptor) -> bool {
    kernels_of_ranks(kernel.operation).any(|known| known.id == kernel.id)
}

/// The matrices of a plan.
fn matrices(sweep: &Sweep) -> Vec<MatrixSource> {
    let matrix = |source: &SubjectSource| match source {
        SubjectSource::Matrix(source) => Some(source.clone()),
        _ => None,
    };
    sweep.sources.iter().filter_map(matrix).collect()
}

/// Begins the bundle, or continues one, on rank 0.
fn recorder(
    sweep: &Sweep,
    args: &BenchArgs,
    (earlier, machine): (Option<Bundle>, Environment),
    shown: progress::Progress,
    output: &Path,
) -> anyhow::Result<Recorder> {
    let force = args.force || earlier.is_some();
    let mut bundle = earlier.unwrap_or_else(|| Bundle::new(producer(), now()));
    bundle.label = args.label.clone().or(bundle.label);
    let probed: Vec<_> = sweep.sources.iter().map(SubjectSource::probe).collect();
    bundle.plan = Some(serde_json::to_value(sweep.plan(&probed))?);
    Ok(Recorder::new(output, bundle, machine, shown, (sweep.operation, args), force)?)
}
