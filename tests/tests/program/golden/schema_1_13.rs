//! Energy, and the errors of runs in fewer bits.

use super::*;
use crate::common::program;

#[test]
fn a_bundle_of_schema_1_13_says_how_much_energy_an_spmv_takes_or_why_that_is_unknown() {
    let bundle = Bundle::read(GOLDEN_1_13_ENERGY, &Limits::default()).unwrap();
    // Two matrices, two kernels.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 2));
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{}", run.kernel);
        if run.backend == "cpu" {
            let reason = "energy is measured only for CUDA kernels on one GPU";
            assert_eq!((&run.energy, run.no_energy.as_deref()), (&None, Some(reason)));
            continue;
        }
        let energy = run.energy.as_ref().unwrap();
        assert_eq!((energy.method.as_str(), energy.windows.len()), ("counter", 4));
        assert!((5.0..6.5).contains(&energy.seconds) && !energy.restores, "{energy:?}");
        // An H100 takes at most 700 W.
        assert!(0.0 < energy.idle_watts && energy.idle_watts < energy.watts, "{energy:?}");
        assert!(energy.watts < 750.0 && energy.spread() < 0.2, "{energy:?}");
        // Repetitions take as long as samples, give or take what surrounds them.
        let seconds = energy.joules / energy.watts;
        let median = run.figures.as_ref().unwrap().median_s;
        assert!((0.5 * median..3.0 * median).contains(&seconds), "{seconds} s, {median} s");
        let flops = run.work.unwrap().flops as f64;
        assert_eq!(run.gflops_per_watt(), Some(flops / energy.joules / 1e9));
    }
    // Older versions measured no energy.
    let older = Bundle::read(GOLDEN_1_11, &Limits::default()).unwrap();
    assert!(older.runs.iter().all(|run| run.energy.is_none() && run.no_energy.is_none()));
}

#[test]
fn the_chart_of_energy_has_the_rate_and_the_efficiency_of_each_run_with_an_energy() {
    let p = program();
    p.write("b.zip", GOLDEN_1_13_ENERGY);
    let table = p.succeed(&["export", "b.zip", "--chart", "energy", "--table", "-"]);
    // The last columns of each line, from the last.
    let numbers = |line: &str| -> Vec<f64> {
        line.rsplit(',').take(2).map(|text| text.parse().unwrap()).collect()
    };
    let found: Vec<Vec<f64>> = table.lines().skip(1).map(numbers).collect();
    let bundle = Bundle::read(GOLDEN_1_13_ENERGY, &Limits::default()).unwrap();
    let measured = bundle.runs.iter().filter(|run| run.energy.is_some());
    assert_eq!(found.len(), measured.clone().count());
    for run in measured {
        let flops = run.work.unwrap().flops as f64;
        let joules = run.energy.as_ref().unwrap().joules;
        let expected = [joules, run.figures.as_ref().unwrap().median_s].map(|of| flops / of / 1e9);
        let near = |of: &Vec<f64>| of.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9);
        assert!(found.iter().any(near), "{table}: {expected:?}");
    }
}

#[test]
fn a_bundle_of_schema_1_13_has_the_error_of_runs_in_fewer_bits() {
    let bundle = Bundle::read(GOLDEN_1_13, &Limits::default()).unwrap();
    let precisions = ["f64", "f32", "f32:f64", "bf16:f32", "f16:f32"];
    // On two matrices: eight kernels once in each precision.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 8 * precisions.len()));
    for run in &bundle.runs {
        let what = format!("{} {}", run.kernel, run.precision);
        if run.kernel == "cpu/csr/serial" && run.precision.contains(':') {
            assert_eq!(run.check.verdict, Verdict::Unsupported, "{what}");
            let reason = format!("does not support {}", run.precision);
            assert_eq!(run.check.reason.as_deref(), Some(reason.as_str()));
            continue;
        }
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4), "{what}");
        assert_eq!(run.check.rounding.is_some(), run.precision != "f64", "{what}");
    }
    let find = |matrix: &str, kernel: &str, precision: &str| {
        let is_it = |run: &&Run| {
            run.matrix.starts_with(matrix) && run.kernel == kernel && run.precision == precision
        };
        bundle.runs.iter().find(is_it).unwrap()
    };
    for kernel in ["cuda/csr/thread-per-row", "cuda/csr/adaptive", "cuda/spmv/auto"] {
        let error = |matrix: &str, precision: &str| {
            let found = find(matrix, kernel, precision).check.rounding.unwrap();
            assert!(found.max <= found.bound, "{kernel} {precision} {found:?}");
            found.max
        };
        // 6 and −1 are numbers of every format, and so are sums of their products with 1 to 5.
        assert!(precisions[1..].iter().all(|precision| error("stencil7", precision) == 0.0));
        let [mixed, bf16, f16] =
            ["f32:f64", "bf16:f32", "f16:f32"].map(|precision| error("powerlaw", precision));
        assert!(0.0 < mixed && mixed < f16 && f16 < bf16, "{kernel} {mixed:e} {f16:e} {bf16:e}");
        let bytes = |precision: &str| find("powerlaw", kernel, precision).costs.minimal_bytes;
        // In CSR, each of the nonzeros is shorter. The choice may move fewer bytes in f64 and f32.
        if kernel != "cuda/spmv/auto" {
            assert_eq!(bytes("f64") - bytes("f32:f64"), 4 * 1600);
            assert_eq!(bytes("f32") - bytes("bf16:f32"), 2 * 1600);
        }
        assert_eq!(bytes("bf16:f32"), bytes("f16:f32"));
    }
}
