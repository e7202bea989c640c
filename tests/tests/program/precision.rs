//! SpMV in f64 and in f32, side by side through the whole program.

use std::collections::BTreeMap;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Run, Verdict};

use crate::common::{open, program};

/// The runs of a bundle on its one matrix by kernel and precision.
fn by_precision(bundle: &Bundle) -> BTreeMap<(&str, &str), &Run> {
    bundle.runs.iter().map(|run| ((run.kernel.as_str(), run.precision.as_str()), run)).collect()
}

#[test]
fn both_precisions_are_measured_told_apart_continued_and_compared() {
    let p = program();
    let kernels = "cpu/csr/{serial,rows,nnz,merge},cpu/hll/serial";
    let table = p.succeed(&[
        "bench",
        "gen:poisson2d?n=20",
        "--precision",
        "f64,f32",
        "--kernels",
        kernels,
        "--threads",
        "2",
        "--runs",
        "4",
        "--warmup",
        "0",
        "-o",
        "b.zip",
        "--csv",
        "b.csv",
        "--all",
    ]);
    for of in ["cpu/csr/nnz f64", "cpu/csr/nnz f32", "max error", "norm error"] {
        assert!(table.contains(of), "{table}");
    }
    let bundle = open(&p, "b.zip");
    let runs = by_precision(&bundle);
    assert_eq!((bundle.runs.len(), runs.len()), (10, 10));
    let statistics = &bundle.matrices[0].record.statistics;
    let values = statistics.nnz + statistics.rows + statistics.cols;
    for (&(kernel, precision), run) in &runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{kernel} {:?}", run.check.reason);
        let (figures, serial) =
            (run.figures.as_ref().unwrap(), runs[&("cpu/csr/serial", precision)]);
        let serial = serial.figures.as_ref().unwrap().median_s;
        let speedup = figures.speedup.unwrap();
        assert!((speedup * figures.median_s / serial - 1.0).abs() < 1e-12, "{kernel} {precision}");
        // 4, −1 and their sums with 1 to 5 are numbers of f32.
        let error = run.check.rounding.map(|found| (found.max, found.norm, found.bound > 0.0));
        assert_eq!(error, (precision == "f32").then_some((0.0, 0.0, true)), "{kernel}");
        let predicted = run.costs.predicted.as_ref().unwrap();
        if kernel == "cpu/csr/serial" {
            // CSR has no padding: each nonzero and each element of x and y is 4 bytes shorter.
            let [double, single] = ["f64", "f32"].map(|p| runs[&(kernel, p)].costs.minimal_bytes);
            assert_eq!(double - single, 4 * values);
            // Every array begins on its own line, and its last line may be partly used.
            let lines = predicted.line_bytes.unwrap() - run.costs.minimal_bytes;
            assert!(lines < 5 * 64, "{precision}: {lines} bytes more than the minimum");
        }
    }
    let csv = std::fs::read_to_string(p.path("b.csv")).unwrap();
    assert_eq!(csv.lines().filter(|line| line.contains(",f32,")).count(), 5);
    let info = p.json(&["info", "gen:poisson2d?n=20", "--json"]);
    assert_eq!(info["sha256"], bundle.matrices[0].record.sha256.as_str());

    let mut cut = bundle.clone();
    cut.complete = false;
    cut.runs.retain(|run| run.precision == "f64" || run.kernel == "cpu/csr/serial");
    cut.save(&p.path("c.zip"), true).unwrap();
    p.succeed(&["bench", "--resume", "c.zip", "-q"]);
    let continued = open(&p, "c.zip");
    let after = by_precision(&continued);
    assert_eq!(after.len(), 10);
    for run in &cut.runs {
        assert_eq!(after[&(run.kernel.as_str(), run.precision.as_str())].samples, run.samples);
    }
    assert!(after.values().all(|run| run.figures.as_ref().unwrap().speedup.is_some()));

    let compared = p.json(&["compare", "b.zip", "c.zip", "--json"]);
    let compared = compared["runs"].as_array().unwrap();
    assert_eq!(compared.len(), 10);
    assert_eq!(compared.iter().filter(|run| run["precision"] == "f32").count(), 5);
}

#[test]
fn a_value_beyond_f32_is_refused_in_f32_with_its_row_and_computed_in_f64() {
    let p = program();
    p.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1e300\n");
    let args = ["bench", "a.mtx", "--precision", "f64,f32", "--kernels", "cpu/csr/*"];
    let table = p.succeed(&[&args[..], &["--threads", "1", "--runs", "1", "-o", "b.zip"]].concat());
    let why = "row 1 has 1e300 in column 1, too large for f32";
    assert!(table.contains(why), "{table}");
    for (&(kernel, precision), run) in &by_precision(&open(&p, "b.zip")) {
        match precision {
            "f64" => assert_eq!(run.check.verdict, Verdict::Pass, "{kernel}"),
            _ => {
                assert_eq!(run.check.verdict, Verdict::Refused, "{kernel}");
                assert_eq!(run.check.reason.as_deref(), Some(why));
            }
        }
    }
    let error = p.fail(1, &["spmv", "a.mtx", "--precision", "f32", "-o", "y.mtx"]);
    assert!(error.contains(why), "{error}");
    p.succeed(&["spmv", "a.mtx", "-o", "y.mtx"]);
}

#[test]
fn a_matrix_in_fewer_bits_than_the_vectors_is_for_kernels_that_take_it() {
    let p = program();
    for precision in ["f32:f64", "bf16:f32", "f16:f32"] {
        let args = ["bench", "gen:poisson2d?n=4", "--backend", "cpu", "--precision", precision];
        let error = p.fail(2, &args);
        assert!(error.contains(&format!("no selected kernel supports {precision}")), "{error}");
    }
}

#[test]
fn a_product_in_f32_is_that_of_the_rounded_values() {
    let p = program();
    p.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.1\n");
    p.write("x.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    p.succeed(&["spmv", "a.mtx", "--x", "x.mtx", "--precision", "f32", "-o", "y.mtx"]);
    let written = std::fs::read_to_string(p.path("y.mtx")).unwrap();
    let y: f64 = written.lines().last().unwrap().trim().parse().unwrap();
    assert_eq!(y, f64::from(0.1f32));
}
