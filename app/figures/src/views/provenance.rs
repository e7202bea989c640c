//! The source of a view's numbers, as its files state it.

use sparsescope_core::bundle::{MatrixFolder, SubjectFolder};
use sparsescope_core::record::{MatrixRecord, Source, SubjectRecord};

use crate::figure::Provenance;
use crate::model::{Model, OpenBundle, RunOf, matrix_key, subject_key};

/// The source of the numbers of these runs.
pub(super) fn provenance(model: &Model, runs: &[RunOf<'_>]) -> Provenance {
    let mut sources = Vec::new();
    for open in model.bundles() {
        let of = || runs.iter().filter(|run| run.bundle.sha256 == open.sha256);
        let mut devices: Vec<&str> = of().map(|run| run.run.device.as_str()).collect();
        sparsescope_core::order::sort(&mut devices);
        devices.dedup();
        if !devices.is_empty() {
            let imported = of().find_map(|run| run.run.check.by.as_deref());
            let imported = imported.map_or_else(String::new, |by| {
                format!(", includes runs imported from {by}, not checked by Sparsescope")
            });
            let created = match open.bundle.created.as_str() {
                "" => String::new(),
                created => format!(", measured {created}"),
            };
            let bundle = match open.is_unfinished() {
                true => String::new(), // no file has its numbers
                false => format!(", bundle {:.12}", open.sha256),
            };
            let devices = devices.join(" + ");
            sources.push(format!("{}: {devices}{created}{imported}{bundle}", open.label()));
        }
    }
    let stand_in = runs.iter().any(|run| run.subject.source() == Source::StandIn);
    Provenance { sources, stand_in }
}

/// The source of the data of a matrix.
pub(super) fn record_provenance(model: &Model, record: &MatrixRecord) -> Provenance {
    let key = matrix_key(record);
    let is_it = |folder: &MatrixFolder| matrix_key(&folder.record) == key;
    let MatrixRecord { name, source, generator, sha256, .. } = record;
    let identity = format!("{} matrix, SHA-256 {sha256:.16}", source.as_str());
    let holds = |open: &OpenBundle| open.bundle.matrices.iter().any(is_it);
    origin(model, name, *source, generator.as_deref(), &identity, holds)
}

/// The same for a subject other than a matrix.
pub(super) fn subject_provenance(model: &Model, record: &SubjectRecord) -> Provenance {
    let key = subject_key(record.into());
    let is_it = |folder: &SubjectFolder| subject_key((&folder.record).into()) == key;
    let SubjectRecord { name, kind, source, generator, sha256, .. } = record;
    let identity = format!("{} {kind}, SHA-256 {sha256:.16}", source.as_str());
    let holds = |open: &OpenBundle| open.bundle.subjects.iter().any(is_it);
    origin(model, name, *source, generator.as_deref(), &identity, holds)
}

fn origin(
    model: &Model,
    name: &str,
    source: Source,
    generator: Option<&str>,
    identity: &str,
    holds: impl Fn(&OpenBundle) -> bool,
) -> Provenance {
    let mut sources = vec![match generator {
        Some(generator) => format!("{name}: {identity}, {generator}"),
        None => format!("{name}: {identity}"),
    }];
    let holding = model.bundles().iter().filter(|open| holds(open));
    sources.extend(holding.map(|open| format!("from {}, {:.12}", open.label(), open.sha256)));
    Provenance { sources, stand_in: source == Source::StandIn }
}
