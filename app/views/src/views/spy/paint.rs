//! The cells on screen.

use std::sync::Arc;

use egui::{Color32, Rect, TextureHandle, TextureId, TextureOptions, Ui, pos2};
use sparsescope_figures::figure::ColorImage;
#[cfg(any(feature = "gpu", feature = "webgl"))]
use sparsescope_figures::picture::Cells;
use sparsescope_figures::picture::Picture;
use sparsescope_figures::views::spy::scene::Scene;

#[cfg(any(feature = "gpu", feature = "webgl"))]
use super::gpu;

/// Paints the cells: with the GPU if possible, else as an image.
pub(in crate::views) fn paint_cells(
    ui: &Ui,
    picture: &Arc<Picture>,
    scene: &Scene<'_>,
    key: &str,
    rect: Rect,
    pixels: f32,
) {
    #[cfg(any(feature = "gpu", feature = "webgl"))]
    if let (Cells::Level(number, _), None) = (&scene.cells, &scene.other)
        && let Some(draw) = gpu::draw(ui.ctx())
    {
        let call = gpu::Call::new(picture, key, *number, &scene.place, &scene.shade, rect);
        ui.painter().add(draw(ui.ctx(), call));
        return;
    }
    let _ = (picture, key);
    let drawn = scene.image(pixels);
    paint_image(ui, "cells image", drawn, rect);
}

/// Paints an image, enlarged without smoothing; `name` must be unique here.
pub(in crate::views) fn paint_image(
    ui: &Ui,
    name: &str,
    image: impl Into<Arc<ColorImage>>,
    rect: Rect,
) {
    let texture = cached_texture(ui, name, image);
    let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    ui.painter().image(texture, rect, uv, Color32::WHITE);
}

/// The texture of an image, uploaded only if the image differs from the last of this name here.
fn cached_texture(ui: &Ui, name: &str, drawn: impl Into<Arc<ColorImage>>) -> TextureId {
    type Cached = (Arc<ColorImage>, TextureHandle);
    let id = ui.scope_id().with(name);
    let drawn = drawn.into();
    if let Some((last, texture)) = ui.data(|data| data.get_temp::<Cached>(id))
        && (Arc::ptr_eq(&last, &drawn) || last == drawn)
    {
        return texture.id();
    }
    let texture = ui.ctx().load_texture("cells", texels((*drawn).clone()), TextureOptions::NEAREST);
    let id_of = texture.id();
    ui.data_mut(|data| data.insert_temp(id, (drawn, texture)));
    id_of
}

/// Converts an image to egui's type.
pub(in crate::views) fn texels(image: ColorImage) -> egui::ColorImage {
    egui::ColorImage::new(image.size, image.pixels)
}
