//! What is shown while nothing is open.

use egui::{RichText, Ui};
use sparsescope_figures::theme::{SPACE, TITLE};

use super::action::{Action, HOME};
use crate::style;

/// Says what to open; requested actions go to `asked`.
pub(super) fn show(ui: &mut Ui, actions: &[Action], asked: &mut Vec<Action>) {
    let title = style::strong(ui.ctx(), TITLE);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.label(RichText::new("Nothing is open").font(title));
        ui.add_space(SPACE);
        ui.label("Drop a matrix or a result bundle here. Nothing leaves this machine.");
        ui.add_space(SPACE);
        // Opening files is the first of the window's or page's actions.
        let first = actions.first().filter(|action| **action != HOME);
        let home = actions.iter().find(|action| **action == HOME);
        for action in first.into_iter().chain(home) {
            if ui.button(action.name).on_hover_text(action.hint).clicked() {
                asked.push(*action);
            }
        }
    });
}
