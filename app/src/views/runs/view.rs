//! Every run in a table that sorts.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Align, Key, Layout, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Width, TableBuilder, TableRow};

use super::columns::{COLUMNS, Cell, Column, columns, widths};
use super::narrow;
use crate::figure::elided;
use crate::model::{Model, RunOf};
use crate::state::ViewState;
use crate::views::view::{View, kept, no_run, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "runs",
    name: "Runs",
    sentence: "Every run that passes the filters; a heading sorts, a click tells all of a run.",
    settings,
    show,
    table,
    svg: None,
};

/// The table but for its cells: what takes a look at every run.
struct Rows {
    /// Numbers of the runs, line by line.
    runs: Vec<usize>,
    columns: Vec<&'static Column>,
    /// Title of the column of rates.
    rate: String,
}

/// The runs that pass, sorted as the state says; equal ones stay in their order.
fn rows(model: &Model, state: &ViewState) -> Rows {
    let runs = model.runs(&state.filter);
    let columns = columns(model, &runs, &state.columns);
    let rate = rate_title(&runs);
    let Some(column) = COLUMNS.iter().find(|column| column.id == state.sort) else {
        return Rows { runs: runs.iter().map(|run| run.index).collect(), columns, rate };
    };
    let mut cells: Vec<_> = runs.iter().map(|run| ((column.cell)(run), run.index)).collect();
    crate::order::sort_by(&mut cells, |(one, _), (other, _)| {
        let order = one.compare(other);
        if state.descending { order.reverse() } else { order }
    });
    Rows { runs: cells.into_iter().map(|(_, number)| number).collect(), columns, rate }
}

/// The unit that the runs are rated in.
fn rate_title(runs: &[RunOf<'_>]) -> String {
    let units: BTreeSet<&str> =
        runs.iter().filter_map(|run| Some(run.metric()?.unit.as_str())).collect();
    match units.len() {
        1 => units.into_iter().collect(),
        _ => "Rate".into(),
    }
}

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    ui.weak(format!("{} runs", model.count(&state.filter)));
    let shown = kept_rows(ui, model, state);
    chooser(ui, &shown.columns, state);
}

/// The rows, found when something changed.
fn kept_rows(ui: &Ui, model: &Model, state: &ViewState) -> Arc<Rows> {
    let order = (state.sort.clone(), state.descending, state.columns.clone());
    let from = (model.revision(), state.filter.clone(), order);
    kept(ui, "runs", from, || rows(model, state))
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let rows = rows(model, state);
    let id = |column: &Column| match column.id {
        "gflops" => rows.rate.to_lowercase(),
        id => id.to_owned(),
    };
    let mut lines = vec![COLUMNS.iter().map(id).collect::<Vec<_>>()];
    for run in rows.runs.into_iter().filter_map(|number| model.run(number)) {
        let cells = COLUMNS.iter().map(|column| match (column.cell)(&run) {
            Cell::Text(text) => text,
            Cell::Number(value, _) => value.map(|value| value.to_string()).unwrap_or_default(),
        });
        lines.push(cells.collect());
    }
    lines
}

/// Narrower places have two lines a run.
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
    let hint = "Up and down arrows select a run and say why it is as fast as it is.";
    ui.label(why.as_deref().unwrap_or(hint));
    ui.add_space(4.0);
    if ui.available_width() < NARROW {
        narrow::sorts(ui, columns, rate, state);
        narrow::show(ui, model, runs, rate, state);
        return;
    }
    let widths = widths(columns, ui);
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
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

/// Lets columns be chosen.
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
        if ui.button("The usual ones").clicked() {
            state.columns.clear();
        }
    });
}

/// The row of the selected run.
fn row_of(runs: &[usize], state: &ViewState) -> Option<usize> {
    let selected = state.run?;
    runs.iter().position(|run| *run == selected)
}

/// Moves the selection by the arrow keys; whether it moved.
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
        state.view = crate::views::matrix::VIEW.id.into();
    }
    run.is_some()
}

fn select(run: &RunOf<'_>, state: &mut ViewState) {
    state.run = Some(run.index);
    state.matrix = Some(run.key());
}

/// A heading that sorts; the one sorted by says which way.
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
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
    if response.clicked() {
        select(run, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::solved;
    use crate::why::tests;

    #[test]
    fn columns_are_those_that_are_chosen_or_worth_their_place() {
        let (mut run, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let plain = tests::model(vec![run.clone()], statistics.clone(), environment.clone());
        run.costs.predicted = Some(sparsescope_core::record::Predicted {
            load_sectors: Some(2_800_000),
            store_sectors: Some(200_000),
            useful_bytes: Some(24_000_000),
            ..Default::default()
        });
        let model = tests::model(vec![run], statistics, environment);
        const PREDICTIONS: [&str; 3] = ["load_sectors", "pct_useful", "predicted_gbs"];
        let ids = |state: &ViewState| {
            rows(&model, state).columns.iter().map(|column| column.id).collect::<Vec<_>>()
        };
        let mut state = ViewState::default();
        let usual =
            ["matrix", "kernel", "setting", "gflops", "gbs", "pct_copy", "speedup", "median_s"];
        assert_eq!(ids(&state), [&usual[..], &["check"]].concat());
        state.columns = "kernel,load_sectors,nonsense".into();
        assert_eq!(ids(&state), ["kernel", "load_sectors"]);
        state.columns = "nonsense".into();
        assert_eq!(ids(&state)[0], "matrix");
        // 3 M sectors are 96 MB, moved in 1 ms; 24 MB of them are useful.
        let lines = table(&model, &state);
        let cell = |id: &str| {
            let place = lines[0].iter().position(|column| column == id).unwrap();
            lines[1][place].as_str()
        };
        assert_eq!(PREDICTIONS.map(cell), ["2800000", "25", "96"]);
        assert!(table(&plain, &state)[1].iter().filter(|cell| cell.is_empty()).count() >= 3);
    }

    #[test]
    fn solves_have_columns_of_their_own_and_tell_how_they_ended() {
        let mut limited = solved::run(solved::SERIAL, &[], 40, &[("values", 80.0)]);
        limited.solve.as_mut().unwrap().ended = "limited by rounding".into();
        let model = solved::model(vec![
            limited,
            solved::run(solved::SERIAL, &[("precond", "jacobi")], 100, &[("diagonal", 1.0)]),
        ]);
        let state = ViewState::from_fragment("v1;operation=solve").unwrap();
        let shown = rows(&model, &state).columns;
        let own = ["set_up_s", "iterations", "true_residual", "condition", "density"];
        assert!(own.iter().all(|id| shown.iter().any(|column| column.id == *id)));
        let lines = table(&model, &state);
        let place = |id: &str| lines[0].iter().position(|column| column == id).unwrap();
        let cells = |line: usize| own.map(|id| lines[line][place(id)].as_str());
        // The slower one comes first.
        assert_eq!(cells(1), ["0.001", "100", "0.0000000002", "4", ""]);
        assert_eq!(cells(2), ["0.08", "40", "0.0000000002", "4", "0.2"]);
        assert_eq!(lines[2][place("check")], "limited by rounding");
        assert_eq!(lines[1][place("setting")], "1 thread; b a1; format a csr; tol 1e-10; x0 zero");
        assert_eq!(lines[2][place("method")], "FSAI k 2");
        assert!(shown.iter().all(|column| column.id != "median_s"), "it is their rate");
    }
}
