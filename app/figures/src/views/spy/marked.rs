//! Parts shared by overlays and frames.

use ecolor::Color32;
use emath::Rect;

use crate::figure::{Figure, Shape};

/// Colour of overlays: distinct from every colour map.
pub(super) const MARKED: Color32 = Color32::from_rgb(213, 94, 0);

/// A thin line around a rectangle.
pub(in crate::views) fn outline(figure: &mut Figure, rect: Rect, color: Color32) {
    let corners = [
        rect.left_top(),
        rect.right_top(),
        rect.right_bottom(),
        rect.left_bottom(),
        rect.left_top(),
    ];
    figure.shapes.push(Shape::Line { points: corners.into(), width: 1.0, color });
}
