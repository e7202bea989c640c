//! What a view is on a screen, and what several draw with.

use std::sync::Arc;

use egui::{Id, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;

/// How a view is shown.
pub(super) struct Screen {
    /// Draws its settings.
    pub(super) settings: fn(&mut Ui, &Model, &mut ViewState),
    /// Draws it.
    pub(super) show: fn(&mut Ui, &Model, &mut ViewState),
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

/// A text in the view's middle, where there is nothing to draw.
pub(super) fn nothing(ui: &mut Ui, text: &str) {
    ui.add_space(ui.available_height() * 0.3);
    ui.vertical_centered(|ui| ui.weak(text));
}
