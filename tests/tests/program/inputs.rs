//! Input formats other than Matrix Market, and options and output of `bench` other than its defaults.

use sparsescope_core::bundle::HEADER;
use sparsescope_core::record::Verdict;

use crate::common::{open, program};

/// The 4 x 4 example of the papers.
const ENTRIES: &str = "1 1 1\n1 2 7\n2 2 2\n2 3 8\n3 1 5\n3 3 3\n3 4 9\n4 2 6\n4 4 4\n";

#[test]
fn triplet_texts_are_the_matrix_that_matrix_market_says() {
    let p = program();
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    p.write("four.mtx", format!("{banner}4 4 9\n{ENTRIES}"));
    p.write("symgs.txt", format!("4 4 9\n{ENTRIES}"));
    p.write("fsai.dat", format!("4 9\n{ENTRIES}"));
    p.write("bare.mtx", format!("4 4 9\n{ENTRIES}"));
    let sha256 = |name: &str| p.json(&["info", name, "--json"])["sha256"].clone();
    assert_eq!(sha256("symgs.txt"), sha256("four.mtx"));
    assert_eq!(sha256("fsai.dat"), sha256("four.mtx"));
    assert!(p.fail(1, &["info", "bare.mtx"]).contains("the banner"));
}

#[test]
fn a_graph_is_read_whole_and_info_says_what_a_file_was_taken_for() {
    let p = program();
    let ring = "4 4\n2 4\n1 3\n2 4\n1 3\n";
    p.write("ring.graph", ring);
    p.write(
        "ring.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n4 1\n3 2\n4 3\n",
    );
    p.write("four.txt", format!("4 4 9\n{ENTRIES}"));
    let info = |name: &str| p.json(&["info", name, "--json"]);
    assert_eq!(info("ring.graph")["sha256"], info("ring.mtx")["sha256"]);
    for (name, form, nnz) in [
        ("ring.graph", "METIS graph", 8),
        ("ring.mtx", "Matrix Market", 8),
        ("four.txt", "triplet text", 9),
        ("gen:diagonal?m=4", "generated", 4),
    ] {
        let info = info(name);
        assert_eq!((&info["form"], &info["nnz"]), (&form.into(), &nnz.into()), "{name}");
        assert!(p.succeed(&["info", name]).contains(form), "{name}");
    }
    // A file that fits two formats, with a name of neither, is not guessed.
    p.write("ring.txt", ring);
    let error = p.fail(1, &["info", "ring.txt"]);
    assert!(
        error.contains("ring.txt: ambiguous file: it is valid both as a METIS graph"),
        "{error}"
    );
    p.write("half.graph", "3 2\n2\n1 3\n\n");
    let error = p.fail(1, &["info", "half.graph"]);
    assert!(error.contains("half.graph: line 1: expected 4 neighbours in total"), "{error}");
}

#[test]
fn compressed_files_are_the_matrix_in_them() {
    let p = program();
    p.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n");
    let sha256 = |name: &str| p.json(&["info", name, "--json"])["sha256"].clone();
    // Two members, streams or frames of each kind, as the reference programs write them.
    let samples: [(&str, &[u8]); 5] = [
        ("a.mtx.gz", include_bytes!("../../../core/matrix/src/io/unpack/samples/members.gz")),
        ("a.mtx.bz2", include_bytes!("../../../core/matrix/src/io/unpack/samples/streams.bz2")),
        ("a.mtx.xz", include_bytes!("../../../core/matrix/src/io/unpack/samples/streams.xz")),
        ("a.mtx.zst", include_bytes!("../../../core/matrix/src/io/unpack/samples/frames.zst")),
        ("b.zip", include_bytes!("../../../core/matrix/src/io/unpack/samples/stored.zip")),
    ];
    for (name, bytes) in samples {
        p.write(name, bytes);
        assert_eq!(sha256(name), sha256("a.mtx"), "{name}");
        p.write(name, &bytes[..bytes.len() - 3]);
        let error = p.fail(1, &["info", name]);
        assert!(error.contains(" is cut off, or damaged"), "{error}");
    }
}

#[test]
fn an_error_in_an_archive_names_the_file_and_its_line() {
    let p = program();
    let archives: [(&str, &[u8]); 2] = [
        ("wrong.zip", include_bytes!("../../../core/matrix/src/io/unpack/samples/wrong.zip")),
        ("wrong.tar.gz", include_bytes!("../../../core/matrix/src/io/unpack/samples/wrong.tar.gz")),
    ];
    for (name, bytes) in archives {
        p.write(name, bytes);
        let expected = format!("{name}: member West/West.mtx, line 3: expected ");
        for args in
            [&["info", name][..], &["spmv", name, "-o", "y.mtx"], &["convert", name, "b.mtx"]]
        {
            let error = p.fail(1, args);
            assert!(error.contains(&expected), "{error}");
        }
    }
}

