//! A figure under construction, with the parts common to rows and planes: legend, marks, labels,
//! the x axis.

use std::collections::{HashMap, HashSet};

use ecolor::Color32;
use emath::{Pos2, Rect, pos2, vec2};

use super::looks::Looks;
use super::plot::{Form, Plot, Point, Scale, Series};
use crate::figure::{Anchor, Axis, Figure, Head, Hit, Mark, elided, text_width, wrapped};
use crate::model::{OpenBundle, significant};
use crate::theme::{Ink, blend, filling, filling_word};

pub(super) const TYPE: f32 = 13.0;
pub(super) const RADIUS: f32 = 4.8;
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
    looks: Vec<(Color32, Mark)>,
    /// Unique names in the legend.
    names: Vec<&'p str>,
    /// Their indices.
    places: HashMap<&'p str, usize>,
    /// Whether points have tooltips: files have none.
    pub(super) tells: bool,
    /// The bundle numbers, in the order of opening.
    pub(super) bundles: Vec<usize>,
    /// Name of the highlighted series.
    bright: Option<&'p str>,
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
    /// An empty sheet of this width.
    pub(super) fn new(
        plot: &'p Plot<'a>,
        looks: &Looks,
        ink: Ink,
        width: f32,
        bright: Option<&str>,
    ) -> Self {
        let names = plot.names();
        let bright = names.iter().copied().find(|name| Some(*name) == bright);
        let looks = names.iter().enumerate().map(|(k, name)| looks.find(name, k, &ink)).collect();
        let bundles = plot.bundles().iter().map(|open| open.series).collect();
        let figure = Figure::new(vec2(width, 0.0), ink.paper);
        let places = names.iter().enumerate().rev().map(|(place, name)| (*name, place)).collect();
        Self { plot, figure, ink, looks, names, places, tells: true, bundles, bright }
    }

    pub(super) fn text(&mut self, at: Pos2, anchor: Anchor, color: Color32, text: &str) {
        self.figure.text(at, anchor, TYPE, color, text);
    }

    /// Colour, mark and fill of a series. Marks are filled for the first bundle opened, hollow for
    /// the second, pale for the third, whatever is filtered.
    pub(super) fn look(&self, name: &str, series: &Series<'_>) -> (Color32, Mark, Color32) {
        let place = self.places.get(name).copied().unwrap_or_default();
        let (color, mark) = self.looks.get(place).copied().unwrap_or((self.ink.text, Mark::Circle));
        let color = self.shown(name, color);
        (color, mark, filling(color, style(series), self.ink.paper))
    }

    /// The colour, faded if another series is highlighted.
    fn shown(&self, name: &str, color: Color32) -> Color32 {
        match self.bright {
            Some(bright) if bright != name => blend(color, self.ink.paper, 0.8),
            _ => color,
        }
    }

    /// The index of a series' bundle among the bundles drawn.
    pub(super) fn lane(&self, series: &Series<'_>) -> usize {
        let number = series.bundle.map(|open| open.series);
        self.bundles.iter().position(|known| Some(*known) == number).unwrap_or_default()
    }

    /// Draws the legend of bundle fills, if there are several; returns its bottom.
    pub(super) fn bundles_legend(&mut self, top: f32) -> f32 {
        let open = self.plot.bundles();
        if open.len() < 2 && open.iter().all(|open| filling_word(open.series) == "full") {
            return top;
        }
        let named = |open: &&OpenBundle| format!("{}: {}", filling_word(open.series), open.label());
        let words: Vec<String> = open.iter().map(named).collect();
        let grid = self.columns(words.iter().map(String::as_str));
        for (index, (open, words)) in open.iter().zip(&words).enumerate() {
            let at = entry_at(index, grid, top);
            let fill = filling(Color32::GRAY, open.series, self.ink.paper);
            self.figure.mark(at, Mark::Circle, RADIUS, fill, Color32::GRAY);
            let text = elide(words, grid.0 - 24.0);
            self.text(at + vec2(14.0, 0.0), Anchor::Start, self.ink.text, &text);
        }
        top + words.len().div_ceil(grid.1) as f32 * LEGEND_ROW
    }

    /// Draws the legend of marks; returns its bottom. Hovering over a name highlights its series,
    /// and a click shows it alone.
    pub(super) fn legend(&mut self, top: f32) -> f32 {
        let names: Vec<&str> = self.names.clone();
        let (column, columns) = self.columns(names.iter().copied());
        let alone = !self.plot.hidden.is_empty();
        let plot = self.plot;
        let all_hidden: HashSet<&str> = plot.hidden.iter().map(|(_, name)| name.as_str()).collect();
        for (index, name) in names.iter().enumerate() {
            let hidden = all_hidden.contains(name);
            let look = self.looks.get(index).copied().unwrap_or((self.ink.text, Mark::Circle));
            let faint = if hidden { 0.7 } else { 0.0 };
            let color = blend(self.shown(name, look.0), self.ink.paper, faint);
            let ink = blend(self.shown(name, self.ink.text), self.ink.paper, faint);
            let at = entry_at(index, (column, columns), top);
            // Bars have no marks.
            let is_filled = matches!(self.plot.form, Form::Bars | Form::Cells);
            let mark = if is_filled { Mark::Square } else { look.1 };
            self.figure.mark(at, mark, RADIUS, color, color);
            let text = elide(name, column - 24.0);
            self.text(at + vec2(14.0, 0.0), Anchor::Start, ink, &text);
            let width = text_width(&text, TYPE) + 24.0;
            let corner = at - vec2(10.0, LEGEND_ROW * 0.5);
            let text = match alone && !hidden {
                true => "Show all series".to_owned(),
                false => format!("Show only {name}"),
            };
            let rect = Rect::from_min_size(corner, vec2(width, LEGEND_ROW));
            let series = Some((*name).to_owned());
            self.figure.hits.push(Hit { rect, text, matrix: String::new(), run: None, series });
        }
        top + names.len().div_ceil(columns) as f32 * LEGEND_ROW - LEGEND_ROW * 0.5
    }

    /// Width and number of columns for these texts next to marks.
    fn columns<'t>(&self, texts: impl Iterator<Item = &'t str>) -> (f32, usize) {
        let width = self.figure.size.x;
        let longest = texts.map(|text| text_width(text, TYPE)).fold(0.0, f32::max);
        let column = longest.min(width - 60.0) + 36.0;
        (column, ((width / column) as usize).max(1))
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

    /// Writes names of lines next to their ends, spaced apart, and not below `bottom` if there is
    /// space above; each comes with its height.
    pub(super) fn name_ends(
        &mut self,
        (x, bottom): (f32, f32),
        mut names: Vec<(f32, Color32, String)>,
    ) {
        let apart = TYPE + 1.0;
        crate::order::sort_by(&mut names, |a, b| a.0.total_cmp(&b.0));
        let mut last = f32::NEG_INFINITY;
        // Spread downwards, then move up by half of the lowest name's shift.
        let mut moved = 0.0;
        let mut placed = Vec::new();
        for (y, color, name) in names {
            let at = y.max(last + apart);
            moved = at - y;
            last = at;
            placed.push((at, color, name));
        }
        let up = (moved * 0.5).max(last - bottom);
        for (y, color, name) in placed {
            let at = pos2(x, y - up);
            self.text(at, Anchor::Start, blend(color, self.ink.text, 0.35), &name);
        }
    }

    /// Draws the x axis between two positions, with grid lines and numbers; returns the placement
    /// of values.
    pub(super) fn x_axis(&mut self, x: (f32, f32), y: (f32, f32), log: bool, ends: Ends) -> Placer {
        let plot = self.plot;
        let scale = &plot.x;
        let values = || {
            let points = plot
                .points()
                .flat_map(|(_, _, point)| point.range.into_iter().flatten().chain([point.at[0]]));
            let guides = plot.guides.iter().flat_map(|guide| guide.ends.map(|end| end[0]));
            let least = scale.least.unwrap_or(f64::NEG_INFINITY);
            points.chain(guides).map(move |value| value.max(least))
        };
        let never = values().any(f64::is_infinite);
        let end = x.1 - if never { NEVER + 20.0 } else { 0.0 };
        let axis = scale.axis(values(), log, x.0, end);
        let least = scale.least.unwrap_or(f64::NEG_INFINITY);
        let placer = Placer { axis, never: x.1 - 16.0, least };
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

/// Places values along x.
pub(super) struct Placer {
    axis: Axis,
    never: f32,
    least: f64,
}

impl Placer {
    pub(super) fn at(&self, value: f64) -> f32 {
        if value.is_finite() { self.axis.place(value.max(self.least)) } else { self.never }
    }

    /// Returns whether a value is outside the axis.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        value < self.least
    }
}

/// The number of a series' bundle, which determines its style.
pub(super) fn style(series: &Series<'_>) -> usize {
    series.bundle.map_or(0, |open| open.series)
}

/// Position of the mark of a legend item.
fn entry_at(index: usize, (column, columns): (f32, usize), top: f32) -> Pos2 {
    pos2(16.0 + (index % columns) as f32 * column, top + (index / columns) as f32 * LEGEND_ROW)
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
    wrapped(text, width, TYPE)
}

/// Radius of the points, smaller if there are very many.
pub(super) fn radius(plot: &Plot<'_>) -> f32 {
    match plot.points().count() {
        _ if plot.form == Form::Boxes => 2.6,
        count if count > 200 => 3.6,
        _ => RADIUS,
    }
}
