//! `sparsescope bench`: the main job, from matrices to a checked result bundle and a table.

mod job;
mod recorder;
mod summary;
#[cfg(test)]
mod tests;

use anyhow::bail;
use sparsescope_core::bundle::{Bundle, Producer, Verdict};
use sparsescope_core::experiment::{
    Backend, Configuration, CpuBackend, DeviceKind, Ending, GpuAbsence, LoadedMatrix, LoadedValues,
    Problem, Runner, Settings, SpmvProblem,
};
use sparsescope_core::io::Progress;
use sparsescope_core::measure::{
    NoiseWatch, environment, integer_vector, measure_bandwidth, revision,
};
use sparsescope_core::memory::MemoryLimit;

use super::Outcome;
use super::args::{BackendArg, BenchArgs, ProgressArg};
use super::gpu;
use super::interrupt::Interrupt;
use super::output::{check_free, print, print_json, write_csv};
use super::progress;
use job::Job;
use recorder::{Part, Recorder};

pub(super) fn run(args: &BenchArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    run_with(args, interrupt, quiet, &CpuBackend::new())
}

/// The same with another backend for the CPU's kernels.
fn run_with(
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
    cpu_backend: &dyn Backend,
) -> anyhow::Result<Outcome> {
    let earlier = args.resume.as_deref().map(job::interrupted).transpose()?;
    let gpu = match args.backend.as_slice() {
        [BackendArg::Cpu] => Err(GpuAbsence::Disabled),
        _ => gpu::open(args.gpu.device),
    };
    let job = match &earlier {
        Some(bundle) => Job::continuing(bundle, args)?,
        None => Job::of(args, &gpu)?,
    };
    let Job { sources, kernels, settings, reordering } = &job;
    let uses_gpu = kernels.iter().any(|k| k.device == DeviceKind::Cuda);
    if let (Err(absence), true, false) = (&gpu, uses_gpu, args.plan) {
        bail!(
            "the bundle is to be continued with kernels of a GPU, which cannot run here: {absence}"
        );
    }
    let configurations = Configuration::all(kernels, settings);
    if args.plan {
        print(&summary::plan(sources, &configurations, settings))?;
        return Ok(Outcome::Success);
    }
    let output = job::output(args)?;
    let force = args.force || earlier.is_some();
    check_free(&output, force)?;
    if let Some(csv) = &args.csv {
        check_free(csv, args.force)?;
    }

    let mut shown = match args.progress {
        Some(ProgressArg::Json) => progress::Progress::json(sources.len() * configurations.len()),
        None => progress::Progress::new(quiet),
    };
    shown.set(0.0, "measuring the memory bandwidth");
    let noise = NoiseWatch::start();
    let threads = &bandwidth_threads(&configurations);
    let mut machine = environment(measure_bandwidth(threads, interrupt.flag())?);
    let gpu = gpu.ok().filter(|_| uses_gpu);
    machine.gpus.extend(gpu.as_ref().and_then(|gpu| gpu.describe()));

    let mut bundle = earlier.unwrap_or_else(|| Bundle::new(producer(), now()));
    bundle.label = args.label.clone().or(bundle.label);
    bundle.plan = Some(job.plan()?);
    let mut recorder = Recorder::new(&output, bundle, machine, shown, args, force)?;

    let mut backends = vec![(DeviceKind::Cpu, cpu_backend)];
    backends.extend(gpu.as_deref().map(|gpu| (DeviceKind::Cuda, gpu)));
    let runner = Runner {
        backends,
        settings,
        environment: &recorder.environment(),
        memory: args.memory_limit.map(MemoryLimit::bytes),
        cancel: interrupt.flag(),
    };
    let mut unread = 0;
    for (k, source) in sources.iter().enumerate() {
        let part = Part { first: k, of: sources.len(), name: source.name() };
        recorder.begin(part);
        let memory = runner.memory.unwrap_or_else(MemoryLimit::of_machine);
        let (progress, cancel) = (Progress::none(), interrupt.flag());
        let loaded = match source.load_reordered(*reordering, memory, progress, cancel) {
            Ok(loaded) => loaded,
            Err(error) if error.is_cancelled() => break,
            Err(error) => {
                recorder.line(&format!("error: {error}"));
                unread += 1;
                continue;
            }
        };
        for warning in &loaded.warnings {
            recorder.line(&format!("warning: {}: {warning}", loaded.record.name));
        }
        let Some(id) = recorder.add_matrix(&loaded)? else {
            let name = &loaded.record.name;
            recorder.line(&format!("{name} is the same matrix as one before; it is run once"));
            continue;
        };
        let measured = recorder.runs_of(&id);
        let ending = match problem(&loaded, settings) {
            Some(problem) => runner.run(&id, &problem, &configurations, &measured, &mut recorder),
            None => runner.refuse(&id, &configurations, REAL_ONLY, &measured, &mut recorder),
        };
        if ending == Ending::Cancelled {
            break;
        }
    }
    recorder.take_failure()?;
    if sources.len() == unread {
        recorder.discard()?;
        bail!("no matrix could be had, so there is nothing to write");
    }

    let complete = !interrupt.raised();
    if complete && !threads.is_empty() {
        recorder.tell("measuring the memory bandwidth once more");
        let again = measure_bandwidth(threads, interrupt.flag()).unwrap_or_default();
        recorder.better_bandwidth(&again);
    }
    let bundle = recorder.finish(noise.finish(), complete)?;
    if let Some(path) = &args.csv {
        write_csv(&bundle, path, args.force)?;
    }
    if args.json {
        print_json(&sparsescope_core::bundle::Runs { runs: bundle.runs.clone() })?;
    } else {
        print(&summary::table(&bundle))?;
        if bundle.matrices.len() > 1 {
            print(&summary::fastest(&bundle))?;
        }
        print(&summary::closing(&bundle, &output))?;
    }
    let failed = bundle.runs.iter().any(|run| run.check.verdict == Verdict::Fail);
    Ok(match (failed, complete, unread) {
        (true, ..) => Outcome::CheckFailed,
        (_, false, _) => Outcome::Interrupted,
        (_, _, 0) => Outcome::Success,
        _ => Outcome::Incomplete,
    })
}

/// Why a complex matrix has no runs.
const REAL_ONLY: &str = "the matrix is complex; kernels compute with real matrices only";

/// The problem that the kernels solve; `None` for a complex matrix.
fn problem(loaded: &LoadedMatrix, settings: &Settings) -> Option<Problem> {
    match &loaded.values {
        LoadedValues::Real(a) => {
            let x = integer_vector(a.cols(), settings.seed);
            Some(Problem::Spmv(SpmvProblem::new(a.clone(), x)))
        }
        LoadedValues::Complex(_) => None,
    }
}

/// Thread counts of the processor's configurations, each once.
fn bandwidth_threads(configurations: &[Configuration]) -> Vec<u32> {
    let on_cpu = configurations.iter().filter(|c| c.kernel.device == DeviceKind::Cpu);
    let mut threads: Vec<u32> = on_cpu.map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

fn producer() -> Producer {
    Producer {
        name: "sparsescope".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: revision().map(str::to_owned),
    }
}

/// Now, in UTC and whole seconds.
fn now() -> String {
    let now = jiff::Timestamp::now();
    let seconds = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
    seconds.to_string()
}
