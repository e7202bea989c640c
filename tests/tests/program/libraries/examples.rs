//! The examples of kernel libraries in the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Run, Verdict};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use super::{EXAMPLES, bench, bench_spmm, build, reason};
use crate::common::{open, program};
use crate::pages::{read, rows};

const PAGE: &str = "docs/kernel-library.md";

/// Builds an example by the page's command and these arguments.
fn build_as_documented(p: &Program, source: &str, more: &[&str]) {
    for file in [source, "sparsescope_kernel.h"] {
        std::fs::copy(Path::new(EXAMPLES).join(file), p.path(file)).unwrap();
    }
    let table = rows(&read(PAGE), "| language |");
    let mut commands = table.iter().map(|row| row[2].trim_matches('`'));
    let command = commands.find(|command| command.ends_with(source));
    let command = command.unwrap_or_else(|| panic!("{PAGE} does not build {source}"));
    let mut words = command.split(' ');
    let mut compiler = Command::new(words.next().unwrap());
    let status = compiler.args(words).args(more).current_dir(p.folder()).status();
    assert!(status.expect("there is the compiler").success(), "{command}");
}

#[test]
fn the_page_shows_parts_of_the_examples() {
    let files = std::fs::read_dir(EXAMPLES).unwrap();
    let sources = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let sources: Vec<String> = sources.collect();
    let page = read(PAGE);
    let parts = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let mut languages = BTreeSet::new();
    for (language, part) in parts.filter(|(language, _)| *language != "text") {
        assert!(sources.iter().any(|source| source.contains(part)), "no example has\n{part}");
        languages.insert(language);
    }
    assert_eq!(languages, BTreeSet::from(["c", "cpp", "cuda", "rust"]));
}

#[test]
fn the_example_runs_and_its_file_is_recorded() {
    let p = program();
    build_as_documented(&p, "csr_library.c", &["-Wall", "-Wextra", "-Werror"]);
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
    build_as_documented(&p, "csr_library.rs", &["-D", "warnings"]);
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
    // Warnings about Eigen's own headers do not count.
    let strict = ["-isystem", EIGEN, "-Wall", "-Wextra", "-Werror"];
    build_as_documented(&p, "eigen_library.cpp", &strict);
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
    build_as_documented(&p, "cuda_library.cu", &["-Werror", "all-warnings"]);
    p.succeed(&bench(&["libcuda_rows.so"]));
    let bundle = open(&p, "b.zip");
    assert!(bundle.runs.iter().any(|run| run.kernel == "user/cuda_rows/rows"));
}

#[test]
fn the_commands_of_the_workflow_work_and_the_page_shows_them() {
    let (workflow, page) = (read("docs/examples/track.yml"), read("docs/track.md"));
    let blocks = page.split("\n```");
    let blocks =
        blocks.filter_map(|part| part.strip_prefix("sh\n").or(part.strip_prefix("yaml\n")));
    let shown: Vec<&str> = blocks.flat_map(str::lines).collect();
    for line in &shown {
        assert!(workflow.lines().any(|known| known.trim() == *line), "no such line: {line}");
    }
    assert!(shown.len() > 4, "{shown:?}");
    let p = program();
    build(&p, &format!("{EXAMPLES}/csr_library.c"), "libmine.so", &[]);
    p.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 5\n");
    let lines = workflow.lines().filter(|line| !line.trim().starts_with('#'));
    let commands: Vec<&str> =
        lines.filter_map(|line| Some(line.split_once("sparsescope ")?.1)).collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for command in commands {
        p.succeed(&command.split(' ').collect::<Vec<&str>>());
    }
    assert!(p.path("history/index.html").exists() && p.path("comment.md").exists());
}
