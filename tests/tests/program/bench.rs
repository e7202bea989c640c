//! The main job: from matrices to a checked bundle.

use std::io::Read;
use std::process::Stdio;

use sparsescope_core::bundle::{Bundle, HEADER, Journal, Limits, journal_path};
use sparsescope_core::experiment::Key;
use sparsescope_core::record::{Run, Verdict};
use sparsescope_core::spy;
use sparsescope_tests::{Killed, Program};

use crate::common::{open, products_here, program};

/// An entry of a bundle as text.
fn entry(p: &Program, bundle: &str, name: &str) -> String {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(p.path(bundle)).unwrap()).unwrap();
    let mut text = String::new();
    zip.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Number of CPU SpMV configurations with `threads` thread counts.
fn configurations(threads: usize) -> usize {
    let here: Vec<_> = products_here().collect();
    let serial = here.iter().filter(|k| !k.takes.threads).count();
    serial + threads * (here.len() - serial)
}

const SMALL: [&str; 7] =
    ["bench", "gen:poisson2d?n=20", "gen:dense-row?m=30", "--runs", "3", "--warmup", "1"];

#[test]
fn a_small_bench_writes_a_valid_bundle_and_a_table() {
    let p = program();
    let args = [&SMALL[..], &["--threads", "1,2,3", "-o", "b.zip", "--csv", "b.csv"]].concat();
    // BSR and DIA even if nearly empty.
    let args = [&args[..], &["--min-fill", "0"]].concat();
    let summary = p.succeed(&args);
    for heading in ["matrix", "nnz", "fastest", "threads", "median", "GFLOPS", "% of copy"] {
        assert!(summary.lines().next().unwrap().contains(heading), "{heading}: {summary}");
    }
    // Names are whole, as the output is no terminal.
    for name in ["poisson2d?n=20", "dense-row?m=30"] {
        assert!(summary.contains(&format!("\n{name} ")), "{name}: {summary}");
    }
    assert!(!summary.contains('…'), "{summary}");
    for end in ["Bundle: b.zip\nCSV:    b.csv\n", "Report: b.html\n"] {
        assert!(summary.contains(end), "{end}: {summary}");
    }
    assert!(!summary.contains("--csv"), "{summary}");
    assert_eq!(p.files(), ["b.csv", "b.html", "b.zip"]);

    let bundle = open(&p, "b.zip");
    assert!(bundle.complete);
    assert_eq!(bundle.matrices.len(), 2);
    assert_eq!(bundle.runs.len(), 2 * configurations(3));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        assert_eq!((run.samples.len(), run.warmup), (3, 1));
    }
    // Small matrices are stored whole, and equal the generated ones.
    for matrix in &bundle.matrices {
        p.write("whole.mtx", &matrix.files["matrix.mtx"]);
        let info = p.json(&["info", "whole.mtx", "--json"]);
        assert_eq!(info["sha256"], matrix.record.sha256.as_str());
        let (pyramid, profile) = spy::from_files(&matrix.files).unwrap();
        assert_eq!(pyramid.entries(), matrix.record.statistics.nnz);
        assert_eq!(profile.bins.len() as u64, matrix.record.statistics.rows);
    }
    let csv = std::fs::read_to_string(p.path("b.csv")).unwrap();
    assert_eq!(csv.lines().next(), Some(HEADER));
    assert_eq!(
        HEADER,
        "matrix,source,stand_in,rows,cols,nnz,op,kernel,origin,backend,device,threads,block,hot,runs,\
         median_s,mean_s,min_s,q1_s,q3_s,max_s,gflops,gbs,pct_copy,speedup,efficiency,check,s_paper,\
         rel_err,precision,params,metric,unit"
    );
    assert_eq!(csv.lines().count(), 1 + bundle.runs.len());
    p.succeed(&["export", "b.zip", "--csv", "again.csv"]);
    assert_eq!(std::fs::read_to_string(p.path("again.csv")).unwrap(), csv);
    assert_eq!(entry(&p, "b.zip", "results.csv"), csv);
}

