//! The points with the player.

use egui::{ScrollArea, Ui, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{PointsOf, Recipe, ViewState};
use sparsescope_figures::views::skyline::sheet::{self, Told};
use sparsescope_figures::views::skyline::subject::Subject;

use super::board;
use super::settings::{more, settings};
use crate::views::player::{Words, describe, player};
use crate::views::view::{Screen, empty, kept, note};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

const WORDS: Words = Words {
    back: "Previous point",
    next: "Next point",
    done: "Points processed",
    all: "All points",
    all_shows: "The final result",
};

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::shown(model, state) {
        Ok(subject) => subject,
        Err(why) => {
            if empty(ui, &why, "Show 200 points") {
                state.skyline.show(PointsOf::Made(Recipe::default()));
                state.skyline.axes = [0, 1];
            }
            return;
        }
    };
    note(ui, subject.note.as_deref());
    let most =
        subject.cloud.picture.indices.len().min(sparsescope_figures::views::skyline::walk::MOST)
            as u32;
    ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.skyline.step, most, &WORDS);
    });
    let now = state.clone();
    let told = told(ui, model, &subject, &now);
    if let (Some(words), Some(longest)) = (told.step_words(), told.longest_step_words()) {
        describe(ui, words, longest);
    }
    let room = ui.available_size() - vec2(16.0, 8.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.vertical(|ui| board::show(ui, model, &told, state, room));
    });
}

/// The data of the view, with results of the last frame if nothing changed.
fn told<'a>(ui: &Ui, model: &Model, subject: &'a Subject, state: &'a ViewState) -> Told<'a> {
    let skyline = &state.skyline;
    let of = (subject.key.clone(), model.revision());
    let walk = skyline.step.map(|_| {
        let from = (of.clone(), skyline.algorithm);
        kept(ui, "steps of a skyline", from, || subject.walk(state))
    });
    let seen = (skyline.algorithm, skyline.step, skyline.dropped, skyline.alike);
    let looks =
        kept(ui, "looks of points", (of.clone(), seen), || subject.looks(walk.as_deref(), state));
    let corners = kept(ui, "staircase", (of, seen, subject.axes, skyline.staircase), || {
        sheet::corners(subject, &looks, state)
    });
    Told::new(subject, state, walk, looks, corners)
}
