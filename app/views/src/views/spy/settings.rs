//! The settings of the view.

use egui::{Button, Ui};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::spy::{MOST_HACK, MOST_PARTS};
use sparsescope_figures::state::{ColorMap, Numbering, Scale, Split, SpyState, ViewState};
use sparsescope_figures::views::spy::ranks::Ranks;

use super::difference;
use super::fields::{choose, counted_from, number};

/// Whether ranks are shown, and whose columns are highlighted.
fn ranks(ui: &mut Ui, spy: &mut SpyState, most: u32) {
    let hover = "The rows of each rank of the selected run, and the bytes sent between ranks";
    ui.checkbox(&mut spy.ranks, "Ranks").on_hover_text(hover);
    if spy.ranks {
        // 0 means none here, but ranks are numbered from 0.
        let mut lit = spy.rank.map_or(0, |rank| rank.saturating_add(1));
        counted_from(ui, "Columns needed by rank", "none", 0, &mut lit, most);
        spy.rank = lit.checked_sub(1);
    }
}

pub(super) fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    difference::settings(ui, model, state);
    let spy = &mut state.spy;
    choose(ui, "Numbering", &mut spy.numbering, Numbering::ALL, Numbering::name);
    let whole = ui.add_enabled(spy.at.is_some(), Button::new("Whole matrix"));
    if whole.on_hover_text("Key 0 or double-click").clicked() {
        spy.at = None;
    }
}

pub(super) fn more(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let spy = &mut state.spy;
    ui.horizontal(|ui| {
        choose(ui, "Colours", &mut spy.map, ColorMap::ALL, ColorMap::name);
        choose(ui, "Scale", &mut spy.scale, Scale::ALL, Scale::name);
    });
    ui.horizontal(|ui| {
        number(ui, "Threads", "none", &mut spy.parts, MOST_PARTS);
        if spy.parts > 0 {
            choose(ui, "Split", &mut spy.split, Split::ALL, Split::name);
        }
    });
    let most = Ranks::most(model);
    if most > 0 {
        ui.horizontal(|ui| ranks(ui, spy, most));
    }
    ui.horizontal(|ui| number(ui, "Hack size", "none", &mut spy.hack, MOST_HACK));
    ui.checkbox(&mut spy.stretch, "Fill")
        .on_hover_text("Scale rows and columns separately, so that the matrix fills the picture");
}
