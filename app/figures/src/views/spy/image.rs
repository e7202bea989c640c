//! The cells in view as an image, computed without a GPU: for saved figures, for windows finer than
//! the pyramid, and for machines without one.

use ecolor::Color32;

use super::place::Place;
use crate::figure::ColorImage;

/// Paints the cells of 2^shift rows and columns in view, with `pixels_per_point` pixels per point.
/// `colors_of` returns the colours of a row of cells, starting at a column of cells. Outside the
/// matrix the image is transparent.
pub(super) fn paint(
    shift: u32,
    place: &Place,
    pixels_per_point: f32,
    mut colors_of: impl FnMut(usize, usize, &mut [Color32]),
) -> ColorImage {
    let size = place.area.size() * pixels_per_point;
    let (width, height) = (size.x.round().max(1.0) as usize, size.y.round().max(1.0) as usize);
    let scale = 1.0 / (f64::from(1 << shift.min(30)));
    let per_pixel = |per_point: f64| per_point / f64::from(pixels_per_point);
    let (row, col) = place.origin();
    let (rows_per_point, cols_per_point) = place.per_point_each();
    let lines = axis(row, per_pixel(rows_per_point), height, place.rows().end, scale);
    let columns = axis(col, per_pixel(cols_per_point), width, place.cols().end, scale);
    let mut pixels = vec![Color32::TRANSPARENT; width * height];
    let inside = || columns.iter().flatten().copied();
    let (Some(first), Some(last)) = (inside().min(), inside().max()) else {
        return ColorImage::new([width, height], pixels);
    };
    let mut colors = vec![Color32::TRANSPARENT; last - first + 1];
    let mut current = None;
    for (line, to) in lines.iter().zip(pixels.chunks_exact_mut(width)) {
        let Some(line) = line else { continue };
        if current != Some(line) {
            colors_of(*line, first, &mut colors);
            current = Some(line);
        }
        for (column, to) in columns.iter().zip(to) {
            if let Some(color) = column.and_then(|column| colors.get(column - first)) {
                *to = *color;
            }
        }
    }
    ColorImage::new([width, height], pixels)
}

/// The cell at the centre of each pixel; `None` outside the matrix.
fn axis(first: f64, per_pixel: f64, pixels: usize, end: usize, scale: f64) -> Vec<Option<usize>> {
    let middle = |pixel: usize| first + (pixel as f64 + 0.5) * per_pixel;
    let inside = |at: &f64| *at >= 0.0 && *at < end as f64;
    (0..pixels).map(|p| Some(middle(p)).filter(inside).map(|at| (at * scale) as usize)).collect()
}
