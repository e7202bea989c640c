//! `sparsescope bench`: the main job, from matrices to a checked result bundle, a summary and a report.

mod answer;
mod end;
mod list;
#[cfg(feature = "mpi")]
pub(super) mod mpi;
mod next;
mod planned;
mod reasons;
mod recorder;
mod shard;
mod share;
mod summary;
mod sweep;
#[cfg(test)]
mod tests;
mod user;

use anyhow::{Context, bail};
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::experiment::{Alone, Backend, Configuration, CpuBackend, Ending, Runner};
use sparsescope_core::io::{Progress, open_vector};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Mapping};
use sparsescope_core::measure::{NoiseWatch, environment, measure_bandwidth};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::GpuAbsence;

use super::args::{BenchArgs, ProgressArg};
use super::interrupt::Interrupt;
use super::operands::told;
use super::outcome::{Outcome, UsageError};
use super::output::{is_stdout, now, print};
use super::progress;
use super::shared_args::BackendArg;
use super::{adapter, gpu};
use crate::producer::producer;
use end::{NOTHING_READ, TOO_EARLY, check_outputs, end, kept};
pub(super) use planned::Plan;
pub(super) use recorder::sort_runs;
use recorder::{Part, Recorder};
use share::Share;
use sweep::Sweep;
use user::AbsentGpu;

pub(super) fn run(args: &BenchArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    run_with(args, interrupt, quiet, &CpuBackend::new())
}

