//! Where the parts of the picture lie.

use egui::{Rect, Vec2, pos2, vec2};

use crate::state::{Numbering, SpyState};

/// Height of the type, in points like all of these.
pub(super) const TYPE: f32 = 12.5;
/// Room around the matrix for numbers, and under it for the scale of colours.
const LEFT: f32 = 78.0;
const TOP: f32 = 46.0;
const BOTTOM: f32 = 62.0;
/// Between the matrix and what is beside it.
pub(super) const GAP: f32 = 26.0;
/// Width of the strip of padding.
pub(super) const STRIP: f32 = 16.0;
/// Above a picture, the matrix's name, and a line more where it is numbered anew.
pub(super) const CAPTION: f32 = 22.0;
/// Narrower places have the matrix alone.
const NARROW: f32 = 480.0;
/// Row lengths take between these widths.
const PROFILE: (f32, f32) = (110.0, 300.0);

/// Where the parts of the picture lie in its figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The matrix.
    pub(super) area: Rect,
    /// Right edge of everything.
    pub(super) right: f32,
    /// Row lengths are drawn beside it.
    pub(super) with_profile: bool,
}

impl Frame {
    /// Divides `size` for a matrix of this size; edges fall on pixels.
    pub(super) fn new(size: Vec2, shape: (usize, usize), state: &SpyState) -> Self {
        let strip = if state.hack > 0 { GAP + STRIP } else { 0.0 };
        // Two pictures side by side leave no room for row lengths, which are those of either; nor
        // does a narrow screen.
        let with_profile = state.numbering != Numbering::Both && size.x >= NARROW;
        let beside = if with_profile { GAP + PROFILE.0 } else { 0.0 };
        let lines = if state.numbering == Numbering::Stored { 1.0 } else { 2.0 };
        let top = TOP + CAPTION * lines;
        let room = vec2(size.x - LEFT - strip - beside - 12.0, size.y - top - BOTTOM);
        let aspect = (shape.1.max(1) as f32 / shape.0.max(1) as f32).clamp(0.5, 2.5);
        let height = room.y.max(120.0);
        let width = room.x.clamp(120.0, height * if state.stretch { 2.5 } else { aspect });
        let height = if state.stretch { height } else { height.min(width / aspect) };
        let corner = pos2(LEFT, top);
        let area = Rect::from_min_size(corner, vec2(width.floor(), height.floor()));
        let profile = (size.x - area.max.x - strip - GAP - 12.0).clamp(PROFILE.0, PROFILE.1);
        let beside = if with_profile { GAP + profile } else { 0.0 };
        Self { area, right: area.max.x + strip + beside, with_profile }
    }

    /// Extent of the figure.
    pub(super) fn size(&self) -> Vec2 {
        vec2(self.right + 12.0, self.area.max.y + BOTTOM)
    }
}
