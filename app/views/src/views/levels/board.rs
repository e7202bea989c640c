//! One order of the rows on screen: the matrix, the grid points, the widths, the sentences.

use std::sync::Arc;

use egui::{Color32, Id, Role, Sense, Ui, Vec2, WidgetInfo, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Order, ViewState};
use sparsescope_figures::views::levels::front::Front;
use sparsescope_figures::views::levels::numbers::Numbers;
use sparsescope_figures::views::levels::saved::{histogram, points_figure};
use sparsescope_figures::views::levels::sheet::{self, Told};
use sparsescope_figures::views::levels::{grid, histogram, numbers};
use sparsescope_figures::views::spy::{Place, Scene};
use sparsescope_figures::views::view::unbroken;

use crate::paint::Paint;
use crate::views::spy::{paint_cells, paint_image, steer};
use crate::views::view::kept;

/// Gap between parts side by side.
const GAP: f32 = 12.0;

/// If the area is wider than this times its height, the widths are beside the picture.
const WIDE: f32 = 1.15;

/// Minimum width of pictures side by side.
const LEAST_BESIDE: f32 = 240.0;

/// The size of each part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rooms {
    /// Widths and sentences are beside the pictures, not below.
    pub(super) beside: bool,
    /// The pictures are side by side.
    pub(super) in_a_row: bool,
    /// Size of each picture.
    pub(super) picture: Vec2,
    pub(super) widths: Vec2,
}

impl Rooms {
    /// For this number of pictures of a minimum size, with or without widths, above or beside sentences of
    /// this height.
    pub(super) fn new(room: Vec2, pictures: usize, least: Vec2, widths: bool, words: f32) -> Self {
        let beside = pictures > 0 && (widths || words > 0.0) && room.x > WIDE * room.y;
        let (left, right) = (room.x * 0.56, room.x * 0.44 - GAP);
        let bars = match (beside, widths && pictures > 0) {
            (true, _) => vec2(right, (room.y - words).min(right * 0.8)),
            // The user may scroll to the sentences.
            (false, true) => vec2(room.x, (room.y * 0.32).min(room.x * 0.8)),
            (false, false) => vec2(room.x, room.y - words),
        };
        let bars = bars.max(histogram::LEAST_SIZE);
        let column = match (beside, widths) {
            (true, _) => vec2(left, room.y),
            (false, true) => vec2(room.x, room.y - bars.y - GAP),
            (false, false) => vec2(room.x, room.y - words),
        };
        let count = pictures.max(1) as f32;
        let in_a_row = pictures > 1 && column.x - GAP > LEAST_BESIDE * count;
        let of = match in_a_row {
            true => vec2((column.x - GAP) / count, column.y),
            false if beside => vec2(column.x, column.y / count),
            false => column,
        };
        Self { beside, in_a_row, picture: of.max(least), widths: bars }
    }
}

/// Draws the order; a click changes the step.
pub(super) fn show(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, room: Vec2) {
    let shows = |part: &str| state.levels.shows(part);
    let with_grid = told.subject.grid.is_some() && shows("points");
    let (matrix, widths) = (shows("matrix") || told.subject.grid.is_none(), shows("widths"));
    let wave = told.waves.wave(told.order);
    let words = if shows("words") { Numbers::of(wave).words(told.order) } else { Vec::new() };
    let lines: f32 =
        words.iter().map(|text| (text.chars().count() as f32 * 6.6 / room.x).ceil()).sum();
    let pictures = usize::from(matrix) + usize::from(with_grid);
    let least = if matrix { sheet::LEAST_SIZE } else { grid::LEAST_SIZE };
    let rooms = Rooms::new(room, pictures, least, widths, lines * 22.0);
    let squares = |ui: &mut Ui, state: &mut ViewState| {
        if with_grid {
            points(ui, told, rooms.picture);
        }
        if matrix {
            picture(ui, model, told, state, rooms.picture);
        }
    };
    let rest = |ui: &mut Ui, state: &mut ViewState| {
        if widths {
            bars(ui, model, told, state, rooms.widths);
        }
        if rooms.beside {
            ui.set_max_width(rooms.widths.x);
        }
        for text in &words {
            ui.label(unbroken(text));
        }
    };
    let both = |ui: &mut Ui, state: &mut ViewState| match rooms.in_a_row {
        true => drop(ui.horizontal_top(|ui| squares(ui, state))),
        false => drop(ui.vertical(|ui| squares(ui, state))),
    };
    match rooms.beside {
        true => drop(ui.horizontal_top(|ui| {
            both(ui, state);
            ui.vertical(|ui| rest(ui, state));
        })),
        false => {
            both(ui, state);
            rest(ui, state);
        }
    }
}

/// The accessible name of an order.
fn order_words(told: &Told<'_>) -> String {
    format!("{}, {}", told.subject.name, told.order.name())
}

fn points(ui: &mut Ui, told: &Told<'_>, size: Vec2) {
    let Some(grid) = told.subject.grid else { return };
    points_figure(told, grid, size).show(ui, &format!("Points of {}", order_words(told)));
}

fn picture(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, size: Vec2) {
    ui.push_id(told.order, |ui| {
        ui.vertical(|ui| picture_of(ui, model, told, state, size));
    });
}

