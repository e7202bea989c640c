//! Cells drawn in lines: the dense picture of the matrix and the arrays of its formats.

use std::sync::Arc;

use egui::{Color32, Pos2, Rect, pos2, vec2};

use sparsescope_core::layout::Array;

use super::cells::{Cell, Owner, Strip};
use super::moment::Moment;
use super::threads::Parts;
use super::walk::{Machine, Walk};
use crate::figure::{Anchor, Figure, Shape, area, text_width};
use crate::theme::{Ink, series};

/// Sides of a cell, in points.
pub(super) const CELL: egui::Vec2 = egui::vec2(30.0, 24.0);
/// Room for an array's name.
pub(super) const NAMES: f32 = 76.0;
pub(super) const TYPE: f32 = 13.0;
const SMALL: f32 = 10.0;
/// Between the lines of an array that takes several, and between arrays.
const GAP: f32 = 8.0;

/// A place that a pointer finds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spot {
    pub(super) rect: Rect,
    pub(super) owner: Owner,
    /// What it is, in words.
    pub(super) name: String,
}

/// How cells are shown: colours, what is pointed at, and the kernel whose threads own them.
#[derive(Clone)]
pub(super) struct Pen {
    pub(super) ink: Ink,
    pub(super) pick: Option<(usize, usize)>,
    pub(super) walk: Option<Arc<Walk>>,
}

impl Pen {
    /// A row's colour, light enough for text on it.
    fn row(&self, row: usize) -> Color32 {
        self.ink.paper.lerp_to_gamma(series(row), 0.38)
    }

    /// What the kernel does now.
    fn accent(&self) -> Color32 {
        self.ink.text.lerp_to_gamma(Color32::from_rgb(213, 94, 0), 0.75)
    }

    fn parts(&self) -> Option<&Parts> {
        match &self.walk.as_ref()?.machine {
            Machine::Threads(threads) => Some(&threads.parts),
            Machine::Grid(_) => None,
        }
    }

    /// What a cell has its colour from: its thread, or its row.
    fn hue(&self, owner: Owner) -> Option<usize> {
        match self.parts() {
            Some(parts) => parts.of(owner),
            None => owner.row(),
        }
    }

    fn fill(&self, owner: Owner) -> Color32 {
        let colored = matches!(owner, Owner::Entry(..) | Owner::Row(_) | Owner::Rows(..));
        match self.hue(owner).filter(|_| colored) {
            Some(hue) => self.row(hue),
            None if matches!(owner, Owner::Padding(_)) => self.ink.grid,
            None => self.ink.paper,
        }
    }

    /// The thread whose part begins with this cell, after those of `before`.
    fn part(&self, owner: Owner, before: &mut Option<usize>) -> Option<usize> {
        let thread = self.parts()?.of(owner)?;
        (before.replace(thread) != Some(thread)).then_some(thread)
    }

    /// One cell.
    pub(super) fn cell(&self, figure: &mut Figure, rect: Rect, text: &str, owner: Owner) {
        figure.rect(rect, self.fill(owner));
        if let Owner::Padding(row) = owner {
            // Hatched, in the colour of the row that it fills up.
            let hue = self.hue(owner).unwrap_or(row);
            let color = self.ink.paper.lerp_to_gamma(series(hue), 0.8);
            for k in 1..4_u8 {
                let x = rect.left() + rect.width() * f32::from(k) / 4.0;
                let (low, high) =
                    (pos2(x - 5.0, rect.bottom() - 2.0), pos2(x + 5.0, rect.top() + 2.0));
                figure.line(low, high, 1.0, color);
            }
        }
        outline(figure, rect, 1.0, self.ink.grid);
        if !text.is_empty() && !matches!(owner, Owner::Padding(_)) {
            let weak = matches!(owner, Owner::Free);
            let color = if weak { self.ink.weak } else { self.ink.text };
            figure.text(rect.center(), Anchor::Middle, fitting(text, rect.width()), color, text);
        }
    }

    /// The frames around what is pointed at, over everything else.
    fn lights(&self, figure: &mut Figure, spots: &[Spot]) {
        let Some(pick) = self.pick else { return };
        for spot in spots.iter().filter(|spot| spot.owner.concerns(pick)) {
            let exact = matches!(spot.owner, Owner::Entry(..));
            let width = if exact { 3.0 } else { 2.0 };
            outline(figure, spot.rect.shrink(width * 0.5), width, self.ink.text);
        }
    }
}

