//! What a view is, and what several draw from or say.

use egui::Ui;
use sparsescope_core::record::MatrixRecord;

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
    chosen.or_else(|| model.matrices(&state.filter).last().map(|matrix| matrix.record))
}

/// A text in the view's middle, where there is nothing to draw.
pub(super) fn nothing(ui: &mut Ui, text: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| ui.weak(text));
}
