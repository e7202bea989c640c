//! Cards for what can be opened: while nothing is open, and behind the title at any time.

use egui::{Align, Button, Frame, Layout, RichText, ScrollArea, Ui, vec2};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;

use super::action::{Action, CPU_EXAMPLE, GPU_EXAMPLE, SOLVE_EXAMPLE};

/// Below this width the cards are stacked.
const BESIDE: f32 = 760.0;
/// Minimum height of cards side by side.
const HEIGHT: f32 = 250.0;
/// Maximum width of all cards together.
const WIDEST: f32 = 1080.0;

/// Draws the cards; requested actions go to `asked`.
pub(super) fn show(
    ui: &mut Ui,
    actions: &[Action],
    model: &Model,
    state: &mut ViewState,
    asked: &mut Vec<Action>,
) {
    let is_example = |action: &&Action| [CPU_EXAMPLE, GPU_EXAMPLE, SOLVE_EXAMPLE].contains(*action);
    let examples: Vec<&Action> = actions.iter().filter(is_example).collect();
    // Opening files is the first of the window's or page's actions.
    let open = actions.first().filter(|action| !is_example(action));
    let mut button = |ui: &mut Ui, action: &Action| {
        let hint = format!("{} (key {})", action.hint, action.key.name());
        let button = Button::new(RichText::new(action.name).size(16.0));
        if ui.add(button.min_size(vec2(150.0, 32.0))).on_hover_text(hint).clicked() {
            asked.push(*action);
        }
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let width = ui.available_width().min(WIDEST);
        let beside = width >= BESIDE;
        ui.add_space(if beside { ui.available_height() * 0.12 } else { 8.0 });
        ui.vertical_centered(|ui| {
            ui.label(
                RichText::new("See a sparse matrix, run kernels on it, share the result")
                    .size(22.0),
            );
        });
        ui.add_space(16.0);
        let mut draw = |ui: &mut Ui, card: usize| match card {
            0 => card_of(ui, "A matrix or a result", |ui| {
                ui.label(
                    "Drop it here: a matrix (.mtx, .mtx.gz or a SuiteSparse archive), or a bundle \
                     (.zip) with everything that `sparsescope bench` measured. Drop several bundles \
                     to compare them.",
                );
                ui.add_space(8.0);
                open.into_iter().for_each(|action| button(ui, action));
            }),
            1 => card_of(ui, "Examples", |ui| {
                ui.label("Measured and checked: which kernel wins on which matrix, by how much, and why.");
                ui.add_space(8.0);
                examples.iter().for_each(|action| button(ui, action));
                if examples.is_empty() {
                    ui.weak("This page has no examples.");
                }
            }),
            _ => card_of(ui, "Lessons", |ui| {
                ui.label("How formats are laid out in memory and what kernels read, step by step.");
                ui.add_space(4.0);
                for lesson in model.lessons.iter() {
                    if ui.link(RichText::new(&lesson.title).size(15.0)).clicked() {
                        lesson.show(0, false, state);
                    }
                }
            }),
        };
        if beside {
            let aside = (ui.available_width() - width) * 0.5;
            ui.horizontal(|ui| {
                ui.add_space(aside);
                ui.allocate_ui(vec2(width, HEIGHT), |ui| {
                    ui.columns(3, |columns| {
                        columns.iter_mut().enumerate().for_each(|(k, ui)| draw(ui, k));
                    });
                });
            });
        } else {
            (0..3).for_each(|k| draw(ui, k));
        }
    });
}

fn card_of(ui: &mut Ui, title: &str, content: impl FnOnce(&mut Ui)) {
    let frame = Frame::group(ui.style()).inner_margin(16).fill(ui.visuals().faint_bg_color);
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.heading(title);
            ui.add_space(6.0);
            content(ui);
        });
    });
    ui.add_space(8.0);
}
