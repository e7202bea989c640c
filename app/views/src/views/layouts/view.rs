//! The board, with or without a lesson next to it.

use std::sync::Arc;

use egui::{Align, Layout, ScrollArea, Ui, vec2};
use sparsescope_figures::figure::{Figure, Hit};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{LayoutsState, Small, ViewState};
use sparsescope_figures::views::layouts::cells::{Owner, Spot};
use sparsescope_figures::views::layouts::is_framed;
use sparsescope_figures::views::layouts::scene::{Shown, scene};
use sparsescope_figures::views::layouts::sizes::Fit;
use sparsescope_figures::views::layouts::subject::Subject;
use sparsescope_figures::views::layouts::walk::{Kept, most, walks};

use super::kept::kept;
use super::panel;
use super::settings::{more, settings};
use super::stepper::stepper;
use super::teach;
use crate::paint::show_all;
use crate::style::is_phone;
use crate::views::view::{Screen, empty};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = Subject::of(model, state);
    let a = subject.as_ref().ok().map(|subject| Arc::new(subject.a.clone()));
    let walks = a
        .map(|a| walks(&a, &state.layouts, |a, layouts, id| kept(ui.ctx(), a, layouts, id)))
        .unwrap_or_default();
    let id = state.layouts.lesson.as_ref().map(|(id, _)| id.clone());
    let lesson = id.as_ref().and_then(|id| model.lessons.get(id)).cloned();
    if let Some(lesson) = lesson {
        let selected = subject.as_ref().ok().filter(|_| state.layouts.small == Small::Selected);
        let steps = (!walks.is_empty()).then(|| most(&walks));
        let (text, rest) = teach::places(ui);
        let beside = |rect| egui::UiBuilder::new().max_rect(rect);
        let texts = panel::counted(ui, &lesson, state, selected.map(|subject| &subject.a));
        ui.scope_builder(beside(text), |ui| panel::show(ui, &lesson, texts, state, steps, false));
        ui.scope_builder(beside(rest), |ui| drawn(ui, subject, state, &walks, true));
        return;
    }
    if let Some(id) = id {
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("The lesson `{id}` is not open: drop its file here."));
            if ui.button("Leave").clicked() {
                state.layouts.lesson = None;
            }
        });
    }
    if is_framed(state) {
        frame(ui, model, state, &walks, |ui, state| drawn(ui, subject, state, &walks, true));
    } else {
        drawn(ui, subject, state, &walks, false);
    }
}

/// On a projector the board gets the space, as in a lesson, with one line of controls below.
fn frame(
    ui: &mut Ui,
    model: &Model,
    state: &mut ViewState,
    walks: &[Kept],
    board: impl FnOnce(&mut Ui, &mut ViewState),
) {
    ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
        ui.horizontal(|ui| {
            panel::menu(ui, model, state);
            ui.checkbox(&mut state.layouts.tools, "Settings");
            if !walks.is_empty() {
                stepper(ui, &mut state.layouts, most(walks));
            }
        });
        ui.separator();
        ui.with_layout(Layout::top_down(Align::Min), |ui| board(ui, state));
    });
}

/// The board; if it must be visible as a whole, in the roomiest form that fits.
fn drawn(
    ui: &mut Ui,
    subject: Result<Subject, String>,
    state: &mut ViewState,
    walks: &[Kept],
    whole: bool,
) {
    let subject = match subject {
        Ok(subject) => subject,
        Err(why) => {
            if empty(ui, &why, "Show the 8 × 8 example") {
                state.layouts.small = LayoutsState::default().small;
            }
            return;
        }
    };
    let space = ui.available_size() - vec2(14.0, 0.0);
    let walking = !walks.is_empty();
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let (mut figure, spots) = {
            let shown = Shown::of(&subject, &state.layouts, walks);
            let phone = is_phone(ui.ctx());
            let all = if whole { Fit::all(state.theme, phone) } else { Vec::new() };
            // What does not fit scrolls, on a phone only down.
            let least = all.last().filter(|_| walking || phone).copied().unwrap_or(Fit::USUAL);
            let width = if phone { space.x } else { space.x.max(380.0) };
            let mut boards = all.into_iter().map(|fit| scene(&shown, state, space.x, fit));
            let fits =
                |(figure, _): &(Figure, _)| figure.size.x <= space.x && figure.size.y <= space.y;
            let found = boards.find(fits);
            found.unwrap_or_else(|| scene(&shown, state, width, least))
        };
        let hit = |spot: &Spot| Hit {
            rect: spot.rect,
            text: spot.name.clone(),
            matrix: String::new(),
            run: None,
            series: None,
        };
        figure.hits = spots.iter().map(hit).collect();
        let clicked = show_all(&figure, ui, &format!("Memory layouts of {}", subject.title));
        let clicked = clicked.and_then(|hit| spots.iter().find(|spot| spot.rect == hit.rect));
        if let Some(spot) = clicked {
            click(spot, &mut state.layouts);
        }
    });
}

/// Highlights a nonzero, or changes the matrix drawn by hand.
fn click(spot: &Spot, layouts: &mut LayoutsState) {
    let in_picture = spot.name.starts_with("Nonzero ") || matches!(spot.owner, Owner::Nothing(..));
    let at = match spot.owner {
        Owner::Entry(i, j) | Owner::Nothing(i, j) => Some((i, j)),
        _ => None,
    };
    if let (Small::Drawn(pattern), Some((i, j)), true) = (&mut layouts.small, at, in_picture) {
        pattern.toggle(i, j);
        layouts.pick = pattern.has(i, j).then_some((i as u32, j as u32));
        return;
    }
    if let Some((i, j)) = spot.owner.entry() {
        let pick = Some((i as u32, j as u32));
        layouts.pick = if layouts.pick == pick { None } else { pick };
    }
}
