//! Points as pixels, for point sets so large that shapes would take longer than a frame.

use std::ops::Range;

use ecolor::Color32;
use emath::Rect;
use sparsescope_core::skyline::{Axis, PointsPicture};

use super::look::{Inks, Look, Looks};
use super::marks::{Marks, Stamp};
use super::plot::{Plot, point};
use crate::figure::ColorImage;

/// With more points than this, no two shapes are drawn in the same pixel.
const MANY: usize = 2000;
/// Colours of density cells up to this count are precomputed.
const USUAL: u32 = 1024;

/// A part of a figure as an image.
pub(super) struct Canvas {
    image: ColorImage,
    area: Rect,
    pixels: f32,
    /// Bit set of the looks of points in each pixel, if there are many points.
    taken: Vec<u8>,
}

/// The area where marks are drawn, and their look.
struct Within {
    columns: [i32; 2],
    rows: [i32; 2],
    bit: u8,
}

impl Within {
    fn holds(&self, x: i32, y: i32) -> bool {
        x >= self.columns[0] && x < self.columns[1] && y >= self.rows[0] && y < self.rows[1]
    }
}

impl Canvas {
    /// A transparent canvas with this number of pixels per point.
    pub(super) fn new(area: Rect, pixels: f32) -> Self {
        let size = area.size() * pixels;
        let [width, height] =
            [size.x, size.y].map(|side| side.round().clamp(1.0, 16_384.0) as usize);
        let image = ColorImage::filled([width, height], Color32::TRANSPARENT);
        Self { image, area, pixels, taken: Vec::new() }
    }

    /// Rows of pixels.
    pub(super) fn height(&self) -> usize {
        let [_, height] = self.image.size;
        height
    }

    pub(super) fn image(self) -> ColorImage {
        self.image
    }

    /// The pixels of a part of the figure: half-open ranges of columns, then of rows.
    fn span(&self, part: Rect) -> [[i32; 2]; 2] {
        let [width, height] = self.image.size.map(|side| side as i32);
        let pixel = |at: f32, from: f32| ((at - from) * self.pixels).round() as i32;
        let (min, corner) = (part.min, self.area.min);
        let (left, top) = (pixel(min.x, corner.x), pixel(min.y, corner.y));
        let (right, bottom) = (pixel(part.max.x, corner.x), pixel(part.max.y, corner.y));
        [[left.max(0), right.min(width)], [top.max(0), bottom.min(height)]]
    }

    fn index(&self, x: i32, y: i32) -> usize {
        let [width, _] = self.image.size;
        y.max(0) as usize * width + x.max(0) as usize
    }

    /// Draws the density of all points of the set in these rows of pixels.
    pub(super) fn density(
        &mut self,
        plot: &Plot,
        picture: &PointsPicture,
        [x, y]: [usize; 2],
        (inks, drawn): (&Inks, Range<usize>),
    ) {
        let Some(density) = picture.density(x.min(y), x.max(y)) else { return };
        let (Some(along), Some(up)) = (picture.axes.get(x), picture.axes.get(y)) else { return };
        let most = density.counts.iter().copied().max().unwrap_or(0);
        let scale = 1.0 / (most as f32).ln_1p().max(1.0);
        let shade = |count: u32| match count {
            0 => Color32::TRANSPARENT,
            _ => inks.density((count as f32).ln_1p() * scale),
        };
        let usual: Vec<Color32> = (0..=most.min(USUAL)).map(shade).collect();
        let [columns, rows] = self.span(plot.area());
        let rows = rows[0].max(drawn.start as i32)..rows[1].min(drawn.end as i32);
        let middle = |pixel: i32, from: f32| from + (pixel as f32 + 0.5) / self.pixels;
        let corner = self.area.min;
        let cell = |axis: &Axis, value: f64| {
            let inside = (f64::from(axis.least)..=f64::from(axis.greatest)).contains(&value);
            inside.then(|| axis.cell(value as f32, density.cells))
        };
        let at = |x: f32, y: f32| plot.values(emath::pos2(x, y));
        let right: Vec<Option<usize>> = (columns[0]..columns[1])
            .map(|pixel| cell(along, at(middle(pixel, corner.x), corner.y)[0]))
            .collect();
        let mut last = None;
        for row in rows {
            let above = cell(up, at(corner.x, middle(row, corner.y))[1]);
            let start = self.index(columns[0], row);
            // Most rows equal the previous one.
            if let Some((before, other)) = last
                && other == above
            {
                self.image.pixels.copy_within(before..before + right.len(), start);
            } else if let Some(above) = above {
                // The first dimension of the density has the lower number.
                let [by, from] =
                    if x <= y { [1, above * density.cells] } else { [density.cells, above] };
                let (mut cell, mut color) = (None, Color32::TRANSPARENT);
                let pixels = self.image.pixels.iter_mut().skip(start);
                for (pixel, right) in pixels.zip(&right) {
                    if cell != *right {
                        cell = *right;
                        let count = cell.and_then(|cell| density.counts.get(from + cell * by));
                        let count = count.copied().unwrap_or(0);
                        let known = usual.get(count as usize).copied();
                        color = known.unwrap_or_else(|| shade(count));
                    }
                    *pixel = color;
                }
            }
            last = Some((start, above));
        }
    }

