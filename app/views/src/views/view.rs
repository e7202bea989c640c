//! A view on screen, and shared drawing helpers.

use std::sync::Arc;

use egui::{Id, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;

use crate::style;

/// The functions that draw a view.
pub(super) struct Screen {
    /// Draws the settings that are used most: at most three.
    pub(super) settings: fn(&mut Ui, &Model, &mut ViewState),
    /// Draws the others, in a menu.
    pub(super) more: Option<fn(&mut Ui, &Model, &mut ViewState)>,
    /// Draws it.
    pub(super) show: fn(&mut Ui, &Model, &mut ViewState),
}

/// The last value made under this name if `from` is equal, else a new one. For values too slow to compute in
/// every frame.
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

/// A text in the middle of the view, if there is nothing to draw.
pub(super) fn nothing(ui: &mut Ui, text: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| ui.weak(text));
}

/// The same with a button that makes something to draw; returns whether it is clicked.
pub(super) fn empty(ui: &mut Ui, text: &str, make: &str) -> bool {
    nothing(ui, text);
    ui.add_space(8.0);
    ui.vertical_centered(|ui| style::filled_button(ui, make)).inner.clicked()
}

/// What is said above the drawing.
pub(super) fn note(ui: &mut Ui, text: Option<&str>) {
    if let Some(text) = text {
        ui.weak(text);
    }
}