#[test]
fn every_document_of_a_bundle_follows_the_schema_and_names_no_place() {
    let p = program();
    p.succeed(&[&SMALL[..], &["-o", "b.zip"]].concat());
    let here = p.folder().to_string_lossy().into_owned();
    let texts = sparsescope_tests::documents(&std::fs::read(p.path("b.zip")).unwrap());
    assert!(texts.iter().all(|(name, text)| name.contains('/') || !text.contains(&here)));
    assert_eq!(sparsescope_tests::follow_the_schema(&texts), 3 + 2 * 2);
}

#[test]
fn json_is_one_value_and_nothing_else() {
    let p = program();
    let args = [
        &SMALL[..],
        &["--json", "--kernels", "cpu/csr/{serial,rows,nnz,merge},cpu/coo/serial", "--cold"],
    ]
    .concat();
    let json = p.json(&args);
    let runs = json["runs"].as_array().unwrap();
    let kernels: std::collections::BTreeSet<&str> =
        runs.iter().map(|r| r["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels.len(), 5);
    let cold = runs.iter().filter(|r| r["hot"] == false).count();
    assert_eq!(2 * cold, runs.len(), "each configuration hot and cold");
    assert!(runs.iter().all(|r| r["samples"].as_array().unwrap().len() == 3));
}

#[test]
fn the_picture_of_the_structure_is_as_large_as_asked_for() {
    let p = program();
    let args = ["bench", "gen:road?m=20000", "--runs", "1", "--kernels", "cpu/csr/serial", "-q"];
    let cells = |bytes: &str| {
        p.succeed(&[&args[..], &["--force", "-o", "b.zip", "--spy-bytes", bytes]].concat());
        let files = &open(&p, "b.zip").matrices[0].files;
        files.contains_key("spy.bin").then(|| spy::from_files(files).unwrap().0.levels()[0].rows())
    };
    let (fine, coarse) = (cells("1M").unwrap(), cells("2k").unwrap());
    assert!(fine == 20_000usize.div_ceil(8) && coarse < fine, "{fine} and {coarse} cells");
    assert_eq!(cells("0"), None);
}

#[test]
fn the_plan_runs_nothing_and_the_default_name_is_new_each_time() {
    let p = program();
    let plan = p.succeed(&["bench", "--plan", "--threads", "1,2"]);
    let is_merge = |line: &str| line.split_whitespace().eq(["cpu/csr/merge", "1,", "2"]);
    assert!(plan.lines().any(is_merge) && plan.contains("grid-27pt"), "{plan}");
    assert!(p.files().is_empty());
    let args = ["bench", "gen:diagonal?m=9", "--runs", "1", "--kernels", "cpu/csr/serial"];
    p.succeed(&args);
    p.succeed(&args);
    let files = p.files();
    // Each bundle has a report.
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files.iter().all(|f| f.starts_with("sparsescope-")), "{files:?}");
    for ending in [".zip", ".html"] {
        assert_eq!(files.iter().filter(|f| f.ends_with(ending)).count(), 2, "{files:?}");
    }
}

#[test]
fn ellpack_of_a_dense_row_is_refused_with_its_bytes_and_the_rest_runs() {
    let p = program();
    let out = p.succeed(&[
        "bench",
        "gen:circuit?m=116835&nnz=766396&dense=114190",
        "--runs",
        "1",
        "--warmup",
        "0",
        "--threads",
        "2",
        "-o",
        "b.zip",
    ]);
    // 116835 rows x (114190 slots x 12 bytes + 4 bytes for the row's length)
    // The sentence may be broken between words.
    let words: Vec<&str> = out.split_whitespace().collect();
    assert!(words.join(" ").contains("needs 160097131140 bytes (160.1 GB)"), "{out}");
    for run in &open(&p, "b.zip").runs {
        // Nor does it have dense blocks or few diagonals.
        let refused =
            ["cpu/ell/", "cpu/bsr/", "cpu/dia/"].iter().any(|f| run.kernel.starts_with(f));
        let expected = if refused { Verdict::Refused } else { Verdict::Pass };
        assert_eq!(run.check.verdict, expected, "{}", run.kernel);
        assert_eq!(run.samples.is_empty(), refused);
    }
}

#[test]
fn a_matrix_that_cannot_be_read_does_not_lose_the_others() {
    let p = program();
    let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n";
    p.write("complex.mtx", complex);
    let args = [
        "bench",
        "missing.mtx",
        "gen:diagonal?m=9",
        "complex.mtx",
        "--runs",
        "1",
        "--min-fill",
        "0",
        "-o",
        "b.zip",
    ];
    let ran = p.run(&args);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error: missing.mtx"), "{}", ran.err);
    let bundle = open(&p, "b.zip");
    assert_eq!(bundle.matrices.len(), 2);
    for run in &bundle.runs {
        let is_complex = run.matrix.starts_with("complex");
        let expected = if is_complex { Verdict::Refused } else { Verdict::Pass };
        assert_eq!(run.check.verdict, expected);
    }
}

/// Samples per run of the bench that is stopped: enough that the last matrix takes seconds, but the first is
/// done at once.
#[cfg(unix)]
const SAMPLES: &str = "2000";

/// Four SpMV kernels on two matrices, the second of which takes seconds.
#[cfg(unix)]
const PRODUCTS: [&str; 4] =
    ["gen:diagonal?m=9", "suite:grid-27pt", "--kernels", "cpu/csr/{serial,rows,nnz,merge}"];

/// Starts a bench that takes seconds, and sends it the signal `name` once three runs are in its journal.
#[cfg(unix)]
fn stopped_by(p: &Program, name: &str, what: &[&str]) -> std::process::ExitStatus {
    let how = ["--runs", SAMPLES, "--warmup", "0", "--threads", "1", "-o", "b.zip", "-q"];
    let args = [&["bench"], what, &how].concat();
    let child = p.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = Killed(child.unwrap());
    let journal = journal_path(&p.path("b.zip"));
    let started = std::time::Instant::now();
    loop {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        if text.matches("\"samples\"").count() >= 3 {
            break;
        }
        assert!(child.0.try_wait().unwrap().is_none(), "it ended before it was stopped");
        assert!(started.elapsed().as_secs() < 120, "no run was journaled: {text}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    crate::common::signal(&child.0, name);
    child.0.wait().unwrap()
}

/// An interrupted bench can be continued: the finished runs stay unchanged.
#[cfg(unix)]
fn continues(p: &Program, before: &Bundle, runs: usize) {
    let table = p.succeed(&["bench", "--resume", "b.zip", "-q"]);
    let all = format!("{runs} runs on 2 matrices: {runs} passed the check");
    assert!(table.contains(&all), "{table}");
    assert_eq!(p.files(), ["b.html", "b.zip"]);
    let after = open(p, "b.zip");
    assert!(after.complete);
    assert!(after.runs.iter().all(|run| run.samples.len().to_string() == SAMPLES));
    let whole = |run: &&Run| run.samples.len().to_string() == SAMPLES;
    for run in before.runs.iter().filter(whole) {
        let is_it = |r: &&Run| r.matrix == run.matrix && Key::of(r) == Key::of(run);
        let kept = after.runs.iter().find(is_it);
        assert_eq!(kept.map(|r| &r.samples), Some(&run.samples), "{}", run.kernel);
    }
    assert!(after.runs.iter().all(|r| r.figures.as_ref().unwrap().speedup.is_some()));
    let machines: Vec<&str> = after.environments.iter().map(|e| e.id.as_str()).collect();
    assert_eq!(machines.len(), 2, "each part has its environment: {machines:?}");
    let error = p.fail(1, &["bench", "--resume", "b.zip", "-q"]);
    assert!(error.contains("complete"), "{error}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_what_was_measured_as_an_incomplete_bundle_that_can_be_continued() {
    let p = program();
    assert_eq!(stopped_by(&p, "-INT", &PRODUCTS).code(), Some(130));
    assert_eq!(p.files(), ["b.zip"], "the journal is gone");
    let bundle = open(&p, "b.zip");
    assert!(!bundle.complete && bundle.runs.len() >= 3);
    assert!(bundle.runs.iter().all(|r| r.check.verdict == Verdict::Pass && !r.samples.is_empty()));
    continues(&p, &bundle, 8);
}

#[cfg(unix)]
#[test]
fn a_killed_bench_leaves_a_journal_that_holds_every_finished_run_and_can_be_continued() {
    // Three kernels of sweeps in two modes.
    let sweeps = ["--operation", "symgs", "--kernels", "cpu/symgs/{serial,levels,colored}"];
    let on = ["--mode", "standard,smoother", "gen:diagonal?m=9", "gen:stencil27?n=20"];
    let sweeps = [sweeps, on].concat();
    for (what, runs) in [(&PRODUCTS[..], 8), (&sweeps, 12)] {
        let p = program();
        assert_eq!(stopped_by(&p, "-KILL", what).code(), None);
        assert_eq!(p.files(), ["b.zip.partial.jsonl"]);
        let bundle = Journal::recover(&p.path("b.zip.partial.jsonl"), &Limits::default()).unwrap();
        assert!(!bundle.complete && bundle.runs.len() >= 3);
        continues(&p, &bundle, runs);
    }
}

#[test]
fn to_continue_files_have_to_be_named_again() {
    let p = program();
    p.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    p.succeed(&["bench", "a.mtx", "--runs", "1", "--kernels", "cpu/csr/serial", "-o", "b.zip"]);
    let mut bundle = open(&p, "b.zip");
    bundle.complete = false;
    bundle.runs.clear();
    bundle.save(&p.path("b.zip"), true).unwrap();
    let error = p.fail(2, &["bench", "--resume", "b.zip"]);
    assert!(error.contains("pass the files of these matrices again: a"), "{error}");
    let error = p.fail(2, &["bench", "a.mtx", "--resume", "b.zip", "--runs", "3"]);
    assert!(error.contains("--runs"), "{error}");
    p.succeed(&["bench", "a.mtx", "--resume", "b.zip"]);
    assert_eq!(open(&p, "b.zip").runs.len(), 1);
}

#[test]
fn a_path_that_a_bundle_or_a_journal_names_is_never_opened() {
    let p = program();
    p.write("secret.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    let made = |operation: &str, matrix: &str| {
        let kernel = ["--runs", "1", "--kernels", "cpu/*/serial", "-q", "--force"];
        let args = ["bench", matrix, "--operation", operation, "-o", "b.zip"];
        p.succeed(&[&args[..], &kernel[..]].concat());
        let mut bundle = open(&p, "b.zip");
        bundle.complete = false;
        bundle.runs.clear();
        bundle.matrices.clear();
        bundle.subjects.clear();
        bundle
    };
    let of_matrix = made("spmv", "gen:diagonal?m=4");
    for (mut bundle, source) in [
        (of_matrix.clone(), "secret.mtx"),
        (of_matrix, "./secret.mtx"),
        (made("skyline", "gen:points-independent?n=9&d=2"), "secret.mtx"),
    ] {
        let subject = &mut bundle.plan.as_mut().unwrap()["matrices"][0];
        subject["name"] = "harmless".into();
        subject["source"] = source.into();
        bundle.save(&p.path("b.zip"), true).unwrap();
        let error = p.fail(2, &["bench", "--resume", "b.zip"]);
        let sentence = "to resume, pass the files of these matrices again: harmless";
        assert!(error.ends_with(sentence), "{error}");
        // The same with a journal.
        drop(Journal::create(&p.path("c.zip"), &bundle, true).unwrap());
        let error = p.fail(2, &["bench", "--resume", "c.zip"]);
        assert!(error.ends_with(sentence), "{error}");
        // Nor is another named file used in its place.
        let error = p.fail(2, &["bench", "secret.mtx", "--resume", "b.zip"]);
        assert!(error.ends_with(sentence), "{error}");
    }
}

#[test]
fn a_bundle_with_runs_on_a_gpu_is_not_continued_without_one_and_stays_as_it_is() {
    let p = program();
    let matrix = "gen:poisson2d?n=4";
    p.succeed(&["bench", matrix, "--runs", "1", "--kernels", "cpu/csr/serial", "-o", "b.zip"]);
    let mut bundle = open(&p, "b.zip");
    bundle.complete = false;
    let kernels = bundle.plan.as_mut().unwrap()["kernels"].as_array_mut().unwrap();
    kernels.push("cuda/csr/warp-shuffle".into());
    bundle.save(&p.path("b.zip"), true).unwrap();
    let error = p.fail(1, &["bench", "--resume", "b.zip"]);
    let sentence = "the bundle's plan has GPU kernels, which cannot run here: GPUs are turned off";
    assert!(error.contains(sentence), "{error}");
    assert_eq!(p.files(), ["b.html", "b.zip"]);
    assert_eq!(open(&p, "b.zip"), bundle);
}

#[test]
fn existing_files_stay_unless_force_is_given() {
    let p = program();
    let args = ["bench", "gen:diagonal?m=9", "--runs", "1", "--kernels", "cpu/csr/serial", "-q"];
    p.write("b.zip", "mine");
    p.write("b.csv", "mine");
    let b_zip = [&args[..], &["-o", "b.zip"]].concat();
    let b_csv = [&args[..], &["-o", "c.zip", "--csv", "b.csv"]].concat();
    for args in [&b_zip, &b_csv] {
        assert!(p.fail(1, args).contains("--force"));
    }
    assert_eq!(p.files(), ["b.csv", "b.zip"]);
    p.succeed(&[&b_zip[..], &["--force"]].concat());
    assert!(p.fail(1, &["export", "b.zip", "--csv", "b.csv"]).contains("--force"));
    assert_eq!(std::fs::read_to_string(p.path("b.csv")).unwrap(), "mine");
}

fn middle_of_entry(bundle: &[u8], name: &str) -> usize {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bundle)).unwrap();
    let entry = archive.by_name(name).unwrap();
    usize::try_from(entry.data_start().unwrap() + entry.compressed_size() / 2).unwrap()
}

#[test]
fn a_damaged_bundle_is_one_sentence() {
    let p = program();
    let args = ["bench", "gen:diagonal?m=9", "--runs", "1", "--kernels", "cpu/csr/serial", "-q"];
    p.succeed(&[&args[..], &["-o", "b.zip"]].concat());
    let whole = std::fs::read(p.path("b.zip")).unwrap();
    p.write("cut.zip", &whole[..whole.len() / 2]);
    // In the middle of an entry's contents: a byte between entries may never be read.
    let mut changed = whole.clone();
    changed[middle_of_entry(&whole, "runs.json")] ^= 0x55;
    p.write("changed.zip", changed);
    for name in ["cut.zip", "changed.zip"] {
        let error = p.fail(1, &["export", name, "--csv", "r.csv"]);
        assert!(error.contains(name), "{error}");
    }
    assert!(!p.path("r.csv").exists());
}

#[test]
fn a_reordered_matrix_is_benched_as_one_of_its_own() {
    let p = program();
    let bench = ["bench", "gen:road?m=2000", "--runs", "1", "--kernels", "cpu/csr/serial", "-q"];
    p.succeed(&[&bench[..], &["-o", "plain.zip"]].concat());
    p.succeed(&[&bench[..], &["--reorder", "rcm", "-o", "rcm.zip"]].concat());
    let (plain, rcm) = (open(&p, "plain.zip"), open(&p, "rcm.zip"));
    let (before, after) = (&plain.matrices[0].record, &rcm.matrices[0].record);
    assert_ne!((&before.id, &before.sha256), (&after.id, &after.sha256));
    let reordered = after.reordered.as_ref().unwrap();
    assert_eq!(reordered.profile, before.statistics.profile);
    assert!(after.statistics.profile < before.statistics.profile);
    let info = p.json(&["info", "gen:road?m=2000", "--reorder", "rcm", "--json"]);
    assert_eq!(info["sha256"], after.sha256.as_str());
    assert_eq!(info["reordered"]["lower_bandwidth"], before.statistics.lower_bandwidth);
    let text = p.succeed(&["info", "gen:road?m=2000", "--reorder", "rcm"]);
    assert!(text.contains("before rcm: bandwidth"), "{text}");
}

#[test]
fn rows_sorted_in_windows_and_kept_apart_are_parameters_of_the_runs() {
    let p = program();
    p.succeed(&[
        "bench",
        "gen:powerlaw?m=900&nnz=4000&max=300",
        "--runs",
        "1",
        "--kernels",
        "cpu/hll/{serial,guided}",
        "--threads",
        "2",
        "--sigma",
        "256",
        "--spill",
        "100",
        "-q",
        "-o",
        "b.zip",
    ]);
    for run in &open(&p, "b.zip").runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
        let named: Vec<(&str, &str)> =
            run.params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(named, [("hack_size", "32"), ("sigma", "256"), ("spill", "100")]);
    }
}

#[test]
fn the_plan_of_a_single_run_uses_the_singular() {
    let bench = ["bench", "gen:diagonal?m=9", "--kernels", "cpu/csr/serial", "--plan"];
    let plan = program().succeed(&[&bench[..], &["--runs", "1", "--warmup", "1"]].concat());
    let said = "\n1 run of 1 sample after 1 warm-up execution: 2 executions in total.\n";
    assert!(plan.contains(said), "{plan}");
}

#[test]
fn samples_are_taken_until_the_median_is_known_and_a_run_tells_how_well() {
    let p = program();
    let bench = ["bench", "gen:poisson2d?n=20", "--kernels", "cpu/csr/serial,cpu/coo/serial"];
    let until = ["--until", "20%", "--at-most", "5s"];
    let plan = p.succeed(&[&bench[..], &until, &["--plan"]].concat());
    assert!(
        plan.contains("2 runs of 10 to 1000 samples, until the median is known to within 20.0 %"),
        "{plan}"
    );
    assert!(plan.contains("up to 5.00 s per run, 10.0 s in total"), "{plan}");
    p.succeed(&[&bench[..], &until, &["-o", "b.zip"]].concat());
    for run in open(&p, "b.zip").runs {
        let until = run.until.unwrap();
        assert_eq!((until.asked, until.at_most_s), (0.2, 5.0));
        assert!((10..=1000).contains(&run.samples.len()), "{} samples", run.samples.len());
        assert_eq!(until.met, until.reached.unwrap() < 0.2);
    }
    let texts = sparsescope_tests::documents(&std::fs::read(p.path("b.zip")).unwrap());
    sparsescope_tests::follow_the_schema(&texts);
    // A continued measurement keeps the contents of the plan.
    let plan: serde_json::Value = serde_json::from_str(&entry(&p, "b.zip", "plan.json")).unwrap();
    assert_eq!(plan["settings"]["until"], serde_json::json!({ "share": 0.2, "at_most_s": 5.0 }));
    for wrong in [
        &["--until", "1%", "--runs", "5"][..],
        &["--at-most", "5s"],
        &["--until", "2"],
        &["--until", "1%", "--resume", "b.zip"],
    ] {
        p.fail(2, &[&["bench"], wrong].concat());
    }
}

#[test]
fn energy_that_cannot_be_read_is_refused_with_the_reason_and_the_times_are_kept() {
    let p = program();
    let bench = ["bench", "gen:poisson2d?n=6", "--kernels", "cpu/csr/serial", "--runs", "2", "-q"];
    let text = p.succeed(&[&bench[..], &["--energy", "-o", "b.zip"]].concat());
    let reason = "energy is measured only for CUDA kernels on one GPU";
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("No energy: 1 run: {reason}.")), "{text}");
    let bundle = open(&p, "b.zip");
    let run = &bundle.runs[0];
    assert_eq!((&run.energy, run.no_energy.as_deref()), (&None, Some(reason)));
    assert_eq!(run.samples.len(), 2);
    let texts = sparsescope_tests::documents(&std::fs::read(p.path("b.zip")).unwrap());
    sparsescope_tests::follow_the_schema(&texts);
    // A continued measurement measures energy too.
    let plan: serde_json::Value = serde_json::from_str(&entry(&p, "b.zip", "plan.json")).unwrap();
    assert_eq!(plan["settings"]["energy"], true);
    p.fail(2, &["bench", "--energy", "--resume", "b.zip"]);
    let plain = p.succeed(&[&bench[..], &["--json", "-o", "c.zip"]].concat());
    assert!(!plain.contains("energy"), "{plain}");
    assert!(!entry(&p, "c.zip", "plan.json").contains("energy"));
}

