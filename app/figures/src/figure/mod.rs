//! A figure is a list of shapes: the window paints it, and the SVG writer exports it, so both show
//! the same.

mod axis;
mod font;
#[cfg(not(target_family = "wasm"))]
pub mod pdf;
#[cfg(all(feature = "png", not(target_family = "wasm")))]
pub mod png;
mod print;
mod svg;

use std::sync::Arc;

use ecolor::Color32;
use emath::{Pos2, Rect, Vec2, pos2, vec2};

pub use axis::Axis;
pub(crate) use axis::without_outliers;
pub use font::{LIGHT_FACE, SEMIBOLD, strong_width, text_width};
pub use print::{Print, TYPE_PT, WIDTH_MM, set_resolution};
pub use svg::{Provenance, escape, for_file, pixels_of};

/// Shapes from (0, 0) to `size`, y downwards, and areas that react to the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Extent.
    pub size: Vec2,
    /// Background colour.
    pub paper: Color32,
    /// In the order of painting.
    pub shapes: Vec<Shape>,
    /// Areas that react to the pointer; not part of an exported figure.
    pub hits: Vec<Hit>,
    /// The part that stays visible when the figure is scrolled.
    pub head: Option<Head>,
    /// What it shows in one sentence, for screen readers; empty if its name says it.
    pub message: String,
}

/// The part of a figure that stays visible above the scrolled part, e.g. the axis above many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Its shapes, among those of the figure.
    pub shapes: std::ops::Range<usize>,
    /// Its top and bottom.
    pub y: [f32; 2],
}

/// One shape of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Position and size.
        rect: Rect,
        /// Its colour.
        fill: Color32,
    },
    /// A line through points.
    Line {
        /// At least two.
        points: Vec<Pos2>,
        /// Width of the line.
        width: f32,
        /// Its colour.
        color: Color32,
    },
    /// A closed convex polygon.
    Polygon {
        /// Corners.
        points: Vec<Pos2>,
        /// Fill colour.
        fill: Color32,
        /// Outline.
        stroke: Color32,
    },
    /// A circle.
    Circle {
        /// Centre.
        center: Pos2,
        /// Radius.
        radius: f32,
        /// Fill colour.
        fill: Color32,
        /// Outline.
        stroke: Color32,
    },
    /// An image; on screen, the owner paints it below the figure.
    Image {
        /// Position and size.
        rect: Rect,
        /// Its pixels, scaled up without smoothing.
        pixels: Arc<ColorImage>,
    },
    /// A line of text.
    Text {
        /// The anchor point; vertically the middle.
        pos: Pos2,
        /// Which end of the text is at `pos`.
        anchor: Anchor,
        /// Font size.
        size: f32,
        /// Its colour.
        color: Color32,
        /// In the semibold face.
        strong: bool,
        /// The text.
        text: String,
    },
    /// A line of text at an angle.
    Turned {
        /// The middle of its left end before it is turned about this point.
        pos: Pos2,
        /// The angle in radians, clockwise.
        angle: f32,
        /// Font size.
        size: f32,
        /// Its colour.
        color: Color32,
        /// The text.
        text: String,
    },
}

/// An image.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorImage {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Its pixels, row by row.
    pub pixels: Vec<Color32>,
}

impl ColorImage {
    /// An image of these pixels, row by row.
    pub fn new(size: [usize; 2], pixels: Vec<Color32>) -> Self {
        debug_assert_eq!(size[0] * size[1], pixels.len());
        Self { size, pixels }
    }

    /// An image in one colour.
    pub fn filled(size: [usize; 2], color: Color32) -> Self {
        Self { size, pixels: vec![color; size[0] * size[1]] }
    }
}

/// The end of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Left end.
    Start,
    /// Middle.
    Middle,
    /// Right end.
    End,
}

/// An area that reacts to the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Position and size.
    pub rect: Rect,
    /// Tooltip, also for screen readers.
    pub text: String,
    /// Key of the matrix that a click selects.
    pub matrix: String,
    /// Number of the run that a click selects.
    pub run: Option<usize>,
    /// Name of its series, or of the series that a click in the legend isolates.
    pub series: Option<String>,
}

impl Hit {
    /// Whether a click selects something; without, it only has a tooltip.
    pub fn selects(&self) -> bool {
        self.run.is_some() || self.series.is_some() || !self.matrix.is_empty()
    }
}

