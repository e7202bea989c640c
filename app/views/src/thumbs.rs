//! Small pictures of the structure of matrices on screen.

use egui::{Rect, Stroke, StrokeKind, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::Theme;

/// Paints the structure of the matrix with this key.
pub(crate) fn show(ui: &mut Ui, _: &Model, _: &str, rect: Rect, theme: Theme) {
    let line = Stroke::new(1.0, theme.ink().grid);
    ui.painter().rect_stroke(rect, 2.0, line, StrokeKind::Inside);
}
