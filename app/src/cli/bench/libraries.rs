//! The libraries of `--kernel-library`.

use anyhow::Context;
use sparsescope_core::libraries::KernelLibrary;
use sparsescope_core::record::{KernelSource, Operation};

use crate::cli::bench_args::BenchArgs;
use super::user::PlannedFile;
use crate::cli::outcome::UsageError;
use crate::cli::program;
use crate::cli::shared_args::BackendArg;

/// The libraries that the arguments name, in order; each is asked for its name.
pub(super) fn named(args: &BenchArgs) -> anyhow::Result<Vec<KernelLibrary>> {
    if args.kernel_library.is_empty() {
        return Ok(Vec::new());
    }
    if args.operation != Operation::Spmv {
        let other = args.operation.as_str();
        let sentence = format!("--kernel-library supports only spmv, not {other}");
        return Err(UsageError(sentence).into());
    }
    if !args.backend.is_empty() && !args.backend.contains(&BackendArg::Cpu) {
        let sentence = "--kernel-library runs on the CPU, but --backend excludes cpu";
        return Err(UsageError(sentence.to_owned()).into());
    }
    let program = program::file();
    let program = program.context(
        "kernel libraries need a process of their own, and the file of this program is unknown",
    )?;
    let mut libraries: Vec<KernelLibrary> = Vec::new();
    for path in &args.kernel_library {
        let library = KernelLibrary::open(path, program, args.library_limit);
        let library = library.map_err(anyhow::Error::msg)?;
        let id = library.kernel().id;
        if libraries.iter().any(|known| known.kernel().id == id) {
            let path = path.display();
            let sentence = format!("{path} and another library both are {id}: rename one of them");
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
