//! Cells drawn in lines: the dense picture of the matrix and the arrays of its formats.

use ecolor::Color32;
use emath::{Pos2, Rect, Vec2, pos2, vec2};
use sparsescope_core::layout::Array;

use super::arrays::place;
use super::cells::{Cell, Owner, Spot, Strip};
use super::moment::{Moment, Touch};
use super::pen::{Pen, outline};
use super::sizes::Sizes;
use crate::figure::{Anchor, Figure, area, text_width, wrapped};

/// `3`, `0,2`, `0-31` for consecutive numbers, `0…30` for many others.
fn lanes(lanes: &[usize]) -> String {
    let mut lanes = lanes.to_vec();
    sparsescope_core::order::sort(&mut lanes);
    lanes.dedup();
    match &lanes[..] {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] if last - first + 1 == lanes.len() => format!("{first}-{last}"),
        [one, other] => format!("{one},{other}"),
        [first, .., last] => format!("{first}…{last}"),
    }
}

/// A figure under construction.
pub(super) struct Board {
    pub(super) figure: Figure,
    pub(super) spots: Vec<Spot>,
    pub(super) pen: Pen,
    pub(super) sizes: Sizes,
    /// Reserve space for tags above the cells of arrays.
    pub(super) tagged: bool,
}

/// Position of the next array: in lines like text, or each array in lines of its own.
pub(super) struct Flow {
    left: f32,
    right: f32,
    /// Top left corner of the next array.
    at: Pos2,
    /// Bottom of this line.
    bottom: f32,
}

impl Flow {
    pub(super) fn new(at: Pos2, right: f32) -> Self {
        Self { left: at.x, right, at, bottom: at.y }
    }

    /// Bottom of the last line.
    pub(super) fn bottom(&self) -> f32 {
        self.bottom
    }
}

impl Board {
    pub(super) fn new(pen: Pen, paper: Color32) -> Self {
        let (sizes, figure) = (pen.sizes, Figure::new(vec2(1.0, 1.0), paper));
        Self { figure, spots: Vec::new(), pen, sizes, tagged: false }
    }

    /// Width of an array's name.
    fn names(&self, strip: &Strip) -> f32 {
        let (name, bytes) = self.labels(strip);
        let name = text_width(&name, self.sizes.text);
        self.sizes.names.max(name.max(text_width(&bytes, self.sizes.small)) + 6.0)
    }

    /// Name and bytes per element, in one line if there is no line for indices.
    fn labels(&self, strip: &Strip) -> (String, String) {
        match self.has_indices(strip) {
            true => (strip.name.clone(), format!("{} B each", strip.element)),
            false => (format!("{}, {} B", strip.name, strip.element), String::new()),
        }
    }

    /// The cells of x and y contain their index.
    fn has_indices(&self, strip: &Strip) -> bool {
        !self.sizes.is_dense() || !matches!(strip.array, Array::X | Array::Y)
    }

    /// Space above a cell for the tag of its readers, which must not cover values.
    fn tags(&self) -> f32 {
        if self.tagged { self.sizes.small + 2.5 } else { 0.0 }
    }

    /// Draws a strip at the next position of the flow.
    pub(super) fn strip(&mut self, strip: &Strip, format: &str, flow: &mut Flow) {
        let names = self.names(strip);
        let wide = names + strip.cells.len() as f32 * self.sizes.cell.x;
        let is_next =
            self.sizes.is_dense() && flow.at.x > flow.left && flow.at.x + wide <= flow.right;
        if !is_next {
            flow.at = pos2(flow.left, flow.bottom);
        }
        let height = self.strip_at(strip, format, flow.at, flow.right - flow.at.x);
        flow.bottom = flow.bottom.max(flow.at.y + height);
        flow.at.x += wide + 14.0;
    }

