//! Pictures of matrices' structures as small textures: a few are made in a frame, then they are kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use egui::emath::GuiRounding as _;
use egui::{
    Color32, Context, Id, Rect, Stroke, StrokeKind, TextureHandle, TextureId, TextureOptions, Ui,
    Vec2, pos2,
};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::Theme;
use sparsescope_figures::theme::blend;
use sparsescope_figures::thumbs;

/// Tiles made in one frame.
const IN_A_FRAME: usize = 3;

/// Tiles kept.
const MOST: usize = 512;

/// Time until the next frame while tiles are missing.
const PAUSE: Duration = Duration::from_millis(20);

/// Edge of a tile in pixels, at least and at most.
const EDGE: [f32; 2] = [8.0, 512.0];

/// The tiles made so far, by key of the matrix and edge in pixels.
#[derive(Default)]
struct Kept {
    tiles: BTreeMap<(String, usize), Tile>,
    theme: Option<Theme>,
    revision: u64,
    frame: u64,
    made_in_frame: usize,
}

struct Tile {
    /// `None` if there is no picture of the matrix.
    texture: Option<TextureHandle>,
    /// The last frame that showed it.
    seen: u64,
}

/// Paints the structure of a matrix into the middle of `rect`, with an outline; a grey tile while it is not yet
/// made, and where there is no picture.
pub(crate) fn show(ui: &mut Ui, model: &Model, key: &str, rect: Rect, theme: Theme) {
    if !ui.is_rect_visible(rect) {
        return;
    }
    let pixels = ui.ctx().pixels_per_point();
    let [least, most] = EDGE;
    let edge = (rect.width().min(rect.height()) * pixels).floor().clamp(least, most);
    let kept = kept(ui.ctx());
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.begin(ui.ctx().cumulative_frame_nr(), model.revision(), theme);
    let texture = kept.texture(ui.ctx(), model, key, edge as usize);
    drop(kept);
    // Pixels of the picture are pixels of the screen.
    let size = Vec2::splat(edge / pixels);
    let corner = Rect::from_center_size(rect.center(), size).min.round_to_pixels(pixels);
    let tile = Rect::from_min_size(corner, size);
    let ink = theme.ink();
    if let Some(texture) = texture {
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(texture, tile, whole, Color32::WHITE);
    } else {
        ui.painter().rect_filled(tile, 0.0, blend(ink.paper, ink.grid, 0.5));
    }
    let outline = Stroke::new(1.0, ink.grid);
    ui.painter().rect_stroke(tile, 0.0, outline, StrokeKind::Outside);
}

fn kept(context: &Context) -> Arc<Mutex<Kept>> {
    let id = Id::unique("thumbnails");
    context.data_mut(|data| data.get_temp_mut_or_default::<Arc<Mutex<Kept>>>(id).clone())
}

impl Kept {
    /// Forgets what is no longer right, at the start of each frame.
    fn begin(&mut self, frame: u64, revision: u64, theme: Theme) {
        if self.frame != frame {
            (self.frame, self.made_in_frame) = (frame, 0);
        }
        if self.theme != Some(theme) {
            self.theme = Some(theme);
            self.tiles.clear();
        }
        if self.revision != revision {
            self.revision = revision;
            // A bundle that was opened since may have the picture.
            self.tiles.retain(|_, tile| tile.texture.is_some());
        }
    }

    /// The texture of a matrix; it is made now, or in a later frame if this one has made enough.
    fn texture(
        &mut self,
        context: &Context,
        model: &Model,
        key: &str,
        edge: usize,
    ) -> Option<TextureId> {
        let place = (key.to_owned(), edge);
        if let Some(tile) = self.tiles.get_mut(&place) {
            tile.seen = self.frame;
            return tile.texture.as_ref().map(TextureHandle::id);
        }
        if self.made_in_frame >= IN_A_FRAME {
            context.request_repaint_after(PAUSE);
            return None;
        }
        self.made_in_frame += 1;
        let texture = thumbs::of(model, key, edge, self.theme?).map(|image| {
            let image = Arc::unwrap_or_clone(image);
            let image = egui::ColorImage::new(image.size, image.pixels);
            context.load_texture("thumbnail", image, TextureOptions::NEAREST)
        });
        let id = texture.as_ref().map(TextureHandle::id);
        self.put(place, texture);
        id
    }

    /// Keeps a tile, in place of the one that was not seen for the longest time if there are too many.
    fn put(&mut self, place: (String, usize), texture: Option<TextureHandle>) {
        if self.tiles.len() >= MOST {
            let oldest = self.tiles.iter().min_by_key(|(_, tile)| tile.seen);
            if let Some(oldest) = oldest.map(|(place, _)| place.clone()) {
                self.tiles.remove(&oldest);
            }
        }
        self.tiles.insert(place, Tile { texture, seen: self.frame });
    }
}

