//! Small icon buttons in the corner of a group of views.

use egui::{Button, Rect, Response, Role, Stroke, Ui, Vec2, WidgetInfo};

/// Icons in the corner of a group.
#[derive(Clone, Copy)]
pub(super) enum Icon {
    /// The right half is filled.
    Right,
    /// The lower half is filled.
    Below,
    Cross,
}

/// A small icon button; its name is its tooltip and accessible name.
pub(super) fn corner(ui: &mut Ui, icon: Icon, name: &str) -> Response {
    let sign = egui::Atom::paint(Vec2::splat(14.0), move |ui, args| {
        let stroke = Stroke::new(1.4, args.fallback_text_color);
        draw_icon(ui.painter(), icon, args.rect.shrink(1.0), stroke);
    });
    let button = ui.add(Button::new(sign).frame_when_inactive(false));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    button.on_hover_text(name)
}

fn draw_icon(painter: &egui::Painter, icon: Icon, rect: Rect, stroke: Stroke) {
    let middle = rect.center();
    match icon {
        Icon::Cross => {
            let rect = rect.shrink(1.5);
            painter.line_segment([rect.left_top(), rect.right_bottom()], stroke);
            painter.line_segment([rect.right_top(), rect.left_bottom()], stroke);
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
