//! The user's kernels: read, compared with those the bundle was begun with, and built before anything is
//! measured.

use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::{
    Availability, Backend, Configuration, PrepareError, Prepared, Problem,
};
use sparsescope_core::kernel::{KernelDescriptor, UserKernel, UserSource, user_kernels};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::GpuAbsence;

use crate::cli::bench_args::BenchArgs;
use crate::cli::gpu::{self, Gpu};
use crate::cli::outcome::UsageError;
use crate::cli::shared_args::BackendArg;

/// The kernels that the arguments name besides those of this program.
#[derive(Default)]
pub(super) struct Users {
    /// Those of files and libraries.
    pub(super) kernels: Vec<&'static KernelDescriptor>,
    /// The libraries.
    pub(super) libraries: Vec<PlannedFile>,
    /// Seconds that each call of a library may take, if there are any.
    pub(super) library_limit_s: Option<f64>,
}

/// A kernel file or a library as stored in the plan of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedFile {
    /// Its name, without its folder.
    pub(super) file: String,
    /// SHA-256 of its content.
    pub(super) sha256: String,
}

/// The kernels of the files that the arguments name, in order.
pub(super) fn named(args: &BenchArgs) -> anyhow::Result<Vec<&'static KernelDescriptor>> {
    let operation = args.operation;
    let is_usage = match (operation, args.backend.as_slice()) {
        _ if args.kernel_file.is_empty() => return Ok(Vec::new()),
        (other, _) if other != UserKernel::OPERATION => {
            Some(format!("--kernel-file supports only spmv, not {}", other.as_str()))
        }
        (_, [BackendArg::Cpu]) => {
            Some("--kernel-file needs a GPU, but --backend excludes cuda".to_owned())
        }
        // A continued bundle itself says what it computes.
        _ => None,
    };
    if let Some(sentence) = is_usage {
        return Err(UsageError(sentence).into());
    }
    let mut kernels: Vec<&'static KernelDescriptor> = Vec::new();
    for path in &args.kernel_file {
        for kernel in read(path)? {
            if kernels.iter().any(|known| known.id == kernel.id) {
                let (id, path) = (kernel.id, path.display());
                let sentence = format!(
                    "{path} and another file both define {id}: rename one of the functions"
                );
                return Err(UsageError(sentence).into());
            }
            kernels.push(kernel);
        }
    }
    Ok(kernels)
}

fn read(path: &Path) -> anyhow::Result<Vec<&'static KernelDescriptor>> {
    let content = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Ok(user_kernels(&name, &content)?)
}

/// The sources of the user kernels among these, each once.
fn sources(kernels: &[&'static KernelDescriptor]) -> Vec<&'static UserSource> {
    let mut sources: Vec<&'static UserSource> = Vec::new();
    for user in kernels.iter().filter_map(|kernel| kernel.user) {
        if !sources.contains(&user.source) {
            sources.push(user.source);
        }
    }
    sources
}

/// The kernel files as stored in a plan.
pub(super) fn planned(kernels: &[&'static KernelDescriptor]) -> Vec<PlannedFile> {
    let planned = |source: &UserSource| {
        let (file, sha256) = (source.file.clone(), source.sha256.clone());
        PlannedFile { file, sha256 }
    };
    sources(kernels).into_iter().map(planned).collect()
}

/// Fails unless the files that `option` names now are, byte for byte, those that the bundle was begun with.
pub(super) fn check_same(
    begun: &[PlannedFile],
    here: &[PlannedFile],
    option: &str,
) -> Result<(), UsageError> {
    for file in begun {
        match here.iter().find(|other| other.file == file.file) {
            Some(other) if other == file => {}
            Some(other) => {
                let [begun, here] = [file, other].map(|file| file.sha256.get(..8).unwrap_or(""));
                return Err(UsageError(format!(
                    "{} differs from the file that the bundle was started with (SHA-256: expected {begun}…, found {here}…)",
                    file.file
                )));
            }
            None => {
                let name = &file.file;
                let sentence = format!("to resume, pass the file {name} again with {option}");
                return Err(UsageError(sentence));
            }
        }
    }
    match here.iter().find(|other| !begun.contains(other)) {
        Some(other) => {
            let sentence = format!(
                "the bundle was started without {}: resume it without this file",
                other.file
            );
            Err(UsageError(sentence))
        }
        None => Ok(()),
    }
}

/// Stores the texts in the bundle.
pub(super) fn keep_texts(bundle: &mut Bundle, kernels: &[&'static KernelDescriptor]) {
    for user in kernels.iter().filter_map(|kernel| kernel.user) {
        let text = user.source.text.clone().into_bytes();
        bundle.others.insert(user.record().entry(), text);
    }
}

/// Builds the kernels if there is a compiler, so that errors in a source are reported before anything is
/// measured.
pub(super) fn check_builds(
    kernels: &[&'static KernelDescriptor],
    gpu: &Result<Gpu, AbsentGpu>,
) -> anyhow::Result<()> {
    for kernel in kernels.iter().filter(|kernel| kernel.user.is_some()) {
        match gpu {
            Ok(gpu) => {
                if let Availability::Missing(why) = gpu.availability(kernel) {
                    bail!("{why}");
                }
            }
            Err(_) => gpu::check_user_kernel(kernel)?,
        }
    }
    Ok(())
}

/// Stands in for a missing GPU: runs of kernels that were named explicitly are recorded with the reason.
pub(super) struct AbsentGpu(pub(super) GpuAbsence);

impl Backend for AbsentGpu {
    fn model(&self) -> &str {
        ""
    }

    fn availability(&self, _: &KernelDescriptor) -> Availability {
        Availability::Missing(self.0.to_string())
    }

    fn prepare<'p>(
        &'p self,
        _: &Configuration,
        _: &'p dyn Problem,
        _: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Err(PrepareError::Unsupported(self.0.to_string()))
    }
}
