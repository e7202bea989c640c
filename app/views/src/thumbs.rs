//! Thumbnails of matrices.

use egui::{Rect, Stroke, StrokeKind, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::Theme;

/// Paints the thumbnail of the matrix with this key.
pub(crate) fn show(ui: &mut Ui, _: &Model, _: &str, rect: Rect, theme: Theme) {
    let stroke = Stroke::new(1.0, theme.ink().grid);
    ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
}
