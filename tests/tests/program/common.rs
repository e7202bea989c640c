//! Helpers for several of these modules.

use std::path::PathBuf;
use std::process::Command;

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::experiment::{Availability, Backend, CpuBackend};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, kernels};
use sparsescope_core::record::Operation;
use sparsescope_tests::Program;

/// The program, in a folder of its own.
pub(crate) fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"))
}

/// A bundle in the program's folder.
pub(crate) fn open(p: &Program, name: &str) -> Bundle {
    Bundle::open(&p.path(name), &Limits::default()).unwrap()
}

/// The elements of a vector in the program's folder.
pub(crate) fn elements(p: &Program, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(p.path(name)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("%%MatrixMarket matrix array real general"));
    assert!(lines.next().is_some_and(|size| size.ends_with(" 1")));
    lines.map(|line| line.parse().unwrap()).collect()
}

/// The CPU kernels of an operation, including those of a missing library.
pub(crate) fn on_cpu(operation: Operation) -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(operation).iter().filter(|k| k.device == DeviceKind::Cpu)
}

/// The kernels of y = A·x that run on this CPU: a library's only if it is present.
pub(crate) fn products_here() -> impl Iterator<Item = &'static KernelDescriptor> {
    let cpu = CpuBackend::new();
    let is_here = move |k: &&KernelDescriptor| cpu.availability(k) == Availability::Available;
    on_cpu(Operation::Spmv).filter(|k| k.takes_defaults()).filter(is_here)
}

/// The folder of real matrices, if one is named.
pub(crate) fn real_matrices() -> Option<PathBuf> {
    std::env::var_os("SPARSESCOPE_MATRICES").map(PathBuf::from).filter(|folder| folder.is_dir())
}

/// Whether Python can import a module.
pub(crate) fn python_imports(module: &str) -> bool {
    let import = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    import.is_ok_and(|output| output.status.success())
}

/// Sends a signal, such as `-INT`, to a process.
#[cfg(unix)]
pub(crate) fn signal(process: &std::process::Child, signal: &str) {
    let id = process.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}
