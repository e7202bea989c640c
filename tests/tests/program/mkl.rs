//! oneMKL's kernels through the whole program if it is found, and the message if it is not.

use sparsescope_core::record::Verdict;
use sparsescope_test_support::{Need, skip};

use crate::common::{open, program};

const SWEEP: [&str; 14] = [
    "bench",
    "gen:stencil27?n=8",
    "gen:dense-row?m=300",
    "--kernels",
    "cpu/csr/serial,vendor/mkl/*",
    "--threads",
    "1,2,5",
    "--precision",
    "f64,f32",
    "--runs",
    "4",
    "--warmup",
    "1",
    "-o",
];

/// Why the library is missing; nothing if it is found.
fn absence(kernels: &serde_json::Value) -> Option<String> {
    let of = |k: &&serde_json::Value| k["id"] == "vendor/mkl/csr";
    let kernel = kernels.as_array().unwrap().iter().find(of).unwrap();
    (kernel["available"] == false).then(|| kernel["reason"].as_str().unwrap().to_owned())
}

#[test]
fn its_products_pass_the_check_and_its_version_is_recorded() {
    let p = program();
    if let Some(why) = absence(&p.json(&["kernels", "--json"])) {
        skip!(Need::Mkl, "{why}");
    }
    p.succeed(&[&SWEEP[..], &["b.zip"]].concat());
    let bundle = open(&p, "b.zip");
    // Serial once and two kernels with three thread counts, possibly more than there are cores.
    assert_eq!(bundle.runs.len(), 2 * 2 * (1 + 2 * 3));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        assert_eq!(run.samples.len(), 4);
        let is_vendors = run.kernel.starts_with("vendor/");
        assert_eq!(run.origin == ["vendor"], is_vendors);
        assert!(!is_vendors || run.costs.plan_s > 0.0);
    }
    let several = ["--operation", "spmm", "--vectors", "1,7,32", "-o", "spmm.zip"];
    let mut args: Vec<&str> = SWEEP[..13].to_vec();
    args[4] = "cpu/spmm/serial,vendor/mkl/spmm,vendor/mkl/spmm-columns";
    p.succeed(&[&args[..], &several].concat());
    let spmm = open(&p, "spmm.zip");
    assert_eq!(spmm.runs.len(), 2 * 2 * 3 * (1 + 2 * 3));
    for run in &spmm.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
    }
    let how = ["--op", "n,t", "--scale", "1,2:-0.5", "-o", "turned.zip"];
    p.succeed(&[&SWEEP[..13], &how].concat());
    let turned = open(&p, "turned.zip");
    assert_eq!(turned.runs.len(), 4 * bundle.runs.len());
    for run in &turned.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
    }
    let version = &bundle.environments[0].libraries["oneMKL"];
    assert!(version.starts_with("20"), "{version}");
}

#[test]
fn without_it_nothing_of_it_runs_and_the_reason_is_told() {
    let p = program();
    let without = |args: &[&str]| {
        let mut command = p.command(args);
        for name in ["MKLROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CMPLR_ROOT", "LD_LIBRARY_PATH"] {
            command.env_remove(name);
        }
        command.env("SPARSESCOPE_MKL", p.path("none"));
        command.output().unwrap()
    };
    let listed = without(&["kernels", "--json"]).stdout;
    let Some(why) = absence(&serde_json::from_slice(&listed).unwrap()) else {
        return; // The loader finds it by itself.
    };
    assert!(why.contains("mkl_rt") && why.contains("SPARSESCOPE_MKL"), "{why}");
    let ran = without(&[&SWEEP[..], &["asked.zip"]].concat());
    assert!(ran.status.success());
    for run in open(&p, "asked.zip").runs {
        let is_vendors = run.kernel.starts_with("vendor/");
        let expected = if is_vendors { Verdict::Unsupported } else { Verdict::Pass };
        assert_eq!((run.check.verdict, run.samples.is_empty()), (expected, is_vendors));
        assert!(!is_vendors || run.check.reason.unwrap().contains(&why));
    }
    // A library that is not requested is not reported missing.
    let all = ["bench", "gen:diagonal?m=9", "--runs", "1", "--warmup", "0", "-o", "all.zip"];
    assert!(without(&all).status.success());
    assert!(open(&p, "all.zip").runs.iter().all(|run| !run.kernel.starts_with("vendor/")));
}
