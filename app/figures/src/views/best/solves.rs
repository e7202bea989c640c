//! A sentence on which preconditioner reaches the solution first, including its setup, which the
//! time that ranks solves excludes.

use std::collections::BTreeMap;

use sparsescope_core::record::{Operation, Verdict};

use crate::model::{Model, RunOf, count, seconds, subject_key};
use crate::state::ViewState;
use crate::views::view::subject;

/// Which solve is first, including setup, on each matrix, and with times on the selected one; empty
/// without solves.
pub fn summary(model: &Model, state: &ViewState) -> String {
    let (mut first, mut solver) = (BTreeMap::new(), BTreeMap::new());
    let runs = model.runs(&state.filter).into_iter();
    let counts = |run: &RunOf<'_>| run.ranks() && run.run.hot && run.whole_solve_s().is_some();
    for run in runs.filter(counts) {
        let found = first.entry(run.key()).or_insert(run);
        if run.solves_before(found) {
            *found = run;
        }
        let found = solver.entry(run.key()).or_insert(run);
        if run.beats(found) {
            *found = run;
        }
    }
    let mut text = String::new();
    if first.len() > 1 {
        let mut wins: BTreeMap<String, usize> = BTreeMap::new();
        first.values().for_each(|run| *wins.entry(run.method()).or_default() += 1);
        let mut wins: Vec<(String, usize)> = wins.into_iter().collect();
        crate::order::sort_by(&mut wins, |a, b| b.1.cmp(&a.1));
        let wins = wins.iter().take(3).map(|(method, wins)| format!("{method} on {wins}"));
        let wins = wins.collect::<Vec<_>>().join(", ");
        text = format!("Fastest including setup: {wins}. ");
    }
    let wanted = subject(model, state).map(subject_key);
    let selected = wanted.filter(|key| first.contains_key(key));
    let Some(key) = selected.or_else(|| first.keys().next().cloned()) else { return text };
    let (Some(one), Some(other)) = (first.get(&key), solver.get(&key)) else { return text };
    text += &with_set_up(one).unwrap_or_default();
    if other.method() != one.method() || other.run.kernel != one.run.kernel {
        text += &once_set_up(other).unwrap_or_default();
    }
    text
}

/// The iterations of a solve and its setup, which its time excludes.
pub(super) fn beside_time(run: &RunOf<'_>) -> Option<String> {
    let iterations = match run.solved()?.iterations {
        1 => "1 iteration".to_owned(),
        iterations => format!("{} iterations", count(iterations)),
    };
    Some(format!("{iterations}, setup {}", seconds(run.set_up_s()?)))
}

/// At most this many reasons are given.
const REASONS: usize = 4;

/// How many solves their kernels do not support, by reason; `None` if there are none.
pub(super) fn unsupported(model: &Model, state: &ViewState) -> Option<String> {
    let mut solves = model.runs(&state.filter);
    solves.retain(|run| run.run.operation == Operation::Solve.as_str());
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for run in solves.iter().filter(|run| run.run.check.verdict == Verdict::Unsupported) {
        let reason = run.run.check.reason.as_deref().unwrap_or("no reason recorded");
        *reasons.entry(reason).or_default() += 1;
    }
    let all: usize = reasons.values().sum();
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    crate::order::sort_by(&mut reasons, |a, b| b.1.cmp(&a.1));
    let told = reasons.iter().take(REASONS);
    let told: Vec<String> = told.map(|(reason, runs)| format!("{reason} ({runs})")).collect();
    let more = if reasons.len() > REASONS { ", …" } else { "" };
    let told = told.join(", ");
    (all > 0).then(|| format!("{all} of {} solves are not supported: {told}{more}", solves.len()))
}

/// Its preconditioner, and where it ran.
fn way(run: &RunOf<'_>) -> String {
    let place = match (run.run.backend.as_str(), run.run.threads) {
        ("cpu", 1) => "1 thread".into(),
        ("cpu", threads) => format!("{threads} threads"),
        _ => run.run.device.clone(),
    };
    format!("{} ({}, {place})", run.method(), run.run.kernel)
}

fn with_set_up(run: &RunOf<'_>) -> Option<String> {
    let (whole, set_up) = (seconds(run.whole_solve_s()?), seconds(run.set_up_s()?));
    let (solve, iterations) = (seconds(run.solve_s()?), count(run.solved()?.iterations));
    let (way, name) = (way(run), run.name());
    Some(format!(
        "Fastest on {name} including setup: {way}, {whole} ({set_up} of setup, {solve} for {iterations} iterations)."
    ))
}

fn once_set_up(run: &RunOf<'_>) -> Option<String> {
    let (solve, iterations) = (seconds(run.solve_s()?), count(run.solved()?.iterations));
    let (way, set_up) = (way(run), seconds(run.set_up_s()?));
    Some(format!(
        " Once set up, {way} is fastest: {solve} for {iterations} iterations, after {set_up} of setup."
    ))
}
