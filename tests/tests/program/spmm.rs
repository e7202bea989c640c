//! A matrix times several vectors through the whole program: `bench --operation spmm` and `spmm`.

use sparsescope_core::experiment::{Availability, Backend, CpuBackend};
use sparsescope_core::kernel::{KernelDescriptor, Mapping};
use sparsescope_core::record::{Operation, Run, Verdict};
use sparsescope_tests::{Program, documents, follow_the_schema};

use crate::common::{elements, on_cpu, open, program};

/// Shapes that break kernels: empty rows, more columns than rows, one dense column, one dense row.
const SHAPES: [(&str, &str); 3] = [
    ("empty.mtx", "%%MatrixMarket matrix coordinate real general\n6 4 3\n2 1 3\n2 4 -1\n6 3 2\n"),
    (
        "wide.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 9 4\n1 1 3\n1 9 4\n2 5 5\n2 9 1\n",
    ),
    (
        "column.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 3 6\n1 2 1\n2 2 2\n3 2 3\n4 2 4\n4 1 1\n4 3 1\n",
    ),
];

const HOW: [&str; 10] =
    ["--operation", "spmm", "--backend", "cpu", "--runs", "3", "--threads", "1,2", "-o", "out.zip"];

#[test]
fn every_kernel_multiplies_by_any_number_of_vectors_in_both_precisions() {
    let p = program();
    for (name, text) in SHAPES {
        p.write(name, text);
    }
    let matrices = ["empty.mtx", "wide.mtx", "column.mtx", "gen:dense-row?m=40"];
    let more = ["--vectors", "1,8,33", "--precision", "f64,f32"];
    p.succeed(&[&["bench"], &matrices[..], &HOW, &more].concat());
    let bundle = open(&p, "out.zip");
    let cpu = CpuBackend::new();
    let here = on_cpu(Operation::Spmm).filter(|k| cpu.availability(k) == Availability::Available);
    let threads = |kernel: &KernelDescriptor| if kernel.takes.threads { 2 } else { 1 };
    assert_eq!(
        bundle.runs.iter().filter(|run| run.figures.is_some()).count(),
        4 * 3 * 2 * here.map(threads).sum::<usize>()
    );
    for run in bundle.runs.iter().filter(|run| run.figures.is_some()) {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        let is_rounded = run.precision == "f32";
        assert_eq!(run.check.rounding.is_some(), is_rounded, "{} {}", run.kernel, run.precision);
        let matrix = bundle.matrices.iter().find(|m| m.record.id == run.matrix).unwrap();
        let k: u64 = run.params["vectors"].parse().unwrap();
        let flops = run.work.unwrap().flops;
        assert_eq!(flops, 2 * k * matrix.record.statistics.nnz, "{} with {k}", run.kernel);
        let (metric, figures) = (run.metric.as_ref().unwrap(), run.figures.as_ref().unwrap());
        assert_eq!(metric.unit, "GFLOPS");
        assert!((metric.value / (flops as f64 / figures.median_s / 1e9) - 1.0).abs() < 1e-9);
        // The reference has the same matrix, precision and number of vectors.
        let is_its = |other: &&Run| {
            let of = |run: &Run| {
                (run.matrix.clone(), run.precision.clone(), run.params["vectors"].clone())
            };
            other.kernel == "cpu/spmm/serial" && of(other) == of(run)
        };
        let serial = bundle.runs.iter().find(is_its).unwrap().figures.as_ref().unwrap();
        let speedup = figures.speedup.unwrap();
        assert!((speedup * figures.median_s / serial.median_s - 1.0).abs() < 1e-9);
    }
    let written = std::fs::read(p.path("out.zip")).unwrap();
    assert!(follow_the_schema(&documents(&written)) > 3);
    let csv = p.succeed(&["export", "out.zip", "--csv", "-"]);
    assert!(csv.contains("cpu/spmm/simd") && csv.contains("vectors=33"), "{csv}");
}

/// The 5 x 5 example of the papers, and X with the columns 1 to 5 and ones.
fn example() -> Program {
    let p = program();
    p.write(
        "A.mtx",
        "%%MatrixMarket matrix coordinate real general\n5 5 10\n1 1 3\n1 2 4\n2 2 5\n2 3 1\n3 2 1\n\
        3 3 2\n4 3 2\n4 4 3\n5 4 1\n5 5 6\n",
    );
    p.write(
        "X.mtx",
        "%%MatrixMarket matrix array real general\n5 2\n1\n2\n3\n4\n5\n1\n1\n1\n1\n1\n",
    );
    p
}

