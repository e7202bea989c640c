//! What a view is, and what views have in common.

use std::sync::Arc;

use egui::{Id, Ui};
use sparsescope_core::record::{MatrixRecord, Source};

use crate::figure::Provenance;
use crate::model::{Model, RunOf, matrix_key};
use crate::state::ViewState;

/// One way to look at the bundles.
pub struct View {
    /// Word in a link.
    pub id: &'static str,
    /// Name of its tab.
    pub name: &'static str,
    /// What it shows, in one sentence.
    pub sentence: &'static str,
    /// Its settings.
    pub settings: fn(&mut Ui, &Model, &mut ViewState),
    /// Draws it.
    pub show: fn(&mut Ui, &Model, &mut ViewState),
    /// Exactly what is drawn as a table: header and lines.
    pub table: fn(&Model, &ViewState) -> Vec<Vec<String>>,
    /// What is drawn as SVG, for views that are figures.
    pub svg: Option<fn(&Model, &ViewState) -> String>,
}

/// Where the numbers of these runs come from.
pub(crate) fn provenance(model: &Model, runs: &[RunOf<'_>]) -> Provenance {
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
    Provenance { sources, stand_in: runs.iter().any(|run| run.record.source == Source::StandIn) }
}

/// The selected matrix; the largest where none is.
pub(crate) fn selected<'a>(model: &'a Model, state: &ViewState) -> Option<&'a MatrixRecord> {
    let chosen = state.matrix.as_deref().and_then(|key| model.matrix(key));
    chosen.or_else(|| model.largest(&state.filter))
}

/// Where what is known of a matrix comes from.
pub(crate) fn record_provenance(model: &Model, record: &MatrixRecord) -> Provenance {
    let key = matrix_key(record);
    let holds = |folder: &sparsescope_core::bundle::MatrixFolder| matrix_key(&folder.record) == key;
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

/// What was last made under this name, if it was made from the same; else it is made now. For what
/// takes too long to be made in every frame.
pub(crate) fn kept<K, T>(ui: &Ui, name: &str, from: K, make: impl FnOnce() -> T) -> Arc<T>
where
    K: PartialEq + Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    let id = Id::unique(("kept", name));
    let known = ui.data(|data| data.get_temp::<Arc<(K, Arc<T>)>>(id));
    if let Some(known) = known.filter(|known| known.0 == from) {
        return known.1.clone();
    }
    let made = Arc::new(make());
    ui.data_mut(|data| data.insert_temp(id, Arc::new((from, made.clone()))));
    made
}

/// A text in the view's middle, where there is nothing to draw.
pub(crate) fn nothing(ui: &mut Ui, text: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| ui.weak(text));
}
