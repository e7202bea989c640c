//! Solves generated for tests, with known numbers.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "only tests are built with it")]

use std::collections::BTreeMap;

use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::matrix::Statistics;
use sparsescope_core::record::{
    Check, Environment, Figures, History, MatrixRecord, Operation, Phase, Producer, Run, Series,
    SetUpSizes, Solve, Source, Spectrum, Verdict, Work, matrix_id,
};

use super::Model;

/// Nonzeros of the matrix.
pub const NNZ: u64 = 1000;
/// The kernel that solves on one thread.
pub const SERIAL: &str = "cpu/pcg/serial";
/// The same on several threads.
pub const THREADS: &str = "cpu/pcg/threads";

/// A solve with iterations of a millisecond each: kernel, non-default parameters, iterations, setup
/// by phase in milliseconds.
pub fn run(kernel: &str, params: &[(&str, &str)], iterations: u64, phases: &[(&str, f64)]) -> Run {
    let matrix = matrix_id("m", &"ab".repeat(32));
    let median_s = iterations as f64 * 1e-3;
    let samples = vec![median_s; 3];
    let mut all =
        BTreeMap::from([("precond", "fsai"), ("b", "a1"), ("x0", "zero"), ("tol", "1e-10")]);
    all.extend([("format_a", "csr")]);
    all.extend(params.iter().copied());
    if all["precond"] == "fsai" {
        let usual =
            [("pattern", "recursive"), ("power", "2"), ("merge", "off"), ("format_g", "csr")];
        usual.into_iter().for_each(|(name, value)| {
            all.entry(name).or_insert(value);
        });
    }
    let phase = |(name, ms): &(&str, f64)| Phase { name: (*name).into(), seconds: ms * 1e-3 };
    let setup_s = phases.iter().map(|(_, ms)| ms * 1e-3).sum();
    // Residuals fall from 1 to 1e-10 at a constant rate.
    let share = |k: u64| 10f64.powf(-10.0 * k as f64 / iterations as f64);
    let series = |name: &str, values: Vec<f64>, step: Option<&str>| Series {
        name: name.into(),
        values,
        every: 1,
        step: step.map(str::to_owned),
    };
    let work = Work { iterations, ..Work::default() };
    Run {
        matrix,
        operation: "solve".into(),
        kernel: kernel.into(),
        origin: vec!["ours".into()],
        backend: "cpu".into(),
        device: "CPU".into(),
        environment: "here".into(),
        threads: if kernel == SERIAL { 1 } else { 2 },
        hot: true,
        precision: "f64".into(),
        params: all.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        check: Check { verdict: Verdict::Pass, ..Check::default() },
        repetitions: 1,
        figures: Figures::from_samples(&samples, 0.0, 0),
        metric: Some(Operation::Solve.metric(&work, median_s)),
        work: Some(work),
        samples,
        history: Some(History {
            step: "iteration".into(),
            series: vec![
                series("relative residual", (0..=iterations).map(share).collect(), None),
                series("Ritz value", vec![0.5, 1.0, 2.0], Some("value")),
            ],
        }),
        solve: Some(Solve {
            iterations,
            converged: true,
            ended: "converged".into(),
            tolerance: 1e-10,
            b_norm: 1.0,
            initial_residual: Some(1.0),
            residual: Some(1e-10),
            true_residual: Some(2e-10),
            rounding_floor: Some(1e-14),
            setup_s,
            phases: phases.iter().map(phase).collect(),
            sizes: (all["precond"] == "fsai").then(|| SetUpSizes {
                factor: 5 * iterations,
                systems: 10 * iterations,
                ..SetUpSizes::default()
            }),
            spectrum: Some(Spectrum {
                steps: iterations,
                smallest: 0.5,
                largest: 2.0,
                condition: 4.0,
            }),
        }),
        ..Run::default()
    }
}

/// The same run with its residual limited by rounding.
pub fn limited(run: Run) -> Run {
    let reason = Some("the relative residual is 1e-8".to_owned());
    Run { check: Check { limited_by_rounding: true, reason, ..run.check }, ..run }
}

/// A correct solve of 100 iterations, and two that would win by far: one limited by rounding, and
/// one with nothing to do.
pub fn planted() -> Vec<Run> {
    let jacobi = [("precond", "jacobi")];
    let mut idle = run("vendor/cusparse/pcg", &jacobi, 1, &[]);
    idle.solve.as_mut().expect("a solve").iterations = 0; // invariant
    vec![run(SERIAL, &jacobi, 100, &[]), limited(run(THREADS, &jacobi, 1, &[])), idle]
}

/// A model with these runs on one matrix of 100 rows.
pub fn model(runs: Vec<Run>) -> Model {
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
    bundle.complete = true;
    bundle.environments.push(Environment { id: "here".into(), ..Environment::default() });
    let sha256 = "ab".repeat(32);
    let record = MatrixRecord {
        id: matrix_id("m", &sha256),
        name: "m".into(),
        source: Source::Real,
        generator: None,
        reordered: None,
        sha256,
        field: "real".into(),
        symmetry: "symmetric".into(),
        read_seconds: 1.0,
        statistics: Statistics { rows: 100, cols: 100, nnz: NNZ, ..Statistics::default() },
    };
    bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
    bundle.runs = runs;
    let mut model = Model::default();
    model.show_unfinished("b.zip", bundle);
    model
}
