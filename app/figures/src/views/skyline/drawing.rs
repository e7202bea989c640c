//! An image of the points that is drawn in parts, so that no frame waits for all of it.

use super::look::Look;
use super::marks::Marks;
use super::plot::Plot;
use super::raster::Canvas;
use super::sheet::Told;
use crate::figure::ColorImage;

/// Rows of pixels per part, and points per part.
const ROWS: usize = 64;
const POINTS: usize = 8192;

/// An image and its progress.
pub struct Drawing {
    canvas: Canvas,
    plot: Plot,
    marks: Marks,
    with_dots: bool,
    /// Parts that are done.
    done: usize,
}

/// The content of a part.
enum Part {
    Density(std::ops::Range<usize>),
    Dots(Look, std::ops::Range<usize>),
    Rings,
    End,
}

impl Drawing {
    /// An image of the density of all points, and of the points, with `pixels` pixels per point of
    /// the screen; nothing is drawn yet.
    pub fn new((plot, marks): (Plot, Marks), pixels: f32, with_dots: bool) -> Self {
        let canvas = Canvas::new(plot.area(), pixels);
        Self { canvas, plot, marks, with_dots, done: 0 }
    }

    /// The part of the plot in view.
    pub fn plot(&self) -> &Plot {
        &self.plot
    }

    /// Draws all parts.
    pub fn at_once(mut self, told: &Told<'_>) -> ColorImage {
        while !self.go_on(told, &mut || false) {}
        self.canvas.image()
    }

    pub fn image(self) -> ColorImage {
        self.canvas.image()
    }

    fn part(&self, told: &Told<'_>) -> Part {
        let rows = match told.followed().is_none() && !told.state.skyline.alike {
            true => self.canvas.height(),
            false => 0,
        };
        let of = |part: usize, size: usize, all: usize| part * size..all.min((part + 1) * size);
        let Some(after) = self.done.checked_sub(rows.div_ceil(ROWS)) else {
            return Part::Density(of(self.done, ROWS, rows));
        };
        let each = told.looks.end.div_ceil(POINTS).max(1);
        match told.looks.drawn_as.get(after / each) {
            _ if !self.with_dots => Part::End,
            Some(look) => Part::Dots(*look, of(after % each, POINTS, told.looks.end)),
            None if after == told.looks.drawn_as.len() * each => Part::Rings,
            None => Part::End,
        }
    }

    /// Draws at least one part, and more until `is_late`; returns whether that was the last one.
    pub fn go_on(&mut self, told: &Told<'_>, is_late: &mut dyn FnMut() -> bool) -> bool {
        let (picture, axes) = (&told.subject.cloud.picture, told.subject.axes);
        loop {
            let part = self.part(told);
            let (plot, canvas) = (&self.plot, &mut self.canvas);
            match part {
                Part::Density(rows) => canvas.density(plot, picture, axes, (&told.inks, rows)),
                Part::Dots(look, places) => {
                    let marks = (self.marks, told.inks.of(look));
                    canvas.dots(plot, picture, axes, (&told.looks, look, places, 1), marks);
                }
                Part::Rings => {
                    canvas.rings(plot, picture, axes, &told.looks, (self.marks, told.inks.now));
                }
                Part::End => return true,
            }
            self.done += 1;
            if is_late() {
                return matches!(self.part(told), Part::End);
            }
        }
    }
}
