//! The picture of the matrix with coloured rows: a strip next to them, and an overlay on the cells.

use std::sync::Arc;

use ecolor::Color32;
use emath::{Pos2, Rect, Vec2, pos2, vec2};

use super::colors::{self, Colors};
use super::front::{Front, lines};
use super::histogram::swatch;
use super::numbers::digits;
use super::{path, subject::Subject};
use crate::figure::ColorImage;
use crate::figure::{Anchor, Figure, Shape, area, text_width};
use crate::state::{ColorMap, Order, SpyState, Theme, ViewState};
use crate::theme::text_on;
use crate::views::spy::{Around, Frame, GAP, STRIP, Scene, Shown, TYPE, axes, caption, outline};
use crate::waves::Waves;

/// One order of a matrix's rows and how it is shown.
pub struct Told<'a> {
    pub subject: &'a Subject,
    pub waves: &'a Waves,
    pub order: Order,
    /// Number of levels done, if the sweep is stepped through.
    pub step: Option<usize>,
    pub with_path: bool,
    pub theme: Theme,
    pub colors: Colors,
    pub shown: Shown,
}

impl<'a> Told<'a> {
    pub fn new(subject: &'a Subject, waves: &'a Waves, order: Order, state: &ViewState) -> Self {
        let count = waves.wave(order).widths.len();
        let key = format!("{}-levels", subject.key);
        Self {
            subject,
            waves,
            order,
            step: state.levels.step.map(|step| (step as usize).min(count)),
            with_path: state.levels.path,
            theme: state.theme,
            colors: Colors::new(count, order, state.theme),
            shown: Shown::alone(subject.picture.clone(), key, subject.name.clone()),
        }
    }

    /// The critical path, if it is drawn.
    pub(super) fn path(&self) -> &[u32] {
        if self.with_path { &self.waves.wave(self.order).path } else { &[] }
    }

