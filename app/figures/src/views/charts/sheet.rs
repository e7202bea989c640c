//! A figure under construction, with the parts common to rows and planes: legend, marks, labels,
//! the x axis.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use ecolor::Color32;
use emath::{Pos2, Rect, pos2, vec2};

use super::bold::Bold;
use super::looks::Looks;
use super::near::Near;
use super::plot::{Form, Plot, Point, Scale, Series};
use crate::figure::{
    Anchor, Axis, Figure, Head, Hit, Mark, elided, strong_width, text_width, without_outliers,
};
use crate::model::{OpenBundle, significant};
use crate::theme::{Ink, SMALL, blend, filling, filling_word};

pub(super) const TYPE: f32 = SMALL;
/// Radius of marks, and their radius if there are very many: with the outline at least 3.5.
const RADIUS: [f32; 2] = [4.8, 4.3];
/// Radius of the marks of grey series.
const QUIET: f32 = 2.2;
/// Widths of lines: grey, in colour, pointed at.
const LINES: [f32; 3] = [1.0, 2.0, 2.6];
/// More marks than this are smaller.
const MANY: usize = 200;
/// Space below the lowest line: ticks and the title of x.
pub(super) const FOOT: f32 = 48.0;
/// Space above the highest line: the same.
pub(super) const HEAD: f32 = 40.0;
const LEGEND_ROW: f32 = 20.0;
/// From the end of an axis to the position of infinite values.
const NEVER: f32 = 40.0;
/// From the ends of an axis to its first and last tick, if these are given.
const MARGIN: f32 = 30.0;

/// A figure under construction, and the data for drawing it.
pub(super) struct Sheet<'p, 'a> {
    pub(super) plot: &'p Plot<'a>,
    pub(super) figure: Figure,
    pub(super) ink: Ink,
    /// Right edge of the plot: the legend may be beside it.
    pub(super) width: f32,
    looks: HashMap<&'p str, (Color32, Mark)>,
    bold: Bold<'p>,
    radius: f32,
    /// Whether points have tooltips: files have none.
    pub(super) tells: bool,
    /// The bundle numbers, in the order of opening.
    pub(super) bundles: Vec<usize>,
    /// Name of the highlighted series.
    bright: Option<&'p str>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) color: Color32,
    pub(super) mark: Mark,
    pub(super) fill: Color32,
    pub(super) radius: f32,
    /// Width of its lines.
    pub(super) line: f32,
}

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

impl<'p, 'a> Sheet<'p, 'a> {
    /// An empty sheet of this width; `run` is the number of the selected run.
    pub(super) fn new(
        plot: &'p Plot<'a>,
        looks: &Looks,
        ink: Ink,
        width: f32,
        (bright, run): (Option<&str>, Option<usize>),
    ) -> Self {
        let names = plot.names();
        let bright = names.iter().copied().find(|name| Some(*name) == bright);
        let looks = names.iter().enumerate().map(|(k, name)| (*name, looks.find(name, k, &ink)));
        let looks = looks.collect();
        let bundles = plot.bundles().iter().map(|open| open.series).collect();
        let figure = Figure::new(vec2(width, 0.0), ink.paper);
        let bold = Bold::of(plot, run);
        let marks = plot.points().filter(|(name, ..)| bold.names.contains(name)).count();
        let [usual, small] = RADIUS;
        let radius = if marks > MANY { small } else { usual };
        Self { plot, figure, ink, width, looks, bold, radius, tells: true, bundles, bright }
    }

    pub(super) fn text(&mut self, at: Pos2, anchor: Anchor, color: Color32, text: &str) {
        self.figure.text(at, anchor, TYPE, color, text);
    }

    /// Returns whether a series is drawn in colour.
    pub(super) fn is_bold(&self, name: &str) -> bool {
        self.bold.names.contains(name)
    }

