//! Numbers that do not exist: matrices with nothing to compute, sums that overflow, values that are not
//! finite. No output and no page shows NaN or infinity as a time, a rate or a bound.

use sparsescope_core::record::Verdict;
use sparsescope_tests::{Program, Ran};

use crate::common::{open, products_here, program};

fn matrix(p: &Program, name: &str, lines: &str) {
    p.write(name, format!("%%MatrixMarket matrix coordinate real general\n{lines}\n"));
}

/// Matrices without rows, columns or nonzeros, by their files.
const NOTHING: [(&str, &str); 4] =
    [("none.mtx", "0 0 0"), ("tall.mtx", "3 0 0"), ("wide.mtx", "0 3 0"), ("empty.mtx", "3 3 0")];

fn has_numbers_only(what: &str, text: &str) {
    let is_none = |word: &&str| ["nan", "inf", "infinity"].contains(&word.to_lowercase().as_str());
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    assert_eq!(words.find(is_none), None, "{what}: {text}");
    assert!(!text.contains("NaN"), "{what}: {text}");
}

fn all_of(what: &str, ran: &Ran) {
    has_numbers_only(what, &ran.out);
    has_numbers_only(what, &ran.err);
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
}

#[test]
fn what_computes_nothing_passes_without_times_and_no_page_shows_a_number_that_is_none() {
    for (name, lines) in NOTHING {
        for operation in ["spmv", "symgs", "solve"] {
            let p = program();
            matrix(&p, name, lines);
            let what = format!("{operation} on {name}");
            let how = ["--backend", "cpu", "--runs", "3", "--threads", "1,2", "-o", "b.zip"];
            let ran = p.run(&[&["bench", name, "--operation", operation][..], &how].concat());
            all_of(&what, &ran);
            let bundle = open(&p, "b.zip");
            assert!(!bundle.runs.is_empty(), "{what}");
            for run in &bundle.runs {
                let has_time = !run.samples.is_empty() || run.figures.is_some();
                assert!(!has_time && run.metric.is_none(), "{what}: {}", run.kernel);
                assert_ne!(run.check.verdict, Verdict::Fail, "{what}: {:?}", run.check.reason);
            }
            let passed = bundle.runs.iter().filter(|run| run.check.verdict == Verdict::Pass);
            assert!(operation != "spmv" || passed.count() > 0, "{what}");
            all_of(&what, &p.run(&["export", "b.zip", "--report", "report.html"]));
            all_of(&what, &p.run(&["export", "b.zip", "--csv", "runs.csv"]));
            for file in ["report.html", "runs.csv"] {
                let text = std::fs::read_to_string(p.path(file)).unwrap();
                has_numbers_only(&format!("{what}, {file}"), &text);
            }
        }
    }
}

#[test]
fn commands_on_matrices_without_nonzeros_print_numbers_only() {
    let p = program();
    for (name, lines) in NOTHING {
        matrix(&p, name, lines);
        has_numbers_only(name, &p.succeed(&["info", name]));
        has_numbers_only(name, &p.succeed(&["info", name, "--json"]));
        has_numbers_only(name, &p.succeed(&["spmv", name, "-o", "y.mtx", "--force"]));
        for command in ["symgs", "solve"] {
            all_of(
                &format!("{command} {name}"),
                &p.run(&[command, name, "-o", "x.mtx", "--force"]),
            );
        }
    }
}

#[test]
fn a_finite_sum_that_overflows_on_its_way_is_right_or_undecided_for_every_kernel() {
    let p = program();
    matrix(&p, "m.mtx", "1 3 3\n1 1 1e308\n1 2 1e308\n1 3 -1e308");
    p.write("x.txt", "1\n1\n1\n");
    for kernel in products_here().filter(|k| k.id.starts_with("cpu/")) {
        let args =
            ["spmv", "m.mtx", "--x", "x.txt", "--kernel", kernel.id, "-o", "y.mtx", "--force"];
        let ran = p.run(&args);
        assert!(!ran.err.contains("wrong result"), "{}: {}", kernel.id, ran.err);
        assert!(matches!(ran.code, Some(0 | 1 | 3)), "{}: {}", kernel.id, ran.err);
    }
    let args = ["spmv", "m.mtx", "--x", "x.txt", "--kernel", "cpu/csr/serial", "-o", "z.mtx"];
    let undecided = p.fail(3, &args);
    let expected = "error: the result of cpu/csr/serial could not be verified: row 0 is inf; whether its sum \
                    overflows depends on the summation order";
    assert!(undecided.starts_with(expected), "{undecided}");
}

#[test]
fn values_that_are_not_finite_are_refused_where_sweeps_and_solves_read_them() {
    let p = program();
    matrix(&p, "nan.mtx", "2 2 3\n1 1 nan\n1 2 1\n2 2 2");
    for command in ["symgs", "solve"] {
        let error = p.fail(1, &[command, "nan.mtx", "-o", "x.mtx"]);
        let place = "row 0 has NaN in column 0 (0-based), which is not finite";
        assert!(error.contains(place), "{command}: {error}");
    }
    // An SpMV has NaN exactly in the rows where the matrix has NaN.
    p.write("x.txt", "1\n1\n");
    p.succeed(&["spmv", "nan.mtx", "--x", "x.txt", "-o", "y.mtx"]);
}
