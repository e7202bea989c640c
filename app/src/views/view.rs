//! What a view is, and what several draw from or say.

use std::sync::Arc;

use egui::{Id, Ui};
use sparsescope_core::record::{MatrixRecord, Subject};

use crate::model::Model;
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

/// The selected matrix; the largest where none is.
pub(super) fn selected<'a>(model: &'a Model, state: &ViewState) -> Option<&'a MatrixRecord> {
    let chosen = state.matrix.as_deref().and_then(|key| model.matrix(key));
    chosen.or_else(|| model.largest(&state.filter))
}

/// What is selected; the largest matrix, or other subject with runs, where nothing is.
pub(super) fn subject<'a>(model: &'a Model, state: &ViewState) -> Option<Subject<'a>> {
    let chosen = state.matrix.as_deref().and_then(|key| model.subject(key));
    let others = || model.others(&state.filter).last().map(|(_, subject)| *subject);
    chosen.or_else(others).or_else(|| model.largest(&state.filter).map(Subject::Matrix))
}

/// What was last made under this name, if it was made from the same; else it is made now. For what
/// takes too long to be made in every frame.
pub(super) fn kept<K, T>(ui: &Ui, name: &str, from: K, make: impl FnOnce() -> T) -> Arc<T>
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

/// Why no run is shown, in a sentence.
pub(super) fn no_run(model: &Model, state: &ViewState) -> String {
    let shown = &state.filter.operation;
    let all = model.operations();
    if all.is_empty() || all.contains(&shown.as_str()) {
        return "No run passes the filters.".into();
    }
    format!("No run of {shown} is open; choose among Filters: {}.", all.join(", "))
}

/// A text in the view's middle, where there is nothing to draw.
pub(super) fn nothing(ui: &mut Ui, text: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| ui.weak(text));
}
