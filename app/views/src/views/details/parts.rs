//! Parts of the details.

use egui::{Button, Label, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use sparsescope_figures::model::RunOf;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, SPACE, format_color};

use crate::style::{least_size, strong};

/// The button that clears the selection.
pub(super) fn close(ui: &mut Ui, state: &mut ViewState) {
    let least = least_size(ui.ctx());
    let close = ui.add(Button::new("×").small().min_size(least));
    close.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Close the run's details"));
    if close.clicked() {
        state.forget_run();
    }
}

/// The kernel's name, beside the colour of its format.
pub(super) fn kernel(ui: &mut Ui, run: &RunOf<'_>) {
    swatch(ui, run.run.format());
    let font = strong(ui.ctx(), BODY);
    ui.add(Label::new(RichText::new(&run.run.kernel).font(font)).truncate());
}

/// A small square in the colour of a format.
pub(in crate::views) fn swatch(ui: &mut Ui, format: &str) {
    let (rect, _) = ui.allocate_exact_size(vec2(SPACE, SPACE), Sense::hover());
    ui.painter().rect_filled(rect, 1.0, format_color(format));
}

/// A button without a box.
pub(super) fn quiet(ui: &mut Ui, name: &str, state: &ViewState) -> Response {
    let words = RichText::new(name).color(state.theme.ink().accent);
    ui.add(Button::new(words).frame(false).min_size(vec2(0.0, SPACE * 3.0)))
}