#[test]
fn files_of_petsc_hypre_and_dimacs_are_the_matrix_that_matrix_market_says() {
    let p = program();
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    p.write("four.mtx", format!("{banner}4 4 9\n{ENTRIES}"));
    let entries: Vec<Vec<i32>> = ENTRIES
        .lines()
        .map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect())
        .collect();
    // Class, sizes and lengths of rows; columns from 0; values.
    let places =
        [1_211_216, 4, 4, 9, 2, 2, 3, 2].into_iter().chain(entries.iter().map(|e| e[1] - 1));
    let values = entries.iter().flat_map(|e| f64::from(e[2]).to_be_bytes());
    p.write("four.petsc", places.flat_map(i32::to_be_bytes).chain(values).collect::<Vec<u8>>());
    for (piece, rows) in [("four.00000", 1..=2), ("four.00001", 3..=4)] {
        let lines = entries.iter().filter(|e| rows.contains(&e[0]));
        let lines: String = lines.map(|e| format!("{} {} {}\n", e[0], e[1], e[2])).collect();
        let (first, last) = (rows.start(), rows.end());
        p.write(piece, format!("{first} {last} {first} {last}\n{lines}"));
    }
    let arcs: String = ENTRIES.lines().map(|line| format!("a {line}\n")).collect();
    p.write("four.gr", format!("c roads\np sp 4 9\n{arcs}"));
    let info = |name: &str| p.json(&["info", name, "--json"]);
    for (name, form) in
        [("four.petsc", "PETSc binary"), ("four.00000", "hypre IJ"), ("four.gr", "DIMACS graph")]
    {
        let info_of = info(name);
        assert_eq!(info_of["form"], form, "{name}");
        assert_eq!(info_of["sha256"], info("four.mtx")["sha256"], "{name}");
    }
}

#[test]
fn edge_lists_are_the_matrix_that_matrix_market_says() {
    let p = program();
    let banner = "%%MatrixMarket matrix coordinate";
    let four = "1 2\n1 3\n2 4\n3 4\n";
    p.write("general.mtx", format!("{banner} pattern general\n4 4 4\n{four}"));
    p.write("symmetric.mtx", format!("{banner} pattern symmetric\n4 4 4\n{four}"));
    p.write("weights.mtx", format!("{banner} real general\n3 3 2\n1 2 0.5\n2 3 1.5\n"));
    let konect = format!("% sym unweighted\n% 4 4 4\n{four}");
    let from_0 = "# Nodes: 4 Edges: 4\n# From\tTo\n0\t1\n0\t2\n1\t3\n2\t3\n";
    for (name, content, form, same) in [
        ("snap.txt", from_0, "edge list, vertices from 0", "general.mtx"),
        ("edges.txt", four, "edge list, vertices from 1", "general.mtx"),
        ("out.zoo", konect.as_str(), "edge list, vertices from 1", "symmetric.mtx"),
        (
            "edges.csv",
            "src,dst,weight\n1,2,0.5\n2,3,1.5\n",
            "edge list, vertices from 1",
            "weights.mtx",
        ),
    ] {
        p.write(name, content);
        let info = |name: &str| p.json(&["info", name, "--json"]);
        let (found, expected) = (info(name), info(same));
        assert_eq!(
            (&found["form"], &found["sha256"]),
            (&form.into(), &expected["sha256"]),
            "{name}"
        );
        p.succeed(&["spmv", name, "-o", "y.mtx", "--force"]);
    }
    let info = |args: &[&str]| p.json(&[&["info", "--json"][..], args].concat());
    assert_eq!(info(&["edges.txt", "--undirected"])["nnz"], 8);
    assert_eq!(info(&["edges.txt", "--base", "0"])["rows"], 5);
    p.write("far.txt", "7 900\n900 8\n");
    assert_eq!(info(&["far.txt", "--compress-ids"])["rows"], 3);
    let error = p.fail(1, &["info", "general.mtx", "--undirected"]);
    assert!(error.contains("general.mtx: line 1: expected an edge list"), "{error}");
    p.succeed(&["bench", "edges.txt", "--base", "0", "--kernels", "cpu/csr/serial", "-o", "a.zip"]);
    assert_eq!(open(&p, "a.zip").matrices[0].record.statistics.rows, 5);
}

