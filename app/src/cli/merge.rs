//! `sparsescope merge`: joins several bundles, e.g. of a plan that was split over machines.

use std::collections::HashMap;
use std::path::PathBuf;

use sparsescope_core::bundle::{Bundle, Conflicts, MatrixFolder, is_known_by_name, merge};
use sparsescope_core::experiment::relate;
use sparsescope_core::order;
use sparsescope_core::record::{Environment, MatrixRecord};

use super::bench::sort_runs;
use super::bundle_args::{MergeArgs, PreferArg};
use super::compare::open;
use super::missing::Missing;
use super::outcome::{Outcome, UsageError};
use super::output::{check_bundle, check_form, say_written};
use super::table::counted;
use crate::producer::producer;
use crate::utc::now;

pub(super) fn run(args: &MergeArgs, quiet: bool) -> anyhow::Result<Outcome> {
    check_bundle(&args.output, args.force)?;
    check_form(&args.output, &["a zip archive"])?;
    let mut bundles = Vec::new();
    for path in &args.bundles {
        bundles.push(open(path)?);
    }
    let imported = |bundle: &Bundle| bundle.runs.iter().any(|run| run.check.by.is_some());
    if bundles.len() < 2 && !bundles.iter().any(imported) {
        let sentence = "merge takes two or more bundles, found one";
        return Err(UsageError(sentence.to_owned()).into());
    }
    recognise(&args.bundles, &mut bundles);
    let missing = Missing::among(&bundles);
    let conflicts = match args.prefer {
        Some(PreferArg::Last) => Conflicts::PreferLast,
        None => Conflicts::Refuse,
    };
    let mut merged = merge(&bundles, conflicts, producer(), now()).map_err(|error| {
        let is_conflict = matches!(error, sparsescope_core::bundle::BundleError::Conflict { .. });
        let hint = "; with --prefer last, the last bundle wins";
        anyhow::anyhow!("{error}{}", if is_conflict { hint } else { "" })
    })?;
    if let Some(label) = &args.label {
        merged.label = Some(label.clone());
    }
    match missing {
        None => {}
        Some(Ok(missing)) => {
            let places = missing.order();
            let place = |folder: &MatrixFolder| {
                places.get(&folder.record.name).copied().unwrap_or(usize::MAX)
            };
            order::sort_by(&mut merged.matrices, |a, b| place(a).cmp(&place(b)));
            sort_runs(&mut merged);
            merged.complete = missing.runs() == 0;
            missing.lines().iter().for_each(|line| eprintln!("{line}"));
        }
        Some(Err(unknown)) => {
            merged.complete = false;
            eprintln!("warning: {unknown}");
        }
    }
    relate_runs(&mut merged);
    merged.save(&args.output, args.force)?;
    let what = format!(
        "{} on {}, measured on {}{}",
        counted(merged.runs.len(), "run", "runs"),
        counted(merged.matrices.len(), "matrix", "matrices"),
        counted(Environment::machines(&merged.environments), "machine", "machines"),
        if merged.complete { "" } else { "; incomplete" }
    );
    say_written(&args.output, quiet, &what);
    Ok(Outcome::Success)
}

/// Gives speed-ups to runs whose reference was measured in another bundle, if both ran on the same CPU model.
fn relate_runs(bundle: &mut Bundle) {
    let models: HashMap<String, String> = bundle
        .environments
        .iter()
        .map(|environment| (environment.id.clone(), environment.cpu.model.clone()))
        .collect();
    let model = |id: &str| models.get(id).filter(|model| !model.is_empty());
    let is_alike = |a: &str, b: &str| model(a).is_some() && model(a) == model(b);
    relate(&mut bundle.runs, is_alike);
}

/// Finds the matrices of imported bundles that are also in the others.
fn recognise(paths: &[PathBuf], bundles: &mut [Bundle]) {
    let folders = bundles.iter().flat_map(|bundle| &bundle.matrices);
    let known: Vec<MatrixRecord> = folders.map(|folder| folder.record.clone()).collect();
    for (path, bundle) in paths.iter().zip(bundles) {
        let by_name = bundle.matrices.iter().filter(|matrix| is_known_by_name(&matrix.record));
        let by_name = by_name.count();
        if by_name > 0 {
            let recognised = bundle.recognise(known.iter());
            eprintln!(
                "{}: imported, not checked by Sparsescope; {recognised} of {} \
                 matched to the other bundles by name, rows, columns and nonzeros",
                path.display(),
                counted(by_name, "matrix", "matrices"),
            );
        }
    }
}
