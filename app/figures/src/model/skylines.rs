//! Bundles of skylines for tests.

use std::collections::BTreeMap;

use sparsescope_core::bundle::{Bundle, SubjectFolder};
use sparsescope_core::record::{
    Check, Costs, Environment, Figures, Gpu, Operation, Producer, Run, Source, SubjectRecord,
    Verdict, Work, matrix_id,
};

use super::Model;

/// A bundle without runs, of a machine with a GPU of 100 multiprocessors.
pub(crate) fn bundle() -> Bundle {
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
    bundle.complete = true;
    let details = BTreeMap::from([("multiprocessors".to_owned(), "100".to_owned())]);
    bundle.environments.push(Environment {
        id: "here".into(),
        gpus: vec![Gpu { model: "GPU".into(), details, copy: Some(4e12) }],
        ..Environment::default()
    });
    bundle
}

/// Adds a point set that took a quarter of a second to generate; returns its id.
pub(crate) fn add_set(
    bundle: &mut Bundle,
    name: &str,
    generator: &str,
    [n, d]: [u64; 2],
) -> String {
    let sha256 = format!("{:064x}", bundle.subjects.len() + 1);
    let sha256: String = sha256.chars().rev().collect();
    let record = SubjectRecord {
        id: matrix_id(name, &sha256),
        name: name.into(),
        kind: "points".into(),
        source: Source::Generated,
        generator: Some(generator.into()),
        sha256,
        sizes: BTreeMap::from([("points".into(), n), ("dimensions".into(), d)]),
        read_seconds: Some(0.25),
    };
    let id = record.id.clone();
    let folder = SubjectFolder { folder: "skyline".into(), record, files: BTreeMap::new() };
    bundle.subjects.push(folder);
    id
}

/// A run of a kernel on a set with this time and number of comparisons.
pub(crate) fn run(
    set: &str,
    kernel: &str,
    (threads, block): (u32, Option<u32>),
    median_s: f64,
    comparisons: u64,
) -> Run {
    let cuda = !kernel.starts_with("cpu/");
    let (samples, work) = (vec![median_s; 3], Work { comparisons, ..Work::default() });
    Run {
        matrix: set.into(),
        operation: "skyline".into(),
        kernel: kernel.into(),
        origin: vec![if kernel.ends_with("/fast") { "ours" } else { "paper:004" }.into()],
        backend: if cuda { "cuda" } else { "cpu" }.into(),
        device: if cuda { "GPU" } else { "CPU" }.into(),
        environment: "here".into(),
        threads,
        block,
        hot: true,
        precision: "f64".into(),
        check: Check { verdict: Verdict::Pass, ..Check::default() },
        repetitions: 1,
        figures: Figures::from_samples(&samples, 0.0, 0),
        metric: Some(Operation::Skyline.metric(&work, median_s)),
        work: Some(work),
        samples,
        ..Run::default()
    }
}

/// The same on a GPU, with `transfer_s` for copies, a third of it back to the host, and
/// `allocate_s` for allocation.
pub(crate) fn on_gpu(run: Run, transfer_s: f64, allocate_s: f64) -> Run {
    let (upload_s, download_s) = (Some(transfer_s * 2.0 / 3.0), Some(transfer_s / 3.0));
    let allocate_s = Some(allocate_s);
    Run { costs: Costs { upload_s, download_s, allocate_s, ..run.costs }, ..run }
}

/// Opens the bundle.
pub(crate) fn model(bundle: &Bundle) -> Model {
    let mut model = Model::default();
    model.open("skylines", &bundle.to_bytes().unwrap()).unwrap();
    model
}
