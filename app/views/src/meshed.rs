//! A figure with thousands of shapes, drawn from a mesh: it is made once, so that pointing at the figure
//! does not make it again.

use std::sync::Arc;

use egui::epaint::{ClippedShape, Primitive};
use egui::mutex::Mutex;
use egui::{Context, Mesh, Painter, Pos2, Rect, Ui};
use sparsescope_figures::figure::{Figure, Shape};

use crate::paint::{Answer, Paint, paint_shapes, show_with};

/// Figures with fewer shapes are drawn without a mesh.
const LEAST: usize = 1000;

/// Where a mesh is and on what it depends: corner, visible part, pixels per point, size of the texture
/// with its discs.
type Place = (Pos2, Rect, f32, [usize; 2]);

/// A figure with its mesh.
pub(crate) struct Meshed {
    pub(crate) figure: Figure,
    made: Mutex<Option<(Place, Vec<Arc<Mesh>>)>>,
}

impl From<Figure> for Meshed {
    fn from(figure: Figure) -> Self {
        Self { figure, made: Mutex::default() }
    }
}

impl Paint for Meshed {
    fn show_and_tell(&self, ui: &mut Ui, name: &str) -> Answer {
        show_with(&self.figure, ui, name, |painter, corner| self.paint(painter, corner))
    }

    fn paint(&self, painter: &Painter, corner: Pos2) {
        if self.figure.shapes.len() < LEAST {
            return self.figure.paint(painter, corner);
        }
        let context = painter.ctx();
        let texture = context.fonts(|fonts| fonts.font_image_size());
        let place = (corner, painter.clip_rect(), context.pixels_per_point(), texture);
        let known = self.made.lock().clone().filter(|(of, _)| *of == place);
        // The places of letters in the texture change: texts are not part of the mesh.
        let (texts, others): (Vec<&Shape>, Vec<&Shape>) =
            self.figure.shapes.iter().partition(|shape| is_text(shape));
        match known {
            Some((_, meshes)) => painter.extend(meshes.into_iter().map(egui::Shape::Mesh)),
            None => {
                let before = count(painter);
                paint_shapes(others.into_iter(), painter, corner);
                *self.made.lock() = Some((place, meshes(context, painted(painter, before))));
            }
        }
        paint_shapes(texts.into_iter(), painter, corner);
    }
}

fn is_text(shape: &Shape) -> bool {
    matches!(shape, Shape::Text { .. } | Shape::Turned { .. })
}

/// The number of shapes in the painter's layer.
fn count(painter: &Painter) -> usize {
    painter.ctx().graphics(|graphics| {
        graphics.get(painter.layer_id()).map_or(0, |list| list.all_entries().len())
    })
}

/// The shapes in the painter's layer after these.
fn painted(painter: &Painter, before: usize) -> Vec<ClippedShape> {
    painter.ctx().graphics(|graphics| {
        let list = graphics.get(painter.layer_id());
        list.map_or_else(Vec::new, |list| list.all_entries().skip(before).cloned().collect())
    })
}

fn meshes(context: &Context, shapes: Vec<ClippedShape>) -> Vec<Arc<Mesh>> {
    let made = context.tessellate(shapes, context.pixels_per_point());
    let mesh = |primitive: Primitive| match primitive {
        Primitive::Mesh(mesh) => Some(Arc::new(mesh)),
        Primitive::Callback(_) => None,
    };
    made.into_iter().filter_map(|clipped| mesh(clipped.primitive)).collect()
}

#[cfg(test)]
mod tests {
    use egui::{Color32, RawInput, pos2, vec2};
    use sparsescope_figures::figure::{Anchor, Mark};

    use super::*;

    /// The shapes painted in a frame with the figure's corner here, and their triangles.
    fn drawn(context: &Context, meshed: &Meshed, corner: Pos2) -> (usize, usize) {
        let size = vec2(400.0, 400.0);
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, size));
        let mut output = context.run_ui(RawInput { screen_rect, ..RawInput::default() }, |ui| {
            meshed.paint(ui.painter(), corner);
        });
        output.textures_delta.clear();
        let shapes = std::mem::take(&mut output.shapes);
        let count = shapes.len();
        (count, meshes(context, shapes).iter().map(|mesh| mesh.indices.len()).sum())
    }

    #[test]
    fn the_mesh_is_made_once_and_again_where_the_figure_has_moved() {
        let mut figure = Figure::new(vec2(400.0, 400.0), Color32::WHITE);
        for k in 0..LEAST {
            let at = pos2((k % 40) as f32 * 9.0, (k / 40) as f32 * 9.0);
            figure.mark(at, Mark::ALL[k % 8], 4.0, Color32::RED, Color32::BLACK);
        }
        figure.text(pos2(9.0, 9.0), Anchor::Start, 12.0, Color32::BLACK, "text");
        let (meshed, context) = (Meshed::from(figure), Context::default());
        let corner = pos2(10.0, 10.0);
        // The text may enlarge the texture.
        let frames = [(); 3].map(|()| drawn(&context, &meshed, corner));
        let [(first, triangles), _, (last, same)] = frames;
        assert!(first > LEAST && last < 10, "{frames:?}");
        assert_eq!(triangles, same);
        let (moved, _) = drawn(&context, &meshed, corner + vec2(0.0, 3.0));
        assert!(moved > LEAST, "{moved}");
    }
}
