//! A setup in numbers and in words.

use super::subject::Subject;
use crate::model::{Model, count, significant};
use crate::set_up::{SetUp, Systems};
use crate::state::ViewState;
use crate::trial::Trial;
use crate::views::spy::index;

/// Describes the systems.
fn systems_words(of: &Systems, before: &str) -> String {
    let systems = match of.count {
        1 => "1 dense system of m rows".to_owned(),
        many => format!("{} dense systems of m rows each", index(many)),
    };
    let largest = index(of.largest);
    let work = count(of.work as u64);
    format!("{before}{systems}, m at most {largest}, with a sum of m³ of {work}.")
}

/// Sentences about a setup, and about the row whose system is shown.
pub fn words(set_up: &SetUp, row: Option<u32>) -> Vec<String> {
    let mut words = vec![systems_words(&set_up.alone, "")];
    if let Some(alpha) = set_up.asked.merge {
        let share = set_up.merged.work / set_up.alone.work.max(1.0) * 100.0;
        let alpha = crate::model::value(alpha);
        let mut merged = systems_words(&set_up.merged, &format!("Merged with α = {alpha}: "));
        merged.pop();
        words.push(format!("{merged}, {} % of the sum without merging.", significant(share)));
        let group = row.and_then(|row| set_up.groups.get(row as usize));
        if let (Some(row), Some(group)) = (row, group) {
            let others: Vec<usize> = (0..set_up.rows())
                .filter(|i| set_up.groups.get(*i) == Some(group) && *i != row as usize)
                .collect();
            let named: Vec<String> = others.iter().take(6).map(|i| index(*i)).collect();
            words.push(match (others.len(), named.join(", ")) {
                (0, _) => format!("Row {} does not share its system.", index(row as usize)),
                (1, name) => {
                    format!("Row {} shares its system with row {name}.", index(row as usize))
                }
                (many, names) => format!(
                    "Row {} shares its system with {} rows: {names}{}",
                    index(row as usize),
                    index(many),
                    if many > 6 { ", …" } else { "." }
                ),
            });
        }
    }
    words.extend(trial_words(set_up));
    words
}

/// Describes how well the preconditioner works.
fn trial_words(set_up: &SetUp) -> Option<String> {
    let trials = set_up.trials()?;
    let steps = |of: &Trial| {
        of.iterations
            .map_or("no convergence".to_owned(), |count| format!("{} iterations", index(count)))
    };
    Some(format!(
        "Conjugate gradients to a relative residual of 1e-10, for a pseudorandom b: {} without a \
         preconditioner, {} with Jacobi, {} with G. An iteration with G reads {} times as many \
         nonzeros.",
        steps(&trials.none),
        steps(&trials.jacobi),
        steps(&trials.fsai),
        significant(trials.cost),
    ))
}

/// Questions of lessons about the matrix and its setup; questions about a row refer to the one
/// whose system is shown.
const ASKED: [&str; 32] = [
    "name",
    "rows",
    "columns",
    "entries",
    "filtered",
    "pattern",
    "merged",
    "factor",
    "ratio",
    "filtered-out",
    "added",
    "dropped",
    "systems",
    "largest",
    "work",
    "groups",
    "merged-largest",
    "merged-work",
    "row",
    "places",
    "power",
    "full",
    "iterations",
    "iterations-none",
    "iterations-jacobi",
    "condition",
    "condition-none",
    "condition-jacobi",
    "cost",
    "effort",
    "effort-none",
    "effort-jacobi",
];

/// Returns whether this question exists for this view; settings may follow after `;`.
pub(in crate::views) fn is_known(asked: &str) -> bool {
    ASKED.contains(&asked.split(';').next().unwrap_or_default())
}

/// The answer for this state.
pub(in crate::views) fn number(
    asked: &str,
    model: &Model,
    state: &ViewState,
) -> Result<String, String> {
    let subject = Subject::of(model, state)?;
    let whole = |of: usize| Ok(index(of));
    match asked {
        "name" => return Ok(subject.name),
        "rows" => return whole(subject.a.rows()),
        "columns" => return whole(subject.a.cols()),
        "entries" => return whole(subject.a.nnz()),
        _ => {}
    }
    let found = subject.set_up.get(&subject.a, subject.asked, true);
    let set_up = match found {
        Some(Ok(set_up)) => set_up,
        Some(Err(why)) => return Err(why.clone()),
        None => return Err("the setup is not computed yet".into()),
    };
    let counts = &set_up.counts;
    let row = || state.fsai.row.ok_or("no row is selected");
    match asked {
        "filtered" => whole(counts.filtered),
        "filtered-out" => whole(counts.matrix - counts.filtered),
        "pattern" => whole(counts.pattern),
        "merged" => whole(counts.before),
        "factor" => whole(counts.factor),
        "added" => whole(counts.parts.iter().skip(3).take(2).sum()),
        "dropped" => whole(counts.before - counts.factor),
        "ratio" => Ok(significant(counts.factor as f64 / counts.matrix.max(1) as f64)),
        "systems" => whole(set_up.alone.count),
        "largest" => whole(set_up.alone.largest),
        "work" => whole(set_up.alone.work.round() as usize),
        "groups" => whole(set_up.merged.count),
        "merged-largest" => whole(set_up.merged.largest),
        "merged-work" => whole(set_up.merged.work.round() as usize),
        "row" => whole(row()? as usize),
        "places" => {
            let row = row()?;
            whole(set_up.gathered(row).ok_or("there is no such row")?.p.len())
        }
        "power" => whole(set_up.asked.power as usize),
        "full" => whole(set_up.rows() * (set_up.rows() + 1) / 2),
        _ => tried(asked, set_up),
    }
}

/// The answer from the trials.
fn tried(asked: &str, set_up: &SetUp) -> Result<String, String> {
    let trials = set_up.trials().ok_or("the matrix is too large to try conjugate gradients")?;
    let (what, with) = asked.split_once('-').unwrap_or((asked, ""));
    let (trial, cost) = match with {
        "none" => (trials.none, 1.0),
        "jacobi" => (trials.jacobi, 1.0),
        _ => (trials.fsai, trials.cost),
    };
    let steps = || trial.iterations.ok_or("conjugate gradients did not converge");
    match what {
        "iterations" => Ok(index(steps()?)),
        "condition" => Ok(significant(trial.condition)),
        "cost" => Ok(significant(trials.cost)),
        "effort" => Ok(significant(steps()? as f64 * cost)),
        _ => Err("there is no such number".into()),
    }
}
