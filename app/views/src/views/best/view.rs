//! The settings, and the list or the figure.

use std::sync::Arc;

use egui::{ComboBox, Label, RichText, Role, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Form, ViewState};
use sparsescope_figures::theme::{SMALL, TITLE};
use sparsescope_figures::views::best::baseline::baselines;
use sparsescope_figures::views::best::board::Board;
use sparsescope_figures::views::best::view::{automatic, form, has_bundles};
use sparsescope_figures::views::best::{headline, solves};
use sparsescope_figures::views::view::no_run;

use super::{drawn, list};
use crate::style;
use crate::views::view::{Screen, kept, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

/// Narrower panes have the list instead of the heat map, unless that was chosen.
const PHONE: f32 = 480.0;

fn board(ui: &Ui, model: &Model, state: &ViewState) -> Arc<Board> {
    let from = (model.revision(), state.filter.clone(), state.best.clone());
    kept(ui, "best", from, || Board::of(model, state))
}

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let board = board(ui, model, state);
    let now = form(&board, state);
    let mut offered = vec![Form::Heat, Form::List];
    if has_bundles(&board) {
        offered.insert(0, Form::Compare);
    }
    if !offered.contains(&now) {
        offered.insert(0, now);
    }
    choose(ui, &offered, &board, state);
    if now == Form::Compare {
        return;
    }
    let offered = baselines(model, state);
    let found = offered.iter().find(|(word, _)| *word == board.baseline);
    let shown = found.map_or("", |(_, name)| name.as_str()).to_owned();
    ui.label("Compare with");
    let combo = ComboBox::from_id_salt("over").selected_text(&shown).width(170.0);
    let combo = combo.show_ui(ui, |ui| {
        for (word, name) in &offered {
            if ui.selectable_label(*word == board.baseline, name).clicked() {
                state.best.over.clone_from(word);
            }
        }
    });
    let name = format!("Compare with: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

/// The other forms, and what is folded.
fn more(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let board = board(ui, model, state);
    let now = form(&board, state);
    let others = [Form::Bars, Form::Rates, Form::Sizes].into_iter().filter(|form| *form != now);
    choose(ui, &others.collect::<Vec<_>>(), &board, state);
    ui.checkbox(&mut state.best.unfolded, "Show launch-bound rows")
        .on_hover_text("An empty kernel launch takes at least half of their best median time");
}

fn choose(ui: &mut Ui, offered: &[Form], board: &Board, state: &mut ViewState) {
    let now = form(board, state);
    for wanted in offered {
        if ui.selectable_label(now == *wanted, wanted.name()).clicked() {
            let suits = automatic(board, state) == *wanted;
            state.best.form = if suits { Form::Auto } else { *wanted };
        }
    }
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let board = board(ui, model, state);
    if board.rows.is_empty() {
        let text = match model.count(&state.filter) {
            0 => no_run(model, state),
            _ => "No matching run passed its check with warm caches, in f64 or, for kernels without f64, in f32.".into(),
        };
        return nothing(ui, &text);
    }
    let from = (model.revision(), state.filter.clone(), state.matrix.clone());
    let to_solution = kept(ui, "best: to the solution", from, || solves::summary(model, state));
    if !to_solution.is_empty() {
        ui.label(to_solution.as_str());
    }
    let now = match form(&board, state) {
        Form::Heat if state.best.form == Form::Auto && ui.available_width() < PHONE => Form::List,
        form => form,
    };
    if now == Form::List {
        let title = RichText::new(headline::headline(&board)).font(style::strong(ui.ctx(), TITLE));
        ui.add(Label::new(title).wrap());
        let about = RichText::new(headline::about(&board, true)).size(SMALL).weak();
        ui.add(Label::new(about).wrap());
        list::show(ui, &board, model, state);
    } else {
        drawn::show(ui, now, &board, model, state);
    }
}
