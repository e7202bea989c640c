//! A value axis, linear or logarithmic.

/// Maps values to positions and says where its ticks are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    from: f32,
    to: f32,
}

impl Axis {
    /// An axis from `from` to `to` that holds all `values`, wide enough for ticks at its ends: from
    /// zero when linear, over whole thirds of decades when logarithmic (values that are not
    /// positive have no place there).
    pub(crate) fn new(values: impl Iterator<Item = f64>, log: bool, from: f32, to: f32) -> Self {
        let usable = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let range = usable.fold(None, |range: Option<(f64, f64)>, value| {
            let (low, high) = range.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (low, high) = range.unwrap_or((1.0, 1.0));
        let (low, high) = if log {
            (round_log(low, f64::floor), round_log(high * 1.0001, f64::ceil))
        } else {
            let high = if high > 0.0 { high } else { 1.0 };
            let step = linear_step(high);
            (0.0, (high / step).ceil() * step)
        };
        Self { low, high, log, from, to }
    }

    /// An axis from one value to another; both have a tick of their own.
    pub(crate) fn between(low: f64, high: f64, log: bool, from: f32, to: f32) -> Self {
        Self { low, high: if high > low { high } else { low * 2.0 }, log, from, to }
    }

    /// Where a value lies; one that a logarithmic axis has no place for, at its beginning.
    pub(crate) fn place(&self, value: f64) -> f32 {
        let share = if self.log {
            let value = if value > 0.0 { value } else { self.low };
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * share as f32
    }

    /// Its least and its greatest value.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Values with a tick.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        if self.log {
            let mut decade = 10_f64.powf(self.low.log10().floor());
            while decade <= self.high * 1.0001 {
                let inside = [1.0, 2.0, 5.0].map(|leading| leading * decade);
                let inside = inside.into_iter();
                ticks.extend(inside.filter(|t| *t >= self.low * 0.999 && *t <= self.high * 1.001));
                decade *= 10.0;
            }
            if ticks.len() > 12 {
                ticks.retain(|tick| tick.log10().fract().abs() < 1e-6);
            }
        } else {
            let step = linear_step(self.high);
            let count = (self.high / step).round() as u32;
            ticks.extend((0..=count).map(|k| f64::from(k) * step));
        }
        ticks
    }
}

/// The next of …, 0.1, 0.2, 0.5, 1, 2, 5, … below or above.
fn round_log(value: f64, round: fn(f64) -> f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|leading| leading * decade);
    let down = round(0.5) == 0.0;
    let found = if down {
        steps.into_iter().rev().find(|step| *step <= value)
    } else {
        steps.into_iter().find(|step| *step >= value)
    };
    found.unwrap_or(value)
}

/// 1, 2 or 5 times a power of ten, so that 4 to 10 steps reach `high`.
fn linear_step(high: f64) -> f64 {
    let decade = 10_f64.powf((high / 4.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|leading| leading * decade);
    steps.into_iter().find(|step| high / step >= 4.0).unwrap_or(decade)
}

#[cfg(test)]
mod tests {
    use super::*;

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
