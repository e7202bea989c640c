//! The result of a check as Markdown, for a comment on a pull request.

use sparsescope_core::bundle::JudgedRun;
use sparsescope_core::order;
use sparsescope_core::samples::Change;
use sparsescope_figures::written::Form;

use super::found::{Found, HEADER, cells};
use crate::cli::compare::no_longer_pass;
use crate::cli::table::counted;

/// Changes, and wrong results, that a comment shows.
const SHOWN: usize = 3;

/// The comment, with a link to the page of the history.
pub(super) fn markdown(found: &Found<'_, '_>, link: Option<&str>) -> String {
    let (slower, wrong) = (found.count(Change::Slower), found.wrong.len());
    let slower = match slower {
        0 => "no run became slower".to_owned(),
        slower => format!("{} became slower", counted(slower, "run", "runs")),
    };
    let wrong = match wrong {
        0 => String::new(),
        wrong => format!(", {}", no_longer_pass(wrong)),
    };
    let mut text = format!("### Sparsescope: {slower}{wrong}\n\n");
    let mut changes: Vec<&JudgedRun<'_, '_>> =
        found.runs.iter().filter(|run| run.change != Change::Unclear).collect();
    let size = |run: &JudgedRun<'_, '_>| f64::abs(run.shift.ratio.ln());
    order::sort_by(&mut changes, |a, b| size(b).total_cmp(&size(a)));
    let wrong = found.wrong.iter().map(|change| {
        let reason = change.after.reason().unwrap_or_default().to_owned();
        vec![change.key.words(change.subject.name()), reason]
    });
    text += &first(&["no longer passes", "reason"], wrong.collect(), ["run", "runs"]);
    let changes = changes.into_iter().map(|run| cells(run).to_vec());
    text += &first(&HEADER, changes.collect(), ["change", "changes"]);
    text += &found.summary();
    if let Some(link) = link {
        text += &format!("\n[History of all runs](<{link}>)\n");
    }
    text
}

/// The first lines as a table, and how many there are besides; empty without lines.
fn first(header: &[&str], mut lines: Vec<Vec<String>>, [one, many]: [&str; 2]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    lines.insert(0, header.iter().map(|name| (*name).to_owned()).collect());
    let mut text = Form::Markdown.write(&lines);
    if more > 0 {
        text += &format!("\n{} more.\n", counted(more, one, many));
    }
    text + "\n"
}
