//! A library that the user names: its file, its kernel's descriptor and what it says about itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::process::Process;
use sparsescope_matrix::matrix::sha256;
use sparsescope_model::kernel::parameters::{MAX_ITER, MODE, OP, RIGHT_SIDE, SCALE, START, TOL};
use sparsescope_model::kernel::{
    Allowed, DeviceKind, KernelDescriptor, Mapping, Origin, Parameter, Takes, reference,
};
use sparsescope_record::{KernelSource, Operation, Precision};

/// A library with a kernel of SpMV, SpMM or symmetric Gauss–Seidel, or with a solver.
pub struct KernelLibrary {
    kernel: &'static KernelDescriptor,
    source: KernelSource,
    description: String,
    /// The library's file.
    pub(super) path: PathBuf,
    /// The program that runs it.
    pub(super) program: PathBuf,
    /// How long each call of the library may take.
    pub(super) limit: Duration,
    /// The number of the GPU that it runs on if it is for CUDA, from 0.
    pub(super) gpu: usize,
}

impl KernelLibrary {
    /// Asks the library in a file for its name, in a process of its own, which is `program`. Each call of the
    /// library may take `limit`. If it is for CUDA, it runs on the GPU with the number `gpu`, from 0. `None` when
    /// cancelled; fails with a sentence.
    pub fn open(
        path: &Path,
        program: &Path,
        limit: Duration,
        gpu: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Self>, String> {
        let named = |why: String| format!("{}: {why}", path.display());
        // A name without a folder would be searched for on the library path.
        let file = path.canonicalize().map_err(|error| named(error.to_string()))?;
        let content = std::fs::read(&file).map_err(|error| named(error.to_string()))?;
        let mut process =
            Process::start(program, [file.as_path(), Path::new("")], limit).map_err(named)?;
        let ready = process.ready(cancel).map_err(named)?;
        let Some([device, operation, name, description]) = ready else { return Ok(None) };
        let is_cuda = device == DeviceKind::Cuda.as_str();
        let device = if is_cuda { DeviceKind::Cuda } else { DeviceKind::Cpu };
        let unknown = || named(format!("it computes `{operation}`, which is unknown"));
        let operation = Operation::of(&operation).ok_or_else(unknown)?;
        let name_of_file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = KernelSource {
            file: name_of_file.clone(),
            sha256: sha256(&content),
            family: "csr".to_owned(),
            mapping: "library".to_owned(),
        };
        let stem = name_of_file.split('.').next().unwrap_or_default();
        let stem = stem.strip_prefix("lib").unwrap_or(stem);
        let id = format!("user/{}/{}", word(stem, "library"), word(&name, "kernel"));
        let kernel: &'static KernelDescriptor =
            Box::leak(Box::new(descriptor(id, device, operation)));
        let program = program.to_owned();
        Ok(Some(Self { kernel, source, description, path: file, program, limit, gpu }))
    }

    /// Its kernel.
    pub fn kernel(&self) -> &'static KernelDescriptor {
        self.kernel
    }

    /// The record of it in runs.
    pub fn source(&self) -> &KernelSource {
        &self.source
    }

    /// How long each call of it may take.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// What it says about itself, such as a version; may be empty.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// A part of an id: lower case, with `-` for characters that ids do not allow.
fn word(text: &str, otherwise: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let word: String = text.to_lowercase().chars().map(plain).collect();
    match word.trim_matches(['-', '.']) {
        "" => otherwise.to_owned(),
        word => word.to_owned(),
    }
}

/// The parameters of a solver. Its preconditioner, if it has one, is its own.
const SOLVER: &[(Parameter, Allowed)] = &[
    (TOL.id(), Allowed::Any),
    (MAX_ITER.id(), Allowed::Any),
    (RIGHT_SIDE.id(), Allowed::Any),
    (START.id(), Allowed::Only(&["zero"])),
];

/// That of the reference, which reads CSR, too, with what is not known of a library.
fn descriptor(id: String, device: DeviceKind, operation: Operation) -> KernelDescriptor {
    let ours = reference(operation);
    KernelDescriptor {
        id: id.leak(),
        device,
        mapping: Mapping::Library,
        summary: "user kernel: a shared library, in a process of its own",
        origin: &[Origin::User],
        precisions: &[Precision::F64],
        exact: false,
        deterministic: false,
        takes: Takes { threads: device == DeviceKind::Cpu, ..Takes::default() },
        parameters: match operation {
            // It computes A·x and nothing else.
            Operation::Spmv => {
                const { &[(OP.id(), Allowed::Only(&["n"])), (SCALE.id(), Allowed::Only(&["1"]))] }
            }
            Operation::Symgs => const { &[(MODE.id(), Allowed::Only(&["standard"]))] },
            Operation::Solve => SOLVER,
            _ => ours.parameters,
        },
        model: None,
        version: None,
        ..*ours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_model::kernel::parameters::{PRECOND, VECTORS};

    #[test]
    fn ids_have_only_the_characters_of_ids() {
        assert_eq!(word("My Kernel v2", "kernel"), "my-kernel-v2");
        assert_eq!([word("", "kernel"), word("--", "kernel")], ["kernel", "kernel"]);
        let of = |device, operation| descriptor("user/mine/right".to_owned(), device, operation);
        let kernel = of(DeviceKind::Cpu, Operation::Spmv);
        assert_eq!((kernel.id, kernel.what()), ("user/mine/right", "csr"));
        assert!(kernel.takes.threads && kernel.user.is_none());
        let on_gpu = of(DeviceKind::Cuda, Operation::Spmv);
        assert!(on_gpu.device == DeviceKind::Cuda && !on_gpu.takes.threads);
        let others = [(OP.id(), "t"), (SCALE.id(), "2")];
        assert!(others.iter().all(|(of, value)| !kernel.allowed(*of).unwrap().contains(value)));
        let block = of(DeviceKind::Cpu, Operation::Spmm);
        assert_eq!((block.operation, block.precisions), (Operation::Spmm, &[Precision::F64][..]));
        assert!(block.allowed(VECTORS.id()).is_some() && block.allowed(OP.id()).is_none());
        let sweep = of(DeviceKind::Cpu, Operation::Symgs);
        assert!(sweep.needs.full_diagonal && !sweep.exact);
        assert!(!sweep.allowed(MODE.id()).unwrap().contains("smoother"));
        let solver = of(DeviceKind::Cuda, Operation::Solve);
        assert!(solver.needs.spd && solver.allowed(PRECOND.id()).is_none());
        assert!(!solver.allowed(START.id()).unwrap().contains("precond"));
    }

    #[test]
    fn a_file_that_does_not_exist_is_named() {
        let [file, program] = ["no/such.so", ""].map(Path::new);
        let error = KernelLibrary::open(file, program, Duration::ZERO, 0, &AtomicBool::new(false));
        assert!(error.is_err_and(|why| why.starts_with("no/such.so: ")));
    }
}