#[test]
fn spmm_multiplies_with_every_kernel_and_writes_both_forms() {
    let p = example();
    // 3·1 + 4·2, 5·2 + 1·3, 1·2 + 2·3, 2·3 + 3·4, 1·4 + 6·5; then the sums of the rows.
    let expected = [11.0, 13.0, 8.0, 18.0, 34.0, 7.0, 6.0, 3.0, 5.0, 7.0];
    for k in on_cpu(Operation::Spmm).filter(|k| k.mapping != Mapping::Library) {
        p.succeed(&["spmm", "A.mtx", "--x", "X.mtx", "--kernel", k.id, "-o", "Y.mtx", "--force"]);
        let y = std::fs::read_to_string(p.path("Y.mtx")).unwrap();
        assert_eq!(y.lines().nth(1), Some("5 2"));
        let y: Vec<f64> = y.lines().skip(2).map(|line| line.parse().unwrap()).collect();
        assert_eq!(y, expected, "{}", k.id);
    }
    p.succeed(&["spmm", "A.mtx", "--x", "X.mtx", "--precision", "f32", "-o", "Y.npy"]);
    let npy = std::fs::read(p.path("Y.npy")).unwrap();
    let by_rows: Vec<u8> =
        (0..10).flat_map(|e| f64::to_le_bytes(expected[e % 2 * 5 + e / 2])).collect();
    assert!(npy.ends_with(&by_rows) && String::from_utf8_lossy(&npy).contains("(5,2,)"));
    p.succeed(&["spmm", "A.mtx", "--x", "Y.npy", "-o", "again.mtx"]);
    assert_eq!(p.json(&["info", "again.mtx", "--json"])["cols"], 2);
    p.succeed(&["spmm", "A.mtx", "--vectors", "3", "-o", "drawn.mtx"]);
    assert_eq!(p.json(&["info", "drawn.mtx", "--json"])["cols"], 3);
}

/// A `.npy` file of numbers in f64.
fn npy(fortran: &str, shape: &str, values: &[f64]) -> Vec<u8> {
    let text = format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = (text.len() as u16).to_le_bytes();
    let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [b"\x93NUMPY\x01\0".to_vec(), length.to_vec(), text.into_bytes(), values].concat()
}

#[test]
fn x_as_text_has_a_row_per_line() {
    let p = example();
    // As numpy.savetxt writes integers and floats; no list of edges.
    p.write("X.txt", "1 1\n2 1\n3 1\n4 1\n5 1\n");
    p.write("X.csv", "# x, ones\n1.0e+00,1\n2.0e+00,1\n3.0e+00,1\n4.0e+00,1\n5.0e+00,1\n");
    let expected = "11 13 8 18 34 7 6 3 5 7";
    for x in ["X.txt", "X.csv"] {
        let ran = p.run(&["spmm", "A.mtx", "--x", x, "-o", "Y.mtx", "--force"]);
        assert!(ran.code == Some(0) && !ran.err.contains("warning"), "{}", ran.err);
        let y = std::fs::read_to_string(p.path("Y.mtx")).unwrap();
        let y = y.lines().skip(2).map(|line| line.parse::<f64>().unwrap().to_string());
        assert_eq!(y.collect::<Vec<_>>().join(" "), expected, "{x}");
    }
    // As a list of edges, this would be a 5 x 5 matrix.
    p.write("wide.txt", "1 2 3\n4 5 6\n");
    let error = p.fail(2, &["spmm", "A.mtx", "--x", "wide.txt", "-o", "Z.mtx"]);
    assert!(error.contains("--x has 2 rows, but A.mtx has 5 columns"), "{error}");
    p.write("X.txt", "1,1\n2,1\n3,1\n4,x\n5,1\n");
    let error = p.fail(1, &["spmm", "A.mtx", "--x", "X.txt", "-o", "Z.mtx"]);
    assert!(error.contains("X.txt: line 4: expected a number in column 2, found \"x\""), "{error}");
    assert!(!p.path("Z.mtx").exists());
}

#[test]
fn what_is_changed_in_reading_x_is_named_with_its_file() {
    let p = example();
    p.write("x.npy", npy("False", "(5,)", &[1.0, 2.0, 3.0, 4.0, 5.0]));
    p.write("s.mtx", "%%MatrixMarket matrix coordinate real general\n5 2 1\n2 1 1\n");
    for (x, warning) in [
        ("x.npy", "warning: x.npy: the array of one dimension was read as a column"),
        ("s.mtx", "warning: s.mtx: the matrix is sparse: elements that are not in the file were"),
    ] {
        let ran = p.run(&["spmm", "A.mtx", "--x", x, "-o", "Y.mtx", "--force"]);
        assert!(ran.code == Some(0) && ran.err.contains(warning), "{}", ran.err);
    }
}

