//! The scatter as it is saved.

use std::sync::Arc;

use egui::{Color32, Vec2};

use super::drawing::Drawing;
use super::sheet::Told;
use crate::figure::{Figure, Shape};

/// Up to so many points a saved figure has shapes, of more an image.
const SHAPES: usize = 2000;

/// All of it, an image in it having so many pixels a point.
pub(super) fn scatter(told: &Told<'_>, size: Vec2, pixels: f32) -> Figure {
    let frame = told.frame(size);
    let mut figure = told.under(&frame);
    let shapes = told.looks.drawn <= SHAPES;
    let image = Drawing::new((frame.plot, frame.marks), pixels, !shapes).at_once(told);
    if image.pixels.iter().any(|pixel| *pixel != Color32::TRANSPARENT) {
        let rect = frame.plot.area();
        figure.shapes.push(Shape::Image { rect, pixels: Arc::new(image) });
    }
    if shapes {
        told.shapes(&mut figure, &frame);
    }
    figure.shapes.extend(told.over(&frame, None).shapes);
    figure
}
