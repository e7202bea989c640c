//! `cpu/spmv/auto` through the whole program: its choice is reported with every run.

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::record::Verdict;
use sparsescope_tests::{documents, follow_the_schema};

use crate::common::program;

#[test]
fn bench_records_and_tells_what_was_chosen() {
    let p = program();
    let table = p.succeed(&[
        "bench",
        "gen:stencil7?n=12",
        "gen:powerlaw?m=2000&nnz=12000&max=300",
        "--kernels",
        "cpu/csr/serial,cpu/spmv/auto",
        "--compact",
        "on,off",
        "--threads",
        "1,2",
        "--runs",
        "4",
        "--warmup",
        "1",
        "--all",
        "-v",
        "-o",
        "b.zip",
    ]);
    assert!(table.contains("cpu/spmv/auto: cpu/"), "{table}");
    assert!(table.contains("chose on") && table.contains("pays off after"), "{table}");
    let bytes = std::fs::read(p.path("b.zip")).unwrap();
    assert!(follow_the_schema(&documents(&bytes)) > 0);
    let bundle = Bundle::read(&bytes, &Limits::default()).unwrap();
    // One serial configuration; two thread counts with and without compact formats.
    assert_eq!(bundle.runs.len(), 2 * (1 + 2 * 2));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
        let is_auto = run.kernel == "cpu/spmv/auto";
        assert_eq!(run.costs.choice.is_some(), is_auto);
        let Some(choice) = &run.costs.choice else { continue };
        let compact = &run.params["compact"];
        assert_eq!(run.asked.get("compact"), Some(compact).filter(|how| *how == "off"));
        assert!(compact == "on" || !choice.kernel.ends_with("/compact"), "{}", choice.kernel);
        assert!(choice.tried.len() > 1 && choice.kernel.starts_with("cpu/"), "{choice:?}");
        let paid = run.costs.conversion_s + run.costs.plan_s;
        assert!((paid - choice.seconds()).abs() < 1e-9);
        // The gain per SpMV pays for the choice after this many.
        if let Some(products) = run.costs.break_even {
            assert!(run.figures.as_ref().unwrap().speedup.unwrap() > 1.0 && products >= 1.0);
        }
    }
}

#[test]
fn spmv_says_what_it_ran_and_gives_the_right_result() {
    let p = program();
    let with = |kernel: &str, file: &str, more: &[&str]| {
        let args = ["spmv", "gen:stencil27?n=6", "--kernel", kernel, "-o", file];
        let output = p.command(&[&args[..], more].concat()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        (std::fs::read_to_string(p.path(file)).unwrap(), told)
    };
    let (serial, _) = with("cpu/csr/serial", "serial.mtx", &[]);
    let (auto, told) = with("cpu/spmv/auto", "auto.mtx", &["--no-compact", "--threads", "2"]);
    // Integers, whose sum does not depend on the order.
    assert_eq!(auto, serial);
    assert!(told.contains("cpu/spmv/auto runs cpu/") && told.contains("setup took"), "{told}");
    assert!(!told.contains("/compact"), "{told}");
    let (_, told) = with("cpu/spmv/auto", "quiet.mtx", &["-q"]);
    assert_eq!(told, "");
}