    /// Every series with its name, in the order of painting: grey ones first, then those in colour,
    /// then the one pointed at.
    pub(super) fn painted(&self) -> Vec<(&'p str, &'p Series<'a>)> {
        let plot = self.plot;
        let all = plot.series.iter().map(|((_, name, _), series)| (name.as_str(), series));
        let mut all: Vec<_> = all.collect();
        let place = |name: &str| (self.bright == Some(name), self.is_bold(name));
        crate::order::sort_by(&mut all, |a, b| place(a.0).cmp(&place(b.0)));
        all
    }

    /// Colour and mark of a name, faded if another series is highlighted.
    fn color(&self, name: &str) -> (Color32, Mark) {
        let known = self.looks.get(name).copied();
        let (color, mark) = known.unwrap_or((self.ink.text, Mark::Circle));
        let quiet = blend(self.ink.weak, self.ink.paper, 0.55);
        let color = match self.bright {
            Some(bright) if bright == name => color,
            _ if !self.is_bold(name) => self.faded(name, quiet),
            _ => self.faded(name, color),
        };
        (color, mark)
    }

    fn faded(&self, name: &str, color: Color32) -> Color32 {
        match self.bright {
            Some(bright) if bright != name => blend(color, self.ink.paper, 0.8),
            _ => color,
        }
    }

    /// How a series is drawn. Marks are filled for the first bundle opened, hollow for the second,
    /// pale for the third, whatever is filtered; a hollow mark of an interval is not sure.
    pub(super) fn look(&self, name: &str, series: &Series<'_>) -> Look {
        let (color, mark) = self.color(name);
        let fill = match self.plot.form {
            Form::Intervals => color,
            _ => filling(color, style(series), self.ink.paper),
        };
        let is_bright = self.bright == Some(name);
        let [quiet, usual, wide] = LINES;
        let (radius, line) = match (is_bright, self.is_bold(name)) {
            (true, _) => (self.radius, wide),
            (false, true) => (self.radius, usual),
            (false, false) => (QUIET, quiet),
        };
        Look { color, mark, fill, radius, line }
    }

    /// The index of a series' bundle among the bundles drawn.
    pub(super) fn lane(&self, series: &Series<'_>) -> usize {
        let number = series.bundle.map(|open| open.series);
        self.bundles.iter().position(|known| Some(*known) == number).unwrap_or_default()
    }

    /// The meanings of full and hollow marks: bundles, if there are several, or how sure a change
    /// is.
    fn fills(&self) -> Vec<(Color32, String)> {
        let (gray, paper) = (Color32::GRAY, self.ink.paper);
        let open = self.plot.bundles();
        if self.plot.form == Form::Intervals {
            let sure = (gray, "sure: the interval excludes 1".to_owned());
            return vec![sure, (paper, "not sure: the interval contains 1".to_owned())];
        }
        if open.len() < 2 && open.iter().all(|open| filling_word(open.series) == "full") {
            return Vec::new();
        }
        let words = |open: &&OpenBundle| {
            let fill = filling(gray, open.series, paper);
            (fill, format!("{}: {}", filling_word(open.series), open.label()))
        };
        open.iter().map(words).collect()
    }

    /// Draws the legend of fills, if they have a meaning; returns its bottom.
    pub(super) fn fills_legend(&mut self, top: f32) -> f32 {
        let fills = self.fills();
        let grid = columns(self.figure.size.x, fills.iter().map(|(_, words)| words.as_str()));
        for (index, (fill, words)) in fills.iter().enumerate() {
            let at = entry_at(index, grid, pos2(16.0, top));
            let [radius, _] = RADIUS;
            self.figure.mark(at, Mark::Circle, radius, *fill, Color32::GRAY);
            let text = elide(words, grid.0 - 24.0);
            self.text(at + vec2(14.0, 0.0), Anchor::Start, self.ink.text, &text);
        }
        top + fills.len().div_ceil(grid.1) as f32 * LEGEND_ROW
    }

    /// Width of the legend in one column.
    pub(super) fn legend_width(&self) -> f32 {
        let width = |name: &&str| strong_width(written(name), TYPE) + 40.0;
        self.bold.order.iter().map(width).fold(0.0, f32::max)
    }

