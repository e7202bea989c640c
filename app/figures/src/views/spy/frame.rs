//! The layout of the picture.

use emath::{Rect, Vec2, pos2, vec2};

use crate::state::{Numbering, SpyState};

/// Font size; like all sizes here, in points.
pub(in crate::views) const TYPE: f32 = 12.5;
/// Space around the matrix for numbers, and below it for the colour bar.
const LEFT: f32 = 78.0;
const TOP: f32 = 46.0;
const BOTTOM: f32 = 62.0;
/// Space between the matrix and what is next to it.
pub(in crate::views) const GAP: f32 = 26.0;
/// Width of the strip of padding.
pub(in crate::views) const STRIP: f32 = 16.0;
/// Height of each line of text above a picture.
pub(in crate::views) const CAPTION: f32 = 22.0;
/// Narrower areas, such as phones, have only the matrix: row lengths would halve it.
const NARROW: f32 = 480.0;
/// Minimum height of the matrix, and width unless it is tall.
const LEAST: f32 = 96.0;
/// Minimum width of the row lengths; at most they are as wide as the matrix.
const PROFILE: f32 = 110.0;

/// The layout of the picture in its figure.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Area of the matrix.
    pub(in crate::views) area: Rect,
    /// Right edge of everything.
    pub(in crate::views) right: f32,
    /// Row lengths are drawn next to it.
    pub(in crate::views) with_profile: bool,
}

/// What is drawn around a matrix, apart from its numbers and the colour bar.
#[derive(Clone, Copy, Debug)]
pub(in crate::views) struct Around {
    /// Lines of text above it.
    pub(in crate::views) lines: f32,
    /// A strip next to it.
    pub(in crate::views) strip: bool,
    /// Row lengths, if there is space.
    pub(in crate::views) profile: bool,
    /// Rows and columns are scaled independently.
    pub(in crate::views) stretch: bool,
}

impl Around {
    fn of(state: &SpyState) -> Self {
        Self {
            // Name and size.
            lines: if state.numbering == Numbering::Stored { 2.0 } else { 3.0 },
            strip: state.hack > 0,
            // Two pictures side by side leave no space for row lengths, which apply to one of them.
            profile: state.numbering != Numbering::Both,
            stretch: state.stretch,
        }
    }
}

impl Frame {
    /// Divides `size` for a matrix of this shape.
    pub(in crate::views) fn new(size: Vec2, shape: (usize, usize), state: &SpyState) -> Self {
        Self::with(size, shape, Around::of(state))
    }

    /// The same with these surroundings; edges are aligned to pixels.
    pub(in crate::views) fn with(size: Vec2, shape: (usize, usize), around: Around) -> Self {
        let strip = if around.strip { GAP + STRIP } else { 0.0 };
        let with_profile = around.profile && size.x >= NARROW;
        let beside = if with_profile { GAP + PROFILE } else { 0.0 };
        let top = TOP + CAPTION * around.lines;
        let room = vec2(size.x - LEFT - strip - beside - 12.0, size.y - top - BOTTOM);
        let aspect = (shape.1.max(1) as f32 / shape.0.max(1) as f32).clamp(0.5, 2.5);
        let height = room.y.max(LEAST);
        let width = room.x.max(LEAST).min(height * if around.stretch { 2.5 } else { aspect });
        let height = if around.stretch { height } else { height.min(width / aspect) };
        let corner = pos2(LEFT, top);
        let area = Rect::from_min_size(corner, vec2(width.floor(), height.floor()));
        let left = size.x - area.max.x - strip - GAP - 12.0;
        let profile = left.clamp(PROFILE, PROFILE.max(area.width()));
        let beside = if with_profile { GAP + profile } else { 0.0 };
        Self { area, right: area.max.x + strip + beside, with_profile }
    }

    /// Size of the figure.
    pub(in crate::views) fn size(&self) -> Vec2 {
        vec2(self.right + 12.0, self.area.max.y + BOTTOM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_lengths_take_the_width_that_a_square_matrix_leaves() {
        let around = Around { lines: 2.0, strip: false, profile: true, stretch: false };
        let of = |width| Frame::with(vec2(width, 700.0), (1000, 1000), around);
        assert_eq!(of(1080.0).size().x, 1080.0);
        let wide = of(4000.0);
        assert_eq!(wide.right - wide.area.max.x - GAP, wide.area.width());
    }

    #[test]
    fn a_tall_matrix_keeps_its_shape_in_a_short_area() {
        let around = Around { lines: 3.0, strip: false, profile: true, stretch: false };
        let area = Frame::with(vec2(900.0, 250.0), (4000, 1000), around).area;
        assert_eq!(area.size(), vec2(48.0, 96.0));
    }
}
