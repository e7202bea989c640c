//! The examples of kernel libraries in the documentation.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Run, Verdict};
use sparsescope_test_support::{Need, skip};

use super::{EXAMPLES, bench, bench_spmm, build, reason};
use crate::common::{open, program};

#[test]
fn the_example_runs_and_its_file_is_recorded() {
    let p = program();
    build(&p, &format!("{EXAMPLES}/csr_library.c"), "libcsr.so", &[]);
    p.succeed(&bench(&["libcsr.so"]));
    let bundle = open(&p, "b.zip");
    let run = bundle.runs.iter().find(|run| run.kernel == "user/csr/rows").unwrap();
    let source = run.source.as_ref().unwrap();
    let content = std::fs::read(p.path("libcsr.so")).unwrap();
    assert_eq!(source.sha256, sparsescope_core::matrix::sha256(&content));
    assert_eq!((source.file.as_str(), source.format()), ("libcsr.so", "csr"));
    let machine = bundle.environment(&run.environment).unwrap();
    assert_eq!(machine.libraries["libcsr.so"], "row by row, 1.0");
    assert!(run.origin == ["user"] && run.figures.is_some());
    // The bundle is one like any other: nothing loads the library.
    std::fs::remove_file(p.path("libcsr.so")).unwrap();
    assert!(p.succeed(&["compare", "b.zip", "b.zip", "--all"]).contains("user/csr/rows"));
    p.succeed(&["export", "b.zip", "--report", "b.html"]);
}

#[test]
fn the_example_of_spmm_runs_with_any_number_of_columns_and_continues() {
    let p = program();
    build(&p, &format!("{EXAMPLES}/spmm_library.c"), "libspmm.so", &[]);
    let error = p.fail(2, &bench(&["libspmm.so"]));
    assert!(error.contains("libspmm.so computes spmm, but the operation is spmv"), "{error}");
    p.succeed(&bench_spmm(&["libspmm.so"], "1,3,40"));
    let mut bundle = open(&p, "b.zip");
    let runs = |bundle: &Bundle| {
        let of_library = bundle.runs.iter().filter(|run| run.kernel == "user/spmm/rows");
        let vectors = |run: &Run| (run.params["vectors"].clone(), run.check.verdict);
        of_library.map(vectors).collect::<BTreeMap<_, _>>()
    };
    let expected = BTreeMap::from(["1", "3", "40"].map(|k| (k.to_owned(), Verdict::Pass)));
    assert_eq!(runs(&bundle), expected);
    bundle.complete = false;
    bundle.runs.retain(|run| run.kernel == "cpu/spmm/serial");
    bundle.save(&p.path("b.zip"), true).unwrap();
    p.succeed(&["bench", "--resume", "b.zip", "--no-report", "--kernel-library", "libspmm.so"]);
    assert_eq!(runs(&open(&p, "b.zip")), expected);
}

#[test]
fn the_example_in_rust_runs() {
    let p = program();
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compiler = Command::new(compiler);
    compiler.args(["--edition", "2021", "-O", "--crate-type", "cdylib", "-o"]);
    compiler.arg(p.path("libcsr_rust.so")).arg(format!("{EXAMPLES}/csr_library.rs"));
    assert!(compiler.status().expect("there is a Rust compiler").success());
    p.succeed(&bench(&["libcsr_rust.so"]));
    let bundle = open(&p, "b.zip");
    let run = bundle.runs.iter().find(|run| run.kernel == "user/csr_rust/rows").unwrap();
    assert_eq!(run.check.verdict, Verdict::Pass, "{}", reason(run));
}

#[test]
fn the_example_with_eigen_runs() {
    const EIGEN: &str = "/usr/include/eigen3";
    if !Path::new(EIGEN).is_dir() || Command::new("c++").arg("--version").output().is_err() {
        skip!(Need::Eigen, "there is no {EIGEN} or no C++ compiler");
    }
    let p = program();
    let mut compiler = Command::new("c++");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fopenmp"]);
    compiler.args(["-isystem", EIGEN, "-o"]).arg(p.path("libeigen.so"));
    compiler.arg(format!("{EXAMPLES}/eigen_library.cpp"));
    assert!(compiler.status().expect("there is a C++ compiler").success());
    p.succeed(&bench(&["libeigen.so"]));
    let bundle = open(&p, "b.zip");
    let run = bundle.runs.iter().find(|run| run.kernel == "user/eigen/product").unwrap();
    assert_eq!(run.check.verdict, Verdict::Pass, "{}", reason(run));
}

#[test]
fn the_example_in_cuda_builds() {
    if Command::new("nvcc").arg("--version").output().is_err() {
        skip!(Need::Nvcc, "there is no nvcc");
    }
    let p = program();
    let mut compiler = Command::new("nvcc");
    compiler.args(["-O3", "-Werror", "all-warnings", "-shared", "-Xcompiler", "-fPIC", "-o"]);
    compiler.arg(p.path("libcuda_rows.so")).arg(format!("{EXAMPLES}/cuda_library.cu"));
    assert!(compiler.status().expect("there is nvcc").success());
    p.succeed(&bench(&["libcuda_rows.so"]));
    let bundle = open(&p, "b.zip");
    assert!(bundle.runs.iter().any(|run| run.kernel == "user/cuda_rows/rows"));
}
