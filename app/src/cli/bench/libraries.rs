//! The libraries of `--kernel-library`.

use std::time::Duration;

use anyhow::Context;
use sparsescope_core::bundle::Bundle;
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_core::libraries::KernelLibrary;
use sparsescope_core::record::{KernelSource, Operation};

use super::end::TOO_EARLY;
use super::planned::Plan;
use super::user::PlannedFile;
use crate::cli::bench_args::BenchArgs;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::UsageError;
use crate::cli::program;
use crate::cli::shared_args::BackendArg;

/// How long each call of a library may take if neither the arguments nor a plan say so.
const USUAL_LIMIT: Duration = Duration::from_secs(60);

/// The libraries that the arguments name, in order; each is asked for its name. `kernels` are those of the files
/// that the arguments name, `earlier` is the bundle to continue.
pub(super) fn named(
    args: &BenchArgs,
    kernels: &[&'static KernelDescriptor],
    earlier: Option<&Bundle>,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<KernelLibrary>> {
    if args.kernel_library.is_empty() {
        return Ok(Vec::new());
    }
    let program = program::file();
    let program = program.context(
        "kernel libraries need a process of their own, and the file of this program is unknown",
    )?;
    let plan = earlier.map(Plan::of).transpose()?;
    // A continued bundle itself says what it computes.
    let operation = plan.as_ref().map(Plan::operation).transpose()?.unwrap_or(args.operation);
    let planned = plan.and_then(|plan| plan.library_limit_s);
    let planned = planned.map(Duration::try_from_secs_f64).transpose();
    let planned = planned.context("the bundle's plan has a wrong limit for calls of libraries")?;
    let limit = args.library_limit.or(planned).unwrap_or(USUAL_LIMIT);
    let mut libraries: Vec<KernelLibrary> = Vec::new();
    for path in &args.kernel_library {
        let gpu = args.gpu.device;
        let library = KernelLibrary::open(path, program, limit, gpu, interrupt.flag());
        let Some(library) = library.map_err(anyhow::Error::msg)? else {
            let why = if interrupt.by_user() { "interrupted" } else { TOO_EARLY };
            return Err(anyhow::Error::msg(why));
        };
        let (id, file) = (library.kernel().id, &library.source().file);
        let computes = library.kernel().operation;
        if computes != operation {
            let [computes, asked] = [computes, operation].map(Operation::as_str);
            let sentence = format!("{file} computes {computes}, but the operation is {asked}");
            return Err(UsageError(sentence).into());
        }
        let device = match library.kernel().device {
            DeviceKind::Cuda => BackendArg::Cuda,
            _ => BackendArg::Cpu,
        };
        if !args.backend.is_empty() && !args.backend.contains(&device) {
            let device = library.kernel().device.as_str();
            let sentence = format!("{file} runs on {device}, but --backend excludes {device}");
            return Err(UsageError(sentence).into());
        }
        let of_library = libraries.iter().find(|known| known.kernel().id == id);
        let of_file = kernels.iter().filter(|known| known.id == id).find_map(|known| known.user);
        let other = of_library.map(|known| &known.source().file);
        if let Some(other) = other.or(of_file.map(|user| &user.source.file)) {
            let sentence = format!("{other} and {file} both define {id}: rename one of the files");
            return Err(UsageError(sentence).into());
        }
        libraries.push(library);
    }
    Ok(libraries)
}

/// The libraries as stored in a plan.
pub(super) fn planned(libraries: &[KernelLibrary]) -> Vec<PlannedFile> {
    let planned = |library: &KernelLibrary| {
        let KernelSource { file, sha256, .. } = library.source().clone();
        PlannedFile { file, sha256 }
    };
    libraries.iter().map(planned).collect()
}
