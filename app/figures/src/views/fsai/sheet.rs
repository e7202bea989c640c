//! The patterns on one sheet: nonzeros as squares whose looks show their origin and what becomes of
//! them, with the system of one row marked.

use std::sync::Arc;

use ecolor::Color32;
use emath::{Rect, Vec2, pos2, vec2};

use super::colors::{Colors, Look};
use super::legend::{self, Legend};
use super::subject::Subject;
use crate::figure::ColorImage;
use crate::figure::{Figure, Shape, area};
use crate::set_up::{Gathered, Part, SetUp};
use crate::state::{SpyState, Stage, ViewState};
use crate::theme::{blend, series};
use crate::views::spy::{Around, Frame, GAP, Place, STRIP, axes, caption, index, outline};

/// Rows in view at maximum zoom.
const HANDFUL: f64 = 5.0;
/// Minimum size of a picture.
pub const LEAST_SIZE: Vec2 = vec2(220.0, 300.0);
/// Space in a frame for the legend, and above it.
const LEGEND: f32 = 58.0;
const ABOVE_LEGEND: f32 = 8.0;
/// In cells smaller than this, in pixels, squares fill the whole cell.
const LARGE: f32 = 5.0;

/// A setup and how it is shown.
pub struct Told<'a> {
    pub subject: &'a Subject,
    pub set_up: &'a SetUp,
    pub stage: Stage,
    pub colors: Colors,
    /// The system of the selected row.
    pub gathered: Option<Arc<Gathered>>,
    /// The position under the pointer, here or in the dense system.
    pub pointed: Option<(u32, u32)>,
}

/// The layout of the sheet for a given size.
pub struct Sheet {
    pub place: Place,
    width: f32,
    frame: Frame,
    legend: Legend,
}

impl<'a> Told<'a> {
    pub fn new(
        subject: &'a Subject,
        set_up: &'a SetUp,
        gathered: Option<Arc<Gathered>>,
        state: &ViewState,
    ) -> Self {
        let colors = Colors::new(state.theme);
        Self { subject, set_up, stage: state.fsai.stage, colors, gathered, pointed: None }
    }

    /// Returns whether groups of rows are shown.
    fn shows_groups(&self) -> bool {
        self.stage == Stage::Factor && self.set_up.asked.merge.is_some()
    }

    /// The name of the stage, for screen readers.
    pub fn name(&self) -> String {
        format!("{}, {}", self.subject.name, self.stage.name())
    }

    /// The sheet in a figure of this size.
    pub fn sheet(&self, size: Vec2, spy: &SpyState) -> Sheet {
        let items = legend::items(self.set_up, self.stage, &self.colors);
        let legend = Legend::new(items, size.x - 24.0);
        let size = vec2(size.x, size.y - (legend.height() + ABOVE_LEGEND - LEGEND).max(0.0));
        let groups = self.shows_groups();
        let around = Around { lines: 2.0, strip: groups, profile: false, stretch: false };
        let rows = self.set_up.rows();
        let frame = Frame::with(size, (rows, rows), around);
        let place = Place::new(frame.area, (rows, rows), spy.at, false, HANDFUL);
        Sheet { place, width: size.x.max(frame.size().x), frame, legend }
    }

