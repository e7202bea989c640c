//! A view on screen, and shared drawing helpers.

use std::sync::Arc;

use egui::{Id, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::views::view::{no_run, other_operation};

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

/// Why no run is shown; a button shows those of another operation if only such runs are open.
pub(super) fn no_runs(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let why = no_run(model, state);
    let Some(other) = other_operation(model, state) else { return nothing(ui, &why) };
    if empty(ui, &why, &format!("Show the runs of {other}")) {
        state.filter = Filter::all_of(other);
    }
}

/// What is said above the drawing.
pub(super) fn note(ui: &mut Ui, text: Option<&str>) {
    if let Some(text) = text {
        ui.weak(text);
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Role;
    use egui::{Rect, vec2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use crate::shell::App;

    #[test]
    fn tables_on_a_phone_have_one_size_of_type_in_rows_for_a_finger() {
        for (view, name) in [("best;as=list", "Best on "), ("runs", "Run of ")] {
            let mut app = App::new();
            app.open_bytes("cpu.zip", include_bytes!("../../../example/cpu.zip"));
            app.follow(&format!("v1;view={view}"));
            let mut harness = Harness::builder()
                .with_size(vec2(390.0, 844.0))
                .with_max_steps(200)
                .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
            harness.run();
            let row = harness.get_all_by_label_contains(name).next().unwrap().rect();
            assert!(row.height() >= 44.0, "{view}: {row}");
            let labels = harness.get_all_by_role(Role::Label).map(|label| label.rect());
            let texts: Vec<Rect> = labels.filter(|label| row.contains_rect(*label)).collect();
            let is_usual = |text: &Rect| (text.height() - texts[0].height()).abs() < 0.5;
            assert!(texts.len() == 4 && texts.iter().all(is_usual), "{view}: {texts:?}");
            assert!(harness.query_all_by_label_contains("arrow key").next().is_none(), "{view}");
        }
    }

    #[test]
    fn a_button_shows_the_runs_of_another_operation_where_only_those_are_open() {
        for view in ["best", "runs", "chart"] {
            let mut app = App::new();
            app.open_bytes("solvers.zip", include_bytes!("../../../example/solvers.zip"));
            app.follow(&format!("v1;view={view}"));
            let mut harness = Harness::builder()
                .with_size(vec2(1280.0, 800.0))
                .with_max_steps(200)
                .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
            harness.run();
            harness.get_by_label_contains("No run of spmv is open, only of symgs, ");
            let main = harness.state().model().main_operation().unwrap().to_owned();
            harness.get_by_label(&format!("Show the runs of {main}")).click();
            harness.run();
            assert_eq!(harness.state().state().filter.operation, main);
            assert!(harness.query_by_label_contains("No run of").is_none(), "{view}");
        }
    }
}
