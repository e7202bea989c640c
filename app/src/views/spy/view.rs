//! The view: the pictures with what is said of them, and the same as a table and as SVG.

use std::ops::Range;
use std::sync::Arc;

use egui::{Color32, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};
use sparsescope_core::record::MatrixRecord;

use super::axes::{digits, index};
use super::draw::overlay_words;
use super::paint::paint_cells;
use super::place::Place;
use super::ranks::Ranks;
use super::scene::{Scene, Shown, subject};
use super::settings::settings;
use super::steer::steer;
use crate::figure::{Figure, Shape};
use crate::model::{Model, count, display_name};
use crate::state::{Numbering, ViewState};
use crate::views::provenance::record_provenance;
use crate::views::view::{View, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "spy",
    name: "Structure",
    sentence: "Where the entries of the selected matrix lie: darker or brighter cells hold more.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// Extent of a saved figure.
const SAVED: egui::Vec2 = vec2(1000.0, 820.0);
/// The picture scrolls where there is less room.
const LEAST_HEIGHT: f32 = 340.0;
/// Pixels to a point of a saved figure's cells.
const SAVED_PIXELS: f32 = 2.0;

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    match subject(model, state, false) {
        Ok((record, shown)) => {
            let room = vec2(ui.available_width() / shown.len() as f32, ui.available_height());
            ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = 0.0;
                    for one in &shown {
                        let column = |ui: &mut Ui| {
                            ui.set_width(room.x);
                            show_picture(ui, record, one, room, &mut *state);
                        };
                        ui.push_id(&one.key, |ui| ui.vertical(column));
                    }
                });
            });
        }
        Err(why) if why.is_empty() => {
            nothing(ui, "Numbering rows and columns anew …");
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
        }
        Err(why) => nothing(ui, &why),
    }
}

