//! Tests of opening, finding and naming.

use std::collections::BTreeMap;

use sparsescope_core::matrix::Statistics;
use sparsescope_core::record::{
    Check, Costs, Environment, Figures, Run, Source, Verdict, matrix_id,
};

use super::*;

/// A bundle with one matrix and runs of (kernel, threads, seconds per SpMV of 2·10⁹ flops).
pub(super) fn bundle(name: &str, source: Source, runs: &[(&str, u32, f64)]) -> Vec<u8> {
    let sha256 = "ab".repeat(32);
    let id = matrix_id(name, &sha256);
    let nnz = 1_000_000_000;
    let record = MatrixRecord {
        id: id.clone(),
        name: name.into(),
        source,
        generator: None,
        reordered: None,
        sha256,
        field: "real".into(),
        symmetry: "general".into(),
        read_seconds: 1.0,
        statistics: Statistics { nnz, nnz_class: ">10M".into(), ..Statistics::default() },
    };
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
    bundle.environments.push(Environment { id: "a".into(), ..Environment::default() });
    bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
    bundle.complete = true;
    for (kernel, threads, seconds) in runs {
        bundle.runs.push(Run {
            matrix: id.clone(),
            operation: "spmv".into(),
            kernel: (*kernel).into(),
            origin: vec!["ours".into()],
            backend: "cpu".into(),
            device: "CPU".into(),
            environment: "a".into(),
            threads: *threads,
            block: None,
            hot: true,
            precision: "f64".into(),
            params: BTreeMap::new(),
            check: Check { verdict: Verdict::Pass, ..Check::default() },
            samples: vec![*seconds; 3],
            repetitions: 1,
            warmup: 0,
            costs: Costs { minimal_bytes: 12_000_000_000, ..Costs::default() },
            figures: Figures::from_samples(&[*seconds; 3], 2e9, 12_000_000_000),
            ..Run::default()
        });
    }
    bundle.to_bytes().unwrap()
}

#[test]
fn the_best_run_of_a_kernel_is_the_one_with_most_gflops() {
    let mut model = Model::default();
    let runs = [("cpu/csr/nnz", 1, 2.0), ("cpu/csr/nnz", 4, 0.5), ("cpu/coo/serial", 1, 4.0)];
    model.open("a.zip", &bundle("m", Source::Real, &runs)).unwrap();
    let best = model.best(&Filter::default());
    let found: Vec<_> = best.iter().map(|run| (run.run.threads, run.rate())).collect();
    assert_eq!(found, [(4, Some(4.0)), (1, Some(0.5))]);
    assert_eq!(best[0].why(), "Moves at least 12 GB per SpMV.");
    let filter = Filter { kernel: "cpu/coo/serial".into(), ..Filter::default() };
    assert_eq!(model.runs(&filter).iter().map(|run| run.index).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_real_matrix_and_its_stand_in_are_two_and_a_bundle_opens_once() {
    let mut model = Model::default();
    let real = bundle("m", Source::Real, &[]);
    model.open("a.zip", &real).unwrap();
    model.open("again.zip", &real).unwrap();
    model.open("b.zip", &bundle("m", Source::StandIn, &[])).unwrap();
    assert_eq!(model.bundles().len(), 2);
    assert_eq!(model.bundles()[1].series, 1);
    model.open("a.zip", &bundle("m", Source::Generated, &[])).unwrap();
    let labels: Vec<_> = model.bundles().iter().map(OpenBundle::label).collect();
    assert_eq!(labels, ["a.zip", "b.zip", "a.zip (2)"]);
    model.close(2);
    let names: Vec<_> =
        model.matrices(&Filter::default()).iter().map(|m| display_name(m.record)).collect();
    assert_eq!(names, ["m", "m (stand-in)"]);
}

#[test]
fn imported_runs_stand_on_the_matrix_of_equal_name_and_size_whichever_was_opened_first() {
    let ours = bundle("m", Source::Real, &[("cpu/csr/nnz", 1, 1.0)]);
    let theirs = r#"[{"filename": "x/m.mtx", "rows": 40000, "nonzeros": 1000000000, "spmv":
        {"csr": {"time": 0.5, "repetitions": 9, "max_relative_norm2": 0.0}}}]"#;
    let sized = {
        let read = Bundle::read(&ours, &Limits::default()).unwrap();
        let mut sized = read.clone();
        let statistics = &mut sized.matrices[0].record.statistics;
        (statistics.rows, statistics.cols) = (40_000, 40_000);
        sized.to_bytes().unwrap()
    };
    for (first, second) in [(&sized[..], theirs.as_bytes()), (theirs.as_bytes(), &sized[..])] {
        let mut model = Model::default();
        model.open("first", first).unwrap();
        model.open("second", second).unwrap();
        assert_eq!(model.matrices(&Filter::default()).len(), 1);
        let runs = model.runs(&Filter::default());
        let mut found: Vec<_> =
            runs.iter().map(|run| (run.run.kernel.as_str(), run.verdict(), run.rate())).collect();
        found.sort_by_key(|(kernel, ..)| *kernel);
        let expected =
            [("cpu/csr/nnz", "pass", Some(2.0)), ("vendor/ginkgo/csr", "imported", Some(4.0))];
        assert_eq!(found, expected);
    }
    let mut model = Model::default();
    model.open("other size", &ours).unwrap();
    model.open("theirs", theirs.as_bytes()).unwrap();
    assert_eq!(model.matrices(&Filter::default()).len(), 2);
}

