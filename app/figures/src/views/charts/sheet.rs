//! A figure under construction, with the parts common to rows and planes: how series look, marks and
//! labels.

use std::collections::HashMap;

use ecolor::Color32;
use emath::{Pos2, Rect, vec2};

use super::bold::Bold;
use super::looks::Looks;
use super::plot::{Form, Plot, Point, Series};
use super::taken::{Covers, Taken};
use crate::figure::{Anchor, Figure, Hit, Mark, elided, text_width, wrapped};
use crate::model::significant;
use crate::theme::{Ink, SMALL, blend, filling};

pub(super) const TYPE: f32 = SMALL;
/// Radius of marks, and their radius if there are very many: with the outline at least 3.5.
pub(super) const RADIUS: [f32; 2] = [4.8, 4.3];
/// Radius of the marks of grey series: with the outline 3.5.
pub(super) const QUIET: f32 = 2.75;
/// Widths of lines: grey, in colour, pointed at.
const LINES: [f32; 3] = [1.0, 2.0, 2.6];
/// More marks than this are smaller.
const MANY: usize = 200;

/// A figure under construction, and the data for drawing it.
pub(super) struct Sheet<'p, 'a> {
    pub(super) plot: &'p Plot<'a>,
    pub(super) figure: Figure,
    pub(super) ink: Ink,
    /// Right edge of the plot: the legend may be beside it.
    pub(super) width: f32,
    looks: HashMap<&'p str, (Color32, Mark)>,
    pub(super) bold: Bold<'p>,
    radius: f32,
    /// Whether points have tooltips: files have none.
    pub(super) tells: bool,
    /// The bundle numbers, in the order of opening.
    pub(super) bundles: Vec<usize>,
    /// Name of the highlighted series.
    pub(super) bright: Option<&'p str>,
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
        sparsescope_core::order::sort_by(&mut all, |a, b| place(a.0).cmp(&place(b.0)));
        all
    }

    /// Colour and mark of a name, faded if another series is highlighted.
    pub(super) fn color(&self, name: &str) -> (Color32, Mark) {
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

    pub(super) fn faded(&self, name: &str, color: Color32) -> Color32 {
        match self.bright {
            Some(bright) if bright != name => blend(color, self.ink.paper, 0.8),
            _ => color,
        }
    }

    /// How a series is drawn. Marks are filled for the first bundle opened, hollow for the second,
    /// pale for the third, whatever is filtered; a hollow mark of an interval is unclear.
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

    /// Draws an arrow for a value beyond an axis, with its number beside it where that is free; returns whether the
    /// number is written.
    pub(super) fn arrow(
        &mut self,
        (at, mark): (Pos2, Mark),
        look: &Look,
        number: Option<f64>,
        taken: &mut Taken,
    ) -> bool {
        let [_, radius] = RADIUS;
        self.figure.mark(at, mark, radius, look.fill, look.color);
        let Some(number) = number else { return false };
        let text = significant(number);
        let size = vec2(text_width(&text, TYPE), TYPE);
        // Towards the middle of the chart, and aside of a line that ends at the arrow.
        let (inwards, aside) = match mark {
            Mark::Left => (vec2(8.0 + size.x * 0.5, 0.0), vec2(0.0, TYPE * 0.85)),
            Mark::Right => (vec2(-8.0 - size.x * 0.5, 0.0), vec2(0.0, TYPE * 0.85)),
            Mark::Down => (vec2(0.0, -14.0), vec2(size.x * 0.5 + 6.0, 0.0)),
            _ => (vec2(0.0, 14.0), vec2(size.x * 0.5 + 6.0, 0.0)),
        };
        let places = [0.0, -1.0, 1.0].map(|by| at + inwards + aside * by);
        let allowed = [Covers::Nothing, Covers::Marks];
        let with_space = size + vec2(6.0, 0.0);
        let place = taken.take(with_space, &places, Rect::EVERYTHING, &allowed);
        if let Some(place) = place {
            self.text(place, Anchor::Middle, self.ink.weak, &text);
        }
        place.is_some()
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
}

/// The number of a series' bundle, which determines its style.
pub(super) fn style(series: &Series<'_>) -> usize {
    series.bundle.map_or(0, |open| open.series)
}

/// The text, elided if it is wider.
pub(super) fn elide(text: &str, width: f32) -> String {
    elided(text, width, TYPE)
}

/// The text in lines of at most this width.
pub(super) fn wrap(text: &str, width: f32) -> Vec<String> {
    wrapped(text, width, TYPE)
}
