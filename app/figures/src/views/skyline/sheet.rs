//! The scatter plot of two dimensions: the plot, what is around it and the overlays.

use std::sync::Arc;

use ecolor::Color32;
use emath::{Pos2, Rect, Vec2, pos2, vec2};

use super::legend::{self, Legend, mark};
use super::look::{Inks, Look, Looks};
use super::marks::Marks;
use super::plot::{Plot, columns, point, ticks};
use super::staircase;
use super::subject::Subject;
use super::walk::Walk;
use crate::figure::{Anchor, Figure, Shape, area, elided, text_width};
use crate::state::ViewState;
use crate::views::spy::{TYPE, index, outline};

/// Space around the plot.
const LEFT: f32 = 62.0;
const TOP: f32 = 28.0;
const RIGHT: f32 = 14.0;
const BOTTOM: f32 = 44.0;
/// Minimum size of the plot, and of a figure around it.
const LEAST: f32 = 120.0;
pub const LEAST_SIZE: Vec2 = vec2(240.0, 260.0);

/// A point set and how it is shown.
pub struct Told<'a> {
    pub subject: &'a Subject,
    pub(super) walk: Option<Arc<Walk>>,
    pub looks: Arc<Looks>,
    pub state: &'a ViewState,
    pub inks: Inks,
    corners: Arc<Vec<[f32; 2]>>,
}

/// The plot and the legend below it.
pub struct Frame {
    pub plot: Plot,
    pub marks: Marks,
    size: Vec2,
    legend: Legend,
}

impl<'a> Told<'a> {
    pub fn new(
        subject: &'a Subject,
        state: &'a ViewState,
        walk: Option<Arc<Walk>>,
        looks: Arc<Looks>,
        corners: Arc<Vec<[f32; 2]>>,
    ) -> Self {
        Self { subject, walk, looks, state, inks: Inks::new(state.theme), corners }
    }

    /// Everything, computed immediately.
    pub fn at_once(subject: &'a Subject, state: &'a ViewState) -> Self {
        let walk = state.skyline.step.map(|_| Arc::new(subject.walk(state)));
        let looks = subject.looks(walk.as_deref(), state);
        let corners = Arc::new(corners(subject, &looks, state));
        Self::new(subject, state, walk, Arc::new(looks), corners)
    }

    /// The algorithm and the number of steps done, if it is stepped through.
    pub(super) fn followed(&self) -> Option<(&Walk, usize)> {
        let walk = self.walk.as_deref()?;
        Some((walk, (self.state.skyline.step? as usize).min(walk.count())))
    }

    /// The scatter plot in a figure of this size, or larger if necessary.
    pub fn frame(&self, size: Vec2) -> Frame {
        let items = legend::items(self.subject, &self.looks, self.state, !self.corners.is_empty());
        let legend = Legend::new(items, size.x - 16.0);
        let bottom = size.y - BOTTOM - legend.height() - 4.0;
        let (right, bottom) = ((size.x - RIGHT).max(LEFT + LEAST), bottom.max(TOP + LEAST));
        let plot = area(LEFT, TOP, right.floor(), bottom.floor());
        let picture = &self.subject.cloud.picture;
        let plot = Plot::new(plot, picture, self.subject.axes, self.state.skyline.at);
        let size = vec2(right + RIGHT, bottom + BOTTOM + legend.height() + 4.0);
        Frame { marks: self.marks(&plot), plot, size, legend }
    }

    /// The size of the marks, by the number of points in view.
    fn marks(&self, plot: &Plot) -> Marks {
        if plot.place.at().is_none() {
            return Marks::of(self.looks.drawn);
        }
        let [left, low] = plot.values(plot.area().left_bottom());
        let [right, high] = plot.values(plot.area().right_top());
        let is_seen = |[x, y]: [f32; 2]| {
            let (x, y) = (f64::from(x), f64::from(y));
            x >= left && x <= right && y >= low && y <= high
        };
        let all = columns(&self.subject.cloud.picture, self.subject.axes).zip(&self.looks.of);
        Marks::of(all.filter(|(at, look)| **look != Look::Hidden && is_seen(*at)).count())
    }

