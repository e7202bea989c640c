//! The number of rows per level, in the order of the sweep.

use ecolor::Color32;
use emath::{Rect, Vec2, pos2, vec2};
use sparsescope_core::symgs::Wavefront;

use super::colors::{Colors, DONE, NOW};
use super::numbers::{NARROW, Numbers, digits};
use crate::figure::{Anchor, Axis, Figure, Mark, area, elided_at_word, text_width};
use crate::model::significant;
use crate::state::Order;
use crate::views::spy::TYPE;

/// Space around the bars.
const LEFT: f32 = 62.0;
const TOP: f32 = 46.0;
const BOTTOM: f32 = 40.0;
const RIGHT: f32 = 14.0;
/// Widths that differ by more than this factor use a logarithmic axis.
const SPANS: u32 = 30;
/// Start of bars on a logarithmic axis, below one row.
const LEAST: f64 = 0.8;

/// The bars and their area.
pub struct Histogram {
    pub figure: Figure,
    /// Area of the bars.
    pub bars: Rect,
    levels: usize,
}

/// Minimum and maximum width of the levels of each bar, which stands for `levels` levels from this
/// one on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bin {
    pub(super) levels: std::ops::Range<usize>,
    pub(super) least: u32,
    pub(super) most: u32,
}

/// Widths in at most `most` bars, each of about the same number of levels.
pub(super) fn bins(widths: &[u32], most: usize) -> Vec<Bin> {
    let count = most.clamp(1, widths.len().max(1));
    let bounds = |bin: usize| bin * widths.len() / count;
    let bin = |k: usize| {
        let levels = bounds(k)..bounds(k + 1);
        let of = widths.get(levels.clone())?.iter().copied();
        Some(Bin { least: of.clone().min()?, most: of.max()?, levels })
    };
    (0..count).filter_map(bin).collect()
}

impl Histogram {
    pub(super) fn new(
        wave: &Wavefront,
        order: Order,
        step: Option<usize>,
        colors: &Colors,
        size: Vec2,
    ) -> Self {
        let ink = colors.ink;
        let mut figure = Figure::new(size, ink.paper);
        let bars = area(LEFT, TOP, size.x - RIGHT, size.y - BOTTOM);
        let numbers = Numbers::of(wave);
        let least = wave.widths.iter().copied().min().unwrap_or(1);
        let log = numbers.widest > SPANS * least.max(1);
        let values = [if log { LEAST } else { 0.0 }, f64::from(numbers.widest)];
        let y = Axis::new(values.into_iter(), log, bars.max.y, bars.min.y);
        let bottom = bars.max.y;
        let whole = |tick: &f64| *tick >= 1.0 && tick.fract() == 0.0;
        let ticks: Vec<(f32, String)> = y
            .ticks()
            .into_iter()
            .filter(whole)
            .map(|tick| (y.place(tick), digits(tick as u64)))
            .collect();
        let are_close = ticks.windows(2).any(|pair| match pair {
            [(one, _), (next, _)] => one - next <= TYPE + 3.0,
            _ => false,
        });
        let mut last = f32::INFINITY;
        for (number, (at, label)) in ticks.iter().enumerate() {
            let at = *at;
            figure.line(pos2(bars.min.x - 4.0, at), pos2(bars.max.x, at), 1.0, ink.grid);
            // If not all fit: powers of ten, or every second one, counted from zero.
            let is_first = if log { label.starts_with('1') } else { number % 2 == 1 };
            if (is_first || !are_close) && last - at > TYPE + 3.0 {
                figure.text(pos2(bars.min.x - 8.0, at), Anchor::End, TYPE, ink.weak, label);
                last = at;
            }
        }
        let bins = bins(&wave.widths, bars.width().max(1.0) as usize);
        let wide = bars.width() / bins.len().max(1) as f32;
        let gap = if wide >= 6.0 { (wide * 0.12).min(4.0) } else { 0.0 };
        for (k, bin) in bins.iter().enumerate() {
            let x = bars.min.x + wide * k as f32;
            let color = match step {
                None => colors.level((bin.levels.start + bin.levels.len() / 2) as u32),
                Some(step) if bin.levels.contains(&step) => NOW,
                Some(step) if bin.levels.end <= step => DONE,
                Some(_) => ink.paper.lerp_to_gamma(ink.weak, 0.55),
            };
            let top = |rows: u32| y.place(f64::from(rows));
            let bar = |from: f32, to: f32| area(x + gap, to, x + wide - gap, from);
            figure.rect(bar(bottom, top(bin.least)), color);
            if bin.most > bin.least {
                let light = ink.paper.lerp_to_gamma(color, 0.45);
                figure.rect(bar(top(bin.least), top(bin.most)), light);
            }
        }
        figure.line(pos2(bars.min.x, bottom), pos2(bars.max.x, bottom), 1.0, ink.weak);
        let mut histogram = Self { figure, bars, levels: wave.widths.len() };
        histogram.guides(&y, &numbers, colors);
        histogram.x_axis(order, bins.len(), colors);
        let log = if log { " (logarithmic)" } else { "" };
        let what = if order == Order::Colors { "colour" } else { "level" };
        let most = wave.widths.len().div_ceil(bins.len().max(1));
        let bars = match most {
            0 | 1 => String::new(),
            most => format!("; each bar covers up to {most}, narrowest to widest"),
        };
        let title = format!("Rows per {what}{log}{bars}");
        let title = elided_at_word(&title, size.x - 20.0, TYPE);
        histogram.figure.text(pos2(10.0, 10.0), Anchor::Start, TYPE, ink.text, &title);
        if let Some(step) = step {
            histogram.mark(step, wave, colors);
        }
        histogram
    }

