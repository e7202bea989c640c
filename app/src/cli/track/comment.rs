//! The result of a check as Markdown, for a comment on a pull request.

use sparsescope_core::bundle::JudgedRun;
use sparsescope_core::order;
use sparsescope_core::samples::Change;
use sparsescope_figures::written::Form;

use super::found::{Found, HEADER, cells};
use crate::cli::table::counted;

/// Changes that a comment shows.
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
        wrong => format!(", {} no longer correct", counted(wrong, "result is", "results are")),
    };
    let mut text = format!("### Sparsescope: {slower}{wrong}\n\n");
    let mut changes: Vec<&JudgedRun<'_, '_>> =
        found.runs.iter().filter(|run| run.change != Change::Unclear).collect();
    let size = |run: &JudgedRun<'_, '_>| f64::abs(run.shift.ratio.ln());
    order::sort_by(&mut changes, |a, b| size(b).total_cmp(&size(a)));
    if !changes.is_empty() {
        let shown = changes.iter().take(SHOWN).map(|run| cells(run).to_vec());
        let header = HEADER.map(str::to_owned).to_vec();
        let lines: Vec<Vec<String>> = std::iter::once(header).chain(shown).collect();
        text += &Form::Markdown.write(&lines);
        if let more @ 1.. = changes.len().saturating_sub(SHOWN) {
            text += &format!("\n{} more.\n", counted(more, "change", "changes"));
        }
        text.push('\n');
    }
    text += &found.summary();
    if let Some(link) = link {
        text += &format!("\n[History of all runs](<{link}>)\n");
    }
    text
}