fn picture_of(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, size: Vec2) {
    let pixels = ui.ctx().pixels_per_point();
    let Some(scene) = told.scene(size, pixels, &state.spy) else { return };
    // Cells align with pixels if the figure does.
    let corner = egui::emath::GuiRounding::round_to_pixels(ui.cursor().min, pixels);
    ui.add_space(corner.y - ui.cursor().min.y);
    let corner = egui::pos2(ui.cursor().min.x, corner.y);
    let on_screen = |rect: egui::Rect| rect.translate(corner.to_vec2());
    let area = on_screen(scene.place.area);
    ui.painter().rect_filled(on_screen(scene.place.covered()), 0.0, scene.shade.empty);
    let name = order_words(told);
    if told.order == Order::Colors && state.levels.order != Order::Colors {
        // The GPU draws a matrix once per frame.
        let from =
            (told.shown.key.clone(), model.revision(), scene.place, scene.shade, pixels.to_bits());
        let image = kept(ui, "cells beside", from, || Arc::new(scene.image(pixels)));
        paint_image(ui, "cells image", (*image).clone(), area);
    } else {
        let key = &told.shown.key;
        paint_cells(ui, &told.shown.picture, &scene, key, area, pixels);
    }
    let from = (
        (told.shown.key.clone(), model.revision()),
        (scene.place, told.step, told.theme, pixels.to_bits()),
    );
    let kept_as = format!("levels of {}", told.order.id());
    let images = kept(ui, &kept_as, from, || told.images(&scene, pixels).map(Arc::new));
    let [over, strip] = &*images;
    paint_image(ui, "over the cells", over.clone(), area);
    paint_image(ui, "strip beside", strip.clone(), on_screen(told.strip(&scene)));
    let from = (told.shown.key.clone(), model.revision(), scene.place, told.with_path);
    let kept_as = format!("path of {}", told.order.id());
    let path = kept(ui, &kept_as, from, || told.path_lines(&scene));
    let figure = told.figure(&scene, &path, Color32::TRANSPARENT);
    figure.show(ui, &format!("Levels of {name}"));
    let response = ui.interact(area, ui.scope_id().with("rows"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, format!("Rows of {name}")));
    let screen = scene.place.on(area);
    steer(ui, &response, &screen, &mut state.spy.at);
    if let Some(text) = response.hover_pos().and_then(|at| row_words(told, &scene, &screen, at)) {
        response.on_hover_text_at_pointer(text);
    }
}

/// The text about the rows under the pointer.
fn row_words(told: &Told<'_>, scene: &Scene<'_>, screen: &Place, at: egui::Pos2) -> Option<String> {
    let rows = told.waves.rows();
    let (first, _) = screen.matrix(at);
    let (rows_per_point, _) = screen.per_point_each();
    if first < 0.0 || first >= rows as f64 {
        return None;
    }
    let first = first as usize;
    let count = (rows_per_point.round() as usize).clamp(1, rows - first);
    let (shift, wave) = told.waves.seen(told.order, scene.place.rows().len());
    let [least, median, most] = Front { wave, shift }.span(&(first..first + count))?;
    let number = |of: usize| numbers::digits(of as u64);
    let whom = match count {
        1 => format!("Row {}", number(first)),
        _ => format!("Rows {} to {}", number(first), number(first + count - 1)),
    };
    let word = if told.order == Order::Colors { "colour" } else { "level" };
    let [least, median, most] = [least, median, most].map(|level| level as usize);
    Some(match least == most {
        true => {
            format!("{whom}: {}", histogram::words(told.waves.wave(told.order), told.order, least))
        }
        false => format!(
            "{whom}: {word}s {} to {}, median {}",
            number(least),
            number(most),
            number(median)
        ),
    })
}

fn bars(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, size: Vec2) {
    let wave = told.waves.wave(told.order);
    let from = (
        (told.shown.key.clone(), model.revision()),
        (told.step, told.theme, [size.x.to_bits(), size.y.to_bits()]),
    );
    let kept_as = format!("widths of {}", told.order.id());
    let drawn = kept(ui, &kept_as, from, || histogram(told, size));
    let corner = ui.cursor().min;
    drawn.figure.show(ui, &format!("Widths of the levels of {}", order_words(told)));
    let place = drawn.bars.translate(corner.to_vec2());
    let id = Id::unique(("widths", told.order));
    let response = ui.interact(place, id, Sense::click_and_drag());
    let name = format!("Bars of {}: click to go to a level", order_words(told));
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
    if let Some(at) = response.interact_pointer_pos().or(response.hover_pos()) {
        let level = drawn.level(at.x - corner.x);
        if (response.clicked() || response.dragged()) && told.order == state.levels.order {
            state.levels.step = Some(level as u32);
        }
        response.on_hover_text_at_pointer(histogram::words(wave, told.order, level));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Vec2 = grid::LEAST_SIZE;

    #[test]
    fn wide_places_have_the_widths_beside_the_picture_and_narrow_ones_below() {
        let wide = Rooms::new(vec2(1200.0, 700.0), 1, LEAST, true, 100.0);
        assert!(wide.beside && wide.picture.x > 600.0 && wide.widths.x > 400.0, "{wide:?}");
        let tall = Rooms::new(vec2(500.0, 800.0), 1, LEAST, true, 100.0);
        assert!(!tall.beside && tall.picture.y + tall.widths.y <= 800.0, "{tall:?}");
        let lesson = Rooms::new(vec2(420.0, 390.0), 1, LEAST, true, 0.0);
        assert!(lesson.picture.y + lesson.widths.y <= 390.0, "{lesson:?}");
        let phone = Rooms::new(vec2(358.0, 600.0), 1, LEAST, true, 200.0);
        assert!(phone.picture.x <= 358.0 && phone.widths.x <= 358.0, "{phone:?}");
        let two = Rooms::new(vec2(640.0, 600.0), 2, LEAST, true, 100.0);
        assert!(two.in_a_row && two.picture.x < 320.0, "{two:?}");
    }
}
