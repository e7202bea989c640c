//! The keyboard: 1 to 9 select a view, Ctrl+Z or Alt+Left goes back, / searches, B folds the side panel, P
//! presents; actions of the window or the page have their own keys.

use egui::{Key, Modifiers, Ui};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::VIEWS;

use super::action::Action;

/// Whether keys go to a text field.
fn typing(ui: &Ui) -> bool {
    ui.ctx().text_edit_focused()
}

/// Whether to go back.
pub(super) fn back(ui: &Ui) -> bool {
    !typing(ui)
        && ui.input_mut(|input| {
            input.consume_key(Modifiers::COMMAND, Key::Z)
                || input.consume_key(Modifiers::ALT, Key::ArrowLeft)
        })
}

/// Whether to focus the search field.
pub(super) fn search(ui: &Ui) -> bool {
    !typing(ui) && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Slash))
}

/// Whether a letter key was pressed outside text fields.
pub(super) fn pressed(ui: &Ui, key: Key) -> bool {
    !typing(ui) && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key))
}

/// The actions whose keys were pressed.
pub(super) fn actions(ui: &Ui, offered: &[Action]) -> Vec<Action> {
    if typing(ui) {
        return Vec::new();
    }
    let pressed =
        |action: &&Action| ui.input_mut(|input| input.consume_key(Modifiers::NONE, action.key));
    offered.iter().filter(pressed).copied().collect()
}

/// Lets number keys select the view.
pub(super) fn views(ui: &Ui, state: &mut ViewState) {
    const NUMBERS: [Key; 9] = [
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
        Key::Num7,
        Key::Num8,
        Key::Num9,
    ];
    if typing(ui) {
        return;
    }
    for (key, view) in NUMBERS.into_iter().zip(VIEWS) {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            state.view = view.id.into();
        }
    }
}