#[test]
fn what_is_ignored_in_vectors_and_points_is_told() {
    let p = program();
    p.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    p.write("x.mtx", "%MatrixMarket matrix array real general\n1 1\n3\n");
    let ran = p.run(&["spmv", "a.mtx", "--x", "x.mtx", "-o", "y.mtx"]);
    let told = "warning: x.mtx: the banner begins with one % instead of two";
    assert!(ran.err.lines().any(|line| line == told), "{}", ran.err);
    // gzip.compress(b"1,2\n2,1\n", mtime=0) of Python, and padding.
    let points = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\xd4\x31\xe2\x32\xd2\x31\xe4\x02\x00\x67\x00\xa7\x6a\x08\x00\x00\x00\0\0\0\0";
    p.write("p.csv.gz", points);
    let ran = p.run(&["skyline", "p.csv.gz"]);
    let told = "warning: 4 zero bytes after the end of the gzip data were ignored";
    assert!(ran.err.lines().any(|line| line == told), "{}", ran.err);
}

#[test]
fn the_variable_of_a_matlab_file_is_chosen_by_its_name() {
    let p = program();
    // Level 4: full matrices, column by column, with the header type, rows, columns, complex, length of the name.
    let full = |name: u8, rows: u32, cols: u32, values: &[f64]| {
        let mut bytes: Vec<u8> = [0, rows, cols, 0, 2].map(u32::to_le_bytes).concat();
        bytes.extend([name, 0]);
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    };
    let (a, m) = (full(b'A', 2, 2, &[4.0, 1.0, 1.0, 3.0]), full(b'M', 2, 2, &[1.0, 0.0, 0.0, 1.0]));
    let b = full(b'b', 2, 1, &[1.0, 2.0]);
    p.write("one.mat", [&a[..], &b].concat());
    p.write("two.mat", [&a[..], &m, &b].concat());
    let one = p.json(&["info", "one.mat", "--json"]);
    assert_eq!((&one["nnz"], &one["form"]), (&4.into(), &"MATLAB level 4".into()));
    assert_eq!(one["warnings"], serde_json::json!(["read variable A; the file also has b"]));
    p.succeed(&["solve", "one.mat", "--b", "archive"]);
    let error = p.fail(1, &["info", "two.mat"]);
    assert!(error.contains("found A, M; choose one with --variable NAME"), "{error}");
    assert_eq!(p.json(&["info", "two.mat", "--variable", "M", "--json"])["nnz"], 2);
    p.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
    let error = p.fail(1, &["info", "a.mtx", "--variable", "A"]);
    assert!(error.contains("a.mtx: line 1: expected a MATLAB or HDF5 file"), "{error}");
}

/// What pipes hold cannot be mapped into memory, nor read twice.
#[cfg(unix)]
#[test]
fn standard_input_and_pipes_are_read_like_files() {
    let p = program();
    p.write("a.txt", "1 2\n1 3\n2 4\n3 4\n");
    let bench = ["bench", "-", "--runs", "1", "--kernels", "cpu/csr/serial", "-o", "b.zip"];
    for args in [&["info", "-", "--json"][..], &["spmv", "-", "-o", "y.mtx", "--force"], &bench] {
        let input = std::fs::File::open(p.path("a.txt")).unwrap();
        let ran = p.command(args).stdin(input).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    let record = &open(&p, "b.zip").matrices[0].record;
    assert_eq!((record.name.as_str(), record.statistics.nnz), ("stdin", 4));
    let pipe = p.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || std::fs::write(pipe, "0 1 0.5\n2 1 -1\n").unwrap());
    let info = p.json(&["info", "pipe", "--json"]);
    writer.join().unwrap();
    assert_eq!((&info["rows"], &info["nnz"]), (&3.into(), &2.into()));
}

#[test]
fn files_of_other_programs_and_invisible_characters_are_named() {
    let p = program();
    for (name, content, expected) in [
        ("a.mtx.xz", &b"\xfd7zXZ\0\0\x04"[..], "the xz data is cut off, or damaged"),
        ("a.mat", b"MATLAB 5.0 MAT-file", "expected a MATLAB header of 128 bytes"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "the HDF5 file is damaged"),
        (
            "b.mtx",
            b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\0\n",
            "\"1<U+0000 NUL>\"",
        ),
    ] {
        p.write(name, content);
        for command in [&["info", name][..], &["spmv", name, "-o", "y.mtx"]] {
            let error = p.fail(1, command);
            assert!(error.contains(expected), "{error}");
            assert!(error.lines().count() == 1 && error.is_ascii(), "{error}");
        }
    }
}

