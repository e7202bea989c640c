//! What a bench is to do: from the arguments, or from a bundle to continue.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use sparsescope_core::bundle::{Bundle, Journal, Limits, journal_path};
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, CpuBackend, MOST_UNTIL, MedianGoal, Portion, Probed,
    Settings, SourceError, SubjectSource, Units, select_kernels, tell_apart,
};
use sparsescope_core::io::points::HeaderLine;
use sparsescope_core::kernel::parameters::RANKS;
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Library, kernel};
use sparsescope_core::matrix::{Reordering, Sha256Hex};
use sparsescope_core::measure::{cpu, default_thread_counts};
use sparsescope_core::record::{GpuAbsence, Operation, Precision, Shard};

use super::planned::{NOT_A_PLAN, Plan, PlannedMatrix};
use super::user::{PlannedFile, Users};
use super::{list, shard, user};
use crate::cli::bench_args::BenchArgs;
use crate::cli::compare::without_path;
use crate::cli::gpu::{self, Gpu};
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::UsageError;
use crate::cli::shared_args::{BackendArg, needs_ranks};

/// Default limit in seconds for sampling a run until its median is known.
const AT_MOST_S: f64 = 10.0;

/// Matrices, kernels and settings.
pub(super) struct Sweep {
    pub(super) operation: Operation,
    pub(super) sources: Vec<SubjectSource>,
    pub(super) kernels: Vec<&'static KernelDescriptor>,
    /// The libraries of some of the kernels.
    pub(super) libraries: Vec<PlannedFile>,
    /// Seconds that each call of a library may take, if there are any.
    pub(super) library_limit_s: Option<f64>,
    pub(super) settings: Settings,
    /// The user's vector, in place of the one from the seed.
    pub(super) x: Option<Vec<f64>>,
    pub(super) reordering: Option<Reordering>,
    /// The part to run, if not all.
    pub(super) shard: Option<Shard>,
    /// What runs of a continued part; the sources are then only its subjects.
    pub(super) portions: Option<Vec<Portion>>,
    /// Ranks that share each subject, if a launcher started several.
    pub(super) ranks: Option<usize>,
}

impl Sweep {
    /// The plan that the arguments ask for. Without a GPU its kernels are left out, unless they are requested
    /// by `--backend cuda`. User kernels stay: whoever names a file wants to see what becomes of it.
    pub(super) fn of(
        args: &BenchArgs,
        gpu: &Result<Gpu, GpuAbsence>,
        users: &Users,
        x: Option<Vec<f64>>,
        (interrupt, quiet): (&Interrupt, bool),
    ) -> anyhow::Result<Self> {
        let shard = args.shard.map(shard::asked).transpose()?;
        let sources = sources(args, interrupt, quiet)?;
        let reordering = args.reorder.map(Into::into);
        let mut kernels = kernels(args, gpu)?;
        kernels.extend(&users.kernels);
        let settings = settings(args, &kernels, gpu::count)?;
        if let Some(untaken) = settings.untaken(&kernels) {
            return Err(UsageError(untaken).into());
        }
        Ok(Self {
            operation: args.operation,
            sources,
            kernels,
            libraries: users.libraries.clone(),
            library_limit_s: users.library_limit_s,
            settings,
            x,
            reordering,
            shard,
            portions: None,
            ranks: None,
        })
    }

