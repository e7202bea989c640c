//! Points as pixels: so many of them are drawn that shapes would take longer than a frame has.

use egui::{Color32, ColorImage, Pos2, Rect, vec2};
use sparsescope_core::skyline::{Axis, PointsPicture};

use super::look::{Inks, Look, Looks};
use super::plot::{Plot, point};
use crate::figure::Mark;

/// With more points than this, no two are drawn in the same pixel.
const MANY: usize = 2000;

/// A part of a figure as an image.
pub(super) struct Canvas {
    image: ColorImage,
    area: Rect,
    pixels: f32,
    /// The looks of which a point lies in a pixel, where there are many; a bit each.
    taken: Vec<u8>,
}

/// The pixels of a mark around its middle, with how much of each is covered.
struct Stamp(Vec<(i32, i32, f32)>);

impl Stamp {
    /// Of this radius in pixels; a hollow one with a line of so many pixels.
    fn new(mark: Mark, radius: f32, line: Option<f32>) -> Self {
        let reach = (radius * 1.3).ceil() as i32 + 1;
        let distance = |x: f32, y: f32| match mark {
            Mark::Diamond => (x.abs() + y.abs()) * std::f32::consts::FRAC_1_SQRT_2 * 1.18,
            Mark::Square => x.abs().max(y.abs()) * 1.18,
            _ => vec2(x, y).length(),
        };
        let cover = |x: i32, y: i32| {
            let beyond = distance(x as f32, y as f32) - radius;
            let filled = (0.5 - beyond).clamp(0.0, 1.0);
            let hollow = line.map_or(0.0, |line| (0.5 - beyond - line).clamp(0.0, 1.0));
            filled - hollow
        };
        let all = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y)));
        let covered = all.map(|(x, y)| (x, y, cover(x, y)));
        Self(covered.filter(|(.., cover)| *cover > 0.02).collect())
    }
}

/// Radius of a dropped point, in points, where so many are drawn.
pub(super) fn radius(drawn: usize) -> f32 {
    match drawn {
        0..=60 => 4.0,
        61..=500 => 3.0,
        501..=5000 => 2.0,
        5001..=30_000 => 1.4,
        _ => 1.0,
    }
}

impl Canvas {
    /// A transparent one of so many pixels a point.
    pub(super) fn new(area: Rect, pixels: f32) -> Self {
        let size = area.size() * pixels;
        let [width, height] =
            [size.x, size.y].map(|side| side.round().clamp(1.0, 16_384.0) as usize);
        let image = ColorImage::filled([width, height], Color32::TRANSPARENT);
        Self { image, area, pixels, taken: Vec::new() }
    }

    pub(super) fn image(self) -> ColorImage {
        self.image
    }

    /// The pixels of a part of the figure: first and end of columns, then of rows.
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

    /// How densely all points of the set lie.
    pub(super) fn density(
        &mut self,
        plot: &Plot,
        picture: &PointsPicture,
        [x, y]: [usize; 2],
        inks: &Inks,
    ) {
        let Some(density) = picture.density(x.min(y), x.max(y)) else { return };
        let (Some(along), Some(up)) = (picture.axes.get(x), picture.axes.get(y)) else { return };
        let most = density.counts.iter().copied().max().unwrap_or(0);
        let scale = 1.0 / (most as f32).ln_1p().max(1.0);
        let [columns, rows] = self.span(plot.area());
        let middle = |pixel: i32, from: f32| from + (pixel as f32 + 0.5) / self.pixels;
        let corner = self.area.min;
        let cell = |axis: &Axis, value: f64| {
            let inside = (f64::from(axis.least)..=f64::from(axis.greatest)).contains(&value);
            inside.then(|| axis.cell(value as f32, density.cells))
        };
        let at = |x: f32, y: f32| plot.values(egui::pos2(x, y));
        let columns: Vec<(i32, Option<usize>)> = (columns[0]..columns[1])
            .map(|pixel| (pixel, cell(along, at(middle(pixel, corner.x), corner.y)[0])))
            .collect();
        for row in rows[0]..rows[1] {
            let Some(above) = cell(up, at(corner.x, middle(row, corner.y))[1]) else { continue };
            for (column, right) in &columns {
                let Some(right) = *right else { continue };
                // The density's first dimension is the lower one.
                let (first, second) = if x <= y { (right, above) } else { (above, right) };
                let count = density.counts.get(second * density.cells + first).copied();
                let place = self.index(*column, row);
                if let (Some(count @ 1..), Some(pixel)) = (count, self.image.pixels.get_mut(place))
                {
                    *pixel = inks.density((count as f32).ln_1p() * scale);
                }
            }
        }
    }

