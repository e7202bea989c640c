//! The settings of the view.

use egui::{Button, ComboBox, DragValue, Role, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::levels::{MOST_SIDE, PARTS};
use sparsescope_figures::state::{Grid, LevelsOf, Order, ViewState};

use crate::views::spy::choose;

/// Names of the parts, in the order of their words.
const PART_NAMES: [&str; 4] = ["Matrix", "Grid points", "Level widths", "Text"];

pub(super) fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    matrix(ui, &mut state.levels.of);
    let levels = &mut state.levels;
    let before = levels.order;
    choose(ui, "Rows by", &mut levels.order, Order::ALL, Order::name);
    if levels.order != before {
        levels.step = levels.step.map(|_| 0);
    }
}

pub(super) fn more(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    let levels = &mut state.levels;
    if levels.order != Order::Colors {
        ui.checkbox(&mut levels.beside, "Show colouring too")
            .on_hover_text("Show the colouring next to the sweep if there is room");
        ui.checkbox(&mut levels.path, "Critical path")
            .on_hover_text("One row per level, each waiting for the previous one");
    }
    ui.menu_button("Shown", |ui| {
        let mut left: Vec<&str> = Vec::new();
        for (word, name) in PARTS.into_iter().zip(PART_NAMES) {
            let mut on = levels.shows(word);
            ui.checkbox(&mut on, name);
            left.extend(on.then_some(word));
        }
        let every = left.len() == PARTS.len() || left.is_empty();
        levels.parts = if every { String::new() } else { left.join(",") };
    });
    let whole = ui.add_enabled(state.spy.at.is_some(), Button::new("Whole matrix"));
    if whole.on_hover_text("Key 0 or double-click").clicked() {
        state.spy.at = None;
    }
}

/// The choice of the matrix.
fn matrix(ui: &mut Ui, of: &mut LevelsOf) {
    let side = match of {
        LevelsOf::Grid(grid) => grid.side,
        _ => 8,
    };
    let grid = |diagonal| LevelsOf::Grid(Grid { diagonal, side });
    let all = [
        (LevelsOf::Selected, "Selected matrix"),
        (LevelsOf::Small, "Small matrix from Layouts"),
        (grid(false), "Grid, 5-point stencil"),
        (grid(true), "Grid, 9-point stencil"),
    ];
    let shown = all.iter().find(|(choice, _)| choice == of).map_or("", |(_, name)| name);
    ui.label("Matrix");
    let combo = ComboBox::from_id_salt("levels of").selected_text(shown);
    let combo = combo.show_ui(ui, |ui| {
        for (choice, name) in all {
            ui.selectable_value(of, choice, name);
        }
    });
    let name = format!("Matrix: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    if let LevelsOf::Grid(grid) = of {
        let drag = DragValue::new(&mut grid.side).range(2..=MOST_SIDE).speed(0.1);
        let field = ui.add(drag.suffix(" per side"));
        field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Points per side"));
    }
}
