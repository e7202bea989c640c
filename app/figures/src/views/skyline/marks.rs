//! The size of marks for a number of points in view, and their pixels.

use emath::vec2;

use super::look::Look;
use crate::figure::Mark;

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marks {
    /// Shapes; a dominated point is a disc of this radius, in points.
    Shapes(f32),
    /// Two points wide; skyline points are diamonds.
    Small,
    /// One point wide: shapes would overlap.
    Dots,
}

impl Marks {
    /// The marks for this number of points in view.
    pub(super) fn of(count: usize) -> Self {
        match count {
            0..=60 => Self::Shapes(4.0),
            61..=500 => Self::Shapes(3.0),
            501..=5000 => Self::Shapes(2.0),
            5001..=20_000 => Self::Small,
            _ => Self::Dots,
        }
    }

    /// Radius of a dominated point, in points.
    pub(super) fn radius(self) -> f32 {
        match self {
            Self::Shapes(radius) => radius,
            Self::Small => 1.0,
            Self::Dots => 0.5,
        }
    }

    /// The pixels of a point with this look, at `pixels` pixels per point of the screen.
    pub(super) fn stamp(self, look: Look, pixels: f32) -> Stamp {
        let (mark, times, filled) = look.form();
        match (self, look) {
            (Self::Small, Look::Kept) => Stamp::diamond(pixels.round() as i32),
            (Self::Small | Self::Dots, Look::Dropped | Look::Waiting | Look::Kept) => {
                Stamp::square((2.0 * self.radius() * pixels).round() as i32)
            }
            _ => {
                let radius = (self.radius() * pixels).max(0.6) * times;
                Stamp::shape(mark, radius, (!filled).then_some(pixels * 1.1))
            }
        }
    }

    /// The pixels of the ring around a point that is being compared.
    pub(super) fn ring(self, pixels: f32) -> Stamp {
        let radius = (self.radius() * pixels).max(0.6) * 2.0;
        Stamp::shape(Mark::Circle, radius, Some(pixels * 1.3))
    }
}

/// The pixels of a mark around its centre, with the coverage of each.
pub(super) struct Stamp {
    pub(super) pixels: Vec<(i32, i32, f32)>,
    /// Few pixels, all fully covered.
    pub(super) is_small: bool,
}

impl Stamp {
    /// A mark of this radius in pixels; hollow, with this line width, if `line` is given.
    fn shape(mark: Mark, radius: f32, line: Option<f32>) -> Self {
        let reach = (radius * 1.3).ceil() as i32 + 1;
        let distance = |x: f32, y: f32| match mark {
            Mark::Diamond => (x.abs() + y.abs()) * std::f32::consts::FRAC_1_SQRT_2 * 1.18,
            Mark::Square => x.abs().max(y.abs()) * 1.18,
            _ => vec2(x, y).length(),
        };
        let cover = |x: i32, y: i32| {
            let beyond = distance(x as f32, y as f32) - radius;
            let filled = (0.5 - beyond).clamp(0.0, 1.0);
            let hollow = line.map_or(0.0, |line| (0.5 - beyond - line).clamp(0.0, 1.0));
            filled - hollow
        };
        let all = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y)));
        let covered = all.map(|(x, y)| (x, y, cover(x, y)));
        Self { pixels: covered.filter(|(.., cover)| *cover > 0.02).collect(), is_small: false }
    }

    /// A square of this width in pixels.
    fn square(side: i32) -> Self {
        let first = -(side.max(1) - 1) / 2;
        let span = first..first + side.max(1);
        let all = span.clone().flat_map(|y| span.clone().map(move |x| (x, y, 1.0)));
        Self { pixels: all.collect(), is_small: true }
    }

    /// The pixels within this many horizontal and vertical steps.
    fn diamond(steps: i32) -> Self {
        let all = (-steps..=steps).flat_map(|y| {
            let wide = steps - y.abs();
            (-wide..=wide).map(move |x| (x, y, 1.0))
        });
        Self { pixels: all.collect(), is_small: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_shrink_with_their_number_down_to_a_pixel() {
        let of = [10, 400, 5000, 5001, 20_000, 20_001, 120_000].map(Marks::of);
        let small = [Marks::Small, Marks::Small, Marks::Dots, Marks::Dots];
        assert_eq!(of[..3], [4.0, 3.0, 2.0].map(Marks::Shapes));
        assert_eq!(of[3..], small);
        assert!(of.is_sorted_by(|one, next| one.radius() >= next.radius()));
        let pixels = |marks: Marks, look, pixels| marks.stamp(look, pixels).pixels.len();
        for look in [Look::Dropped, Look::Waiting, Look::Kept] {
            assert_eq!(pixels(Marks::Dots, look, 1.0), 1);
            assert_eq!(pixels(Marks::Dots, look, 2.0), 4);
        }
        assert_eq!([1.0, 2.0].map(|of| pixels(Marks::Small, Look::Dropped, of)), [4, 16]);
        // Skyline points have a shape of their own as long as there is space for one.
        assert_eq!([1.0, 2.0].map(|of| pixels(Marks::Small, Look::Kept, of)), [5, 13]);
        assert!(pixels(Marks::of(5000), Look::Kept, 1.0) > 13);
    }
}
