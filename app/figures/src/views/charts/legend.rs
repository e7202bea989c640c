//! The legends of a chart: what fills mean, and the series, best first.

use std::collections::HashSet;

use ecolor::Color32;
use emath::{Pos2, Rect, pos2, vec2};
use sparsescope_core::kernel::CHOSEN_FAMILY;

use super::plot::Form;
use super::sheet::{QUIET, RADIUS, Sheet, TYPE, elide};
use crate::figure::{Anchor, Hit, Mark, strong_width, text_width};
use crate::model::OpenBundle;
use crate::theme::{blend, filling, filling_word, heat_color};

const ROW: f32 = 20.0;
/// What an interval says of a change.
const CLEAR: &str = "The bar is the 95 % confidence interval of the ratio of the times. If it excludes 1, the times \
                     differ; if it contains 1, they may be equal.";

impl Sheet<'_, '_> {
    /// The meanings of full and hollow marks: bundles, if there are several, or whether a change
    /// is clear.
    fn fills(&self) -> Vec<(Color32, String)> {
        let (gray, paper) = (Color32::GRAY, self.ink.paper);
        let open = self.plot.bundles();
        if self.plot.form == Form::Intervals {
            let clear = (gray, "clear: the interval excludes 1".to_owned());
            return vec![clear, (paper, "unclear: the interval contains 1".to_owned())];
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
            if self.plot.form == Form::Intervals {
                let size = vec2(text_width(&text, TYPE) + 24.0, ROW);
                let rect = Rect::from_min_size(at - vec2(10.0, ROW * 0.5), size);
                let (text, matrix) = (CLEAR.to_owned(), String::new());
                self.figure.hits.push(Hit { rect, text, matrix, run: None, series: None });
            }
        }
        top + fills.len().div_ceil(grid.1) as f32 * ROW
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
            let is_shaded = plot.form == Form::Cells;
            let color = if is_shaded { heat_color(1.0, self.ink.paper) } else { color };
            let is_bold = self.is_bold(name) || self.bright == Some(*name);
            let ink = if is_bold { self.ink.text } else { self.ink.weak };
            let faint = if hidden && self.bright != Some(*name) { 0.25 } else { 0.0 };
            let [color, ink] =
                [color, self.faded(name, ink)].map(|color| blend(color, self.ink.paper, faint));
            let at = entry_at(index, grid, pos2(left + 16.0, top));
            // Bars have no marks, and samples are dots.
            let mark = match plot.form {
                Form::Bars | Form::Cells => Mark::Square,
                Form::Boxes => Mark::Circle,
                _ => mark,
            };
            let [radius, _] = RADIUS;
            let radius = if is_bold || hidden { radius } else { QUIET };
            self.figure.mark(at, mark, radius, color, color);
            let (place, room) = (at + vec2(14.0, 0.0), grid.0 - 32.0);
            // Semibold letters are a little wider. The longest name fills the room, up to rounding.
            let fits = strong_width(written(name), TYPE) < room + 0.5;
            let text = elide(written(name), if fits { f32::INFINITY } else { room * 0.95 });
            match is_bold {
                true => self.figure.strong(place, Anchor::Start, TYPE, ink, &text),
                false => self.figure.text(place, Anchor::Start, TYPE, ink, &text),
            }
            let width = strong_width(&text, TYPE) + 24.0;
            let corner = at - vec2(10.0, ROW * 0.5);
            let text = match alone && !hidden {
                true => "Show all series".to_owned(),
                false => {
                    let verb = if hidden || plot.hidden.is_empty() { "adds" } else { "removes" };
                    format!("Show only {}; Shift-click {verb} it", written(name))
                }
            };
            let rect = Rect::from_min_size(corner, vec2(width, ROW));
            let series = Some((*name).to_owned());
            self.figure.hits.push(Hit { rect, text, matrix: String::new(), run: None, series });
        }
        top + self.legend_height(right - left) - ROW * 0.5
    }

    /// Height of the legend of marks in this width.
    pub(super) fn legend_height(&self, width: f32) -> f32 {
        let names = &self.bold.order;
        let (_, columns) = columns(width, names.iter().map(|name| written(name)));
        names.len().div_ceil(columns) as f32 * ROW
    }
}

/// Width and number of columns for these texts next to marks.
fn columns<'t>(width: f32, texts: impl Iterator<Item = &'t str>) -> (f32, usize) {
    let longest = texts.map(|text| strong_width(text, TYPE)).fold(0.0, f32::max);
    let column = (longest + 40.0).min((width - 8.0).max(60.0));
    (column, ((width / column) as usize).max(1))
}

/// Position of the mark of a legend item.
fn entry_at(index: usize, (column, columns): (f32, usize), first: Pos2) -> Pos2 {
    first + vec2((index % columns) as f32 * column, (index / columns) as f32 * ROW)
}

/// The name of a series in words: the format of kernels that choose one is `spmv` in tables.
pub(super) fn written(name: &str) -> &str {
    if name == CHOSEN_FAMILY { "auto" } else { name }
}