#[test]
fn products_with_the_transpose_and_scaled_ones_compete_only_where_there_is_no_plain_one() {
    let runs = [("cpu/csr/nnz", 1, 1.0), ("cpu/csr/nnz", 1, 0.5), ("cpu/csr/rows", 1, 0.25)];
    let bytes = bundle("m", Source::Real, &runs);
    let mut read = Bundle::read(&bytes, &Limits::default()).unwrap();
    for run in &mut read.runs {
        let name = if run.kernel == "cpu/csr/nnz" { ("op", "t") } else { ("scale", "2:1") };
        if run.samples[0] < 1.0 {
            run.params.insert(name.0.into(), name.1.into());
        }
    }
    let standing = |bundle: &Bundle| {
        let mut model = Model::default();
        model.open("a.zip", &bundle.to_bytes().unwrap()).unwrap();
        let standings = model.standings(&Filter::default());
        let runs = standings[0].runs.iter().map(|run| (run.run.kernel.clone(), run.run.samples[0]));
        runs.collect::<Vec<_>>()
    };
    assert_eq!(standing(&read), [("cpu/csr/nnz".to_owned(), 1.0)]);
    read.runs.retain(|run| run.samples[0] < 1.0);
    let others = [("cpu/csr/rows".to_owned(), 0.25), ("cpu/csr/nnz".to_owned(), 0.5)];
    assert_eq!(standing(&read), others);
}

#[test]
fn a_bundle_takes_another_name_that_no_other_has_and_its_own_back() {
    let mut model = Model::default();
    for name in ["a", "b"] {
        model.open(name, &bundle(name, Source::Real, &[])).unwrap();
    }
    let mut renamed = |name: &str| {
        model.rename(1, name);
        model.bundles()[1].label().to_owned()
    };
    assert_eq!(renamed(" laptop "), "laptop");
    assert_eq!(renamed("laptop"), "laptop");
    assert_eq!(renamed("a"), "a (2)");
    assert_eq!(renamed("  "), "b");
}