/// `3`, `0,2`, `0-31` for neighbours, `0…30` for many others.
fn lanes(lanes: &[usize]) -> String {
    match lanes {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] if last - first + 1 == lanes.len() => format!("{first}-{last}"),
        [one, other] => format!("{one},{other}"),
        [first, .., last] => format!("{first}…{last}"),
    }
}

fn tag_width(text: &str) -> f32 {
    text_width(text, SMALL) + 5.0
}

/// Size of type at which a text fits.
fn fitting(text: &str, width: f32) -> f32 {
    let natural = text_width(text, TYPE);
    TYPE * ((width - 4.0) / natural).clamp(0.6, 1.0)
}

pub(super) fn outline(figure: &mut Figure, rect: Rect, width: f32, color: Color32) {
    let points = vec![
        rect.left_top(),
        rect.right_top(),
        rect.right_bottom(),
        rect.left_bottom(),
        rect.left_top(),
    ];
    figure.shapes.push(Shape::Line { points, width, color });
}

/// A figure under construction.
pub(super) struct Board {
    pub(super) figure: Figure,
    pub(super) spots: Vec<Spot>,
    pub(super) pen: Pen,
    /// Sides of an array's cell.
    pub(super) cell: egui::Vec2,
}

impl Board {
    pub(super) fn new(pen: Pen, paper: Color32) -> Self {
        Self { figure: Figure::new(vec2(1.0, 1.0), paper), spots: Vec::new(), pen, cell: CELL }
    }

    /// Draws a strip with its upper left corner at `at`, not wider than `width`; the height taken.
    pub(super) fn strip(&mut self, strip: &Strip, format: &str, at: Pos2, width: f32) -> f32 {
        let ink = self.pen.ink;
        let side = self.cell;
        let a_line = (((width - NAMES) / side.x) as usize).max(4);
        let middle = at.y + side.y * 0.5;
        self.figure.text(pos2(at.x, middle - 5.0), Anchor::Start, TYPE, ink.text, &strip.name);
        let bytes = format!("{} B each", strip.element);
        self.figure.text(pos2(at.x, middle + 8.0), Anchor::Start, SMALL, ink.weak, &bytes);
        let line_height = side.y + 12.0;
        let mut before = None;
        for (index, cell) in strip.cells.iter().enumerate() {
            let (line, place) = (index / a_line, index % a_line);
            let corner = at + vec2(NAMES + place as f32 * side.x, line as f32 * line_height);
            let rect = Rect::from_min_size(corner, side);
            self.pen.cell(&mut self.figure, rect, &cell.text, cell.owner);
            if cell.begins {
                let ends = (rect.left_top() - vec2(0.0, 2.0), rect.left_bottom() + vec2(0.0, 2.0));
                self.figure.line(ends.0, ends.1, 2.5, ink.text);
            }
            if let Some(thread) = self.pen.part(cell.owner, &mut before) {
                self.flag(rect, thread);
            }
            let under = pos2(rect.center().x, rect.bottom() + 5.5);
            self.figure.text(under, Anchor::Middle, SMALL, ink.weak, &index.to_string());
            let name = spoken(cell, &strip.name, index, format);
            self.spots.push(Spot { rect, owner: cell.owner, name });
        }
        let lines = strip.cells.len().div_ceil(a_line).max(1);
        lines as f32 * line_height + GAP
    }

    /// Marks a cell with what reads it in the step that is followed.
    fn badge(&mut self, rect: Rect, text: &str) {
        let accent = self.pen.accent();
        outline(&mut self.figure, rect.shrink(1.0), 2.0, accent);
        self.tag(rect.right() + 1.0 - tag_width(text), rect.top(), text, accent);
    }

    /// Marks the first cell of a thread's part.
    fn flag(&mut self, rect: Rect, thread: usize) {
        let ends = (rect.left_top() - vec2(0.0, 4.0), rect.left_bottom() + vec2(0.0, 2.0));
        self.figure.line(ends.0, ends.1, 2.5, self.pen.ink.text);
        self.tag(rect.left() - 1.0, rect.top(), &format!("T{thread}"), self.pen.ink.text);
    }

    fn tag(&mut self, left: f32, top: f32, text: &str, color: Color32) {
        let tag = area(left, top - 6.0, left + tag_width(text), top + 6.0);
        self.figure.rect(tag, color);
        self.figure.text(tag.center(), Anchor::Middle, SMALL, self.pen.ink.paper, text);
    }

