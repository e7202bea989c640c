//! One view in its place: what it shows in a sentence, its settings, its export, and the view.

use egui::{Align, Layout, Role, ScrollArea, Ui, WidgetInfo};

use sparsescope_core::bundle::spreadsheet_cell;

use super::export::Export;
use crate::model::Model;
use crate::state::ViewState;
use crate::views::{View, layouts, needs_no_bundle, teaches};

/// Files that were asked for, and what went wrong.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) exports: Vec<Export>,
    pub(super) failures: Vec<String>,
}

/// Narrower panes have the export below the settings.
const WIDE: f32 = 640.0;

/// Draws the view into all of the place, one of so many.
pub(super) fn show(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &mut ViewState,
    saved: &mut Saved,
    panes: usize,
) {
    let side = if panes > 1 { 10.0 } else { 16.0 };
    let rect = ui.max_rect().shrink2(egui::vec2(side, 8.0));
    ui.scope_builder(egui::UiBuilder::new().max_rect(rect).id_salt(view.id), |ui| {
        ui.set_clip_rect(ui.clip_rect().intersect(rect.expand2(egui::vec2(side, 8.0))));
        let teaches = teaches(view, model, state);
        if !teaches || state.layouts.tools {
            ui.scope(|ui| head(ui, view, model, state, saved, panes > 1));
            ui.separator();
        }
        let draw = |ui: &mut Ui, state: &mut ViewState| {
            if model.bundles().is_empty() && !needs_no_bundle(view) {
                return welcome(ui);
            }
            (view.show)(ui, model, state);
        };
        if teaches && !needs_no_bundle(view) {
            layouts::beside(ui, model, state, draw);
        } else {
            draw(ui, state);
        }
    });
}

fn head(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &mut ViewState,
    saved: &mut Saved,
    several: bool,
) {
    let size = if several { 14.0 } else { 15.0 };
    let sentence = egui::Label::new(egui::RichText::new(view.sentence).size(size)).wrap();
    // Text and buttons of a line have one middle.
    ui.spacing_mut().interact_size.y = 24.0;
    let wide = ui.available_width() >= WIDE;
    if wide {
        let line = egui::vec2(ui.available_width(), ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(line, Layout::right_to_left(Align::Center), |ui| {
            export(ui, view, model, state, saved, several);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(sentence));
        });
    } else {
        ui.add(sentence);
    }
    ui.horizontal_wrapped(|ui| {
        (view.settings)(ui, model, state);
        if !wide {
            export(ui, view, model, state, saved, several);
        }
    });
}

/// What is to be done while nothing is open; scrolls where there is little room.
fn welcome(ui: &mut Ui) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.vertical_centered(|ui| {
            ui.heading("Drop a result bundle here");
            ui.weak("`sparsescope bench` writes one: a .zip with everything it measured.");
        });
    });
}

fn export(
    ui: &mut Ui,
    view: &View,
    model: &Model,
    state: &ViewState,
    saved: &mut Saved,
    several: bool,
) {
    let file = |extension| format!("sparsescope-{}.{extension}", view.id);
    let mut button = |text: &str, hover: &str| {
        let button = ui.button(text);
        if several {
            let name = format!("{text} of {}", view.name);
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
        }
        button.on_hover_text(hover).clicked()
    };
    if button("Save CSV", "What is drawn, as a table") {
        match csv_text(&(view.table)(model, state)) {
            Ok(bytes) => saved.exports.push(Export::new(file("csv"), bytes)),
            Err(error) => {
                saved.failures.push(format!("The table could not be written: {error}."));
            }
        }
    }
    let Some(svg) = view.svg else { return };
    if button("Save SVG", "The figure, for a paper") {
        saved.exports.push(Export::new(file("svg"), svg(model, state).into_bytes()));
    }
    if button("Save PNG", "The figure as an image, for slides") {
        match png(file("png"), svg(model, state)) {
            Ok(export) => saved.exports.push(export),
            Err(error) => saved.failures.push(error),
        }
    }
}

/// Pixels to a point of a saved image.
#[cfg(not(target_family = "wasm"))]
pub(crate) const PIXELS: f32 = 2.0;

#[cfg(not(target_family = "wasm"))]
fn png(name: String, svg: String) -> Result<Export, String> {
    let bytes = crate::figure::png::render(&svg, PIXELS)
        .map_err(|error| format!("The image could not be made: {error}."))?;
    Ok(Export::new(name, bytes))
}

#[cfg(target_family = "wasm")]
fn png(name: String, svg: String) -> Result<Export, String> {
    Ok(Export { rasterise: true, ..Export::new(name, svg.into_bytes()) })
}

/// Lines of cells as CSV that a spreadsheet opens without running anything.
pub(crate) fn csv_text(lines: &[Vec<String>]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        let cells = line.iter().map(|cell| spreadsheet_cell(cell).into_owned());
        writer.write_record(cells)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
