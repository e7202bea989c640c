//! A figure in the making, with what rows and planes have in common: the legend, marks, labels,
//! the scale of x.

use egui::{Color32, Pos2, Rect, pos2, vec2};

use super::plot::{Form, Looks, Plot, Point, Scale, Series};
use crate::figure::{Anchor, Axis, Figure, Hit, Mark, elided, text_width};
use crate::model::significant;
use crate::theme::{Ink, blend};

pub(super) const TYPE: f32 = 13.0;
pub(super) const RADIUS: f32 = 4.8;
/// Below the lowest line: ticks and the title of x.
pub(super) const FOOT: f32 = 48.0;
const LEGEND_ROW: f32 = 20.0;
/// From the end of a scale to where infinite values are.
const NEVER: f32 = 40.0;
/// Between the ends of an axis and its first and last tick, where these are given.
const MARGIN: f32 = 30.0;

/// A figure in the making, and what is needed to draw into it.
pub(super) struct Sheet<'p, 'a> {
    pub(super) plot: &'p Plot<'a>,
    pub(super) figure: Figure,
    pub(super) ink: Ink,
    looks: Vec<(Color32, Mark)>,
    /// Names in the legend, each once.
    names: Vec<&'p str>,
    /// The bundles' numbers, in the order of their fillings.
    pub(super) bundles: Vec<usize>,
}

impl<'p, 'a> Sheet<'p, 'a> {
    /// An empty one of this width.
    pub(super) fn new(plot: &'p Plot<'a>, looks: &Looks, ink: Ink, width: f32) -> Self {
        let mut names: Vec<&str> = plot.series.keys().map(|(_, name, _)| name.as_str()).collect();
        names.dedup();
        let looks = names.iter().enumerate().map(|(k, name)| looks.find(name, k, &ink)).collect();
        let bundles = plot.bundles().iter().map(|open| open.series).collect();
        let figure = Figure::new(vec2(width, 0.0), ink.paper);
        Self { plot, figure, ink, looks, names, bundles }
    }

    pub(super) fn text(&mut self, at: Pos2, anchor: Anchor, color: Color32, text: &str) {
        self.figure.text(at, anchor, TYPE, color, text);
    }

    /// Colour, form and filling of a series. The first bundle's marks are full, the second's
    /// hollow, the third's pale.
    pub(super) fn look(&self, name: &str, series: &Series<'_>) -> (Color32, Mark, Color32) {
        let place = self.names.iter().position(|known| *known == name).unwrap_or_default();
        let (color, mark) = self.looks.get(place).copied().unwrap_or((self.ink.text, Mark::Circle));
        (color, mark, self.filling(color, self.lane(series)))
    }

    /// The place of a series' bundle among the bundles drawn.
    pub(super) fn lane(&self, series: &Series<'_>) -> usize {
        let number = series.bundle.map(|open| open.series);
        self.bundles.iter().position(|known| Some(*known) == number).unwrap_or_default()
    }

    fn filling(&self, color: Color32, lane: usize) -> Color32 {
        match lane % 3 {
            0 => color,
            1 => self.ink.paper,
            _ => blend(color, self.ink.paper, 0.6),
        }
    }

    /// Which mark means what; its height. Bundles have lines of their own.
    pub(super) fn legend(&mut self) -> f32 {
        let names = self.names.iter().zip(&self.looks);
        let names = names.map(|(name, (color, mark))| ((*name).to_owned(), *color, *mark, 0));
        let top = self.entries(names.collect(), 14.0);
        let open = self.plot.bundles();
        let how = ["full", "hollow", "pale"].into_iter().cycle();
        let bundles = open.iter().zip(how).enumerate().map(|(lane, (open, how))| {
            (format!("{how}: {}", open.label()), Color32::GRAY, Mark::Circle, lane)
        });
        let bundles = if open.len() > 1 { bundles.collect() } else { Vec::new() };
        self.entries(bundles, top) - LEGEND_ROW * 0.5
    }

    /// Writes entries in as many columns as fit, from this height on; the height below them.
    fn entries(&mut self, entries: Vec<(String, Color32, Mark, usize)>, top: f32) -> f32 {
        let width = self.figure.size.x;
        let longest = entries.iter().map(|entry| text_width(&entry.0, TYPE)).fold(0.0, f32::max);
        let column = longest.min(width - 60.0) + 36.0;
        let columns = ((width / column) as usize).max(1);
        let lines = entries.len().div_ceil(columns);
        for (index, (text, color, mark, lane)) in entries.into_iter().enumerate() {
            let x = 16.0 + (index % columns) as f32 * column;
            let y = top + (index / columns) as f32 * LEGEND_ROW;
            let fill = self.filling(color, lane);
            self.figure.mark(pos2(x, y), mark, RADIUS, fill, color);
            let text = elide(&text, column - 24.0);
            self.text(pos2(x + 14.0, y), Anchor::Start, self.ink.text, &text);
        }
        top + lines as f32 * LEGEND_ROW
    }

