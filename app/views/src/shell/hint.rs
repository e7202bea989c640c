//! Hints on what a control does.

use egui::Ui;

/// A hint with the key that does the same; without it where there is no keyboard.
pub(super) fn hint(ui: &Ui, text: &str, key: &str) -> String {
    match ui.input(|input| input.has_touch_screen()) {
        true => text.to_owned(),
        false => format!("{text} ({key})"),
    }
}
