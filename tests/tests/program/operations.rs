//! The tables of operations, one in each layer, have the same operations.

use sparsescope_core::experiment::{Availability, Backend, CpuBackend, SubjectSource};
use sparsescope_core::kernel::{kernels, reference};
use sparsescope_core::record::Operation;
use sparsescope_figures::views::charts::list::ids_for;

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