    /// The plan of the bundle to continue. Generated matrices are generated again. Files are those that the
    /// arguments name, even if the bundle gives a path: it may come from anybody, and its runs would reveal
    /// what a file holds.
    pub(super) fn continuing(
        bundle: &Bundle,
        args: &BenchArgs,
        users: &Users,
        x: Option<Vec<f64>>,
        (interrupt, quiet): (&Interrupt, bool),
    ) -> anyhow::Result<Self> {
        let plan = Plan::of(bundle)?;
        let operation = plan.operation()?;
        plan.settings.check().map_err(|sentence| anyhow!("the bundle's plan: {sentence}"))?;
        if plan.x != x.as_deref().map(identity) {
            let sentence = match (&plan.x, &x) {
                (Some(_), None) => "to resume, pass the file of x again with --x",
                (None, _) => "the bundle was measured without --x: resume it without --x",
                _ => "the file of --x differs from the x of the bundle",
            };
            return Err(UsageError(sentence.to_owned()).into());
        }
        user::check_same(&plan.kernel_files, &user::planned(&users.kernels), "--kernel-file")?;
        user::check_same(&plan.kernel_libraries, &users.libraries, "--kernel-library")?;
        let kernels = plan.kernels(&users.kernels)?;
        if let Some(other) = kernels.iter().find(|kernel| kernel.operation != operation) {
            let (id, word) = (other.id, operation.as_str());
            bail!("the bundle's plan names `{id}`, which is not a kernel of {word}");
        }
        let portions = bundle.shard.map(|shard| {
            let configurations = Configuration::all(&kernels, &plan.settings);
            plan.part(&Units::among(&configurations), shard)
        });
        let needed: Vec<&PlannedMatrix> = match &portions {
            Some(portions) => {
                portions.iter().filter_map(|p| plan.matrices.get(p.subject)).collect()
            }
            None => plan.matrices.iter().collect(),
        };
        let named = named(args, operation, interrupt, quiet)?;
        let mut sources = Vec::new();
        let mut missing = Vec::new();
        for matrix in needed {
            let recipe = matrix.source.as_deref();
            let recipe = recipe.map(|text| SubjectSource::parse(operation, text)).transpose()?;
            // The author of a bundle must not choose which files of this machine are read.
            let recipe = recipe.filter(|source| !source.is_file());
            let named = || named.iter().find_map(|source| source.called(&matrix.name));
            match recipe.or_else(named) {
                Some(source) => sources.push(source),
                None => missing.push(matrix.name.as_str()),
            }
        }
        if !missing.is_empty() {
            let files = missing.join(", ");
            let sentence = format!("to resume, pass the files of these matrices again: {files}");
            return Err(UsageError(sentence).into());
        }
        if portions.is_none() {
            let planned = |source: &SubjectSource| {
                plan.matrices.iter().any(|matrix| source.called(&matrix.name).is_some())
            };
            sources.extend(named.into_iter().filter(|source| !planned(source)));
        }
        // What runs of each of the remaining sources.
        let portions = portions.map(|portions| {
            let renumbered = |(subject, portion)| Portion { subject, ..portion };
            portions.into_iter().enumerate().map(renumbered).collect()
        });
        let shard = bundle.shard;
        let Plan { settings, reordering, ranks, kernel_libraries: libraries, .. } = plan;
        Ok(Self {
            operation,
            sources,
            kernels,
            libraries,
            library_limit_s: users.library_limit_s,
            settings,
            x,
            reordering,
            shard,
            portions,
            ranks,
        })
    }

    /// The plan as stored in a bundle, with what is known about each of its sources.
    pub(super) fn plan(&self, probed: &[Result<Probed, SourceError>]) -> Plan {
        let planned = |(source, probed): (&SubjectSource, &Result<Probed, SourceError>)| {
            Plan::matrix(source, probed.as_ref().ok().map(|probed| probed.cost))
        };
        Plan {
            operation: self.operation.as_str().to_owned(),
            matrices: self.sources.iter().zip(probed).map(planned).collect(),
            kernels: self.kernels.iter().map(|k| k.id.to_owned()).collect(),
            settings: self.settings.clone(),
            x: self.x.as_deref().map(identity),
            reordering: self.reordering,
            kernel_files: user::planned(&self.kernels),
            kernel_libraries: self.libraries.clone(),
            library_limit_s: self.library_limit_s,
            ranks: self.ranks,
        }
    }
}

/// The SHA-256 of a vector's elements.
fn identity(x: &[f64]) -> String {
    let mut digest = Sha256Hex::default();
    for block in x.chunks(4096) {
        let bytes: Vec<u8> = block.iter().flat_map(|element| element.to_le_bytes()).collect();
        digest.update(&bytes);
    }
    digest.finish()
}

/// The file size of a subject in bytes, if it comes from a file.
pub(super) fn file_size(source: &SubjectSource) -> Option<u64> {
    source.file().and_then(crate::cli::output::file_size)
}