    /// Draws the points with a look in this range, or every `step`-th of them.
    pub(super) fn dots(
        &mut self,
        plot: &Plot,
        picture: &PointsPicture,
        axes: [usize; 2],
        (looks, look, places, step): (&Looks, Look, Range<usize>, usize),
        (marks, color): (Marks, Color32),
    ) {
        let stamp = marks.stamp(look, self.pixels);
        let within = self.within(plot, 1 << look as u8);
        if looks.drawn > MANY && !stamp.is_small && self.taken.is_empty() {
            self.taken = vec![0; self.image.pixels.len()];
        }
        // Never skip the current point.
        let step = if look == Look::Now { 1 } else { step.max(1) };
        let values = |axis: usize| picture.axes.get(axis).map_or(&[][..], |axis| &axis.values[..]);
        let [along, up] = axes.map(values);
        let scale = plot.scale(self.area.min, self.pixels);
        for place in (places.start.next_multiple_of(step)..places.end).step_by(step) {
            if looks.at(place) == look
                && let (Some(x), Some(y)) = (along.get(place), up.get(place))
            {
                self.stamp(scale.pixel([*x, *y]), &stamp, color, &within);
            }
        }
    }

    /// Draws rings around the points that are being compared.
    pub(super) fn rings(
        &mut self,
        plot: &Plot,
        picture: &PointsPicture,
        axes: [usize; 2],
        looks: &Looks,
        (marks, color): (Marks, Color32),
    ) {
        let ring = marks.ring(self.pixels);
        let within = self.within(plot, 0);
        let scale = plot.scale(self.area.min, self.pixels);
        for place in &looks.compared {
            let at = point(picture, axes, *place).filter(|_| looks.at(*place) != Look::Hidden);
            if let Some(at) = at {
                self.stamp(scale.pixel(at), &ring, color, &within);
            }
        }
    }

    fn within(&self, plot: &Plot, bit: u8) -> Within {
        let [columns, rows] = self.span(plot.area());
        Within { columns, rows, bit }
    }

    fn stamp(&mut self, [x, y]: [i32; 2], stamp: &Stamp, color: Color32, within: &Within) {
        if !within.holds(x, y) {
            return;
        }
        let place = self.index(x, y);
        if let Some(taken) = self.taken.get_mut(place).filter(|_| !stamp.is_small) {
            if *taken & within.bit != 0 {
                return;
            }
            *taken |= within.bit;
        }
        for (dx, dy, cover) in &stamp.pixels {
            let (x, y) = (x.saturating_add(*dx), y.saturating_add(*dy));
            let place = self.index(x, y);
            if let Some(pixel) = self.image.pixels.get_mut(place).filter(|_| within.holds(x, y)) {
                *pixel = match *cover {
                    cover if cover >= 0.999 => color,
                    cover => pixel.blend(color.gamma_multiply(cover)),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use emath::{pos2, vec2};
    use sparsescope_core::skyline::Density;

    use super::*;
    use crate::state::{SkylineState, Theme};

    /// A skyline point on the right, a point below it that it dominates, and most points of the set
    /// at the lower right.
    fn picture() -> PointsPicture {
        let axis = |values: [f32; 2]| Axis { least: 0.0, greatest: 1.0, values: values.to_vec() };
        let mut counts = vec![0; 16];
        counts[3] = 100; // at the end of the first dimension
        PointsPicture {
            points: 100,
            dimensions: 2,
            kept: 1,
            clamped: 0,
            indices: vec![7, 9],
            dominators: vec![0, 0],
            axes: vec![axis([0.75, 0.75]), axis([0.75, 0.5])],
            densities: vec![Density { cells: 4, counts }],
        }
    }

    fn drawn(axes: [usize; 2], state: &SkylineState) -> (ColorImage, Plot) {
        let (area, picture) =
            (Rect::from_min_size(pos2(10.0, 20.0), vec2(100.0, 200.0)), picture());
        let plot = Plot::new(area, &picture, axes, None);
        let inks = Inks::new(Theme::Light);
        let mut canvas = Canvas::new(area, 2.0);
        canvas.density(&plot, &picture, axes, (&inks, 0..canvas.height()));
        let looks = Looks::new(&picture, None, state);
        for look in looks.drawn_as.iter().copied() {
            let marks = (Marks::Shapes(3.0), inks.of(look));
            canvas.dots(&plot, &picture, axes, (&looks, look, 0..looks.end, 1), marks);
        }
        (canvas.image(), plot)
    }

    fn color(image: &ColorImage, plot: &Plot, at: [f32; 2]) -> Color32 {
        let from = (plot.at(at) - plot.area().min) * 2.0;
        image.pixels[from.y as usize * image.size[0] + from.x as usize]
    }

    #[test]
    fn points_lie_where_the_plot_says_and_densities_whichever_way_round() {
        let inks = Inks::new(Theme::Light);
        let (all, without) =
            (SkylineState::default(), SkylineState { dropped: false, ..SkylineState::default() });
        for (axes, turn) in [([0, 1], false), ([1, 0], true)] {
            let (image, plot) = drawn(axes, &all);
            assert_eq!(image.size, [200, 400]);
            let at = |x: f32, y: f32| color(&image, &plot, if turn { [y, x] } else { [x, y] });
            assert_eq!(at(0.75, 0.75), inks.of(Look::Kept));
            assert_eq!(at(0.75, 0.5), inks.of(Look::Dropped));
            assert_eq!(at(0.9, 0.1), inks.density(1.0), "{axes:?}");
            for empty in [at(0.1, 0.1), at(0.1, 0.9), at(0.9, 0.9)] {
                assert_eq!(empty, Color32::TRANSPARENT);
            }
            let (image, plot) = drawn(axes, &without);
            let hidden = if turn { [0.5, 0.75] } else { [0.75, 0.5] };
            assert_eq!(color(&image, &plot, hidden), Color32::TRANSPARENT);
        }
    }

    #[test]
    fn kept_dropped_waiting_and_at_work_differ_in_shape() {
        let forms = Look::DRAWN.map(Look::form);
        for (k, (mark, _, filled)) in forms.iter().enumerate() {
            for (other, _, is) in forms.iter().skip(k + 1) {
                assert!(mark != other || filled != is);
            }
        }
    }
}
