//! Finds items near a position on a sheet without visiting all of them.

use std::collections::HashMap;

use emath::Rect;

/// Side of a cell, in points.
const SIDE: f32 = 16.0;
/// Maximum number of items per cell: beyond that, marks cover one another.
const MOST: usize = 64;

/// Items by the cells of the sheet that they overlap.
pub(super) struct Near<T>(HashMap<[i32; 2], Vec<T>>);

impl<T: Copy> Near<T> {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    pub(super) fn add(&mut self, rect: Rect, thing: T) {
        for cell in cells(rect) {
            let of = self.0.entry(cell).or_default();
            if of.len() < MOST {
                of.push(thing);
            }
        }
    }

    /// Returns whether a cell that `rect` overlaps holds a matching item.
    pub(super) fn any(&self, rect: Rect, is_it: impl Fn(T) -> bool) -> bool {
        cells(rect).any(|cell| self.0.get(&cell).is_some_and(|of| of.iter().any(|it| is_it(*it))))
    }
}

fn cells(rect: Rect) -> impl Iterator<Item = [i32; 2]> {
    let cell = |at: f32| (at / SIDE).floor().clamp(-1e3, 1e5) as i32;
    let columns = cell(rect.left())..=cell(rect.right());
    let rows = cell(rect.top())..=cell(rect.bottom());
    rows.flat_map(move |row| columns.clone().map(move |column| [column, row]))
}

#[cfg(test)]
mod tests {
    use emath::{Pos2, pos2, vec2};

    use super::*;

    #[test]
    fn what_is_within_reach_is_found_and_work_stays_small_however_many_there_are() {
        let mut near = Near::new();
        let at = |place: Pos2| Rect::from_min_max(place, place);
        let around = |place: Pos2| Rect::from_center_size(place, vec2(20.0, 20.0));
        near.add(at(pos2(31.0, 17.0)), pos2(31.0, 17.0));
        let looked = std::cell::Cell::new(0);
        let within = |place: Pos2| move |other: Pos2| other.distance(place) <= 10.0;
        for place in [pos2(33.0, 15.0), pos2(22.0, 17.0), pos2(31.0, 27.0)] {
            assert!(near.any(around(place), within(place)), "{place:?}");
        }
        assert!(!near.any(around(pos2(50.0, 17.0)), within(pos2(50.0, 17.0))));
        for _ in 0..100_000 {
            near.add(at(pos2(100.0, 100.0)), pos2(100.0, 100.0));
        }
        let none = |_| {
            looked.set(looked.get() + 1);
            false
        };
        assert!(!near.any(around(pos2(100.0, 100.0)), none));
        assert!(looked.get() <= 9 * MOST, "{}", looked.get());
        // Positions that are not finite must work, too.
        near.add(at(pos2(f32::NAN, f32::INFINITY)), pos2(0.0, 0.0));
    }
}
