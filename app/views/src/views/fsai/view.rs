//! The patterns with their controls.

use egui::{ScrollArea, Ui, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::fsai::sheet::Told;
use sparsescope_figures::views::fsai::subject::Subject;
use sparsescope_figures::views::fsai::view::gathered;
use sparsescope_figures::views::spy::index;

use super::board;
use super::settings::settings;
use crate::views::player::{Words, player};
use crate::views::view::{Screen, kept, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: None, show };

const WORDS: Words = Words {
    back: "Previous row",
    next: "Next row",
    done: "Gathered row",
    all: "No row",
    all_shows: "Show only the patterns",
};

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::of(model, state) {
        Ok(subject) => subject,
        Err(why) => return nothing(ui, &why),
    };
    let set_up = match subject.set_up.get(&subject.a, subject.asked, false) {
        Some(Ok(set_up)) => set_up,
        Some(Err(why)) => return nothing(ui, &refused(&subject, why)),
        None => {
            nothing(ui, "Setting up …");
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            return;
        }
    };
    ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.fsai.row, set_up.rows().saturating_sub(1) as u32, &WORDS);
        let row = state.fsai.row.map(|row| format!("Row {}", index(row as usize)));
        ui.label(row.as_deref().unwrap_or("Click a row."));
    });
    let from = (subject.key.clone(), model.revision(), subject.asked, state.fsai.row);
    let gathered = kept(ui, "gathered row", from, || gathered(set_up, state));
    let told = Told::new(&subject, set_up, (*gathered).clone(), state);
    let room = ui.available_size() - vec2(16.0, 8.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.vertical(|ui| board::show(ui, model, told, state, room));
    });
}

fn refused(subject: &Subject, why: &str) -> String {
    format!("No setup for {}: {why}.", subject.name)
}
