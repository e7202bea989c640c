//! `sparsescope bench`: the main job, from matrices to a checked result bundle, a summary and a report.

mod answer;
mod checks;
mod devices;
mod end;
mod libraries;
mod list;
mod measure;
#[cfg(feature = "mpi")]
pub(super) mod mpi;
mod next;
mod pairs;
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
use sparsescope_core::experiment::{Alone, Backend, Configuration, CpuBackend, Runner};
use sparsescope_core::io::{Progress, open_vector};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::libraries::{KernelLibrary, WithLibraries};
use sparsescope_core::measure::{NoiseWatch, environment, measure_bandwidth};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Bandwidth, GpuAbsence};

use super::bench_args::{BenchArgs, ProgressArg};
use super::gpu;
use super::interrupt::Interrupt;
use super::operands::told;
use super::outcome::{Outcome, UsageError};
use super::output::{is_stdout, print};
use super::progress;
use super::shared_args::BackendArg;
use crate::producer::producer;
use crate::utc::now;
use devices::Devices;
use end::{NOTHING_READ, TOO_EARLY, check_outputs, end, kept};
use measure::{Job, Tally};
pub(super) use planned::Plan;
use recorder::Recorder;
pub(super) use recorder::sort_runs;
use share::Share;
use sweep::Sweep;
use user::Users;

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
    let Preparation { sweep, devices, libraries, earlier } =
        Preparation::of(args, interrupt, quiet)?;
    let cpu_backend = WithLibraries::new(cpu_backend, &libraries, None);
    let cuda_backend = devices.cuda_with(&libraries);
    let backends: [&dyn Backend; 2] = [&cpu_backend, &cuda_backend];
    // Every file is opened before any long work: a mistyped path fails at once.
    let (share, plan) = Share::of(&sweep)?;
    share.check_x()?;
    let (configurations, settings) = (share.configurations(), &sweep.settings);
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
    user::check_builds(&sweep.kernels, &devices.cuda)?;
    let output = sweep::output(args, sweep.shard)?;
    let force = args.force || earlier.is_some();
    check_outputs(args, &output, force)?;

    let mut shown = match args.progress {
        Some(ProgressArg::Json) => progress::Progress::json(share.runs()),
        None => progress::Progress::new(quiet),
    };
    shown.set(0.0, "measuring the memory bandwidth");
    let noise = NoiseWatch::start();
    let threads = bandwidth_threads(&configurations);
    let mut machine = environment(bandwidth(&threads, interrupt)?);
    devices.describe(backends, &configurations, &mut machine);
    if let (0, Some(shard)) = (share.len(), sweep.shard) {
        eprintln!("{shard} has nothing to run: the plan has fewer units of work than parts");
    }

    let bundle = start(args, &sweep, plan, earlier);
    let mut recorder =
        Recorder::new(&output, bundle, machine, shown, (sweep.operation, args), force)?;
    let runner = Runner {
        backends: devices.backends(backends),
        settings,
        environment: &recorder.environment(),
        memory: args.memory_limit.map(MemoryLimit::bytes),
        cancel: interrupt.flag(),
        agreement: &Alone,
    };
    let job = Job { share: &share, runner, output: &output, interrupt };
    let tally = job.run(&mut recorder)?;
    report(&job, &tally, recorder, args, &threads, noise)
}

/// What is to be measured.
struct Preparation {
    sweep: Sweep,
    devices: Devices,
    libraries: Vec<KernelLibrary>,
    /// The bundle to continue.
    earlier: Option<Bundle>,
}