/// Reads the interrupted bundle at `path`, or its journal. Runs that were cut short are left out, to be
/// measured again.
pub(super) fn interrupted(path: &Path) -> anyhow::Result<Bundle> {
    let journal = journal_path(path);
    let mut bundle = if journal.is_file() {
        Journal::recover(&journal, &Limits::default())
            .map_err(without_path)
            .with_context(|| format!("cannot resume {}", journal.display()))?
    } else {
        Bundle::open(path, &Limits::default())
            .map_err(without_path)
            .with_context(|| format!("cannot resume {}", path.display()))?
    };
    if bundle.complete {
        bail!("{} is complete; there is nothing to resume", path.display());
    }
    let plan = bundle.plan.as_ref();
    // Before 1.3 a run did not record that it was cut short.
    let setting = |name: &str| plan?.get("settings")?.get(name);
    let lists = setting("precision").is_some_and(serde_json::Value::is_array);
    let samples = setting("runs").and_then(serde_json::Value::as_u64);
    bundle.runs.retain(|run| match lists {
        true => !run.cut_short,
        false => run.samples.is_empty() || Some(run.samples.len() as u64) == samples,
    });
    if let (false, Some(plan)) = (lists, plan) {
        // Nor the requested parameters: all runs had the plan's.
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

/// The matrices named as arguments and in a list.
fn named(
    args: &BenchArgs,
    operation: Operation,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Vec<SubjectSource>> {
    let mut sources = Vec::new();
    for text in &args.matrices {
        sources.push(SubjectSource::parse(operation, text)?);
    }
    if let Some(name) = &args.suite {
        let is_suite = SubjectSource::suites(operation).contains(&name.as_str());
        if !is_suite && Path::new(name).is_file() {
            sources.extend(list::read(Path::new(name), operation, interrupt, quiet)?);
        } else if args.resume.is_some() {
            let sentence = "with --resume, --suite only takes a list file; the matrices of a suite come from \
                            the bundle";
            return Err(UsageError(sentence.to_owned()).into());
        }
    }
    let header = args.header.line();
    if header != HeaderLine::Find && !SubjectSource::have_headers(operation) {
        let sentence =
            "--header and --no-header apply only to files of points (--operation skyline)";
        return Err(UsageError(sentence.to_owned()).into());
    }
    let as_asked = |source: SubjectSource| args.read.of(source.with_header(header));
    let mut sources = sources.into_iter().map(as_asked).collect::<Result<Vec<_>, _>>()?;
    tell_apart(&mut sources);
    Ok(sources)
}

/// The matrices named, or those of the suite or the list, or the default suite.
pub(super) fn sources(
    args: &BenchArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Vec<SubjectSource>> {
    let operation = args.operation;
    let mut sources = named(args, operation, interrupt, quiet)?;
    let name = match &args.suite {
        Some(name) => name.as_str(),
        None if sources.is_empty() => SubjectSource::default_suite(operation),
        None => return Ok(sources),
    };
    match SubjectSource::of_suite(operation, name)? {
        Some(of_suite) => sources.extend(of_suite),
        None if Path::new(name).is_file() => {}
        None => {
            let known = SubjectSource::suites(operation).join(", ");
            let sentence =
                format!("there is no suite and no list file `{name}`; the suites are: {known}");
            return Err(UsageError(sentence).into());
        }
    }
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
    let patterns: Vec<String> =
        args.kernels.iter().flat_map(|list| crate::patterns::split(list)).collect();
    match gpu {
        Ok(_) if args.backend.is_empty() || asked(BackendArg::Cuda) => {
            devices.push(DeviceKind::Cuda);
        }
        Err(absence) if asked(BackendArg::Cuda) => return Err(absence.clone().into()),
        _ => {}
    }
    if let Some(pattern) = patterns.iter().find(|pattern| pattern.starts_with("mpi/")) {
        return Err(needs_ranks(&format!("`{pattern}`")).into());
    }
    // A GPU that CUDA runs on is not used twice, unless requested.
    let names_wgpu = patterns.iter().any(|pattern| pattern.starts_with("wgpu/"));
    if asked(BackendArg::Wgpu) || (args.backend.is_empty() && names_wgpu) {
        devices.push(DeviceKind::Wgpu);
    }
    let operation = args.operation;
    // All GPUs together are used only on request.
    let names_nccl = patterns.iter().any(|pattern| pattern.starts_with("nccl/"));
    let names_gpus = !args.parameters.lists().values(RANKS.id()).is_empty();
    if names_gpus || names_nccl {
        if !args.backend.is_empty() && !asked(BackendArg::Cuda) {
            let sentence = match asked(BackendArg::Wgpu) {
                true => "kernels on several GPUs need --backend cuda, not wgpu",
                false => "kernels on several GPUs need --backend cuda, not cpu",
            };
            return Err(UsageError(sentence.to_owned()).into());
        }
        if let Err(absence) = gpu {
            return Err(absence.clone().into());
        }
        devices.push(DeviceKind::Nccl);
    }
    let mut kernels = select_kernels(operation, &devices, &patterns)?;
    let cpu = CpuBackend::new();
    let here = |k: &KernelDescriptor| cpu.availability(k) == Availability::Available;
    let (kept, left_out): (Vec<_>, Vec<_>) =
        kernels.iter().copied().partition(|k| k.device != DeviceKind::Cpu || here(k));
    if let Some(sentence) = not_built_in(&left_out) {
        eprintln!("{sentence}");
    }
    if patterns.is_empty() {
        // As without a GPU: kernels that are neither requested nor available are left out.
        kernels = kept;
    }
    Ok(kernels)
}

/// One line on the kernels that need a feature missing from this build.
fn not_built_in(kernels: &[&KernelDescriptor]) -> Option<String> {
    let faer: Vec<&str> =
        kernels.iter().filter(|k| k.library() == Some(Library::Faer)).map(|k| k.id).collect();
    let is_built = cfg!(feature = "faer") || faer.is_empty();
    (!is_built).then(|| format!("Not built in: {} (--features faer)", faer.join(", ")))
}

/// The settings that the arguments ask for. With WGSL kernels among them, all run in the precision of these
/// unless another is requested, so that they can be compared. The GPU count is `all_gpus` if none is named.
pub(super) fn settings(
    args: &BenchArgs,
    kernels: &[&'static KernelDescriptor],
    all_gpus: impl FnOnce() -> Result<usize, GpuAbsence>,
) -> anyhow::Result<Settings> {
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
    if precisions.is_empty() {
        let has_wgpu = kernels.iter().any(|kernel| kernel.device == DeviceKind::Wgpu);
        precisions.push(if has_wgpu { Precision::F32 } else { Precision::F64 });
        if has_wgpu {
            eprintln!("wgpu has no f64: everything runs in f32 (--precision f64,f32 runs both)");
        }
    }
    precisions.sort_unstable();
    precisions.dedup();
    let mut parameters = args.parameters.lists().clone();
    let on_several = kernels.iter().any(|kernel| kernel.device == DeviceKind::Nccl);
    if on_several && parameters.values(RANKS.id()).is_empty() {
        parameters.set(RANKS.id(), &[all_gpus()?])?;
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
        energy: args.energy,
        seed: args.seed,
        precisions,
        parameters,
    })
}

/// The bundle's path: as in the arguments, or `sparsescope-DATE-TIME.zip`, which names the part if it is one,
/// with a number if that file exists.
pub(super) fn output(args: &BenchArgs, shard: Option<Shard>) -> anyhow::Result<PathBuf> {
    if let Some(path) = args.resume.as_ref().or(args.output.as_ref()) {
        return Ok(path.clone());
    }
    let stamp = crate::utc::stamp();
    let part = shard.map_or(String::new(), |Shard { part, of }| format!("-part-{part}-of-{of}"));
    let name = format!("sparsescope-{stamp}{part}");
    let mut paths = std::iter::once(format!("{name}.zip"))
        .chain((2..1000).map(|k| format!("{name}-{k}.zip")))
        .map(PathBuf::from);
    let free = |path: &PathBuf| {
        path.symlink_metadata().is_err() && journal_path(path).symlink_metadata().is_err()
    };
    paths.find(free).context("no free file name for the bundle; choose one with -o")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_need_a_feature_are_named_with_it() {
        let kernels: Vec<_> =
            ["cpu/csr/serial", "vendor/faer/cholesky"].into_iter().filter_map(kernel).collect();
        let told = "Not built in: vendor/faer/cholesky (--features faer)";
        let expected = (!cfg!(feature = "faer")).then_some(told);
        assert_eq!(not_built_in(&kernels).as_deref(), expected);
        assert_eq!(not_built_in(&kernels[..1]), None);
    }
}
