//! `convert`, and the forms in which matrices are written.

use std::process::Stdio;

use sparsescope_core::io::file_forms::FORMS;
use sparsescope_tests::Program;

use crate::common::program;

/// Explicit and negative zeros, integers and a value that no short decimal names.
const REAL: &str =
    "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 4 0.1\n2 1 -0.0\n2 2 3.0\n3 3 0.0\n";

const COMPLEX: &str =
    "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 0.1 -3.0\n2 1 -0.0 1e-300\n";

/// The extensions that `convert` writes.
fn written() -> impl Iterator<Item = &'static str> {
    FORMS.iter().filter(|form| form.is_written).filter_map(|form| form.extensions.first().copied())
}

fn sha256(p: &Program, name: &str) -> serde_json::Value {
    p.json(&["info", name, "--json"])["sha256"].clone()
}

#[test]
fn a_matrix_is_the_same_to_the_last_bit_after_each_form() {
    let p = program();
    p.write("real.mtx", REAL);
    p.write("complex.mtx", COMPLEX);
    p.succeed(&["generate", "fem-hex?n=3&dof=2", "-o", "fem.mtx"]);
    for extension in written() {
        for name in ["real", "fem", "complex"] {
            let (from, to, back) =
                (format!("{name}.mtx"), format!("to.{extension}"), format!("back-{name}.mtx"));
            let ran = p.run(&["convert", &from, &to, "--force"]);
            assert_eq!(ran.code, Some(0), "{to}: {}", ran.err);
            assert!(
                ran.err.contains(&format!("{to}: ")) && ran.err.contains(" nonzeros"),
                "{}",
                ran.err
            );
            assert_eq!(sha256(&p, &to), sha256(&p, &from), "{name} as {extension}");
            p.succeed(&["convert", &to, &back, "--force"]);
            let text = |name: &str| std::fs::read_to_string(p.path(name)).unwrap();
            assert_eq!(text(&back), text(&from), "{name} as {extension}");
        }
    }
}

#[test]
fn every_form_goes_into_every_other_and_into_gzip() {
    let p = program();
    p.write("a.mtx", REAL);
    let expected = sha256(&p, "a.mtx");
    for from in written() {
        p.succeed(&["convert", "a.mtx", &format!("from.{from}"), "--force"]);
        for to in written() {
            for end in ["", ".gz"] {
                let to = format!("to.{to}{end}");
                p.succeed(&["convert", &format!("from.{from}"), &to, "--force"]);
                assert_eq!(sha256(&p, &to), expected, "{from} to {to}");
            }
        }
    }
    for extension in written() {
        let name = format!("made.{extension}");
        p.succeed(&["generate", "stencil7?n=3", "-o", &name]);
        assert_eq!(sha256(&p, &name), sha256(&p, "gen:stencil7?n=3"), "{name}");
    }
}

#[test]
fn matrix_market_keeps_fields_and_one_triangle_on_request() {
    let p = program();
    let banner = "%%MatrixMarket matrix coordinate";
    let text = |name: &str| std::fs::read_to_string(p.path(name)).unwrap();
    p.write("pattern.mtx", format!("{banner} pattern symmetric\n3 3 2\n2 1\n3 3\n"));
    p.succeed(&["convert", "pattern.mtx", "whole.mtx"]);
    assert_eq!(text("whole.mtx"), format!("{banner} pattern general\n3 3 3\n1 2\n2 1\n3 3\n"));
    p.succeed(&["convert", "whole.mtx", "triangle.mtx", "--symmetric"]);
    assert_eq!(text("triangle.mtx"), text("pattern.mtx"));
    p.write("integer.mtx", format!("{banner} integer general\n2 2 1\n2 1 -7\n"));
    p.succeed(&["convert", "integer.mtx", "same.mtx"]);
    assert_eq!(text("same.mtx"), text("integer.mtx"));
    // The sum of two ones is not a pattern.
    p.write("twice.mtx", format!("{banner} pattern general\n2 2 2\n1 1\n1 1\n"));
    p.succeed(&["convert", "twice.mtx", "sum.mtx"]);
    assert_eq!(text("sum.mtx"), format!("{banner} real general\n2 2 1\n1 1 2.0\n"));
    p.write("edges.txt", "1 2\n2 3\n");
    p.succeed(&["convert", "edges.txt", "edges.mtx", "--undirected"]);
    let expected = format!("{banner} pattern general\n3 3 4\n1 2\n2 1\n2 3\n3 2\n");
    assert_eq!(text("edges.mtx"), expected);
}

