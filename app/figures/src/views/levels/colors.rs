//! Colours of levels, of the rows of a running sweep, and of the colouring.

use ecolor::Color32;

use super::front::{Front, Share};
use crate::figure::ColorImage;
use crate::state::{Order, Theme};
use crate::theme::{Ink, series};

/// Rows that are done.
pub(super) const DONE: Color32 = Color32::from_rgb(86, 180, 233);
/// Rows being computed: also different in lightness.
pub(super) const NOW: Color32 = Color32::from_rgb(213, 94, 0);
/// Maximum number of colours of a colouring that use the palette; more use a continuous colour map.
pub(super) const FEW: usize = 8;

/// Opacity of a row's colour over its cells.
const OVER: f32 = 0.5;
/// The same for rows being computed.
const OVER_NOW: f32 = 0.85;

/// Meaning of the colours.
#[derive(Clone, Copy)]
pub struct Colors {
    /// Total number of levels, or of colours.
    pub(super) count: usize,
    order: Order,
    dark: bool,
    pub(super) ink: Ink,
}

impl Colors {
    pub(super) fn new(count: usize, order: Order, theme: Theme) -> Self {
        Self { count, order, dark: theme == Theme::Dark, ink: theme.ink() }
    }

    /// Returns whether each colour is distinct; levels use a continuous colour map.
    pub(super) fn are_apart(&self) -> bool {
        self.order == Order::Colors && self.count <= FEW
    }

    /// Colour of a level.
    pub(super) fn level(&self, level: u32) -> Color32 {
        if self.are_apart() {
            return series(level as usize);
        }
        let share = f64::from(level) / (self.count.saturating_sub(1).max(1) as f64);
        // The ends of the colour map must be visible against the background.
        let (from, to) = if self.dark { (0.2, 1.0) } else { (0.0, 0.93) };
        let color = colorous::VIRIDIS.eval_continuous(from + (to - from) * share);
        Color32::from_rgb(color.r, color.g, color.b)
    }

    /// Rows not yet computed.
    pub(super) fn waiting(&self) -> Color32 {
        self.ink.paper.lerp_to_gamma(self.ink.weak, 0.15)
    }

    /// The overlay on the cells of some rows: their median level, or the progress of the sweep in
    /// them. Distinct colours have no median.
    pub(super) fn over(
        &self,
        front: &Front<'_>,
        rows: &std::ops::Range<usize>,
        step: Option<usize>,
    ) -> Color32 {
        let Some(step) = step else {
            return match front.span(rows) {
                Some([least, _, greatest]) if self.are_apart() && least != greatest => {
                    Color32::TRANSPARENT
                }
                Some([_, median, _]) => self.level(median).gamma_multiply(OVER),
                None => Color32::TRANSPARENT,
            };
        };
        let Share { done, now } = front.share(rows, step);
        if now > 0.0 {
            // Even one row of a thousand must be visible.
            return NOW.gamma_multiply(OVER_NOW * (0.3 + 0.7 * now));
        }
        DONE.gamma_multiply(OVER * done)
    }

    /// The strip next to a line of pixels: minimum, median and maximum level side by side, or
    /// fractions of rows done, being computed, and waiting.
    pub(super) fn strip(
        &self,
        front: &Front<'_>,
        rows: &std::ops::Range<usize>,
        step: Option<usize>,
    ) -> [Color32; STRIP] {
        let Some(step) = step else {
            let span = front.span(rows).unwrap_or_default();
            let [least, median, greatest] = span.map(|level| self.level(level));
            let third = STRIP / 3;
            return std::array::from_fn(|place| match place / third {
                0 => least,
                1 => median,
                _ => greatest,
            });
        };
        let Share { done, now } = front.share(rows, step);
        let end = (done * STRIP as f32).round() as usize;
        // If a row is being computed, at least a twelfth of the strip shows it.
        let width = if now > 0.0 { (now * STRIP as f32).ceil().max(1.0) as usize } else { 0 };
        let end = end.min(STRIP - width);
        std::array::from_fn(|place| match place {
            of if of < end => DONE,
            of if of < end + width => NOW,
            _ => self.waiting(),
        })
    }
}

/// Segments of the strip next to the rows.
pub(super) const STRIP: usize = 12;

/// An image with a row for each line of pixels; transparent where the matrix has no row.
pub(super) fn column<const WIDTH: usize>(
    lines: &[Option<std::ops::Range<usize>>],
    mut colors: impl FnMut(&std::ops::Range<usize>) -> [Color32; WIDTH],
) -> ColorImage {
    let none = [Color32::TRANSPARENT; WIDTH];
    let pixels = lines.iter().flat_map(|rows| rows.as_ref().map_or(none, &mut colors)).collect();
    ColorImage::new([WIDTH, lines.len()], pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Spread;
    use crate::state::{ColorMap, Scale};
    use crate::views::spy::Shade;

    fn lightness(c: Color32) -> f32 {
        f32::from(c.r()) * 0.3 + f32::from(c.g()) * 0.6 + f32::from(c.b()) * 0.1
    }

    #[test]
    fn cells_stand_out_below_every_level_and_every_part_of_a_sweep_in_every_theme() {
        let spread = Spread { max: 50, quantiles: [1.0; 16] };
        for theme in Theme::ALL {
            let colors = Colors::new(100, Order::Forward, theme);
            let shade = Shade::new(Scale::Log, ColorMap::Ink, theme, spread);
            let levels = (0..100).map(|level| colors.level(level).gamma_multiply(OVER));
            for over in levels.chain([DONE.gamma_multiply(OVER), Color32::TRANSPARENT]) {
                let [cell, none] = [shade.color(1), shade.empty].map(|c| lightness(c.blend(over)));
                assert!((cell - none).abs() > 45.0, "{theme:?} {over:?}: {cell} on {none}");
            }
        }
    }

    #[test]
    fn done_now_and_waiting_differ_in_lightness_in_every_theme() {
        for theme in Theme::ALL {
            let waiting = Colors::new(9, Order::Forward, theme).waiting();
            let [done, now, waiting] = [DONE, NOW, waiting].map(lightness);
            for (one, other) in [(done, now), (now, waiting), (waiting, done)] {
                assert!((one - other).abs() > 35.0, "{theme:?}: {done}, {now}, {waiting}");
            }
        }
    }
}
