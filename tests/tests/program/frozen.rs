//! What a restructuring must leave unchanged: units of plans, keys of runs, what is resumed, and what the golden
//! bundles say. The listings are in `tests/frozen`; `UPDATE_SNAPSHOTS=1` rewrites them. A line that begins with `# `
//! says what the lines below it are of: a command, a plan or a bundle.
//!
//! `before.zip` and `before.jsonl` are a bundle and a journal of schema 1.11, of interrupted runs of `bench
//! 'gen:poisson2d?n=4' 'gen:poisson2d?n=70' --kernels cpu/csr/serial,cpu/hll/serial --hack-size 8,32 --sigma 16,1
//! --precision f64,f32` and `bench 'gen:poisson2d?n=6' 'gen:poisson2d?n=70' --operation solve --kernels cpu/pcg/serial
//! --precond jacobi,fsai --tol 1e-8,1e-10`, both with `--threads 1 --runs 2 --warmup 1 --spy-bytes 0 --label before`.
//! Two runs were then deleted from the bundle. They are never regenerated.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use sparsescope_core::bundle::{Bundle, Journal, Limits};
use sparsescope_core::experiment::{
    Configuration, Key, Portion, Settings, Units, split, table_position,
};
use sparsescope_core::kernel::kernel;
use sparsescope_core::matrix::sha256;
use sparsescope_core::record::{Check, Metric, Run, Source, SubjectRecord, Verdict};
use sparsescope_tests::{Killed, Program};

use crate::common::{open, program};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const BUNDLE: &[u8] = include_bytes!("../../frozen/before.zip");

const JOURNAL: &str = include_str!("../../frozen/before.jsonl");

fn path(name: &str) -> PathBuf {
    Path::new(ROOT).join("tests/frozen").join(name)
}

/// What a listing is of: its lines that begin with `# `.
fn titles(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path(name)).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("# ")).map(str::to_owned).collect()
}