fn show_picture(
    ui: &mut Ui,
    record: &MatrixRecord,
    shown: &Shown,
    room: egui::Vec2,
    state: &mut ViewState,
) {
    let picture = &shown.picture;
    let lines = if shown.ranks.is_some() { 3.0 } else { 2.0 };
    let status = ui.text_style_height(&egui::TextStyle::Body) * lines + 16.0;
    let size = vec2(room.x, (room.y - status).max(LEAST_HEIGHT));
    let pixels = ui.ctx().pixels_per_point();
    let Some(scene) = Scene::new(shown, size, pixels, state) else { return };
    // Cells fall on pixels when the figure does.
    let corner = egui::emath::GuiRounding::round_to_pixels(ui.cursor().min, pixels);
    ui.add_space(corner.y - ui.cursor().min.y);
    let image = scene.place.area.translate(corner.to_vec2());
    let covered = scene.place.covered().translate(corner.to_vec2());
    ui.painter().rect_filled(covered, 0.0, scene.shade.empty);
    paint_cells(ui, picture, &scene, &shown.key, image, pixels);
    let figure = scene.figure(shown, state, Color32::TRANSPARENT);
    let what = match shown.caption.as_str() {
        "" => display_name(record),
        caption => format!("{}. {caption}", display_name(record)),
    };
    figure.show(ui, &format!("Structure of {what}"));

    let name = format!("Cells of {what}");
    let response = ui.interact(image, ui.scope_id().with("cells"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
    let screen = scene.place.on(image);
    steer(ui, &response, &screen, &mut state.spy.at);
    let under =
        response.hover_pos().and_then(|pointer| cell_words(shown, &scene, &screen, pointer));
    if let Some(words) = &under {
        response.on_hover_ui_at_pointer(|ui| {
            for line in words {
                ui.label(line);
            }
        });
    }
    ui.horizontal_wrapped(|ui| {
        let ranks = shown.ranks.as_ref().map(Ranks::words);
        for words in overlay_words(picture, &state.spy).into_iter().chain(ranks) {
            ui.label(format!("{words}. "));
        }
        ui.weak(resolution(record, &scene));
    });
}

/// What lies under the pointer.
fn cell_words(
    Shown { picture, other, .. }: &Shown,
    scene: &Scene<'_>,
    screen: &Place,
    pointer: egui::Pos2,
) -> Option<Vec<String>> {
    let (row, col) = screen.matrix(pointer);
    let (rows, cols) = (picture.pyramid.rows(), picture.pyramid.cols());
    if row < 0.0 || col < 0.0 || row >= rows as f64 || col >= cols as f64 {
        return None;
    }
    let shift = scene.cells.shift();
    let (r, c) = (row as usize >> shift, col as usize >> shift);
    let entries = scene.cells.count(r, c);
    let span = |cell: usize, n: usize| {
        let (first, last) = (cell << shift, (n - 1).min((cell << shift) | ((1 << shift) - 1)));
        if first == last { index(first) } else { format!("{} to {}", index(first), index(last)) }
    };
    let plural = |one: &str, cell: usize, n: usize| {
        let single = shift == 0 || (cell << shift) + 1 == n;
        format!("{one}{} {}", if single { "" } else { "s" }, span(cell, n))
    };
    let mut words = vec![
        plural("Row", r, rows),
        plural("Column", c, cols),
        format!("{} {}", digits(entries), if entries == 1 { "entry" } else { "entries" }),
    ];
    if let (Some(cells), Some(other)) = (&scene.other, other) {
        words.push(format!("{} in {}", digits(cells.count(r, c)), other.name));
    }
    if shift == 0
        && let Some(value) = picture.value(r, c)
    {
        words.push(format!("Value {}", value.concat()));
    }
    Some(words)
}

/// How fine the picture is, and how to look closer.
fn resolution(record: &MatrixRecord, scene: &Scene<'_>) -> String {
    let side = |shift: u32| index(1_usize << shift);
    let place = &scene.place;
    let view = match place.at() {
        None => format!("All {} entries", count(record.statistics.nnz)),
        Some(_) => {
            let (rows, cols) = (place.rows(), place.cols());
            let last = |range: &Range<usize>| index(range.end.saturating_sub(1));
            let of = |range: &Range<usize>| format!("{} to {}", index(range.start), last(range));
            format!("Rows {}, columns {}", of(&rows), of(&cols))
        }
    };
    let finest = match scene.finest {
        Some(_) if place.is_closest() => "the bundle keeps no finer picture".to_owned(),
        None | Some(0) => "every entry can be zoomed to".to_owned(),
        Some(shift) => format!("the bundle's finest cells are {0} × {0}", side(shift)),
    };
    format!("{view}; {finest}. Scroll to zoom, drag to move, double click for the whole.")
}

fn svg(model: &Model, state: &ViewState) -> String {
    let paper = state.theme.ink().paper;
    let mut whole = Figure::new(vec2(0.0, 0.0), paper);
    let Ok((record, shown)) = subject(model, state, true) else {
        return whole.to_svg(VIEW.sentence, &Default::default());
    };
    for one in &shown {
        let Some(scene) = Scene::new(one, SAVED, SAVED_PIXELS, state) else { continue };
        let mut figure = scene.figure(one, state, paper);
        let pixels = Arc::new(scene.image(SAVED_PIXELS));
        let image = Shape::Image { rect: scene.place.area, pixels };
        figure.shapes.insert(0, image);
        whole.put_beside(figure);
    }
    let title = format!("Structure of {}", display_name(record));
    whole.to_svg(&title, &record_provenance(model, record))
}

/// The cells in view that hold entries.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = [
        "matrix",
        "numbering",
        "first_row",
        "first_column",
        "rows",
        "columns",
        "entries",
        "compared_with",
        "entries_there",
    ];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok((record, shown)) = subject(model, state, true) else { return lines };
    for one in &shown {
        cells_in_view(&mut lines, record, one, state);
    }
    lines
}

fn cells_in_view(
    lines: &mut Vec<Vec<String>>,
    record: &MatrixRecord,
    shown: &Shown,
    state: &ViewState,
) {
    let picture = &shown.picture;
    let Some(scene) = Scene::new(shown, SAVED, 1.0, state) else { return };
    let renumbered = shown.key.ends_with(Numbering::Rcm.id());
    let numbering = if renumbered { Numbering::Rcm } else { Numbering::Stored };
    let shift = scene.cells.shift();
    let cells = |span: Range<usize>| span.start >> shift..((span.end - 1) >> shift) + 1;
    let (rows, cols) = (cells(scene.place.rows()), cells(scene.place.cols()));
    let (mut here, mut there) = (vec![0; cols.len()], vec![0; cols.len()]);
    let name = shown.other.as_ref().map_or("", |other| other.name.as_str());
    let side = |cell: usize, n: usize| (n - (cell << shift)).min(1 << shift).to_string();
    for r in rows {
        scene.cells.line(r, cols.start, &mut here);
        if let Some(other) = &scene.other {
            other.line(r, cols.start, &mut there);
        }
        let filled = cols.clone().zip(here.iter().zip(&there));
        for (c, (entries, others)) in filled.filter(|(_, (one, other))| *one + *other > 0) {
            lines.push(vec![
                record.name.clone(),
                numbering.id().into(),
                (r << shift).to_string(),
                (c << shift).to_string(),
                side(r, picture.pyramid.rows()),
                side(c, picture.pyramid.cols()),
                entries.to_string(),
                name.into(),
                if name.is_empty() { String::new() } else { others.to_string() },
            ]);
        }
    }
}
