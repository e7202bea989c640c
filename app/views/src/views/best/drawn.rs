//! The heat map and the other figures on screen, with pictures of the matrices.

use egui::{Id, Popup, Pos2, Rect, ScrollArea, SetOpenCommand, Ui, UiBuilder};
use sparsescope_figures::figure::{Figure, Hit};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Form, ViewState};
use sparsescope_figures::views::best::board::Board;
use sparsescope_figures::views::best::drawn::Drawn;
use sparsescope_figures::views::best::headline::ABOUT;
use sparsescope_figures::views::best::heat::FOLD;
use sparsescope_figures::views::best::view;

use super::ranking::sentence;
use crate::paint::{Paint, below_head};
use crate::thumbs;
use crate::views::view::kept;

pub(super) fn show(ui: &mut Ui, form: Form, board: &Board, model: &Model, state: &mut ViewState) {
    let width = ui.available_width() - ui.spacing().scroll.bar_width - 4.0;
    let shown = (state.filter.clone(), state.best.clone(), state.charts.clone());
    let chosen = (state.matrix.clone(), state.run, state.theme, state.log);
    let from = (model.revision(), shown, chosen, form, width);
    let drawn = kept(ui, "best: drawn", from, || view::figure(form, board, model, state, width));
    // An arrow key would add to an animation under way, and scroll too far.
    let area = ScrollArea::both().auto_shrink(false).animated(false);
    let clicked = area.show(ui, |ui| {
        let corner = ui.cursor().min;
        let clicked = drawn.figure.show(ui, &view::headline(form, board));
        pictures(ui, &drawn, corner, model, state);
        about(ui, &drawn.figure, corner, clicked.as_ref());
        clicked
    });
    match clicked.inner {
        Some(hit) if hit.series.as_deref() == Some(FOLD) => {
            state.best.unfolded = !state.best.unfolded;
        }
        Some(hit) => {
            state.run = hit.run.or(state.run);
            state.matrix = Some(hit.matrix).filter(|key| !key.is_empty()).or(state.matrix.take());
        }
        None => {}
    }
}

/// All of the line below the headline, after a click on it if it is cut.
fn about(ui: &Ui, figure: &Figure, corner: Pos2, clicked: Option<&Hit>) {
    let is_cut = |hit: &&Hit| hit.series.as_deref() == Some(ABOUT);
    let Some(line) = figure.hits.iter().find(is_cut) else { return };
    let set = clicked.filter(is_cut).map(|_| SetOpenCommand::Toggle);
    let (id, place) = (Id::unique("best: about"), line.rect.translate(corner.to_vec2()));
    let popup = Popup::new(id, ui.ctx().clone(), place, ui.layer_id()).open_memory(set);
    popup.show(|ui| sentence(ui, &line.text));
}

/// The pictures of the matrices that are seen, below the head of the figure.
fn pictures(ui: &mut Ui, drawn: &Drawn, corner: Pos2, model: &Model, state: &ViewState) {
    let space = Rect::from_min_size(corner, drawn.figure.size);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(space));
    let seen = below_head(&drawn.figure, ui.clip_rect(), corner);
    inner.set_clip_rect(seen);
    for (rect, key) in &drawn.thumbs {
        let rect = rect.translate(corner.to_vec2());
        if seen.intersects(rect) {
            thumbs::show(&mut inner, model, key, rect, state.theme);
        }
    }
}
