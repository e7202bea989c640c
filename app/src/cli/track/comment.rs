//! The result of a check as Markdown, for a comment on a pull request.

use sparsescope_core::bundle::JudgedRun;
use sparsescope_core::order;
use sparsescope_core::samples::Change;
use sparsescope_figures::written::Form;

use super::found::{Found, HEADER, cells};
use crate::cli::compare::worse_checks;
use crate::cli::table::counted;

/// Rows of each table of a comment: worse check results, and changes.
const SHOWN: usize = 3;

/// The comment, with a link to the page of the history.
pub(super) fn markdown(found: &Found<'_, '_>, link: Option<&str>) -> String {
    let slower = match found.count(Change::Slower) {
        0 => "no run became slower".to_owned(),
        slower => format!("{} became slower", counted(slower, "run", "runs")),
    };
    let worse = match found.worse.len() {
        0 => String::new(),
        worse => format!(", {}", worse_checks(worse)),
    };
    let mut text = format!("### Sparsescope: {slower}{worse}\n\n");
    let mut changes: Vec<&JudgedRun<'_, '_>> =
        found.runs.iter().filter(|run| run.change != Change::Unclear).collect();
    let size = |run: &JudgedRun<'_, '_>| f64::abs(run.shift.ratio.ln());
    order::sort_by(&mut changes, |a, b| size(b).total_cmp(&size(a)));
    let worse = found.worse.iter().map(|change| {
        let [before, after] = change.verdicts().map(str::to_owned);
        let reason = change.after.reason().unwrap_or_default().to_owned();
        vec![change.key.words(change.subject.name()), before, after, reason]
    });
    let header = ["worse check result", "before", "now", "reason"];
    text += &first(&header, worse.collect(), ["run", "runs"]);
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
