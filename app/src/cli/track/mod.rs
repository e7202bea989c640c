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

pub(super) fn run(args: &TrackArgs, quiet: bool) -> anyhow::Result<Outcome> {
    match &args.action {
        TrackAction::Add(args) => add::run(args, quiet),
        TrackAction::Report(args) => report::run(args, quiet),
        TrackAction::Check(args) => check::run(args, quiet),
    }
}
