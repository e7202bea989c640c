//! Small icon buttons.

use egui::{Rect, Response, Role, Stroke, Ui, Vec2, WidgetInfo};

use crate::style;

/// What is drawn on a button.
#[derive(Clone, Copy)]
pub(super) enum Icon {
    /// An arrow to the left.
    Back,
    /// An arrow to the right.
    Redo,
    /// The right half is filled.
    Right,
    /// The lower half is filled.
    Below,
    Cross,
}

/// A small icon button with an accessible name.
pub(super) fn button(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let sign = egui::Atom::paint(Vec2::splat(14.0), move |ui, args| {
        let stroke = Stroke::new(1.4, args.fallback_text_color);
        draw_icon(ui.painter(), icon, args.rect.shrink(1.0), stroke);
    });
    let least = style::least_size(ui.ctx());
    let button = ui.add(style::quiet(sign).min_size(least));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    button
}

fn draw_icon(painter: &egui::Painter, icon: Icon, rect: Rect, stroke: Stroke) {
    let middle = rect.center();
    match icon {
        Icon::Cross => {
            let rect = rect.shrink(1.5);
            painter.line_segment([rect.left_top(), rect.right_bottom()], stroke);
            painter.line_segment([rect.right_top(), rect.left_bottom()], stroke);
        }
        Icon::Back | Icon::Redo => {
            let rect = rect.shrink(1.0);
            let (from, to, head) = match icon {
                Icon::Back => (rect.right_center(), rect.left_center(), 4.0),
                _ => (rect.left_center(), rect.right_center(), -4.0),
            };
            painter.line_segment([from, to], stroke);
            painter.line_segment([to, to + egui::vec2(head, -4.0)], stroke);
            painter.line_segment([to, to + egui::vec2(head, 4.0)], stroke);
        }
        Icon::Right | Icon::Below => {
            let half = match icon {
                Icon::Right => Rect::from_min_max(egui::pos2(middle.x, rect.top()), rect.max),
                _ => Rect::from_min_max(egui::pos2(rect.left(), middle.y), rect.max),
            };
            painter.rect_stroke(rect, 1.0, stroke, egui::StrokeKind::Inside);
            painter.rect_filled(half, 1.0, stroke.color);
        }
    }
}
