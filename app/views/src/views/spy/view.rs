//! The pictures with their texts.

use std::ops::Range;

use egui::{Color32, Role, ScrollArea, Sense, TextStyle, Ui, WidgetInfo, vec2};
use sparsescope_figures::model::{Model, count, display_name, matrix_key};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::spy::axes::{digits, index};
use sparsescope_figures::views::spy::draw::overlay_words;
use sparsescope_figures::views::spy::place::Place;
use sparsescope_figures::views::spy::ranks::Ranks;
use sparsescope_figures::views::spy::scene::{Scene, Shown, Subject, is_known, offered, subject};
use sparsescope_figures::views::view::{made_again, unbroken};

use super::paint::paint_cells;
use super::settings::{more, settings};
use super::steer::steer;
use crate::paint::Paint;
use crate::style::is_phone;
use crate::views::view::{Screen, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

/// Below this height the picture scrolls.
const LEAST_HEIGHT: f32 = 250.0;

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    match subject(model, state, false) {
        Ok(of) => {
            if let Some(note) = &of.note {
                instead(ui, note, model, state);
            }
            let columns = of.shown.len() as f32;
            let room = vec2(ui.available_width() / columns, ui.available_height());
            ScrollArea::both().auto_shrink(false).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = 0.0;
                    for one in &of.shown {
                        let column = |ui: &mut Ui| {
                            ui.set_width(room.x);
                            show_picture(ui, &of, one, room, &mut *state);
                        };
                        ui.push_id(&one.key, |ui| ui.vertical(column));
                    }
                });
            });
        }
        Err(why) if why.is_empty() => {
            nothing(ui, "Reordering rows and columns …");
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
        }
        Err(why) => nothing(ui, &why),
    }
}

/// Why a grid is shown, and a button for a matrix.
fn instead(ui: &mut Ui, note: &str, model: &Model, state: &mut ViewState) {
    ui.horizontal_wrapped(|ui| {
        ui.weak(note);
        let Some(record) = offered(model, state) else { return };
        let name = display_name(record);
        let words = match is_known(model, record) {
            true => format!("Show {name}"),
            false => format!("Generate {name}, {} nonzeros", count(record.statistics.nnz)),
        };
        if ui.button(words).clicked() {
            model.make(record);
            state.matrix = Some(matrix_key(record));
        }
    });
}

fn show_picture(
    ui: &mut Ui,
    of: &Subject<'_>,
    shown: &Shown,
    room: egui::Vec2,
    state: &mut ViewState,
) {
    let picture = &shown.picture;
    let (pixels, phone) = (ui.ctx().pixels_per_point(), is_phone(ui.ctx()));
    let line = ui.text_style_height(&TextStyle::Body);
    let above = |lines: usize, state: &ViewState| {
        let status = line * lines as f32 + 16.0;
        let size = vec2(room.x, (room.y - status).max(LEAST_HEIGHT));
        Scene::new(shown, size, pixels, state)
    };
    let usual = if shown.ranks.is_some() { 3 } else { 2 };
    let Some(mut scene) = above(usual, state) else { return };
    let ranks = shown.ranks.as_ref().map(Ranks::words);
    let told = overlay_words(picture, &state.spy).into_iter().chain(ranks);
    let told: Vec<String> = told.map(|words| format!("{words}. ")).collect();
    let more = |scene: &Scene<'_>| {
        let resolution = resolution(picture.pyramid.entries(), scene);
        let resolution = unbroken(&format!("{resolution} {}", how_to_move(phone)));
        let recipe = picture.recipe.as_ref().map(|_| made_again(&of.name));
        recipe.into_iter().chain([resolution]).collect::<Vec<_>>()
    };
    let text = [told.as_slice(), &more(&scene)].concat().join("  ");
    let font = TextStyle::Body.resolve(ui.style());
    let lines = ui.painter().layout(text, font, Color32::PLACEHOLDER, room.x).rows.len();
    if lines > usual {
        let Some(lower) = above(lines, state) else { return };
        scene = lower;
    }
    // Cells align with pixels if the figure does.
    let corner = egui::emath::GuiRounding::round_to_pixels(ui.cursor().min, pixels);
    ui.add_space(corner.y - ui.cursor().min.y);
    let image = scene.place.area.translate(corner.to_vec2());
    let covered = scene.place.covered().translate(corner.to_vec2());
    ui.painter().rect_filled(covered, 0.0, scene.shade.empty);
    paint_cells(ui, picture, &scene, &shown.key, image, pixels);
    let figure = scene.figure(shown, state, Color32::TRANSPARENT);
    let what = match shown.caption.as_str() {
        "" => of.name.clone(),
        caption => format!("{}. {caption}", of.name),
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
    if phone {
        // These are lines of text, not targets.
        ui.spacing_mut().interact_size.y = line;
    }
    ui.horizontal_wrapped(|ui| {
        for words in told {
            ui.label(words);
        }
        for words in more(&scene) {
            ui.weak(words);
        }
    });
}

/// The text about what is under the pointer.
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
        format!("{} {}", digits(entries), if entries == 1 { "nonzero" } else { "nonzeros" }),
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

/// How to move in the picture, with a mouse or with fingers.
fn how_to_move(fingers: bool) -> &'static str {
    match fingers {
        true => "Pinch to zoom, drag to pan, tap twice to reset.",
        false => "Scroll to zoom, drag to pan, double-click to reset.",
    }
}

/// The resolution of the picture.
fn resolution(nonzeros: u64, scene: &Scene<'_>) -> String {
    let side = |shift: u32| index(1_usize << shift);
    let place = &scene.place;
    let view = match place.at() {
        None => format!("All {} nonzeros", count(nonzeros)),
        Some(_) => {
            let (rows, cols) = (place.rows(), place.cols());
            let last = |range: &Range<usize>| index(range.end.saturating_sub(1));
            let of = |range: &Range<usize>| format!("{} to {}", index(range.start), last(range));
            format!("Rows {}, columns {}", of(&rows), of(&cols))
        }
    };
    let finest = match scene.finest {
        Some(_) if place.is_closest() => "the bundle has no finer picture".to_owned(),
        None | Some(0) => "zoom in to individual nonzeros".to_owned(),
        Some(shift) => format!("the bundle's finest cells are {0} × {0}", side(shift)),
    };
    format!("{view}; {finest}.")
}
