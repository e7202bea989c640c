//! What is said of winners and rivals in the ranking that was chosen.

use sparsescope_core::record::Better;

use crate::model::{Model, RunOf, Standing, joules, metric_title, significant, small};
use crate::state::{RankBy, Ranking, ViewState};
use crate::why::{Clause, FEWER};

/// The name of what is ranked by, with its unit, and whether smaller values are better.
pub(super) fn measure(standing: &Standing<'_>) -> Option<(String, bool)> {
    match standing.ranking.by {
        RankBy::Energy => Some(("energy, mJ (lower is better)".into(), true)),
        RankBy::Rate => {
            let metric = standing.winner()?.metric()?;
            Some((metric_title(metric), metric.better == Better::Less))
        }
    }
}

/// What the ranking adds to the conditions.
pub(super) fn conditions(ranking: Ranking, winners: &[RunOf<'_>]) -> Vec<String> {
    let word = winners.first().map_or("run", RunOf::word);
    let energy = (ranking.by == RankBy::Energy).then(|| format!("energy per {word}"));
    let error = ranking.max_error.map(|error| format!("relative error at most {error:e}"));
    energy.into_iter().chain(error).collect()
}

/// Why the view has no row, in a sentence.
pub fn nothing(model: &Model, state: &ViewState) -> String {
    let Ranking { by, max_error } = state.best.ranking;
    if by == RankBy::Energy && !model.has_energy(&state.filter) {
        return NO_ENERGY.into();
    }
    let energy = if by == RankBy::Energy { " and an energy" } else { "" };
    let error =
        max_error.map(|error| format!(" and a recorded relative error of at most {error:e}"));
    let error = error.unwrap_or_default();
    format!("No matching run with warm caches{energy}{error} passed its check.")
}

/// Why runs cannot be ranked by energy.
pub const NO_ENERGY: &str =
    "No matching run has an energy: bench --energy measures it for CUDA kernels.";

/// Why the winner wins, as a sentence.
pub(super) fn why(standing: &Standing<'_>) -> Option<String> {
    let winner = standing.winner()?;
    let why = match standing.ranking.by {
        RankBy::Rate => winner.why(),
        RankBy::Energy => {
            let energy = winner.run.energy.as_ref()?;
            let (taken, watts) = (joules(energy.joules), significant(energy.watts));
            let start = format!("Takes {taken} per {} at {watts} W", winner.word());
            let fastest = fastest(standing)?;
            if fastest.index == winner.index {
                format!("{start}, and is the fastest of these.")
            } else {
                let [time, power] = ratios(winner, fastest)?.map(times);
                let kernel = fastest.run.kernel_and_precision();
                format!(
                    "{start}: {time} the time of {kernel}, the fastest of these, at {power} its power."
                )
            }
        }
    };
    match standing.ranking.max_error.and(winner.relative_error()) {
        Some(error) => Some(format!("{why} Its relative error is {}.", small(error))),
        None => Some(why),
    }
}

/// The same in a clause; `csr` is the size of CSR in its precision, in bytes.
pub(super) fn clause(standing: &Standing<'_>, csr: Option<u64>) -> Option<Clause> {
    let winner = standing.winner()?;
    match standing.ranking.by {
        RankBy::Energy => {
            let limit = format!("{} W", significant(winner.run.energy.as_ref()?.watts));
            let fastest = fastest(standing)?;
            let reason = match fastest.index == winner.index {
                true => "also the fastest".into(),
                false => {
                    let [_, power] = ratios(winner, fastest)?.map(times);
                    format!("{power} the power of the fastest")
                }
            };
            Some(Clause { reason, limit })
        }
        RankBy::Rate => {
            let clause = winner.clause(csr);
            match standing.ranking.max_error.and(fewer_bits(winner)) {
                Some(reason) => Some(Clause { reason, ..clause }),
                None => Some(clause),
            }
        }
    }
}

/// The fastest run on the winner's device.
fn fastest<'s, 'a>(standing: &'s Standing<'a>) -> Option<&'s RunOf<'a>> {
    let winner = standing.winner()?;
    let others = standing.runs.iter().filter(|run| run.is_on_machine_of(winner));
    others.reduce(|fastest, run| if run.beats(fastest) { run } else { fastest })
}

/// The time and the power of a run over those of another.
fn ratios(run: &RunOf<'_>, other: &RunOf<'_>) -> Option<[f64; 2]> {
    let numbers = |run: &RunOf<'_>| Some([run.figures()?.median_s, run.run.energy.as_ref()?.watts]);
    let ([time, watts], [other_time, other_watts]) = (numbers(run)?, numbers(other)?);
    Some([time / other_time, watts / other_watts])
}

/// How many bytes fewer bits save against CSR in f64.
fn fewer_bits(winner: &RunOf<'_>) -> Option<String> {
    let precision = &winner.run.precision;
    let formats = &winner.matrix()?.statistics.formats;
    let csr = formats.iter().find(|size| size.format == "csr")?.bytes;
    let bytes = winner.run.costs.format_bytes;
    let fewer = 1.0 - bytes as f64 / csr as f64;
    let is_reason = precision != "f64" && bytes > 0 && fewer >= FEWER;
    is_reason.then(|| format!("{precision}: {:.0} % fewer bytes than CSR in f64", 100.0 * fewer))
}

fn times(ratio: f64) -> String {
    format!("{}×", significant(ratio))
}

/// A rival's description, from its share of the best.
pub(super) fn rival(standing: &Standing<'_>, run: &RunOf<'_>, share: f64) -> Option<String> {
    let score = run.score(standing.ranking.by)?;
    let (score, share) = match standing.ranking.by {
        RankBy::Rate => {
            let unit = run.metric().map_or("", |metric| metric.unit.as_str());
            let share = format!("{:.0} % of the best rate", share * 100.0);
            (format!("{} {unit}", significant(score)), share)
        }
        RankBy::Energy => (joules(score / 1e3), format!("{} the least energy", times(1.0 / share))),
    };
    let score = run.with_setting(&score, ", ");
    let error = standing.ranking.max_error.and(run.relative_error());
    let error = error.map(|error| format!(", relative error {}", small(error)));
    let (kernel, name) = (run.run.kernel_and_precision(), run.name());
    let (error, bundle) = (error.unwrap_or_default(), run.bundle.label());
    Some(format!("{kernel} on {name}: {score}, {share}{error} ({bundle})"))
}
