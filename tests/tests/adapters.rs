//! Kernels through wgpu from the command line, on whatever adapter there is; a software one will do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use sparsescope_tests::{Need, Program, skip};

/// A program with a folder, where there is an adapter.
macro_rules! program {
    () => {{
        let p = Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"));
        let devices: Value = serde_json::from_str(&p.succeed(&["devices", "--json"])).unwrap();
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
    let told = p.succeed(&[
        "bench",
        "gen:powerlaw?m=2000&nnz=9000&max=90",
        "--backend",
        "wgpu",
        "--runs",
        "3",
        "--json",
        "-o",
        "w.zip",
    ]);
    let runs: Vec<Value> = serde_json::from_str(&told).unwrap();
    let kernels: Value = serde_json::from_str(&p.succeed(&["kernels", "--json"])).unwrap();
    let is_here = |k: &&Value| k["device"] == "wgpu" && k["available"] == true;
    let here = kernels.as_array().unwrap().iter().filter(is_here).count();
    let passed: Vec<_> = runs
        .iter()
        .filter(|run| run["backend"] == "wgpu" && run["check"]["verdict"] == "pass")
        .collect();
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
    let error = p.fail(1, &["bench", "gen:diagonal?m=9", "--backend", "wgpu", "--device", "99"]);
    assert!(error.contains("there is no device 99"), "{error}");
}