    /// Draws the legend of marks between two edges, best series first; returns its bottom. Hovering
    /// over a name highlights its series, and a click shows it alone.
    pub(super) fn legend(&mut self, top: f32, (left, right): (f32, f32)) -> f32 {
        let names: Vec<&str> = self.bold.order.clone();
        let grid = columns(right - left, names.iter().map(|name| written(name)));
        let plot = self.plot;
        let shown: HashSet<&str> = plot.series.keys().map(|(_, name, _)| name.as_str()).collect();
        let alone = !plot.hidden.is_empty() && shown.len() == 1;
        for (index, name) in names.iter().enumerate() {
            let hidden = !shown.contains(name);
            let (color, mark) = self.color(name);
            let is_bold = self.is_bold(name) || self.bright == Some(*name);
            let ink = if is_bold { self.ink.text } else { self.ink.weak };
            let faint = if hidden && self.bright != Some(*name) { 0.25 } else { 0.0 };
            let [color, ink] =
                [color, self.faded(name, ink)].map(|color| blend(color, self.ink.paper, faint));
            let at = entry_at(index, grid, pos2(left + 16.0, top));
            // Bars have no marks.
            let is_filled = matches!(plot.form, Form::Bars | Form::Cells);
            let mark = if is_filled { Mark::Square } else { mark };
            let [radius, _] = RADIUS;
            let radius = if is_bold || hidden { radius } else { QUIET + 1.0 };
            self.figure.mark(at, mark, radius, color, color);
            let (place, room) = (at + vec2(14.0, 0.0), grid.0 - 32.0);
            let text = elide(written(name), room);
            match is_bold {
                true => self.figure.strong(place, Anchor::Start, TYPE, ink, &text),
                false => self.figure.text(place, Anchor::Start, TYPE, ink, &text),
            }
            let width = strong_width(&text, TYPE) + 24.0;
            let corner = at - vec2(10.0, LEGEND_ROW * 0.5);
            let text = match alone && !hidden {
                true => "Show all series".to_owned(),
                false => format!("Show only {}", written(name)),
            };
            let rect = Rect::from_min_size(corner, vec2(width, LEGEND_ROW));
            let series = Some((*name).to_owned());
            self.figure.hits.push(Hit { rect, text, matrix: String::new(), run: None, series });
        }
        top + names.len().div_ceil(grid.1) as f32 * LEGEND_ROW - LEGEND_ROW * 0.5
    }

    /// Draws an arrow for a value beyond an axis, with its number where that is free.
    pub(super) fn arrow(
        &mut self,
        (at, mark): (Pos2, Mark),
        look: &Look,
        number: Option<f64>,
        taken: &mut Near<Rect>,
    ) {
        let [_, radius] = RADIUS;
        self.figure.mark(at, mark, radius, look.fill, look.color);
        let Some(number) = number else { return };
        let text = significant(number);
        let size = vec2(text_width(&text, TYPE), TYPE);
        let (from, anchor, corner) = match mark {
            Mark::Left => (vec2(8.0, 0.0), Anchor::Start, vec2(0.0, -0.5)),
            Mark::Right => (vec2(-8.0, 0.0), Anchor::End, vec2(-1.0, -0.5)),
            Mark::Down => (vec2(0.0, -14.0), Anchor::Middle, vec2(-0.5, -0.5)),
            _ => (vec2(0.0, 14.0), Anchor::Middle, vec2(-0.5, -0.5)),
        };
        let rect = Rect::from_min_size(at + from + size * corner, size);
        if !taken.any(rect, |other| other.intersects(rect)) {
            self.text(at + from, anchor, self.ink.weak, &text);
            taken.add(rect, rect);
        }
    }