    /// A bar under cells that are moved together.
    fn bar(&mut self, rect: Rect) {
        let (y, accent) = (rect.bottom() + 1.5, self.pen.accent());
        self.figure.rect(area(rect.left() + 0.5, y - 1.5, rect.right() - 0.5, y + 1.5), accent);
    }

    /// Draws the step of a kernel over its strips, which `cells` belong to; `who` stands before the
    /// numbers of those that read.
    pub(super) fn step(&mut self, moment: &Moment, who: &str, cells: &[(Array, u64, Rect)]) {
        for (array, range) in &moment.blocks {
            let of = cells.iter().filter(|(a, index, _)| a == array && range.contains(index));
            of.for_each(|(_, _, rect)| self.bar(*rect));
        }
        for touch in &moment.touches {
            let at = cells.iter().find(|(a, index, _)| (*a, *index) == (touch.array, touch.index));
            if let Some(&(_, _, rect)) = at {
                self.badge(rect, &format!("{who}{}", lanes(&touch.who)));
            }
        }
    }

    /// The finished figure of this size, `scale` times as large: frames come last.
    pub(super) fn finish(mut self, size: egui::Vec2, scale: f32) -> (Figure, Vec<Spot>) {
        self.pen.lights(&mut self.figure, &self.spots);
        self.figure.size = size;
        self.figure.scale(scale);
        for spot in &mut self.spots {
            spot.rect = spot.rect * scale;
        }
        (self.figure, self.spots)
    }

    /// The matrix as everyone writes it, with row and column numbers; the size taken.
    pub(super) fn dense(
        &mut self,
        (rows, cols): (usize, usize),
        from: (usize, usize),
        at: Pos2,
        value: impl Fn(usize, usize) -> Option<String>,
    ) -> egui::Vec2 {
        let ink = self.pen.ink;
        let corner = at + vec2(28.0, 18.0);
        for j in 0..cols {
            let x = corner.x + (j as f32 + 0.5) * CELL.x;
            let label = (from.1 + j).to_string();
            self.figure.text(pos2(x, at.y + 8.0), Anchor::Middle, SMALL, ink.weak, &label);
        }
        let mut before = None;
        for i in 0..rows {
            let y = corner.y + (i as f32 + 0.5) * CELL.y;
            let label = (from.0 + i).to_string();
            self.figure.text(pos2(corner.x - 6.0, y), Anchor::End, SMALL, ink.weak, &label);
            for j in 0..cols {
                let place = corner + vec2(j as f32 * CELL.x, i as f32 * CELL.y);
                let rect = Rect::from_min_size(place, CELL);
                let text = value(i, j);
                let owner = match text {
                    Some(_) => Owner::Entry(i, j),
                    None => Owner::Nothing(i, j),
                };
                let text = text.unwrap_or_default();
                self.pen.cell(&mut self.figure, rect, &text, owner);
                if let Some(thread) = self.pen.part(owner, &mut before) {
                    self.flag(rect, thread);
                }
                let name = match owner {
                    Owner::Entry(..) => format!("Entry {text} in row {i}, column {j}"),
                    _ => format!("No entry in row {i}, column {j}"),
                };
                self.spots.push(Spot { rect, owner, name });
            }
        }
        let size = vec2(cols as f32 * CELL.x, rows as f32 * CELL.y);
        let frame = Rect::from_min_size(corner, size);
        outline(&mut self.figure, frame, 1.5, ink.weak);
        size + vec2(30.0, 22.0)
    }

    /// A line of text; the height taken.
    pub(super) fn line(&mut self, at: Pos2, size: f32, weak: bool, text: &str) -> f32 {
        let color = if weak { self.pen.ink.weak } else { self.pen.ink.text };
        self.figure.text(pos2(at.x, at.y + size * 0.6), Anchor::Start, size, color, text);
        size * 1.3 + 4.0
    }

    /// The same in smaller type where it would be wider than `width`; the height is that of any.
    pub(super) fn line_within(&mut self, at: Pos2, weak: bool, text: &str, width: f32) -> f32 {
        let size = TYPE * (width / text_width(text, TYPE)).clamp(0.7, 1.0);
        self.line(at, size, weak, text);
        TYPE * 1.3 + 4.0
    }

    /// A block of the format's colour, before its name.
    pub(super) fn swatch(&mut self, at: Pos2, color: Color32) {
        self.figure.rect(area(at.x, at.y, at.x + 12.0, at.y + 12.0), color);
    }
}

/// A cell in words.
fn spoken(cell: &Cell, array: &str, index: usize, format: &str) -> String {
    format!("{format}: {array}[{index}] = {}, {}", cell.text, cell.owner.words())
}
