//! Every run in a sortable table.

use std::sync::Arc;

use egui::{Align, Id, Layout, Rangef, RichText, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Width, TableBuilder};
use sparsescope_figures::figure::strong_width;
use sparsescope_figures::model::{Model, plural};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, SPACE};
use sparsescope_figures::views::runs::columns::{COLUMNS, Column, fitting};
use sparsescope_figures::views::runs::view::{Line, Rows, rows, widths};

use super::chosen::{Move, into_view};
use super::keys::keys;
use super::line::{GROUP, Table, show_line, title};
use super::narrow;
use crate::style::{is_phone, show_scroll_bars, strong};
use crate::views::view::{Screen, kept, no_runs};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: None, show };

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    ui.weak(plural(model.count(&state.filter) as u64, "run"));
    ui.checkbox(&mut state.grouped, "Group by matrix");
    chooser(ui, model, state);
}

/// The rows, recomputed when something changes.
fn kept_rows(ui: &Ui, model: &Model, state: &ViewState) -> Arc<Rows> {
    let order = (state.sort.clone(), state.descending, state.grouped, state.columns.clone());
    let from = (model.revision(), state.filter.clone(), order);
    kept(ui, "runs", from, || rows(model, state))
}

/// The widths of the columns' cells, whatever the order of the rows.
fn kept_widths(
    ui: &Ui,
    model: &Model,
    columns: &[&'static Column],
    state: &ViewState,
) -> Arc<Vec<[f32; 2]>> {
    let ids: Vec<&str> = columns.iter().map(|column| column.id).collect();
    let from = (model.revision(), state.filter.clone(), ids);
    kept(ui, "runs: widths", from, || widths(model, state, columns))
}

/// Areas narrower than this have two lines per run.
const NARROW: f32 = 480.0;

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let kept = kept_rows(ui, model, state);
    let Rows { runs, lines, columns, rate, less } = kept.as_ref();
    if runs.is_empty() {
        return no_runs(ui, model, state);
    }
    show_scroll_bars(ui);
    let moved = keys(ui, model, runs, state);
    let selected = state.run.filter(|number| runs.contains(number));
    let why = selected
        .and_then(|number| model.run(number))
        .map(|run| format!("{} on {}: {}", run.run.kernel, run.name(), run.why()));
    let hint = "Press the up and down arrow keys to select a run and see what limits its speed.";
    ui.label(match is_phone(ui.ctx()) {
        // There the details over the list say it.
        true => "Tap a run to see what limits its speed.",
        false => why.as_deref().unwrap_or(hint),
    });
    ui.add_space(SPACE * 0.5);
    let row = selected.filter(|_| needs_scroll(ui, state.run));
    let row = row.and_then(|number| lines.iter().position(|line| *line == Line::Run(number)));
    if ui.available_width() < NARROW {
        narrow::sorts(ui, columns, rate, *less, state);
        narrow::show(ui, model, lines, rate, state, row);
        return;
    }
    let widths = kept_widths(ui, model, columns, state);
    let table = laid_out(ui, columns, &widths, rate, *less, state);
    tell_dropped(ui, columns.len() - table.columns.len());
    draw(ui, model, lines, state, &table, (row, moved));
}

/// Draws the table; scrolls to a row, if given.
fn draw(
    ui: &mut Ui,
    model: &Model,
    lines: &[Line],
    state: &mut ViewState,
    table: &Table<'_>,
    (row, moved): (Option<usize>, Move),
) {
    let line = ui.spacing().interact_size.y;
    let gap = ui.spacing().item_spacing.y;
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.ctx().accesskit_node_builder(ui.unique_id(), |node| {
            node.set_role(Role::Table);
            node.set_label("Table of runs");
            node.set_row_count(lines.len());
            node.set_column_count(table.columns.len());
        });
        let view = ui.clip_rect();
        let mut builder = TableBuilder::new(ui)
            .striped(!state.grouped)
            .sense(Sense::click())
            .cell_layout(Layout::left_to_right(Align::Center))
            .max_scroll_height(f32::INFINITY)
            .animate_scrolling(false) // the room changes meanwhile, as when the details open
            .auto_shrink(false);
        for width in &table.widths {
            builder = builder.column(Width::exact(*width).clip(true));
        }
        let builder = builder.header(line + 6.0, |mut header| {
            for column in &table.columns {
                header.col(|ui| heading(ui, column, table.rate, table.less, state));
            }
        });
        let height = |of: &Line| match of {
            Line::Group { .. } => GROUP,
            Line::Run(_) => line,
        };
        builder.body(|mut body| {
            if let Some(row) = row {
                let above = lines.iter().take(row).map(|of| height(of) + gap).sum::<f32>();
                let top = body.ui_mut().max_rect().top() + above;
                into_view(body.ui_mut(), Rangef::new(top, top + line));
            }
            let mut show = |row: egui_extras::TableRow<'_, '_>| {
                if let Some(line) = lines.get(row.index()) {
                    show_line(row, model, *line, table, view, moved, state);
                }
            };
            match is_grouped(lines) {
                true => body.heterogeneous_rows(lines.iter().map(height), &mut show),
                false => body.rows(line, lines.len(), &mut show),
            }
        });
    });
}

