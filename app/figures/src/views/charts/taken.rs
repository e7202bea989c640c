//! What the texts of a chart keep clear of.

use emath::{Pos2, Rect, Vec2, vec2};

use super::near::Near;

/// Steps along a line at which no text is written.
const STEP: f32 = 6.0;

/// The places of what is drawn.
pub(super) struct Taken {
    grid: Near<Rect>,
    marks: Near<Rect>,
    lines: Near<Rect>,
    texts: Near<Rect>,
}

/// What a text may cover, each also what is before it; never another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Covers {
    Nothing,
    Grid,
    Marks,
    Lines,
}

impl Taken {
    pub(super) fn new() -> Self {
        let [grid, marks, lines, texts] = std::array::from_fn(|_| Near::new());
        Self { grid, marks, lines, texts }
    }

    pub(super) fn mark(&mut self, rect: Rect) {
        self.marks.add(rect, rect);
    }

    /// A horizontal or vertical line of the grid.
    pub(super) fn grid_line(&mut self, ends: [Pos2; 2]) {
        straight(&mut self.grid, ends);
    }

    /// A line through these points.
    pub(super) fn line(&mut self, points: &[Pos2]) {
        for pair in points.windows(2) {
            let [from, to] = *pair else { continue };
            if from.x == to.x || from.y == to.y {
                straight(&mut self.lines, [from, to]);
                continue;
            }
            let steps = (from.distance(to) / STEP).ceil().clamp(1.0, 1000.0);
            for step in 0..=steps as usize {
                let at = from + (to - from) * (step as f32 / steps);
                let rect = Rect::from_center_size(at, vec2(2.0, 2.0));
                self.lines.add(rect, rect);
            }
        }
    }

    /// Takes the first place that covers no more than one of these allows, trying them in order.
    pub(super) fn take(
        &mut self,
        size: Vec2,
        places: &[Pos2],
        inside: Rect,
        allowed: &[Covers],
    ) -> Option<Pos2> {
        let rect = |at: &Pos2| Rect::from_center_size(*at, size);
        let mut all = allowed.iter().flat_map(|covers| places.iter().map(move |at| (covers, at)));
        let fits =
            |covers: Covers, rect: Rect| inside.contains_rect(rect) && self.is_free(rect, covers);
        let (_, at) = all.find(|(covers, at)| fits(**covers, rect(at)))?;
        let rect = rect(at);
        self.texts.add(rect, rect);
        Some(*at)
    }

    fn is_free(&self, rect: Rect, covers: Covers) -> bool {
        let free = |of: &Near<Rect>| !of.any(rect, |other| other.intersects(rect));
        free(&self.texts)
            && (covers >= Covers::Lines || free(&self.lines))
            && (covers >= Covers::Marks || free(&self.marks))
            && (covers >= Covers::Grid || free(&self.grid))
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
    fn a_text_covers_marks_before_lines_and_never_another_text() {
        let mut taken = Taken::new();
        let [one, other, third] = [10.0, 50.0, 90.0].map(|y| pos2(50.0, y));
        taken.grid_line([pos2(0.0, 10.0), pos2(100.0, 10.0)]);
        taken.mark(Rect::from_center_size(other, vec2(4.0, 4.0)));
        taken.line(&[pos2(0.0, 85.0), pos2(100.0, 95.0)]);
        let inside = Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 100.0));
        let size = vec2(20.0, 10.0);
        let all = [Covers::Nothing, Covers::Grid, Covers::Marks, Covers::Lines];
        let mut take =
            |places: &[Pos2], covers: &[Covers]| taken.take(size, places, inside, covers);
        assert_eq!(take(&[one, other, third], &all[..1]), None);
        assert_eq!(take(&[pos2(5.0, 30.0)], &all), None, "it would reach outside");
        for expected in [one, other, third] {
            assert_eq!(take(&[third, other, one], &all), Some(expected));
        }
        assert_eq!(take(&[third, other, one], &all), None);
    }
}
