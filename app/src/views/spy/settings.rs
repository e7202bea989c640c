//! The settings of the view.

use egui::{Button, Ui};

use super::difference;
use super::fields::{choose, number};
use crate::model::Model;
use crate::state::spy::{MOST_HACK, MOST_PARTS};
use crate::state::{ColorMap, Numbering, Scale, Split, ViewState};

pub(super) fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    difference::settings(ui, model, state);
    let spy = &mut state.spy;
    choose(ui, "Colours", &mut spy.map, ColorMap::ALL, ColorMap::name);
    choose(ui, "Scale", &mut spy.scale, Scale::ALL, Scale::name);
    choose(ui, "Numbering", &mut spy.numbering, Numbering::ALL, Numbering::name);
    number(ui, "Threads", "none", &mut spy.parts, MOST_PARTS);
    if spy.parts > 0 {
        choose(ui, "Split", &mut spy.split, Split::ALL, Split::name);
    }
    number(ui, "Hack size", "none", &mut spy.hack, MOST_HACK);
    ui.checkbox(&mut spy.stretch, "Fill")
        .on_hover_text("Scale rows and columns apart, so that the matrix fills the picture");
    let whole = ui.add_enabled(spy.at.is_some(), Button::new("Whole matrix"));
    if whole.on_hover_text("Key 0, or a double click").clicked() {
        spy.at = None;
    }
}