/// Shape of a point's mark. With the colour, it distinguishes series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// ●
    Circle,
    /// ■
    Square,
    /// ▲
    Triangle,
    /// ◆
    Diamond,
    /// ▼
    Down,
    /// ⬢
    Hexagon,
    /// ▶
    Right,
    /// ◀
    Left,
}

impl Mark {
    /// Every mark, in the order in which series use them.
    pub const ALL: [Self; 8] = [
        Self::Circle,
        Self::Square,
        Self::Triangle,
        Self::Diamond,
        Self::Down,
        Self::Hexagon,
        Self::Right,
        Self::Left,
    ];

    /// Corners of the mark in a circle of radius 1; none for the circle itself.
    fn corners(self) -> Vec<Vec2> {
        let regular = |count: u8, turn: f32| -> Vec<Vec2> {
            (0..count)
                .map(|k| (f32::from(k) + turn) / f32::from(count) * std::f32::consts::TAU)
                .map(|angle| vec2(angle.sin(), -angle.cos()) * 1.2)
                .collect()
        };
        match self {
            Self::Circle => Vec::new(),
            Self::Square => regular(4, 0.5),
            Self::Diamond => regular(4, 0.0),
            Self::Triangle => regular(3, 0.0),
            Self::Down => regular(3, 0.5),
            Self::Hexagon => regular(6, 0.0),
            Self::Right => regular(3, 0.75),
            Self::Left => regular(3, 0.25),
        }
    }
}

impl Figure {
    /// An empty figure.
    pub fn new(size: Vec2, paper: Color32) -> Self {
        let (shapes, hits) = (Vec::new(), Vec::new());
        Self { size, paper, shapes, hits, head: None, message: String::new() }
    }

    /// Scales everything in the figure.
    pub(crate) fn scale(&mut self, factor: f32) {
        if factor == 1.0 {
            return;
        }
        self.size *= factor;
        if let Some(head) = &mut self.head {
            head.y = head.y.map(|y| y * factor);
        }
        let all = |points: &mut [Pos2]| points.iter_mut().for_each(|p| *p *= factor);
        for shape in &mut self.shapes {
            match shape {
                Shape::Rect { rect, .. } | Shape::Image { rect, .. } => *rect = *rect * factor,
                Shape::Line { points, width, .. } => {
                    all(points);
                    *width *= factor;
                }
                Shape::Polygon { points, .. } => all(points),
                Shape::Circle { center, radius, .. } => {
                    *center *= factor;
                    *radius *= factor;
                }
                Shape::Text { pos, size, .. } | Shape::Turned { pos, size, .. } => {
                    *pos *= factor;
                    *size *= factor;
                }
            }
        }
        self.hits.iter_mut().for_each(|hit| hit.rect = hit.rect * factor);
    }

    /// A straight line.
    pub fn line(&mut self, from: Pos2, to: Pos2, width: f32, color: Color32) {
        self.shapes.push(Shape::Line { points: vec![from, to], width, color });
    }

    /// A filled rectangle.
    pub fn rect(&mut self, rect: Rect, fill: Color32) {
        self.shapes.push(Shape::Rect { rect, fill });
    }

    /// A line of text.
    pub fn text(&mut self, pos: Pos2, anchor: Anchor, size: f32, color: Color32, text: &str) {
        self.shapes.push(Shape::Text {
            pos,
            anchor,
            size,
            color,
            strong: false,
            text: text.into(),
        });
    }

    /// A line of text in the semibold face.
    pub fn strong(&mut self, pos: Pos2, anchor: Anchor, size: f32, color: Color32, text: &str) {
        self.shapes.push(Shape::Text { pos, anchor, size, color, strong: true, text: text.into() });
    }

    /// A line of text that reads from bottom to top.
    pub fn text_upwards(&mut self, pos: Pos2, size: f32, color: Color32, text: &str) {
        self.text_turned(pos, -std::f32::consts::FRAC_PI_2, size, color, text);
    }

    /// A line of text that begins here and is turned clockwise by an angle in radians.
    pub fn text_turned(&mut self, pos: Pos2, angle: f32, size: f32, color: Color32, text: &str) {
        self.shapes.push(Shape::Turned { pos, angle, size, color, text: text.into() });
    }

    /// Places another figure to the right of this one.
    pub(crate) fn put_beside(&mut self, other: Self) {
        let by = vec2(self.size.x, 0.0);
        self.size = vec2(self.size.x + other.size.x, self.size.y.max(other.size.y));
        self.put(other, by);
    }

