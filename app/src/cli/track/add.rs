//! `sparsescope track add`: copies bundles into the folder of a history.

use std::path::PathBuf;

use anyhow::Context;
use sparsescope_core::matrix::sha256;

use crate::cli::compare::open;
use crate::cli::folder::bundles_in;
use crate::cli::outcome::Outcome;
use crate::cli::output::{keep, say_written};
use crate::cli::table::counted;
use crate::cli::track_args::TrackAddArgs;
use crate::utc::for_file_name;

pub(super) fn run(args: &TrackAddArgs, quiet: bool) -> anyhow::Result<Outcome> {
    // All are opened first: none is added unless all can be read.
    let mut files = Vec::new();
    for path in &args.bundles {
        let bundle = open(path)?;
        let cannot = || format!("cannot read {}", path.display());
        let mut bytes = std::fs::read(path).with_context(cannot)?;
        // Named after time and content, so that the same file is never there twice.
        let digest = sha256(&bytes);
        let ending = format!("-{}.zip", digest.get(..12).unwrap_or_default());
        if matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{')) {
            // Results of another program.
            bytes = bundle.to_bytes()?;
        }
        files.push((for_file_name(&bundle.created), ending, bytes, bundle.runs.len()));
    }
    std::fs::create_dir_all(&args.to)
        .with_context(|| format!("cannot create the folder {}", args.to.display()))?;
    for (time, ending, bytes, runs) in &files {
        // Results of another program have the time at which they were added.
        let is_same = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
        if let Some(path) = bundles_in(&args.to)?.into_iter().find(is_same) {
            say_written(&path, quiet, "already there");
            continue;
        }
        let path = args.to.join(format!("{time}{ending}"));
        keep(&path, false, bytes)?;
        say_written(&path, quiet, &counted(*runs, "run", "runs"));
    }
    Ok(Outcome::Success)
}
