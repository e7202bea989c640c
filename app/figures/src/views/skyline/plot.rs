//! Positions of points in a plot of two dimensions.

use emath::{Pos2, Rect};
use sparsescope_core::skyline::{Axis, PointsPicture};

use crate::state::At;
use crate::views::spy::Place;

/// Width and height of the plot in units, and the minimum number of units in view.
const UNITS: f64 = 1000.0;
const CLOSEST: f64 = 0.01;
/// Space beyond the outermost points, relative to their distance.
const MARGIN: f64 = 0.04;

/// A plot of two dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plot {
    pub place: Place,
    /// For both dimensions: the value at the left or lower end, and the distance to the other end.
    ends: [[f64; 2]; 2],
}

impl Plot {
    /// The plot of two dimensions of the points, all of it or the part `at`.
    pub fn new(area: Rect, picture: &PointsPicture, axes: [usize; 2], at: Option<At>) -> Self {
        let size = (UNITS as usize, UNITS as usize);
        let place = Place::new(area, size, at, true, CLOSEST);
        Self { place, ends: axes.map(|axis| picture.axes.get(axis).map_or([0.0, 1.0], ends)) }
    }

    /// Area of the plot.
    pub fn area(&self) -> Rect {
        self.place.area
    }

    pub fn x(&self, value: f64) -> f32 {
        let [[low, wide], _] = self.ends;
        self.place.x((value - low) / wide * UNITS)
    }

    pub fn y(&self, value: f64) -> f32 {
        let [_, [low, high]] = self.ends;
        self.place.y((1.0 - (value - low) / high) * UNITS)
    }

    pub fn at(&self, [x, y]: [f32; 2]) -> Pos2 {
        Pos2::new(self.x(f64::from(x)), self.y(f64::from(y)))
    }

    /// The mapping from many points to pixels, counted from a corner.
    pub(super) fn scale(&self, corner: Pos2, pixels: f32) -> Scale {
        let area = self.area();
        let [left, high] = self.values(area.left_top());
        let [right, low] = self.values(area.right_bottom());
        let (pixels, from, size) = (f64::from(pixels), area.min - corner, area.size());
        let of = |value, others: f64, extent: f32, from: f32| Line {
            value,
            times: f64::from(extent) * pixels / (others - value),
            from: f64::from(from) * pixels,
        };
        Scale([of(left, right, size.x, from.x), of(high, low, size.y, from.y)])
    }

    /// The values at a position.
    pub fn values(&self, at: Pos2) -> [f64; 2] {
        let (row, col) = self.place.matrix(at);
        let [[left, wide], [low, high]] = self.ends;
        [left + col / UNITS * wide, low + (1.0 - row / UNITS) * high]
    }
}

/// Maps values to pixels.
pub(super) struct Scale([Line; 2]);

/// `value` is `from` pixels from a corner; values that differ by 1 are `times` pixels apart.
struct Line {
    value: f64,
    times: f64,
    from: f64,
}

impl Scale {
    /// The column and the row in which a point lies.
    pub(super) fn pixel(&self, [x, y]: [f32; 2]) -> [i32; 2] {
        let Self([right, down]) = self;
        [right.at(x).floor() as i32, down.at(y).floor() as i32]
    }
}

impl Line {
    fn at(&self, value: f32) -> f64 {
        (f64::from(value) - self.value) * self.times + self.from
    }
}

/// Left end and distance to the right one, with space beyond the outermost values.
fn ends(axis: &Axis) -> [f64; 2] {
    let [least, greatest] = [axis.least, axis.greatest].map(f64::from);
    let wide = match greatest - least {
        wide if wide > 0.0 => wide,
        // All values are equal: centre them.
        _ => least.abs().max(1.0),
    };
    let middle = least / 2.0 + greatest / 2.0;
    let wide = wide * (1.0 + 2.0 * MARGIN);
    [middle - wide / 2.0, wide]
}

/// The coordinates of a point shown, in two dimensions.
pub fn point(picture: &PointsPicture, [x, y]: [usize; 2], place: usize) -> Option<[f32; 2]> {
    let value = |axis: usize| picture.axes.get(axis)?.values.get(place).copied();
    Some([value(x)?, value(y)?])
}

