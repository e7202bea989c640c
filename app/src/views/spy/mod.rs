//! The picture of a matrix's structure, from all of it to single entries.

mod choose;
mod difference;
mod draw;
#[cfg(feature = "gpu")]
pub mod gpu;
mod image;
mod overlay;
mod place;
mod shade;

use std::sync::Arc;

use egui::{
    Color32, ColorImage, Key, Modifiers, Rect, Response, Role, ScrollArea, Sense, Ui, WidgetInfo,
    pos2, vec2,
};
use sparsescope_core::record::MatrixRecord;

use self::choose::{choose, number};
use self::difference::Other;
use self::draw::{Frame, around, caption, index, legend, numbering_words, overlay_words};
use self::place::Place;
use self::shade::Shade;
use super::{View, nothing, record_provenance, selected};
use crate::figure::{Figure, Shape};
use crate::model::{Model, count, display_name, matrix_key};
use crate::picture::{Cells, Picture};
use crate::state::spy::{MOST_HACK, MOST_PARTS};
use crate::state::{ColorMap, Numbering, Scale, Split, SpyState, ViewState};

pub(super) const VIEW: View = View {
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

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    difference::settings(ui, model, state);
    let spy = &mut state.spy;
    choose(ui, "Colours", &mut spy.map, ColorMap::ALL, ColorMap::name);
    choose(ui, "Scale", &mut spy.scale, Scale::ALL, Scale::name);
    choose(ui, "Numbering", &mut spy.numbering, Numbering::ALL, Numbering::name);
    number(ui, "Threads", "none", &mut spy.parts, MOST_PARTS);
    if spy.parts > 0 {
        choose(ui, "Split", &mut spy.split, Split::ALL, Split::name);
    }
    number(ui, "Hack size", "none", &mut spy.hack, MOST_HACK);
    ui.checkbox(&mut spy.stretch, "Fill")
        .on_hover_text("Scale rows and columns apart, so that the matrix fills the picture");
    let whole = ui.add_enabled(spy.at.is_some(), egui::Button::new("Whole matrix"));
    if whole.on_hover_text("Key 0, or a double click").clicked() {
        spy.at = None;
    }
}

/// A picture among those that are drawn.
struct Shown {
    picture: Arc<Picture>,
    /// The matrix's key and the numbering's word.
    key: String,
    /// Which numbering or difference this is; empty for the matrix alone as its file has it.
    caption: String,
    /// What it is compared with.
    other: Option<Other>,
}

/// The selected matrix with its pictures, or why there is nothing to draw. Without `wait`, an empty
/// reason says that a picture is being made.
fn subject<'a>(
    model: &'a Model,
    state: &ViewState,
    wait: bool,
) -> Result<(&'a MatrixRecord, Vec<Shown>), String> {
    let Some(record) = selected(model, state) else {
        return Err("No matrix passes the filters.".into());
    };
    let picture = model.picture(&matrix_key(record));
    let picture =
        picture.map_err(|why| format!("No picture of {}: {why}.", display_name(record)))?;
    if picture.pyramid.rows() == 0 || picture.pyramid.cols() == 0 {
        let (rows, cols) = (picture.pyramid.rows(), picture.pyramid.cols());
        return Err(format!("{} has {rows} rows and {cols} columns.", display_name(record)));
    }
    let numbering = state.spy.numbering;
    let mut shown = Vec::new();
    if numbering != Numbering::Rcm {
        let other = difference::other(model, state)?;
        let caption = match (numbering, &other) {
            (Numbering::Both, _) => numbering_words("As stored", &picture),
            (_, Some(other)) => format!("{} and {}", display_name(record), other.name),
            _ => String::new(),
        };
        shown.push(Shown { picture: picture.clone(), key: matrix_key(record), caption, other });
    }
    if numbering != Numbering::Stored {
        let renumbered = match wait {
            true => Some(picture.renumbered()),
            false => picture.renumbered_soon(),
        };
        let renumbered = renumbered.ok_or_else(String::new)?.as_ref();
        let picture = renumbered
            .map_err(|why| format!("{} has no other numbering. {why}", display_name(record)))?
            .clone();
        let caption = numbering_words("Reverse Cuthill–McKee", &picture);
        let key = format!("{}-{}", matrix_key(record), Numbering::Rcm.id());
        shown.push(Shown { picture, key, caption, other: None });
    }
    Ok((record, shown))
}

