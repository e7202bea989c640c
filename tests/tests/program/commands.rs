//! The commands that describe, make and multiply matrices.

use sparsescope_core::kernel::{Mapping, all_kernels, distributed_kernels};
use sparsescope_core::record::Operation;

use crate::common::{products_here, program};

/// The 5 x 5 example of the papers.
const FIVE: &str = "%%MatrixMarket matrix coordinate real general\n5 5 10\n\
    1 1 3\n1 2 4\n2 2 5\n2 3 1\n3 2 1\n3 3 2\n4 3 2\n4 4 3\n5 4 1\n5 5 6\n";

#[test]
fn kernels_lists_every_kernel_with_the_documented_fields() {
    let kernels = program().json(&["kernels", "--json"]);
    let kernels = kernels.as_array().unwrap();
    let of_ranks = Operation::ALL.iter().flat_map(|&operation| distributed_kernels(operation));
    assert_eq!(kernels.len(), all_kernels().count() + of_ranks.count());
    for k in kernels {
        let names: Vec<&str> = k.as_object().unwrap().keys().map(String::as_str).collect();
        let documented = [
            "id",
            "operation",
            "format",
            "device",
            "mapping",
            "origin",
            "needs_finite_x",
            "available",
            "reason",
            "precisions",
        ];
        assert_eq!(names, documented);
        let precision = if k["device"] == "wgpu" { "f32" } else { "f64" };
        assert_eq!(k["precisions"][0], precision, "{k}");
        let on_cpu = k["device"] == "cpu";
        let reason = k["reason"].as_str().unwrap_or_default();
        if k["id"].as_str().unwrap().starts_with("vendor/mkl/") {
            // Available, or not with a reason.
            assert_eq!(k["available"], reason.is_empty(), "{k}");
            continue;
        }
        if k["id"].as_str().unwrap().starts_with("mpi/") {
            let expected = (cfg!(feature = "mpi"), !cfg!(feature = "mpi"));
            assert_eq!((reason.is_empty(), reason.contains("--features mpi")), expected, "{k}");
            continue;
        }
        assert_eq!(k["available"], on_cpu, "{k}");
        assert_eq!(reason.contains("SPARSESCOPE_GPU=off"), !on_cpu, "{k}");
    }
    // Every row of the papers' table of CPU kernels, and our own.
    for id in [
        "cpu/csr/serial",
        "cpu/csr/rows",
        "cpu/csr/nnz",
        "cpu/csr/merge",
        "cpu/csr/simd",
        "cpu/csr/transposed",
        "cpu/coo/serial",
        "cpu/ell/serial",
        "cpu/ell/rows",
        "cpu/hyb/serial",
        "cpu/hyb/rows",
        "cpu/hll/serial",
        "cpu/hll/guided",
        "cpu/hll/simd",
        "cpu/csr/compact",
        "cpu/hll/compact",
        "cpu/spmv/auto",
        "vendor/mkl/csr",
        "vendor/mkl/optimized",
    ] {
        assert!(kernels.iter().any(|k| k["id"] == id), "{id}");
    }
}

