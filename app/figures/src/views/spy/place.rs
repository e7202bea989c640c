//! The part of the matrix in view, and its position in the picture.

use std::ops::Range;

use emath::{Pos2, Rect, Vec2};

use crate::state::At;

/// A matrix of `rows` × `cols` mapped to an area of the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub area: Rect,
    rows: f64,
    cols: f64,
    /// Row and column at the top left corner.
    row: f64,
    col: f64,
    /// Rows and columns per point.
    rows_per_point: f64,
    cols_per_point: f64,
    /// Minimum number of rows from the top to the bottom of the area.
    closest: f64,
}

impl Place {
    /// Shows the part `at`, or the whole matrix centred in the area; never fewer rows than
    /// `closest`, unless the matrix is smaller.
    pub(in crate::views) fn new(
        area: Rect,
        size: (usize, usize),
        at: Option<At>,
        stretch: bool,
        closest: f64,
    ) -> Self {
        let (rows, cols) = (size.0.max(1) as f64, size.1.max(1) as f64);
        let (height, width) = (f64::from(area.height().max(1.0)), f64::from(area.width().max(1.0)));
        let mut whole = (rows / height, cols / width);
        if !stretch {
            let larger = whole.0.max(whole.1);
            whole = (larger, larger);
        }
        let most = whole.0 * height;
        let at = at.unwrap_or(At { row: rows / 2.0, col: cols / 2.0, rows: most });
        let zoom = at.rows.clamp(closest.min(most), most) / most;
        let (rows_per_point, cols_per_point) = (whole.0 * zoom, whole.1 * zoom);
        // The view stays within the matrix, or is centred if all of the matrix is in view.
        let first = |middle: f64, seen: f64, n: f64| match seen >= n {
            true => (n - seen) / 2.0,
            false => (middle - seen / 2.0).clamp(0.0, n - seen),
        };
        let row = first(at.row, rows_per_point * height, rows);
        let col = first(at.col, cols_per_point * width, cols);
        Self { area, rows, cols, row, col, rows_per_point, cols_per_point, closest }
    }

    /// The same part on another area of the same size.
    pub fn on(self, area: Rect) -> Self {
        Self { area, ..self }
    }

    /// The part in view; `None` for the whole matrix.
    pub fn at(&self) -> Option<At> {
        let seen = self.rows_per_point * f64::from(self.area.height());
        let across = self.cols_per_point * f64::from(self.area.width());
        if seen >= self.rows * (1.0 - 1e-9) && across >= self.cols * (1.0 - 1e-9) {
            return None;
        }
        Some(At { row: self.row + seen / 2.0, col: self.col + across / 2.0, rows: seen })
    }

    /// Returns whether zooming in would show nothing more.
    pub fn is_closest(&self) -> bool {
        self.rows_per_point * f64::from(self.area.height()) <= self.closest * (1.0 + 1e-9)
    }

    /// The part in view after zooming out by `factor` around a fixed point.
    pub fn zoomed(&self, around: Pos2, factor: f64) -> Option<At> {
        self.pinched(around, Vec2::ZERO, factor)
    }

    /// The part in view after a pinch: the fingers moved by `by`, their midpoint is now `center`,
    /// and the view shows `factor` times as much; what was at the midpoint stays there.
    pub fn pinched(&self, center: Pos2, by: Vec2, factor: f64) -> Option<At> {
        let seen = self.rows_per_point * f64::from(self.area.height());
        let across = self.cols_per_point * f64::from(self.area.width());
        let factor = factor.max(self.closest / seen);
        let (row, col) = self.matrix(center - by);
        let from = self.area.center() - center;
        let (rows, cols) =
            (seen / f64::from(self.area.height()), across / f64::from(self.area.width()));
        let at = At {
            row: row + f64::from(from.y) * rows * factor,
            col: col + f64::from(from.x) * cols * factor,
            rows: seen * factor,
        };
        let stretched = self.rows_per_point != self.cols_per_point;
        let size = (self.rows as usize, self.cols as usize);
        Self::new(self.area, size, Some(at), stretched, self.closest).at()
    }

    /// The part in view after dragging the matrix by this many points.
    pub fn moved(&self, by: Vec2) -> Option<At> {
        let at = self.at()?;
        Some(At {
            row: at.row - f64::from(by.y) * self.rows_per_point,
            col: at.col - f64::from(by.x) * self.cols_per_point,
            ..at
        })
    }

    /// Row and column, as fractions, at a point of the screen.
    pub fn matrix(&self, point: Pos2) -> (f64, f64) {
        let from = point - self.area.min;
        (
            self.row + f64::from(from.y) * self.rows_per_point,
            self.col + f64::from(from.x) * self.cols_per_point,
        )
    }

    /// Vertical position of the top edge of a row.
    pub(in crate::views) fn y(&self, row: f64) -> f32 {
        self.area.min.y + ((row - self.row) / self.rows_per_point) as f32
    }

    /// Horizontal position of the left edge of a column.
    pub(in crate::views) fn x(&self, col: f64) -> f32 {
        self.area.min.x + ((col - self.col) / self.cols_per_point) as f32
    }

    /// The part of the area that the matrix covers.
    pub fn covered(&self) -> Rect {
        let (x, y) = (|col| self.x(col), |row| self.y(row));
        Rect::from_min_max(Pos2::new(x(0.0), y(0.0)), Pos2::new(x(self.cols), y(self.rows)))
            .intersect(self.area)
    }

