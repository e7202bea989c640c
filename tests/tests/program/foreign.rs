//! An untrusted bundle cannot harm whoever opens it.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::{Value, json};
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::record::{Shard, is_invisible};
use sparsescope_tests::{Program, Ran, changed};

use crate::common::{open, program};

/// Runs on matrices, on several ranks, of user kernels, and on batches.
const GOLDEN: [&[u8]; 3] = [
    include_bytes!("../../golden/bundle-1.10.zip"),
    include_bytes!("../../golden/bundle-1.9.zip"),
    include_bytes!("../../golden/bundle-1.7.zip"),
];

fn golden(bytes: &[u8]) -> Bundle {
    let mut bundle = Bundle::read(bytes, &Limits::default()).unwrap();
    bundle.label = Some("label".into());
    bundle
}

/// The bundle with this prefix on every free text, except those that select charts.
fn with_texts(bundle: &Bundle, text: &str) -> Bundle {
    const KEPT: [&str; 4] = [".operation", ".precision", ".backend", ".unit"];
    let (made, taken) = changed(bundle, |path, value| match value {
        Value::String(own) if !KEPT.iter().any(|kept| path.ends_with(kept)) => {
            Some(format!("{text}{own}").into())
        }
        _ => None,
    });
    for path in [".label", ".runs.*.kernel", ".runs.*.device", ".environments.*.cpu.model"] {
        assert!(taken.iter().any(|other| other == path), "{path} of {taken:?}");
    }
    made
}

fn is_in_drawing(node: &Node<'_, '_>) -> bool {
    node.ancestors().any(|of| of.tag_name().name() == "svg")
}

/// The number of each element in a report outside its drawings; drawings contain only shapes, and nothing is
/// executed or loaded anywhere.
fn elements(p: &Program, bundle: &Bundle) -> BTreeMap<String, usize> {
    const SHAPES: [&str; 9] =
        ["svg", "title", "desc", "rect", "polyline", "polygon", "circle", "image", "text"];
    bundle.save(&p.path("b.zip"), true).unwrap();
    p.succeed(&["export", "b.zip", "--report", "r.html", "--force"]);
    let html = std::fs::read_to_string(p.path("r.html")).unwrap();
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&html, options).unwrap();
    let mut found = BTreeMap::new();
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && name != "src", "{name}=\"{value}\"");
            let is_inside = value.starts_with('#') || value.starts_with("data:image/png;");
            assert!(name != "href" || is_inside, "{value:.80}");
            assert!(name != "style" || value == "image-rendering:pixelated", "{value}");
        }
        match is_in_drawing(&node) {
            true => assert!(SHAPES.contains(&name), "<{name}> in a drawing"),
            false => *found.entry(name.to_owned()).or_default() += 1,
        }
    }
    let policy = document.descendants().find(|node| node.attribute("http-equiv").is_some());
    let policy = policy.and_then(|node| node.attribute("content")).unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("script"), "{policy}");
    found
}

#[test]
fn no_text_of_a_bundle_becomes_markup_in_the_report() {
    let p = program();
    let hostile = "\"><img src=x onerror=alert(1)><script>alert(1)</script><a href='javascript:x'>";
    let plain = hostile.replace(['<', '>', '"', '\''], "x");
    for bytes in GOLDEN {
        let bundle = golden(bytes);
        let [hostile, plain] =
            [hostile, &plain].map(|text| elements(&p, &with_texts(&bundle, text)));
        assert!(!hostile.contains_key("script") && !hostile.contains_key("img"));
        assert_eq!(hostile, plain);
    }
}

/// Checks that the output contains no terminal control characters and that the program did not panic.
fn assert_plain(args: &[&str], ran: &Ran) {
    let steers = |c: char| is_invisible(c) && !matches!(c, '\n' | '\t');
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains(steers), "{args:?}: {}", text.escape_debug());
        assert!(!text.contains("panicked"), "{args:?}: {text}");
    }
}