    /// Adds the tooltip of a point.
    pub(super) fn hit(
        &mut self,
        at: Pos2,
        side: f32,
        name: &str,
        series: &Series<'_>,
        point: &Point<'_>,
    ) {
        if !self.tells {
            return;
        }
        let rect = Rect::from_center_size(at, vec2(side, side));
        let matrix = point.subject.map(crate::model::subject_key).unwrap_or_default();
        let run = point.run.map(|run| run.index);
        self.figure.hits.push(Hit {
            rect,
            text: self.plot.words(name, series, point),
            matrix,
            run,
            series: Some(name.to_owned()),
        });
    }

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
        let mut ticks: Vec<(f32, String)> = scale
            .at(&placer.axis)
            .into_iter()
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
        let mut last = f32::NEG_INFINITY;
        ticks.retain(|(x, label)| {
            let half = text_width(label, TYPE) * 0.5;
            let fits = x - half >= last;
            last = if fits { x + half + 6.0 } else { last };
            fits
        });
        let title = title(scale, log);
        if ends != Ends::Above {
            self.figure.line(pos2(x.0, y.1), pos2(x.1, y.1), 1.0, self.ink.weak);
            for (x, label) in &ticks {
                self.text(pos2(*x, y.1 + 15.0), Anchor::Middle, self.ink.weak, label);
            }
        }
        if ends == Ends::Below {
            self.text(pos2((x.0 + x.1) * 0.5, y.1 + 35.0), Anchor::Middle, self.ink.text, &title);
            return placer;
        }
        let first = self.figure.shapes.len();
        self.figure.line(pos2(x.0, y.0), pos2(x.1, y.0), 1.0, self.ink.weak);
        for (x, label) in &ticks {
            self.text(pos2(*x, y.0 - 12.0), Anchor::Middle, self.ink.weak, label);
        }
        self.text(pos2((x.0 + x.1) * 0.5, y.0 - 30.0), Anchor::Middle, self.ink.text, &title);
        let shapes = first..self.figure.shapes.len();
        self.figure.head = Some(Head { shapes, y: [y.0 - HEAD, y.0 + 1.0] });
        placer
    }
}

impl Scale {
    /// From the first tick to the last, if ticks are given.
    fn axis(&self, values: impl Iterator<Item = f64>, log: bool, from: f32, to: f32) -> Axis {
        match (self.ticks.first(), self.ticks.last()) {
            (Some(first), Some(last)) => {
                Axis::between(*first, *last, log, from + MARGIN, to - MARGIN)
            }
            _ => Axis::new(values, log, from, to),
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

/// The number of a series' bundle, which determines its style.
pub(super) fn style(series: &Series<'_>) -> usize {
    series.bundle.map_or(0, |open| open.series)
}

/// Width and number of columns for these texts next to marks.
fn columns<'t>(width: f32, texts: impl Iterator<Item = &'t str>) -> (f32, usize) {
    let longest = texts.map(|text| strong_width(text, TYPE)).fold(0.0, f32::max);
    let column = (longest + 40.0).min((width - 8.0).max(60.0));
    (column, ((width / column) as usize).max(1))
}

/// Position of the mark of a legend item.
fn entry_at(index: usize, (column, columns): (f32, usize), first: Pos2) -> Pos2 {
    first + vec2((index % columns) as f32 * column, (index / columns) as f32 * LEGEND_ROW)
}

/// The name of a series in words: the format of kernels that choose one is `spmv` in tables.
pub(super) fn written(name: &str) -> &str {
    if name == "spmv" { "auto" } else { name }
}

/// Title of an axis with its unit and scale.
pub(super) fn title(scale: &Scale, log: bool) -> String {
    let how = if log && scale.ticks.is_empty() { " (logarithmic)" } else { "" };
    format!("{}{how}", scale.title)
}

/// The label of a tick without trailing zeros.
pub(super) fn tick_label(tick: f64) -> String {
    if tick >= 1e6 || (tick > 0.0 && tick < 1e-3) {
        return format!("{tick:e}");
    }
    let text = significant(tick);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// The text, elided if it is wider.
pub(super) fn elide(text: &str, width: f32) -> String {
    elided(text, width, TYPE)
}

/// The text in lines of at most this width.
pub(super) fn wrap(text: &str, width: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, TYPE) + text_width(word, TYPE) + 6.0 < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}
