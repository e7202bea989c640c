//! The run shown by charts of a single run's ranks.

use sparsescope_core::record::Distributed;

use crate::model::{RunOf, subject_key};
use crate::views::charts::plot::{Data, Plot};
use crate::views::view::subject;

/// The selected run if it has ranks, else the best run with ranks on the selected subject, with
/// several if possible; sets the subject of the plot.
pub(super) fn chosen<'a>(
    data: &Data<'a>,
    plot: &mut Plot<'a>,
) -> Option<(RunOf<'a>, &'a Distributed)> {
    plot.subject = subject(data.model, data.state);
    let wanted = plot.subject.map(subject_key)?;
    let shared = |run: &RunOf<'a>| Some((*run, run.run.distributed.as_ref()?));
    let mut found: Option<(RunOf<'a>, &'a Distributed)> = None;
    for (run, ranks) in data.runs.iter().filter(|run| run.key() == wanted).filter_map(shared) {
        if Some(run.index) == data.state.run {
            found = Some((run, ranks));
            break;
        }
        let is_better = |(best, of_best): (RunOf<'a>, &'a Distributed)| match (
            of_best.ranks.len() > 1,
            ranks.ranks.len() > 1,
        ) {
            (true, false) => false,
            (false, true) => true,
            _ => run.beats(&best),
        };
        if found.is_none_or(is_better) {
            found = Some((run, ranks));
        }
    }
    let (run, ranks) = found?;
    let (count, kernel) = (ranks.ranks.len(), run.run.kernel_and_precision());
    plot.note = format!("{kernel} on {count} rank{}. ", if count == 1 { "" } else { "s" });
    found
}

/// Display name of a rank.
pub(super) fn name(rank: usize) -> String {
    format!("rank {rank}")
}
