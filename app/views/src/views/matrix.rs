//! One matrix: its picture and main figures, its kernels by rate, its statistics, its row lengths, and its size
//! in each format.

use egui::{Button, Grid, Label, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};
use sparsescope_core::bundle::is_known_by_name;
use sparsescope_core::record::{MatrixRecord, Source, Subject};
use sparsescope_figures::model::{
    Model, count, display_name, matrix_key, subject_key, subject_name,
};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, SPACE, TITLE};
use sparsescope_figures::views::matrix::{facts, figure, headline};
use sparsescope_figures::views::view::{none_shown, subject};

use super::ranking;
use super::view::{Screen, nothing};
use crate::paint::Paint;
use crate::{style, thumbs};

pub(super) const SCREEN: Screen = Screen { settings, more: None, show };

/// Edge of the picture, and in areas narrower than `NARROW`.
const TILE: f32 = 120.0;
const SMALL_TILE: f32 = 72.0;
const NARROW: f32 = 480.0;

/// Height of a button under a finger.
const FINGER: f32 = 44.0;

fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    ui.checkbox(&mut state.log, "Logarithmic row counts");
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let Some(of) = subject(model, state) else {
        return nothing(ui, &none_shown(model, "matrix"));
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        head(ui, model, state, of);
        ui.add_space(2.0 * SPACE);
        ranking::show(ui, model, state, &subject_key(of));
        ui.add_space(SPACE);
        match of {
            Subject::Matrix(record) => about_matrix(ui, model, state, record),
            Subject::Other(record) => {
                let sizes: Vec<(&str, String)> =
                    record.sizes.iter().map(|(name, size)| (name.as_str(), count(*size))).collect();
                table_of(ui, &sizes);
            }
        }
    });
}

/// The picture, and beside it the name, what tells it from others, and where to go from here.
fn head(ui: &mut Ui, model: &Model, state: &mut ViewState, of: Subject<'_>) {
    let is_narrow = ui.available_width() < NARROW;
    ui.horizontal_top(|ui| {
        if let Subject::Matrix(record) = of {
            let edge = if is_narrow { SMALL_TILE } else { TILE };
            let (rect, picture) = ui.allocate_exact_size(vec2(edge, edge), Sense::hover());
            let words = format!("Picture of {}", display_name(record));
            picture.widget_info(|| WidgetInfo::labeled(Role::Image, true, words.as_str()));
            thumbs::show(ui, model, &matrix_key(record), rect.shrink(1.0), state.theme);
            ui.add_space(SPACE);
        }
        ui.vertical(|ui| {
            let title = style::strong(ui.ctx(), TITLE);
            ui.add(Label::new(RichText::new(subject_name(of)).font(title)).wrap());
            match of {
                Subject::Matrix(record) => {
                    ui.add(Label::new(headline(record)).wrap());
                    origin(ui, "", record.source, record.generator.as_deref());
                }
                Subject::Other(record) => {
                    let kind = format!("{}, ", record.kind);
                    origin(ui, &kind, record.source, record.generator.as_deref());
                }
            }
            actions(ui, state, of, is_narrow);
        });
    });
}

/// Its kind and origin.
fn origin(ui: &mut Ui, kind: &str, source: Source, generator: Option<&str>) {
    let source = source.as_str();
    let words = match generator {
        Some(generator) => format!("{kind}{source}: {generator}"),
        None => format!("{kind}{source}"),
    };
    ui.add(Label::new(RichText::new(words).weak()).wrap());
}

/// The views that show more of it.
fn actions(ui: &mut Ui, state: &mut ViewState, of: Subject<'_>, is_narrow: bool) {
    let (name, key, accent) = (subject_name(of), subject_key(of), state.theme.ink().accent);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0 * SPACE;
        let height = if is_narrow { FINGER } else { ui.spacing().interact_size.y };
        let mut to = |words: &str, view: &str| {
            let button = Button::new(RichText::new(words).color(accent)).frame(false);
            let button = ui.add(button.min_size(vec2(0.0, height)));
            let label = format!("{words} of {name}");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, label.as_str()));
            if button.clicked() {
                state.matrix = Some(key.clone());
                view.clone_into(&mut state.view);
                if view == "runs" {
                    of.name().clone_into(&mut state.filter.search);
                }
            }
        };
        if matches!(of, Subject::Matrix(_)) {
            to("Structure", "spy");
            to("Layouts", "layouts");
        }
        to("Runs", "runs");
    });
}

fn about_matrix(ui: &mut Ui, model: &Model, state: &mut ViewState, record: &MatrixRecord) {
    let title = style::strong(ui.ctx(), BODY);
    ui.label(RichText::new("Statistics").font(title));
    if is_known_by_name(record) {
        ui.weak("Imported: only its name and size are known, and sometimes its row lengths. The rest is 0.");
    }
    table_of(ui, &facts(record));
    ui.add_space(2.0 * SPACE);
    let width = (ui.available_width() - 12.0).max(340.0);
    let name = format!("Row lengths and formats of {}", display_name(record));
    figure(record, &model.predicted(&matrix_key(record)), state, width).show(ui, &name);
}

/// Names and values, side by side where there is room for two of each.
fn table_of(ui: &mut Ui, facts: &[(&str, String)]) {
    let columns = if ui.available_width() > NARROW { 2 } else { 1 };
    let number = style::strong(ui.ctx(), BODY);
    let spacing = [3.0 * SPACE, SPACE];
    Grid::new("facts").num_columns(columns * 2).spacing(spacing).show(ui, |ui| {
        for line in facts.chunks(columns) {
            for (name, value) in line {
                ui.weak(*name);
                ui.label(RichText::new(value).font(number.clone()));
            }
            ui.end_row();
        }
    });
}
