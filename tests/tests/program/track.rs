//! Bundles over time: `track`.

use sparsescope_core::record::Verdict;
use sparsescope_tests::Program;

use crate::common::{open, program};
use crate::compare::{bench, with_times};
use crate::report::parse;

/// A program with the bundle `m.zip` of 8 runs.
fn measured() -> Program {
    let p = program();
    bench(&p, "m.zip", "cpu/csr/{serial,nnz},cpu/coo/serial");
    p
}

/// The bundle of a day, in which all times differ by up to 1.6 % from those of other days, and the kernel `slow`
/// takes `factor` times as long.
fn day(p: &Program, day: usize, slow: &str, factor: f64) -> String {
    let name = format!("day-{day}.zip");
    let time = 1e-3 * (1.0 + 0.004 * (day * 7 % 5) as f64);
    with_times(p, "m.zip", &name, time, slow, factor);
    let mut bundle = open(p, &name);
    bundle.created = format!("2026-03-{:02}T12:00:00Z", day + 1);
    bundle.save(&p.path(&name), true).unwrap();
    name
}

/// Adds the bundles of these days, in which nothing is slow.
fn add(p: &Program, days: usize) {
    let names: Vec<String> = (0..days).map(|k| day(p, k, "none", 1.0)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    p.succeed(&[&["track", "add"][..], &names[..], &["--to", "main"]].concat());
}

fn history(p: &Program) -> Vec<String> {
    let files = std::fs::read_dir(p.path("main")).unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_slowdown_after_eight_bundles_fails_the_check_and_noise_does_not() {
    let p = measured();
    add(&p, 8);
    let slow = day(&p, 8, "cpu/csr/nnz", 1.3);
    let check = |name: &str, more: &[&str]| {
        p.run(&[&["track", "check", name, "--against", "main"][..], more].concat())
    };
    let ran = check(&slow, &[]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("error: 4 runs became slower: cpu/csr/nnz on"), "{}", ran.err);
    assert!(ran.out.contains("8 runs compared with 8 bundles: 4 slower, 0 faster, 4 unclear."));
    assert!(ran.out.contains("At most 5 % of checks fail although nothing became slower."));
    assert!(!ran.err.contains("warning"), "{}", ran.err);

    let json = check(&slow, &["--json"]);
    let found: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&found["slower"], &found["bundles"]), (&4.into(), &8.into()));
    let run = found["runs"].as_array().unwrap().iter().find(|run| run["change"] == "slower");
    let run = run.unwrap();
    let ratio = run["ratio"].as_f64().unwrap();
    assert!((ratio - 1.3).abs() < 0.02, "{ratio}");
    assert_eq!((&run["basis"], &run["earlier"]), (&"spread".into(), &8.into()));
    // A change below the smallest that counts.
    assert_eq!(check(&slow, &["--min-effect", "50%"]).code, Some(0));

    let calm = day(&p, 9, "none", 1.0);
    let ran = check(&calm, &["--all"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("0 slower, 0 faster, 8 unclear"), "{}", ran.out);
    assert_eq!(ran.out.matches(" unclear\n").count(), 8, "{}", ran.out);
    // A bundle is not compared with itself.
    p.succeed(&["track", "add", &slow, "--to", "main"]);
    assert_eq!(check(&slow, &[]).code, Some(3));
}

#[test]
fn the_anchor_removes_what_all_kernels_of_a_bundle_share() {
    let p = measured();
    add(&p, 8);
    // All kernels take half as long again: a busy machine.
    with_times(&p, "m.zip", "busy.zip", 1.5e-3, "none", 1.0);
    let check = ["track", "check", "busy.zip", "--against", "main"];
    assert_eq!(p.run(&check).code, Some(3));
    let ran = p.run(&[&check[..], &["--anchor", "cpu/csr/serial", "--all"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("6 runs compared with 8 bundles: 0 slower"), "{}", ran.out);
    let divided = "Times are divided by that of cpu/csr/serial in the same bundle";
    assert!(ran.out.contains(divided), "{}", ran.out);
    let ran = p.run(&[&check[..], &["--anchor", "cpu/hll/serial"]].concat());
    assert!(ran.err.contains("no run of the anchor kernel"), "{}", ran.err);
    assert!(!ran.out.contains("are divided"), "{}", ran.out);
}

#[test]
fn a_short_history_is_reported_and_an_empty_one_has_nothing_to_compare() {
    let p = measured();
    let new = day(&p, 8, "cpu/csr/nnz", 1.3);
    let check = ["track", "check", new.as_str(), "--against", "main"];
    assert!(p.fail(1, &check).contains("cannot read the folder main"));
    std::fs::create_dir(p.path("main")).unwrap();
    let ran = p.run(&check);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("nothing was compared"), "{}", ran.err);
    assert!(ran.out.contains("8 runs have no earlier measurement on this machine."));
    add(&p, 1);
    let ran = p.run(&check);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("8 runs have fewer than 4 earlier measurements"), "{}", ran.err);
}

#[test]
fn a_bundle_is_added_once_and_none_if_one_cannot_be_read() {
    let p = measured();
    add(&p, 2);
    let names = history(&p);
    assert_eq!(names.len(), 2);
    assert!(names[0].starts_with("20260301-120000-") && names[0].ends_with(".zip"), "{names:?}");
    let again = p.run(&["track", "add", "day-0.zip", "--to", "main"]);
    assert!(again.code == Some(0) && again.err.contains("already there"), "{}", again.err);
    // Results of another program are known by their content, not by the time at which they were added.
    p.write("google.json", include_str!("../../golden/google-benchmark.json"));
    p.succeed(&["track", "add", "google.json", "google.json", "--to", "main"]);
    let added = history(&p).into_iter().find(|name| !names.contains(name)).unwrap();
    let earlier = format!("20250101-000000{}", &added["20260101-000000".len()..]);
    std::fs::rename(p.path("main").join(&added), p.path("main").join(&earlier)).unwrap();
    let again = p.run(&["track", "add", "google.json", "--to", "main"]);
    assert!(again.code == Some(0) && again.err.contains("already there"), "{}", again.err);
    let names = history(&p);
    assert_eq!(names.len(), 3, "{names:?}");
    p.write("broken.zip", "PK");
    let next = day(&p, 2, "none", 1.0);
    p.fail(1, &["track", "add", &next, "broken.zip", "--to", "main"]);
    assert_eq!(history(&p), names);
}

#[test]
fn a_comment_shows_the_three_largest_changes_and_links_the_page() {
    let p = measured();
    add(&p, 8);
    let slow = day(&p, 8, "cpu/csr/nnz", 1.3);
    let link = "https://example.org/history.html";
    let check = ["track", "check", slow.as_str(), "--against", "main", "--markdown", "-"];
    let ran = p.run(&[&check[..], &["--link", link]].concat());
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.starts_with("### Sparsescope: 4 runs became slower\n\n| matrix |"));
    assert_eq!(ran.out.matches("| cpu/csr/nnz |").count(), 3, "{}", ran.out);
    assert!(ran.out.contains("1 change more.") && ran.out.contains(link), "{}", ran.out);
    assert!(ran.err.contains("8 runs compared"), "the table goes to standard error");
    p.fail(2, &[&check[..], &["--json"]].concat());
}

