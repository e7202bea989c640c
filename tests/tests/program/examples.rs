//! The examples of the window and the page.

use std::collections::BTreeSet;

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::kernel::all_kernels;
use sparsescope_core::record::{Operation, Run, Verdict};

/// SpMV on a GPU.
pub(crate) const H200: &[u8] = include_bytes!("../../../app/example/gpu.zip");

const THESIS: &[u8] = include_bytes!("../../../app/example/solvers.zip");

#[test]
fn the_example_of_solves_holds_the_thesis_tables() {
    assert!(THESIS.len() < 900_000, "{} bytes", THESIS.len());
    let bundle = Bundle::read(THESIS, &Limits::default()).unwrap();
    assert!(bundle.complete);
    let runs_of =
        |of: Operation| bundle.runs.iter().filter(move |run| run.operation == of.as_str());
    let measured = |run: &&Run| run.check.verdict != Verdict::Unsupported;
    assert!(bundle.runs.iter().filter(measured).all(|run| run.check.verdict == Verdict::Pass));
    // Three matrices on the GPU and with its libraries, one on the CPU.
    let solved: BTreeSet<(&str, &str)> = runs_of(Operation::Solve)
        .filter(measured)
        .map(|run| (run.matrix.as_str(), run.kernel.as_str()))
        .collect();
    assert_eq!(solved.len(), 3 * 3 + 1);
    // The thesis's 18 sizes: its kernel with five block sizes, ours, and two libraries.
    assert_eq!(runs_of(Operation::BatchedDense).filter(measured).count(), 18 * (5 + 1 + 2));
}

#[test]
fn the_example_of_a_gpu_holds_the_papers_matrices_and_every_kernel() {
    assert!(H200.len() < 2_200_000, "{} bytes", H200.len());
    let bundle = Bundle::read(H200, &Limits::default()).unwrap();
    assert!(bundle.complete);
    assert_eq!(bundle.matrices.len(), 30);
    // It lacks kernels that were added after it was measured.
    let measured: BTreeSet<&str> =
        bundle.runs.iter().filter(|run| run.backend == "cuda").map(|r| r.kernel.as_str()).collect();
    assert!(measured.len() >= 24);
    for kernel in all_kernels().filter(|k| measured.contains(k.id)) {
        let runs = || bundle.runs.iter().filter(|run| run.kernel == kernel.id);
        assert_eq!(runs().count(), 30 * 2 * if kernel.takes.block { 5 } else { 1 });
        let (pass, refused) = (Verdict::Pass, Verdict::Refused);
        assert!(runs().all(|run| [pass, refused].contains(&run.check.verdict)), "{}", kernel.id);
        // The model knows what each of our kernels reads, but not a vendor's; `auto` runs another kernel.
        let is_ours = kernel.id.starts_with("cuda/") && kernel.id != "cuda/spmv/auto";
        let predicted = |run: &Run| run.costs.predicted.is_some();
        let measured = || runs().filter(|run| run.check.verdict == pass);
        // The measurement was interrupted and resumed at `dc1`.
        let resumed = |run: &Run| run.matrix.starts_with("dc1-") && !predicted(run);
        let expected = |run: &Run| predicted(run) == is_ours || resumed(run);
        assert!(measured().all(expected), "{}", kernel.id);
        // ELLPACK of a matrix with a dense row exceeds the memory; BSR and DIA suit few matrices.
        let may_be_refused = ["ell", "bsr", "dia"].contains(&kernel.what());
        assert_eq!(runs().any(|run| run.check.verdict == refused), may_be_refused);
    }
}
