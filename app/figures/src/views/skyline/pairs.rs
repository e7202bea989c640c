//! All pairs of the first dimensions as a triangle of small plots.

use emath::{Pos2, Rect, Vec2, pos2, vec2};

use super::marks::Marks;
use super::plot::Plot;
use super::raster::Canvas;
use super::sheet::Told;
use crate::figure::ColorImage;
use crate::figure::{Anchor, Figure, Shape, area};
use crate::state::At;
use crate::views::spy::{TYPE, outline};

/// Maximum number of dimensions.
pub(super) const MOST: usize = 8;
/// Maximum number of points drawn in a plot, per square point of its area.
const COVERED: f32 = 0.1;
/// Space for the numbers of dimensions on the left and below, and for the title.
const EDGE: f32 = 18.0;
const TOP: f32 = 26.0;
const GAP: f32 = 4.0;
/// Minimum side of a plot.
const LEAST: f32 = 26.0;

/// The positions of the plots in a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    /// The horizontal and vertical dimension, and the area of their plot.
    pub cells: Vec<([usize; 2], Rect)>,
    pub size: Vec2,
    count: usize,
    side: f32,
}

impl Pairs {
    /// The plots of `dimensions` dimensions in a figure of about this size; `None` for fewer than
    /// three.
    pub fn new(dimensions: usize, size: Vec2) -> Option<Self> {
        let count = dimensions.min(MOST);
        if count < 3 {
            return None;
        }
        let lines = (count - 1) as f32;
        let room = (size.x - EDGE - 8.0).min(size.y - TOP - EDGE) / lines - GAP;
        let side = room.clamp(LEAST, 160.0).floor();
        let place = |[x, y]: [usize; 2]| {
            let corner = vec2(x as f32, (y - 1) as f32) * (side + GAP);
            Rect::from_min_size(pos2(EDGE, TOP) + corner, Vec2::splat(side))
        };
        let all = (1..count).flat_map(|y| (0..y).map(move |x| [x, y]));
        let cells = all.map(|pair| (pair, place(pair))).collect();
        let all = (side + GAP) * lines;
        Some(Self { cells, size: vec2(EDGE + all + 8.0, TOP + all + EDGE), count, side })
    }

    /// Area of all plots.
    pub fn area(&self) -> Rect {
        let all = (self.side + GAP) * (self.count - 1) as f32 - GAP;
        Rect::from_min_size(pos2(EDGE, TOP), Vec2::splat(all))
    }

    /// The points of all plots.
    pub fn image(&self, told: &Told<'_>, pixels: f32) -> ColorImage {
        let picture = &told.subject.cloud.picture;
        let mut canvas = Canvas::new(self.area(), pixels);
        let step = step(told, self.side);
        let marks = match Marks::of(told.looks.drawn) {
            Marks::Dots => Marks::Dots,
            larger => Marks::Shapes((larger.radius() * 0.55).max(0.6)),
        };
        for (axes, rect) in &self.cells {
            let plot = Plot::new(*rect, picture, *axes, None);
            if told.followed().is_none() && !told.state.skyline.alike {
                canvas.density(&plot, picture, *axes, (&told.inks, 0..canvas.height()));
            }
            let looks = &told.looks;
            for look in looks.drawn_as.iter().copied() {
                let marks = (marks, told.inks.of(look));
                canvas.dots(&plot, picture, *axes, (looks, look, 0..looks.end, step), marks);
            }
            canvas.rings(&plot, picture, *axes, looks, (marks, told.inks.now));
        }
        canvas.image()
    }

