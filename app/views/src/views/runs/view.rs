//! Every run in a sortable table.

use std::sync::Arc;

use egui::{Align, Key, Layout, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Width, TableBuilder, TableRow};
use sparsescope_figures::figure::elided;
use sparsescope_figures::model::{Model, RunOf};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::matrix;
use sparsescope_figures::views::runs::columns::{COLUMNS, Column};
use sparsescope_figures::views::runs::view::{Rows, rows};
use sparsescope_figures::views::view::no_run;

use super::narrow;
use crate::views::view::{Screen, kept, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: None, show };
fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    ui.weak(format!("{} runs", model.count(&state.filter)));
    let shown = kept_rows(ui, model, state);
    chooser(ui, &shown.columns, state);
}

/// The rows, recomputed when something changes.
fn kept_rows(ui: &Ui, model: &Model, state: &ViewState) -> Arc<Rows> {
    let order = (state.sort.clone(), state.descending, state.columns.clone());
    let from = (model.revision(), state.filter.clone(), order);
    kept(ui, "runs", from, || rows(model, state))
}

/// Areas narrower than this have two lines per run.
const NARROW: f32 = 480.0;

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let kept = kept_rows(ui, model, state);
    let Rows { runs, columns, rate } = kept.as_ref();
    if runs.is_empty() {
        return nothing(ui, &no_run(model, state));
    }
    let moved = keys(ui, model, runs, state);
    let selected = row_of(runs, state);
    let line = ui.spacing().interact_size.y;
    let why = selected
        .and_then(|row| model.run(*runs.get(row)?))
        .map(|run| format!("{} on {}: {}", run.run.kernel, run.name(), run.why()));
    let hint = "Press the up and down arrow keys to select a run and see what limits its speed.";
    ui.label(why.as_deref().unwrap_or(hint));
    ui.add_space(4.0);
    if ui.available_width() < NARROW {
        narrow::sorts(ui, columns, rate, state);
        narrow::show(ui, model, runs, rate, state);
        return;
    }
    let widths = widths(columns, ui);
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.ctx().accesskit_node_builder(ui.unique_id(), |node| {
            node.set_role(Role::Table);
            node.set_label("Table of runs");
            node.set_row_count(runs.len());
            node.set_column_count(columns.len());
        });
        let mut table = TableBuilder::new(ui)
            .striped(true)
            .sense(Sense::click())
            .cell_layout(Layout::left_to_right(Align::Center))
            .max_scroll_height(f32::INFINITY)
            .auto_shrink(false);
        for width in &widths {
            table = table.column(Width::exact(*width).clip(true));
        }
        if let Some(row) = selected.filter(|_| moved) {
            table = table.scroll_to_row(row, None);
        }
        let table = table.header(line + 6.0, |mut header| {
            for column in columns {
                header.col(|ui| match column.number {
                    true => {
                        let right = Layout::right_to_left(Align::Center);
                        ui.with_layout(right, |ui| heading(ui, column, rate, state));
                    }
                    false => heading(ui, column, rate, state),
                });
            }
        });
        table.body(|body| {
            body.rows(line, runs.len(), |row| {
                let run = runs.get(row.index()).and_then(|number| model.run(*number));
                if let Some(run) = run {
                    show_row(row, &run, columns, state);
                }
            });
        });
    });
}

/// The choice of columns.
fn chooser(ui: &mut Ui, shown: &[&Column], state: &mut ViewState) {
    ui.menu_button("Columns", |ui| {
        let mut chosen: Vec<&str> = shown.iter().map(|column| column.id).collect();
        for column in &COLUMNS {
            let mut on = chosen.contains(&column.id);
            if ui.checkbox(&mut on, column.title).on_hover_text(column.explain).changed() {
                match on {
                    true => chosen.push(column.id),
                    false => chosen.retain(|id| *id != column.id),
                }
                state.columns = chosen.join(",");
            }
        }
        ui.separator();
        if ui.button("Default columns").clicked() {
            state.columns.clear();
        }
    });
}