#[test]
fn info_gives_the_figures_worked_out_by_hand() {
    let p = program();
    p.write("five.mtx", FIVE);
    let info = p.json(&["info", "five.mtx", "--json"]);
    for (name, expected) in [("rows", 5), ("cols", 5), ("nnz", 10)] {
        assert_eq!(info[name], expected, "{name}");
    }
    assert_eq!((&info["path"], &info["field"]), (&"five.mtx".into(), &"real".into()));
    assert_eq!((&info["symmetry"], &info["stand_in"]), (&"general".into(), &false.into()));
    let row = &info["row"];
    for (name, expected) in [
        ("min", 2.0),
        ("mean", 2.0),
        ("max", 2.0),
        ("stddev", 0.0),
        ("average_deviation", 0.0),
        ("percent_average_deviation", 0.0),
    ] {
        assert_eq!(row[name].as_f64(), Some(expected), "{name}");
    }
    let format = |name: &str| {
        let formats = info["formats"].as_array().unwrap();
        formats.iter().find(|f| f["format"] == name).unwrap().clone()
    };
    // 12 nnz + 4 (m + 1) bytes; with 8 m + 8 n for y and x.
    assert_eq!(format("csr")["bytes"], 12 * 10 + 4 * 6);
    assert_eq!(format("csr")["minimal_bytes"], 12 * 10 + 4 * 6 + 8 * 5 + 8 * 5);
    assert_eq!((&format("ell")["slots"], &format("ell")["padding"]), (&10.into(), &1.0.into()));
    assert_eq!(format("coo")["minimal_bytes"], 16 * 10 + 8 * 5 + 8 * 5);
    assert!(info["read_seconds"].as_f64().unwrap() >= 0.0);
    let text = p.succeed(&["info", "five.mtx"]);
    assert!(text.contains("5 x 5") && text.contains("hll"), "{text}");
    assert!(text.contains("Matrix Market, real general, read in "), "{text}");
    let text = p.succeed(&["info", "gen:diagonal?m=3"]);
    assert!(text.contains("generated, real general, made in "), "{text}");
}

#[test]
fn what_generate_writes_is_the_matrix_that_gen_names() {
    let p = program();
    for spec in ["fem-hex?n=4&dof=3", "powerlaw?m=300&nnz=900&max=80", "kkt?n=3"] {
        for file in ["a.mtx", "a.mtx.gz"] {
            p.succeed(&["generate", spec, "-o", file, "--force"]);
            let written = p.json(&["info", file, "--json"]);
            let generated = p.json(&["info", &format!("gen:{spec}"), "--json"]);
            assert_eq!(written["sha256"], generated["sha256"], "{spec} {file}");
            assert_eq!(written["symmetry"], "general");
        }
    }
}

#[test]
fn generated_matrices_are_the_same_for_any_number_of_threads() {
    let p = program();
    let with = |threads: &str| {
        let mut command = p.command(&["info", "gen:circuit?m=5000&nnz=40000&dense=3000", "--json"]);
        command.env("RAYON_NUM_THREADS", threads);
        let out = command.output().unwrap();
        let info: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        info["sha256"].as_str().unwrap().to_owned()
    };
    assert_eq!(with("1"), with("3"));
}

#[test]
fn spmv_multiplies_with_every_kernel() {
    let p = program();
    p.write("five.mtx", FIVE);
    p.write("x.txt", "1\n2\n3\n4\n5\n");
    for k in products_here().filter(|k| k.mapping != Mapping::Library) {
        let args = ["spmv", "five.mtx", "--kernel", k.id, "--x", "x.txt", "-o", "y.mtx", "--force"];
        // BSR and DIA even if nearly empty.
        p.succeed(&[&args[..], &["--min-fill", "0"]].concat());
        let y = std::fs::read_to_string(p.path("y.mtx")).unwrap();
        let mut lines = y.lines();
        assert_eq!(lines.next(), Some("%%MatrixMarket matrix array real general"));
        assert_eq!(lines.next(), Some("5 1"));
        // 3·1 + 4·2, 5·2 + 1·3, 1·2 + 2·3, 2·3 + 3·4, 1·4 + 6·5, with 17 significant digits.
        let expected = [
            "1.1000000000000000e+01",
            "1.3000000000000000e+01",
            "8.0000000000000000e+00",
            "1.8000000000000000e+01",
            "3.4000000000000000e+01",
        ];
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{}", k.id);
    }
}

