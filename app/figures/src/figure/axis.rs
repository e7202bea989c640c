//! A value axis, linear or logarithmic.

use std::ops::RangeInclusive;

/// Maps values to positions and chooses the ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    log: bool,
    from: f32,
    to: f32,
}

impl Axis {
    /// An axis from `from` to `to` that spans all `values` and ends at ticks: a linear axis starts
    /// at zero, a logarithmic one spans whole thirds of decades (and ignores values that are not
    /// positive).
    pub fn new(values: impl Iterator<Item = f64>, log: bool, from: f32, to: f32) -> Self {
        let usable = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let range = usable.fold(None, |range: Option<(f64, f64)>, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = range.unwrap_or((1.0, 1.0));
        let (low, high) = if log {
            (round(below(low)), above(high))
        } else {
            let high = if high > 0.0 { high } else { 1.0 };
            let step = linear_step(high);
            (0.0, ((high / step).ceil() * step).min(f64::MAX))
        };
        Self { low, high, log, from, to }
    }

    /// An axis between two values; the caller sets the ticks.
    pub(crate) fn between(low: f64, high: f64, log: bool, from: f32, to: f32) -> Self {
        let low = if log && low <= 0.0 { f64::MIN_POSITIVE } else { low };
        Self { low, high: if high > low { high } else { above(low) }, log, from, to }
    }

    /// The same axis, with this value at its end.
    pub(crate) fn until(self, high: f64) -> Self {
        Self { high: if high > self.low { high } else { self.high }, ..self }
    }

    /// Position of a value; the start of the axis for values that a logarithmic axis cannot show.
    pub fn place(&self, value: f64) -> f32 {
        let value = if self.log && value <= 0.0 { self.low } else { value };
        let scaled = |value: f64| if self.log { value.log10() } else { value };
        // Subtract logarithms: the ratio of a large and a small number overflows.
        let share = (scaled(value) - scaled(self.low)) / (scaled(self.high) - scaled(self.low));
        self.from + (self.to - self.from) * if share.is_finite() { share as f32 } else { 0.0 }
    }

    /// The smallest and the largest value.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Tick values, ascending; about a dozen.
    pub fn ticks(&self) -> Vec<f64> {
        // Allow for rounding at the ends.
        let (first, last) = (self.from.min(self.to) - 0.1, self.from.max(self.to) + 0.1);
        let inside = |tick: &f64| (first..=last).contains(&self.place(*tick));
        if !self.log {
            let step = linear_step(self.high);
            let ticks = (0..=LINEAR_STEPS).map(|count| f64::from(count) * step);
            return ticks.filter(|tick| inside(tick) && tick.is_finite()).collect();
        }
        let (first, last) = (below(self.low), below(self.high) + 1);
        let every = |steps: i32| {
            let numbers = (first..=last).filter(move |number| number % steps == 0);
            let ticks = numbers.filter(|number| ROUND.contains(number)).map(round);
            ticks.filter(inside).collect::<Vec<f64>>()
        };
        let ticks = every(1);
        if ticks.len() <= MOST_TICKS as usize {
            return ticks;
        }
        let decades = (last - first) / 3 + 1;
        every(3 * ((decades - 1) / MOST_TICKS + 1))
    }
}

/// Maximum number of ticks of a logarithmic axis with several per decade, and of decades with one
/// tick each.
const MOST_TICKS: i32 = 12;
/// Maximum number of steps of a linear axis.
const LINEAR_STEPS: u32 = 10;
/// The indices of the round values that an `f64` can hold: 5e-324 to 1e308.
const ROUND: RangeInclusive<i32> = -970..=924;

/// Axes of fewer values show all of them.
const FEW: usize = 20;
/// Outliers may make an axis this many times as long.
const STRETCH: f64 = 3.0;
/// Shorter logarithmic axes, in decades, count as this long.
const DECADES: f64 = 1.0 / 3.0;

/// The values that an axis should show: all of them, or at an end only those up to the 2nd or 98th
/// percentile if the others would make the axis more than three times as long.
pub(crate) fn without_outliers(mut values: Vec<f64>, log: bool) -> Vec<f64> {
    values.retain(|value| value.is_finite() && (!log || *value > 0.0));
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    if count < FEW {
        return values;
    }
    let beyond = count.div_ceil(50);
    let ends = [0, beyond, count - 1 - beyond, count - 1];
    let [first, low, high, last] = ends.map(|place| {
        let value = values.get(place).copied().unwrap_or_default();
        if log { value.log10() } else { value }
    });
    // A linear axis starts at zero.
    let length = if log { (high - low).max(DECADES) } else { high };
    let stretches = |by: f64| length > 0.0 && by > (STRETCH - 1.0) * length;
    if stretches(last - high) {
        values.truncate(count - beyond);
    }
    if log && stretches(low - first) {
        values.drain(..beyond);
    }
    values
}

/// The sequence …, 0.1, 0.2, 0.5, 1, 2, 5, …, where 1 has index 0 and 10 has index 3.
fn round(number: i32) -> f64 {
    let leading = match number.rem_euclid(3) {
        0 => 1,
        1 => 2,
        _ => 5,
    };
    // Parsing gives the nearest number; computing a power need not.
    let text = format!("{leading}e{}", number.div_euclid(3));
    text.parse().expect("digits and an exponent are a number") // invariant
}

/// Index of the largest round value that is not above this one.
fn below(value: f64) -> i32 {
    let decade = value.log10().floor().clamp(-324.0, 308.0) as i32;
    // The logarithm may round up to the next decade or down to the previous one.
    let near = (3 * decade - 1..=3 * decade + 3).rev();
    let found = near.filter(|number| ROUND.contains(number)).find(|number| round(*number) <= value);
    found.unwrap_or(*ROUND.start())
}

/// The smallest round value clearly above this one, beyond rounding.
fn above(value: f64) -> f64 {
    let round = (below(value)..=*ROUND.end()).map(round);
    let mut higher = round.filter(|round| *round > value && *round >= value * 1.0001);
    higher.next().unwrap_or(f64::MAX)
}

/// The largest round step of which 4 fit below `high`, so that fewer than 10 pass it.
fn linear_step(high: f64) -> f64 {
    round(below(high / 4.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Positive numbers, uniform over all magnitudes.
    fn positive() -> impl Strategy<Value = f64> {
        (1..=f64::MAX.to_bits()).prop_map(f64::from_bits)
    }

    /// Ticks are few, ascend and lie between the ends, as the values do.
    fn check(axis: &Axis, values: &[f64], least: usize) -> Result<(), TestCaseError> {
        let ticks = axis.ticks();
        prop_assert!((least..=64).contains(&ticks.len()), "{:?} {:?}", axis, ticks);
        prop_assert!(ticks.is_sorted_by(|one, next| one < next), "{:?} {:?}", axis, ticks);
        for value in ticks.iter().chain(values) {
            let place = axis.place(*value);
            prop_assert!((-0.5..=300.5).contains(&place), "{:?}: {} at {}", axis, value, place);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_numbers_have_an_axis_with_few_ticks(
            one in positive(), other in positive(), log: bool,
        ) {
            for values in [&[one][..], &[one, other]] {
                let axis = Axis::new(values.iter().copied(), log, 0.0, 300.0);
                check(&axis, values, 1)?;
                let (low, high) = axis.range();
                prop_assert!(values.iter().all(|value| (low..=high).contains(value)), "{:?}", axis);
            }
            let ends = [one.min(other), one.max(other)];
            check(&Axis::between(ends[0], ends[1], log, 0.0, 300.0), &ends, 0)?;
            check(&Axis::between(one, one, log, 0.0, 300.0), &[one], 0)?;
        }
    }

    #[test]
    fn the_least_and_the_greatest_number_have_an_axis() {
        let ends = [f64::from_bits(1), f64::MAX];
        for values in [&ends[..], &ends[..1], &ends[1..]] {
            for log in [false, true] {
                check(&Axis::new(values.iter().copied(), log, 0.0, 300.0), values, 1).unwrap();
            }
        }
    }

    #[test]
    fn outliers_that_would_stretch_an_axis_are_left_out_and_others_are_not() {
        let ends = |values: &[f64], log| {
            let kept = without_outliers(values.to_vec(), log);
            (kept[0], kept[kept.len() - 1], kept.len())
        };
        let mut values: Vec<f64> = (10..110).map(f64::from).collect();
        values[99] = 320.0;
        assert_eq!(ends(&values, false), (10.0, 320.0, 100), "not three times as far");
        values[98] = 325.0;
        values[99] = 900.0;
        assert_eq!(ends(&values, false), (10.0, 107.0, 98));
        assert_eq!(ends(&values, true), (10.0, 900.0, 100), "not in decades");
        values[0] = 1e-4;
        assert_eq!(ends(&values, true), (12.0, 900.0, 98), "at one end");
        assert_eq!(ends(&[1.0, 2.0, 1e9], false), (1.0, 1e9, 3), "of few values none");
        let axis = Axis::new(without_outliers(values, true).into_iter(), true, 0.0, 300.0);
        assert_eq!(axis.ticks(), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn many_decades_have_a_tick_in_every_so_many() {
        let ticks = |low, high| Axis::new([low, high].into_iter(), true, 0.0, 1.0).ticks();
        assert_eq!(ticks(1.0, 90.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(1e-3, 90.0), [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0]);
        assert_eq!(ticks(1e-9, 9e8), [1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6, 1e8]);
    }

    #[test]
    fn a_logarithmic_axis_gives_every_decade_the_same_length() {
        let axis = Axis::new([0.1, 100.0].into_iter(), true, 0.0, 300.0);
        let round = |value| (axis.place(value) * 1e3).round() / 1e3;
        let step = round(1.0) - round(0.1);
        assert!((round(10.0) - round(1.0) - step).abs() < 0.01);
        assert!(axis.ticks().contains(&1.0));
        assert!(round(0.1) >= 0.0 && round(100.0) <= 300.0);
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_ticks() {
        let axis = Axis::new([3.0, 7.3].into_iter(), false, 0.0, 80.0);
        assert_eq!(axis.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!((axis.place(0.0), axis.place(4.0), axis.place(8.0)), (0.0, 40.0, 80.0));
    }

    #[test]
    fn no_values_and_zeros_still_make_an_axis() {
        for log in [false, true] {
            let axis = Axis::new([0.0, f64::NAN].into_iter(), log, 0.0, 1.0);
            assert!(axis.ticks().iter().all(|tick| axis.place(*tick).is_finite()), "{axis:?}");
        }
    }
}