#[test]
fn the_size_of_x_is_checked_before_its_elements_are_read() {
    let p = example();
    // The files end after their headers.
    for (shape, expected) in [
        ("(4000000, 1000)", "--x has 4000000 rows, but A.mtx has 5 columns"),
        ("(5, 0)", "--x has 0 columns, expected 1 to 1024"),
        ("(5, 1025)", "--x has 1025 columns, expected 1 to 1024"),
    ] {
        p.write("X.npy", npy("False", shape, &[]));
        let error = p.fail(2, &["spmm", "A.mtx", "--x", "X.npy", "-o", "Y.mtx"]);
        assert!(error.contains(expected), "{error}");
    }
    let wide = "%%MatrixMarket matrix coordinate real general\n1 100000000 1\n1 1 1\n";
    p.write("wide.mtx", wide);
    p.write("X.npy", npy("False", "(100000000, 1024)", &[]));
    let error = p.fail(1, &["spmm", "wide.mtx", "--x", "X.npy", "-o", "Y.mtx"]);
    assert!(error.contains("X.npy: the dense 100000000 x 1024 matrix needs"), "{error}");
}

#[test]
fn y_is_stored_by_columns_if_x_is() {
    let p = example();
    let by_columns = [1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    p.write("X.npy", npy("True", "(5, 2)", &by_columns));
    p.succeed(&["spmm", "A.mtx", "--x", "X.npy", "-o", "Y.npy"]);
    let y = std::fs::read(p.path("Y.npy")).unwrap();
    assert!(String::from_utf8_lossy(&y).contains("'fortran_order': True, 'shape': (5,2,)"));
    let expected = [11.0, 13.0, 8.0, 18.0, 34.0, 7.0, 6.0, 3.0, 5.0, 7.0];
    assert!(y.ends_with(&expected.map(f64::to_le_bytes).concat()));
    // Read back, it is the same matrix as that of an X by rows.
    let by_rows = [1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 4.0, 1.0, 5.0, 1.0];
    p.write("X.npy", npy("False", "(5, 2)", &by_rows));
    p.succeed(&["spmm", "A.mtx", "--x", "X.npy", "-o", "rows.npy"]);
    let entries = |name: &str, to: &str| {
        p.succeed(&["convert", name, to]);
        let text = std::fs::read_to_string(p.path(to)).unwrap();
        text.lines().filter(|line| !line.starts_with('%')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(entries("Y.npy", "Y.mtx"), entries("rows.npy", "rows.mtx"));
}

#[test]
fn spmm_refuses_an_x_that_does_not_fit() {
    let p = example();
    let refused = |args: &[&str]| {
        let ran = p.run(&[&["spmm"], args, &["--x", "X.mtx", "-o", "Y.mtx"]].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(!p.path("Y.mtx").exists());
        ran.err
    };
    let error = refused(&["gen:diagonal?m=9"]);
    assert!(error.contains("--x has 5 rows, but") && error.contains("has 9 columns"), "{error}");
    let error = refused(&["A.mtx", "--vectors", "2"]);
    assert!(error.contains("--vectors") && error.contains("--x"), "{error}");
    let error = refused(&["A.mtx", "--kernel", "cpu/csr/simd"]);
    assert!(error.contains("`cpu/csr/simd` computes spmv, not spmm"), "{error}");
    let error = p.fail(1, &["spmm", "A.mtx", "--precision", "f32:f64", "-o", "Y.mtx"]);
    assert_eq!(error, "error: cpu/spmm/simd does not support f32:f64: expected f64, f32");
    let error = refused(&["A.mtx", "--op", "t"]);
    assert!(error.contains("spmm computes only A X and has no --op: `spmv --op t`"), "{error}");
    let error = p.fail(2, &["spmm", "-", "--x", "-", "-o", "Y.mtx"]);
    assert!(error.contains("only one of MATRIX and --x can be -"), "{error}");
    let error = p.fail(2, &["spmv", "A.mtx", "--x", "-", "--expect", "-"]);
    assert!(error.contains("only one of --x and --expect can be -"), "{error}");
    let error = p.fail(2, &["symgs", "-", "--b", "-", "-o", "x.mtx"]);
    assert!(error.contains("only one of MATRIX and --b can be -"), "{error}");
}

#[test]
fn vectors_are_written_as_arrays_of_one_dimension_in_f64() {
    let p = example();
    p.write("x.txt", "1\n2\n3\n4\n5\n");
    for precision in ["f64", "f32"] {
        let args = ["spmv", "A.mtx", "--x", "x.txt", "--precision", precision, "-o", "y.npy"];
        p.succeed(&[&args[..], &["--force"]].concat());
        let y = std::fs::read(p.path("y.npy")).unwrap();
        assert!(String::from_utf8_lossy(&y).contains("'descr': '<f8'"), "{precision}");
        assert!(String::from_utf8_lossy(&y).contains("'shape': (5,)"), "{precision}");
        let expected = [11.0, 13.0, 8.0, 18.0, 34.0].map(f64::to_le_bytes).concat();
        assert!(y.ends_with(&expected), "{precision}");
    }
    p.succeed(&["spmv", "A.mtx", "--x", "x.txt", "--expect", "y.npy"]);
    for command in ["symgs", "solve"] {
        for name in ["x.mtx", "x.npy"] {
            let args = [command, "gen:poisson2d?n=2", "--threads", "1", "--force", "-o", name];
            p.succeed(&args);
        }
        let x = std::fs::read(p.path("x.npy")).unwrap();
        assert!(String::from_utf8_lossy(&x).contains("'shape': (4,)"), "{command}");
        let expected: Vec<u8> =
            elements(&p, "x.mtx").into_iter().flat_map(f64::to_le_bytes).collect();
        assert!(x.ends_with(&expected), "{command}");
    }
    // Of another form than its name says.
    for command in ["spmv", "symgs", "solve"] {
        let error = p.fail(2, &[command, "A.mtx", "-o", "y.csv"]);
        assert!(error.contains("the output is Matrix Market or NumPy array"), "{error}");
    }
}

#[test]
fn what_is_no_number_of_vectors_and_an_x_are_refused_in_a_sentence() {
    let p = program();
    let bench = |more: &[&str]| {
        let ran = p.run(&[&["bench", "gen:diagonal?m=9", "--operation", "spmm"], more].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.err
    };
    for k in ["0", "1025", "many"] {
        let error = bench(&["--vectors", k]);
        let expected = format!("vectors is `{k}`: expected a whole number from 1 to 1024");
        assert!(error.contains(&expected), "{error}");
    }
    p.write("x.txt", "1\n".repeat(9));
    let error = bench(&["--x", "x.txt"]);
    assert!(error.contains("--x applies only to spmv and symgs, not to spmm"), "{error}");
}

#[test]
fn each_number_of_vectors_has_its_own_rows_in_summary_board_and_report_and_charts_show_one() {
    let p = program();
    let how = ["--operation", "spmm", "--vectors", "2,5", "--kernels", "cpu/spmm/{serial,rows}"];
    let more = ["--backend", "cpu", "--threads", "1", "--runs", "3", "-o", "out.zip"];
    let summary = p.succeed(&[&["bench", "gen:poisson2d?n=9"], &how[..], &more].concat());
    std::fs::create_dir(p.path("results")).unwrap();
    std::fs::copy(p.path("out.zip"), p.path("results/out.zip")).unwrap();
    p.succeed(&["board", "results"]);
    p.succeed(&["export", "out.zip", "--report", "report.html"]);
    let read = |name: &str| std::fs::read_to_string(p.path(name)).unwrap();
    let (board, report) = (read("results/index.html"), read("report.html"));
    for k in [2, 5] {
        let name = format!("poisson2d?n=9, k = {k}");
        // Its beginning may be cut.
        assert_eq!(summary.matches(&format!("9, k = {k} ")).count(), 1, "{summary}");
        // A row for each kernel.
        let cell = format!("<td>{name}</td>");
        let rows: Vec<&str> = board.split("<tr").filter(|row| row.contains(&cell)).collect();
        assert_eq!(rows.len(), 2, "{board}");
        assert!(rows.iter().any(|row| row.contains(" best\"")), "{board}");
        assert!(report.contains(&name), "{report}");
    }
    for (chosen, k) in [("", "5"), (";vectors=2", "2")] {
        let state = format!("v1;operation=spmm{chosen}");
        let chart = ["export", "out.zip", "--state", &state, "--chart", "kernels", "--table", "-"];
        let table = p.succeed(&chart);
        let cells = table.lines().map(|line| line.rsplit(',').next().unwrap());
        assert_eq!(cells.collect::<Vec<_>>(), ["k", k, k], "{table}");
    }
}

#[test]
fn the_plan_names_the_number_of_vectors_and_the_operator_of_runs() {
    let p = program();
    let plan = |kernel: &str, args: &[&str]| {
        let what = ["bench", "gen:diagonal?m=9", "--plan", "--kernels", kernel];
        let plan = p.succeed(&[&what[..], args].concat());
        let line = plan.lines().find_map(|line| line.trim().strip_prefix(kernel)).unwrap();
        line.trim().to_owned()
    };
    let how = ["--threads", "1,2", "--precision", "f64,f32"];
    let spmm = ["--operation", "spmm", "--vectors", "4,8"];
    let expected = "1 k=4, 2 k=4, 1 k=8, 2 k=8, 1 k=4 (f32), 2 k=4 (f32), 1 k=8 (f32), 2 k=8 (f32)";
    assert_eq!(plan("cpu/spmm/simd", &[&spmm[..], &how].concat()), expected);
    let spmv = ["--op", "n,t", "--scale", "1,2:0.5"];
    assert_eq!(plan("cpu/csr/serial", &spmv), "1, 1 scale=2:0.5, 1 op=t, 1 op=t scale=2:0.5");
}
