//! Products with several vectors, with the transpose, and scaled.

use super::*;
use crate::common::program;

/// The rate follows from the operations and the median, the speed-up from the reference of the same product.
fn is_rated(run: &Run, flops: u64, reference: &Run) {
    let what = format!("{} {:?}", run.kernel_and_precision(), run.params);
    assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{what}");
    assert_eq!(run.work.unwrap().flops, flops, "{what}");
    let metric = run.metric.as_ref().unwrap();
    assert_eq!((metric.unit.as_str(), metric.better), ("GFLOPS", Better::More));
    let [median, serial] = [run, reference].map(|run| run.figures.as_ref().unwrap().median_s);
    let rate = flops as f64 / median / 1e9;
    assert!((metric.value / rate - 1.0).abs() < 1e-9, "{what}: {rate}");
    let speedup = run.figures.as_ref().unwrap().speedup.unwrap();
    assert!((speedup * median / serial - 1.0).abs() < 1e-9, "{what}: {speedup}");
}

/// All runs have keys of their own.
fn have_keys(bundle: &Bundle) {
    let keys: BTreeSet<_> = bundle.runs.iter().map(|run| bundle.key(run).unwrap()).collect();
    assert_eq!(keys.len(), bundle.runs.len());
}

/// Rows, columns and nonzeros of the matrix of a run.
fn sizes(bundle: &Bundle, run: &Run) -> [u64; 3] {
    let matrix = bundle.matrices.iter().find(|m| m.record.id == run.matrix).unwrap();
    let of = &matrix.record.statistics;
    [of.rows, of.cols, of.nnz]
}

#[test]
fn a_bundle_of_schema_1_13_has_products_with_one_vector_and_with_eight() {
    let bundle = Bundle::read(GOLDEN_1_13_SPMM, &Limits::default()).unwrap();
    // On two matrices, in two precisions: five kernels, with two numbers of columns.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 2 * 5 * 2));
    have_keys(&bundle);
    for run in &bundle.runs {
        let k = run.vectors().unwrap();
        let what = format!("{} with {k}", run.kernel_and_precision());
        assert_eq!((run.operation.as_str(), run.is_plain()), ("spmm", true), "{what}");
        // The default is not among what was requested, but in the key.
        let asked = (k == 1).then_some("1");
        assert_eq!(run.asked.get("vectors").map(String::as_str), asked, "{what}");
        let setting = bundle.key(run).unwrap().setting();
        assert!(k == 1 || k == 8, "{what}");
        assert!(setting.ends_with(&format!(", vectors={k}")), "{what}: {setting}");
        let is_rounded = run.precision == "f32";
        assert_eq!(run.check.rounding.is_some(), is_rounded, "{what}");
        let is_reference = |other: &&Run| {
            let of = |run: &Run| (run.matrix.clone(), run.precision.clone(), run.vectors());
            other.kernel == "cpu/spmm/serial" && of(other) == of(run)
        };
        let reference = bundle.runs.iter().find(is_reference).unwrap();
        let ([rows, cols, nnz], k) = (sizes(&bundle, run), u64::from(k));
        is_rated(run, 2 * k * nnz, reference);
        if run.kernel != "cpu/spmm/hll" {
            let value = if is_rounded { 4 } else { 8 };
            let expected = nnz * (4 + value) + 4 * (rows + 1) + k * value * (rows + cols);
            assert_eq!(run.costs.minimal_bytes, expected, "{what}");
        }
    }
}

#[test]
fn the_chart_of_columns_has_the_mean_rate_of_each_kernel_and_number_of_columns() {
    let p = program();
    p.write("b.zip", GOLDEN_1_13_SPMM);
    let state = ["--state", "v1;operation=spmm", "--table", "-"];
    let table = p.succeed(&[&["export", "b.zip", "--chart", "rate-vectors"], &state[..]].concat());
    let bundle = Bundle::read(GOLDEN_1_13_SPMM, &Limits::default()).unwrap();
    // Each stands for two matrices.
    assert_eq!(table.lines().skip(1).count(), bundle.runs.len() / 2, "{table}");
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [series, .., k, mean] = cells[..] else { panic!("{line}") };
        let k: Option<u32> = k.parse().ok();
        let is_it = |run: &&Run| run.kernel_and_precision() == series && run.vectors() == k;
        let rates = bundle.runs.iter().filter(is_it).map(|run| run.metric.as_ref().unwrap().value);
        let expected = rates.sum::<f64>() / 2.0;
        let mean: f64 = mean.parse().unwrap();
        assert!((mean / expected - 1.0).abs() < 1e-9, "{line}: {expected}");
    }
}

#[test]
fn a_bundle_of_schema_1_13_has_scaled_products_with_a_matrix_and_its_transpose() {
    let bundle = Bundle::read(GOLDEN_1_13_TRANSPOSED, &Limits::default()).unwrap();
    // On two matrices, in two precisions: three kernels, with the matrix and its transpose, scaled in two ways.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 2 * 3 * 2 * 2));
    have_keys(&bundle);
    let product = |run: &Run| ["op", "scale"].map(|name| run.params.get(name).cloned());
    let products: BTreeSet<_> = bundle.runs.iter().map(product).collect();
    let words =
        [None, Some("t")].into_iter().flat_map(|op| ["0.5:1", "2"].map(|by| [op, Some(by)]));
    let expected: BTreeSet<_> = words.map(|of| of.map(|word| word.map(str::to_owned))).collect();
    assert_eq!(products, expected);
    for run in &bundle.runs {
        let what = format!("{} of {}", run.kernel_and_precision(), run.matrix);
        assert_eq!((run.operation.as_str(), run.is_plain()), ("spmv", false), "{what}");
        assert_eq!(
            ["op", "scale"].map(|name| run.asked.get(name).cloned()),
            product(run),
            "{what}"
        );
        assert_eq!(run.costs.choice.is_some(), run.kernel == "cpu/spmv/auto", "{what}");
        let is_reference = |other: &&Run| {
            let of = |run: &Run| (run.matrix.clone(), run.precision.clone(), product(run));
            other.kernel == "cpu/csr/serial" && of(other) == of(run)
        };
        let [rows, cols, nnz] = sizes(&bundle, run);
        is_rated(run, 2 * nnz, bundle.runs.iter().find(is_reference).unwrap());
        let is_turned = run.params.contains_key("op");
        let (rows, cols) = if is_turned { (cols, rows) } else { (rows, cols) };
        if run.kernel == "cpu/csr/serial" {
            let value = if run.precision == "f32" { 4 } else { 8 };
            // What is added to y is read before.
            let read = if run.params["scale"] == "2" { 0 } else { rows };
            let expected = nnz * (4 + value) + 4 * (rows + 1) + value * (rows + cols + read);
            assert_eq!(run.costs.minimal_bytes, expected, "{what}");
        }
    }
    let label = |run: &Run| run.kernel_and_precision();
    let last = bundle.runs.iter().map(label).find(|label| label.contains("t, scale 2)"));
    assert_eq!(last.as_deref(), Some("cpu/csr/serial (f32, op t, scale 2)"));
}