/// What is drawn, once the size is known.
struct Scene<'a> {
    frame: Frame,
    place: Place,
    cells: Cells<'a>,
    /// Cells of the same rows and columns of what it is compared with.
    other: Option<Cells<'a>>,
    shade: Shade,
}

impl<'a> Scene<'a> {
    fn new(shown: &'a Shown, size: egui::Vec2, pixels: f32, state: &ViewState) -> Option<Self> {
        let (spy, picture) = (&state.spy, &shown.picture);
        let shape = (picture.pyramid.rows(), picture.pyramid.cols());
        let frame = Frame::new(size, shape, spy);
        let place = Place::new(frame.area, shape, spy.at, spy.stretch);
        let per_pixel = place.per_point() / f64::from(pixels);
        let of = |picture: &'a Picture, per_pixel| {
            picture.cells(per_pixel, &place.rows(), &place.cols())
        };
        let mut cells = of(picture, per_pixel)?;
        let mut other = match &shown.other {
            Some(other) => Some(of(&other.picture, per_pixel)?),
            None => None,
        };
        // The finest that both have.
        let finer = |other: &Cells<'_>| other.shift() != cells.shift();
        if let Some(at_hand) = other.as_ref().filter(|other| finer(other)) {
            let shift = at_hand.shift().max(cells.shift());
            let per_pixel = (1_u64 << shift.min(62)) as f64;
            cells = of(picture, per_pixel)?;
            other = shown.other.as_ref().and_then(|other| of(&other.picture, per_pixel));
        }
        let shade = Shade::new(spy.scale, spy.map, state.theme, picture.spread(&cells));
        Some(Self { frame, place, cells, other, shade })
    }

    /// The cells in view as an image.
    fn image(&self, pixels: f32) -> ColorImage {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        image::paint(self.cells.shift(), &self.place, pixels, |line, first, colors| {
            here.resize(colors.len(), 0);
            self.cells.line(line, first, &mut here);
            let Some(other) = &self.other else {
                colors.iter_mut().zip(&here).for_each(|(c, n)| *c = self.shade.color(*n));
                return;
            };
            there.resize(colors.len(), 0);
            other.line(line, first, &mut there);
            for (color, (here, there)) in colors.iter_mut().zip(here.iter().zip(&there)) {
                *color = difference::color(&self.shade, *here, *there);
            }
        })
    }

    /// Everything but the cells.
    fn figure(&self, shown: &Shown, state: &ViewState, paper: Color32) -> Figure {
        let mut figure = Figure::new(self.frame.size(), paper);
        caption(&mut figure, &shown.caption, state.theme.ink());
        around(&mut figure, &self.frame, &self.place, &shown.picture, &state.spy, state.theme);
        let ink = state.theme.ink();
        match &shown.other {
            None => legend(&mut figure, &self.frame, &self.cells, &self.shade, ink),
            Some(other) => {
                let names = (other.here.as_str(), other.name.as_str());
                difference::legend(&mut figure, &self.frame, names, &self.cells, ink);
            }
        }
        figure
    }
}

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
    let status = ui.text_style_height(&egui::TextStyle::Body) * 2.0 + 16.0;
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
    steer(ui, &response, &screen, &mut state.spy);
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
        for words in overlay_words(picture, &state.spy) {
            ui.label(format!("{words}."));
        }
        ui.weak(resolution(record, picture, &scene));
    });
}