#[test]
fn a_result_that_is_no_longer_correct_fails_the_check_and_is_in_the_comment() {
    let p = measured();
    add(&p, 4);
    let name = day(&p, 4, "none", 1.0);
    let mut bundle = open(&p, &name);
    let run = &mut bundle.runs[0];
    (run.samples, run.figures, run.metric, run.work) = (Vec::new(), None, None, None);
    run.check.verdict = Verdict::Fail;
    run.check.reason = Some("row 3 differs".into());
    bundle.save(&p.path(&name), true).unwrap();
    let ran = p.run(&["track", "check", &name, "--against", "main", "--markdown", "-"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let error = "error: 1 run has a worse check result than before: cpu/";
    assert!(ran.err.contains(error) && ran.err.contains("(pass before, fail now)"), "{}", ran.err);
    let title =
        "### Sparsescope: no run became slower, 1 run has a worse check result than before\n";
    assert!(ran.out.starts_with(title), "{}", ran.out);
    assert!(ran.out.contains("| pass | fail | row 3 differs |"), "{}", ran.out);
    // A result that is right as far as rounding allows did not fail.
    bundle.runs[0].check.verdict = Verdict::Pass;
    bundle.runs[0].check.limited_by_rounding = true;
    bundle.save(&p.path(&name), true).unwrap();
    let ran = p.run(&["track", "check", &name, "--against", "main"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("(pass before, limited by rounding now)"), "{}", ran.err);
}

#[test]
fn times_are_written_for_bencher_in_nanoseconds() {
    let p = measured();
    let name = day(&p, 0, "none", 1.0);
    let out = p.json(&["export", &name, "--bencher", "-"]);
    let all = out.as_object().unwrap();
    assert_eq!(all.len(), 8);
    let machine = open(&p, &name).environments[0].id.clone();
    let latency = &all[&format!("cpu/csr/serial on poisson2d?n=9, 1 thread, {machine}")]["latency"];
    // 1 ms, and up to 1.9 % of noise.
    let [value, low, high] =
        ["value", "lower_value", "upper_value"].map(|key| latency[key].as_f64());
    let (value, low, high) = (value.unwrap(), low.unwrap(), high.unwrap());
    assert!((value / 1.0095e6 - 1.0).abs() < 1e-9, "{value}");
    assert!(low < value && value < high);
    assert!(p.fail(2, &["export", &name, &name, "--bencher", "b.json"]).contains("one bundle"));
}

#[test]
fn the_page_shows_every_run_and_when_it_changed() {
    let p = measured();
    add(&p, 12);
    let later: Vec<String> = (12..20).map(|k| day(&p, k, "cpu/csr/nnz", 1.3)).collect();
    for name in &later {
        p.succeed(&["track", "add", name, "--to", "main"]);
    }
    p.succeed(&["track", "report", "main", "-o", "history.html"]);
    let html = std::fs::read_to_string(p.path("history.html")).unwrap();
    let document = parse(&html);
    let drawings = document.descendants().filter(|node| node.tag_name().name() == "svg").count();
    assert_eq!(drawings, 8);
    assert_eq!(html.matches(" % slower since 2026-03-13").count(), 4, "{html}");
    assert!(!html.contains("% faster since"));
    assert!(html.contains("<h1>History of main</h1>"), "{html}");
    assert!(html.contains("8 runs in 20 bundles, from 2026-03-01 to 2026-03-20; 4 changed."));
    assert!(!html.contains("src=") && !html.contains("<script"), "it loads nothing");
    let error = p.fail(1, &["track", "report", "main", "-o", "history.html"]);
    assert!(error.contains("--force"), "{error}");
    p.fail(2, &["track", "report", "main", "-o", "history.zip"]);
}
