//! The cells drawn by the GPU. The counts of a matrix are uploaded once, as tiles in the layers of two
//! textures; moving, zooming and recolouring change a few uniforms. The window draws them with wgpu, the page
//! with WebGL.

#[cfg(feature = "gpu")]
pub mod native;
#[cfg(feature = "webgl")]
pub mod webgl;

use std::sync::Arc;

use egui::{Color32, Context, Id, PaintCallbackInfo, Rect, Shape};
use sparsescope_figures::picture::Picture;
use sparsescope_figures::state::Scale;
use sparsescope_figures::views::spy::Place;
use sparsescope_figures::views::spy::shade::Shade;

/// Number of matrices whose counts stay on the GPU.
const KEPT: usize = 3;
/// Maximum number of tiles along an edge of the finest level.
const TABLE: u32 = 16;

/// The installed drawing function.
type Draw = fn(&Context, Call) -> Shape;

fn installed_id() -> Id {
    Id::unique("sparsescope cells on the adapter")
}

/// Installs the drawing function.
fn installed(context: &Context, draw: Draw) {
    context.data_mut(|data| data.insert_temp(installed_id(), draw));
}

/// The installed drawing function, if any.
pub(super) fn draw(context: &Context) -> Option<Draw> {
    context.data(|data| data.get_temp(installed_id()))
}

/// As in `spy.wgsl` and `spy.frag.glsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    first: [f32; 2],
    shown: [f32; 2],
    cells: [f32; 2],
    table_row: u32,
    coarse: u32,
    scale: u32,
    linear_output: u32,
    max: f32,
    unused: f32,
    quantiles: [f32; 16],
    stops: [[f32; 4]; 16],
    empty: [f32; 4],
}

impl Uniforms {
    /// Restricts the uniforms to the visible part of a picture in this area. The renderer clips the viewport
    /// to the screen, and the drawing fills the viewport.
    fn seen(mut self, area: Rect, screen_size_px: [u32; 2], pixels: f32) -> Self {
        let info = PaintCallbackInfo {
            viewport: area,
            clip_rect: area,
            pixels_per_point: pixels,
            screen_size_px,
        };
        let viewport = info.viewport_in_pixels();
        let ends = |from: f32, to: f32| ((from * pixels).round(), (to * pixels).round());
        let part = |(from, to): (f32, f32), start: i32, length: i32| {
            let whole = (to - from).max(1.0);
            ((start as f32 - from) / whole, length as f32 / whole)
        };
        let x = part(ends(area.left(), area.right()), viewport.left_px, viewport.width_px);
        let y = part(ends(area.top(), area.bottom()), viewport.top_px, viewport.height_px);
        for (axis, (start, share)) in [x, y].into_iter().enumerate() {
            if let (Some(first), Some(shown)) = (self.first.get_mut(axis), self.shown.get_mut(axis))
            {
                *first += start * *shown;
                *shown *= share;
            }
        }
        self
    }
}

/// One picture to draw.
pub(super) struct Call {
    picture: Arc<Picture>,
    key: String,
    uniforms: Uniforms,
    /// Where it is drawn, in points: the whole area, including what extends beyond the window.
    area: Rect,
}

impl Call {
    /// The level with this number, at this place, in these colours, on a part of the screen.
    pub(super) fn new(
        picture: &Arc<Picture>,
        key: &str,
        number: usize,
        place: &Place,
        shade: &Shade,
        area: Rect,
    ) -> Self {
        let level = picture.pyramid.levels().get(number);
        let (rows, cols, shift) =
            level.map_or((0, 0, 0), |level| (level.rows(), level.cols(), level.shift()));
        let side = (1_u64 << shift) as f64;
        let (row, col) = place.origin();
        let (rows_per_point, cols_per_point) = place.per_point_each();
        let size = place.area.size();
        let color = |color: Color32| color.to_normalized_gamma_f32();
        let uniforms = Uniforms {
            first: [(col / side) as f32, (row / side) as f32],
            shown: [
                (cols_per_point * f64::from(size.x) / side) as f32,
                (rows_per_point * f64::from(size.y) / side) as f32,
            ],
            // The last cell may extend beyond the matrix; the matrix ends at its own size.
            cells: [
                (picture.pyramid.cols() as f64 / side).min(cols as f64) as f32,
                (picture.pyramid.rows() as f64 / side).min(rows as f64) as f32,
            ],
            table_row: number as u32 * TABLE,
            coarse: u32::from(number > 0),
            scale: match shade.scale {
                Scale::Log => 0,
                Scale::Linear => 1,
                Scale::Percentile => 2,
            },
            linear_output: 0,
            max: shade.max,
            unused: 0.0,
            quantiles: shade.quantiles,
            stops: shade.stops.map(color),
            empty: color(shade.empty),
        };
        Self { picture: picture.clone(), key: key.into(), uniforms, area }
    }
}