    /// The matrix in a figure of this size.
    pub fn scene(&self, size: Vec2, pixels: f32, spy: &SpyState) -> Option<Scene<'_>> {
        let around = Around { lines: 2.0, strip: true, profile: false, stretch: spy.stretch };
        let shape = (self.waves.rows(), self.waves.rows());
        let frame = Frame::with(size, shape, around);
        // Colours show levels, so the cells are drawn in ink.
        let spy = SpyState { map: ColorMap::Ink, against: String::new(), ..spy.clone() };
        Scene::framed(&self.shown, frame, pixels, &spy, self.theme)
    }

    /// The overlay on the cells, and the strip next to them: a row for each line of pixels.
    pub fn images(&self, scene: &Scene<'_>, pixels: f32) -> [ColorImage; 2] {
        let (shift, wave) = self.waves.seen(self.order, scene.place.rows().len());
        let front = Front { wave, shift };
        let lines = lines(&scene.place, self.waves.rows(), pixels);
        let over = colors::column(&lines, |rows| [self.colors.over(&front, rows, self.step)]);
        let strip = colors::column(&lines, |rows| self.colors.strip(&front, rows, self.step));
        [over, strip]
    }

    /// Area of the strip.
    pub fn strip(&self, scene: &Scene<'_>) -> Rect {
        let (left, place) = (scene.place.covered().max.x + GAP * 0.5, scene.place.area);
        area(left, place.min.y, left + STRIP, place.max.y)
    }

    /// The critical path over the cells.
    pub fn path_lines(&self, scene: &Scene<'_>) -> Vec<Vec<Pos2>> {
        path::lines(self.path(), &scene.place)
    }

    /// Everything except the cells and the images.
    pub fn figure(&self, scene: &Scene<'_>, path: &[Vec<Pos2>], paper: Color32) -> Figure {
        let ink = self.colors.ink;
        let mut figure = Figure::new(scene.frame.size(), paper);
        let order = match self.order {
            Order::Forward => "Forward sweep: rows ascending",
            Order::Backward => "Backward sweep: rows descending",
            Order::Colors => "Colour by colour",
        };
        caption(&mut figure, &self.subject.name, &[order], ink);
        axes(&mut figure, scene.frame.area, &scene.place, ink);
        let covered = scene.place.covered();
        outline(&mut figure, covered, ink.weak);
        let strip = self.strip(scene);
        let strip = strip.with_min_y(covered.min.y).with_max_y(covered.max.y);
        outline(&mut figure, strip, ink.weak);
        self.write_levels(&mut figure, scene, strip);
        for (width, color) in [(3.5, ink.paper), (1.6, ink.text)] {
            for points in path.iter().cloned() {
                figure.shapes.push(Shape::Line { points, width, color });
            }
        }
        self.mark_path(&mut figure, scene);
        self.legend(&mut figure, scene);
        figure
    }

    /// Writes the level of each row into the strip, if rows are tall enough.
    fn write_levels(&self, figure: &mut Figure, scene: &Scene<'_>, strip: Rect) {
        let (rows_per_point, _) = scene.place.per_point_each();
        if self.step.is_some() || rows_per_point * f64::from(TYPE) > 1.0 {
            return;
        }
        let (shift, wave) = self.waves.seen(self.order, scene.place.rows().len());
        let front = Front { wave, shift };
        for row in scene.place.rows() {
            let y = scene.place.y(row as f64 + 0.5);
            let Some([least, level, most]) = front.span(&(row..row + 1)) else { continue };
            if least == most && y > strip.min.y + 5.0 && y < strip.max.y - 5.0 {
                let color = text_on(self.colors.level(level));
                let (at, text) = (pos2(strip.center().x, y), level.to_string());
                let size = (STRIP * 1.7 / text.len() as f32).min(TYPE);
                if size >= self.theme.least_type() {
                    figure.text(at, Anchor::Middle, size, color, &text);
                }
            }
        }
    }

    /// Marks the row of the path that is being computed.
    fn mark_path(&self, figure: &mut Figure, scene: &Scene<'_>) {
        let row = self.step.and_then(|step| self.path().get(step).copied());
        let Some(row) = row else { return };
        let middle = f64::from(row) + 0.5;
        let at = pos2(scene.place.x(middle), scene.place.y(middle));
        if !scene.place.covered().expand(1.0).contains(at) {
            return;
        }
        let ink = self.colors.ink;
        figure.mark(at, crate::figure::Mark::Circle, 5.0, colors::NOW, ink.text);
        let text = format!("row {}", digits(u64::from(row)));
        let width = text_width(&text, TYPE) + 8.0;
        let left = (at.x + 9.0).min(scene.place.covered().max.x - width);
        figure.rect(area(left, at.y - 8.0, left + width, at.y + 8.0), ink.paper);
        figure.text(pos2(left + 4.0, at.y), Anchor::Start, TYPE, ink.text, &text);
    }

    /// The legend of the colours.
    fn legend(&self, figure: &mut Figure, scene: &Scene<'_>) {
        let (left, top) = (scene.frame.area.min.x, scene.frame.area.max.y + 16.0);
        let (ink, room) = (self.colors.ink, figure.size.x - 6.0);
        if self.step.is_some() {
            let items =
                [(colors::DONE, "done"), (colors::NOW, "now"), (self.colors.waiting(), "waiting")];
            let mut x = left;
            for (color, words) in items {
                swatch(figure, pos2(x, top), color, words, ink.text);
                x += 30.0 + text_width(words, TYPE);
            }
            below(figure, left, top + 20.0, room, ink.weak, "Strip: share of each line's rows");
            return;
        }
        if self.colors.are_apart() {
            let wide = 30.0 * self.colors.count as f32;
            let mut x = left.min((room - wide).max(2.0));
            for color in 0..self.colors.count as u32 {
                let fill = self.colors.level(color);
                swatch(figure, pos2(x, top), fill, &color.to_string(), ink.text);
                x += 30.0;
            }
            let text = "Strip: minimum, median, maximum colour";
            below(figure, left, top + 20.0, room, ink.weak, text);
            return;
        }
        let width = (scene.frame.area.width() * 0.8).min(260.0);
        let last = self.colors.count.saturating_sub(1);
        for k in 0..64_u8 {
            let x = left + width / 64.0 * f32::from(k);
            let level = (last as f32 * f32::from(k) / 63.0).round() as u32;
            let right = x + width / 64.0 + 0.5;
            figure.rect(area(x, top - 6.0, right, top + 6.0), self.colors.level(level));
        }
        let text = digits(last as u64);
        figure.text(pos2(left - 6.0, top), Anchor::End, TYPE, ink.text, "level 0");
        figure.text(pos2(left + width + 6.0, top), Anchor::Start, TYPE, ink.text, &text);
        below(figure, left, top + 20.0, room, ink.weak, "Strip: minimum, median, maximum level");
    }

    /// The picture as a saved figure: cells with the overlay, the strip, and everything around.
    pub(super) fn saved(&self, size: Vec2, pixels: f32, state: &ViewState) -> Option<Figure> {
        let scene = self.scene(size, pixels, &state.spy)?;
        let mut figure = self.figure(&scene, &self.path_lines(&scene), state.theme.ink().paper);
        let [over, strip] = self.images(&scene, pixels);
        let mut cells = scene.image(pixels);
        let width = cells.size[0].max(1);
        for (line, over) in cells.pixels.chunks_exact_mut(width).zip(&over.pixels) {
            let inside = line.iter_mut().filter(|cell| **cell != Color32::TRANSPARENT);
            inside.for_each(|cell| *cell = cell.blend(*over));
        }
        let images = [(scene.place.area, cells), (self.strip(&scene), strip)];
        for (rect, pixels) in images {
            figure.shapes.insert(0, Shape::Image { rect, pixels: Arc::new(pixels) });
        }
        Some(figure)
    }
}

/// Text that is shifted left if it would not fit.
fn below(figure: &mut Figure, x: f32, y: f32, room: f32, color: Color32, text: &str) {
    let x = x.min((room - text_width(text, TYPE)).max(2.0));
    figure.text(pos2(x, y), Anchor::Start, TYPE, color, text);
}

/// Least extent of a picture.
pub const LEAST_SIZE: Vec2 = vec2(260.0, 300.0);
