//! Buttons and keys for the step of the kernels that are followed.

use egui::{Key, Modifiers, Role, Ui, WidgetInfo};
use sparsescope_figures::state::LayoutsState;

use crate::style;

/// The step among `most`, with its controls.
pub(super) fn stepper(ui: &mut Ui, layouts: &mut LayoutsState, most: u32) {
    let typing = ui.ctx().memory(|memory| memory.focused().is_some());
    let pressed =
        |ui: &mut Ui, key| !typing && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    // On a phone, all controls of a lesson are in one line.
    let what = if style::is_phone(ui.ctx()) { "Step" } else { "Kernel: step" };
    let name = ui.weak(format!("{what} {} of {most}", layouts.step.min(most - 1) + 1));
    name.on_hover_text("Arrow keys step");
    let least = style::least_size(ui.ctx());
    let button = |ui: &mut Ui, name: &'static str, sign: &str, may: bool| {
        let button = egui::Button::new(sign).min_size(least);
        let button = ui.add_enabled(may, button).on_hover_text("Arrow keys step");
        button.widget_info(|| WidgetInfo::labeled(Role::Button, may, name));
        button
    };
    let back = button(ui, "Previous step", "‹", layouts.step > 0);
    let on = button(ui, "Next step", "›", layouts.step + 1 < most);
    if (back.clicked() || pressed(ui, Key::ArrowLeft)) && layouts.step > 0 {
        layouts.step -= 1;
    }
    if (on.clicked() || pressed(ui, Key::ArrowRight)) && layouts.step + 1 < most {
        layouts.step += 1;
    }
    layouts.step = layouts.step.min(most - 1);
}