#[test]
fn an_x_from_a_file_is_used_kept_and_asked_for_again() {
    let p = program();
    p.write("x.txt", "1\n2\n3\n4\n");
    p.write("other.txt", "1\n2\n3\n5\n");
    let args = [
        "bench",
        "gen:diagonal?m=4",
        "gen:diagonal?m=5",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--kernels",
        "cpu/csr/{serial,nnz}",
        "--threads",
        "1",
        "-q",
        "-o",
        "b.zip",
        "--x",
        "x.txt",
    ];
    p.succeed(&args);
    let mut bundle = open(&p, "b.zip");
    for run in &bundle.runs {
        let fits = run.matrix.contains("m_4");
        let expected = if fits { Verdict::Pass } else { Verdict::Refused };
        assert_eq!(run.check.verdict, expected, "{}", run.matrix);
        let reason = "x has 4 elements, but the matrix has 5 columns";
        assert_eq!(run.check.reason.as_deref(), (!fits).then_some(reason));
    }
    bundle.complete = false;
    bundle.runs.truncate(1);
    bundle.save(&p.path("b.zip"), true).unwrap();
    assert!(p.fail(2, &["bench", "--resume", "b.zip"]).contains("pass the file of x again"));
    let error = p.fail(2, &["bench", "--resume", "b.zip", "--x", "other.txt"]);
    assert!(error.contains("differs from the x"), "{error}");
    p.succeed(&["bench", "--resume", "b.zip", "--x", "x.txt", "-q"]);
    assert_eq!(open(&p, "b.zip").runs.len(), 4);
}

#[test]
fn an_x_that_fits_nothing_is_wrong_usage() {
    let p = program();
    p.write("x.txt", "1\n2\n3\n4\n");
    let bench = |args: &[&str]| p.fail(2, &[&["bench", "-q", "--x", "x.txt"], args].concat());
    let of_product = bench(&["gen:diagonal?m=5", "gen:diagonal?m=6"]);
    assert_eq!(of_product, "error: --x has 4 elements, but diagonal?m=5 has 5 columns");
    let of_sweep = bench(&["gen:diagonal?m=5", "--operation", "symgs"]);
    assert_eq!(of_sweep, "error: --x has 4 elements, but diagonal?m=5 has 5 rows");
    let of_solve = bench(&["gen:diagonal?m=4", "--operation", "solve"]);
    assert_eq!(of_solve, "error: --x applies only to spmv and symgs, not to solve");
    assert_eq!(p.files(), ["x.txt"]);
}

#[test]
fn the_table_of_runs_goes_to_standard_output_alone() {
    let p = program();
    let args = ["bench", "gen:diagonal?m=9", "--runs", "1", "--kernels", "cpu/csr/serial", "-q"];
    let csv = p.succeed(&[&args[..], &["-o", "b.zip", "--csv", "-"]].concat());
    assert_eq!(csv.lines().next(), Some(HEADER));
    assert_eq!(csv.lines().count(), 2);
    assert_eq!(p.succeed(&["export", "b.zip", "--csv", "-"]), csv);
    assert_eq!(p.files(), ["b.zip"]);
    let both = [&args[..], &["-o", "c.zip", "--csv", "-", "--json"]].concat();
    assert!(p.fail(2, &both).contains("standard output"));
}

