//! What the forms with a row per matrix share: the headline, the head, and the start of a row.

use ecolor::Color32;
use emath::{Pos2, Rect, pos2, vec2};

use super::headline;
use super::places::THUMB;
use crate::figure::{Anchor, Figure, Head, Shape, area, elided, strong_width};
use crate::model::{Model, marked_stand_in};
use crate::state::ViewState;
use crate::theme::{BODY, Ink, SMALL, SPACE};
use crate::thumbs;

/// Height of a row.
pub(super) const ROW: f32 = 44.0;
/// Side of the picture of a matrix in files, in pixels.
const THUMB_PIXELS: usize = 80;

/// A figure, and the places of the pictures of matrices in it with their keys.
pub struct Drawn {
    pub figure: Figure,
    pub thumbs: Vec<(Rect, String)>,
}

impl Drawn {
    /// The figure with the pictures in it.
    pub fn with_pictures(self, model: &Model, state: &ViewState) -> Figure {
        let Self { mut figure, thumbs } = self;
        for (rect, key) in thumbs {
            if let Some(pixels) = thumbs::of(model, &key, THUMB_PIXELS, state.theme) {
                figure.shapes.push(Shape::Image { rect, pixels });
            }
        }
        figure
    }

    /// A figure of this width with a headline, and the bottom of the headline.
    pub(super) fn titled(texts: (&str, &str), ink: &Ink, width: f32) -> (Self, f32) {
        let mut figure = Figure::new(vec2(width, 0.0), ink.paper);
        let top = headline::write(&mut figure, texts, ink, width);
        (Self { figure, thumbs: Vec::new() }, top)
    }

    /// A line of titles, which stays visible; `titles` draws them, given the middle and the bottom. Returns the top of
    /// the rows.
    pub(super) fn head(
        &mut self,
        ink: &Ink,
        (top, right): (f32, f32),
        titles: impl FnOnce(&mut Figure, [f32; 2]),
    ) -> f32 {
        let first = self.figure.shapes.len();
        let (middle, bottom) = (top + 2.0 * SPACE, top + 4.0 * SPACE);
        titles(&mut self.figure, [middle, bottom]);
        self.figure.line(pos2(SPACE, bottom), pos2(right, bottom), 1.0, ink.grid);
        let shapes = first..self.figure.shapes.len();
        self.figure.head = Some(Head { shapes, y: [top, bottom] });
        bottom
    }

    /// The start of a row between these heights: its picture, its name, its size if there is room for a second line, and
    /// a mark if it is selected. Returns the middles of its two lines.
    pub(super) fn start_row(
        &mut self,
        state: &ViewState,
        key: &str,
        [name, size]: [&str; 2],
        (place, [top, bottom]): ([f32; 2], [f32; 2]),
    ) -> [f32; 2] {
        let ink = state.theme.ink();
        let height = bottom - top;
        let two_lines = height >= ROW;
        let upper = top + height * if two_lines { 0.32 } else { 0.5 };
        let lower = top + height * 0.7;
        let side = height - (ROW - THUMB);
        let picture = pos2(SPACE, top + (height - side) * 0.5);
        self.thumbs.push((Rect::from_min_size(picture, vec2(side, side)), key.to_owned()));
        if state.matrix.as_deref() == Some(key) {
            self.figure.rect(area(1.0, top + 2.0, 4.0, bottom - 2.0), ink.accent);
        }
        let fits = strong_width(name, BODY) <= place[1] - place[0];
        let marked = marked_stand_in(name).filter(|_| !fits);
        let name = marked.as_deref().unwrap_or(name);
        put(&mut self.figure, &ink, place, upper, true, false, name);
        if two_lines {
            put(&mut self.figure, &ink, place, lower, false, true, size);
        }
        [upper, lower]
    }
}

/// Places a text; elides it if it does not fit.
pub(super) fn put(
    figure: &mut Figure,
    ink: &Ink,
    [from, to]: [f32; 2],
    y: f32,
    strong: bool,
    small: bool,
    text: &str,
) {
    let (size, color) = if small { (SMALL, ink.weak) } else { (BODY, ink.text) };
    match strong {
        // The semibold letters are a little wider.
        true => {
            let fits = strong_width(text, size) <= to - from;
            let room = if fits { f32::INFINITY } else { (to - from) * 0.95 };
            let text = elided(text, room, size);
            figure.strong(pos2(from, y), Anchor::Start, size, color, &text);
        }
        false => {
            let text = elided(text, to - from, size);
            figure.text(pos2(from, y), Anchor::Start, size, color, &text);
        }
    }
}

pub(super) fn outline(figure: &mut Figure, rect: Rect, color: Color32) {
    let inner = rect.shrink(1.0);
    let corners: [Pos2; 5] = [
        inner.left_top(),
        inner.right_top(),
        inner.right_bottom(),
        inner.left_bottom(),
        inner.left_top(),
    ];
    figure.shapes.push(Shape::Line { points: corners.to_vec(), width: 2.0, color });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::text_width;

    #[test]
    fn where_space_is_short_the_name_of_a_stand_in_is_cut_last() {
        let state = ViewState::default();
        let shown = |room: f32| {
            let (mut drawn, _) = Drawn::titled(("a", "b"), &state.theme.ink(), 400.0);
            let place = ([0.0, room], [40.0, 40.0 + ROW]);
            drawn.start_row(&state, "key", ["Cube_Coup_dt0 (stand-in)", "size"], place);
            format!("{:?}", drawn.figure.shapes)
        };
        assert!(shown(400.0).contains("\"Cube_Coup_dt0 (stand-in)\""));
        let room = text_width("Cube_Coup_dt0 (sta", BODY);
        assert!(shown(room).contains("\"Cube_Coup_dt0 *\""), "{}", shown(room));
    }
}