#[test]
fn every_change_of_the_bundles_and_their_names_is_a_revision_of_its_own() {
    let [a, b] = ["a", "b"].map(|name| bundle(name, Source::Real, &[]));
    let unfinished = Bundle::read(&b, &Limits::default()).unwrap();
    let mut model = Model::default();
    let mut seen = vec![model.revision()];
    let steps: [&dyn Fn(&mut Model); 6] = [
        &|model| model.open("a", &a).unwrap(),
        &|model| model.rename(0, "laptop"),
        &|model| model.show_unfinished("b", unfinished.clone()),
        &|model| model.forget_unfinished("b"),
        &|model| model.open("b", &b).unwrap(),
        &|model| model.close(0),
    ];
    for step in steps {
        step(&mut model);
        assert!(!seen.contains(&model.revision()), "{seen:?}");
        seen.push(model.revision());
    }
    model.open("again", &b).unwrap();
    assert_eq!(Some(&model.revision()), seen.last(), "what is open stays as it is");
}

#[test]
fn a_series_index_freed_by_closing_is_taken_again() {
    let mut model = Model::default();
    for name in ["a", "b"] {
        model.open(name, &bundle(name, Source::Real, &[])).unwrap();
    }
    model.close(0);
    model.open("c", &bundle("c", Source::Real, &[])).unwrap();
    assert_eq!(model.bundles().iter().map(|open| open.series).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn filters_pass_what_they_name_and_nothing_else() {
    let mut model = Model::default();
    model.open("a", &bundle("Stencil", Source::Real, &[("cpu/csr/nnz", 1, 1.0)])).unwrap();
    let passing = |filter: Filter| model.runs(&filter).len();
    assert_eq!(passing(Filter { search: " TENC".into(), ..Filter::default() }), 1);
    assert_eq!(passing(Filter { search: "x".into(), ..Filter::default() }), 0);
    assert_eq!(passing(Filter { nnz_class: "<10k".into(), ..Filter::default() }), 0);
    assert_eq!(passing(Filter { backend: "cuda".into(), ..Filter::default() }), 0);
    assert_eq!(passing(Filter { origin: "ours".into(), ..Filter::default() }), 1);
    // Nothing is known of its rows and its band.
    assert_eq!(passing(Filter { variance: "0-0.1".into(), ..Filter::default() }), 0);
    assert_eq!(passing(Filter { band: "0-1%".into(), ..Filter::default() }), 0);
    let values = model.values("spmv");
    assert!(values.variances.is_empty() && values.bands.is_empty());
    // All rows of a diagonal are equally long.
    let mut model = Model::default();
    model.open("cpu.zip", include_bytes!("../../../example/cpu.zip")).unwrap();
    let diagonal = Filter { search: "diagonal".into(), ..Filter::default() };
    let passing = |variance: &str, band: &str| {
        let filter = Filter { variance: variance.into(), band: band.into(), ..diagonal.clone() };
        model.runs(&filter).len()
    };
    assert!(passing("", "") > 0);
    assert_eq!(passing("0-0.1", "0-1%"), passing("", ""));
    assert_eq!((passing("0.5-2", ""), passing("", "1-10%")), (0, 0));
}

#[test]
fn a_bundle_without_a_name_is_named_by_its_machine_when_asked() {
    let mut model = Model::default();
    let bytes = bundle("a", Source::Real, &[("cpu/csr/serial", 1, 1.0)]);
    model.open("gpu.zip", &bytes).unwrap();
    assert_eq!(model.bundles()[0].label(), "gpu.zip");
    assert_eq!(model.bundles()[0].machine, "CPU, 1 matrix");
    let hash = model.bundles()[0].sha256.clone();
    assert_eq!(model.name_by_machine(), Some(hash));
    assert_eq!(model.bundles()[0].label(), "CPU, 1 matrix");
    model.rename(0, "mine");
    model.rename(0, "");
    assert_eq!(model.bundles()[0].label(), "CPU, 1 matrix");
    // A name that the author gave stays.
    let mut named = Bundle::read(&bytes, &Limits::default()).unwrap();
    named.label = Some("Mine".into());
    model.open("named.zip", &named.to_bytes().unwrap()).unwrap();
    model.name_by_machine();
    assert_eq!(model.bundles()[1].label(), "Mine");
}
