//! From a run to related views and runs.

use egui::{RichText, Role, Ui, WidgetInfo};
use sparsescope_figures::model::{Model, RunOf, significant};
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::theme::{BODY, SPACE};

use super::parts::quiet;
use crate::shell::is_alone;
use crate::style::strong;
use crate::views::view::kept;

/// Buttons to views of its subject, and the one that keeps it for a comparison.
pub(super) fn show(ui: &mut Ui, model: &Model, run: &RunOf<'_>, state: &mut ViewState) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = SPACE * 2.0;
        if !is_alone(ui) {
            views(ui, run, state);
        }
        compare(ui, model.key_beside(state, run.index).is_some(), state);
    });
}

fn views(ui: &mut Ui, run: &RunOf<'_>, state: &mut ViewState) {
    let mut to = |name: &str, view: &str| {
        let button = quiet(ui, name, state);
        let words = format!("{name} of the selected run");
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
        if button.clicked() {
            state.matrix = Some(run.key());
            state.view = view.into();
        }
    };
    to("Matrix", "matrix");
    if run.matrix().is_some() {
        to("Structure", "spy");
        to("Layouts", "layouts");
    }
    to("All runs", "runs");
}

/// The switch that keeps the run beside those selected next.
fn compare(ui: &mut Ui, is_kept: bool, state: &mut ViewState) {
    let toggle = ui.selectable_label(is_kept, "Compare");
    let words = "Compare the selected run";
    toggle.widget_info(|| WidgetInfo::selected(Role::Button, true, is_kept, words));
    let hint = "Keep this run and select others to see up to four side by side. \
                In the table of runs, Ctrl+click or Shift+click does the same";
    if toggle.on_hover_text(hint).clicked() {
        match is_kept {
            true => state.beside.clear(),
            false => state.keep_beside(),
        }
    }
}

/// The same run in other bundles.
pub(super) fn elsewhere(ui: &mut Ui, model: &Model, run: &RunOf<'_>, state: &mut ViewState) {
    let from = (model.revision(), run.index);
    let others = kept(ui, "details: others", from, || same_elsewhere(model, run));
    if others.is_empty() {
        return;
    }
    ui.add_space(SPACE);
    let font = strong(ui.ctx(), BODY);
    ui.label(RichText::new("The same run in other bundles").font(font));
    for other in others.iter().filter_map(|number| model.run(*number)) {
        let both_rank = other.ranks() && run.ranks();
        let ratio = match other.gain_over(run).filter(|_| both_rank) {
            Some(gain) => format!(", {}× as fast", significant(gain)),
            None => String::new(),
        };
        let rate = other.rate().map_or_else(|| other.verdict().to_owned(), significant);
        if quiet(ui, &format!("{}: {rate}{ratio}", other.bundle.label()), state).clicked() {
            state.select_run(other.index, other.link_key(), false);
        }
    }
}

/// Numbers of the runs in other bundles that differ only in device and times.
fn same_elsewhere(model: &Model, run: &RunOf<'_>) -> Vec<usize> {
    let of = |run: &RunOf<'_>| {
        let of = run.run;
        (of.threads, of.block, of.hot)
    };
    let is_same = |other: &RunOf<'_>| {
        other.bundle.series != run.bundle.series
            && other.run.kernel == run.run.kernel
            && of(other) == of(run)
            && other.run.precision == run.run.precision
            && other.setting() == run.setting()
            && other.key() == run.key()
    };
    let all = model.runs(&Filter::all_of(&run.run.operation));
    all.iter().filter(|other| is_same(other)).map(|other| other.index).collect()
}
