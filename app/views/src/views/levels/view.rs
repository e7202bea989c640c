//! The orders with their controls.

use egui::{ScrollArea, Ui, vec2};
use sparsescope_figures::figure::text_width;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{LevelsOf, ViewState};
use sparsescope_figures::theme::BODY;
use sparsescope_figures::views::levels::numbers::{longest_progress, progress_words};
use sparsescope_figures::views::levels::sheet::Told;
use sparsescope_figures::views::levels::subject::{Subject, USUAL};
use sparsescope_figures::views::levels::view::orders;

use super::board;
use super::settings::{more, settings};
use crate::views::player::{Words, describe, player};
use crate::views::view::{Screen, empty, note, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

const WORDS: Words = Words {
    back: "Previous level",
    next: "Next level",
    done: "Levels done",
    all: "All levels",
    all_shows: "Each row in the colour of its level",
};

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::shown(model, state, false) {
        Ok(subject) => subject,
        Err(why) => {
            if empty(ui, &why, "Show a grid of 8 × 8") {
                state.levels.of = LevelsOf::Grid(USUAL);
            }
            return;
        }
    };
    let waves = match subject.waves(false) {
        Ok(waves) => waves,
        Err(why) if why.is_empty() => {
            nothing(ui, "Computing the levels …");
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            return;
        }
        Err(why) => return nothing(ui, &why),
    };
    note(ui, subject.note.as_deref());
    let order = state.levels.order;
    let wave = waves.wave(order);
    let longest = longest_progress(wave, order);
    let below = ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.levels.step, wave.widths.len() as u32, &WORDS);
        let words = progress_words(wave, order, state.levels.step? as usize);
        if text_width(&longest, BODY) > ui.available_size_before_wrap().x {
            return Some(words);
        }
        ui.label(words);
        None
    });
    if let Some(words) = below.inner {
        describe(ui, words, longest);
    }
    let shown = orders(state, ui.available_width());
    let room = ui.available_size() - vec2(16.0, 8.0);
    let width = room.x / shown.len() as f32;
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            for order in shown {
                let told = Told::new(&subject, waves, order, state);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    board::show(ui, model, &told, state, vec2(width - 12.0, room.y));
                });
            }
        });
    });
}
