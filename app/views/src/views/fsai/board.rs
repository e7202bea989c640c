//! The view on screen: the patterns, the gathered row or the bars, the sentences.

use std::sync::Arc;

use egui::{Color32, Id, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Theme, ViewState};
use sparsescope_figures::views::fsai::gather::{self, Dense};
use sparsescope_figures::views::fsai::sheet::{self, Told};
use sparsescope_figures::views::fsai::{bars, numbers};

use crate::paint::Paint;
use crate::views::spy::{paint_image, steer};
use crate::views::view::kept;

/// Gap between parts side by side.
const GAP: f32 = 12.0;

/// If the area is wider than this and wider than high, everything else is beside the patterns.
const WIDE: f32 = 390.0;

/// The nonzero under the pointer, kept from one frame to the next.
#[derive(Clone, Copy, Default, PartialEq)]
struct Pointed(Option<(u32, u32)>);

/// Draws the view; a click changes the gathered row.
pub(super) fn show(
    ui: &mut Ui,
    model: &Model,
    mut told: Told<'_>,
    state: &mut ViewState,
    room: Vec2,
) {
    let shows = |part: &str| state.fsai.shows(part);
    let (patterns, gather, sentences) = (shows("patterns"), shows("gather"), shows("words"));
    let alone = !(gather || sentences);
    let beside = patterns && !alone && room.x > WIDE.max(room.y);
    let (left, right) = match (patterns, beside) {
        (_, true) => {
            let left = (room.x * 0.56).min(room.y.max(room.x * 0.5));
            (vec2(left, room.y), vec2(room.x - left - GAP, room.y))
        }
        (true, false) if alone => (room, Vec2::ZERO),
        (true, false) => {
            let high = (room.y * 0.62).max(room.x.min(room.y) + 40.0).min(room.y);
            (vec2(room.x, high), vec2(room.x, (room.y - high).max(room.x * 1.25)))
        }
        (false, false) => (Vec2::ZERO, room),
    };
    let id = Id::unique("entry of a preconditioner");
    let Pointed(last) = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    told.pointed = last.filter(|_| told.gathered.is_some());
    let mut pointed = None;
    let words = if sentences { numbers::words(told.set_up, state.fsai.row) } else { Vec::new() };
    let theme = state.theme;
    let rest = |ui: &mut Ui, pointed: &mut Option<(u32, u32)>| {
        ui.set_max_width(right.x);
        let lines: f32 =
            words.iter().map(|text| (text.chars().count() as f32 * 7.2 / right.x).ceil()).sum();
        if gather {
            match told.gathered.is_some() {
                true => *pointed = system(ui, &told, right - vec2(0.0, lines * 24.0 + 8.0), theme),
                false => {
                    let figure = bars::figure(told.set_up, told.stage, &told.colors, right.x);
                    figure.show(ui, &format!("Nonzeros of {}", told.name()));
                }
            }
        }
        for text in &words {
            ui.label(text);
        }
    };
    let layout = |ui: &mut Ui| {
        if patterns {
            pointed = ui
                .vertical(|ui| picture(ui, model, &told, state, left.max(sheet::LEAST_SIZE)))
                .inner;
        }
        if !alone {
            let mut there = None;
            ui.vertical(|ui| rest(ui, &mut there));
            pointed = pointed.or(there);
        }
    };
    match beside {
        true => drop(ui.horizontal_top(layout)),
        false => drop(ui.vertical(layout)),
    }
    if pointed != last {
        ui.data_mut(|data| data.insert_temp(id, Pointed(pointed)));
        ui.ctx().request_repaint();
    }
}

/// The patterns; returns the nonzero under the pointer.
fn picture(
    ui: &mut Ui,
    model: &Model,
    told: &Told<'_>,
    state: &mut ViewState,
    size: Vec2,
) -> Option<(u32, u32)> {
    let pixels = ui.ctx().pixels_per_point();
    // Cells align with pixels if the figure does.
    let corner = egui::emath::GuiRounding::round_to_pixels(ui.cursor().min, pixels);
    ui.add_space(corner.y - ui.cursor().min.y);
    let corner = pos2(ui.cursor().min.x, corner.y);
    let sheet = told.sheet(size, &state.spy);
    let area = sheet.place.area.translate(corner.to_vec2());
    let from = (
        (told.subject.key.clone(), model.revision(), told.subject.asked, state.fsai.row),
        (told.stage, sheet.place, state.theme, pixels.to_bits()),
    );
    let image = kept(ui, "patterns", from, || Arc::new(told.image(&sheet.place, pixels)));
    paint_image(ui, "patterns image", (*image).clone(), area);
    let figure = told.figure(&sheet, Color32::TRANSPARENT);
    figure.show(ui, &format!("Patterns of {}", told.name()));
    let response = ui.interact(area, ui.scope_id().with("entries"), Sense::click_and_drag());
    let name = format!("Nonzeros of {}: click to gather a row", told.name());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
    let screen = sheet.place.on(area);
    let at = response.hover_pos().and_then(|at| {
        let (row, col) = screen.matrix(at);
        let inside = |of: f64| (0.0..told.set_up.rows() as f64).contains(&of);
        (inside(row) && inside(col)).then_some((row as u32, col as u32))
    });
    if let Some((row, _)) = at
        && response.clicked()
    {
        state.fsai.row = if state.fsai.row == Some(row) { None } else { Some(row) };
    }
    steer(ui, &response, &screen, &mut state.spy.at);
    if let Some((row, col)) = at {
        response.on_hover_text_at_pointer(told.cell_words(row, col));
    }
    at
}

/// The gathered row's system; returns the nonzero under the pointer.
fn system(ui: &mut Ui, told: &Told<'_>, size: Vec2, theme: Theme) -> Option<(u32, u32)> {
    let of = told.gathered.as_ref()?;
    let dense = Dense::new(of, told.pointed, (&told.colors, theme), size.max(gather::LEAST_SIZE));
    let corner = ui.cursor().min;
    let name = format!("Dense system of row {} of {}", of.row, told.subject.name);
    dense.figure.show(ui, &name);
    let place = egui::Rect::from_min_size(corner, dense.figure.size);
    let response = ui.interact(place, Id::unique("dense system"), Sense::hover());
    let at = dense.entry(of, response.hover_pos()? - corner.to_vec2());
    if let Some((row, col)) = at {
        response.on_hover_text_at_pointer(told.cell_words(row, col));
    }
    at
}
