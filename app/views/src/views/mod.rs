//! The views on screen. Each is one file with a `Screen` in it and one line in `SCREENS`; none depends on
//! another, all draw from (bundles, state) and change only the state.

mod best;
mod charts;
pub(crate) mod details;
mod fsai;
pub(crate) mod layouts;
mod levels;
mod matrix;
mod player;
mod predicted;
mod ranking;
mod runs;
mod skyline;
pub mod spy;
mod view;

use egui::Ui;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::View;

use view::Screen;

/// The screen of each view, by view id.
const SCREENS: [(&str, Screen); 10] = [
    ("best", best::SCREEN),
    ("chart", charts::SCREEN),
    ("runs", runs::SCREEN),
    ("matrix", matrix::SCREEN),
    ("spy", spy::SCREEN),
    ("levels", levels::SCREEN),
    ("preconditioner", fsai::SCREEN),
    ("skyline", skyline::SCREEN),
    ("layouts", layouts::SCREEN),
    ("predicted", predicted::SCREEN),
];

fn screen(view: &View) -> Option<&'static Screen> {
    SCREENS.iter().find(|(id, _)| *id == view.id).map(|(_, screen)| screen)
}

/// Draws a view.
pub(crate) fn show(ui: &mut Ui, view: &View, model: &Model, state: &mut ViewState) {
    if let Some(screen) = screen(view) {
        (screen.show)(ui, model, state);
    }
}

/// Draws a view's settings.
pub(crate) fn settings(ui: &mut Ui, view: &View, model: &Model, state: &mut ViewState) {
    if let Some(screen) = screen(view) {
        (screen.settings)(ui, model, state);
    }
}

/// Draws a view's settings that are used less, if it has any.
pub(crate) fn more(view: &View) -> Option<fn(&mut Ui, &Model, &mut ViewState)> {
    screen(view).and_then(|screen| screen.more)
}

#[cfg(test)]
mod tests {
    use sparsescope_figures::views::VIEWS;

    use super::*;

    #[test]
    fn every_view_has_a_screen() {
        assert!(VIEWS.iter().all(|view| screen(view).is_some()));
        assert_eq!(VIEWS.len(), SCREENS.len());
    }
}
