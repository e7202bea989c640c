//! Where the numbers of a view come from, as its files say.

use sparsescope_core::bundle::MatrixFolder;
use sparsescope_core::record::{MatrixRecord, Source};

use crate::figure::Provenance;
use crate::model::{Model, RunOf, matrix_key};

/// Where the numbers of these runs come from.
pub(super) fn provenance(model: &Model, runs: &[RunOf<'_>]) -> Provenance {
    let mut sources = Vec::new();
    for open in model.bundles() {
        let of = || runs.iter().filter(|run| run.bundle.sha256 == open.sha256);
        let mut devices: Vec<&str> = of().map(|run| run.run.device.as_str()).collect();
        devices.sort_unstable();
        devices.dedup();
        if !devices.is_empty() {
            let imported = of().find_map(|run| run.run.check.by.as_deref());
            let imported = imported.map_or_else(String::new, |by| {
                format!(", holds runs imported from {by}, not checked by Sparsescope")
            });
            let created = match open.bundle.created.as_str() {
                "" => String::new(),
                created => format!(", measured {created}"),
            };
            sources.push(format!(
                "{}: {}{created}{imported}, bundle {:.12}",
                open.label(),
                devices.join(" + "),
                open.sha256
            ));
        }
    }
    let stand_in = runs.iter().any(|run| run.subject.source() == Source::StandIn);
    Provenance { sources, stand_in }
}

/// Where what is known of a matrix comes from.
pub(super) fn record_provenance(model: &Model, record: &MatrixRecord) -> Provenance {
    let key = matrix_key(record);
    let holds = |folder: &MatrixFolder| matrix_key(&folder.record) == key;
    let holding = model.bundles().iter().filter(|open| open.bundle.matrices.iter().any(holds));
    let identity = format!("{} matrix, SHA-256 {:.16}", record.source.as_str(), record.sha256);
    let mut sources = vec![match &record.generator {
        Some(generator) => format!("{}: {identity}, {generator}", record.name),
        None => format!("{}: {identity}", record.name),
    }];
    sources.extend(holding.map(|open| format!("from {}, {:.12}", open.label(), open.sha256)));
    let stand_in = record.source == Source::StandIn;
    Provenance { sources, stand_in }
}
