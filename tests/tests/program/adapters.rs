//! wgpu kernels from the command line, on any adapter, possibly a software one.

use serde_json::Value;
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::{Program, Ran};

/// Runs the program with the GPUs of the machine, which other tests turn off.
fn run(p: &Program, args: &[&str]) -> Ran {
    let mut command = p.command(args);
    command.env_remove("SPARSESCOPE_GPU");
    Ran::of(command.output().unwrap())
}

/// The output of the program, which must succeed.
fn succeed(p: &Program, args: &[&str]) -> Value {
    let ran = run(p, args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// A program with a folder, if there is an adapter.
macro_rules! program {
    () => {{
        let p = crate::common::program();
        let devices = succeed(&p, &["devices", "--json"]);
        let all = devices["gpus"].as_array().cloned().unwrap_or_default();
        let is_first = |gpu: &&Value| gpu["details"]["chosen by"] == "--backend wgpu --device 0";
        match all.iter().find(is_first) {
            Some(gpu) => (p, gpu.clone()),
            None => skip!(Need::Adapter, "`devices` finds no adapter"),
        }
    }};
}

#[test]
fn every_kernel_is_measured_and_right_and_its_device_is_named() {
    let (p, gpu) = program!();
    let matrix = "gen:powerlaw?m=2000&nnz=9000&max=90";
    let mut passed = Vec::new();
    for (operation, file) in [("spmv", "v.zip"), ("spmm", "m.zip")] {
        let asked = ["bench", matrix, "--backend", "wgpu", "--runs", "3", "--json"];
        let more = ["--operation", operation, "-o", file];
        let measured = succeed(&p, &[&asked[..], &more].concat());
        let runs = measured["runs"].as_array().unwrap().iter();
        passed.extend(
            runs.filter(|run| run["backend"] == "wgpu" && run["check"]["verdict"] == "pass")
                .cloned(),
        );
    }
    let kernels = succeed(&p, &["kernels", "--json"]);
    let is_here = |k: &&Value| k["device"] == "wgpu" && k["available"] == true;
    let here = kernels.as_array().unwrap().iter().filter(is_here).count();
    let mut ids: Vec<_> = passed.iter().map(|run| run["kernel"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert!(here >= 8 && ids.len() == here, "{here} kernels, passed: {ids:?}");
    for run in passed {
        assert_eq!((&run["precision"], &run["params"]["checks"]), (&"f32".into(), &"off".into()));
        assert_eq!(run["device"], gpu["model"]);
        assert!(run["params"]["clock"].is_string(), "{run}");
    }
}

#[test]
fn a_device_that_is_not_there_is_a_sentence() {
    let (p, _) = program!();
    let ran = run(&p, &["bench", "gen:diagonal?m=9", "--backend", "wgpu", "--device", "99"]);
    assert_eq!(ran.code, Some(1));
    let error = ran.err;
    assert!(error.contains("there is no device 99"), "{error}");
}
