//! Which solve is first including its setup, which the time that ranks solves excludes, and what
//! else is known of solves.

use std::collections::BTreeMap;

use sparsescope_core::record::Verdict;

use crate::model::{Model, RunOf, count, seconds};
use crate::operation::presentation;
use crate::state::{RankBy, ViewState};

/// The solve of each subject that is first including its setup, by the subject's key; empty without
/// solves, and if they are ranked by energy, since that of the setup is not measured.
pub(super) fn first_with_setup<'a>(
    model: &'a Model,
    state: &ViewState,
) -> BTreeMap<String, RunOf<'a>> {
    let mut first = BTreeMap::new();
    let ranking = state.best.ranking;
    if ranking.by == RankBy::Energy {
        return first;
    }
    let counts = |run: &RunOf<'_>| run.competes(ranking) && run.whole_solve_s().is_some();
    for run in model.runs(&state.filter).into_iter().filter(counts) {
        let found = first.entry(run.key()).or_insert(run);
        if run.solves_before(found) {
            *found = run;
        }
    }
    first
}

/// The solve of a subject that is first including its setup.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// Its preconditioner.
    pub(crate) method: String,
    /// What it is and its times, as a sentence.
    pub(crate) words: String,
}

impl Whole {
    pub(super) fn of(run: &RunOf<'_>) -> Option<Self> {
        let (whole, setup) = (seconds(run.whole_solve_s()?), seconds(run.set_up_s()?));
        let (solve, iterations) = (seconds(run.solve_s()?), count(run.solved()?.iterations));
        let (method, kernel) = (run.method(), &run.run.kernel);
        let place = match (run.run.is_on_cpu(), run.run.threads) {
            (true, 1) => "1 thread".into(),
            (true, threads) => format!("{threads} threads"),
            (false, _) => run.run.device.clone(),
        };
        let words = format!(
            "Fastest including setup: {method} ({kernel}, {place}), {whole} ({setup} of setup, {solve} for {iterations} iterations)."
        );
        Some(Self { method, words })
    }
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
    solves.retain(|run| presentation(&run.run.operation).steps.after_setup);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for run in solves.iter().filter(|run| run.run.check.verdict == Verdict::Unsupported) {
        let reason = run.run.check.reason.as_deref().unwrap_or("no reason recorded");
        *reasons.entry(reason).or_default() += 1;
    }
    let all: usize = reasons.values().sum();
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    sparsescope_core::order::sort_by(&mut reasons, |a, b| b.1.cmp(&a.1));
    let told = reasons.iter().take(REASONS);
    let told: Vec<String> = told.map(|(reason, runs)| format!("{reason} ({runs})")).collect();
    let more = if reasons.len() > REASONS { ", …" } else { "" };
    let told = told.join(", ");
    (all > 0).then(|| format!("{all} of {} solves are not supported: {told}{more}", solves.len()))
}
