//! SciPy as the independent check of reading, SpMV and sweeps, and PyAMG of sweeps.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use sparsescope_core::record::{Operation, Verdict};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use crate::common::{on_cpu, open, products_here, program, python_imports, real_matrices};

fn has_scipy() -> bool {
    python_imports("scipy.io")
}

/// Real matrices of every field and symmetry that kernels compute with.
const REAL: [&str; 14] = [
    "xenon1.mtx.gz",
    "NotreDame_www.mtx.gz",
    "copter2.mtx.gz",
    "c-62.mtx.gz",
    "lap3d_40.mtx.gz",
    "email-Enron.mtx.gz",
    "bcsstk16.mtx.gz",
    "arrow.mtx.gz",
    "G59.mtx.gz",
    "aa3.mtx.gz",
    "plskz362.mtx",
    "ash219.mtx",
    "bcsstm04.mtx",
    "heat_500.mtx.gz",
];

/// Whether a kernel may refuse a matrix for this reason: ELLPACK with a long row does not fit; BSR and DIA do
/// not suit every structure.
fn may_refuse(kernel: &str, reason: &str) -> bool {
    match kernel.split('/').nth(1) {
        Some("ell") => reason.contains("memory limit"),
        Some("bsr" | "dia") => reason.contains("% full, less than"),
        _ => false,
    }
}

/// Multiplies `matrix` by a random x with each of the kernels and lets SciPy check all results; SciPy and
/// `info` must agree on the size. Returns the kernels that accepted it.
fn check<'k>(p: &Program, matrix: &str, kernels: &[&'k str]) -> Vec<&'k str> {
    check_in(p, "f64", matrix, kernels)
}

/// The same in a given precision.
fn check_in<'k>(p: &Program, precision: &str, matrix: &str, kernels: &[&'k str]) -> Vec<&'k str> {
    let info = p.json(&["info", matrix, "--json"]);
    let cols = info["cols"].as_u64().unwrap();
    // Not integers, so that sums round.
    let x: Vec<String> =
        (0..cols).map(|j| format!("{:e}", 0.1 + (j * 7919 % 1000) as f64)).collect();
    let header = format!("%%MatrixMarket matrix array real general\n{cols} 1\n");
    p.write("x.mtx", header + &x.join("\n") + "\n");
    let (mut results, mut compared) = (Vec::new(), Vec::new());
    for (k, &kernel) in kernels.iter().enumerate() {
        let y = format!("y{k}.mtx");
        let args = ["spmv", matrix, "--kernel", kernel, "--x", "x.mtx", "-o", &y, "--force"];
        let ran = p.run(&[&args[..], &["--precision", precision]].concat());
        if ran.code != Some(0) && may_refuse(kernel, &ran.err) {
            continue;
        }
        assert_eq!(ran.code, Some(0), "{matrix} {kernel}: {}", ran.err);
        results.push(y);
        compared.push(kernel);
    }
    assert!(!results.is_empty());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/check_spmv.py");
    let mut python = Command::new("python3");
    python.arg(script).args([precision, matrix, "x.mtx"]).args(&results).current_dir(p.folder());
    let output = python.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{matrix}: {error}");
    let size = [&info["rows"], &info["cols"], &info["nnz"]].map(ToString::to_string).join(" ");
    assert_eq!(said.trim(), size, "{matrix}: rows, columns and entries");
    compared
}