    /// Draws a strip with its top left corner at `at`, at most `width` wide; returns its height.
    fn strip_at(&mut self, strip: &Strip, format: &str, at: Pos2, width: f32) -> f32 {
        let (ink, Sizes { cell: side, text, small, .. }) = (self.pen.ink, self.sizes);
        let (names, tags) = (self.names(strip), self.tags());
        let a_line = (((width - names) / side.x) as usize).max(4);
        let middle = at.y + tags + side.y * 0.5;
        let (up, down) = match self.sizes.is_dense() {
            true => (0.0, side.y * 0.5 + small * 0.5 + 1.0),
            false => (5.0, 8.0),
        };
        let (name, bytes) = self.labels(strip);
        self.figure.text(pos2(at.x, middle - up), Anchor::Start, text, ink.text, &name);
        self.figure.text(pos2(at.x, middle + down), Anchor::Start, small, ink.weak, &bytes);
        // Below a cell are the bar of the transfer, and its index.
        let has_indices = self.has_indices(strip);
        let below = if has_indices { small + 2.0 } else { 4.0 };
        let line_height = tags + side.y + below;
        let mut before = None;
        for (index, cell) in strip.cells.iter().enumerate() {
            let (line, place) = place(index, strip.cells.len(), a_line);
            let right = names + place as f32 * side.x;
            let corner = at + vec2(right, tags + line as f32 * line_height);
            let rect = Rect::from_min_size(corner, side);
            self.pen.cell(&mut self.figure, rect, &cell.text, cell.owner);
            if cell.begins {
                let ends = (rect.left_top() - vec2(0.0, 2.0), rect.left_bottom() + vec2(0.0, 2.0));
                self.figure.line(ends.0, ends.1, 2.5, ink.text);
            }
            if let Some(thread) = self.pen.part(cell.owner, &mut before) {
                self.flag(rect, thread);
            }
            if has_indices {
                let under = pos2(rect.center().x, rect.bottom() + 2.5 + small * 0.5);
                let number = cell.elements.start.to_string();
                let number = if cell.is_many() { "" } else { &number };
                self.figure.text(under, Anchor::Middle, small, ink.weak, number);
            }
            let name = spoken(cell, &strip.name, format);
            self.spots.push(Spot { rect, owner: cell.owner, name });
        }
        let lines = strip.cells.len().div_ceil(a_line).max(1);
        lines as f32 * line_height + self.sizes.gap
    }

    /// Marks a cell with its readers in the current step; the text is above it, at most `room` wide.
    fn badge(&mut self, rect: Rect, room: f32, who: &str, numbers: &[usize]) {
        let accent = self.pen.accent();
        outline(&mut self.figure, rect.shrink(1.0), 2.0, accent);
        // Where neighbouring cells have tags, too, a long one shows only its start.
        let (all, first) = (lanes(numbers), numbers.iter().min().copied().unwrap_or_default());
        let (in_cell, start) = (format!("{who}{all}"), format!("{first}…"));
        let fits = |text: &str, room: f32| self.tag_width(text) <= room + 1.0;
        let text = match fits(&in_cell, rect.width()) {
            true => in_cell,
            false if fits(&all, room) => all,
            false if fits(&start, room) => start,
            false => "…".to_owned(),
        };
        self.tag(rect.center().x - self.tag_width(&text) * 0.5, rect.top(), &text, accent);
    }

    /// Marks the first cell of a thread's part.
    fn flag(&mut self, rect: Rect, thread: usize) {
        let ends = (rect.left_top() - vec2(0.0, 4.0), rect.left_bottom() + vec2(0.0, 2.0));
        self.figure.line(ends.0, ends.1, 2.5, self.pen.ink.text);
        self.tag(rect.left() - 1.0, rect.top(), &format!("T{thread}"), self.pen.ink.text);
    }

    fn tag_width(&self, text: &str) -> f32 {
        text_width(text, self.sizes.small) + 3.0
    }

    /// A tag whose bottom is at `bottom`.
    fn tag(&mut self, left: f32, bottom: f32, text: &str, color: Color32) {
        let (width, small) = (self.tag_width(text), self.sizes.small);
        let tag = area(left, bottom - small - 2.0, left + width, bottom);
        self.figure.rect(tag, color);
        self.figure.text(tag.center(), Anchor::Middle, small, self.pen.ink.paper, text);
    }