/// The row index of the selected run.
fn row_of(runs: &[usize], state: &ViewState) -> Option<usize> {
    let selected = state.run?;
    runs.iter().position(|run| *run == selected)
}

/// Moves the selection by the arrow keys; returns whether it moved.
fn keys(ui: &Ui, model: &Model, runs: &[usize], state: &mut ViewState) -> bool {
    if ui.ctx().memory(|memory| memory.focused().is_some()) {
        return false;
    }
    let (up, down, enter) = ui.input(|input| {
        (
            input.key_pressed(Key::ArrowUp),
            input.key_pressed(Key::ArrowDown),
            input.key_pressed(Key::Enter),
        )
    });
    if !(up || down || enter) {
        return false;
    }
    let now = row_of(runs, state);
    let wanted = match now {
        None => 0,
        Some(row) if up => row.saturating_sub(1),
        Some(row) => row + usize::from(down),
    };
    let run = runs.get(wanted).filter(|_| up || down).and_then(|number| model.run(*number));
    if let Some(run) = &run {
        select(run, state);
    }
    if enter && now.is_some() {
        state.view = matrix::VIEW.id.into();
    }
    run.is_some()
}

fn select(run: &RunOf<'_>, state: &mut ViewState) {
    state.run = Some(run.index);
    state.matrix = Some(run.key());
}

/// A heading that sorts; the current one shows the direction.
fn heading(ui: &mut Ui, column: &Column, rate: &str, state: &mut ViewState) {
    let sorted = state.sort == column.id;
    let (arrow, order) = match (sorted, state.descending) {
        (false, _) => ("", ""),
        (true, true) => ("▼", ", largest first"),
        (true, false) => ("▲", ", smallest first"),
    };
    let title = if column.id == "gflops" { rate } else { column.title };
    let name = format!("Sort by {title}{order}");
    let title = egui::RichText::new(title).strong();
    let arrow = egui::RichText::new(arrow).family(egui::FontFamily::Monospace); // the font that has triangles
    let button = ui.add(egui::Button::new((title, arrow)).frame(false));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
    if button.on_hover_text(column.explain).clicked() {
        state.descending = if sorted { !state.descending } else { true };
        state.sort = column.id.into();
    }
}

fn show_row(
    mut row: TableRow<'_, '_>,
    run: &RunOf<'_>,
    columns: &[&Column],
    state: &mut ViewState,
) {
    row.set_selected(state.run == Some(run.index));
    for column in columns {
        row.col(|ui| {
            let cell = (column.cell)(run);
            let text = cell.text();
            if column.number {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.add_space(8.0);
                    ui.add(egui::Label::new(text).selectable(false));
                });
            } else {
                let font = egui::TextStyle::Body.resolve(ui.style()).size;
                let text = elided(&text, ui.available_width(), font);
                ui.add(egui::Label::new(text).selectable(false).truncate());
            }
        });
    }
    let response = row.response();
    let name = format!("Run of {} on {}", run.run.kernel, run.name());
    let selected = state.run == Some(run.index);
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, selected, name.as_str()));
    response.ctx.accesskit_node_builder(response.id, |node| node.set_row_index(row.index()));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    if response.clicked() {
        select(run, state);
    }
}

/// Widths that fill the view: text columns share what the numbers leave, down to a minimum.
fn widths(columns: &[&Column], ui: &Ui) -> Vec<f32> {
    const LEAST: f32 = 0.9;
    let spacing = ui.spacing();
    let sum = |numbers: bool| {
        let of = columns.iter().filter(|column| column.number == numbers);
        of.map(|column| column.width).sum::<f32>()
    };
    let between = spacing.item_spacing.x * columns.len() as f32;
    let left = ui.available_width() - between - spacing.scroll.bar_width - 8.0 - sum(true);
    let stretch = (left / sum(false)).max(LEAST);
    let width = |column: &&Column| column.width * if column.number { 1.0 } else { stretch };
    columns.iter().map(width).collect()
}