#[test]
fn standard_input_and_output_are_converted() {
    let p = program();
    p.write("a.mtx", REAL);
    p.succeed(&["convert", "a.mtx", "a.triplets"]);
    assert_eq!(p.succeed(&["convert", "a.triplets", "-"]), REAL);
    let input = std::fs::File::open(p.path("a.triplets")).unwrap();
    let mut command = p.command(&["convert", "-", "-"]);
    let ran = command.stdin(Stdio::from(input)).output().unwrap();
    assert_eq!((ran.status.success(), ran.stdout), (true, REAL.as_bytes().to_vec()));
}

#[test]
fn points_are_converted_too() {
    let p = program();
    p.write("a.csv", "price,stars\n1.5,2\n3,0.1\n");
    p.succeed(&["convert", "a.csv", "a.points"]);
    p.succeed(&["convert", "a.points", "b.csv"]);
    p.succeed(&["convert", "b.csv", "b.points"]);
    let bytes = |name: &str| std::fs::read(p.path(name)).unwrap();
    assert_eq!(bytes("a.points"), bytes("b.points"));
    assert!(bytes("a.points").starts_with(b"SSPOINTS"));
    let error = p.fail(2, &["convert", "a.csv", "c.points", "--symmetric"]);
    assert!(error.contains("the output is points"), "{error}");
    let error = p.fail(2, &["convert", "a.csv", "c.points", "--undirected"]);
    assert!(error.contains("need a file with a matrix"), "{error}");
}

#[test]
fn what_cannot_be_converted_is_one_sentence_and_leaves_nothing_behind() {
    let p = program();
    p.write("a.mtx", REAL);
    p.write("complex.mtx", COMPLEX);
    p.write("torn.triplets", b"SSTRIPLE\x01\0\0\0");
    p.write("notes.txt", "hello\n");
    let before = p.files();
    for (code, sentence, args) in [
        (1, "already exists; use --force", &["a.mtx", "complex.mtx"][..]),
        (2, "ends in one of .mtx (Matrix Market), ", &["a.mtx", "b"]),
        (2, ".triplets (binary triplets), found b.mat", &["a.mtx", "b.mat"]),
        (2, "found b.txt", &["a.mtx", "b.txt"]),
        (1, "no folder", &["a.mtx", "nowhere/b.mtx"]),
        (1, "missing.mtx", &["missing.mtx", "b.mtx"]),
        (1, "torn.triplets: expected binary triplets with a header", &["torn.triplets", "b.mtx"]),
        (1, "notes.txt: line 1: expected a matrix in one of these forms", &["notes.txt", "b.mtx"]),
        (1, "is not square", &["a.mtx", "b.mtx", "--symmetric"]),
        (1, "the matrix is complex", &["complex.mtx", "b.mtx", "--symmetric"]),
        (2, "one triangle as Matrix Market", &["a.mtx", "b.triplets", "--symmetric"]),
        (2, "need a file with a matrix", &["gen:diagonal?m=3", "b.mtx", "--base", "0"]),
        (2, "did you mean `road`", &["gen:raod?m=3", "b.mtx"]),
    ] {
        let error = p.fail(code, &[&["convert"][..], args].concat());
        assert!(error.contains(sentence), "{args:?}: {error}");
    }
    assert_eq!(p.files(), before);
}