#[test]
fn a_bench_ends_with_a_step_that_works_here() {
    let p = program();
    let ended = |name: &str, variables: &[(&str, &str)]| {
        let args = ["bench", "gen:diagonal?m=9", "--kernels", "cpu/csr/serial", "--runs", "2"];
        let mut command = p.command(&[&args[..], &["-q", "-o", name]].concat());
        for unset in ["DISPLAY", "WAYLAND_DISPLAY", "SPARSESCOPE_WEB"] {
            command.env_remove(unset);
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    // A dummy page: two files are enough.
    std::fs::create_dir(p.path("web")).unwrap();
    p.write("web/index.html", "");
    p.write("web/standalone.html", "");
    let web = p.path("web");
    let page = ended("page.zip", &[("SPARSESCOPE_WEB", web.to_str().unwrap())]);
    let step = "Report: page.html\nNext:   `sparsescope export page.zip --html page.viewer.html`";
    assert!(page.contains(step), "{page}");
    let none = ended("none.zip", &[("SPARSESCOPE_WEB", "nowhere")]);
    let step = "Report: none.html\nNext:   `sparsescope export none.zip --csv runs.csv`";
    assert!(none.contains(step), "{none}");
    p.succeed(&["export", "none.zip", "--csv", "runs.csv"]);
}

#[test]
fn a_report_is_written_unless_it_is_unwanted_or_something_is_there_already() {
    let p = program();
    let bench = |more: &[&str]| {
        let args = ["bench", "gen:diagonal?m=9", "--runs", "2", "--kernels", "cpu/csr/serial"];
        p.succeed(&[&args[..], &["-q", "--force"], more].concat())
    };
    let written = bench(&["-o", "b.zip"]);
    assert!(written.contains("Report: b.html\n"), "{written}");
    let report = std::fs::read_to_string(p.path("b.html")).unwrap();
    assert!(report.starts_with("<!DOCTYPE html>") && report.contains("diagonal?m=9"));
    // The same as `export` writes.
    p.succeed(&["export", "b.zip", "--report", "again.html"]);
    assert_eq!(std::fs::read_to_string(p.path("again.html")).unwrap(), report);

    for (name, more) in [
        ("none.zip", &["--no-report"][..]),
        ("json.zip", &["--json"][..]),
        ("csv.zip", &["--csv", "-"][..]),
        ("plan.zip", &["--plan"][..]),
        ("part.zip", &["--shard", "1/1"][..]),
    ] {
        bench(&[&["-o", name], more].concat());
        assert!(!p.path(name).with_extension("html").exists(), "{name}");
    }
    // Without --force an existing file stays, whoever wrote it; with it, the file is replaced.
    let args = ["bench", "gen:diagonal?m=9", "--runs", "2", "--kernels", "cpu/csr/serial", "-q"];
    p.write("c.html", "mine");
    let kept = p.succeed(&[&args[..], &["-o", "c.zip"]].concat());
    assert!(kept.contains("Report: not written: c.html already exists"), "{kept}");
    assert_eq!(std::fs::read_to_string(p.path("c.html")).unwrap(), "mine");
    bench(&["-o", "c.zip"]);
    assert_ne!(std::fs::read_to_string(p.path("c.html")).unwrap(), "mine");
}

#[cfg(unix)]
#[test]
fn a_report_never_goes_through_a_link() {
    let p = program();
    p.write("mine.html", "mine");
    std::os::unix::fs::symlink(p.path("mine.html"), p.path("b.html")).unwrap();
    let args = ["bench", "gen:diagonal?m=9", "--runs", "2", "--kernels", "cpu/csr/serial", "-q"];
    let kept = p.succeed(&[&args[..], &["--force", "-o", "b.zip"]].concat());
    assert!(kept.contains("Report: not written: "), "{kept}");
    assert_eq!(std::fs::read_to_string(p.path("mine.html")).unwrap(), "mine");
}
