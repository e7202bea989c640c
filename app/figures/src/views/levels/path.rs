//! The critical path as lines over the cells: from one row's diagonal along its column to the row
//! that depends on it, and on to that row's diagonal.

use emath::{Pos2, pos2};

use crate::figure::clipped;
use crate::views::spy::Place;

/// Shorter steps, in points, are merged.
const LEAST: f32 = 1.0;

/// The visible lines of these rows, each of which depends on the one before.
pub(super) fn lines(path: &[u32], place: &Place) -> Vec<Vec<Pos2>> {
    let within = place.covered();
    let middle = |row: u32| f64::from(row) + 0.5;
    let at = |row: u32, col: u32| pos2(place.x(middle(col)), place.y(middle(row)));
    let mut found: Vec<Vec<Pos2>> = Vec::new();
    let mut add = |from: Pos2, to: Pos2| {
        let Some([from, to]) = clipped(from, to, within) else { return };
        match found.last_mut() {
            Some(line) if line.last() == Some(&from) => line.push(to),
            _ => found.push(vec![from, to]),
        }
    };
    let Some(mut last) = path.first().copied() else { return found };
    let end = path.len() - 1;
    for (index, &row) in path.iter().enumerate().skip(1) {
        let (from, to) = (at(last, last), at(row, row));
        if index < end && (from - to).abs().max_elem() < LEAST {
            continue;
        }
        let corner = at(row, last);
        add(from, corner);
        add(corner, to);
        last = row;
    }
    found
}

#[cfg(test)]
mod tests {
    use emath::{Rect, vec2};

    use super::*;
    use crate::state::At;

    #[test]
    fn the_path_goes_through_the_entries_by_which_rows_wait_and_stays_inside() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 100.0));
        let place = Place::new(area, (10, 10), None, false, 5.0);
        let drawn = lines(&[0, 3, 4], &place);
        let points = [(5.0, 5.0), (5.0, 35.0), (35.0, 35.0), (35.0, 45.0), (45.0, 45.0)];
        assert_eq!(drawn, [points.map(|(x, y)| pos2(x, y)).to_vec()]);
        // A backward sweep starts at the bottom.
        let drawn = lines(&[9, 2], &place);
        assert_eq!(drawn, [vec![pos2(95.0, 95.0), pos2(95.0, 25.0), pos2(25.0, 25.0)]]);
        let close =
            Place::new(area, (10, 10), Some(At { row: 2.5, col: 2.5, rows: 5.0 }), false, 5.0);
        for line in lines(&[0, 3, 9], &close) {
            assert!(line.iter().all(|point| area.contains(*point)), "{line:?}");
        }
        assert!(lines(&[], &place).is_empty() && lines(&[3], &place).is_empty());
    }

    #[test]
    fn of_very_many_rows_as_many_are_drawn_as_can_be_seen() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(500.0, 500.0));
        let path: Vec<u32> = (0..1_000_000).collect();
        let place = Place::new(area, (1_000_000, 1_000_000), None, false, 5.0);
        let points: usize = lines(&path, &place).iter().map(Vec::len).sum();
        assert!((900..1100).contains(&points), "{points}");
    }
}