/// Pans and zooms by pointer and, once the cells have the focus, by keys.
fn steer(ui: &Ui, response: &Response, place: &Place, spy: &mut SpyState) {
    if response.clicked() {
        response.request_focus();
    }
    if response.double_clicked() {
        spy.at = None;
        return;
    }
    if response.dragged() {
        spy.at = place.moved(response.drag_delta());
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = (-f64::from(scroll) * 0.004).exp() / f64::from(pinch);
        if factor != 1.0 {
            spy.at = place.zoomed(pointer, factor);
            // What zooms here does not scroll what is around.
            ui.input_mut(|input| input.smooth_scroll_delta = egui::Vec2::ZERO);
        }
    }
    if response.has_focus() {
        // Arrows move the picture here, not the focus.
        ui.memory_mut(|memory| {
            let filter = egui::EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                ..Default::default()
            };
            memory.set_focus_lock_filter(response.id, filter);
        });
        let step = place.area.size() * 0.1;
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let moves = [
            (Key::ArrowLeft, vec2(step.x, 0.0)),
            (Key::ArrowRight, vec2(-step.x, 0.0)),
            (Key::ArrowUp, vec2(0.0, step.y)),
            (Key::ArrowDown, vec2(0.0, -step.y)),
        ];
        for (key, by) in moves {
            if pressed(key) {
                spy.at = place.moved(by);
            }
        }
        let zooms = [(Key::Plus, 0.5), (Key::Equals, 0.5), (Key::Minus, 2.0)];
        for (key, factor) in zooms {
            if pressed(key) {
                spy.at = place.zoomed(place.area.center(), factor);
            }
        }
        if pressed(Key::Num0) {
            spy.at = None;
        }
    }
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
        let (first, last) = (cell << shift, n.min((cell + 1) << shift) - 1);
        if first == last { index(first) } else { format!("{} to {}", index(first), index(last)) }
    };
    let plural = |one: &str, cell: usize, n: usize| {
        let single = shift == 0 || (cell << shift) + 1 == n;
        format!("{one}{} {}", if single { "" } else { "s" }, span(cell, n))
    };
    let mut words = vec![
        plural("Row", r, rows),
        plural("Column", c, cols),
        format!("{} {}", index(entries as usize), if entries == 1 { "entry" } else { "entries" }),
    ];
    if let (Some(cells), Some(other)) = (&scene.other, other) {
        words.push(format!("{} in {}", index(cells.count(r, c) as usize), other.name));
    }
    if shift == 0
        && let Some(value) = picture.value(r, c)
    {
        words.push(format!("Value {value}"));
    }
    Some(words)
}

/// How fine the picture is, and how to look closer.
fn resolution(record: &MatrixRecord, picture: &Picture, scene: &Scene<'_>) -> String {
    let finest = picture.pyramid.levels().first().map_or(0, |level| level.shift());
    let side = |shift: u32| index(1_usize << shift);
    let place = &scene.place;
    let view = match place.at() {
        None => format!("All {} entries", count(record.statistics.nnz)),
        Some(_) => {
            let (rows, cols) = (place.rows(), place.cols());
            let last = |range: &std::ops::Range<usize>| index(range.end.saturating_sub(1));
            let of = |range: &std::ops::Range<usize>| {
                format!("{} to {}", index(range.start), last(range))
            };
            format!("Rows {}, columns {}", of(&rows), of(&cols))
        }
    };
    let finest = match (finest, picture.values.is_some()) {
        (0, _) | (_, true) => "every entry can be zoomed to".to_owned(),
        (shift, false) => {
            format!("the bundle's finest cells are {0} × {0}", side(shift))
        }
    };
    format!("{view}; {finest}. Scroll to zoom, drag to move, double click for the whole.")
}

/// Paints the cells: on the graphics adapter when there is one, else as an image.
fn paint_cells(
    ui: &Ui,
    picture: &Arc<Picture>,
    scene: &Scene<'_>,
    key: &str,
    rect: Rect,
    pixels: f32,
) {
    #[cfg(feature = "gpu")]
    if let (Cells::Level(number, _), None) = (&scene.cells, &scene.other)
        && gpu::is_ready(ui.ctx())
    {
        let call = gpu::Call::new(picture, key, *number, &scene.place, &scene.shade);
        ui.painter().add(call.shape(rect));
        return;
    }
    let _ = (picture, key);
    let drawn = scene.image(pixels);
    let texture = cached_texture(ui, drawn);
    let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    ui.painter().image(texture, rect, uv, Color32::WHITE);
}

/// The texture of an image, uploaded only when the image is another than the last.
fn cached_texture(ui: &Ui, drawn: ColorImage) -> egui::TextureId {
    type Cached = (Arc<ColorImage>, egui::TextureHandle);
    let id = ui.scope_id().with("cells image");
    if let Some((last, texture)) = ui.data(|data| data.get_temp::<Cached>(id))
        && *last == drawn
    {
        return texture.id();
    }
    let drawn = Arc::new(drawn);
    let texture = ui.ctx().load_texture("cells", drawn.clone(), egui::TextureOptions::NEAREST);
    let id_of = texture.id();
    ui.data_mut(|data| data.insert_temp(id, (drawn, texture)));
    id_of
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
    let cells = |span: std::ops::Range<usize>| span.start >> shift..((span.end - 1) >> shift) + 1;
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

#[cfg(test)]
mod tests;