    /// Frames and numbers, and the visible part of the plot shown at full size.
    pub fn figure(&self, told: &Told<'_>, paper: ecolor::Color32) -> Figure {
        let ink = told.inks.ink;
        let mut figure = Figure::new(self.size, paper);
        let all = told.subject.cloud.picture.dimensions as usize;
        let mut title = match self.count < all {
            true => format!("Pairs of the first {} of {all} dimensions", self.count),
            false => "Pairs of dimensions".to_owned(),
        };
        let step = step(told, self.side);
        if step > 1 {
            title += &format!(", one point in {step}");
        }
        let title = crate::figure::elided(&title, self.size.x - 8.0, TYPE);
        figure.text(pos2(4.0, 12.0), Anchor::Start, TYPE, ink.text, &title);
        let chosen = self.chosen(told.subject.axes);
        for (index, (_, rect)) in self.cells.iter().enumerate() {
            outline(&mut figure, *rect, ink.weak);
            if chosen == Some(index) {
                for by in [1.0, 2.0] {
                    outline(&mut figure, rect.expand(by), told.inks.now);
                }
                // If the axes are swapped, so is the visible part.
                if told.subject.axes.is_sorted()
                    && let Some(seen) = told.state.skyline.at.map(|at| seen(*rect, at, told))
                {
                    outline(&mut figure, seen, told.inks.ink.text);
                }
            }
        }
        let [x, y] = told.subject.axes;
        let color = |axis| if axis == x || axis == y { ink.text } else { ink.weak };
        let bottom = self.area().max.y + 10.0;
        for (axis, at) in (0..self.count).map(|axis| (axis, axis as f32 * (self.side + GAP))) {
            let text = axis.to_string();
            if axis + 1 < self.count {
                let at = pos2(EDGE + at + self.side * 0.5, bottom);
                figure.text(at, Anchor::Middle, TYPE, color(axis), &text);
            }
            if axis > 0 {
                let at = pos2(EDGE - 5.0, TOP + at - self.side * 0.5 - GAP);
                figure.text(at, Anchor::End, TYPE, color(axis), &text);
            }
        }
        figure
    }

    /// The plot of these dimensions, in either order.
    pub(super) fn chosen(&self, [x, y]: [usize; 2]) -> Option<usize> {
        self.cells.iter().position(|(of, _)| *of == [x.min(y), x.max(y)])
    }

    /// The same as a saved figure.
    pub(super) fn saved(&self, told: &Told<'_>, pixels: f32) -> Figure {
        let mut figure = self.figure(told, told.inks.ink.paper);
        let pixels = std::sync::Arc::new(self.image(told, pixels));
        figure.shapes.insert(0, Shape::Image { rect: self.area(), pixels });
        figure
    }
}

/// Step between the points drawn in small plots, so that points do not cover the whole plot.
fn step(told: &Told<'_>, side: f32) -> usize {
    told.looks.drawn.div_ceil((side * side * COVERED) as usize + 1).max(1)
}

/// The visible part of the large plot, within a small one.
fn seen(rect: Rect, at: At, told: &Told<'_>) -> Rect {
    let picture = &told.subject.cloud.picture;
    let large = Plot::new(area(0.0, 0.0, 100.0, 100.0), picture, told.subject.axes, Some(at));
    let small = Plot::new(rect, picture, told.subject.axes, None);
    let corner = |at: Pos2| {
        let [x, y] = large.values(at);
        pos2(small.x(x), small.y(y))
    };
    Rect::from_two_pos(corner(pos2(0.0, 0.0)), corner(pos2(100.0, 100.0))).intersect(rect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_plot_of_its_own_within_the_figure() {
        assert_eq!(Pairs::new(2, vec2(300.0, 300.0)), None);
        for (dimensions, plots) in [(3, 3), (4, 6), (8, 28), (50, 28)] {
            let pairs = Pairs::new(dimensions, vec2(420.0, 420.0)).unwrap();
            assert_eq!(pairs.cells.len(), plots);
            let all = Rect::from_min_size(Pos2::ZERO, pairs.size);
            assert!(pairs.size.x <= 420.0 && pairs.size.y <= 420.0, "{:?}", pairs.size);
            for (k, ([x, y], rect)) in pairs.cells.iter().enumerate() {
                assert!(x < y && all.contains_rect(*rect));
                assert!(pairs.area().contains_rect(*rect));
                assert_eq!((pairs.chosen([*x, *y]), pairs.chosen([*y, *x])), (Some(k), Some(k)));
                for (_, other) in pairs.cells.iter().skip(k + 1) {
                    assert!(!rect.intersects(*other));
                }
            }
        }
    }
}
