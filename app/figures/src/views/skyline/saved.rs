//! The scatter plot as a saved figure.

use std::sync::Arc;

use ecolor::Color32;
use emath::{Vec2, vec2};

use super::drawing::Drawing;
use super::pairs::Pairs;
use super::sheet::Told;
use crate::figure::{Anchor, Figure, Shape, area};

/// Maximum number of points that a saved figure draws as shapes; more are an image.
const SHAPES: usize = 2000;

/// The whole scatter plot; its image has `pixels` pixels per point.
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

/// The same as a saved figure.
pub(super) fn whole(told: &Told<'_>) -> Figure {
    let mut whole = scatter(told, vec2(700.0, 640.0), 2.0);
    let dimensions = told.subject.cloud.picture.axes.len();
    if let Some(pairs) =
        Pairs::new(dimensions, vec2(620.0, 620.0)).filter(|_| told.state.skyline.pairs)
    {
        whole.put_beside(pairs.saved(told, 2.0));
    }
    let words = [told.step_words(), told.part_words(), told.selected_words()];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let ink = told.inks.ink;
    let mut text = Figure::new(vec2(700.0, 20.0 * words.len() as f32), ink.paper);
    for (line, words) in words.iter().enumerate() {
        let at = area(10.0, 20.0 * line as f32, 10.0, 20.0 * line as f32 + 16.0).center();
        text.text(at, Anchor::Start, 13.0, ink.text, words);
    }
    whole.put_below(text);
    whole
}
