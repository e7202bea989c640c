//! The axes of a chart.

use std::cmp::Ordering;

use emath::pos2;

use super::plot::{Form, Scale};
use super::sheet::{Sheet, TYPE, wrap};
use crate::figure::{Anchor, Axis, Head, text_width, without_outliers};
use crate::model::significant;

/// Space below the lowest line: ticks and the first line of the title of x.
pub(super) const FOOT: f32 = 48.0;
/// Space above the highest line: the same.
pub(super) const HEAD: f32 = 40.0;
/// Height of each further line of a title.
pub(super) const LINE: f32 = 15.0;
/// From the end of an axis to the position of infinite values.
const NEVER: f32 = 40.0;
/// From the ends of an axis to its first and last tick, if these are given.
const MARGIN: f32 = 30.0;

/// Where the ticks and the title of x are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Below.
    Below,
    /// Above, where they stay visible.
    Above,
    /// Above, and the ticks again below.
    Both,
}

impl Sheet<'_, '_> {
    /// The values that an axis should show: along x (0) or y (1).
    fn shown(&self, axis: usize, scale: &Scale) -> Vec<f64> {
        let plot = self.plot;
        let is_interval = plot.form == Form::Intervals;
        let at = |pair: &[f64; 2]| pair.get(axis).copied();
        let points = plot.points().flat_map(|(_, _, point)| {
            let value = at(&point.at);
            let range = point.range.filter(|_| axis == 0).into_iter().flatten();
            // The ends of intervals may be far away; they are arrows there.
            let near = move |end: f64| match value.filter(|_| is_interval) {
                Some(value) => end.max(value / REACH).min(value * REACH),
                None => end,
            };
            range.map(near).chain(value)
        });
        let least = scale.least.unwrap_or(f64::NEG_INFINITY);
        let mut values: Vec<f64> = points.map(|value| value.max(least)).collect();
        if matches!(plot.form, Form::Marks | Form::Boxes | Form::Intervals) {
            let never = values.contains(&f64::INFINITY).then_some(f64::INFINITY);
            values = without_outliers(values, scale.log);
            values.extend(never);
        }
        values.extend(plot.guides.iter().flat_map(|guide| guide.ends.iter().filter_map(at)));
        if is_interval && axis == 0 {
            values.extend(NEAR);
        }
        values
    }

    /// The placement of values along y.
    pub(super) fn y_axis(&self, bottom: f32, top: f32) -> Placer {
        let scale = &self.plot.y;
        let values = self.shown(1, scale).into_iter();
        Placer { axis: Axis::new(values, scale.log, bottom, top), never: top }
    }

    /// Draws the x axis between two positions, with grid lines and numbers; returns the placement
    /// of values.
    pub(super) fn x_axis(&mut self, x: (f32, f32), y: (f32, f32), log: bool, ends: Ends) -> Placer {
        let plot = self.plot;
        let scale = &plot.x;
        let values = self.shown(0, scale);
        let never = values.iter().any(|value| value.is_infinite());
        let end = x.1 - if never { NEVER + 20.0 } else { 0.0 };
        let axis = scale.axis(values.into_iter(), log, x.0, end);
        let placer = Placer { axis, never: x.1 - 16.0 };
        // Cells are from a whole number to the next one, with the number in the middle.
        let is_cells = plot.form == Form::Cells;
        let (_, high) = placer.axis.range();
        let mut ticks: Vec<(f32, String)> = scale
            .at(&placer.axis)
            .into_iter()
            .filter(|tick| !is_cells || tick.fract() == 0.0 && *tick < high)
            .map(|tick| {
                (
                    placer.axis.place(tick),
                    scale.name(tick).map_or_else(|| tick_label(tick), str::to_owned),
                )
            })
            .collect();
        if never {
            ticks.push((placer.never, scale.never.into()));
        }
        for (x, _) in &ticks {
            self.figure.line(pos2(*x, y.0 - 4.0), pos2(*x, y.1 + 5.0), 1.0, self.ink.grid);
        }
        if is_cells {
            let half = (placer.axis.place(1.0) - placer.axis.place(0.0)) * 0.5;
            ticks.iter_mut().for_each(|(x, _)| *x += half);
        }
        let mut last = f32::NEG_INFINITY;
        ticks.retain(|(x, label)| {
            let half = text_width(label, TYPE) * 0.5;
            let fits = x - half >= last;
            last = if fits { x + half + 6.0 } else { last };
            fits
        });
        let title = self.title(scale);
        let more = self.more_lines(scale);
        if ends != Ends::Above {
            self.figure.line(pos2(x.0, y.1), pos2(x.1, y.1), 1.0, self.ink.weak);
            for (x, label) in &ticks {
                self.text(pos2(*x, y.1 + 15.0), Anchor::Middle, self.ink.weak, label);
            }
        }
        if ends == Ends::Below {
            self.x_title(x, y.1 + 35.0, &title);
            return placer;
        }
        let first = self.figure.shapes.len();
        self.figure.line(pos2(x.0, y.0), pos2(x.1, y.0), 1.0, self.ink.weak);
        for (x, label) in &ticks {
            self.text(pos2(*x, y.0 - 12.0), Anchor::Middle, self.ink.weak, label);
        }
        self.x_title(x, y.0 - 30.0 - more, &title);
        let shapes = first..self.figure.shapes.len();
        self.figure.head = Some(Head { shapes, y: [y.0 - HEAD - more, y.0 + 1.0] });
        placer
    }

