//! `sparsescope compare`: what changed between two bundles, and how certain that is.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};
use sparsescope_core::bundle::{Bundle, BundleError, Comparison, Limits, VerdictChange};
use sparsescope_core::record::{Run, RunKey, Subject};
use sparsescope_core::samples::{CONFIDENCE, Change, Ratio};

use super::bundle_args::CompareArgs;
use super::outcome::Outcome;
use super::output::{print, print_json};
use super::table::{counted, render, seconds, table};
use crate::utc::now;

/// Runs that a sentence or a list names before it gives the number of the rest.
const NAMED: usize = 5;

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<Outcome> {
    let (before, after) = (open(&args.before)?, open(&args.after)?);
    let comparison = Comparison::of(&before, &after);
    if args.json {
        print_json(&as_json(args, &before, &after, &comparison))?;
    } else {
        print(&as_text(args, &before, &after, &comparison))?;
    }
    for warning in &comparison.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(judge(args, &comparison))
}

/// Opens a bundle, or imports results of another program as one; reports what is left out of these.
pub(super) fn open(path: &Path) -> anyhow::Result<Bundle> {
    let bundle = Bundle::open_any(path, now(), &Limits::default())
        .map_err(without_path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    for sentence in bundle.left_out() {
        eprintln!("warning: {}: {sentence}", path.display());
    }
    Ok(bundle)
}

/// The error for a sentence that names the file: an error of the system would name it again.
pub(super) fn without_path(error: BundleError) -> anyhow::Error {
    match error {
        BundleError::Io { source, .. } => source.into(),
        error => error.into(),
    }
}

/// Exit code 3 if a limit was set and a run exceeds it or has a worse check result.
fn judge(args: &CompareArgs, comparison: &Comparison<'_>) -> Outcome {
    let Some(limit) = args.fail_above else { return Outcome::Success };
    let slower: Vec<String> = comparison
        .slower_than(limit)
        .map(|run| format!("{} ({})", run.key.words(run.subject.name()), run.ratio))
        .collect();
    if !slower.is_empty() {
        let runs = counted(slower.len(), "run is", "runs are");
        eprintln!("error: {runs} slower than {limit} x the time before: {}", some(&slower));
    }
    let is_worse = say_worse(comparison.wrong_now());
    // No measurements do not show that nothing became slower.
    let nothing = comparison.runs.is_empty() && !is_worse;
    if nothing {
        eprintln!(
            "error: no run was timed in both bundles, so --fail-above has nothing to compare"
        );
    }
    match slower.is_empty() && !is_worse {
        true if nothing => Outcome::Incomplete,
        true => Outcome::Success,
        false => Outcome::CheckFailed,
    }
}

/// Names the runs whose check result is worse than before on standard error; returns whether there are any.
pub(super) fn say_worse<'c, 'a: 'c>(
    changes: impl IntoIterator<Item = &'c VerdictChange<'a>>,
) -> bool {
    let named = |change: &VerdictChange<'_>| {
        let [before, after] = change.verdicts();
        format!("{} ({before} before, {after} now)", change.key.words(change.subject.name()))
    };
    let worse: Vec<String> = changes.into_iter().map(named).collect();
    if !worse.is_empty() {
        eprintln!("error: {}: {}", worse_checks(worse.len()), some(&worse));
    }
    !worse.is_empty()
}

/// `1 run has a worse check result than before`.
pub(super) fn worse_checks(runs: usize) -> String {
    let [one, many] =
        ["run has", "runs have"].map(|has| format!("{has} a worse check result than before"));
    counted(runs, &one, &many)
}

/// The first names, and the number of the rest.
pub(super) fn some(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    format!("{}{more}", shown.join("; "))
}

