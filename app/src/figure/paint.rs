//! A figure on the screen.

use egui::{Align2, FontId, Pos2, Role, Sense, Stroke, Ui, WidgetInfo};

use super::{Anchor, Figure, Shape};

impl Figure {
    /// Paints the figure where `ui` continues, lets its hits answer, and returns the key of the
    /// matrix that was clicked.
    pub(crate) fn show(&self, ui: &mut Ui, name: &str) -> Option<String> {
        let (space, response) = ui.allocate_exact_size(self.size, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
        let painter = ui.painter_at(space);
        let at = |point: Pos2| space.min + point.to_vec2();
        painter.rect_filled(space, 0.0, self.paper);
        for shape in &self.shapes {
            match shape {
                Shape::Rect { rect, fill } => {
                    painter.rect_filled(rect.translate(space.min.to_vec2()), 0.0, *fill);
                }
                Shape::Line { points, width, color } => {
                    painter
                        .line(points.iter().map(|p| at(*p)).collect(), Stroke::new(*width, *color));
                }
                Shape::Polygon { points, fill, stroke } => {
                    painter.add(egui::Shape::convex_polygon(
                        points.iter().map(|p| at(*p)).collect(),
                        *fill,
                        Stroke::new(1.5, *stroke),
                    ));
                }
                Shape::Circle { center, radius, fill, stroke } => {
                    painter.circle(at(*center), *radius, *fill, Stroke::new(1.5, *stroke));
                }
                Shape::Image { .. } => {}
                Shape::Text { pos, anchor, size, color, text } => {
                    let align = match anchor {
                        Anchor::Start => Align2::LEFT_CENTER,
                        Anchor::Middle => Align2::CENTER_CENTER,
                        Anchor::End => Align2::RIGHT_CENTER,
                    };
                    painter.text(at(*pos), align, text, FontId::proportional(*size), *color);
                }
            }
        }
        let mut clicked = None;
        for (index, hit) in self.hits.iter().enumerate() {
            let id = response.id.with(index);
            let place = ui.interact(hit.rect.translate(space.min.to_vec2()), id, Sense::click());
            place.widget_info(|| WidgetInfo::labeled(Role::Button, true, &hit.text));
            if place.hovered() || place.has_focus() {
                let color = ui.visuals().text_color();
                let radius = place.rect.width().min(place.rect.height()) * 0.5;
                painter.circle_stroke(place.rect.center(), radius, Stroke::new(2.0, color));
            }
            if place.on_hover_text(&hit.text).clicked() {
                clicked = Some(hit.matrix.clone());
            }
        }
        clicked
    }
}