    /// A bar under cells that are transferred together.
    fn bar(&mut self, rect: Rect) {
        let (y, accent) = (rect.bottom() + 1.0, self.pen.accent());
        self.figure.rect(area(rect.left() + 0.5, y - 1.0, rect.right() - 0.5, y + 1.5), accent);
    }

    /// Draws the step of a kernel over its strips, to which `cells` belong; `who` is the prefix of
    /// the readers' numbers.
    pub(super) fn step(&mut self, moment: &Moment, who: &str, cells: &[(Array, &Cell, Rect)]) {
        for (array, range) in &moment.blocks {
            let of = cells.iter().filter(|(a, cell, _)| a == array && cell.is_among(range));
            of.for_each(|(_, _, rect)| self.bar(*rect));
        }
        // Several readers may touch the elements of one cell.
        let mut badges: Vec<(Rect, Vec<usize>)> = Vec::new();
        for touch in &moment.touches {
            for rect in lines_of(touch, cells) {
                match badges.iter_mut().find(|(known, _)| *known == rect) {
                    Some((_, all)) => all.extend(&touch.who),
                    None => badges.push((rect, touch.who.clone())),
                }
            }
        }
        for (rect, all) in &badges {
            let room = tag_room(*rect, badges.iter().map(|(other, _)| *other));
            self.badge(*rect, room, who, all);
        }
    }

    /// The finished figure of this size, scaled by `scale`; draws the frames last.
    pub(super) fn finish(mut self, size: emath::Vec2, scale: f32) -> (Figure, Vec<Spot>) {
        self.pen.lights(&mut self.figure, &self.spots);
        self.figure.size = size;
        self.figure.scale(scale);
        for spot in &mut self.spots {
            spot.rect = spot.rect * scale;
        }
        (self.figure, self.spots)
    }

    /// Space for row and column numbers. The tags of threads that start in a row come before its
    /// number.
    fn margin(&self) -> Vec2 {
        let digits = text_width("00", self.sizes.small);
        let flags = if self.pen.has_parts() { self.tag_width("T0,0") + 4.0 } else { 0.0 };
        vec2(flags + digits + 8.0, self.sizes.small + 5.0)
    }

    /// The matrix in standard notation, with row and column numbers; returns its size.
    pub(super) fn dense(
        &mut self,
        (rows, cols): (usize, usize),
        from: (usize, usize),
        at: Pos2,
        value: impl Fn(usize, usize) -> Option<String>,
    ) -> emath::Vec2 {
        let (ink, Sizes { dense: side, small, .. }) = (self.pen.ink, self.sizes);
        let margin = self.margin();
        let corner = at + margin;
        for j in 0..cols {
            let x = corner.x + (j as f32 + 0.5) * side.x;
            let label = (from.1 + j).to_string();
            let y = corner.y - small * 0.5 - 3.0;
            self.figure.text(pos2(x, y), Anchor::Middle, small, ink.weak, &label);
        }
        let mut before = None;
        for i in 0..rows {
            let y = corner.y + (i as f32 + 0.5) * side.y;
            let label = (from.0 + i).to_string();
            self.figure.text(pos2(corner.x - 6.0, y), Anchor::End, small, ink.weak, &label);
            let mut begins = Vec::new();
            for j in 0..cols {
                let place = corner + vec2(j as f32 * side.x, i as f32 * side.y);
                let rect = Rect::from_min_size(place, side);
                let text = value(i, j);
                let owner = match text {
                    Some(_) => Owner::Entry(i, j),
                    None => Owner::Nothing(i, j),
                };
                let text = text.unwrap_or_default();
                self.pen.cell(&mut self.figure, rect, &text, owner);
                if let Some(thread) = self.pen.part(owner, &mut before) {
                    let ends = (rect.left_top(), rect.left_bottom());
                    self.figure.line(ends.0, ends.1, 3.5, ink.text);
                    begins.push(thread);
                }
                let name = match owner {
                    Owner::Entry(..) => format!("Nonzero {text} in row {i}, column {j}"),
                    _ => format!("No nonzero in row {i}, column {j}"),
                };
                self.spots.push(Spot { rect, owner, name });
            }
            if !begins.is_empty() {
                let text = format!("T{}", lanes(&begins));
                self.tag(at.x, y + small * 0.5 + 1.0, &text, ink.text);
            }
        }
        let size = vec2(cols as f32 * side.x, rows as f32 * side.y);
        let frame = Rect::from_min_size(corner, size);
        outline(&mut self.figure, frame, 1.5, ink.weak);
        size + margin + vec2(2.0, 4.0)
    }