fn as_text(
    args: &CompareArgs,
    before: &Bundle,
    after: &Bundle,
    comparison: &Comparison<'_>,
) -> String {
    let headings =
        ["matrix", "kernel", "setting", "before", "after", "after/before", "95 % interval", ""];
    let mut list = table(&headings, &[3, 4, 5, 6]);
    let mut shown = 0;
    for run in &comparison.runs {
        let change = run.ratio.change();
        if change == Change::Unclear && !args.all {
            continue;
        }
        shown += 1;
        let medians = [run.before, run.after].map(|run| median(run).map_or("-".into(), seconds));
        let [before, after] = medians;
        let interval = run.ratio.interval;
        let interval = interval.map_or("-".into(), |(low, high)| format!("{low:.3} to {high:.3}"));
        list.add_row([
            run.subject.name().to_owned(),
            run.key.kernel.to_owned(),
            run.key.setting(),
            before,
            after,
            format!("{:.3}x", run.ratio.value),
            interval,
            change.as_str().to_owned(),
        ]);
    }
    let mut text = if shown > 0 { format!("{}\n", render(&list)) } else { String::new() };
    text += &comparison.summary();
    if comparison.untimed > 0 {
        let runs = counted(comparison.untimed, "run has", "runs have");
        text += &format!("{runs} no times to compare and the same check result in both.\n");
    }
    for change in &comparison.verdicts {
        let words = change.key.words(change.subject.name());
        let [before, after] = change.verdicts();
        text += &format!("{words}: {before} before, {after} after");
        let reason = change.after.reason().or(change.before.reason());
        text += &reason.map_or(String::from("\n"), |reason| format!(" ({reason})\n"));
    }
    for (missing, bundle, which) in
        [(&comparison.only_before, before, "first"), (&comparison.only_after, after, "second")]
    {
        if !missing.is_empty() {
            let subjects = bundle.subjects_by_id();
            let words = |(run, key): &(&Run, RunKey<'_>)| key.words(matrix_name(&subjects, run));
            let names: Vec<String> = missing.iter().map(words).collect();
            let runs = counted(missing.len(), "run is", "runs are");
            text += &format!("{runs} in the {which} bundle only: {}.\n", some(&names));
        }
    }
    text
}

fn matrix_name<'b>(subjects: &HashMap<&str, Subject<'b>>, run: &'b Run) -> &'b str {
    let matrix = subjects.get(run.matrix.as_str()).and_then(|subject| subject.matrix());
    matrix.map_or(run.matrix.as_str(), |record| record.name.as_str())
}

fn median(run: &Run) -> Option<f64> {
    run.figures.as_ref().map(|figures| figures.median_s)
}

fn as_json(
    args: &CompareArgs,
    before: &Bundle,
    after: &Bundle,
    comparison: &Comparison<'_>,
) -> Value {
    let described = |path: &Path, bundle: &Bundle| {
        json!({
            "path": path.display().to_string(),
            "label": bundle.label,
            "created": bundle.created,
            "runs": bundle.runs.len(),
        })
    };
    let runs = comparison.runs.iter().map(|run| -> Value {
        let times = [("before_s", run.before), ("after_s", run.after)];
        let times = times.map(|(name, run)| (name, json!(median(run))));
        let change = [("change", json!(run.ratio.change().as_str()))];
        let fields = key_fields(&run.key, run.subject.name()).into_iter().chain(times);
        fields.chain(ratio_fields(run.ratio)).chain(change).collect()
    });
    let only = |missing: &[(&Run, RunKey<'_>)], bundle: &Bundle| -> Vec<Value> {
        let subjects = bundle.subjects_by_id();
        let fields = missing.iter().map(|(run, key)| key_fields(key, matrix_name(&subjects, run)));
        fields.map(|fields| fields.into_iter().collect()).collect()
    };
    let mean = comparison.geometric_mean.map(ratio_fields);
    json!({
        "before": described(&args.before, before),
        "after": described(&args.after, after),
        "confidence": CONFIDENCE,
        "runs": runs.collect::<Vec<Value>>(),
        "faster": comparison.count(Change::Faster),
        "slower": comparison.count(Change::Slower),
        "unclear": comparison.count(Change::Unclear),
        "untimed": comparison.untimed,
        "geometric_mean": mean.map(|mean| mean.into_iter().collect::<Value>()),
        "verdicts": comparison.verdicts.iter().map(verdict_json).collect::<Vec<Value>>(),
        "only_before": only(&comparison.only_before, before),
        "only_after": only(&comparison.only_after, after),
        "warnings": comparison.warnings,
        "fail_above": args.fail_above,
        "above": args.fail_above.map(|limit| comparison.slower_than(limit).count()),
        "wrong_now": comparison.wrong_now().count(),
    })
}

pub(super) fn key_fields(key: &RunKey<'_>, matrix: &str) -> [(&'static str, Value); 10] {
    [
        ("matrix", json!(matrix)),
        ("sha256", json!(key.sha256)),
        ("source", json!(key.source)),
        ("kernel", json!(key.kernel)),
        ("precision", json!(key.precision)),
        ("params", json!(key.params.iter().collect::<BTreeMap<_, _>>())),
        ("device", json!(key.device)),
        ("threads", json!(key.threads)),
        ("block", json!(key.block)),
        ("hot", json!(key.hot)),
    ]
}

/// A run whose check ended differently.
pub(super) fn verdict_json(change: &VerdictChange<'_>) -> Value {
    let [before, after] = change.verdicts();
    let reason = &change.after.check.reason;
    let verdicts = [("before", json!(before)), ("after", json!(after)), ("reason", json!(reason))];
    key_fields(&change.key, change.subject.name()).into_iter().chain(verdicts).collect()
}

/// The ratio and its interval, null if there is none.
fn ratio_fields(ratio: Ratio) -> [(&'static str, Value); 3] {
    let (low, high) = ratio.interval.unzip();
    [("ratio", json!(ratio.value)), ("low", json!(low)), ("high", json!(high))]
}
