//! Every run in a table that sorts.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Align, Key, Layout, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Width, TableBuilder, TableRow};
use sparsescope_core::record::{Figures, Predicted};

use super::view::{View, kept, no_run, nothing};
use crate::figure::elided;
use crate::model::{Model, RunOf, count, seconds, significant, small};
use crate::state::ViewState;

pub(super) const VIEW: View = View {
    id: "runs",
    name: "Runs",
    sentence: "Every run that passes the filters; a heading sorts, a click tells all of a run.",
    settings,
    show,
    table,
    svg: None,
};

/// What a cell holds, for sorting and showing.
enum Cell {
    Text(String),
    Number(Option<f64>, fn(f64) -> String),
}

struct Column {
    id: &'static str,
    title: &'static str,
    width: f32,
    explain: &'static str,
    /// Stands at the right of its column.
    number: bool,
    cell: fn(&RunOf<'_>) -> Cell,
}

const COLUMNS: [Column; 18] = [
    Column {
        id: "matrix",
        title: "Matrix",
        width: 140.0,
        explain: "What it ran on",
        number: false,
        cell: |run| Cell::Text(run.name()),
    },
    Column {
        id: "kernel",
        title: "Kernel",
        width: 180.0,
        explain: "Kernel id: device or vendor, format, mapping",
        number: false,
        cell: |run| Cell::Text(run.run.kernel.clone()),
    },
    Column {
        id: "bundle",
        title: "Bundle",
        width: 110.0,
        explain: "The bundle that the run is in",
        number: false,
        cell: |run| Cell::Text(run.bundle.label().into()),
    },
    Column {
        id: "setting",
        title: "Setting",
        width: 110.0,
        explain: "Threads, threads a block, parameters of the format, precision where not f64",
        number: false,
        cell: |run| Cell::Text(run.setting()),
    },
    Column {
        id: "caches",
        title: "Caches",
        width: 76.0,
        explain: "Warm: as the execution before left them; flushed before each sample",
        number: false,
        cell: |run| Cell::Text(if run.run.hot { "warm" } else { "flushed" }.into()),
    },
    Column {
        id: "threads",
        title: "Threads",
        width: 76.0,
        explain: "Threads asked for",
        number: true,
        cell: |run| Cell::Number(Some(f64::from(run.run.threads)), |value| value.to_string()),
    },
    Column {
        id: "gflops",
        title: "GFLOPS",
        width: 80.0,
        explain: "The rate of the operation, from the median time",
        number: true,
        cell: |run| Cell::Number(run.rate(), significant),
    },
    Column {
        id: "gbs",
        title: "GB/s",
        width: 68.0,
        explain: "Minimal bytes a second / 10⁹",
        number: true,
        cell: |run| figure(run, |figures| Some(figures.gbs), significant),
    },
    Column {
        id: "predicted_gbs",
        title: "Moved GB/s",
        width: 100.0,
        explain: "Bytes that it is predicted to move a second / 10⁹, from the median time",
        number: true,
        cell: |run| {
            let median = run.run.figures.as_ref().map(|figures| figures.median_s);
            let rate = median.zip(run.predicted_bytes()).map(|(s, bytes)| bytes / s / 1e9);
            Cell::Number(rate, significant)
        },
    },
    Column {
        id: "pct_useful",
        title: "% useful",
        width: 82.0,
        explain: "Of the bytes that it is predicted to move, those that it asks for, in percent",
        number: true,
        cell: |run| {
            let share = predicted(run).and_then(Predicted::efficiency);
            Cell::Number(share.map(|share| share * 100.0), significant)
        },
    },
    Column {
        id: "load_sectors",
        title: "Sectors",
        width: 80.0,
        explain: "Predicted sectors of 32 bytes that its loads ask for, hits in caches included",
        number: true,
        cell: |run| {
            let sectors = predicted(run).and_then(|predicted| predicted.load_sectors);
            Cell::Number(sectors.map(|sectors| sectors as f64), |value| count(value as u64))
        },
    },
    Column {
        id: "pct_copy",
        title: "% copy",
        width: 76.0,
        explain: "GB/s in percent of the copy bandwidth with as many threads",
        number: true,
        cell: |run| figure(run, |figures| figures.pct_copy, significant),
    },
    Column {
        id: "speedup",
        title: "Speed-up",
        width: 84.0,
        explain: "Median time of the serial reference over this median",
        number: true,
        cell: |run| figure(run, |figures| figures.speedup, significant),
    },
    Column {
        id: "median_s",
        title: "Median",
        width: 84.0,
        explain: "Median time of one execution",
        number: true,
        cell: |run| figure(run, |figures| Some(figures.median_s), seconds),
    },
    Column {
        id: "check",
        title: "Check",
        width: 96.0,
        explain: "How the comparison with the reference ended; imported: by another program, not checked by Sparsescope",
        number: false,
        cell: |run| Cell::Text(run.verdict().into()),
    },
    Column {
        id: "worst",
        title: "Worst row",
        width: 92.0,
        explain: "Largest difference of a row from the reference, in units of its bound: up to 1 passes",
        number: true,
        cell: |run| Cell::Number(run.run.check.worst, significant),
    },
    Column {
        id: "rel_err",
        title: "Error",
        width: 92.0,
        explain: "Relative error: norm of the difference from the reference over the reference's norm",
        number: true,
        cell: |run| Cell::Number(run.run.check.rel_err, small),
    },
    Column {
        id: "s_paper",
        title: "s",
        width: 76.0,
        explain: "Paper 000's s: sum of the differences from the reference of at least 1e-10, over the rows",
        number: true,
        cell: |run| Cell::Number(run.run.check.s_paper, small),
    },
];

/// Columns that are shown unless others are chosen.
const USUAL: [&str; 12] = [
    "matrix", "kernel", "bundle", "setting", "caches", "gflops", "gbs", "pct_copy", "speedup",
    "median_s", "check", "rel_err",
];

/// Columns that say nothing where no run has a number there.
const SOME: [&str; 3] = ["gbs", "pct_copy", "rel_err"];

fn predicted<'a>(run: &RunOf<'a>) -> Option<&'a Predicted> {
    run.run.costs.predicted.as_ref()
}