    /// The points, or every `step`-th of them; `radius` points is the radius of a dropped one.
    pub(super) fn dots(
        &mut self,
        plot: &Plot,
        picture: &PointsPicture,
        axes: [usize; 2],
        (looks, step): (&Looks, usize),
        (inks, radius): (&Inks, f32),
    ) {
        let span = self.span(plot.area());
        let radius = (radius * self.pixels).max(0.6);
        if looks.drawn > MANY && self.taken.is_empty() {
            self.taken = vec![0; self.image.pixels.len()];
        }
        for look in looks.drawn_as.iter().copied() {
            let (mark, times, filled) = look.form();
            let stamp = Stamp::new(mark, radius * times, (!filled).then_some(self.pixels * 1.1));
            let (color, bit) = (inks.of(look), 1 << look as u8);
            // The one at work is never left out.
            let step = if look == Look::Now { 1 } else { step.max(1) };
            let places = (0..looks.end).step_by(step).filter(|place| looks.at(*place) == look);
            for at in places.filter_map(|place| point(picture, axes, place)) {
                self.stamp(plot.at(at), &stamp, color, span, bit);
            }
        }
        let ring = Stamp::new(Mark::Circle, radius * 2.0, Some(self.pixels * 1.3));
        for place in &looks.compared {
            let at = point(picture, axes, *place).filter(|_| looks.at(*place) != Look::Hidden);
            if let Some(at) = at {
                self.stamp(plot.at(at), &ring, inks.now, span, 0);
            }
        }
    }

    fn stamp(
        &mut self,
        at: Pos2,
        stamp: &Stamp,
        color: Color32,
        [columns, rows]: [[i32; 2]; 2],
        bit: u8,
    ) {
        let pixel = (at - self.area.min) * self.pixels;
        let (x, y) = (pixel.x.floor() as i32, pixel.y.floor() as i32);
        let inside =
            |x: i32, y: i32| x >= columns[0] && x < columns[1] && y >= rows[0] && y < rows[1];
        if !inside(x, y) {
            return;
        }
        let place = self.index(x, y);
        if let Some(taken) = self.taken.get_mut(place) {
            if *taken & bit != 0 {
                return;
            }
            *taken |= bit;
        }
        for (dx, dy, cover) in &stamp.0 {
            let (x, y) = (x + dx, y + dy);
            let place = self.index(x, y);
            if let Some(pixel) = self.image.pixels.get_mut(place).filter(|_| inside(x, y)) {
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
    use egui::pos2;
    use sparsescope_core::skyline::Density;

    use super::*;
    use crate::state::{SkylineState, Theme};

    /// A point that is kept at the right, one that it dominates below it, and most points of the set
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
        canvas.density(&plot, &picture, axes, &inks);
        let looks = Looks::new(&picture, None, state);
        canvas.dots(&plot, &picture, axes, (&looks, 1), (&inks, 3.0));
        (canvas.image(), plot)
    }

    fn color(image: &ColorImage, plot: &Plot, at: [f32; 2]) -> Color32 {
        let from = (plot.at(at) - plot.area().min) * 2.0;
        image[(from.x as usize, from.y as usize)]
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
