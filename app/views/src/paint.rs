//! Draws a figure on screen.

use egui::epaint::TextShape;
use egui::{Align2, FontId, Painter, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo};
use egui::{pos2, vec2};
use sparsescope_figures::figure::{Anchor, Figure, Hit, Shape};

use crate::style;

/// With more hits than this, not each becomes a widget.
const MANY: usize = 400;

/// How the pointer or keyboard interacted with a figure.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) clicked: Option<Hit>,
    /// The hit under the pointer or with the focus.
    pub(crate) pointed: Option<Hit>,
}

/// Draws figures with egui.
pub(crate) trait Paint {
    /// Paints the figure at the cursor of `ui`, makes its hits interactive, and returns the one that was
    /// clicked.
    fn show(&self, ui: &mut Ui, name: &str) -> Option<Hit> {
        self.show_and_tell(ui, name).clicked
    }

    /// The same, and also returns the hit under the pointer.
    fn show_and_tell(&self, ui: &mut Ui, name: &str) -> Answer;

    /// Paints the shapes, without images, with the figure's upper left corner here.
    fn paint(&self, painter: &Painter, corner: Pos2);
}

impl Paint for Figure {
    fn show_and_tell(&self, ui: &mut Ui, name: &str) -> Answer {
        let (space, response) = ui.allocate_exact_size(self.size, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
        let painter = ui.painter_at(space);
        painter.rect_filled(space, 0.0, self.paper);
        self.paint(&painter, space.min);
        paint_head(self, &painter, space.min);
        // Thousands of widgets would take longer than a frame; then only the hit under the pointer becomes
        // one, and screen readers get the table.
        let pointer = ui.ctx().pointer_hover_pos().map(|at| at - space.min.to_vec2());
        let many = self.hits.len() > MANY;
        let is_there = |hit: &Hit| pointer.is_some_and(|at| hit.rect.contains(at));
        let mut answer = Answer::default();
        let mut hits: Vec<(usize, &Hit)> =
            self.hits.iter().enumerate().filter(|(_, hit)| !many || is_there(hit)).collect();
        if many {
            hits.drain(..hits.len().saturating_sub(1)); // the uppermost
        }
        for (index, hit) in hits {
            let id = response.id.with(index);
            let place = ui.interact(hit.rect.translate(space.min.to_vec2()), id, Sense::click());
            place.widget_info(|| WidgetInfo::labeled(Role::Button, true, &hit.text));
            if place.hovered() || place.has_focus() {
                let color = ui.visuals().text_color();
                let (width, height) = (place.rect.width(), place.rect.height());
                let stroke = Stroke::new(2.0, color);
                if width > 2.0 * height {
                    painter.rect_stroke(place.rect, 4.0, stroke, StrokeKind::Inside);
                } else {
                    painter.circle_stroke(place.rect.center(), width.min(height) * 0.5, stroke);
                }
                answer.pointed = Some(hit.clone());
            }
            if place.on_hover_text(&hit.text).clicked() {
                answer.clicked = Some(hit.clone());
            }
        }
        answer
    }

    fn paint(&self, painter: &Painter, corner: Pos2) {
        self.shapes.iter().for_each(|shape| paint(shape, painter, corner));
    }
}

/// Paints the part that stays visible when it would be scrolled out of view.
fn paint_head(figure: &Figure, painter: &Painter, corner: Pos2) {
    let Some(head) = &figure.head else { return };
    let [top, bottom] = head.y;
    let by = painter.clip_rect().top() - (corner.y + top);
    if by <= 0.0 || by + bottom > figure.size.y {
        return;
    }
    let left = pos2(corner.x, corner.y + top + by);
    let behind = Rect::from_min_size(left, vec2(figure.size.x, bottom - top));
    painter.rect_filled(behind, 0.0, figure.paper);
    for shape in figure.shapes.get(head.shapes.clone()).unwrap_or_default() {
        paint(shape, painter, corner + vec2(0.0, by));
    }
}

fn paint(shape: &Shape, painter: &Painter, corner: Pos2) {
    let at = |point: Pos2| corner + point.to_vec2();
    match shape {
        Shape::Rect { rect, fill } => {
            painter.rect_filled(rect.translate(corner.to_vec2()), 0.0, *fill);
        }
        Shape::Line { points, width, color } => {
            painter.line(points.iter().map(|p| at(*p)).collect(), Stroke::new(*width, *color));
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
        Shape::Text { pos, anchor, size, color, strong, text } => {
            let align = match anchor {
                Anchor::Start => Align2::LEFT_CENTER,
                Anchor::Middle => Align2::CENTER_CENTER,
                Anchor::End => Align2::RIGHT_CENTER,
            };
            let font = match strong {
                true => style::strong(painter.ctx(), *size),
                false => FontId::proportional(*size),
            };
            painter.text(at(*pos), align, text, font, *color);
        }
        Shape::Upwards { pos, size, color, text } => {
            let font = FontId::proportional(*size);
            let galley = painter.layout_no_wrap(text.clone(), font, *color);
            // Rotated about its upper left corner, which ends up at the lower left.
            let corner = at(*pos) - vec2(galley.size().y * 0.5, 0.0);
            let text = TextShape::new(corner, galley, *color);
            painter.add(text.with_angle(-std::f32::consts::FRAC_PI_2));
        }
    }
}