    /// Everything below the points: the plot's background, its grid lines, its numbers.
    pub fn under(&self, frame: &Frame) -> Figure {
        let ink = self.inks.ink;
        let plot = &frame.plot;
        let place = plot.area();
        let mut figure = Figure::new(frame.size, ink.paper);
        let [left, low] = plot.values(place.left_bottom());
        let [right, high] = plot.values(place.right_top());
        let [across, upwards] = self.subject.axes.map(|axis| self.subject.cloud.is_negated(axis));
        for (tick, text) in ticks_of([left, right], place.width() / 64.0, across) {
            let x = plot.x(tick);
            figure.line(pos2(x, place.min.y), pos2(x, place.max.y), 1.0, ink.grid);
            let half = text_width(&text, TYPE) * 0.5;
            if x + half < frame.size.x {
                let at = pos2(x, place.max.y + 11.0);
                figure.text(at, Anchor::Middle, TYPE, ink.weak, &text);
            }
        }
        for (tick, text) in ticks_of([low, high], place.height() / 46.0, upwards) {
            let y = plot.y(tick);
            figure.line(pos2(place.min.x, y), pos2(place.max.x, y), 1.0, ink.grid);
            figure.text(pos2(place.min.x - 5.0, y), Anchor::End, TYPE, ink.weak, &text);
        }
        figure
    }

    /// Everything on top of the points and around the plot.
    pub fn over(&self, frame: &Frame, pointed: Option<usize>) -> Figure {
        let ink = self.inks.ink;
        let place = frame.plot.area();
        let mut figure = Figure::new(frame.size, Color32::TRANSPARENT);
        outline(&mut figure, place, ink.weak);
        let cloud = &self.subject.cloud;
        let [mut x, y] = self.subject.axes.map(|axis| cloud.title(axis));
        if cloud.columns.is_empty() {
            x += ": larger is better";
        }
        let x = elided(&x, place.width(), TYPE);
        let at = pos2(place.center().x, place.max.y + 28.0);
        figure.text(at, Anchor::Middle, TYPE, ink.text, &x);
        let y = elided(&y, place.height(), TYPE);
        let up = text_width(&y, TYPE) * 0.5;
        figure.text_upwards(pos2(10.0, place.center().y + up), TYPE, ink.text, &y);
        let title = format!(
            "{}: {} points, {} dimensions",
            self.subject.name,
            index(cloud.picture.points as usize),
            cloud.picture.dimensions
        );
        let title = elided(&title, frame.size.x - 16.0, TYPE);
        figure.text(pos2(8.0, 12.0), Anchor::Start, TYPE, ink.text, &title);
        let corner = pos2(8.0, place.max.y + BOTTOM);
        frame.legend.draw(&mut figure, corner, &self.inks, frame.marks);
        for points in staircase::lines(&self.corners, &frame.plot) {
            figure.shapes.push(Shape::Line { points, width: 1.6, color: self.inks.kept });
        }
        if let Some((walk, done)) = self.followed()
            && let Some(step) = walk.step(done)
        {
            self.link(&mut figure, frame, step.point, step.by);
        }
        let selected = self.subject.selected(self.state);
        for place in [selected, pointed].into_iter().flatten() {
            self.point_out(&mut figure, frame, place);
        }
        figure
    }

    /// Highlights a point, the region of points that could dominate it, and the one that does.
    fn point_out(&self, figure: &mut Figure, frame: &Frame, place: usize) {
        let plot = &frame.plot;
        let Some(at) = self.position(plot, place) else { return };
        let within = plot.area();
        let better = Rect::from_min_max(pos2(at.x, within.min.y), pos2(within.max.x, at.y));
        let better = better.intersect(within);
        if better.is_positive() {
            figure.rect(better, self.inks.now.gamma_multiply(0.12));
        }
        self.link(figure, frame, place, self.dominator(place));
        if within.expand(1.0).contains(at) {
            let radius = frame.marks.radius() * 1.7 + 4.0;
            let hollow = Color32::TRANSPARENT;
            figure.mark(at, crate::figure::Mark::Circle, radius, hollow, self.inks.ink.text);
        }
    }