#[test]
fn scipy_agrees_in_single_precision_on_every_kernel() {
    if !has_scipy() {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let p = program();
    let all: Vec<&str> = products_here().map(|k| k.id).collect();
    p.succeed(&["generate", "fem-hex?n=6&dof=3", "-o", "a.mtx"]);
    let compared = check_in(&p, "f32", "a.mtx", &all);
    assert!(compared.iter().all(|id| all.contains(id)) && compared.len() + 1 >= all.len());
}

#[test]
fn scipy_agrees_on_a_matrix_of_every_generator_and_on_every_kernel() {
    if !has_scipy() {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let p = program();
    let all: Vec<&str> = products_here().map(|k| k.id).collect();
    let mut compared = BTreeSet::new();
    for (spec, kernels) in [
        ("powerlaw?m=2000&nnz=9000&max=700", &all[..]),
        ("fem-hex?n=6&dof=3", &all[..]),
        ("random?m=300&n=500&row=11", &all[..]),
        ("stencil7?n=9", &["cpu/csr/nnz"]),
        ("stencil27?n=9", &["cpu/csr/rows"]),
        ("poisson2d?n=30", &["cpu/hll/guided", "cpu/dia/rows"]),
        ("banded?m=700&half=40&row=9", &["cpu/hyb/rows"]),
        ("road?m=2000", &["cpu/csr/merge"]),
        ("circuit?m=2000&nnz=14000&dense=1500", &["cpu/csr/merge"]),
        ("kkt?n=7", &["cpu/ell/rows"]),
        ("diagonal?m=100", &["cpu/coo/serial"]),
        ("dense-row?m=500", &["cpu/hyb/serial"]),
    ] {
        p.succeed(&["generate", spec, "-o", "a.mtx", "--force"]);
        compared.extend(check(&p, "a.mtx", kernels));
    }
    assert_eq!(compared, all.iter().copied().collect(), "every kernel on some matrix");
}

#[test]
fn scipy_agrees_on_real_matrices() {
    if !has_scipy() {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let Some(folder) = real_matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let p = program();
    for name in REAL {
        let path = folder.join(name).to_string_lossy().into_owned();
        let kernels = ["cpu/csr/serial", "cpu/csr/merge", "cpu/hyb/rows", "cpu/hll/guided"];
        assert_eq!(check(&p, &path, &kernels), kernels, "{name}");
    }
}

#[test]
fn every_kernel_passes_its_check_on_real_matrices() {
    let Some(folder) = real_matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let p = program();
    let paths = REAL.map(|name| folder.join(name).to_string_lossy().into_owned());
    let mut args = vec!["bench", "-q", "-o", "b.zip", "--runs", "2", "--warmup", "0"];
    args.extend(paths.iter().map(String::as_str));
    p.succeed(&args);
    let bundle = open(&p, "b.zip");
    assert_eq!(bundle.matrices.len(), REAL.len());
    let mut passed = BTreeSet::new();
    for run in &bundle.runs {
        let reason = run.check.reason.as_deref().unwrap_or_default();
        match run.check.verdict {
            Verdict::Pass => {
                passed.insert(run.kernel.as_str());
            }
            verdict => assert!(
                verdict == Verdict::Refused && may_refuse(&run.kernel, reason),
                "{} {}: {reason}",
                run.matrix,
                run.kernel
            ),
        }
    }
    assert_eq!(passed, products_here().map(|k| k.id).collect(), "every kernel on some matrix");
}

#[test]
fn reordering_is_as_good_as_scipys_on_real_matrices() {
    if !has_scipy() {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let Some(folder) = real_matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let p = program();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/check_rcm.py");
    for name in
        ["bcsstk16.mtx.gz", "4elt.mtx.gz", "barth.mtx.gz", "usroads.mtx.gz", "cavity14.mtx.gz"]
    {
        let path = folder.join(name).to_string_lossy().into_owned();
        let info = p.json(&["info", &path, "--reorder", "rcm", "--json"]);
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let ran = Command::new("python3").arg(&script).arg(&path).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let printed = String::from_utf8(ran.stdout).unwrap();
        let theirs: Vec<u64> = printed.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let &[lower, upper, bandwidth, profile] = theirs.as_slice() else {
            panic!("{name}: {printed}");
        };
        let before = &info["reordered"];
        assert_eq!(
            (number(&before["lower_bandwidth"]), number(&before["upper_bandwidth"])),
            (lower, upper),
            "{name}"
        );
        // The start node differs (SciPy takes the node of least degree), and so does the result.
        let ours = number(&info["lower_bandwidth"]).max(number(&info["upper_bandwidth"]));
        assert!(ours as f64 <= 1.25 * bandwidth as f64, "{name}: {ours}, SciPy {bandwidth}");
        let ours = number(&info["profile"]);
        assert!(ours as f64 <= 1.25 * profile as f64, "{name}: profile {ours}, SciPy {profile}");
    }
}

/// Real matrices whose sweeps do not diverge.
const REAL_SWEPT: [&str; 6] =
    ["bcsstk16.mtx.gz", "rdb450.mtx", "cage10.mtx.gz", "mcca.mtx", "steam1.mtx", "Dubcova1.mtx.gz"];

/// Generated small matrices for sweeps, most with unsymmetric structure.
const SWEPT: [&str; 7] = [
    "random?m=300&row=6&dominant=1",
    "powerlaw?m=500&nnz=2500&max=200&dominant=1",
    "circuit?m=500&nnz=3000&dense=300&dominant=1",
    "stencil27?n=7",
    "poisson2d?n=20",
    "banded?m=400&half=30&row=7&dominant=1",
    "kmer?m=800&near=20",
];

/// Sweeps `sweeps` times over `matrix` with every kernel, from a generic b and x, and lets `program` sweep as
/// well and compare.
fn check_sweeps(p: &Program, program: &str, precision: &str, matrix: &str, sweeps: &[&str]) {
    let info = p.json(&["info", matrix, "--json"]);
    let rows = info["rows"].as_u64().unwrap();
    for (name, by) in [("b.mtx", 7919), ("x0.mtx", 6133)] {
        let elements: Vec<String> =
            (0..rows).map(|i| format!("{:e}", (i * by % 1000) as f64 / 300.0 - 1.1)).collect();
        let header = format!("%%MatrixMarket matrix array real general\n{rows} 1\n");
        p.write(name, header + &elements.join("\n") + "\n");
    }
    let mut results = Vec::new();
    for (kernel, sweeps) in
        on_cpu(Operation::Symgs).flat_map(|k| sweeps.iter().map(move |sweeps| (k, sweeps)))
    {
        let x = format!("swept{}.mtx", results.len());
        let args = ["symgs", matrix, "--kernel", kernel.id, "--b", "b.mtx", "--x0", "x0.mtx"];
        let how = ["--precision", precision, "--sweeps", sweeps, "-o", &x, "--force"];
        p.succeed(&[&args[..], &how].concat());
        let order = if kernel.exact { "natural" } else { "colors" };
        results.push(format!("{order},{sweeps},{x}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/check_symgs.py");
    let mut python = Command::new("python3");
    python.arg(script).args([program, precision, matrix, "b.mtx", "x0.mtx"]).args(&results);
    let output = python.current_dir(p.folder()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{matrix} in {precision}, {results:?}: {error}");
}

#[test]
fn a_symmetric_sweep_is_scipys_solving_with_one_triangle_after_the_other() {
    if !has_scipy() {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let p = program();
    for spec in SWEPT {
        p.succeed(&["generate", spec, "-o", "a.mtx", "--force"]);
        check_sweeps(&p, "scipy", "f64", "a.mtx", &["1", "3"]);
    }
}

#[test]
fn sweeps_are_pyamgs_in_both_precisions() {
    if !python_imports("pyamg") {
        skip!(Need::Pyamg, "python3 cannot import pyamg");
    }
    let p = program();
    for spec in SWEPT {
        p.succeed(&["generate", spec, "-o", "a.mtx", "--force"]);
        for precision in ["f64", "f32"] {
            check_sweeps(&p, "pyamg", precision, "a.mtx", &["2"]);
        }
    }
}

#[test]
fn sweeps_over_real_matrices_are_scipys() {
    if !has_scipy() {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let Some(folder) = real_matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let p = program();
    // Diverging sweeps could not be compared.
    for name in REAL_SWEPT {
        let path = folder.join(name).to_string_lossy().into_owned();
        check_sweeps(&p, "scipy", "f64", &path, &["1"]);
    }
}
