//! A chart as a small picture without words, to choose it by.

use emath::Vec2;

use super::chart::Chart;
use super::looks::Looks;
use super::plot::Data;
use super::sheet::Sheet;
use super::view::why;
use super::{plane, rows};
use crate::figure::{Figure, Shape};
use crate::model::Model;
use crate::state::ViewState;

/// The scale of the picture.
const SCALE: f32 = 0.32;
/// Of more marks than these, as many are left out as is needed: nobody can tell them apart.
const MARKS: usize = 300;

/// The picture of a chart, as wide as `size`; many rows reach below it.
///
/// # Errors
/// Why there is nothing to draw, in a sentence.
pub fn small(
    model: &Model,
    state: &ViewState,
    chart: &Chart,
    size: Vec2,
) -> Result<Figure, &'static str> {
    let data = Data::of(model, state);
    let plot = (chart.data)(&data);
    if plot.is_empty() {
        return Err(why(chart, &data));
    }
    let looks = Looks::of(model, &state.filter.operation);
    let size = size / SCALE;
    let mut sheet = Sheet::new(&plot, &looks, state.theme.ink(), size.x, (None, None));
    sheet.tells = false;
    let foot = match plot.rows.as_ref() {
        Some(list) => rows::draw(&mut sheet, list, 0.0, Some(size.y)),
        None => plane::draw(&mut sheet, 0.0, Some(size.y)),
    };
    let mut figure = sheet.figure;
    figure.size.y = foot;
    figure.head = None;
    figure.hits.clear();
    let is_mark = |shape: &Shape| matches!(shape, Shape::Circle { .. } | Shape::Polygon { .. });
    let marks = figure.shapes.iter().filter(|shape| is_mark(shape)).count();
    let every = marks.div_ceil(MARKS).max(1);
    let mut seen = 0;
    figure.shapes.retain(|shape| {
        seen += usize::from(is_mark(shape));
        let is_text = matches!(shape, Shape::Text { .. } | Shape::Turned { .. });
        !is_text && (!is_mark(shape) || seen % every == 0)
    });
    figure.scale(SCALE);
    Ok(figure)
}

#[cfg(test)]
mod tests {
    use emath::vec2;

    use super::super::list::offered;
    use super::super::tests::{bundle, model_of, state};
    use super::*;

    #[test]
    fn a_picture_has_the_marks_but_no_words_and_an_empty_chart_says_why() {
        let model = model_of(bundle("a", 1.0));
        let state = state("kernels");
        let of = |id: &str| {
            let chart = offered(&state).find(|chart| chart.id == id).unwrap();
            small(&model, &state, chart, vec2(160.0, 100.0))
        };
        let figure = of("kernels").unwrap();
        assert!((figure.size.x - 160.0).abs() < 0.1 && figure.size.y > 40.0, "{:?}", figure.size);
        let is_text = |shape: &Shape| matches!(shape, Shape::Text { .. } | Shape::Turned { .. });
        assert!(!figure.shapes.iter().any(is_text) && figure.hits.is_empty());
        assert!(!figure.shapes.is_empty());
        assert!(of("expected").unwrap_err().ends_with('.'));
    }
}
