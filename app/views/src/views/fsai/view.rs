//! The patterns with their controls.

use egui::{ScrollArea, Ui, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{FsaiOf, ViewState};
use sparsescope_figures::views::fsai::sheet::Told;
use sparsescope_figures::views::fsai::subject::{Subject, USUAL};
use sparsescope_figures::views::fsai::view::gathered;
use sparsescope_figures::views::spy::index;

use super::board;
use super::settings::{more, settings};
use crate::style::is_phone;
use crate::views::player::{Words, player};
use crate::views::view::{Screen, empty, kept, note, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

const WORDS: Words = Words {
    back: "Previous row",
    next: "Next row",
    done: "Gathered row",
    all: "No row",
    all_shows: "Show only the patterns",
};

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::shown(model, state, false) {
        Ok(subject) => subject,
        Err(why) => {
            if empty(ui, &why, "Show a mesh of 8 × 8") {
                state.fsai.of = FsaiOf::Mesh(USUAL);
            }
            return;
        }
    };
    let Some(Ok(set_up)) = subject.set_up.get(&subject.a, subject.asked, false) else {
        nothing(ui, "Setting up …");
        ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
        return;
    };
    note(ui, subject.note.as_deref());
    ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.fsai.row, set_up.rows().saturating_sub(1) as u32, &WORDS);
        let row = state.fsai.row.map(|row| format!("Row {}", index(row as usize)));
        let hint = if is_phone(ui.ctx()) { "Tap a row." } else { "Click a row." };
        ui.label(row.as_deref().unwrap_or(hint));
    });
    let from = (subject.key.clone(), model.revision(), subject.asked, state.fsai.row);
    let gathered = kept(ui, "gathered row", from, || gathered(set_up, state));
    let told = Told::new(&subject, set_up, (*gathered).clone(), state);
    let room = ui.available_size() - vec2(16.0, 8.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.vertical(|ui| board::show(ui, model, told, state, room));
    });
}