#[test]
fn spmv_compares_with_an_expected_result() {
    let p = program();
    p.write("five.mtx", FIVE);
    p.write("x.txt", "1\n2\n3\n4\n5\n");
    p.write("right.txt", "11\n13\n8\n18\n34\n");
    p.write("wrong.txt", "11\n13\n8\n18.001\n34\n");
    let with = |expected: &str, tol: &str| {
        p.run(&["spmv", "five.mtx", "--x", "x.txt", "--expect", expected, "--tol", tol])
    };
    assert_eq!(with("right.txt", "0").code, Some(0));
    let ran = with("wrong.txt", "1e-5");
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("error: row 4: expected 1.8001e1, found 1.8e1"), "{}", ran.err);
    assert_eq!(with("wrong.txt", "1e-3").code, Some(0));
}

#[test]
fn devices_measures_a_bandwidth() {
    let devices = program().json(&["devices", "--json", "--threads", "1"]);
    let b = &devices["bandwidth"][0];
    for name in ["copy", "triad", "read"] {
        assert!(b[name].as_f64().unwrap() > 1e8, "{name}: {b}");
    }
    assert!(devices["gpus"].as_array().unwrap().is_empty());
}

#[test]
fn generate_lists_every_generator_and_suite() {
    let list = program().succeed(&["generate", "--list"]);
    for name in ["stencil27?n=", "fem-hex", "powerlaw", "mini", "circuit-dense", "seed"] {
        let found = list.contains(name) || name == "circuit-dense" && list.contains("circuit");
        assert!(found, "{name}");
    }
}

#[test]
fn completions_and_man_pages_name_every_command() {
    let p = program();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = p.succeed(&["completions", shell]);
        assert!(script.contains("--operation") || script.contains("-l operation"), "{shell}");
    }
    p.succeed(&["man", "pages"]);
    let page = |name: &str| std::fs::read_to_string(p.path("pages").join(name)).unwrap();
    assert!(page("sparsescope-bench.1").contains("Timed samples per run"));
    assert_eq!(p.succeed(&["man"]), page("sparsescope.1"));
    let refused = p.fail(1, &["man", "pages"]);
    assert!(refused.contains("--force"), "{refused}");
}

#[test]
fn help_lists_the_main_options_with_h_and_all_with_help() {
    let p = program();
    let [short, long] = ["-h", "--help"].map(|flag| p.succeed(&["bench", flag]));
    for option in ["--kernels", "--threads", "--until", "--quiet"] {
        assert!(short.contains(option) && long.contains(option), "{option}");
    }
    assert!(!short.contains("--hack-size") && long.contains("--hack-size"), "{short}");
}