/// Runs the same with another backend for the CPU kernels.
fn run_with(
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
    cpu_backend: &dyn Backend,
) -> anyhow::Result<Outcome> {
    if args.json && args.csv.as_deref().is_some_and(is_stdout) {
        let sentence = "--json and --csv - cannot both go to standard output";
        return Err(UsageError(sentence.to_owned()).into());
    }
    args.ranks.refuse()?;
    let _deadline = args.time_limit.map(|limit| interrupt.after(limit)).transpose()?;
    let x = match &args.x {
        Some(path) => {
            let progress = Progress::none().cancelled_by(interrupt.flag());
            let memory = args.memory_limit.map_or_else(MemoryLimit::of_machine, MemoryLimit::bytes);
            Some(told(path, open_vector(path, None, memory, progress)?))
        }
        None => None,
    };
    let users = user::named(args)?;
    let earlier = args.resume.as_deref().map(sweep::interrupted).transpose()?;
    let wants_cuda = args.backend.is_empty() || args.backend.contains(&BackendArg::Cuda);
    let gpu = match wants_cuda {
        false => Err(GpuAbsence::Disabled),
        true => gpu::open(args.gpu.device),
    };
    let sweep = match &earlier {
        Some(bundle) => Sweep::continuing(bundle, args, &users, x, (interrupt, quiet))?,
        None => Sweep::of(args, &gpu, &users, x, (interrupt, quiet))?,
    };
    let Sweep { operation, kernels, settings, x, reordering, .. } = &sweep;
    let of_ranks = |kernel: &&KernelDescriptor| kernel.id.starts_with("mpi/");
    if let (Some(path), true) =
        (&args.resume, sweep.ranks.is_some() || kernels.iter().any(of_ranks))
    {
        let ranks = sweep.ranks.map_or("several".to_owned(), |ranks| ranks.to_string());
        bail!("{} was started with {ranks} ranks: resume it with the same number", path.display());
    }
    let uses_wgpu = kernels.iter().any(|k| k.device == DeviceKind::Wgpu);
    let adapter = if uses_wgpu { Some(adapter::open(args.gpu.device)?) } else { None };
    let uses_gpu = kernels.iter().any(|k| k.device == DeviceKind::Cuda);
    // Only user kernels may have had no GPU from the beginning.
    let begun_on_gpu = earlier
        .as_ref()
        .is_some_and(|bundle| bundle.environments.iter().any(|machine| !machine.gpus.is_empty()));
    let needs_gpu =
        kernels.iter().any(|k| k.device == DeviceKind::Cuda && (k.user.is_none() || begun_on_gpu));
    if let (Err(absence), true, false) = (&gpu, needs_gpu, args.plan) {
        bail!("the bundle's plan has GPU kernels, which cannot run here: {absence}");
    }
    // If several GPUs are requested, they must exist.
    let uses_several = kernels.iter().any(|k| k.device == DeviceKind::Nccl) && !args.plan;
    let several = if uses_several { Some(gpu::several()?) } else { None };
    // Every file is opened before any long work: a mistyped path fails at once.
    let (share, plan) = Share::of(&sweep)?;
    share.check_x()?;
    let configurations = share.configurations();
    let bytes = Limits::default().foresee(share.runs() as u64, settings.runs as u64)?;
    if args.plan {
        let text = summary::plan(&share, sweep.shard, &configurations, settings, bytes)?;
        print(&text)?;
        return Ok(Outcome::Success);
    }
    for error in share.tasks().filter_map(|task| task.probed.as_ref().err()) {
        eprintln!("error: {error}");
    }
    if share.len() > 0 && share.tasks().all(|task| task.probed.is_err()) {
        bail!(NOTHING_READ);
    }
    user::check_builds(kernels, &gpu)?;
    let output = sweep::output(args, sweep.shard)?;
    let force = args.force || earlier.is_some();
    check_outputs(args, &output, force)?;

    let mut shown = match args.progress {
        Some(ProgressArg::Json) => progress::Progress::json(share.runs()),
        None => progress::Progress::new(quiet),
    };
    shown.set(0.0, "measuring the memory bandwidth");
    let noise = NoiseWatch::start();
    let threads = &bandwidth_threads(&configurations);
    let bandwidth = measure_bandwidth(threads, interrupt.flag());
    let bandwidth = match interrupt.raised() && !interrupt.by_user() {
        true => bandwidth.context(TOO_EARLY)?,
        false => bandwidth?,
    };
    let mut machine = environment(bandwidth);
    let is_library = |c: &Configuration| c.kernel.mapping == Mapping::Library;
    if configurations.iter().any(|c| is_library(c) && c.kernel.device == DeviceKind::Cpu) {
        machine.libraries = cpu_backend.libraries();
    }
    let (gpu, absent) = match gpu {
        Ok(gpu) => (Some(gpu).filter(|_| uses_gpu), None),
        Err(absence) => (None, Some(AbsentGpu(absence))),
    };
    // Libraries are loaded when first needed, and recorded from then on.
    let on_gpu = |c: &&Configuration| is_library(c) && c.kernel.device == DeviceKind::Cuda;
    if let Some(gpu) = &gpu {
        configurations.iter().filter(on_gpu).for_each(|c| drop(gpu.availability(c.kernel)));
        machine.gpus.extend(gpu.describe());
    }
    machine.gpus.extend(several.as_ref().and_then(|several| several.describe()));

    if let (0, Some(shard)) = (share.len(), sweep.shard) {
        eprintln!("{shard} has nothing to run: the plan has fewer units of work than parts");
    }
    if let Some(adapter) = &adapter {
        machine.gpus.extend(adapter.describe());
    }

    let is_new = earlier.is_none();
    let mut bundle = earlier.unwrap_or_else(|| Bundle::new(producer(), now()));
    // A continued bundle has them already, or must not have them.
    if is_new && !args.no_source {
        user::keep_texts(&mut bundle, kernels);
    }
    bundle.label = args.label.clone().or(bundle.label);
    bundle.plan = plan.or(bundle.plan);
    bundle.shard = sweep.shard;
    let mut recorder =
        Recorder::new(&output, bundle, machine, shown, (sweep.operation, args), force)?;

    let mut backends = vec![(DeviceKind::Cpu, cpu_backend)];
    backends.extend(gpu.as_deref().map(|gpu| (DeviceKind::Cuda, gpu)));
    backends.extend(adapter.as_deref().map(|adapter| (DeviceKind::Wgpu, adapter)));
    backends.extend(absent.as_ref().map(|gpu| (DeviceKind::Cuda, gpu as &dyn Backend)));
    backends.extend(several.as_deref().map(|several| (DeviceKind::Nccl, several)));
    let runner = Runner {
        backends,
        settings,
        environment: &recorder.environment(),
        memory: args.memory_limit.map(MemoryLimit::bytes),
        cancel: interrupt.flag(),
        agreement: &Alone,
    };
    let (mut unread, mut stopped) = (0, false);
    for (k, task) in share.tasks().enumerate() {
        let source = task.source;
        if task.probed.is_err() {
            unread += 1; // Reported above.
            continue;
        }
        let part = Part { first: k, of: share.len(), name: source.name() };
        recorder.begin(part);
        let memory = runner.memory.unwrap_or_else(MemoryLimit::of_machine);
        let read =
            |progress: Progress<'_>| source.load(*reordering, memory, progress, interrupt.flag());
        let loaded = match recorder.while_reading(sweep::file_size(source), read) {
            Ok(loaded) => loaded,
            Err(error) if error.is_cancelled() => {
                stopped = true;
                break;
            }
            Err(error) => {
                recorder.line(&format!("error: {error}"));
                unread += 1;
                continue;
            }
        };
        let name = loaded.record().name().to_owned();
        if let Some(taken) = loaded.taken() {
            recorder.line(&format!("{name}: {taken}"));
        }
        for warning in loaded.warnings() {
            recorder.line(&format!("warning: {name}: {warning}"));
        }
        let Some(id) = recorder.add(&loaded).map_err(|e| kept(&output, &e))? else {
            recorder.line(&format!("{name} repeats an earlier input; it runs once"));
            continue;
        };
        let (measured, configurations) = (recorder.runs_of(&id), &task.configurations);
        let ending = match loaded.into_problem(*operation, settings.seed, x.as_deref(), memory) {
            Ok(problem) => {
                let ending =
                    runner.run(&id, &*problem, configurations, &measured, &mut recorder)?;
                recorder.show_results(&id, &*problem).map_err(|e| kept(&output, &e.into()))?;
                ending
            }
            Err(why) => runner.refuse(&id, configurations, &why, &measured, &mut recorder),
        };
        if ending == Ending::Cancelled {
            stopped = true;
            break;
        }
    }
    recorder.take_failure().map_err(|error| kept(&output, &error.into()))?;
    if share.len() > 0 && share.len() == unread {
        recorder.discard()?;
        bail!(NOTHING_READ);
    }
    if stopped && recorder.has_no_runs() && !interrupt.by_user() {
        recorder.discard()?;
        bail!(TOO_EARLY);
    }

    if !interrupt.raised() && !threads.is_empty() {
        recorder.tell("measuring the memory bandwidth again");
        let again = measure_bandwidth(threads, interrupt.flag()).unwrap_or_default();
        recorder.better_bandwidth(&again);
    }
    let bundle = recorder.finish(noise.finish(), !stopped && unread == 0)?;
    end(bundle, args, &output, (interrupt, unread))
}

/// The thread counts of the CPU configurations, each once.
fn bandwidth_threads(configurations: &[Configuration]) -> Vec<u32> {
    let on_cpu = configurations.iter().filter(|c| c.kernel.device == DeviceKind::Cpu);
    let mut threads: Vec<u32> = on_cpu.map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}