    /// The nonzeros in view.
    pub fn image(&self, place: &Place, pixels: f32) -> ColorImage {
        let corner = place.area.min;
        let [wide, high] = [place.area.width(), place.area.height()]
            .map(|of| (of * pixels).round().max(1.0) as usize);
        let at = |of: f32, from: f32, most: usize| {
            ((of - from) * pixels).round().clamp(0.0, most as f32) as usize
        };
        let span_y = |i: usize| {
            let [from, to] = [0, 1].map(|k| at(place.y((i + k) as f64), corner.y, high));
            from..to.max(from + 1).min(high)
        };
        let span_x = |j: usize| {
            let [from, to] = [0, 1].map(|k| at(place.x((j + k) as f64), corner.x, wide));
            from..to.max(from + 1).min(wide)
        };
        let paper = self.colors.ink.paper;
        let mut image = ColorImage::filled([wide, high], paper);
        let mut ranks = vec![0_u8; wide * high];
        let p = self.gathered.as_ref().map(|of| &of.p[..]).unwrap_or_default();
        let chosen = self.gathered.as_ref().map(|of| of.row as usize);
        let tint = blend(paper, self.colors.gathered(), 0.13);
        for (number, &j) in p.iter().enumerate() {
            let is_row = number + 1 == p.len();
            let light = if is_row { blend(paper, self.colors.gathered(), 0.26) } else { tint };
            let (rows, cols) = (span_y(j as usize), span_x(j as usize));
            for (ys, xs, color) in [(rows, 0..wide, light), (0..high, cols, tint)] {
                for y in ys {
                    let line = image.pixels.get_mut(y * wide + xs.start..y * wide + xs.end);
                    line.into_iter().flatten().for_each(|pixel| *pixel = color);
                }
            }
        }
        let cols = place.cols();
        for i in place.rows() {
            let ys = span_y(i);
            let in_p = p.binary_search(&(i as u32)).is_ok();
            let row = self.set_up.row(i);
            let first = row.partition_point(|cell| (cell.col as usize) < cols.start);
            for cell in row.iter().skip(first).take_while(|cell| (cell.col as usize) < cols.end) {
                let Some(mut look) = self.colors.look(cell, self.stage) else { continue };
                if in_p && cell.in_a && p.binary_search(&cell.col).is_ok() {
                    let color = self.colors.gathered();
                    look = Look { color, inset: 0.0, hollow: false, rank: 40 };
                } else if chosen.is_some() && chosen != Some(i) {
                    look.color = self.colors.dimmed(look.color);
                }
                let spans = (ys.clone(), span_x(cell.col as usize));
                fill(&mut image, &mut ranks, spans, &look, paper);
            }
        }
        image
    }

    /// The group of each row, in alternating colours, next to the rows.
    fn groups(&self, figure: &mut Figure, sheet: &Sheet) {
        let (place, covered) = (&sheet.place, sheet.place.covered());
        let left = covered.max.x + GAP * 0.5;
        let group = |i: usize| self.set_up.groups.get(i).copied();
        let chosen = self.gathered.as_ref().and_then(|of| group(of.row as usize));
        let mut first = place.rows().start;
        let end = place.rows().end;
        for i in place.rows() {
            if i + 1 < end && group(i) == group(i + 1) {
                continue;
            }
            let (from, to) = (place.y(first as f64), place.y((i + 1) as f64));
            let (from, to) = (from.max(covered.min.y), to.min(covered.max.y));
            let color = match chosen {
                Some(_) if group(i) != chosen => self.colors.ink.grid,
                _ => series(group(i).unwrap_or(0) as usize),
            };
            let gap = if to - from > 4.0 { 0.75 } else { 0.0 };
            figure.rect(area(left, from + gap, left + STRIP, to - gap), color);
            // Consecutive rows of one system form a block on the diagonal.
            let block = area(place.x(first as f64), from, place.x((i + 1) as f64), to);
            if i > first && block.width() >= 6.0 && covered.expand(0.5).contains_rect(block) {
                outline(figure, block, self.colors.ink.text);
            }
            first = i + 1;
        }
        let strip = area(left, covered.min.y, left + STRIP, covered.max.y);
        outline(figure, strip, self.colors.ink.weak);
    }

    /// Everything except the nonzeros.
    pub fn figure(&self, sheet: &Sheet, paper: Color32) -> Figure {
        let ink = self.colors.ink;
        let Sheet { place, frame, legend, .. } = sheet;
        let mut size = vec2(sheet.width, frame.size().y);
        size.y += (legend.height() + ABOVE_LEGEND - LEGEND).max(0.0);
        let mut figure = Figure::new(size, paper);
        let stage = match (&self.gathered, self.shows_groups()) {
            (Some(of), groups) => {
                let strip = if groups { "; strip: rows that share it" } else { "" };
                format!("{}; A[P,P] of row {}{strip}", self.stage.name(), index(of.row as usize))
            }
            (None, true) => format!("{}; strip: shared systems", self.stage.name()),
            (None, false) => self.stage.name().into(),
        };
        caption(&mut figure, &self.subject.name, &[&stage], ink);
        axes(&mut figure, frame.area, place, ink);
        outline(&mut figure, place.covered(), ink.weak);
        if self.shows_groups() {
            self.groups(&mut figure, sheet);
        }
        if let Some((i, j)) = self.pointed {
            let at = self.square(place, i, j).expand(1.0);
            if place.covered().expand(2.0).contains_rect(at) {
                for (grown, color) in [(0.0, ink.text), (1.0, ink.text), (2.0, ink.paper)] {
                    outline(&mut figure, at.expand(grown), color);
                }
            }
        }
        let corner = pos2(12.0, frame.area.max.y + ABOVE_LEGEND);
        legend.draw(&mut figure, corner, ink.text);
        figure
    }