/// All coordinates of the points shown, in two dimensions.
pub fn columns(
    picture: &PointsPicture,
    [x, y]: [usize; 2],
) -> impl Iterator<Item = [f32; 2]> + Clone {
    let values = |axis: usize| picture.axes.get(axis).map_or(&[][..], |axis| &axis.values[..]);
    values(x).iter().zip(values(y)).map(|(x, y)| [*x, *y])
}

/// Round numbers between two values, about `wanted` of them, ascending, with their texts.
pub(super) fn ticks(low: f64, high: f64, wanted: f32) -> Vec<(f64, String)> {
    let rough = (high - low) / f64::from(wanted.max(1.0));
    let exponent = rough.log10().floor();
    if !exponent.is_finite() {
        return Vec::new();
    }
    let decade = 10_f64.powf(exponent);
    let leading = [1.0, 2.0, 5.0, 10.0].into_iter().find(|of| of * decade >= rough * 0.999);
    let step = leading.unwrap_or(10.0) * decade;
    let first = (low / step).ceil();
    let last = (high / step).floor();
    let count = (last - first).clamp(-1.0, 50.0) as i32;
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let is_usual = (1e-6..1e6).contains(&step) && low.abs().max(high.abs()) < 1e7;
    let written = |value: f64| match is_usual {
        true => format!("{value:.decimals$}"),
        false => format!("{value:.2e}"),
    };
    // Avoid negative zero.
    let value = |k: i32| (first + f64::from(k)) * step + 0.0;
    (0..=count).map(value).map(|value| (value, written(value))).collect()
}

#[cfg(test)]
mod tests {
    use emath::{pos2, vec2};

    use super::*;

    fn picture(ends: [[f32; 2]; 2]) -> PointsPicture {
        let axes = ends.map(|values| Axis {
            least: values[0],
            greatest: values[1],
            values: values.to_vec(),
        });
        PointsPicture {
            points: 2,
            dimensions: 2,
            kept: 1,
            clamped: 0,
            indices: vec![0, 1],
            dominators: vec![1, 1],
            axes: axes.to_vec(),
            densities: Vec::new(),
        }
    }

    #[test]
    fn larger_values_lie_further_right_and_up_and_a_place_has_the_values_that_lie_there() {
        let area = Rect::from_min_size(pos2(50.0, 20.0), vec2(400.0, 300.0));
        for ends in
            [[[0.0, 1.0], [-3.0, 5.0]], [[2.0, 2.0], [0.0, 0.0]], [[-f32::MAX, f32::MAX]; 2]]
        {
            let picture = picture(ends);
            for at in [None, Some(At { row: 500.0, col: 500.0, rows: 900.0 })] {
                let plot = Plot::new(area, &picture, [0, 1], at);
                let [low, high] = [0, 1].map(|k| plot.at(point(&picture, [0, 1], k).unwrap()));
                assert!(area.contains(low) && area.contains(high) || at.is_some());
                assert!(low.x <= high.x && low.y >= high.y, "{low} {high}");
                let middle = pos2(250.0, 170.0);
                let [x, y] = plot.values(middle);
                assert!((pos2(plot.x(x), plot.y(y)) - middle).length() < 0.01);
            }
        }
    }

    #[test]
    fn ticks_are_round_lie_inside_and_are_told_apart() {
        for (low, high) in
            [(0.0, 1.0), (-0.04, 1.04), (0.501, 0.502), (-1e30, 3e30), (1e6, 1e6 + 1.0)]
        {
            let ticks = ticks(low, high, 5.0);
            assert!((2..=12).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks.iter().all(|(value, _)| (low..=high).contains(value)));
            assert!(ticks.is_sorted_by(|one, next| one.0 < next.0));
            let words: std::collections::BTreeSet<_> = ticks.iter().map(|(_, text)| text).collect();
            assert_eq!(words.len(), ticks.len(), "{ticks:?}");
        }
        let all: Vec<String> = ticks(-0.04, 1.04, 5.0).into_iter().map(|(_, text)| text).collect();
        assert_eq!(all, ["0.0", "0.5", "1.0"]);
        assert!(ticks(1.0, 1.0, 5.0).is_empty());
    }
}
