//! `sparsescope track check`: whether the runs of a bundle are slower than those of a history.

use serde_json::{Value, json};
use sparsescope_core::bundle::{JudgedRun, Timeline};
use sparsescope_core::samples::{Basis, Change};

use super::comment::markdown;
use super::found::{Found, HEADER, cells, changed, newest_value};
use super::history::history;
use crate::cli::compare::{key_fields, open, say_worse, some, verdict_json};
use crate::cli::outcome::Outcome;
use crate::cli::output::{check_form, check_result, keep, print_beside, print_json, say_written};
use crate::cli::table::{counted, render, table};
use crate::cli::track_args::TrackCheckArgs;

pub(super) fn run(args: &TrackCheckArgs, quiet: bool) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.markdown {
        check_result(path, args.force, args.json)?;
        check_form(path, &["Markdown"])?;
    }
    let new = open(&args.bundle)?;
    let mut bundles = history(&args.against)?;
    bundles.retain(|bundle| *bundle != new);
    let newest = bundles.len();
    bundles.push(new);
    let anchor = args.anchor.anchor.as_deref();
    let timelines = Timeline::all(&bundles, anchor);
    let found = Found::of(args, &bundles, newest, &timelines);
    if let Some(path) = &args.markdown {
        keep(path, args.force, markdown(&found, args.link.as_deref()).as_bytes())?;
    }
    match args.json {
        true => print_json(&as_json(&found))?,
        false => print_beside(&as_text(&found), args.markdown.as_deref())?,
    }
    if let Some(path) = &args.markdown {
        say_written(path, quiet, "the result as Markdown");
    }
    found.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
    Ok(judge(&found))
}

/// A table of what changed, and the summary.
fn as_text(found: &Found<'_, '_>) -> String {
    let mut list = table(&[&HEADER[..], &[""]].concat(), &[3, 4, 5, 6]);
    let shown = |run: &&JudgedRun<'_, '_>| found.args.all || run.change != Change::Unclear;
    let mut any = false;
    for run in found.runs.iter().filter(shown) {
        any = true;
        list.add_row(cells(run).into_iter().chain([run.change.as_str().to_owned()]));
    }
    let mut text = if any { format!("{}\n", render(&list)) } else { String::new() };
    text += &found.summary();
    if found.not_compared > 0 {
        let runs = counted(found.not_compared, "run has", "runs have");
        text += &format!("{runs} no earlier measurement on this machine.\n");
    }
    text
}

fn as_json(found: &Found<'_, '_>) -> Value {
    let runs = found.runs.iter().map(|run| -> Value {
        let JudgedRun { timeline, shift, .. } = run;
        let (low, high) = shift.interval();
        let now = newest_value(run);
        let basis = match shift.basis {
            Basis::Spread => "spread",
            Basis::Samples => "samples",
        };
        let fields = [
            ("relative", json!(timeline.is_relative)),
            ("before", json!(now / shift.ratio)),
            ("after", json!(now)),
            ("ratio", json!(shift.ratio)),
            ("low", json!(low)),
            ("high", json!(high)),
            ("p_slower", json!(shift.slower)),
            ("p_faster", json!(shift.faster)),
            ("detectable", json!(found.detectable(shift))),
            ("earlier", json!(run.earlier)),
            ("basis", json!(basis)),
            ("change", json!(run.change.as_str())),
        ];
        key_fields(&timeline.key, timeline.subject.name()).into_iter().chain(fields).collect()
    });
    json!({
        "bundle": found.args.bundle.display().to_string(),
        "against": found.args.against.display().to_string(),
        "bundles": found.bundles,
        "anchor": found.args.anchor.anchor,
        "min_effect": found.args.min_effect,
        "false_alarms": found.args.false_alarms,
        "runs": runs.collect::<Vec<Value>>(),
        "slower": found.count(Change::Slower),
        "faster": found.count(Change::Faster),
        "unclear": found.count(Change::Unclear),
        "not_compared": found.not_compared,
        "wrong_now": found.worse.iter().map(verdict_json).collect::<Vec<Value>>(),
        "warnings": found.warnings(),
    })
}

/// Exit code 3 if a run became slower or has a worse check result.
fn judge(found: &Found<'_, '_>) -> Outcome {
    let slower = found.runs.iter().filter(|run| run.change == Change::Slower);
    let slower: Vec<String> = slower
        .map(|run| {
            let words = run.timeline.key.words(run.timeline.subject.name());
            let [change, ..] = changed(&run.shift);
            format!("{words} ({change})")
        })
        .collect();
    if !slower.is_empty() {
        let runs = counted(slower.len(), "run", "runs");
        eprintln!("error: {runs} became slower: {}", some(&slower));
    }
    let is_worse = say_worse(&found.worse);
    match slower.is_empty() && !is_worse {
        true => Outcome::Success,
        false => Outcome::CheckFailed,
    }
}
