//! Panning and zooming with a pointer, two fingers or keys.

use egui::{EventFilter, Key, Modifiers, Response, Ui, Vec2, vec2};
use sparsescope_figures::state::At;
use sparsescope_figures::views::spy::place::Place;

/// Pans and zooms by pointer and, once the cells have the focus, by keys.
pub(in crate::views) fn steer(ui: &Ui, response: &Response, place: &Place, at: &mut Option<At>) {
    if response.clicked() {
        response.request_focus();
    }
    if response.double_clicked() {
        *at = None;
        return;
    }
    // Two fingers are one gesture: pointer events of the first finger belong to it.
    let touch =
        ui.input(|input| input.multi_touch()).filter(|_| response.is_pointer_button_down_on());
    if let Some(touch) = touch {
        // Resting fingers change nothing, not even by rounding.
        let moved = touch.zoom_delta != 1.0 || touch.translation_delta != Vec2::ZERO;
        if moved && touch.zoom_delta.is_normal() && touch.zoom_delta > 0.0 {
            let factor = 1.0 / f64::from(touch.zoom_delta);
            *at = place.pinched(touch.center_pos, touch.translation_delta, factor);
        }
        ui.input_mut(|input| input.smooth_scroll_delta = Vec2::ZERO);
        return;
    }
    if response.dragged() {
        *at = place.moved(response.drag_delta());
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = (-f64::from(scroll) * 0.004).exp() / f64::from(pinch);
        if factor != 1.0 {
            *at = place.zoomed(pointer, factor);
            // A zoom here must not scroll the surroundings.
            ui.input_mut(|input| input.smooth_scroll_delta = Vec2::ZERO);
        }
    }
    if response.has_focus() {
        // Arrow keys move the picture here, not the focus.
        ui.memory_mut(|memory| {
            let filter = EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                ..Default::default()
            };
            memory.set_focus_lock_filter(response.id, filter);
        });
        let step = place.area.size() * 0.1;
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let moves = [
            (Key::ArrowLeft, vec2(step.x, 0.0)),
            (Key::ArrowRight, vec2(-step.x, 0.0)),
            (Key::ArrowUp, vec2(0.0, step.y)),
            (Key::ArrowDown, vec2(0.0, -step.y)),
        ];
        for (key, by) in moves {
            if pressed(key) {
                *at = place.moved(by);
            }
        }
        let zooms = [(Key::Plus, 0.5), (Key::Equals, 0.5), (Key::Minus, 2.0)];
        for (key, factor) in zooms {
            if pressed(key) {
                *at = place.zoomed(place.area.center(), factor);
            }
        }
        if pressed(Key::Num0) {
            *at = None;
        }
    }
}