#[test]
fn bad_input_gets_one_sentence_and_leaves_nothing_behind() {
    let p = program();
    let mm = |body: &str| format!("%%MatrixMarket matrix coordinate real general\n{body}");
    p.write("five.mtx", FIVE);
    p.write("no-banner.mtx", "5 5 1\n1 1 1\n");
    p.write("range.mtx", mm("2 2 1\n3 1 1\n"));
    p.write("short.mtx", mm("2 2 2\n1 1 1\n"));
    p.write("text.mtx", mm("2 2 1\n1 1 one\n"));
    p.write("huge.mtx", mm("4000000000 4000000000 4000000000000000000\n1 1 1\n"));
    p.write("empty.mtx", "");
    p.write("page.mtx", "<!DOCTYPE html>\n<html></html>\n");
    p.write("torn.mtx.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
    p.write("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
    p.write("three.txt", "1\n2\n3\n");
    p.write("not-a-bundle.zip", "PK nothing");
    let before = p.files();
    for (code, sentence, args) in [
        (1, "missing.mtx", &["info", "missing.mtx"][..]),
        (1, "line 1", &["info", "no-banner.mtx"]),
        (1, "line 3", &["info", "range.mtx"]),
        (1, "declares 2 entries", &["info", "short.mtx"]),
        (1, "line 3: expected a number, found \"one\"", &["info", "text.mtx"]),
        (1, "huge.mtx", &["info", "huge.mtx"]),
        (1, "empty.mtx", &["info", "empty.mtx"]),
        (1, "HTML", &["info", "page.mtx"]),
        (1, "torn.mtx.gz", &["info", "torn.mtx.gz"]),
        (1, "only real matrices", &["spmv", "complex.mtx", "-o", "y.mtx"]),
        (
            2,
            "--x has 3 elements, but five.mtx has 5 columns",
            &["spmv", "five.mtx", "--x", "three.txt", "-o", "y.mtx"],
        ),
        (
            2,
            "--expect has 3 elements, but five.mtx has 5 rows",
            &["spmv", "five.mtx", "--expect", "three.txt"],
        ),
        (1, "no folder", &["spmv", "five.mtx", "-o", "nowhere/y.mtx"]),
        (1, "--force", &["spmv", "five.mtx", "-o", "five.mtx"]),
        (1, "--force", &["generate", "stencil7?n=3", "-o", "five.mtx"]),
        (1, "bytes", &["generate", "stencil27?n=1600", "-o", "big.mtx"]),
        (1, "not a zip", &["export", "five.mtx", "--csv", "runs.csv"]),
        (1, "not-a-bundle.zip", &["export", "not-a-bundle.zip", "--csv", "runs.csv"]),
        (1, "no matrix could be read", &["bench", "missing.mtx", "-q", "-o", "b.zip"]),
        (1, "no matrix could be read", &["-q", "bench", "missing.mtx", "-o", "b.zip"]),
        (2, "`info` is neither a command nor a file", &["five.mtx", "info", "five.mtx"]),
        (2, "`--state` applies only when files are opened", &["--state", "v1", "info", "five.mtx"]),
        (1, "SPARSESCOPE_GPU=off", &["bench", "--backend", "cuda"]),
        (1, "SPARSESCOPE_GPU=off", &["bench", "five.mtx", "--gpus", "2", "-o", "b.zip"]),
        (1, "SPARSESCOPE_GPU=off", &["bench", "--kernels", "nccl/*/*", "-o", "b.zip"]),
        (2, "a number of GPUs of at least 1", &["bench", "--gpus", "0"]),
        (2, "need --backend cuda, not cpu", &["bench", "--gpus", "2", "--backend", "cpu"]),
        (
            1,
            "SPARSESCOPE_GPU=off",
            &["spmv", "five.mtx", "--kernel", "cuda/coo/segmented", "-o", "y"],
        ),
        (2, "--block-sizes", &["bench", "--block-sizes", "100"]),
        (
            2,
            "no kernel `cpu/csr/fast`",
            &["spmv", "five.mtx", "--kernel", "cpu/csr/fast", "-o", "y"],
        ),
        (
            2,
            "`cpu/symgs/serial` computes symgs, not spmv",
            &["spmv", "five.mtx", "--kernel", "cpu/symgs/serial", "-o", "y"],
        ),
        (2, "did you mean `road`", &["info", "gen:raod?m=3"]),
        (2, "needs the key", &["info", "gen:road"]),
        (1, "(did you mean suite:road?)", &["info", "road"]),
        (1, "(did you mean suite:test3?)", &["skyline", "test3"]),
        (2, "(did you mean suite:test3?)", &["generate", "test3", "-o", "new.txt"]),
        (2, "there is nothing to write: expected --html,", &["export", "not-a-bundle.zip"]),
        (2, "found the batch spd-batch?n=3", &["generate", "spd-batch?n=3", "-o", "new.mtx"]),
        (2, "is a point set", &["generate", "suite:test3", "--symmetric", "-o", "new.txt"]),
        (2, "no suite has a matrix named `none`", &["generate", "suite:none", "-o", "new.mtx"]),
        (2, "(did you mean suite:grid-5pt?)", &["generate", "grid-5pt", "-o", "new.mtx"]),
        (2, "suite", &["bench", "suite:nothing"]),
        (2, "no suite", &["bench", "--suite", "nothing"]),
        (2, "no cpu spmv kernel", &["bench", "--kernels", "cpu/xyz/*"]),
        (2, "--tol", &["spmv", "five.mtx", "--expect", "three.txt", "--tol", "-1"]),
        (2, "--threads", &["bench", "--threads", "0"]),
        (2, "--hack-size", &["bench", "--hack-size", "33"]),
    ] {
        if args.contains(&"missing.mtx") {
            // The unreadable matrix and the failure each have their own sentence.
            let ran = p.run(args);
            assert!(ran.code == Some(code) && ran.err.contains(sentence), "{}", ran.err);
        } else {
            let error = p.fail(code, args);
            assert!(error.contains(sentence), "{args:?}: {error}");
        }
    }
    let error = p.fail(1, &["bench", "--resume", "none.zip"]);
    assert_eq!(error.matches("none.zip").count(), 1, "{error}");
    assert_eq!(p.files(), before);
    assert_eq!(std::fs::read_to_string(p.path("five.mtx")).unwrap(), FIVE);
}

#[test]
fn the_table_of_winners_follows_the_ranking_and_the_form_of_the_state() {
    let p = program();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bundle-1.13.zip");
    let table = |bundle: &str, state: &str| {
        p.succeed(&["export", bundle, "--view", "best", "--state", state, "--table", "-"])
    };
    let winner = |state: &str| {
        let table = table(golden, state);
        table.lines().find(|line| line.starts_with("powerlaw")).unwrap().to_owned()
    };
    // The errors and rates of `runs.json`: 1.2e-7 at 0.636 GFLOPS in f32, 0 at 0.630 in f64.
    let narrow = winner("v1;max-error=1e-6");
    assert!(narrow.contains(",cpu/csr/serial,1 thread; f32,"), "{narrow}");
    assert!(winner("v1;max-error=1e-8").contains(",cpu/csr/serial,1 thread,"));
    assert_eq!(table(golden, "v1;rank-by=energy").lines().count(), 1, "it has no energies");
    let recipe = "gen:poisson2d?n=8";
    let kernel = ["--kernels", "cpu/csr/serial", "--threads", "1", "--op", "n,t"];
    let brief = ["--runs", "2", "--warmup", "1", "-q", "-o", "pair.zip"];
    p.succeed(&[&["bench", recipe][..], &kernel, &brief].concat());
    let pair = table("pair.zip", "v1;as=pair");
    let lines: Vec<&str> = pair.lines().collect();
    assert!(lines[0].contains("\"kernel, A'\",\"s, A'\",\"bytes, A'\""), "{pair}");
    // 64 rows and 5·64 - 4·8 nonzeros in CSR: 4·65 + 12·288 bytes, of A, of A' and of both.
    let fields: Vec<&str> = lines[1].split(',').collect();
    assert_eq!([fields[4], fields[7], fields[10]], ["3716", "3716", "7432"], "{pair}");
    assert_eq!((lines.len(), fields[8]), (2, "cpu/csr/serial"), "{pair}");
}

#[test]
fn figures_of_the_viewer_are_written_without_a_window() {
    let p = program();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bundle-1.1.zip");
    let state = "http://localhost/#v1;search=poisson;theme=dark";
    p.succeed(&[
        "export", golden, "--chart", "blocks", "--svg", "b.svg", "--png", "b.png", "--table",
        "b.csv", "--state", state,
    ]);
    let svg = std::fs::read_to_string(p.path("b.svg")).unwrap();
    assert!(svg.contains("threads per block") && svg.contains("cuda/csr/warp-shuffle"), "{svg}");
    assert!(std::fs::read(p.path("b.png")).unwrap().starts_with(b"\x89PNG"));
    let table = std::fs::read_to_string(p.path("b.csv")).unwrap();
    assert_eq!(
        table,
        p.succeed(&["export", golden, "--chart", "blocks", "--table", "-", "--state", state])
    );
    // Thirteen kernels with two block sizes on one matrix.
    assert_eq!(table.lines().count(), 1 + 26, "{table}");
    let only = |args: &[&str]| p.fail(2, &[&["export", golden, "--svg", "c.svg"], args].concat());
    assert!(only(&["--chart", "pie"]).contains("there is no chart pie; expected one of kernels, "));
    assert!(
        only(&["--view", "none"]).contains("there is no view none; expected one of best, chart, ")
    );
    assert!(only(&["--state", "v9"]).contains("v1;key=value"));
    assert!(only(&["--view", "runs"]).contains("is not a figure"));
    assert!(p.fail(1, &["export", golden, "--svg", "b.svg"]).contains("--force"));
    // 85 mm are 240.9 points.
    p.succeed(&[
        "export",
        golden,
        "--chart",
        "blocks",
        "--svg",
        "w.svg",
        "--pdf",
        "w.pdf",
        "--width-mm",
        "85",
        "--type-pt",
        "9",
    ]);
    let svg = std::fs::read_to_string(p.path("w.svg")).unwrap();
    assert!(svg.contains(" width=\"85.00mm\"") && svg.contains("@font-face"), "{}", &svg[..200]);
    let pdf = std::fs::read(p.path("w.pdf")).unwrap();
    let page = String::from_utf8_lossy(&pdf);
    assert!(page.starts_with("%PDF-") && page.contains("/MediaBox [0 0 240.9"), "{}", pdf.len());
    assert!(only(&["--width-mm", "500"]).contains("from 20 to 400"));
    only(&["--type-pt", "8"]); // of what width?
    let of_table = ["export", golden, "--table", "w.csv", "--width-mm", "85"];
    assert!(p.fail(2, &of_table).contains("--width-mm is for --svg, --png and --pdf"));
    // A folder gets every chart that has data.
    p.succeed(&["export", golden, "--svg", "figures", "--png", "figures"]);
    let drawn: Vec<_> = p.files().into_iter().filter(|name| name.starts_with("figures/")).collect();
    for name in ["kernels.svg", "blocks.svg", "roofline.svg", "blocks.png"] {
        assert!(p.path("figures").join(name).is_file(), "{name} of {drawn:?}");
    }
    assert!(!p.path("figures/compare.svg").exists(), "one bundle is compared with none");
    assert!(p.fail(1, &["export", golden, "--svg", "figures"]).contains("--force"));
}

#[test]
fn a_written_file_is_named_unless_quiet_or_standard_output() {
    let p = program();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bundle-1.1.zip");
    // Four points of a grid, each with two neighbours.
    let cases: [(&[&str], &str, &str); 8] = [
        (&["generate", "poisson2d?n=2", "-o"], "a.mtx", "4 x 4, 12 nonzeros"),
        (&["convert", "a.mtx"], "b.mtx", "4 x 4, 12 nonzeros"),
        (&["spmv", "a.mtx", "-o"], "y.mtx", "4 numbers"),
        (&["spmm", "a.mtx", "--vectors", "3", "-o"], "z.mtx", "4 x 3 numbers"),
        (&["info", "a.mtx", "--reorder", "rcm", "--write-permutation"], "p.txt", "4 numbers"),
        // A vector of ones is an eigenvector: one iteration.
        (&["solve", "a.mtx", "--precond", "none", "--history"], "h.csv", "2 residuals"),
        (&["export", golden, "--chart", "blocks", "--svg"], "b.svg", "1 figure"),
        (&["export", golden, "--view", "best", "--table"], "b.csv", "the table of the view best"),
    ];
    for (args, file, what) in cases {
        let said = |more: &[&str]| {
            let ran = p.run(&[args, more].concat());
            assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
            ran.err
        };
        let err = said(&[file]);
        assert!(err.lines().any(|line| line == format!("{file}: {what}")), "{args:?}: {err}");
        assert_eq!(said(&[file, "--force", "-q"]), "", "{args:?}");
        let err = said(&["-"]);
        assert!(!err.contains(what), "{args:?}: {err}");
    }
    let error = p.fail(2, &["export", golden, "--pdf", "-"]);
    assert!(error.contains("--pdf cannot go to standard output"), "{error}");
}

#[test]
fn an_export_with_a_wrong_argument_writes_none_of_its_files() {
    let p = program();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/bundle-1.1.zip");
    p.succeed(&["export", golden, "--svg", "figures"]);
    let before = p.files();
    let cases: [(i32, &str, &[&str]); 14] = [
        (2, "--pdf cannot go to standard output", &["--csv", "a.csv", "--pdf", "-"]),
        (2, "--png cannot", &["--bencher", "a.json", "--png", "-", "--width-mm", "85"]),
        (2, "--width-mm is for", &["--report", "a.html", "--csv", "a.csv", "--width-mm", "85"]),
        (2, "no chart pie", &["--csv", "a.csv", "--svg", "b.svg", "--chart", "pie"]),
        (2, "is not a figure", &["--csv", "a.csv", "--svg", "b.svg", "--view", "runs"]),
        (2, "--chart are for --svg", &["--csv", "a.csv", "--chart", "roofline"]),
        (2, "--chart are for --svg", &["--report", "a.html", "--state", "v1;theme=dark"]),
        (1, "--force", &["--csv", "a.csv", "--svg", "figures"]),
        (2, "takes one bundle", &[golden, "--csv", "a.csv", "--table", "b.csv"]),
        (2, "for --csv and --table, found - for both", &["--csv", "-", "--table", "-"]),
        (2, "for --csv and --table, found a.csv", &["--csv", "a.csv", "--table", "a.csv"]),
        (2, "for --csv and --table, found ./a.csv", &["--csv", "a.csv", "--table", "./a.csv"]),
        (2, "for --csv and --svg, found a", &["--csv", "a", "--svg", "a"]),
        (2, "for --table and --svg, found ./a", &["--table", "a", "--svg", "./a"]),
    ];
    for (code, sentence, args) in cases {
        let error = p.fail(code, &[&["export", golden], args].concat());
        assert!(error.contains(sentence), "{args:?}: {error}");
        assert_eq!(p.files(), before, "{args:?}");
    }
}

#[test]
fn two_outputs_are_not_the_same_file() {
    let p = program();
    let cases: [(&[&str], &str); 4] = [
        (&["solve", "a.mtx", "-o", "x", "--history", "x"], "for -o and --history, found x"),
        (&["solve", "a.mtx", "-o", "x", "--history", "./x"], "for -o and --history, found ./x"),
        (
            &["solve", "a.mtx", "--history", "-", "--write-g", "-"],
            "--history and --write-g, found -",
        ),
        (&["bench", "gen:diagonal?m=3", "-o", "b", "--csv", "b"], "for -o and --csv, found b"),
    ];
    for (args, sentence) in cases {
        let error = p.fail(2, args);
        assert!(error.contains(sentence), "{args:?}: {error}");
    }
    assert_eq!(p.files(), [""; 0]);
}

/// Each would compute the same and overwrite the others' files.
#[cfg(not(feature = "mpi"))]
#[test]
fn several_ranks_of_a_build_without_mpi_are_told_how_to_build_one() {
    let program = program();
    let args = ["spmv", "gen:diagonal?m=3", "-o", "y.mtx"];
    let with = |size: &str| {
        let mut command = program.command(&args);
        sparsescope_tests::Ran::of(command.env("OMPI_COMM_WORLD_SIZE", size).output().unwrap())
    };
    let ran = with("4");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let expected = "4 ranks were started, but this build has no MPI";
    assert!(ran.err.contains(expected), "{}", ran.err);
    assert_eq!(program.files(), [""; 0]);
    assert_eq!(with("1").code, Some(0));
    for args in [
        ["spmv", "gen:diagonal?m=3", "--kernel", "mpi/csr/halo", "-o", "z.mtx"],
        ["bench", "gen:diagonal?m=3", "--kernels", "mpi/*", "-o", "z.zip"],
    ] {
        let sentence = program.fail(2, &args);
        assert!(sentence.contains("mpirun -n 4"), "{sentence}");
        assert!(sentence.contains("--features mpi"), "{sentence}");
    }
}