/// Compares a listing with its file, or rewrites the file.
fn frozen(name: &str, found: &str) {
    let path = path(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let mut lines = (1..).zip(expected.lines().zip(found.lines()));
    let first = lines.find(|(_, (expected, found))| expected != found);
    let is_same = expected == found;
    assert!(is_same, "{} differs, UPDATE_SNAPSHOTS=1 rewrites it: {first:#?}", path.display());
}

/// What a plan runs: a line per unit, with the requested parameters, the runs and the parameters in force; the order
/// in which bundles list the runs; the units of each part.
fn listing(plan: &Value) -> String {
    let settings: Settings = serde_json::from_value(plan["settings"].clone()).unwrap();
    let ids = plan["kernels"].as_array().unwrap().iter();
    let kernels: Vec<_> = ids.map(|id| kernel(id.as_str().unwrap()).unwrap()).collect();
    let all = Configuration::all(&kernels, &settings);
    let units = Units::among(&all);
    let subject = subject();
    let mut text = String::new();
    for unit in 0..units.count() {
        let portion = Portion { subject: 0, units: std::iter::once(unit..unit + 1).collect() };
        let of: Vec<&Configuration> = units.places(&portion).map(|place| &all[place]).collect();
        let runs: Vec<String> =
            of.iter().map(|c| format!("{} {:?}", c.threads, c.temperature)).collect();
        let run = measured(of[0]);
        let key = run.key(&subject);
        let (asked, runs) = (&of[0].parameters, runs.join(", "));
        text += &format!("{unit} {} [{asked}] {runs}: {}\n", run.kernel, key.setting());
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&k| (table_position(all[k].kernel.id), all[k].key()));
    text += &format!("order {order:?}\n");
    let matrices = plan["matrices"].as_array().unwrap().iter();
    let costs: Vec<u64> =
        matrices.map(|matrix| matrix["cost"].as_u64().unwrap_or_default()).collect();
    for of in [2, 7] {
        for (k, part) in split(&costs, units.count(), of).iter().enumerate() {
            let portions: Vec<String> =
                part.iter().map(|p| format!("{} {:?}", p.subject, p.units)).collect();
            text += &format!("{}/{of} {}\n", k + 1, portions.join(", "));
        }
    }
    text
}

fn subject() -> SubjectRecord {
    SubjectRecord {
        id: "subject".to_owned(),
        name: "subject".to_owned(),
        kind: "matrix".to_owned(),
        source: Source::Generated,
        generator: None,
        sha256: "0".to_owned(),
        sizes: BTreeMap::new(),
        read_seconds: None,
    }
}

/// A run that passed, with all parameters in force.
fn measured(of: &Configuration) -> Run {
    let run = Run {
        params: of.kernel.in_force(&of.parameters),
        check: Check { verdict: Verdict::Pass, ..Check::default() },
        ..of.empty_run("subject", "machine", "device")
    };
    assert_eq!(Key::of(&run), of.key());
    run
}

/// What `--plan` prints, except the size of the bundle and empty lines.
fn printed(plan: &str) -> String {
    let lines =
        plan.lines().filter(|line| !line.is_empty() && !line.starts_with("The bundle takes"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The journal of an experiment that has not run anything yet.
fn begun(plan: &Value, part: u32) -> String {
    let mut header: Value = serde_json::from_str(JOURNAL.lines().next().unwrap()).unwrap();
    header["plan"] = plan.clone();
    header["shard"] = json!({ "part": part, "of": 3 });
    format!("{header}\n")
}

#[test]
fn command_lines_give_the_same_units_and_parts() {
    let p = program();
    let mut text = String::new();
    for command in titles("commands.txt") {
        let args: Vec<&str> = command.split(' ').collect();
        // The bundle of a part with nothing to run has the whole plan.
        let nothing = ["--shard", "99999/99999", "-q", "--force", "-o", "plan.zip"];
        p.succeed(&[&args[..], &nothing].concat());
        let plan = open(&p, "plan.zip").plan.unwrap();
        text += &format!("# {command}\n{plan}\n{}", listing(&plan));
        for shard in ["1/3", "2/3", "3/3"] {
            text += &printed(&p.succeed(&[&args[..], &["--plan", "--shard", shard]].concat()));
        }
    }
    frozen("commands.txt", &text);
}

#[test]
fn plans_for_gpus_and_ranks_give_the_same_units_and_parts() {
    let p = program();
    let mut text = String::new();
    for title in titles("plans.txt") {
        let plan = serde_json::from_str(&title).unwrap();
        text += &format!("# {title}\n{}", listing(&plan));
        // Without an adapter or ranks the program does not plan for them.
        if title.contains("wgpu/") || title.contains("mpi/") {
            continue;
        }
        for part in 1..=3 {
            p.write("gpu.zip.partial.jsonl", begun(&plan, part));
            text += &printed(&p.succeed(&["bench", "--resume", "gpu.zip", "--plan"]));
        }
    }
    frozen("plans.txt", &text);
}

#[test]
fn runs_have_the_same_keys() {
    let p = program();
    let usual = "--threads 1 --runs 1 --warmup 0 --spy-bytes 0 --no-report -q";
    let titles = titles("keys.txt");
    let start = |(k, command): (usize, &String)| {
        let line = format!("{command} {usual} -o {k}.zip");
        let args: Vec<&str> = line.split(' ').collect();
        Killed(p.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let started: Vec<Killed> = titles.iter().enumerate().map(start).collect();
    let mut text = String::new();
    for (k, (command, mut process)) in titles.iter().zip(started).enumerate() {
        assert!(process.0.wait().unwrap().success(), "{command}");
        let bundle = open(&p, &format!("{k}.zip"));
        text += &format!("# {command}\n");
        for run in &bundle.runs {
            let run = Run { device: "device".to_owned(), ..run.clone() };
            let key = bundle.key(&run).unwrap();
            let words = key.words(bundle.subject(&run.matrix).unwrap().name());
            text += &format!("{} {:?} {words}\n", &key.digest()[..12], run.asked);
        }
    }
    frozen("keys.txt", &text);
}

/// A run of `cpu/hll/serial` with these requested and actual parameters.
fn with(parameters: &[(&str, &str)]) -> Run {
    let parameters =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let parameters: BTreeMap<String, String> = parameters.collect();
    let usual = Configuration::usual(kernel("cpu/hll/serial").unwrap());
    Run { asked: parameters.clone(), params: parameters, ..measured(&usual) }
}

/// Runs that differ only in what this version does not know are different runs.
#[test]
fn keys_keep_names_and_values_of_other_versions() {
    let subject = subject();
    let usual = with(&[]);
    let other = with(&[("future", "7")]);
    assert_ne!(Key::of(&usual), Key::of(&other));
    assert_ne!(
        Key::of(&with(&[("future", "8"), ("sigma", "16")])),
        Key::of(&with(&[("sigma", "16")]))
    );
    assert_ne!(usual.key(&subject), other.key(&subject));
    assert_eq!(other.key(&subject).setting(), "1 thread, future=7");
    // Defaults are not stored; values that this version rejects are.
    assert_eq!(Key::of(&usual), Key::of(&with(&[("hack_size", "32")])));
    for value in ["7", "many", ""] {
        let unknown = with(&[("hack_size", value)]);
        assert_ne!(Key::of(&usual), Key::of(&unknown));
        assert_ne!(Key::of(&unknown), Key::of(&with(&[("hack_size", "8")])));
        assert_ne!(usual.key(&subject), unknown.key(&subject));
    }
    // A parameter that the kernel does not take counts.
    assert_ne!(Key::of(&usual), Key::of(&with(&[("precond", "amg")])));
    let strange =
        Run { kernel: "cpu/new/kernel".to_owned(), precision: "f16".to_owned(), ..usual.clone() };
    assert_ne!(Key::of(&usual), Key::of(&strange));
}

/// The name of this environment in the two frozen files: what was measured before.
const BEFORE: &str = "amd-epyc-2t";

/// The runs of a bundle as text.
fn texts(zip: &[u8]) -> Vec<String> {
    let documents = sparsescope_tests::documents(zip);
    let (_, text) = documents.iter().find(|(name, _)| name == "runs.json").unwrap();
    let document: Value = serde_json::from_str(text).unwrap();
    document["runs"].as_array().unwrap().iter().map(Value::to_string).collect()
}

/// The runs of a journal as text; their histories are entries of their own in a bundle.
fn journal_texts(journal: &str) -> Vec<String> {
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let without_history = |mut line: Value| {
        let run = line.get_mut("run")?;
        run.as_object_mut()?.shift_remove("history");
        Some(run.to_string())
    };
    lines.filter_map(without_history).collect()
}

/// Resumes `before.zip`. Lists all runs, which were kept and which were measured now.
fn resume(p: &Program, before: &[String], known: &Bundle) -> String {
    p.succeed(&["bench", "--resume", "before.zip", "-q", "--no-report"]);
    let after = texts(&std::fs::read(p.path("before.zip")).unwrap());
    for text in before {
        assert_eq!(after.iter().filter(|other| *other == text).count(), 1, "{text}");
    }
    let bundle = open(p, "before.zip");
    assert!(bundle.complete && known.runs.iter().all(|run| bundle.runs.contains(run)));
    let is_new = |run: &&Run| run.environment != BEFORE;
    assert_eq!(bundle.runs.iter().filter(is_new).count() + before.len(), after.len());
    let line = |run: &Run| {
        let word = if is_new(&run) { "new " } else { "kept" };
        format!("{word} {} {} {} {:?}\n", run.matrix, run.kernel, run.precision, run.asked)
    };
    bundle.runs.iter().map(line).collect()
}

#[test]
fn resume_runs_what_a_bundle_and_a_journal_lack_and_keeps_the_rest_byte_for_byte() {
    let p = program();
    p.write("before.zip", BUNDLE);
    let known = Bundle::read(BUNDLE, &Limits::default()).unwrap();
    let mut text = format!("# bundle\n{}", resume(&p, &texts(BUNDLE), &known));

    // Of another version: a parameter that this one does not know, and a value. Neither run stands for one of
    // this version.
    let last = JOURNAL.lines().next_back().unwrap();
    let asked = r#""asked":{"precond":"jacobi","tol":"1e-8"}"#;
    let future = last
        .replace(asked, r#""asked":{"future":"7"}"#)
        .replace("\"max_iter\"", r#""future":"7","max_iter""#);
    let value =
        last.replace(asked, r#""asked":{"precond":"amg"}"#).replace("\"jacobi\"", "\"amg\"");
    for (title, journal) in [
        ("journal", JOURNAL.to_owned()),
        (
            "journal with an unknown name and an unknown value",
            format!("{JOURNAL}{future}\n{value}\n"),
        ),
    ] {
        let p = program();
        p.write("before.zip.partial.jsonl", &journal);
        let known =
            Journal::recover(&p.path("before.zip.partial.jsonl"), &Limits::default()).unwrap();
        text += &format!("# {title}\n{}", resume(&p, &journal_texts(&journal), &known));
        assert_eq!(p.files(), ["before.zip"]);
    }
    frozen("resumed.txt", &text);
}

#[test]
fn plans_of_other_versions_are_refused_in_a_sentence() {
    let p = program();
    let header = JOURNAL.lines().next().unwrap();
    for (now, then, sentence) in [
        (
            r#""tol":["#,
            r#""future":["#,
            "cannot read the bundle's plan: unknown parameter `future`",
        ),
        (
            r#""jacobi","#,
            r#""amg","#,
            "plan: precond is `amg`: expected none or jacobi or symgs or fsai",
        ),
        (
            r#"["f64"]"#,
            r#"["f16"]"#,
            "plan: unknown variant `f16`, expected one of `f64`, `f32`, `f32:f64`, `bf16:f32`, `f16:f32`",
        ),
        ("cpu/pcg/serial", "cpu/new/kernel", "this version has no kernel `cpu/new/kernel`"),
        (
            r#"n":"solve""#,
            r#"n":"future""#,
            "the operation `future`, which this version of bench does not know",
        ),
        (r#""major":1"#, r#""major":2"#, "reads only up to schema 1: update it"),
    ] {
        p.write("x.zip.partial.jsonl", format!("{}\n", header.replacen(now, then, 1)));
        let error = p.fail(1, &["bench", "--resume", "x.zip", "--plan"]);
        assert!(error.ends_with(sentence), "{error}");
    }
    // Unknown names and values in runs are read and written as they are.
    let mut bundle = Bundle::read(BUNDLE, &Limits::default()).unwrap();
    for (name, value) in [("future", "7"), ("hack_size", "7")] {
        let mut run = bundle.runs[0].clone();
        run.asked.insert(name.to_owned(), value.to_owned());
        run.params.insert(name.to_owned(), value.to_owned());
        bundle.runs.push(run);
    }
    assert_eq!(Bundle::read(&bundle.to_bytes().unwrap(), &Limits::default()).unwrap(), bundle);
}

/// A listing longer than this is stored as its digest.
const MOST_RUNS: usize = 100;

#[test]
fn golden_bundles_have_the_same_keys_labels_and_metrics() {
    let p = program();
    let mut text = String::new();
    for folder in ["tests/golden", "app/example"] {
        let files = std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
        let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "zip"));
        paths.sort();
        for path in paths {
            let bundle = Bundle::open(&path, &Limits::default()).unwrap();
            let names = bundle.subjects_by_id();
            let line = |run: &Run| {
                let key = bundle.key(run).unwrap();
                let words = key.words(names[run.matrix.as_str()].name());
                let (label, digest) = (run.kernel_and_precision(), key.digest());
                let metric = run.metric.as_ref();
                let text =
                    |m: &Metric| format!("{} {} {} {:?}", m.name, json!(m.value), m.unit, m.better);
                let metric = metric.map(text).unwrap_or_default();
                format!("{} {label} | {words} | {} | {metric}\n", &digest[..12], run.check.as_str())
            };
            let runs: String = bundle.runs.iter().map(line).collect();
            let csv = p.succeed(&["export", path.to_str().unwrap(), "--csv", "-"]);
            let csv = sha256(csv.as_bytes());
            let (file, label) = (path.file_name().unwrap().display(), bundle.label.as_deref());
            text += &format!("# {folder}/{file} {label:?} {} runs, CSV {csv}\n", bundle.runs.len());
            text += &match bundle.runs.len() {
                0..=MOST_RUNS => runs,
                _ => format!("{}\n", sha256(runs.as_bytes())),
            };
        }
    }
    frozen("bundles.txt", &text);
}