    /// Places another figure below this one.
    pub(crate) fn put_below(&mut self, other: Self) {
        let by = vec2(0.0, self.size.y);
        self.size = vec2(self.size.x.max(other.size.x), self.size.y + other.size.y);
        self.put(other, by);
    }

    fn put(&mut self, other: Self, by: Vec2) {
        for mut shape in other.shapes {
            match &mut shape {
                Shape::Rect { rect, .. } | Shape::Image { rect, .. } => {
                    *rect = rect.translate(by);
                }
                Shape::Line { points, .. } | Shape::Polygon { points, .. } => {
                    points.iter_mut().for_each(|point| *point += by);
                }
                Shape::Circle { center: at, .. }
                | Shape::Text { pos: at, .. }
                | Shape::Turned { pos: at, .. } => *at += by,
            }
            self.shapes.push(shape);
        }
        self.hits
            .extend(other.hits.into_iter().map(|hit| Hit { rect: hit.rect.translate(by), ..hit }));
    }

    /// A mark; use the background colour as `fill` for a hollow one.
    pub fn mark(&mut self, center: Pos2, mark: Mark, radius: f32, fill: Color32, stroke: Color32) {
        let corners = mark.corners();
        self.shapes.push(if corners.is_empty() {
            Shape::Circle { center, radius, fill, stroke }
        } else {
            let points = corners.into_iter().map(|corner| center + corner * radius).collect();
            Shape::Polygon { points, fill, stroke }
        });
    }
}

/// The text, elided in the middle if it is wider: names differ at their ends.
pub fn elided(text: &str, width: f32, size: f32) -> String {
    if text_width(text, size) <= width {
        return text.into();
    }
    let letters: Vec<char> = text.chars().collect();
    let of = |kept: usize| -> String {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let start = letters.iter().take(head);
        start.chain(&['…']).chain(letters.iter().skip(letters.len() - tail)).collect()
    };
    let fits = |kept: &usize| text_width(&of(*kept), size) <= width;
    of((1..letters.len()).rev().find(fits).unwrap_or_default())
}

/// The text, elided after the last word that fits if it is wider.
pub fn elided_at_word(text: &str, width: f32, size: f32) -> String {
    if text_width(text, size) <= width {
        return text.into();
    }
    let ends = text.match_indices(' ').map(|(end, _)| end).rev();
    let heads = ends.filter_map(|end| text.get(..end));
    let mut shown = heads.map(|head| format!("{} …", head.trim_end_matches([',', ';', ':'])));
    shown.find(|shown| text_width(shown, size) <= width).unwrap_or_else(|| "…".into())
}

/// The text, elided after a word if it is wider, or in its middle if no word fits.
pub fn shortened(text: &str, width: f32, size: f32) -> String {
    let short = elided_at_word(text, width, size);
    if short == "…" { elided(text, width, size) } else { short }
}

/// The text in lines of at most this width, as far as its words allow.
pub(crate) fn wrapped(text: &str, width: f32, size: f32) -> Vec<String> {
    let space = text_width(" ", size);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + space + text_width(word, size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// A rectangle from its edges.
pub fn area(left: f32, top: f32, right: f32, bottom: f32) -> Rect {
    Rect::from_min_max(pos2(left, top), pos2(right, bottom))
}

/// The part of a horizontal or vertical line inside `within`.
pub(crate) fn clipped(from: Pos2, to: Pos2, within: Rect) -> Option<[Pos2; 2]> {
    let line = Rect::from_two_pos(from, to);
    let inside = within.intersect(line);
    // Lines that only touch the edge are outside.
    (inside.width() >= 0.0 && inside.height() >= 0.0)
        .then(|| [from, to].map(|end| inside.clamp(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_elided_after_a_word_and_its_comma() {
        let text = "Which kernel wins: checked runs, warm caches, f64.";
        let of = |kept: &str| elided_at_word(text, text_width(kept, 12.0) + 0.1, 12.0);
        assert_eq!(of(text), text);
        assert_eq!(
            of("Which kernel wins: checked runs, warm caches, f6"),
            "Which kernel wins: checked runs, warm caches …"
        );
        assert_eq!(of("Which kernel wins …"), "Which kernel wins …");
        assert_eq!(of(""), "…");
    }
}
