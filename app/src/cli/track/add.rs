//! `sparsescope track add`: copies bundles into the folder of a history.

use anyhow::Context;
use sparsescope_core::matrix::sha256;

use crate::cli::compare::open;
use crate::cli::outcome::Outcome;
use crate::cli::output::keep;
use crate::cli::table::counted;
use crate::cli::track_args::TrackAddArgs;
use crate::utc::for_file_name;

pub(super) fn run(args: &TrackAddArgs) -> anyhow::Result<Outcome> {
    // All are opened first: none is added unless all can be read.
    let mut files = Vec::new();
    for path in &args.bundles {
        let bundle = open(path)?;
        let cannot = || format!("cannot read {}", path.display());
        let mut bytes = std::fs::read(path).with_context(cannot)?;
        if matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{')) {
            // Results of another program.
            bytes = bundle.to_bytes()?;
        }
        // Named after time and content, so that the same bundle is never there twice.
        let digest = sha256(&bytes);
        let digest = digest.get(..8).unwrap_or_default();
        let name = format!("{}-{digest}.zip", for_file_name(&bundle.created));
        files.push((name, bytes, bundle.runs.len()));
    }
    std::fs::create_dir_all(&args.to)
        .with_context(|| format!("cannot create the folder {}", args.to.display()))?;
    for (name, bytes, runs) in &files {
        let path = args.to.join(name);
        if path.exists() {
            eprintln!("{}: already there", path.display());
            continue;
        }
        keep(&path, false, bytes)?;
        eprintln!("{}: {}", path.display(), counted(*runs, "run", "runs"));
    }
    Ok(Outcome::Success)
}