    /// The title of an axis in lines that fit.
    pub(super) fn title(&self, scale: &Scale) -> Vec<String> {
        wrap(&title(scale), self.width - 24.0)
    }

    /// Height of the lines of a title after the first.
    pub(super) fn more_lines(&self, scale: &Scale) -> f32 {
        LINE * self.title(scale).len().saturating_sub(1) as f32
    }

    /// Draws the title of x from this height down, in the middle of the axis if it fits there.
    fn x_title(&mut self, x: (f32, f32), y: f32, title: &[String]) {
        for (number, line) in title.iter().enumerate() {
            let half = text_width(line, TYPE) * 0.5 + 4.0;
            let middle = ((x.0 + x.1) * 0.5).min(self.width - half).max(half);
            let at = pos2(middle, y + LINE * number as f32);
            self.text(at, Anchor::Middle, self.ink.text, line);
        }
    }
}

impl Scale {
    /// From the first tick to the last, if ticks are given; to its end, if that is.
    fn axis(&self, values: impl Iterator<Item = f64>, log: bool, from: f32, to: f32) -> Axis {
        match (self.ticks.first(), self.ticks.last()) {
            (Some(first), Some(last)) => {
                Axis::between(*first, *last, log, from + MARGIN, to - MARGIN)
            }
            _ => {
                let axis = Axis::new(values, log, from, to);
                self.most.map_or(axis, |most| axis.until(most))
            }
        }
    }

    /// Positions of the ticks.
    pub(super) fn at(&self, axis: &Axis) -> Vec<f64> {
        if self.ticks.is_empty() { axis.ticks() } else { self.ticks.clone() }
    }
}

/// The axis reaches this many times as far as the middles of intervals.
const REACH: f64 = 1.5;
/// Changes between these are always on the axis of intervals.
const NEAR: [f64; 2] = [0.5, 2.0];

/// Places values along an axis.
pub(super) struct Placer {
    axis: Axis,
    never: f32,
}

impl Placer {
    /// The position of a value; the end of the axis for values beyond it.
    pub(super) fn at(&self, value: f64) -> f32 {
        let (low, high) = self.axis.range();
        if value.is_finite() { self.axis.place(value.max(low).min(high)) } else { self.never }
    }

    /// On which side of the axis a value is, `Equal` if it is on it.
    pub(super) fn side(&self, value: f64) -> Ordering {
        let (low, high) = self.axis.range();
        match value {
            value if value < low => Ordering::Less,
            value if value > high && value.is_finite() => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// Positions of the ticks.
    pub(super) fn ticks(&self, scale: &Scale) -> Vec<f64> {
        scale.at(&self.axis)
    }
}

/// Title of an axis with its unit and scale.
fn title(scale: &Scale) -> String {
    let title = &scale.title;
    match title.strip_suffix(')') {
        _ if !scale.log || !scale.ticks.is_empty() => title.to_string(),
        Some(start) => format!("{start}, logarithmic)"),
        None => format!("{title} (logarithmic)"),
    }
}

/// The label of a tick without trailing zeros.
pub(super) fn tick_label(tick: f64) -> String {
    if tick >= 1e6 || (tick > 0.0 && tick < 1e-3) {
        return format!("{tick:e}");
    }
    let text = significant(tick);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}