    /// A line from a point to one that dominates it.
    fn link(&self, figure: &mut Figure, frame: &Frame, place: usize, by: Option<usize>) {
        let plot = &frame.plot;
        let ends = [Some(place), by].map(|place| self.position(plot, place?));
        let [Some(start), Some(end)] = ends else { return };
        let Some([from, to]) = within(start, end, plot.area()) else { return };
        figure.line(from, to, 3.5, self.inks.ink.paper);
        figure.line(from, to, 1.8, self.inks.now);
        // Both points are visible at the ends of the line.
        for (place, at) in [(Some(place), start), (by, end)] {
            if let Some(place) = place.filter(|_| plot.area().contains(at)) {
                mark(figure, at, self.looks.at(place), frame.marks.radius().max(2.5), &self.inks);
            }
        }
    }

    fn position(&self, plot: &Plot, place: usize) -> Option<Pos2> {
        let at = point(&self.subject.cloud.picture, self.subject.axes, place)?;
        Some(plot.at(at))
    }

    /// The points as shapes.
    pub(super) fn shapes(&self, figure: &mut Figure, frame: &Frame) {
        let (plot, radius) = (&frame.plot, frame.marks.radius());
        let inside = |at: &Pos2| plot.area().contains(*at);
        for look in Look::DRAWN {
            let of = self.looks.of.iter().enumerate().filter(|(_, of)| **of == look);
            let at = of.filter_map(|(place, _)| self.position(plot, place)).filter(inside);
            at.for_each(|at| mark(figure, at, look, radius, &self.inks));
        }
        for place in &self.looks.compared {
            let at = self.position(plot, *place).filter(inside);
            if let Some(at) = at.filter(|_| self.looks.at(*place) != Look::Hidden) {
                let (hollow, ring) = (Color32::TRANSPARENT, self.inks.now);
                figure.mark(at, crate::figure::Mark::Circle, radius * 2.0, hollow, ring);
            }
        }
    }
}

/// Round numbers as [`ticks`] finds them, with the texts of the values before they were negated, if they were.
fn ticks_of([low, high]: [f64; 2], wanted: f32, are_negated: bool) -> Vec<(f64, String)> {
    match are_negated {
        false => ticks(low, high, wanted),
        true => {
            let before = ticks(-high, -low, wanted).into_iter();
            before.map(|(value, text)| (-value, text)).collect()
        }
    }
}

/// The corners of the staircase, if it is drawn.
pub fn corners(subject: &Subject, looks: &Looks, state: &ViewState) -> Vec<[f32; 2]> {
    let picture = &subject.cloud.picture;
    let usual = picture.dimensions == 2;
    let [x, y] = subject.axes;
    match state.skyline.staircase.unwrap_or(usual) && !state.skyline.alike && x != y {
        true => staircase::corners(picture, looks, subject.axes),
        false => Vec::new(),
    }
}

/// The part of a straight line inside an area (Liang and Barsky).
fn within(from: Pos2, to: Pos2, area: Rect) -> Option<[Pos2; 2]> {
    let by = to - from;
    let (mut start, mut end) = (0.0_f32, 1.0_f32);
    for (step, room) in [
        (-by.x, from.x - area.min.x),
        (by.x, area.max.x - from.x),
        (-by.y, from.y - area.min.y),
        (by.y, area.max.y - from.y),
    ] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
            continue;
        }
        match step < 0.0 {
            true => start = start.max(room / step),
            false => end = end.min(room / step),
        }
    }
    (start <= end).then(|| [from + by * start, from + by * end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_leave_the_plot() {
        let square = area(0.0, 0.0, 10.0, 10.0);
        let cut = |from: (f32, f32), to: (f32, f32)| within(from.into(), to.into(), square);
        assert_eq!(cut((-5.0, 5.0), (5.0, 5.0)), Some([pos2(0.0, 5.0), pos2(5.0, 5.0)]));
        assert_eq!(cut((2.0, 2.0), (4.0, 14.0)).unwrap()[1].y, 10.0);
        assert_eq!(cut((2.0, 3.0), (4.0, 5.0)), Some([pos2(2.0, 3.0), pos2(4.0, 5.0)]));
        assert_eq!(cut((-2.0, 3.0), (-4.0, 5.0)), None);
        assert_eq!(cut((-5.0, 9.0), (5.0, 19.0)), None);
    }
}