fn figure(run: &RunOf<'_>, pick: fn(&Figures) -> Option<f64>, text: fn(f64) -> String) -> Cell {
    Cell::Number(run.run.figures.as_ref().and_then(pick), text)
}

impl Cell {
    /// What is shown; a dash for nothing.
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(Some(value), text) => text(*value),
            Self::Number(None, _) => "–".into(),
        }
    }

    /// Nothing comes before everything.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one, _), Self::Number(other, _)) => one.partial_cmp(other),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
        .unwrap_or(Ordering::Equal)
    }
}

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

/// The columns that are chosen; without a choice those worth their place: one bundle need not be
/// named in every line, nor what no run has.
fn columns(model: &Model, runs: &[RunOf<'_>], chosen: &str) -> Vec<&'static Column> {
    let named = |column: &&Column| chosen.split(',').any(|id| id == column.id);
    let found: Vec<&Column> = COLUMNS.iter().filter(named).collect();
    if !found.is_empty() {
        return found;
    }
    let several = model.bundles().len() > 1;
    let any = |column: &Column| {
        runs.iter().any(|run| matches!((column.cell)(run), Cell::Number(Some(_), _)))
    };
    let worth = |column: &&Column| match column.id {
        "bundle" => several,
        "caches" => runs.iter().any(|run| !run.run.hot),
        id => USUAL.contains(&id) && (!SOME.contains(&id) || any(column)),
    };
    COLUMNS.iter().filter(worth).collect()
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

/// Widths that fill the view: texts share what the numbers leave, down to a least.
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
        state.view = super::matrix::VIEW.id.into();
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
    use crate::why::tests;

    #[test]
    fn columns_are_those_that_are_chosen_or_worth_their_place() {
        let (mut run, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let plain = tests::model(vec![run.clone()], statistics.clone(), environment.clone());
        run.costs.predicted = Some(Predicted {
            load_sectors: Some(2_800_000),
            store_sectors: Some(200_000),
            useful_bytes: Some(24_000_000),
            ..Predicted::default()
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
}
