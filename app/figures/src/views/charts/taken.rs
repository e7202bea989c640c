//! What the texts of a chart keep clear of.

use emath::{Pos2, Rect, Vec2, vec2};

use super::near::Near;

/// Steps along a line at which no text is written.
const STEP: f32 = 6.0;

/// The places of what is drawn.
pub(super) struct Taken {
    grid: Near<Rect>,
    marks: Near<Rect>,
    /// Marks of grey series: texts may cover them.
    quiet: Near<Rect>,
    lines: Near<Rect>,
    guides: Near<Rect>,
    texts: Near<Rect>,
}

/// What a text may cover, each also what is before it; never another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Covers {
    Nothing,
    Grid,
    Marks,
    Lines,
    Guides,
}

impl Taken {
    pub(super) fn new() -> Self {
        let [grid, marks, quiet, lines, guides, texts] = std::array::from_fn(|_| Near::new());
        Self { grid, marks, quiet, lines, guides, texts }
    }

    pub(super) fn mark(&mut self, rect: Rect) {
        self.marks.add(rect, rect);
    }

    pub(super) fn quiet_mark(&mut self, rect: Rect) {
        self.quiet.add(rect, rect);
    }

    /// A horizontal or vertical line of the grid.
    pub(super) fn grid_line(&mut self, ends: [Pos2; 2]) {
        straight(&mut self.grid, ends);
    }

    /// A line through these points.
    pub(super) fn line(&mut self, points: &[Pos2]) {
        for pair in points.windows(2) {
            let [from, to] = *pair else { continue };
            stretch(&mut self.lines, [from, to]);
        }
    }

    /// A reference line.
    pub(super) fn guide(&mut self, ends: [Pos2; 2]) {
        stretch(&mut self.guides, ends);
    }

    /// A place with texts.
    pub(super) fn texts(&mut self, rect: Rect) {
        self.texts.add(rect, rect);
    }

    /// Takes a place that covers no more than one of these allows, trying them in order.
    pub(super) fn take(
        &mut self,
        size: Vec2,
        places: &[Pos2],
        inside: Rect,
        allowed: &[Covers],
    ) -> Option<Pos2> {
        let areas: Vec<_> =
            places.iter().map(|at| vec![Rect::from_center_size(*at, size)]).collect();
        let place = self.take_area(&areas, inside, allowed)?;
        places.get(place).copied()
    }

    /// Takes an area in the same way, of those that fit the one over the fewest marks, then over the fewest of grey
    /// series; returns its index. An area is the union of its rectangles.
    pub(super) fn take_area(
        &mut self,
        areas: &[Vec<Rect>],
        inside: Rect,
        allowed: &[Covers],
    ) -> Option<usize> {
        let fits = |covers: Covers, area: &[Rect]| {
            area.iter().all(|rect| inside.contains_rect(*rect) && self.is_free(*rect, covers))
        };
        let over = |area: &[Rect]| {
            [&self.marks, &self.quiet].map(|of| {
                let is_over = |rect: &&Rect| of.any(**rect, |mark| mark.intersects(**rect));
                area.iter().filter(is_over).count()
            })
        };
        let best = |covers: &Covers| {
            let fitting = areas.iter().enumerate().filter(|(_, area)| fits(*covers, area));
            fitting.min_by_key(|(_, area)| over(area)).map(|(place, _)| place)
        };
        let place = allowed.iter().find_map(best)?;
        for rect in areas.get(place)? {
            self.texts.add(*rect, *rect);
        }
        Some(place)
    }

    fn is_free(&self, rect: Rect, covers: Covers) -> bool {
        let free = |of: &Near<Rect>| !of.any(rect, |other| other.intersects(rect));
        free(&self.texts)
            && (covers >= Covers::Guides || free(&self.guides))
            && (covers >= Covers::Lines || free(&self.lines))
            && (covers >= Covers::Marks || free(&self.marks))
            && (covers >= Covers::Grid || free(&self.grid))
    }
}

fn stretch(lines: &mut Near<Rect>, [from, to]: [Pos2; 2]) {
    if from.x == to.x || from.y == to.y {
        straight(lines, [from, to]);
        return;
    }
    let steps = (from.distance(to) / STEP).ceil().clamp(1.0, 1000.0);
    for step in 0..=steps as usize {
        let at = from + (to - from) * (step as f32 / steps);
        let rect = Rect::from_center_size(at, vec2(2.0, 2.0));
        lines.add(rect, rect);
    }
}

/// A line that one rectangle covers.
fn straight(lines: &mut Near<Rect>, [from, to]: [Pos2; 2]) {
    let rect = Rect::from_two_pos(from, to).expand(1.0);
    lines.add(rect, rect);
}

#[cfg(test)]
mod tests {
    use emath::pos2;

    use super::*;

    #[test]
    fn a_text_covers_marks_before_lines_before_guides_and_never_another_text() {
        let mut taken = Taken::new();
        let [one, other, fourth, third] = [10.0, 50.0, 70.0, 90.0].map(|y| pos2(50.0, y));
        taken.grid_line([pos2(0.0, 10.0), pos2(100.0, 10.0)]);
        taken.mark(Rect::from_center_size(other, vec2(4.0, 4.0)));
        taken.line(&[pos2(0.0, 85.0), pos2(100.0, 95.0)]);
        taken.guide([pos2(0.0, 67.0), pos2(100.0, 73.0)]);
        let inside = Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 100.0));
        let size = vec2(20.0, 10.0);
        let all = [Covers::Nothing, Covers::Grid, Covers::Marks, Covers::Lines, Covers::Guides];
        let mut take =
            |places: &[Pos2], covers: &[Covers]| taken.take(size, places, inside, covers);
        assert_eq!(take(&[one, other, third], &all[..1]), None);
        assert_eq!(take(&[pos2(5.0, 30.0)], &all), None, "it would reach outside");
        let places = [fourth, third, other, one];
        for expected in [one, other, third, fourth] {
            assert_eq!(take(&places, &all), Some(expected));
        }
        assert_eq!(take(&places, &all), None);
    }

    #[test]
    fn of_places_over_no_marks_in_colour_the_first_over_no_grey_ones_is_taken() {
        let mut taken = Taken::new();
        let places = [10.0, 50.0, 90.0].map(|y| pos2(50.0, y));
        let [gray, colored, free] = places;
        let around = |at: Pos2| Rect::from_center_size(at, vec2(4.0, 4.0));
        taken.quiet_mark(around(gray));
        taken.mark(around(colored));
        let inside = Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 100.0));
        let mut take = || {
            let allowed = [Covers::Nothing, Covers::Marks];
            taken.take(vec2(20.0, 10.0), &places, inside, &allowed)
        };
        assert_eq!([take(), take(), take()], [free, gray, colored].map(Some));
    }
}
