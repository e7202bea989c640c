//! `sparsescope bench`: the main job, from matrices to a checked result bundle and a table.

mod recorder;
mod summary;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sparsescope_core::bundle::{Bundle, Producer, Verdict};
use sparsescope_core::experiment::{
    Backend, Configuration, CpuBackend, DeviceKind, Ending, KernelDescriptor, LoadedMatrix,
    LoadedValues, MatrixSource, Operation, Problem, Runner, Settings, SpmvProblem, select_kernels,
};
use sparsescope_core::generate::{suite, suites};
use sparsescope_core::io::{Progress, save};
use sparsescope_core::measure::{
    NoiseWatch, cpu, default_thread_counts, environment, integer_vector, measure_bandwidth,
    revision,
};
use sparsescope_core::memory::MemoryLimit;

use super::args::{BackendArg, BenchArgs, OperationArg, PrecisionArg};
use super::interrupt::Interrupt;
use super::output::{check_free, overwrite, print, print_json};
use super::progress;
use super::{Outcome, UsageError};
use recorder::{Part, Recorder};

/// The suite that is run when nothing is named.
const DEFAULT_SUITE: &str = "mini";

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
    let sources = sources(args)?;
    let kernels = kernels(args)?;
    let settings = settings(args);
    let configurations = Configuration::all(&kernels, &settings);
    if args.plan {
        print(&summary::plan(&sources, &configurations, &settings))?;
        return Ok(Outcome::Success);
    }
    let output = match &args.output {
        Some(path) => path.clone(),
        None => default_output(Path::new("."))?,
    };
    check_free(&output, args.force)?;
    if let Some(csv) = &args.csv {
        check_free(csv, args.force)?;
    }

    let mut shown = progress::Progress::new(quiet);
    shown.set(0.0, "measuring the memory bandwidth");
    let noise = NoiseWatch::start();
    let threads = &bandwidth_threads(&configurations);
    let machine = environment(measure_bandwidth(threads, interrupt.flag())?);

    let mut bundle = Bundle::new(producer(), now());
    bundle.label = args.label.clone();
    bundle.plan = Some(plan_value(&sources, &kernels, &settings));
    bundle.environments = vec![machine];
    let mut recorder = Recorder::new(&output, bundle, shown, args.force)?;

    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, cpu_backend)],
        settings: &settings,
        environment: &recorder.environment().clone(),
        memory: args.memory_limit.map(MemoryLimit::bytes),
        cancel: interrupt.flag(),
    };
    let mut unread = 0;
    for (k, source) in sources.iter().enumerate() {
        let part = Part { first: k, of: sources.len(), name: source.name() };
        recorder.begin(part);
        let memory = runner.memory.unwrap_or_else(MemoryLimit::of_machine);
        let loaded = match source.load(memory, Progress::none(), interrupt.flag()) {
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
        let ending = match problem(&loaded, &settings) {
            Some(problem) => runner.run(&id, &problem, &configurations, &mut recorder),
            None => runner.refuse(&id, &configurations, REAL_ONLY, &mut recorder),
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
        let csv = bundle.results_csv()?;
        save(path, overwrite(args.force), |out| {
            out.write_all(&csv)
                .map_err(|error| sparsescope_core::io::IoError::System { doing: "write", error })
        })?;
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

/// The matrices named, those of the suite, or the default suite.
fn sources(args: &BenchArgs) -> anyhow::Result<Vec<MatrixSource>> {
    let mut sources = Vec::new();
    for text in &args.matrices {
        sources.push(MatrixSource::parse(text)?);
    }
    let name = match (&args.suite, sources.is_empty()) {
        (Some(name), _) => name,
        (None, true) => DEFAULT_SUITE,
        (None, false) => return Ok(sources),
    };
    let Some(suite) = suite(name) else {
        let names: Vec<&str> = suites().iter().map(|suite| suite.name).collect();
        let known = names.join(", ");
        return Err(UsageError(format!("there is no suite `{name}`; there are: {known}")).into());
    };
    for entry in suite.entries {
        sources.push(MatrixSource::of_suite(entry)?);
    }
    Ok(sources)
}

fn kernels(args: &BenchArgs) -> anyhow::Result<Vec<&'static KernelDescriptor>> {
    if args.backend.contains(&BackendArg::Cuda) {
        bail!("this build has no CUDA backend");
    }
    let PrecisionArg::F64 = args.precision;
    let operation = match args.operation {
        OperationArg::Spmv => Operation::Spmv,
    };
    Ok(select_kernels(operation, &[DeviceKind::Cpu], &args.kernels)?)
}

fn settings(args: &BenchArgs) -> Settings {
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = default_thread_counts(cpu().logical);
    }
    threads.sort_unstable();
    threads.dedup();
    Settings {
        runs: args.runs as usize,
        warmup: args.warmup as usize,
        threads,
        cold: args.cold,
        seed: args.seed,
        hack_size: args.format.hack_size,
        hyb_width: args.format.hyb_width,
    }
}

/// Thread counts of the configurations, each once.
fn bandwidth_threads(configurations: &[Configuration]) -> Vec<u32> {
    let mut threads: Vec<u32> = configurations.iter().map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// What was to be run, kept in the bundle.
fn plan_value(
    sources: &[MatrixSource],
    kernels: &[&'static KernelDescriptor],
    settings: &Settings,
) -> serde_json::Value {
    // Names, not paths: a bundle says nothing of the machine's folders.
    let matrices: Vec<String> = sources.iter().map(MatrixSource::name).collect();
    let kernels: Vec<&str> = kernels.iter().map(|k| k.id).collect();
    serde_json::json!({ "matrices": matrices, "kernels": kernels, "settings": settings })
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

/// `sparsescope-DATE-TIME.zip`, with a number when that exists already.
fn default_output(folder: &Path) -> anyhow::Result<PathBuf> {
    let stamp = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let names = std::iter::once(format!("sparsescope-{stamp}.zip"))
        .chain((2..1000).map(|k| format!("sparsescope-{stamp}-{k}.zip")));
    let mut paths = names.map(|name| match folder {
        here if here == Path::new(".") => PathBuf::from(name),
        folder => folder.join(name),
    });
    let free = |path: &PathBuf| {
        let journal = sparsescope_core::bundle::journal_path(path);
        path.symlink_metadata().is_err() && journal.symlink_metadata().is_err()
    };
    paths.find(free).context("no free name for the bundle; name one with -o")
}
