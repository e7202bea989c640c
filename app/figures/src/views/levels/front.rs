//! The rows at some height of a picture: their levels, and the progress of a sweep in them.

use std::ops::Range;

use emath::pos2;
use sparsescope_core::symgs::Wavefront;

use crate::views::spy::Place;
use crate::waves::span_of;

/// The groups of an order, each of 2^shift rows.
#[derive(Clone, Copy)]
pub struct Front<'a> {
    pub wave: &'a Wavefront,
    pub shift: u32,
}

/// Fractions of some rows; the rest wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Their levels are done.
    pub done: f32,
    /// They are being computed.
    pub now: f32,
}

impl Front<'_> {
    /// The groups of some rows.
    pub(super) fn places(&self, rows: &Range<usize>) -> Range<usize> {
        let end = (rows.end.saturating_sub(1) >> self.shift) + 1;
        (rows.start >> self.shift).min(self.wave.places.len())..end.min(self.wave.places.len())
    }

    /// Minimum, median and maximum level of some rows; if levels are known by groups of rows, the
    /// median is that of the groups' medians.
    pub fn span(&self, rows: &Range<usize>) -> Option<[u32; 3]> {
        span_of(self.wave.places.get(self.places(rows))?)
    }

    /// The progress of a sweep in some rows when the levels before `step` are done.
    pub fn share(&self, rows: &Range<usize>, step: usize) -> Share {
        let places = self.places(rows);
        let count = places.len().max(1) as f32;
        let (mut done, mut then) = (0.0, 0.0);
        for place in places {
            done += self.wave.done(place, step);
            then += self.wave.done(place, step + 1);
        }
        Share { done: done / count, now: (then - done).max(0.0) / count }
    }
}

/// The rows of each line of pixels of a matrix, from the top; `None` where there is no row.
pub(super) fn lines(place: &Place, rows: usize, pixels: f32) -> Vec<Option<Range<usize>>> {
    let count = (place.area.height() * pixels).round().max(1.0) as usize;
    let y = |line: usize| place.area.min.y + line as f32 / pixels;
    let row = |y: f32| place.matrix(pos2(place.area.min.x, y)).0;
    (0..count)
        .map(|line| {
            let (first, end) = (row(y(line)), row(y(line + 1)));
            let middle = (first + end) * 0.5;
            if middle < 0.0 || middle >= rows as f64 {
                return None;
            }
            // For rows taller than a line, the row at its middle.
            let first = (first.ceil().max(0.0) as usize).min(middle as usize);
            Some(first..(end.ceil() as usize).clamp(middle as usize + 1, rows))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use emath::{Rect, vec2};

    use super::*;
    use crate::state::At;

    fn wave(levels: &[u32]) -> Wavefront {
        let count = levels.iter().max().map_or(0, |last| last + 1);
        let width = |of: u32| levels.iter().filter(|level| **level == of).count() as u32;
        Wavefront {
            widths: (0..count).map(width).collect(),
            path: Vec::new(),
            places: levels.iter().map(|level| [*level; 3]).collect(),
        }
    }

    #[test]
    fn rows_are_done_computed_or_waiting_and_nothing_else() {
        let wave = wave(&[0, 1, 1, 2, 0, 3, 2, 2]);
        let front = Front { wave: &wave, shift: 0 };
        assert_eq!(front.span(&(0..8)), Some([0, 1, 3]));
        assert_eq!(front.span(&(5..6)), Some([3, 3, 3]));
        let at = |step| front.share(&(0..8), step);
        assert_eq!(at(0), Share { done: 0.0, now: 0.25 });
        assert_eq!(at(2), Share { done: 0.5, now: 0.375 });
        assert_eq!(at(4), Share { done: 1.0, now: 0.0 });
        assert_eq!(front.share(&(6..7), 2), Share { done: 0.0, now: 1.0 });
    }

    #[test]
    fn every_row_is_on_some_line_and_a_high_row_on_each_of_its_lines() {
        let area = Rect::from_min_size(pos2(50.0, 20.0), vec2(300.0, 300.0));
        let all = Place::new(area, (1000, 1000), None, false, 5.0);
        let lines_of = lines(&all, 1000, 1.0);
        assert_eq!(lines_of.len(), 300);
        let mut seen = vec![0; 1000];
        for line in lines_of.into_iter().flatten() {
            seen[line].iter_mut().for_each(|count| *count += 1);
        }
        assert!(seen.iter().all(|count| *count == 1), "{seen:?}");
        let at = Some(At { row: 500.0, col: 500.0, rows: 10.0 });
        let close = Place::new(area, (1000, 1000), at, false, 5.0);
        let lines_of: Vec<_> = lines(&close, 1000, 2.0).into_iter().flatten().collect();
        assert_eq!(lines_of.len(), 600);
        assert!(lines_of.iter().all(|line| line.len() == 1), "60 lines a row");
        assert_eq!(lines_of.iter().filter(|line| line.start == 500).count(), 60);
        // A matrix in the middle of its area, with empty space above and below.
        let wide = Place::new(area, (100, 400), None, false, 5.0);
        assert_eq!(lines(&wide, 100, 1.0).iter().flatten().count(), 75);
    }
}
