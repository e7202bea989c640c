//! What a bench is to do: from the arguments, or from a bundle that is to be continued.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::{Deserialize, Serialize};
use sparsescope_core::bundle::{Bundle, Journal, Limits, journal_path};
use sparsescope_core::experiment::{
    Availability, Backend, CpuBackend, MOST_UNTIL, MedianGoal, Settings, SubjectSource,
    select_kernels,
};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Mapping, Parameter, kernel};
use sparsescope_core::matrix::{Reordering, Sha256Hex};
use sparsescope_core::measure::{cpu, default_thread_counts};
use sparsescope_core::record::{GpuAbsence, Operation, Precision};

use super::user::{self, PlannedFile};
use crate::cli::args::BenchArgs;
use crate::cli::gpu::{self, Gpu};
use crate::cli::outcome::UsageError;
use crate::cli::shared_args::BackendArg;

/// Seconds of sampling that a run takes at most until its median is known.
const AT_MOST_S: f64 = 10.0;

/// What is said of a plan that cannot be read.
const NOT_A_PLAN: &str = "the bundle's plan is not one of this version of bench";

/// Matrices, kernels and settings.
pub(super) struct Sweep {
    pub(super) operation: Operation,
    pub(super) sources: Vec<SubjectSource>,
    pub(super) kernels: Vec<&'static KernelDescriptor>,
    pub(super) settings: Settings,
    /// The vector of the user, instead of the one from the seed.
    pub(super) x: Option<Vec<f64>>,
    pub(super) reordering: Option<Reordering>,
}

/// A [`Sweep`] as a bundle keeps it. Files go by their names, not their paths: a bundle says nothing
/// of the machine's folders.
#[derive(Serialize, Deserialize)]
struct Plan {
    operation: String,
    matrices: Vec<PlannedMatrix>,
    kernels: Vec<String>,
    settings: Settings,
    /// SHA-256 of the user's x: its elements as little-endian f64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reordering: Option<Reordering>,
    /// Files of users' kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kernel_files: Vec<PlannedFile>,
}