/// The tiles of a picture that hold nonzeros, and the layer of each.
struct Tiles<'a> {
    /// Counts of the finest level's tiles, and of all coarser levels', each in the layer of its index.
    counts: [Vec<&'a [u64]>; 2],
    /// For every level, `TABLE` lines of `TABLE` entries: the tile's layer, from 1; 0 for a tile without
    /// nonzeros.
    table: Vec<u32>,
}

impl<'a> Tiles<'a> {
    fn of(picture: &'a Picture) -> Self {
        let levels = picture.pyramid.levels();
        let mut counts = [Vec::new(), Vec::new()];
        let mut table = vec![0_u32; (TABLE * TABLE) as usize * levels.len()];
        for (number, level) in levels.iter().enumerate() {
            let [finest, coarser] = &mut counts;
            let to = if number == 0 { finest } else { coarser };
            for ((tile_row, tile_col), counts) in level.tiles() {
                to.push(counts);
                let place = (number * TABLE as usize + tile_row) * TABLE as usize + tile_col;
                if let Some(entry) = table.get_mut(place) {
                    *entry = to.len() as u32;
                }
            }
        }
        Self { counts, table }
    }

    /// Number of lines of the table.
    fn lines(&self) -> u32 {
        self.table.len() as u32 / TABLE
    }
}

/// The counts of a tile as texels.
fn texels(counts: &[u64]) -> Vec<f32> {
    counts.iter().map(|&count| count as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First cell and cells shown of 100 by 100 cells drawn into this area of 800 by 600 points.
    fn seen(area: Rect, pixels_per_point: f32) -> ([f32; 2], [f32; 2]) {
        let uniforms = Uniforms { shown: [100.0; 2], ..bytemuck::Zeroable::zeroed() };
        let size_in_pixels = [800.0, 600.0].map(|side| (side * pixels_per_point) as u32);
        let seen = uniforms.seen(area, size_in_pixels, pixels_per_point);
        let near = |cells: [f32; 2]| cells.map(|cells| (cells * 1e3).round() / 1e3);
        (near(seen.first), near(seen.shown))
    }

    #[test]
    fn what_hangs_over_an_edge_is_cut_off_not_squashed() {
        let rect = |x: f32, y: f32, width: f32, height: f32| {
            Rect::from_min_size(egui::pos2(x, y), egui::vec2(width, height))
        };
        for pixels in [1.0, 1.5, 2.0] {
            let inside = seen(rect(100.0, 100.0, 400.0, 400.0), pixels);
            assert_eq!(inside, ([0.0, 0.0], [100.0, 100.0]));
            let below = seen(rect(100.0, 500.0, 400.0, 400.0), pixels);
            assert_eq!(below, ([0.0, 0.0], [100.0, 25.0]));
            let above = seen(rect(100.0, -100.0, 400.0, 400.0), pixels);
            assert_eq!(above, ([0.0, 25.0], [100.0, 75.0]));
            let left = seen(rect(-200.0, 0.0, 400.0, 400.0), pixels);
            assert_eq!(left, ([50.0, 0.0], [50.0, 100.0]));
            let right = seen(rect(600.0, 0.0, 400.0, 400.0), pixels);
            assert_eq!(right, ([0.0, 0.0], [50.0, 100.0]));
            let both = seen(rect(0.0, -200.0, 800.0, 1000.0), pixels);
            assert_eq!(both, ([0.0, 20.0], [100.0, 60.0]));
            let wide = seen(rect(-800.0, 0.0, 4000.0, 100.0), pixels);
            assert_eq!(wide, ([20.0, 0.0], [20.0, 100.0]));
        }
    }
}
