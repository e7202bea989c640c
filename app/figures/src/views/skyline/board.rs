//! The scatter plot and the pairs on the screen, and their reactions to the pointer.

use std::sync::Arc;

use egui::{Pos2, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use super::look::Look;
use super::moved;
use super::pairs::Pairs;
use super::plot::{Plot, columns};
use super::saved;
use super::sheet::{Frame, LEAST_SIZE, Told};
use crate::figure::{Figure, area};
use crate::model::Model;
use crate::state::ViewState;
use crate::views::spy::{paint_image, steer};
use crate::views::view::kept;

/// Space between side-by-side parts.
const GAP: f32 = 12.0;
/// An area wider than this times its height has the pairs next to the scatter plot.
const WIDE: f32 = 1.15;
/// Maximum distance from the pointer to a point it selects, in points.
const NEAR: f32 = 14.0;

/// The space of each part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rooms {
    /// The pairs are next to the scatter plot, not below it.
    pub(super) beside: bool,
    pub(super) scatter: Vec2,
    pub(super) pairs: Vec2,
}

impl Rooms {
    /// With or without pairs, above sentences of this height.
    pub(super) fn new(room: Vec2, with_pairs: bool, words: f32) -> Self {
        let height = room.y - words;
        let beside = with_pairs && room.x > WIDE * room.y;
        let (scatter, pairs) = match (with_pairs, beside) {
            (false, _) => (vec2(room.x, height.min(room.x * 1.1)), Vec2::ZERO),
            (true, true) => {
                let right = (room.x * 0.44 - GAP).min(room.y);
                (vec2(room.x - right - GAP, height), vec2(right, room.y))
            }
            // The user can scroll to what is below.
            (true, false) => (
                vec2(room.x, (height * 0.66).min(room.x * 1.1)),
                vec2(room.x, room.x.min(room.y * 0.9)),
            ),
        };
        Self { beside, scatter: scatter.max(LEAST_SIZE), pairs }
    }
}

/// Draws it; clicks change the state.
pub(super) fn show(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, room: Vec2) {
    let dimensions = told.subject.cloud.picture.axes.len();
    let words: Vec<String> =
        [told.selected_words(), told.part_words()].into_iter().flatten().collect();
    let lines: f32 =
        words.iter().map(|text| (text.chars().count() as f32 * 6.9 / room.x).ceil()).sum();
    let pairs = |size| Pairs::new(dimensions, size).filter(|_| state.skyline.pairs);
    let with_pairs = pairs(room).is_some();
    let rooms = Rooms::new(room, with_pairs, lines * 24.0);
    let pairs = pairs(rooms.pairs);
    let left = |ui: &mut Ui, state: &mut ViewState| {
        scatter(ui, model, told, state, rooms.scatter);
        ui.scope(|ui| {
            ui.set_max_width(rooms.scatter.x);
            for text in &words {
                ui.label(text);
            }
        });
    };
    match (rooms.beside, pairs) {
        (true, Some(pairs)) => drop(ui.horizontal_top(|ui| {
            ui.vertical(|ui| left(ui, state));
            ui.vertical(|ui| triangle(ui, model, told, state, &pairs));
        })),
        (_, pairs) => {
            left(ui, state);
            if let Some(pairs) = pairs {
                triangle(ui, model, told, state, &pairs);
            }
        }
    }
}

fn on_pixels(ui: &mut Ui, pixels: f32) -> Pos2 {
    let corner = egui::emath::GuiRounding::round_to_pixels(ui.cursor().min, pixels);
    ui.add_space(corner.y - ui.cursor().min.y);
    pos2(ui.cursor().min.x, corner.y)
}

fn dimensions(told: &Told<'_>) -> String {
    let [x, y] = told.subject.axes;
    format!("{}, dimensions {x} and {y}", told.subject.name)
}

fn scatter(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, size: Vec2) {
    let pixels = ui.ctx().pixels_per_point();
    let frame = told.frame(size);
    let corner = on_pixels(ui, pixels);
    let within = frame.plot.area();
    let place = within.translate(corner.to_vec2());
    let Frame { plot, .. } = &frame;
    told.under(&frame).paint(ui.painter(), corner);
    moved::show(ui, model, told, (plot, frame.marks), place);
    let response = ui.interact(place, ui.scope_id().with("scatter"), Sense::click_and_drag());
    let name = format!("Points of {}: click to select the nearest", dimensions(told));
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
    let pointed = response
        .hover_pos()
        .filter(|_| !response.dragged())
        .and_then(|at| nearest(told, plot, at - corner.to_vec2()));
    let figure = told.over(&frame, pointed);
    figure.show(ui, &format!("Scatter of {}", dimensions(told)));
    if response.has_focus() {
        ui.painter().rect_stroke(
            place.expand(1.0),
            0.0,
            ui.visuals().selection.stroke,
            egui::StrokeKind::Outside,
        );
    }
    let screen = plot.place.on(place);
    steer(ui, &response, &screen, &mut state.skyline.at);
    if response.clicked() {
        let number = |place: usize| told.subject.cloud.picture.indices.get(place).copied();
        state.skyline.point = pointed.and_then(number);
    }
    if let Some(place) = pointed {
        response.on_hover_text_at_pointer(told.point_words(place));
    }
}

