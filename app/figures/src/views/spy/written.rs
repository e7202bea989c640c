//! Values written into the cells of single nonzeros, if those are large enough to be legible.

use emath::{Rect, pos2};

use super::place::Place;
use super::shade::Shade;
use crate::figure::{Anchor, Figure, text_width};
use crate::picture::{Cells, Picture};
use crate::theme::text_on;

/// Minimum side of a cell with its value in it, in points.
pub(super) const READABLE: f32 = 48.0;
/// Font size: the default, and the minimum for long values.
const TYPE: f32 = 13.0;
const LEAST_TYPE: f32 = 7.0;
/// Space between a value and the edges of its cell.
const MARGIN: f32 = 3.0;

/// Writes the value of every nonzero in view that has space for it, in a colour that contrasts with
/// its cell. If a cell is only partly in view, the value is written into that part.
pub(super) fn values(
    figure: &mut Figure,
    place: &Place,
    picture: &Picture,
    cells: &Cells<'_>,
    shade: &Shade,
) {
    let (rows_per_point, cols_per_point) = place.per_point_each();
    let least = 1.0 / f64::from(READABLE) * (1.0 + 1e-9);
    if picture.values.is_none() || cells.shift() > 0 || rows_per_point.max(cols_per_point) > least {
        return;
    }
    let cols = place.cols();
    let mut counts = vec![0; cols.len()];
    for row in place.rows() {
        cells.line(row, cols.start, &mut counts);
        for (col, count) in cols.clone().zip(&counts).filter(|(_, count)| **count > 0) {
            let Some(lines) = picture.value(row, col) else { continue };
            let corner = |row: usize, col: usize| pos2(place.x(col as f64), place.y(row as f64));
            let cell = Rect::from_min_max(corner(row, col), corner(row + 1, col + 1));
            let Some(size) = size(&lines, cell) else { continue };
            let color = text_on(shade.color(*count));
            write(figure, &lines, cell.intersect(place.area), size, color);
        }
    }
}

/// Font size at which a value fits into its cell; `None` if it would be illegible.
fn size(lines: &[String], cell: Rect) -> Option<f32> {
    let longest = lines.iter().map(|line| text_width(line, 1.0)).fold(0.5, f32::max);
    let size = TYPE.min((cell.width() - 2.0 * MARGIN) / longest);
    (size >= LEAST_TYPE).then_some(size)
}

/// In the middle of the visible part of the cell, unless that is too small.
fn write(figure: &mut Figure, lines: &[String], seen: Rect, size: f32, color: ecolor::Color32) {
    let line_height = size * 1.25;
    let width = lines.iter().map(|line| text_width(line, size)).fold(0.0, f32::max);
    let height = line_height * lines.len() as f32;
    if seen.width() < width + MARGIN || seen.height() < height {
        return;
    }
    let first = seen.center().y - (height - line_height) * 0.5;
    for (number, line) in lines.iter().enumerate() {
        let at = pos2(seen.center().x, first + line_height * number as f32);
        figure.text(at, Anchor::Middle, size, color, line);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ecolor::Color32;
    use emath::vec2;
    use sparsescope_core::experiment::LoadedValues;
    use sparsescope_core::matrix::Csr;

    use super::*;
    use crate::figure::Shape;
    use crate::state::{ColorMap, Scale, Theme};

    /// 20 × 20 with large, small, negative and whole values on the diagonal and next to it.
    fn picture() -> Picture {
        let value = |i: usize| [4.0, 2.063_006_902_324_907_2e31, -1.0 / 3.0, -4e-12][i % 4];
        let beside = (1..20).map(|i| (i, i - 1, -1e7));
        let t: Vec<_> = (0..20).map(|i| (i, i, value(i))).chain(beside).collect();
        Picture::of(&LoadedValues::Real(Arc::new(Csr::from_triplets(20, 20, &t).unwrap())))
    }

    /// The values and their colours for cells of this size, starting at the picture's corner.
    fn written(picture: &Picture, side: f32) -> Vec<(emath::Pos2, f32, Color32, String)> {
        let area = Rect::from_min_size(pos2(10.0, 10.0), vec2(480.0, 480.0));
        let seen = f64::from(480.0 / side);
        let at = crate::state::At { row: seen / 2.0, col: seen / 2.0, rows: seen };
        let place = Place::new(area, (20, 20), Some(at), false, 5.0);
        let cells = picture.cells(f64::from(1.0 / side), &place.rows(), &place.cols()).unwrap();
        let spread = picture.spread(&cells);
        let shade = Shade::new(Scale::Log, ColorMap::Blues, Theme::Light, spread);
        let mut figure = Figure::new(vec2(500.0, 500.0), Color32::WHITE);
        values(&mut figure, &place, picture, &cells, &shade);
        let text = |shape| match shape {
            Shape::Text { pos, size, color, text, .. } => (pos, size, color, text),
            other => panic!("{other:?}"),
        };
        figure.shapes.into_iter().map(text).collect()
    }

    #[test]
    fn from_48_points_a_cell_its_value_stands_in_its_middle_to_be_read_on_its_colour() {
        let picture = picture();
        assert!(written(&picture, 47.0).is_empty());
        let values = written(&picture, 48.0);
        let texts: Vec<&str> = values.iter().map(|(.., text)| text.as_str()).collect();
        let diagonal = ["4", "2.0630e31", "-0.33333", "-4.0000e-12"].into_iter().cycle();
        let expected = diagonal.take(10).flat_map(|value| ["-1.0000e7", value]).skip(1);
        assert_eq!(texts, expected.collect::<Vec<_>>());
        for (pos, size, color, text) in values {
            assert_eq!(color, Color32::WHITE, "one entry alone is the darkest of the blues");
            let middle = (pos - pos2(10.0, 10.0)) / 48.0;
            assert!((middle.x.fract() - 0.5).abs() < 1e-3 && (middle.y.fract() - 0.5).abs() < 1e-3);
            assert!(size >= LEAST_TYPE && text_width(&text, size) <= 48.0 - 2.0 * MARGIN + 0.01);
        }
    }

    #[test]
    fn without_the_matrix_nothing_is_written() {
        let mut picture = picture();
        picture.values = None;
        assert!(written(&picture, 60.0).is_empty());
    }

    #[test]
    fn what_is_seen_of_a_cell_has_its_value_unless_that_is_too_little() {
        // Four fifths, then a half, of the sixth cell are in view: it has 2.0630e31.
        let side = 480.0 / 5.8;
        let values = written(&picture(), side);
        let (pos, .., text) = values.last().unwrap();
        assert_eq!((text.as_str(), values.len()), ("2.0630e31", 11));
        let middle = 10.0 + (5.0 * side + 480.0) * 0.5;
        assert!((pos.x - middle).abs() < 0.01 && (pos.y - middle).abs() < 0.01, "{pos:?}");
        assert_eq!(written(&picture(), 480.0 / 5.5).len(), 10);
    }
}
