//! The view: the orders that are shown with their controls, and the same as a table and as SVG.

use egui::{ScrollArea, Ui, vec2};

use super::board;
use super::numbers::progress_words;
use super::settings::settings;
use super::sheet::Told;
use super::subject::Subject;
use crate::figure::Figure;
use crate::model::Model;
use crate::state::{Order, ViewState};
use crate::views::player::{Words, player};
use crate::views::view::{View, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "levels",
    name: "Levels",
    sentence: "Which rows of a Gauss–Seidel sweep wait for which, and how many can be computed at once.",
    settings,
    show,
    table,
    svg: Some(svg),
};

const WORDS: Words = Words {
    back: "Back a level",
    next: "Next level",
    done: "Levels that are done",
    all: "All levels",
    all_shows: "Every row in the colour of its level",
};

/// Narrower places have no second order beside the first.
const LEAST_BESIDE: f32 = 640.0;

/// The orders that are shown.
fn orders(state: &ViewState, width: f32) -> Vec<Order> {
    let first = state.levels.order;
    let with_colors = state.levels.beside && first != Order::Colors && width >= LEAST_BESIDE;
    let mut orders = vec![first];
    orders.extend(with_colors.then_some(Order::Colors));
    orders
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = match Subject::of(model, state) {
        Ok(subject) => subject,
        Err(why) => return nothing(ui, &why),
    };
    let waves = match subject.waves(false) {
        Ok(waves) => waves,
        Err(why) if why.is_empty() => {
            nothing(ui, "Finding the levels …");
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            return;
        }
        Err(why) => return nothing(ui, &why),
    };
    let order = state.levels.order;
    let wave = waves.wave(order);
    ui.horizontal_wrapped(|ui| {
        player(ui, &mut state.levels.step, wave.widths.len() as u32, &WORDS);
        if let Some(step) = state.levels.step {
            ui.label(progress_words(wave, order, step as usize));
        }
    });
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

fn svg(model: &Model, state: &ViewState) -> String {
    let mut whole = Figure::new(vec2(0.0, 0.0), state.theme.ink().paper);
    let provenance = Subject::provenance(model, state);
    let Ok(subject) = Subject::of(model, state) else {
        return whole.to_svg(VIEW.sentence, &provenance);
    };
    let Ok(waves) = subject.waves(true) else {
        return whole.to_svg(VIEW.sentence, &provenance);
    };
    for order in orders(state, f32::INFINITY) {
        whole.put_beside(board::saved(&Told::new(&subject, waves, order, state), state));
    }
    whole.to_svg(&format!("Levels of {}", subject.name), &provenance)
}

/// Every level with its rows, and the row of the critical path.
fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["matrix", "order", "level", "rows", "rows_before", "path_row"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::of(model, state) else { return lines };
    let Ok(waves) = subject.waves(true) else { return lines };
    for order in orders(state, f32::INFINITY) {
        let wave = waves.wave(order);
        let mut before = 0;
        for (level, width) in wave.widths.iter().enumerate() {
            lines.push(vec![
                subject.name.clone(),
                order.id().into(),
                level.to_string(),
                width.to_string(),
                before.to_string(),
                wave.path.get(level).map(u32::to_string).unwrap_or_default(),
            ]);
            before += u64::from(*width);
        }
    }
    lines
}