#[cfg(test)]
mod tests {
    use egui::epaint::ClippedShape;
    use egui::{RawInput, Shape, ViewportId, vec2};
    use sparsescope_figures::state::Filter;

    use super::*;

    fn example() -> Model {
        let mut model = Model::default();
        model.open("mini.zip", include_bytes!("../../example/cpu.zip")).unwrap();
        model
    }

    /// Draws these tiles in a frame; the shapes, and the time until the next frame.
    fn drawn(
        context: &Context,
        model: &Model,
        keys: &[&str],
        theme: Theme,
    ) -> (Vec<ClippedShape>, Duration) {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(800.0, 600.0))),
            ..RawInput::default()
        };
        let mut drawn = context.run_ui(input, |ui| {
            for (number, key) in keys.iter().enumerate() {
                let corner = pos2(40.0 * number as f32, 0.0);
                let rect = Rect::from_min_size(corner, Vec2::splat(32.0));
                show(ui, model, key, rect, theme);
            }
        });
        drawn.textures_delta.clear();
        let delay = drawn.viewport_output[&ViewportId::ROOT].repaint_delay;
        (drawn.shapes, delay)
    }

    fn frame(context: &Context, model: &Model, keys: &[&str], theme: Theme) -> Duration {
        drawn(context, model, keys, theme).1
    }

    #[test]
    fn what_has_no_picture_is_a_grey_tile_of_the_same_size() {
        let (context, model) = (Context::default(), example());
        let key = model.matrices(&Filter::everything())[0].key;
        let sizes = |key: &str, theme: Theme, fill: Color32| -> Vec<Vec2> {
            let shapes = drawn(&context, &model, &[key], theme).0.into_iter();
            let rects = shapes.filter_map(|shape| match shape.shape {
                Shape::Rect(rect) => Some(rect),
                _ => None,
            });
            rects.filter(|rect| rect.fill == fill).map(|rect| rect.rect.size()).collect()
        };
        for theme in Theme::ALL {
            let ink = theme.ink();
            let grey = blend(ink.paper, ink.grid, 0.5);
            assert_eq!(sizes("unknown", theme, grey), [Vec2::splat(32.0)], "{theme:?}");
            assert!(sizes(key, theme, grey).is_empty(), "{theme:?}");
        }
    }

    fn count(context: &Context, has: impl Fn(&Tile) -> bool) -> usize {
        let kept = kept(context);
        let kept = kept.lock().unwrap();
        kept.tiles.values().filter(|tile| has(tile)).count()
    }

    #[test]
    fn a_frame_makes_a_few_and_the_next_ones_the_rest() {
        let (context, model) = (Context::default(), example());
        let matrices = model.matrices(&Filter::everything());
        let keys: Vec<&str> = matrices.iter().map(|matrix| matrix.key).collect();
        let all = keys.len();
        assert!(all > 2 * IN_A_FRAME);
        for number in 1..=all.div_ceil(IN_A_FRAME) {
            let until_next = frame(&context, &model, &keys, Theme::Light);
            let expected = all.min(number * IN_A_FRAME);
            assert_eq!(count(&context, |tile| tile.texture.is_some()), expected);
            if expected < all {
                assert!(until_next <= PAUSE, "{number}: {until_next:?}");
            }
        }
        for _ in 0..3 {
            frame(&context, &model, &keys, Theme::Light);
        }
        let until_next = frame(&context, &model, &keys, Theme::Light);
        assert!(until_next > Duration::from_secs(3600), "nothing is left to do");
        frame(&context, &model, &keys, Theme::Dark);
        assert_eq!(count(&context, |_| true), IN_A_FRAME, "those of the other theme are gone");
    }

    #[test]
    fn what_has_no_picture_is_asked_for_again_when_a_bundle_was_opened() {
        let (context, empty, model) = (Context::default(), Model::default(), example());
        let key = model.matrices(&Filter::everything())[0].key;
        frame(&context, &empty, &[key], Theme::Light);
        assert_eq!(count(&context, |tile| tile.texture.is_none()), 1);
        frame(&context, &model, &[key], Theme::Light);
        assert_eq!(count(&context, |tile| tile.texture.is_some()), 1);
    }

    #[test]
    fn the_tile_that_was_not_seen_for_the_longest_time_makes_room() {
        let mut kept = Kept::default();
        for number in 0..=MOST {
            kept.begin(number as u64, 0, Theme::Light);
            kept.put((number.to_string(), 32), None);
        }
        assert_eq!(kept.tiles.len(), MOST);
        assert!(!kept.tiles.contains_key(&("0".to_owned(), 32)));
        assert!(kept.tiles.contains_key(&("1".to_owned(), 32)));
    }
}