#[test]
fn a_time_limit_ends_a_bench_that_can_be_continued() {
    let p = program();
    let args = [
        "bench",
        "suite:grid-27pt",
        "--runs",
        "100000",
        "--warmup",
        "0",
        "--kernels",
        "cpu/csr/{serial,rows,nnz,merge}",
        "--threads",
        "1",
        "-o",
        "b.zip",
        "--time-limit",
        "8s",
    ];
    let started = std::time::Instant::now();
    let ran = p.run(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let seconds = started.elapsed().as_secs();
    assert!((8..30).contains(&seconds), "it ended after {seconds} s");
    assert!(
        ran.out.contains("The time limit was reached") && ran.out.contains("--resume b.zip"),
        "{}",
        ran.out
    );
    let bundle = open(&p, "b.zip");
    assert!(!bundle.complete && bundle.plan.is_some());
    assert_eq!(p.files(), ["b.zip"], "the journal is gone");
    assert!(p.fail(2, &["bench", "--time-limit", "never"]).contains("90s"));
}

#[test]
fn a_mistyped_path_is_answered_before_anything_is_measured() {
    let p = program();
    let ran = p.run(&["bench", "mistyped.mtx", "also.mtx.gz", "-o", "b.zip"]);
    assert_eq!(ran.code, Some(1));
    for path in ["mistyped.mtx", "also.mtx.gz"] {
        assert!(ran.err.contains(&format!("error: {path}: cannot open the file")), "{}", ran.err);
    }
    assert!(!ran.err.contains("bandwidth"), "{}", ran.err);
    assert!(p.files().is_empty());
    let sentence = p.fail(1, &["bench", "gen:diagonal?m=9", "mistyped.mtx", "--plan"]);
    assert!(sentence.contains("mistyped.mtx"), "{sentence}");
    let plan = p.succeed(&["bench", "gen:diagonal?m=9", "--plan"]);
    assert!(
        plan.contains("9 x 9, 9 nonzeros") && plan.contains("The bundle takes up to "),
        "{plan}"
    );
}

#[test]
fn a_bundle_without_some_of_its_matrices_is_incomplete_until_they_are_there() {
    let p = program();
    let args = [
        "bench",
        "late.mtx",
        "gen:diagonal?m=9",
        "--runs",
        "1",
        "--kernels",
        "cpu/csr/serial",
        "-o",
        "b.zip",
        "-q",
    ];
    let ran = p.run(&args);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("Some matrices could not be read"), "{}", ran.out);
    assert!(!open(&p, "b.zip").complete);
    p.write("late.mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2\n");
    p.succeed(&["bench", "late.mtx", "--resume", "b.zip", "-q"]);
    let bundle = open(&p, "b.zip");
    assert!(bundle.complete);
    assert_eq!(bundle.runs.len(), 2);
    // Small matrices are stored whole, with the field of their file.
    let late = bundle.matrices.iter().find(|m| m.record.name == "late").unwrap();
    let text = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2\n";
    assert_eq!(late.files["matrix.mtx"], text.as_bytes());
}

#[test]
fn the_command_that_resumes_names_the_files_again_and_how_they_are_read() {
    let p = program();
    p.write("there.txt", "1 2\n2 3\n");
    p.write("list.txt", "there.txt\n");
    p.write("my x.txt", "1\n2\n3\n");
    let files = ["late.txt", "--suite", "list.txt", "--x", "my x.txt", "--base=1", "--undirected"];
    let how = ["--runs", "1", "--kernels", "cpu/csr/serial", "-o", "b.zip", "-q"];
    let ran = p.run(&[&["bench"], &files[..], &how].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let command = "Resume: `sparsescope bench --resume b.zip late.txt --suite list.txt --x 'my x.txt' \
                   --base=1 --undirected`";
    assert!(cfg!(windows) || ran.out.contains(command), "{}", ran.out);
    p.write("late.txt", "1 3\n");
    p.succeed(&[&["bench", "--resume", "b.zip", "-q"], &files[..]].concat());
    let bundle = open(&p, "b.zip");
    assert!(bundle.complete);
    let nonzeros: Vec<u64> = bundle.matrices.iter().map(|m| m.record.statistics.nnz).collect();
    assert_eq!(nonzeros.iter().sum::<u64>(), 2 + 4);
}

#[test]
fn two_files_of_one_name_are_told_apart_by_their_folders_everywhere() {
    let p = program();
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    for (folder, value) in [("one", 1), ("two", 2)] {
        std::fs::create_dir(p.path(folder)).unwrap();
        p.write(&format!("{folder}/A.mtx"), format!("{banner}1 1 1\n1 1 {value}\n"));
    }
    let how = ["--runs", "1", "--warmup", "0", "--kernels", "cpu/csr/serial", "-q", "-o", "b.zip"];
    let files = ["bench", "one/A.mtx", "two/A.mtx"];
    let table = p.succeed(&[&files[..], &how].concat());
    let csv = p.succeed(&["export", "b.zip", "--csv", "-"]);
    p.succeed(&["export", "b.zip", "--report", "r.html", "--force"]);
    let report = std::fs::read_to_string(p.path("r.html")).unwrap();
    for text in [&table, &csv, &report] {
        assert!(text.contains("one/A") && text.contains("two/A"), "{text}");
    }
    // The order in which files are named again does not matter.
    let mut bundle = open(&p, "b.zip");
    bundle.complete = false;
    bundle.runs.retain(|run| run.matrix.starts_with("one"));
    bundle.save(&p.path("b.zip"), true).unwrap();
    p.succeed(&["bench", "two/A.mtx", "one/A.mtx", "--resume", "b.zip", "-q"]);
    assert_eq!(open(&p, "b.zip").runs.len(), 2);
}