/// The point nearest to a position of the figure; on a tie the one drawn last.
pub(super) fn nearest(told: &Told<'_>, plot: &Plot, at: Pos2) -> Option<usize> {
    let picture = &told.subject.cloud.picture;
    let mut best = (NEAR * NEAR, None, Look::Hidden);
    // Few multiplications per point: even a hundred thousand points take less than a millisecond.
    let [left, low] = plot.values(at + vec2(-NEAR, NEAR));
    let [right, high] = plot.values(at + vec2(NEAR, -NEAR));
    let all = columns(picture, told.subject.axes).zip(&told.looks.of).enumerate();
    for (place, ([x, y], look)) in all.filter(|(_, (_, look))| **look != Look::Hidden) {
        let (x, y) = (f64::from(x), f64::from(y));
        if x < left || x > right || y < low || y > high {
            continue;
        }
        let there = pos2(plot.x(x), plot.y(y));
        let distance = (there - at).length_sq();
        let is_over = distance == best.0 && *look as u8 >= best.2 as u8;
        if plot.area().expand(0.5).contains(there) && (distance < best.0 || is_over) {
            best = (distance, Some(place), *look);
        }
    }
    best.1
}

fn triangle(ui: &mut Ui, model: &Model, told: &Told<'_>, state: &mut ViewState, pairs: &Pairs) {
    let pixels = ui.ctx().pixels_per_point();
    let corner = on_pixels(ui, pixels);
    let within = pairs.area();
    let skyline = &told.state.skyline;
    // The zoom and the selected pair change none of the small plots.
    let shown = (skyline.step, skyline.algorithm, skyline.dropped, skyline.alike);
    let sizes = [within.width(), pixels].map(f32::to_bits);
    let from = ((told.subject.key.clone(), model.revision()), shown, sizes, told.state.theme);
    let image = kept(ui, "pairs", from, || Arc::new(pairs.image(told, pixels)));
    let place = within.translate(corner.to_vec2());
    let behind = Figure::new(pairs.size, told.inks.ink.paper);
    behind.paint(ui.painter(), corner);
    paint_image(ui, "pairs image", (*image).clone(), place);
    let figure = pairs.figure(told, egui::Color32::TRANSPARENT);
    figure.show(ui, &format!("Pairs of dimensions of {}", told.subject.name));
    for ([x, y], rect) in &pairs.cells {
        let rect: Rect = rect.translate(corner.to_vec2());
        let id = ui.scope_id().with(("pair", x, y));
        let response = ui.interact(rect, id, Sense::click());
        let name = format!("Dimensions {x} and {y}");
        let chosen = told.subject.axes == [*x, *y];
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, &name));
        if response.hovered() || response.has_focus() {
            let stroke = ui.visuals().selection.stroke;
            ui.painter().rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Outside);
        }
        if response.on_hover_text(&name).clicked() {
            (state.skyline.axes, state.skyline.at) = ([*x as u32, *y as u32], None);
        }
    }
}

/// The same as a saved figure.
pub(super) fn saved(told: &Told<'_>) -> Figure {
    let mut whole = saved::scatter(told, vec2(700.0, 640.0), 2.0);
    let dimensions = told.subject.cloud.picture.axes.len();
    if let Some(pairs) =
        Pairs::new(dimensions, vec2(620.0, 620.0)).filter(|_| told.state.skyline.pairs)
    {
        whole.put_beside(pairs.saved(told, 2.0));
    }
    let words = [told.step_words(), told.part_words(), told.selected_words()];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let ink = told.inks.ink;
    let mut text = Figure::new(vec2(700.0, 20.0 * words.len() as f32), ink.paper);
    for (line, words) in words.iter().enumerate() {
        let at = area(10.0, 20.0 * line as f32, 10.0, 20.0 * line as f32 + 16.0).center();
        text.text(at, crate::figure::Anchor::Start, 13.0, ink.text, words);
    }
    whole.put_below(text);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_places_have_the_pairs_beside_the_scatter_and_narrow_ones_below() {
        let wide = Rooms::new(vec2(1200.0, 700.0), true, 24.0);
        assert!(wide.beside && wide.scatter.x + wide.pairs.x < 1200.0, "{wide:?}");
        assert!(wide.scatter.y + 24.0 <= 700.0 && wide.pairs.y <= 700.0, "{wide:?}");
        let lesson = Rooms::new(vec2(420.0, 390.0), false, 24.0);
        assert!(!lesson.beside && lesson.scatter.y + 24.0 <= 390.0, "{lesson:?}");
        let phone = Rooms::new(vec2(358.0, 600.0), true, 48.0);
        assert!(!phone.beside && phone.scatter.x <= 358.0 && phone.pairs.x <= 358.0, "{phone:?}");
    }
}