#[derive(Serialize, Deserialize)]
struct PlannedMatrix {
    name: String,
    /// `gen:…` or `suite:…`; absent for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl Sweep {
    /// What the arguments ask for. Without a GPU its kernels are left out, unless they are asked
    /// for by `--backend cuda`, but not the users' kernels: who names a file wants to see what becomes of it.
    pub(super) fn of(
        args: &BenchArgs,
        gpu: &Result<Gpu, GpuAbsence>,
        users: &[&'static KernelDescriptor],
        x: Option<Vec<f64>>,
    ) -> anyhow::Result<Self> {
        let sources = sources(args)?;
        let reordering = args.reorder.map(Into::into);
        let mut kernels = kernels(args, gpu)?;
        kernels.extend(users);
        let settings = settings(args, &kernels)?;
        if let Some(untaken) = settings.untaken(&kernels) {
            return Err(UsageError(untaken).into());
        }
        let operation = args.operation.into();
        Ok(Self { operation, sources, kernels, settings, x, reordering })
    }

    /// What the bundle was to hold. Generated matrices are made again; files are those that the
    /// arguments name.
    pub(super) fn continuing(
        bundle: &Bundle,
        args: &BenchArgs,
        users: &[&'static KernelDescriptor],
        x: Option<Vec<f64>>,
    ) -> anyhow::Result<Self> {
        let plan = bundle.plan.clone().context("the bundle does not say what was to be run")?;
        let plan: Plan = serde_json::from_value(plan).context(NOT_A_PLAN)?;
        let operation = Operation::of(&plan.operation).with_context(|| {
            format!("the bundle's plan is of the operation `{}`, which this version of bench does not know", plan.operation)
        })?;
        plan.settings.check().map_err(|sentence| anyhow!("the bundle's plan: {sentence}"))?;
        if plan.x != x.as_deref().map(identity) {
            let sentence = match (&plan.x, &x) {
                (Some(_), None) => "to continue, name the file of x again with --x",
                (None, _) => "the bundle was measured without --x and is continued without it",
                _ => "the file of --x is not the x that the bundle was measured with",
            };
            return Err(UsageError(sentence.to_owned()).into());
        }
        user::check_same(&plan.kernel_files, users)?;
        let mut sources = Vec::new();
        let mut files = Vec::new();
        for matrix in &plan.matrices {
            match &matrix.source {
                Some(source) => sources.push(SubjectSource::parse(operation, source)?),
                None => files.push(matrix.name.as_str()),
            }
        }
        let mut named = Vec::new();
        for text in &args.matrices {
            named.push(SubjectSource::parse(operation, text)?);
        }
        let missing = |file: &&&str| !named.iter().any(|source| source.name() == **file);
        let missing: Vec<&str> = files.iter().filter(missing).copied().collect();
        if !missing.is_empty() {
            let files = missing.join(", ");
            let sentence = format!("to continue, name the files of these matrices again: {files}");
            return Err(UsageError(sentence).into());
        }
        named.extend(sources);
        let known = |id: &String| {
            let found = kernel(id).or_else(|| users.iter().copied().find(|user| user.id == id));
            found.with_context(|| format!("this version has no kernel `{id}`"))
        };
        let kernels: Vec<&KernelDescriptor> =
            plan.kernels.iter().map(known).collect::<anyhow::Result<_>>()?;
        if let Some(other) = kernels.iter().find(|kernel| kernel.operation != operation) {
            let (id, word) = (other.id, operation.as_str());
            bail!("the bundle's plan names `{id}`, which is no kernel of {word}");
        }
        let Plan { settings, reordering, .. } = plan;
        Ok(Self { operation, sources: named, kernels, settings, x, reordering })
    }

    /// As a bundle keeps it.
    pub(super) fn plan(&self) -> serde_json::Result<serde_json::Value> {
        let planned = |source: &SubjectSource| PlannedMatrix {
            name: source.name(),
            source: (!source.is_file()).then(|| source.to_string()),
        };
        serde_json::to_value(Plan {
            operation: self.operation.as_str().to_owned(),
            matrices: self.sources.iter().map(planned).collect(),
            kernels: self.kernels.iter().map(|k| k.id.to_owned()).collect(),
            settings: self.settings.clone(),
            x: self.x.as_deref().map(identity),
            reordering: self.reordering,
            kernel_files: user::planned(&self.kernels),
        })
    }
}

/// SHA-256 of a vector's elements.
fn identity(x: &[f64]) -> String {
    let mut digest = Sha256Hex::default();
    for block in x.chunks(4096) {
        let bytes: Vec<u8> = block.iter().flat_map(|element| element.to_le_bytes()).collect();
        digest.update(&bytes);
    }
    digest.finish()
}

/// Bytes of a subject's file, where it comes from one.
pub(super) fn file_size(source: &SubjectSource) -> Option<u64> {
    source.file().and_then(crate::cli::output::file_size)
}

/// The interrupted bundle at `path`, or what its journal holds. Runs that were cut short are left
/// out, to be measured again.
pub(super) fn interrupted(path: &Path) -> anyhow::Result<Bundle> {
    let journal = journal_path(path);
    let mut bundle = if journal.is_file() {
        Journal::recover(&journal, &Limits::default())
            .with_context(|| format!("cannot continue {}", journal.display()))?
    } else {
        Bundle::open(path, &Limits::default())
            .with_context(|| format!("cannot continue {}", path.display()))?
    };
    if bundle.complete {
        bail!("{} is complete; there is nothing to continue", path.display());
    }
    let plan = bundle.plan.as_ref();
    // Before 1.3 a run did not say that it was cut short.
    let setting = |name: &str| plan?.get("settings")?.get(name);
    let lists = setting("precision").is_some_and(serde_json::Value::is_array);
    let samples = setting("runs").and_then(serde_json::Value::as_u64);
    bundle.runs.retain(|run| match lists {
        true => !run.cut_short,
        false => run.samples.is_empty() || Some(run.samples.len() as u64) == samples,
    });
    if let (false, Some(plan)) = (lists, plan) {
        // Nor with which parameters it was asked for: all runs had the plan's.
        let settings = plan.get("settings").cloned().unwrap_or_default();
        let settings = serde_json::from_value::<Settings>(settings).context(NOT_A_PLAN)?;
        let parameters = settings.parameters.single().unwrap_or_default();
        for run in &mut bundle.runs {
            run.asked =
                kernel(&run.kernel).map(|k| k.listed(&parameters).names()).unwrap_or_default();
        }
    }
    Ok(bundle)
}

/// The matrices named, those of the suite, or the default suite.
fn sources(args: &BenchArgs) -> anyhow::Result<Vec<SubjectSource>> {
    let operation = args.operation.into();
    let mut sources = Vec::new();
    for text in &args.matrices {
        sources.push(SubjectSource::parse(operation, text)?);
    }
    let name = match (&args.suite, sources.is_empty()) {
        (Some(name), _) => name,
        (None, true) => SubjectSource::default_suite(operation),
        (None, false) => return Ok(sources),
    };
    let Some(of_suite) = SubjectSource::of_suite(operation, name)? else {
        let known = SubjectSource::suites(operation).join(", ");
        return Err(UsageError(format!("there is no suite `{name}`; there are: {known}")).into());
    };
    sources.extend(of_suite);
    Ok(sources)
}

fn kernels(
    args: &BenchArgs,
    gpu: &Result<Gpu, GpuAbsence>,
) -> anyhow::Result<Vec<&'static KernelDescriptor>> {
    let asked = |backend: BackendArg| args.backend.contains(&backend);
    let mut devices = Vec::new();
    if args.backend.is_empty() || asked(BackendArg::Cpu) {
        devices.push(DeviceKind::Cpu);
    }
    match gpu {
        Ok(_) if args.backend.is_empty() || asked(BackendArg::Cuda) => {
            devices.push(DeviceKind::Cuda);
        }
        Err(absence) if asked(BackendArg::Cuda) => return Err(absence.clone().into()),
        _ => {}
    }
    let operation = args.operation.into();
    let patterns: Vec<String> =
        args.kernels.iter().flat_map(|list| crate::patterns::split(list)).collect();
    // All GPUs together are taken only where that is asked for.
    let prefix = format!("{}/", DeviceKind::Nccl.as_str());
    if !args.gpus.is_empty() || patterns.iter().any(|pattern| pattern.starts_with(&prefix)) {
        if args.backend == [BackendArg::Cpu] {
            let sentence = "several GPUs are asked for, and --backend cpu takes none";
            return Err(UsageError(sentence.to_owned()).into());
        }
        if let Err(absence) = gpu {
            return Err(absence.clone().into());
        }
        devices.push(DeviceKind::Nccl);
    }
    let mut kernels = select_kernels(operation, &devices, &patterns)?;
    if patterns.is_empty() {
        // As without a GPU: what nobody has asked for, and is not here, is left out.
        let cpu = CpuBackend::new();
        let is_library =
            |k: &KernelDescriptor| k.mapping == Mapping::Library && k.device == DeviceKind::Cpu;
        kernels.retain(|k| !is_library(k) || cpu.availability(k) == Availability::Available);
    }
    Ok(kernels)
}

fn settings(args: &BenchArgs, kernels: &[&'static KernelDescriptor]) -> anyhow::Result<Settings> {
    let mut threads = args.threads.clone();
    if threads.is_empty() {
        threads = default_thread_counts(cpu().logical);
    }
    threads.sort_unstable();
    threads.dedup();
    let mut blocks = args.block_sizes.clone();
    blocks.sort_unstable();
    blocks.dedup();
    let mut precisions: Vec<Precision> = args.precision.iter().map(|&arg| arg.into()).collect();
    precisions.sort_unstable();
    precisions.dedup();
    let mut parameters = args.format.lists()?;
    parameters.set(Parameter::Mode, &args.sweep.mode)?;
    parameters.set(Parameter::Counting, &args.counting)?;
    args.solver.add_to(&mut parameters)?;
    args.system.add_to(&mut parameters)?;
    parameters.set(Parameter::Rhs, &args.rhs)?;
    let on_several = kernels.iter().any(|kernel| kernel.device == DeviceKind::Nccl);
    match args.gpus.is_empty() && on_several {
        true => parameters.set(Parameter::Ranks, &[gpu::count()?])?,
        false => parameters.set(Parameter::Ranks, &args.gpus)?,
    }
    Ok(Settings {
        runs: if args.until.is_some() { MOST_UNTIL } else { args.runs as usize },
        until: args.until.map(|share| {
            let at_most_s = args.at_most.map_or(AT_MOST_S, |at_most| at_most.as_secs_f64());
            MedianGoal { share, at_most_s }
        }),
        warmup: args.warmup as usize,
        threads,
        blocks,
        cold: args.cold,
        seed: args.seed,
        precisions,
        parameters,
    })
}

/// Where the bundle goes: where the arguments say, or `sparsescope-DATE-TIME.zip`, with a number
/// when that exists already.
pub(super) fn output(args: &BenchArgs) -> anyhow::Result<PathBuf> {
    if let Some(path) = args.resume.as_ref().or(args.output.as_ref()) {
        return Ok(path.clone());
    }
    let stamp = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let mut paths = std::iter::once(format!("sparsescope-{stamp}.zip"))
        .chain((2..1000).map(|k| format!("sparsescope-{stamp}-{k}.zip")))
        .map(PathBuf::from);
    let free = |path: &PathBuf| {
        path.symlink_metadata().is_err() && journal_path(path).symlink_metadata().is_err()
    };
    paths.find(free).context("no free name for the bundle; name one with -o")
}