    /// What a point says, and where.
    pub(super) fn hit(
        &mut self,
        at: Pos2,
        side: f32,
        name: &str,
        series: &Series<'_>,
        point: &Point<'_>,
    ) {
        let rect = Rect::from_center_size(at, vec2(side, side));
        let matrix = point.subject.map(crate::model::subject_key).unwrap_or_default();
        let run = point.run.map(|run| run.index);
        self.figure.hits.push(Hit {
            rect,
            text: self.plot.words(name, series, point),
            matrix,
            run,
        });
    }

    /// The scale of x between two places, its lines and numbers; where its values are.
    pub(super) fn x_axis(
        &mut self,
        x: (f32, f32),
        y: (f32, f32),
        log: bool,
        twice: bool,
    ) -> Placer {
        let plot = self.plot;
        let scale = &plot.x;
        let values = || {
            let points = plot
                .points()
                .flat_map(|(_, _, point)| point.range.into_iter().flatten().chain([point.at[0]]));
            points.chain(plot.guides.iter().flat_map(|guide| guide.ends.map(|end| end[0])))
        };
        let never = values().any(f64::is_infinite);
        let end = x.1 - if never { NEVER + 20.0 } else { 0.0 };
        let placer = Placer { axis: scale.axis(values(), log, x.0, end), never: x.1 - 16.0 };
        let mut ticks: Vec<(f32, String)> = scale
            .at(&placer.axis)
            .into_iter()
            .map(|tick| (placer.axis.place(tick), tick_label(tick)))
            .collect();
        if never {
            ticks.push((placer.never, scale.never.into()));
        }
        let mut last = f32::NEG_INFINITY;
        for (x, label) in ticks {
            self.figure.line(pos2(x, y.0), pos2(x, y.1 + 5.0), 1.0, self.ink.grid);
            let half = text_width(&label, TYPE) * 0.5;
            if x - half < last {
                continue;
            }
            last = x + half + 6.0;
            self.text(pos2(x, y.1 + 15.0), Anchor::Middle, self.ink.weak, &label);
            if twice {
                self.text(pos2(x, y.0 - 9.0), Anchor::Middle, self.ink.weak, &label);
            }
        }
        self.figure.line(pos2(x.0, y.1), pos2(x.1, y.1), 1.0, self.ink.weak);
        let title = title(scale, log);
        self.text(pos2((x.0 + x.1) * 0.5, y.1 + 35.0), Anchor::Middle, self.ink.text, &title);
        placer
    }
}

impl Scale {
    /// From the first tick to the last, where they are given.
    fn axis(&self, values: impl Iterator<Item = f64>, log: bool, from: f32, to: f32) -> Axis {
        match (self.ticks.first(), self.ticks.last()) {
            (Some(first), Some(last)) => {
                Axis::between(*first, *last, log, from + MARGIN, to - MARGIN)
            }
            _ => Axis::new(values, log, from, to),
        }
    }

    /// Where the ticks are.
    pub(super) fn at(&self, axis: &Axis) -> Vec<f64> {
        if self.ticks.is_empty() { axis.ticks() } else { self.ticks.clone() }
    }
}

/// Places values along x.
pub(super) struct Placer {
    axis: Axis,
    never: f32,
}

impl Placer {
    pub(super) fn at(&self, value: f64) -> f32 {
        if value.is_finite() { self.axis.place(value) } else { self.never }
    }
}

/// What an axis measures, and how.
pub(super) fn title(scale: &Scale, log: bool) -> String {
    let how = if log && scale.ticks.is_empty() { " (logarithmic)" } else { "" };
    format!("{}{how}", scale.title)
}

/// A tick's value without the zeros that three digits would bring.
pub(super) fn tick_label(tick: f64) -> String {
    if tick >= 1e6 {
        return format!("{tick:e}");
    }
    let text = significant(tick);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// The text, cut where it is wider.
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

/// The points are so small where there are very many.
pub(super) fn radius(plot: &Plot<'_>) -> f32 {
    match plot.points().count() {
        _ if plot.form == Form::Boxes => 2.6,
        count if count > 200 => 3.6,
        _ => RADIUS,
    }
}