    /// A line of text; returns its height.
    pub(super) fn line(&mut self, at: Pos2, size: f32, weak: bool, text: &str) -> f32 {
        let color = if weak { self.pen.ink.weak } else { self.pen.ink.text };
        self.figure.text(pos2(at.x, at.y + size * 0.6), Anchor::Start, size, color, text);
        self.line_height(size)
    }

    fn line_height(&self, size: f32) -> f32 {
        if self.sizes.is_dense() { size * 1.15 + 1.0 } else { size * 1.3 + 4.0 }
    }

    /// The same in a smaller font if it is wider than `width`, and in several lines if the font
    /// would be too small; returns the height at the usual line spacing.
    pub(super) fn line_within(&mut self, at: Pos2, weak: bool, text: &str, width: f32) -> f32 {
        let Sizes { text: usual, least, .. } = self.sizes;
        let size = usual * (width / text_width(text, usual)).min(1.0);
        let size = size.max(least.max(usual * 0.7));
        let mut height = 0.0;
        // Rounding must not break what was made to fit.
        for line in wrapped(text, width + 0.1, size) {
            self.line(at + vec2(0.0, height), size, weak, &line);
            height += self.line_height(usual);
        }
        height
    }

    /// A square in the format's colour, in front of its name.
    pub(super) fn swatch(&mut self, at: Pos2, color: Color32) {
        let side = self.sizes.text.min(12.0) - 1.0;
        self.figure.rect(area(at.x, at.y, at.x + side, at.y + side), color);
    }
}

/// The width of a tag above a cell: on each side half of the space up to the nearest other tag in the line, at
/// most half the width of the cell.
fn tag_room(rect: Rect, tagged: impl Iterator<Item = Rect>) -> f32 {
    let others = tagged.filter(|other| other.y_range() == rect.y_range() && *other != rect);
    let gaps = others.map(|other| (other.left() - rect.right()).max(rect.left() - other.right()));
    rect.width() + gaps.fold(rect.width(), f32::min).max(0.0)
}

/// Areas of the cells that are accessed together: one rectangle per line that has some.
fn lines_of(touch: &Touch, cells: &[(Array, &Cell, Rect)]) -> Vec<Rect> {
    let mut lines: Vec<Rect> = Vec::new();
    let touched = |(array, cell, _): &&(Array, &Cell, Rect)| {
        *array == touch.array && cell.is_among(&touch.elements)
    };
    for (_, _, rect) in cells.iter().filter(touched) {
        match lines.last_mut() {
            Some(line) if line.y_range() == rect.y_range() => *line = line.union(*rect),
            _ => lines.push(*rect),
        }
    }
    lines
}

/// Describes a cell.
fn spoken(cell: &Cell, array: &str, format: &str) -> String {
    let (first, words) = (cell.elements.start, cell.owner.words());
    match cell.is_many() {
        true => format!("{format}: {array}[{first}] to [{}], {words}", cell.elements.end - 1),
        false => format!("{format}: {array}[{first}] = {}, {words}", cell.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_may_be_wider_than_its_cell_but_never_reaches_the_next_tag() {
        let cell = |left, top| Rect::from_min_size(pos2(left, top), vec2(20.0, 10.0));
        let tagged = [cell(0.0, 0.0), cell(20.0, 0.0), cell(50.0, 0.0), cell(160.0, 0.0)];
        let room = |rect| tag_room(rect, tagged.into_iter());
        assert_eq!(tagged.map(room), [20.0, 20.0, 30.0, 40.0]);
        assert_eq!(room(cell(20.0, 30.0)), 40.0, "alone in its line");
    }
}
