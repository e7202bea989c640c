//! One matrix: its figures, its row lengths, and its size in each format.

use egui::{Grid, ScrollArea, Ui};
use sparsescope_core::bundle::is_known_by_name;
use sparsescope_core::record::{MatrixRecord, Source, Subject, SubjectRecord};
use sparsescope_figures::model::{
    Model, count, display_name, matrix_key, subject_key, subject_name,
};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::matrix::{facts, figure};
use sparsescope_figures::views::view::subject;

use super::ranking;
use super::view::{Screen, nothing};
use crate::paint::Paint;

pub(super) const SCREEN: Screen = Screen { settings, more: None, show };

fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    ui.checkbox(&mut state.log, "Logarithmic row counts");
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let Some(of) = subject(model, state) else {
        return nothing(ui, "No matrix passes the filters.");
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.heading(subject_name(of));
        match of {
            Subject::Matrix(record) => about_matrix(ui, model, state, record),
            Subject::Other(record) => about_other(ui, model, state, record),
        }
    });
}

/// Its kind and origin.
fn origin(ui: &mut Ui, kind: &str, source: Source, generator: Option<&str>) {
    let source = source.as_str();
    ui.weak(match generator {
        Some(generator) => format!("{kind}{source}: {generator}"),
        None => format!("{kind}{source}"),
    });
}

fn about_matrix(ui: &mut Ui, model: &Model, state: &mut ViewState, record: &MatrixRecord) {
    origin(ui, "", record.source, record.generator.as_deref());
    if is_known_by_name(record) {
        ui.weak("Imported: only its name and size are known, and sometimes its row lengths. The rest is 0.");
    }
    ui.add_space(6.0);
    ranking::show(ui, model, state, &matrix_key(record));
    table_of(ui, &facts(record));
    ui.add_space(10.0);
    let width = (ui.available_width() - 12.0).max(340.0);
    let name = format!("Row lengths and formats of {}", display_name(record));
    figure(record, &model.predicted(&matrix_key(record)), state, width).show(ui, &name);
}

/// The properties of a subject that is not a matrix.
fn about_other(ui: &mut Ui, model: &Model, state: &mut ViewState, record: &SubjectRecord) {
    origin(ui, &format!("{}, ", record.kind), record.source, record.generator.as_deref());
    ui.add_space(6.0);
    ranking::show(ui, model, state, &subject_key(record.into()));
    let sizes: Vec<(&str, String)> =
        record.sizes.iter().map(|(name, size)| (name.as_str(), count(*size))).collect();
    table_of(ui, &sizes);
}

/// Names and values in as many columns as fit.
fn table_of(ui: &mut Ui, facts: &[(&str, String)]) {
    let columns = match ui.available_width() {
        width if width > 760.0 => 3,
        width if width > 500.0 => 2,
        _ => 1,
    };
    let grid = Grid::new("facts").num_columns(columns * 2).striped(true).spacing([18.0, 6.0]);
    grid.show(ui, |ui| {
        for line in facts.chunks(columns) {
            for (name, value) in line {
                ui.weak(*name);
                ui.label(value);
            }
            ui.end_row();
        }
    });
}