fn is_grouped(lines: &[Line]) -> bool {
    matches!(lines.first(), Some(Line::Group { .. }))
}

/// Whether another run was selected since the last call, or there is less room, as when its details open:
/// its row is then scrolled into view.
fn needs_scroll(ui: &Ui, run: Option<usize>) -> bool {
    let place = Id::unique("runs: the selected one");
    let seen = ui.available_rect_before_wrap().intersect(ui.clip_rect());
    let now = (run, seen.height() as i32);
    let before = ui.data(|data| data.get_temp::<(Option<usize>, i32)>(place));
    ui.data_mut(|data| data.insert_temp(place, now));
    before.is_none_or(|(known, room)| known != run || now.1 < room)
}

/// Where the number of columns that do not fit is kept.
fn dropped() -> Id {
    Id::unique("runs: columns that do not fit")
}

/// Tells the settings how many columns do not fit.
fn tell_dropped(ui: &Ui, count: usize) {
    if ui.data(|data| data.get_temp(dropped())) != Some(count) {
        ui.data_mut(|data| data.insert_temp(dropped(), count));
        ui.ctx().request_repaint();
    }
}

/// The choice of columns; its name tells how many do not fit.
fn chooser(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let rows = kept_rows(ui, model, state);
    let columns = state.columns.clone();
    let shown: Vec<&str> = match columns.as_str() {
        "" => {
            let title = state.grouped.then_some("matrix"); // shown as the title of a group
            title.into_iter().chain(rows.columns.iter().map(|column| column.id)).collect()
        }
        chosen => chosen.split(',').collect(),
    };
    let dropped: usize = ui.data(|data| data.get_temp(dropped())).unwrap_or_default();
    let name = match dropped {
        0 => "Columns".to_owned(),
        1 => "+1 column".to_owned(),
        count => format!("+{count} columns"),
    };
    ui.menu_button(name, |ui| {
        // All columns are higher than the screen of a projector.
        let room = ui.ctx().content_rect().height() - 4.0 * SPACE;
        egui::ScrollArea::vertical().max_height(room).show(ui, |ui| {
            let mut chosen = shown;
            if dropped > 0 && ui.button("Show all of these columns").clicked() {
                state.columns = chosen.join(",");
            }
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
    });
}

/// A heading that sorts; the current one shows the direction.
fn heading(ui: &mut Ui, column: &Column, rate: &str, less: bool, state: &mut ViewState) {
    let sorted = state.sort == column.id;
    let inverse = less && column.id == "gflops";
    let (arrow, order) = match (sorted, state.descending != inverse) {
        (false, _) => ("", ""),
        (true, true) => ("▼", ", largest first"),
        (true, false) => ("▲", ", smallest first"),
    };
    let title = title(column, rate);
    let name = format!("Sort by {title}{order}");
    let title = RichText::new(title).font(strong(ui.ctx(), BODY));
    let arrow = RichText::new(arrow).family(egui::FontFamily::Monospace); // the font that has triangles
    let button = ui.add(egui::Button::new((title, arrow)).frame(false));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
    if button.on_hover_text(column.explain).clicked() {
        state.descending = if sorted { !state.descending } else { true };
        state.sort = column.id.into();
    }
}

/// The columns that fit, or those that were chosen, with their widths: text columns get what the others
/// leave, up to the width of their longest text.
fn laid_out<'a>(
    ui: &Ui,
    columns: &[&'static Column],
    cells: &[[f32; 2]],
    rate: &'a str,
    less: bool,
    state: &ViewState,
) -> Table<'a> {
    const ARROW: f32 = 20.0;
    // Texts are shortened to this share of their usual width.
    const LEAST: f32 = 0.8;
    let space = ui.spacing().item_spacing.x;
    let room = ui.available_width() - ui.spacing().scroll.bar_width - 2.0 * SPACE;
    let cells = |column: &Column| {
        let place = columns.iter().position(|other| other.id == column.id);
        place.and_then(|at| cells.get(at)).copied().unwrap_or_default()
    };
    let heading = |column: &Column| strong_width(title(column, rate), BODY) + ARROW;
    let whole = |column: &Column| {
        // A kernel has a square in front.
        let more = if column.id == "kernel" { 3.0 * SPACE } else { SPACE };
        heading(column).max(cells(column).iter().sum::<f32>() + more)
    };
    let least = |column: &Column| match column.number {
        true => whole(column),
        false => heading(column).max(whole(column).min(column.width * LEAST)),
    };
    let with_space = |column: &Column| least(column) + space;
    let shown = match state.columns.is_empty() {
        true => fitting(columns, room, with_space),
        false => columns.to_vec(),
    };
    let left = room - shown.iter().map(|column| with_space(column)).sum::<f32>();
    let cut: f32 = shown.iter().map(|column| whole(column) - least(column)).sum();
    let share = (left / cut.max(1.0)).clamp(0.0, 1.0);
    let width = |column: &Column| least(column) + (whole(column) - least(column)) * share;
    Table {
        // At whole points, as everything in egui.
        widths: shown.iter().map(|column| width(column).floor()).collect(),
        before: shown
            .iter()
            .map(|column| {
                let [before, _] = cells(column);
                before
            })
            .collect(),
        columns: shown,
        rate,
        less,
    }
}
