//! The README's table of what runs where is that of the kernels.

use std::collections::BTreeSet;

use sparsescope_core::kernel::parameters::{PRECOND, SIGMA};
use sparsescope_core::kernel::{
    DeviceKind, Format, KernelDescriptor, all_kernels, distributed_kernels,
};
use sparsescope_core::record::{Operation, Precision};

use crate::pages::{read, rows};

/// A column of the README's table of what runs where, and the kernels that it is about.
fn column(name: &str) -> Vec<&'static KernelDescriptor> {
    let of = |device| all_kernels().filter(move |kernel| kernel.device == device).collect();
    match name {
        "CPU" => of(DeviceKind::Cpu),
        "CUDA" => of(DeviceKind::Cuda),
        "WebGPU (wgpu)" => of(DeviceKind::Wgpu),
        "MPI" => {
            Operation::ALL.iter().flat_map(|&operation| distributed_kernels(operation)).collect()
        }
        "NCCL" => of(DeviceKind::Nccl),
        other => panic!("README.md: an unknown column {other}"),
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Coo => "COO",
        Format::Csr => "CSR",
        Format::Ell(_) => "ELLPACK",
        Format::Hyb(_) => "HYB",
        Format::Hll(_) => "HLL",
        Format::Bsr => "BSR",
        Format::Dia => "DIA",
        Format::CsrCompact => "compact CSR",
        Format::HllCompact => "compact HLL",
    }
}

const FORMATS: [&str; 9] =
    ["COO", "CSR", "ELLPACK", "HYB", "HLL", "BSR", "DIA", "compact CSR", "compact HLL"];

/// What a cell of that table should say.
fn cell(row: &str, kernels: &[&KernelDescriptor]) -> String {
    let of = |operation| kernels.iter().filter(move |kernel| kernel.operation == operation);
    let precisions = |operation| {
        let is_here = |p: &&Precision| of(operation).any(|kernel| kernel.precisions.contains(p));
        let names: Vec<&str> = Precision::ALL.iter().filter(is_here).map(|p| p.as_str()).collect();
        if names.is_empty() { "no".to_owned() } else { names.join(", ") }
    };
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    match row {
        "SpMV, sparse matrix-vector multiplication" => precisions(Operation::Spmv),
        "SpMM, several vectors at once" => precisions(Operation::Spmm),
        "Symmetric Gauss–Seidel" => precisions(Operation::Symgs),
        "Conjugate gradients" => precisions(Operation::Solve),
        "Batches of dense systems" => precisions(Operation::BatchedDense),
        "Skyline" => precisions(Operation::Skyline),
        "formats" => {
            let read: BTreeSet<&str> = of(Operation::Spmv)
                .filter(|kernel| kernel.library().is_none())
                .filter_map(|kernel| kernel.format().map(format_name))
                .collect();
            let (read, missing): (Vec<&str>, Vec<&str>) =
                FORMATS.iter().partition(|format| read.contains(*format));
            match missing[..] {
                [] => "all nine".to_owned(),
                [one] => format!("all but {one}"),
                _ => read.join(", "),
            }
        }
        "HLL with sorted or spilled rows" => yes(of(Operation::Spmv).any(|kernel| {
            kernel.allowed(SIGMA.id()).is_some_and(|allowed| allowed.contains("256"))
        })),
        // Built from CUDA C++ by NVRTC.
        "your own kernel in a CUDA file" => {
            yes(kernels.iter().any(|kernel| kernel.device == DeviceKind::Cuda))
        }
        "preconditioners" => {
            let known = [("jacobi", "Jacobi"), ("symgs", "SymGS"), ("fsai", "FSAI")];
            let has = |word: &str| {
                let mut allowed = of(Operation::Solve).map(|k| k.allowed(PRECOND.id()));
                allowed.any(|values| values.is_some_and(|values| values.contains(word)))
            };
            let names: Vec<&str> =
                known.iter().filter(|(word, _)| has(word)).map(|(_, name)| *name).collect();
            names.join(", ")
        }
        other => panic!("README.md: an unknown row {other}"),
    }
}

#[test]
fn the_table_of_what_runs_where_is_that_of_the_kernels() {
    let readme = read("README.md");
    let head = "| | CPU | CUDA |";
    let columns: Vec<&str> = readme
        .lines()
        .find(|line| line.starts_with(head))
        .unwrap()
        .trim_matches('|')
        .split('|')
        .collect();
    let rows = rows(&readme, head);
    assert_eq!(rows.len(), 10);
    assert!(readme.contains("The nine formats are") && FORMATS.len() == 9);
    for row in rows {
        for (name, found) in columns.iter().zip(&row).skip(1) {
            let name = name.trim();
            assert_eq!(*found, cell(&row[0], &column(name)), "{}, {name}", row[0]);
        }
    }
}