impl Preparation {
    /// The plan of the arguments, or of the bundle that they continue; opens the devices that it needs.
    fn of(args: &BenchArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Self> {
        let x = match &args.x {
            Some(path) => {
                let progress = Progress::none().cancelled_by(interrupt.flag());
                let memory =
                    args.memory_limit.map_or_else(MemoryLimit::of_machine, MemoryLimit::bytes);
                Some(told(path, open_vector(path, None, memory, progress)?))
            }
            None => None,
        };
        let earlier = args.resume.as_deref().map(sweep::interrupted).transpose()?;
        let mut kernels = user::named(args)?;
        let libraries = libraries::named(args, &kernels, earlier.as_ref(), interrupt)?;
        kernels.extend(libraries.iter().map(KernelLibrary::kernel));
        let users = Users {
            kernels,
            libraries: libraries::planned(&libraries),
            library_limit_s: libraries.first().map(|library| library.limit().as_secs_f64()),
        };
        let wants_cuda = args.backend.is_empty() || args.backend.contains(&BackendArg::Cuda);
        let gpu = match wants_cuda {
            false => Err(GpuAbsence::Disabled),
            true => gpu::open(args.gpu.device),
        };
        let sweep = match &earlier {
            Some(bundle) => Sweep::continuing(bundle, args, &users, x, (interrupt, quiet))?,
            None => Sweep::of(args, &gpu, &users, x, (interrupt, quiet))?,
        };
        let on_ranks = |kernel: &&KernelDescriptor| kernel.device == DeviceKind::Ranks;
        if let (Some(path), true) =
            (&args.resume, sweep.ranks.is_some() || sweep.kernels.iter().any(on_ranks))
        {
            let ranks = sweep.ranks.map_or("several".to_owned(), |ranks| ranks.to_string());
            bail!(
                "{} was started with {ranks} ranks: resume it with the same number",
                path.display()
            );
        }
        let has_gpus = |bundle: &Bundle| bundle.environments.iter().any(|one| !one.gpus.is_empty());
        let begun_on_gpu = earlier.as_ref().is_some_and(has_gpus);
        let devices = Devices::open(args, &sweep.kernels, gpu, begun_on_gpu)?;
        Ok(Self { sweep, devices, libraries, earlier })
    }
}

/// The memory bandwidth with these numbers of threads; fails if the time limit ends first.
fn bandwidth(threads: &[u32], interrupt: &Interrupt) -> anyhow::Result<Vec<Bandwidth>> {
    let bandwidth = measure_bandwidth(threads, interrupt.flag());
    Ok(match interrupt.raised() && !interrupt.by_user() {
        true => bandwidth.context(TOO_EARLY)?,
        false => bandwidth?,
    })
}

/// The bundle to which runs are added; `plan` is what it should have if it has none.
fn start(
    args: &BenchArgs,
    sweep: &Sweep,
    plan: Option<serde_json::Value>,
    earlier: Option<Bundle>,
) -> Bundle {
    let is_new = earlier.is_none();
    let mut bundle = earlier.unwrap_or_else(|| Bundle::new(producer(), now()));
    // A continued bundle has them already, or must not have them.
    if is_new && !args.no_source {
        user::keep_texts(&mut bundle, &sweep.kernels);
    }
    bundle.label = args.label.clone().or(bundle.label);
    bundle.plan = plan.or(bundle.plan);
    bundle.shard = sweep.shard;
    bundle
}

/// Writes the bundle and prints what was measured, unless there is nothing.
fn report(
    job: &Job<'_>,
    tally: &Tally,
    mut recorder: Recorder,
    args: &BenchArgs,
    threads: &[u32],
    noise: NoiseWatch,
) -> anyhow::Result<Outcome> {
    let &Job { share, output, interrupt, .. } = job;
    let &Tally { unread, stopped } = tally;
    recorder.take_failure().map_err(|error| kept(output, &error.into()))?;
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
    end(bundle, args, output, (interrupt, unread))
}

/// The thread counts of the CPU configurations, each once.
fn bandwidth_threads(configurations: &[Configuration]) -> Vec<u32> {
    let on_cpu =
        |c: &&Configuration| matches!(c.kernel.device, DeviceKind::Cpu | DeviceKind::Ranks);
    let on_cpu = configurations.iter().filter(on_cpu);
    let mut threads: Vec<u32> = on_cpu.map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}
