//! Numbers in the texts of lessons that show another view than the layouts: values of the selected
//! subject and of its runs.

use sparsescope_core::record::Subject;

use super::own;
use super::view::subject;
use crate::model::{Model, count, significant, subject_key, subject_name};
use crate::state::ViewState;

/// Questions about a matrix.
const OF_MATRIX: [&str; 5] = ["rows", "columns", "entries", "longest", "mean"];
/// Questions about the runs on it; `rate` takes a kernel.
const OF_RUNS: [&str; 4] = ["best", "lead", "kernels", "rate"];

/// Checks that this question exists for this view, which is all that can be checked while nothing
/// is open.
pub(crate) fn is_known(asked: &str, view: &str) -> Result<(), String> {
    if own::is_known(asked, view) {
        return Ok(());
    }
    let (what, of) = asked.split_once(':').unwrap_or((asked, ""));
    let known = what == "name" || OF_MATRIX.contains(&what) || OF_RUNS.contains(&what);
    match known && (what == "rate") != of.is_empty() {
        true => Ok(()),
        false => Err("there is no such number".into()),
    }
}

/// The answer for this state.
pub fn number(asked: &str, model: &Model, state: &ViewState) -> Result<String, String> {
    is_known(asked, &state.view)?;
    if own::is_known(asked, &state.view) {
        return own::number(asked, model, state);
    }
    let selected = subject(model, state).ok_or("nothing is selected")?;
    let (what, kernel) = asked.split_once(':').unwrap_or((asked, ""));
    if what == "name" {
        return Ok(subject_name(selected));
    }
    if OF_MATRIX.contains(&what) {
        let Subject::Matrix(record) = selected else {
            return Err(format!("{} is not a matrix", subject_name(selected)));
        };
        let of = &record.statistics;
        return Ok(match what {
            "rows" => count(of.rows),
            "columns" => count(of.cols),
            "entries" => count(of.nnz),
            "longest" => count(of.row.max),
            _ => significant(of.row.mean),
        });
    }
    let none = || {
        let k = model.of_one_product(&state.filter).vectors;
        let k = k.map(|k| format!("with k = {k} ")).unwrap_or_default();
        format!("no run {k}on {} passes the filters", subject_name(selected))
    };
    let standing = model.standing_of(&state.filter, &subject_key(selected)).ok_or_else(none)?;
    let found = match what {
        "best" => standing.winner().map(|run| run.run.kernel.clone()),
        "lead" => standing.lead().map(significant),
        "kernels" => Some(standing.runs.len().to_string()),
        _ => {
            let of = standing.runs.iter().find(|run| run.run.kernel == kernel);
            of.and_then(|run| run.rate()).map(significant)
        }
    };
    found.ok_or_else(none)
}
