//! Figures at a size on paper.

use std::ops::RangeInclusive;

use crate::theme::BODY;

/// Widths of a figure on paper, in millimetres.
pub const WIDTH_MM: RangeInclusive<f32> = 20.0..=400.0;
/// Sizes of type on paper, in points.
pub const TYPE_PT: RangeInclusive<f32> = 4.0..=24.0;

/// Pixels per point of an image without a size on paper.
const PIXELS: f32 = 2.0;
/// Pixels per inch on paper.
const PER_INCH: f32 = 300.0;
/// The part of a PNG that says so: the chunk `pHYs`, in pixels per metre, with its checksum.
const RESOLUTION: [u8; 21] = *b"\0\0\0\x09pHYs\0\0\x2e\x23\0\0\x2e\x23\x01\x78\xa5\x3f\x76";
/// The parts of a PNG before it: the signature and the header.
const BEFORE: usize = 33;

/// Points in a millimetre.
const POINTS: f32 = 72.0 / 25.4;
/// Figures laid out in less width have no space for their contents.
const LEAST: f32 = 320.0;

/// The size of a figure on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Print {
    /// Width of the figure in millimetres.
    pub width_mm: f32,
    /// Size of its text in points, if the figure can be laid out for it.
    pub type_pt: f32,
}

impl Print {
    /// The width in which to lay out a figure so that its text has the size wanted once the figure has
    /// its width on paper.
    pub(crate) fn layout_width(self) -> f32 {
        (self.width_mm * POINTS * BODY / self.type_pt).max(LEAST)
    }

    /// Points on paper for each unit of a figure of this width.
    pub(super) fn points(self, width: f32) -> f32 {
        self.width_mm * POINTS / width.max(1.0)
    }

    /// The width and height of a figure on paper, in millimetres.
    pub(super) fn extent_mm(self, [width, height]: [f32; 2]) -> [f32; 2] {
        [self.width_mm, height * self.points(width) / POINTS]
    }
}

/// Pixels per point of the image of a figure of this width.
pub(super) fn scale_of(print: Option<Print>, width: f32) -> f32 {
    print.map_or(PIXELS, |print| print.points(width) / 72.0 * PER_INCH)
}

/// Writes into the PNG of a figure on paper that it has 300 pixels an inch.
pub fn set_resolution(png: &mut Vec<u8>) {
    if png.len() > BEFORE {
        png.splice(BEFORE..BEFORE, RESOLUTION);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_its_size_on_paper() {
        for (width_mm, type_pt) in [(85.0, 8.0), (170.0, 7.0), (120.0, 10.0)] {
            let print = Print { width_mm, type_pt };
            let printed = BODY * print.points(print.layout_width());
            assert!((printed - type_pt).abs() < 1e-3, "{printed} {print:?}");
        }
        // An inch at 72 points.
        assert!((Print { width_mm: 25.4, type_pt: 8.0 }.points(72.0) - 1.0).abs() < 1e-6);
        assert_eq!(Print { width_mm: 20.0, type_pt: 24.0 }.layout_width(), LEAST);
    }
}
