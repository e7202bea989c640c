//! `sparsescope track`: a folder of bundles as the history of their runs.

mod add;
mod chart;
mod check;
mod comment;
mod found;
mod history;
mod levels;
mod report;

use super::outcome::Outcome;
use super::track_args::{TrackAction, TrackArgs};

pub(super) fn run(args: &TrackArgs) -> anyhow::Result<Outcome> {
    match &args.action {
        TrackAction::Add(args) => add::run(args),
        TrackAction::Report(args) => report::run(args),
        TrackAction::Check(args) => check::run(args),
    }
}
