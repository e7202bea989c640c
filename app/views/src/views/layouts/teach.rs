//! A step of a lesson next to what it shows.

use egui::{Rect, Ui, UiBuilder};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::layouts::numbers::Texts;
use sparsescope_figures::views::layouts::texts_of;
use sparsescope_figures::views::own;

use super::panel;
use crate::views::view::kept;

/// Width of a lesson's text next to what it shows, as a share of the whole.
const TEXT: f32 = 0.36;

/// At most this wide: longer lines are harder to read, and the board uses the space.
const TEXT_MOST: f32 = 400.0;

/// In narrower areas the text is above, in this share of the height.
const NARROW: f32 = 560.0;
const TEXT_ABOVE: f32 = 0.5;

/// The area of the text, and the remaining area.
pub(super) fn places(ui: &Ui) -> (Rect, Rect) {
    let full = ui.available_rect_before_wrap();
    if full.width() < NARROW && full.height() > full.width() {
        let (text, rest) = full.split_top_bottom_at_fraction(TEXT_ABOVE);
        return (text, rest.with_min_y(rest.top() + 10.0));
    }
    let width = (full.width() * TEXT).min(TEXT_MOST);
    let (text, rest) = full.split_left_right_at_x(full.left() + width);
    (text.with_max_x(text.right() - 12.0), rest)
}

/// Draws any view except the layouts next to its step of a lesson; the numbers in the texts come from the
/// view.
pub(crate) fn beside(
    ui: &mut Ui,
    model: &Model,
    state: &mut ViewState,
    draw: impl FnOnce(&mut Ui, &mut ViewState),
) {
    let shown = state.layouts.lesson.clone();
    let lesson = shown.as_ref().and_then(|(id, _)| model.lessons.get(id)).cloned();
    let Some((lesson, (_, page))) = lesson.zip(shown) else { return draw(ui, state) };
    let (text, rest) = places(ui);
    // Some views have steps that arrow keys move through.
    let walking = lesson.step(page).is_some_and(|step| own::steps(&step.show.view));
    // A lesson may be opened again with other texts.
    let from = (lesson.clone(), model.revision(), state.to_fragment());
    let texts = kept(ui, "texts beside a view", from, || {
        lesson.step(page).map_or_else(Texts::default, |step| texts_of(step, model, state))
    });
    ui.scope_builder(UiBuilder::new().max_rect(text), |ui| {
        panel::show(ui, &lesson, texts, state, None, walking);
    });
    ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| draw(ui, state));
}
