//! The tables of operations, one in each layer, have the same operations, and no view recognizes a kernel by its
//! id.

use std::path::Path;

use sparsescope_core::experiment::{Availability, Backend, CpuBackend, SubjectSource};
use sparsescope_core::kernel::{kernels, reference};
use sparsescope_core::record::Operation;
use sparsescope_figures::views::charts::list::ids_for;
use sparsescope_tests::texts;

use crate::common::program;

#[test]
fn every_layer_has_every_operation() {
    let (cpu, p) = (CpuBackend::new(), program());
    let mut in_ids = Vec::new();
    for &operation in Operation::ALL {
        let word = operation.as_str();
        assert!(kernels(operation).iter().all(|kernel| kernel.operation == operation), "{word}");
        assert_eq!(cpu.availability(reference(operation)), Availability::Available, "{word}");
        assert!(!SubjectSource::suites(operation).is_empty(), "{word}");
        assert!(ids_for(word).count() > 0, "{word} has no chart");
        let args = ["--operation", word, "--plan", "--kernels", reference(operation).id];
        let plan = p.succeed(&[&["bench"][..], &args].concat());
        assert!(plan.contains(reference(operation).id), "{plan}");
        in_ids.push(operation.in_ids());
    }
    in_ids.sort_unstable();
    in_ids.dedup();
    assert_eq!(in_ids.len(), Operation::ALL.len(), "two operations share a word in ids");
}

#[test]
fn views_recognize_no_kernel_by_its_id() {
    let devices = ["cpu/", "cuda/", "mpi/", "nccl/", "user/", "vendor/", "wgpu/"];
    let is_id =
        |text: &str| !text.contains(' ') && devices.iter().any(|device| text.starts_with(device));
    assert!(is_id("cpu/") && is_id("vendor/mkl/csr") && !is_id("cpu/csr/serial is the reference"));
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for root in ["app/figures/src/lib.rs", "app/views/src/lib.rs"] {
        let mut found = texts(workspace, Path::new(root)).unwrap();
        assert!(!found.is_empty());
        // Solves that several crates use in tests.
        found.retain(|found| is_id(&found.text) && !found.file.ends_with("model/solved.rs"));
        assert!(found.is_empty(), "a fact of the descriptor is meant: {found:?}");
    }
}