    /// Position of a level.
    fn x(&self, level: f32) -> f32 {
        self.bars.min.x + self.bars.width() * level / self.levels.max(1) as f32
    }

    /// The level at this position.
    pub fn level(&self, x: f32) -> usize {
        let share = (x - self.bars.min.x) / self.bars.width();
        ((share * self.levels as f32).max(0.0) as usize).min(self.levels.saturating_sub(1))
    }

    /// The mean width, and the widths that fill a warp and a block.
    fn guides(&mut self, y: &Axis, numbers: &Numbers, colors: &Colors) {
        let (bars, ink) = (self.bars, colors.ink);
        let mean = format!("mean {}", significant(numbers.mean));
        let [warp, block] = NARROW;
        let full = |rows: u32, what: &str| {
            (f64::from(rows), format!("{}: {what}", digits(u64::from(rows))))
        };
        let mut taken: Vec<f32> = Vec::new();
        for (value, name) in
            [(numbers.mean, mean), full(warp, "one warp"), full(block, "largest block")]
        {
            let at = y.place(value);
            let free = taken.iter().all(|other: &f32| (other - at).abs() > TYPE + 2.0);
            if at < bars.min.y - 0.5 || at > bars.max.y || !free {
                continue;
            }
            let right = bars.max.x;
            let left = right - text_width(&name, TYPE) - 8.0;
            self.figure.line(pos2(bars.min.x, at), pos2(left, at), 1.0, ink.text);
            self.figure.rect(area(left, at - 8.0, right, at + 8.0), ink.paper);
            self.figure.text(pos2(right - 4.0, at), Anchor::End, TYPE, ink.text, &name);
            taken.push(at);
        }
    }

    fn x_axis(&mut self, order: Order, bins: usize, colors: &Colors) {
        let (bars, ink) = (self.bars, colors.ink);
        let last = self.levels.saturating_sub(1);
        let each = bars.width() / bins.max(1) as f32 > 22.0;
        let step = match (each, last) {
            (true, _) => 1,
            (_, last) => {
                let rough = last as f64 / f64::from((bars.width() / 70.0).max(2.0));
                let decade = 10_f64.powf(rough.max(1.0).log10().floor());
                let leading = [1.0, 2.0, 5.0, 10.0].into_iter().find(|of| of * decade >= rough);
                (leading.unwrap_or(10.0) * decade) as usize
            }
        };
        for level in (0..=last).step_by(step.max(1)) {
            let x = self.x(level as f32 + 0.5);
            self.figure.line(pos2(x, bars.max.y), pos2(x, bars.max.y + 4.0), 1.0, ink.weak);
            let at = pos2(x, bars.max.y + 13.0);
            self.figure.text(at, Anchor::Middle, TYPE, ink.weak, &digits(level as u64));
        }
        let title = match order {
            Order::Colors => "Colour",
            _ => "Level, in sweep order",
        };
        let at = pos2(bars.center().x, bars.max.y + 30.0);
        self.figure.text(at, Anchor::Middle, TYPE, ink.text, title);
    }

    /// The position of the sweep.
    fn mark(&mut self, step: usize, wave: &Wavefront, colors: &Colors) {
        let (bars, ink) = (self.bars, colors.ink);
        let (x, text) = match wave.widths.get(step) {
            Some(width) => {
                let width = digits(u64::from(*width));
                (self.x(step as f32 + 0.5), format!("{}: {width} rows", digits(step as u64)))
            }
            None => (bars.max.x, "done".to_owned()),
        };
        let top = bars.min.y - 4.0;
        self.figure.line(pos2(x, top), pos2(x, bars.max.y), 1.5, ink.text);
        self.figure.mark(pos2(x, top), Mark::Down, 5.0, NOW, ink.text);
        let half = text_width(&text, TYPE) * 0.5;
        let x = x.clamp(bars.min.x + half, (bars.max.x - half).max(bars.min.x + half));
        self.figure.text(pos2(x, top - 12.0), Anchor::Middle, TYPE, ink.text, &text);
    }
}

/// Minimum size at which everything is legible.
pub const LEAST_SIZE: Vec2 = vec2(220.0, 150.0);

/// Describes the level under the pointer.
pub fn words(wave: &Wavefront, order: Order, level: usize) -> String {
    let word = if order == Order::Colors { "Colour" } else { "Level" };
    let width = wave.widths.get(level).map_or(0, |width| u64::from(*width));
    let rows = if width == 1 { "row" } else { "rows" };
    format!("{word} {}: {} {rows}", digits(level as u64), digits(width))
}

/// A coloured square behind text.
pub(super) fn swatch(
    figure: &mut Figure,
    at: emath::Pos2,
    color: Color32,
    text: &str,
    ink: Color32,
) {
    figure.rect(area(at.x, at.y - 6.0, at.x + 12.0, at.y + 6.0), color);
    figure.text(pos2(at.x + 18.0, at.y), Anchor::Start, TYPE, ink, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold_every_level_once_and_say_their_narrowest_and_widest() {
        let widths: Vec<u32> = (0..10_007).map(|k| k * 7919 % 1000 + 1).collect();
        for most in [1, 300, 999, 10_007, 20_000] {
            let bins = bins(&widths, most);
            assert_eq!(bins.len(), most.min(widths.len()));
            let mut next = 0;
            for bin in bins {
                assert_eq!(bin.levels.start, next);
                next = bin.levels.end;
                let of = &widths[bin.levels];
                assert_eq!(
                    (bin.least, bin.most),
                    (*of.iter().min().unwrap(), *of.iter().max().unwrap())
                );
            }
            assert_eq!(next, widths.len());
        }
        assert!(bins(&[], 10).is_empty());
    }
}