    /// The square of a nonzero, at least a few points wide.
    fn square(&self, place: &Place, i: u32, j: u32) -> Rect {
        let (i, j) = (f64::from(i), f64::from(j));
        let at = area(place.x(j), place.y(i), place.x(j + 1.0), place.y(i + 1.0));
        at.expand(((4.0 - at.width()) * 0.5).max(0.0))
    }

    /// The sheet as a saved figure.
    pub(super) fn saved(&self, size: Vec2, pixels: f32, state: &ViewState) -> Figure {
        let sheet = self.sheet(size, &state.spy);
        let mut figure = self.figure(&sheet, self.colors.ink.paper);
        let (rect, pixels) = (sheet.place.area, Arc::new(self.image(&sheet.place, pixels)));
        figure.shapes.insert(0, Shape::Image { rect, pixels });
        figure
    }

    /// Describes a nonzero.
    pub fn cell_words(&self, i: u32, j: u32) -> String {
        let at = format!("Row {}, column {}", index(i as usize), index(j as usize));
        let Some(cell) = self.set_up.cell(i as usize, j) else { return at };
        let mut words = Vec::new();
        let number = |value: f64| crate::model::value(value);
        if cell.in_a {
            let (col, val) = self.set_up.a.row(i as usize);
            let value = col.binary_search(&j).ok().and_then(|place| val.get(place));
            words.extend(value.map(|value| format!("A has {}", number(*value))));
        }
        words.push(
            match cell.part {
                Part::Left => "dropped by the prefilter",
                Part::Filtered => "not in the pattern",
                Part::Kept => "in the pattern",
                Part::Second if self.set_up.asked.power == 1 => "selected",
                Part::Second => "added by power 2",
                Part::Third => "added by power 3",
                Part::Merged => "added by merging",
            }
            .into(),
        );
        let (col, val) = self.set_up.g.row(i as usize);
        let value = col.binary_search(&j).ok().and_then(|place| val.get(place));
        words.extend(value.map(|value| format!("G has {}", number(*value))));
        words.extend(cell.dropped.then(|| "dropped by the postfilter".into()));
        format!("{at}: {}.", words.join("; "))
    }
}

/// Draws a nonzero; if several share a pixel, the one with the highest rank wins.
fn fill(
    image: &mut ColorImage,
    ranks: &mut [u8],
    (ys, xs): (std::ops::Range<usize>, std::ops::Range<usize>),
    look: &Look,
    paper: Color32,
) {
    let wide = image.size[0];
    let (width, height) = (xs.len() as f32, ys.len() as f32);
    let large = width.min(height) >= LARGE;
    // Squares of large cells have gaps; dropped values are outlined or pale.
    let inset = |of: f32| (of * look.inset).floor();
    let edge = (width.min(height) * 0.12).floor().max(1.0);
    let pale = if look.hollow && !large { blend(look.color, paper, 0.55) } else { look.color };
    for (k, y) in ys.enumerate() {
        for (l, x) in xs.clone().enumerate() {
            let from = |at: f32, of: f32| at.min(of - 2.0 - at) - inset(of);
            let depth = from(k as f32, height).min(from(l as f32, width));
            if large && (depth < 0.0 || (look.hollow && depth >= edge)) {
                continue;
            }
            let place = y * wide + x;
            if let (Some(pixel), Some(rank)) = (image.pixels.get_mut(place), ranks.get_mut(place))
                && *rank <= look.rank
            {
                (*pixel, *rank) = (pale, look.rank);
            }
        }
    }
}
