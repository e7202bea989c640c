//! The numbers of rows and columns along the picture.

use std::ops::Range;

use emath::{Rect, pos2};

use super::frame::{GAP, TYPE};
use super::place::Place;
use crate::figure::{Anchor, Figure, text_width};
use crate::theme::Ink;

/// Rows and columns larger than this, in points, have their number at the centre.
const WIDE: f64 = 4.0;

/// Ticks with numbers to the left of the matrix and above it.
pub fn axes(figure: &mut Figure, area: Rect, place: &Place, ink: Ink) {
    let covered = place.covered();
    let (rows_per_point, cols_per_point) = place.per_point_each();
    for (row, at) in ticks(place.rows(), area.height() / 56.0, rows_per_point) {
        let y = place.y(at);
        if y >= covered.min.y - 0.5 && y <= covered.max.y + 0.5 {
            figure.line(pos2(covered.min.x - 4.0, y), pos2(covered.min.x, y), 1.0, ink.weak);
            let at = pos2(covered.min.x - 7.0, y);
            figure.text(at, Anchor::End, TYPE, ink.weak, &index(row));
        }
    }
    let mut taken = f32::NEG_INFINITY;
    for (col, at) in ticks(place.cols(), area.width() / 80.0, cols_per_point) {
        let (x, label) = (place.x(at), index(col));
        let half = text_width(&label, TYPE) * 0.5;
        let inside = x >= covered.min.x - 0.5 && x <= covered.max.x + 0.5;
        if inside && x - half > taken && x + half < area.max.x + GAP - 4.0 {
            figure.line(pos2(x, covered.min.y - 4.0), pos2(x, covered.min.y), 1.0, ink.weak);
            figure.text(pos2(x, covered.min.y - 13.0), Anchor::Middle, TYPE, ink.weak, &label);
            taken = x + half + 8.0;
        }
    }
    let titles = pos2(covered.center().x, covered.min.y - 33.0);
    figure.text(titles, Anchor::Middle, TYPE, ink.text, "Columns, from 0");
    let corner = pos2((covered.min.x - 7.0).max(40.0), covered.min.y - 33.0);
    figure.text(corner, Anchor::End, TYPE, ink.text, "Rows");
}

/// An index with its digits in groups of three.
pub fn index(number: usize) -> String {
    digits(number as u64)
}

/// The same for a count, which may exceed `usize` on the web page.
pub fn digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}'); // narrow no-break space
        }
        out.push(digit);
    }
    out
}

/// About `wanted` round numbers in a range, each with its position: the centre of its row (or
/// column) if that is distinguishable from its edge, at `per_point` rows per point. The end of the
/// range is an edge, not a row.
fn ticks(range: Range<usize>, wanted: f32, per_point: f64) -> impl Iterator<Item = (usize, f64)> {
    let rough = range.len() as f64 / f64::from(wanted.max(2.0));
    let decade = 10_f64.powf(rough.max(1.0).log10().floor());
    let leading = [1.0, 2.0, 5.0, 10.0].into_iter().find(|leading| leading * decade >= rough);
    let step = (leading.unwrap_or(10.0) * decade).max(1.0) as usize;
    let is_wide = per_point * WIDE < 1.0;
    let (end, middle) = if is_wide { (range.end, 0.5) } else { (range.end + 1, 0.0) };
    let first = range.start.next_multiple_of(step);
    (first..end).step_by(step).map(move |number| (number, number as f64 + middle))
}

#[cfg(test)]
mod tests {
    use ecolor::Color32;
    use emath::vec2;

    use super::*;
    use crate::figure::Shape;
    use crate::state::{At, Theme};

    /// The numbers of a picture of 400 × 400 points with its corner at (100, 100), for this part of
    /// 1000 × 1000, with their positions.
    fn numbers(at: Option<At>) -> (Place, Vec<(String, emath::Pos2)>) {
        let area = Rect::from_min_size(pos2(100.0, 100.0), vec2(400.0, 400.0));
        let place = Place::new(area, (1000, 1000), at, false, 5.0);
        let mut figure = Figure::new(vec2(600.0, 600.0), Color32::WHITE);
        axes(&mut figure, area, &place, Theme::Light.ink());
        let texts = figure.shapes.into_iter().filter_map(|shape| match shape {
            Shape::Text { pos, text, .. } => Some((text, pos)),
            _ => None,
        });
        (place, texts.filter(|(text, _)| text.starts_with(|c: char| c.is_ascii_digit())).collect())
    }

    #[test]
    fn numbers_stand_at_the_middles_of_rows_and_columns_that_a_pointer_there_reads() {
        let (place, texts) = numbers(Some(At { row: 504.0, col: 704.0, rows: 8.0 }));
        let (rows, cols): (Vec<_>, Vec<_>) = texts.into_iter().partition(|(_, at)| at.x < 100.0);
        assert!(rows.len() >= 4 && cols.len() >= 4, "{rows:?} {cols:?}");
        for (text, at) in &rows {
            let (row, _) = place.matrix(*at);
            assert!((row - text.parse::<f64>().unwrap() - 0.5).abs() < 1e-3, "{text} at {row}");
        }
        for (text, at) in &cols {
            let (_, col) = place.matrix(*at);
            assert!((col - text.parse::<f64>().unwrap() - 0.5).abs() < 1e-3, "{text} at {col}");
        }
        assert!(!rows.iter().any(|(text, _)| text == "508"), "the edge below is no row");
    }

    #[test]
    fn numbers_of_rows_that_are_thin_stand_at_their_edges_and_the_last_edge_has_one() {
        let (_, texts) = numbers(None);
        let rows: Vec<_> = texts.iter().filter(|(_, at)| at.x < 100.0).collect();
        assert_eq!(rows.first().map(|(text, at)| (text.as_str(), at.y)), Some(("0", 100.0)));
        assert_eq!(
            rows.last().map(|(text, at)| (text.as_str(), at.y)),
            Some(("1\u{202f}000", 500.0))
        );
    }
}