    /// Rows in view, whole or in part.
    pub fn rows(&self) -> Range<usize> {
        let last = self.row + self.rows_per_point * f64::from(self.area.height());
        span(self.row, last, self.rows)
    }

    /// Columns in view, whole or in part.
    pub fn cols(&self) -> Range<usize> {
        let last = self.col + self.cols_per_point * f64::from(self.area.width());
        span(self.col, last, self.cols)
    }

    /// Rows per point, or columns per point if fewer: cells must be at least this large.
    pub(in crate::views) fn per_point(&self) -> f64 {
        self.rows_per_point.max(self.cols_per_point)
    }

    /// Row and column at the top left corner.
    pub fn origin(&self) -> (f64, f64) {
        (self.row, self.col)
    }

    /// Rows and columns per point.
    pub fn per_point_each(&self) -> (f64, f64) {
        (self.rows_per_point, self.cols_per_point)
    }
}

fn span(first: f64, last: f64, n: f64) -> Range<usize> {
    let (first, last) = (first.floor().clamp(0.0, n), last.ceil().clamp(0.0, n));
    first as usize..last as usize
}

#[cfg(test)]
mod tests {
    use emath::{pos2, vec2};
    use proptest::prelude::*;

    use super::*;

    fn area() -> Rect {
        Rect::from_min_size(pos2(50.0, 20.0), vec2(400.0, 300.0))
    }

    #[test]
    fn the_whole_matrix_is_centred_and_keeps_its_shape_unless_stretched() {
        let place = Place::new(area(), (600, 600), None, false, 5.0);
        assert_eq!(place.covered(), Rect::from_min_size(pos2(100.0, 20.0), vec2(300.0, 300.0)));
        assert_eq!((place.rows(), place.cols()), (0..600, 0..600));
        assert_eq!(place.at(), None);
        let place = Place::new(area(), (600, 10), None, true, 5.0);
        assert_eq!(place.covered(), area());
        assert_eq!((place.rows(), place.cols()), (0..600, 0..10));
    }

    #[test]
    fn zooming_keeps_what_is_under_the_pointer_and_out_again_shows_everything() {
        let place = Place::new(area(), (100_000, 100_000), None, false, 5.0);
        let pointer = pos2(210.0, 130.0);
        let at = place.zoomed(pointer, 0.01);
        let close = Place::new(area(), (100_000, 100_000), at, false, 5.0);
        let (before, after) = (place.matrix(pointer), close.matrix(pointer));
        assert!((before.0 - after.0).abs() < 1e-6 && (before.1 - after.1).abs() < 1e-6);
        assert_eq!(close.zoomed(pointer, 1000.0), None);
        let closest =
            Place::new(area(), (100_000, 100_000), close.zoomed(pointer, 1e-9), false, 5.0);
        assert!((closest.at().unwrap().rows - 5.0).abs() < 1e-9);
        assert!(closest.is_closest() && !close.is_closest() && !place.is_closest());
        // A matrix with fewer rows is always shown whole.
        let small =
            Place::new(area(), (3, 3), Some(At { row: 1.0, col: 1.0, rows: 1.0 }), false, 5.0);
        assert_eq!((small.at(), small.zoomed(pointer, 0.5)), (None, None));
    }

    proptest! {
        #[test]
        fn what_lay_between_two_fingers_lies_between_them_after_they_have_moved(
            x in 150.0..350.0_f32, y in 100.0..240.0_f32, right in -90.0..90.0_f32,
            down in -70.0..70.0_f32, factor in 0.2..1.5, stretch in any::<bool>(),
        ) {
            let at = Some(At { row: 50_000.0, col: 40_000.0, rows: 3_000.0 });
            let size = (100_000, 90_000);
            let place = Place::new(area(), size, at, stretch, 5.0);
            let (center, by) = (pos2(x, y) + vec2(right, down), vec2(right, down));
            let after = Place::new(area(), size, place.pinched(center, by, factor), stretch, 5.0);
            let (before, now) = (place.matrix(pos2(x, y)), after.matrix(center));
            prop_assert!((before.0 - now.0).abs() < 0.1 && (before.1 - now.1).abs() < 0.1);
            let zoom = after.per_point() / place.per_point();
            prop_assert!((zoom - factor).abs() < 1e-6);
        }

        #[test]
        fn what_is_in_view_lies_within_the_matrix(
            rows in 1usize..100_000_000, cols in 1usize..100_000_000, row in -1e9..1e9,
            col in -1e9..1e9, seen in 1e-9..1e10, stretch in any::<bool>(),
        ) {
            let at = Some(At { row, col, rows: seen });
            let place = Place::new(area(), (rows, cols), at, stretch, 5.0);
            prop_assert!(!place.rows().is_empty() && place.rows().end <= rows);
            prop_assert!(!place.cols().is_empty() && place.cols().end <= cols);
            prop_assert!(place.covered().is_positive());
            let again = Place::new(area(), (rows, cols), place.at(), stretch, 5.0);
            let off = (again.origin().0 - place.origin().0).abs();
            prop_assert!(off < 1e-6 * rows as f64, "showing the same again stays in place");
        }
    }
}