#[test]
fn no_byte_of_a_bundle_or_an_argument_steers_the_terminal() {
    let p = program();
    let escapes = "\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J\r\u{7f}\u{202e}\u{2066}\u{feff}";
    for bytes in GOLDEN {
        let bundle = golden(bytes);
        let mut first = with_texts(&bundle, escapes);
        first.save(&p.path("a.zip"), true).unwrap();
        first.runs.truncate(first.runs.len() / 2);
        first.environments[0].cpu.model.push_str(escapes);
        first.complete = false;
        first.save(&p.path("b.zip"), true).unwrap();
        for args in [
            &["export", "a.zip", "--csv", "-"][..],
            &["export", "a.zip", "--csv", "a.csv", "--force"],
            &["export", "a.zip", "--table", "-", "--view", "runs"],
            &["export", "a.zip", "--table", "-", "--view", "best"],
            &["export", "a.zip", "--svg", "figures", "--force"],
            &["export", "a.zip", "--report", "r.html", "--force"],
            &["compare", "a.zip", "a.zip", "--all"],
            &["compare", "a.zip", "b.zip", "--all", "--fail-above", "1.1"],
            &["compare", "b.zip", "a.zip", "--json"],
            &["merge", "a.zip", "b.zip", "-o", "m.zip", "--force"],
            &["export", "a.zip", "--bencher", "-"],
            &["track", "check", "a.zip", "--against", ".", "--all", "--markdown", "-"],
            &["track", "report", ".", "-o", "h.html", "--force"],
            &["board", ".", "--force"],
            &["info", "a.zip"],
            &["bench", "--resume", "b.zip", "--plan"],
        ] {
            assert_plain(args, &p.run(args));
        }
    }
    let file = format!("{escapes}.mtx");
    let option = format!("--{escapes}");
    for args in [
        &["info", file.as_str()][..],
        &["compare", file.as_str(), file.as_str()],
        &["bench", option.as_str()],
        &[file.as_str()],
        &["export", "a.zip", "--chart", escapes, "--svg", "c.svg"],
        &["export", "a.zip", "--state", escapes, "--table", "-"],
    ] {
        let ran = p.run(args);
        assert_plain(args, &ran);
        assert!(ran.code != Some(0) && !ran.err.is_empty(), "{args:?}");
    }
    #[cfg(unix)]
    {
        p.write(&file, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
        let args = ["info", file.as_str()];
        let ran = p.run(&args);
        assert_plain(&args, &ran);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

#[test]
fn cells_of_a_table_stay_on_their_line() {
    let p = program();
    let mut bundle = golden(GOLDEN[0]);
    bundle.matrices[0].record.name = "two\nlines".into();
    bundle.save(&p.path("b.zip"), true).unwrap();
    let table = p.succeed(&["compare", "b.zip", "b.zip", "--all"]);
    assert!(table.contains("two\\u{a}lines"), "{table}");
}

/// Values that fit no field.
fn odd_values() -> Vec<(&'static str, Value)> {
    vec![
        ("null", Value::Null),
        ("the largest number", u64::MAX.into()),
        ("a huge number", 1e300.into()),
        ("a large number", 1_000_000_000_u64.into()),
        ("a negative number", (-1).into()),
        ("zero", 0.into()),
        ("not a number", "NaN".into()),
        ("nothing", "".into()),
        ("a long text", "x".repeat(4096).into()),
        ("control characters", "\0\u{1b}[2J\r\n\u{202e}".into()),
    ]
}

/// Any of these values that a reader accepts is shown without a panic, in all fields at once that may have
/// it.
#[test]
fn whatever_a_reader_takes_is_shown_without_a_panic() {
    let p = program();
    let bundle = golden(GOLDEN[0]);
    bundle.save(&p.path("whole.zip"), true).unwrap();
    for (kind, odd) in odd_values() {
        let (odd, _) = changed(&bundle, |_, _| Some(odd.clone()));
        odd.save(&p.path("odd.zip"), true).unwrap();
        for args in [
            &["export", "odd.zip", "--csv", "-", "--report", "r.html", "--force"][..],
            &["compare", "whole.zip", "odd.zip", "--all"],
        ] {
            let ran = p.run(args);
            assert_plain(args, &ran);
            assert_eq!(ran.code, Some(0), "{kind}: {}", ran.err);
        }
    }
}

#[test]
fn a_plan_of_more_runs_than_a_bundle_may_hold_is_told_in_a_sentence() {
    let p = program();
    let sweep = ["bench", "gen:diagonal?m=9", "--kernels", "cpu/csr/serial", "--runs", "1", "-q"];
    p.succeed(&[&sweep[..], &["--shard", "1/2", "-o", "1.zip"]].concat());
    let mut bundle = open(&p, "1.zip");
    let plan = bundle.plan.as_mut().unwrap();
    plan["matrices"] = (0..60_000).map(|k| json!({ "name": format!("m{k}") })).collect();
    plan["settings"]["cold"] = true.into();
    plan["settings"]["threads"] = (1..=4096).collect();
    plan["kernels"] = json!(["cpu/csr/serial", "cpu/csr/nnz"]);
    bundle.save(&p.path("1.zip"), true).unwrap();
    bundle.shard = Some(Shard { part: 2, of: 2 });
    bundle.save(&p.path("2.zip"), true).unwrap();
    let ran = p.run(&["merge", "1.zip", "2.zip", "-o", "m.zip"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let sentence = "cannot list the missing runs: the plan has 491640000 runs, more than";
    assert!(ran.err.contains(sentence), "{}", ran.err);
}
