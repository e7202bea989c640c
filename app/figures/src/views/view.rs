//! The definition of a view, and what several views share.

use sparsescope_core::record::{MatrixRecord, Subject};

use crate::model::Model;
use crate::state::ViewState;

/// One way to look at the bundles.
pub struct View {
    /// Id in a link.
    pub id: &'static str,
    /// Title of its tab.
    pub name: &'static str,
    /// What it shows, in one sentence.
    pub sentence: &'static str,
    /// The data of the drawing as a table: header and lines.
    pub table: fn(&Model, &ViewState) -> Vec<Vec<String>>,
    /// The drawing as SVG, for views that are figures.
    pub svg: Option<fn(&Model, &ViewState) -> String>,
    /// Whether it shows one operation other than SpMV: such views stand behind the others.
    pub of_operation: bool,
    /// Whether it has nothing to show of what is selected.
    pub is_empty: fn(&Model, &ViewState) -> bool,
}

/// For views that always have something to show.
pub(super) fn never(_: &Model, _: &ViewState) -> bool {
    false
}

/// The selected matrix; the largest one if none is selected.
pub(super) fn selected<'a>(model: &'a Model, state: &ViewState) -> Option<&'a MatrixRecord> {
    let chosen = state.matrix.as_deref().and_then(|key| model.matrix(key));
    chosen.or_else(|| model.largest(&state.filter))
}

/// The selected subject; the largest matrix, or other subject with runs, if none is selected.
pub fn subject<'a>(model: &'a Model, state: &ViewState) -> Option<Subject<'a>> {
    let chosen = state.matrix.as_deref().and_then(|key| model.subject(key));
    let others = || model.others(&state.filter).last().map(|(_, subject)| *subject);
    chosen.or_else(others).or_else(|| model.largest(&state.filter).map(Subject::Matrix))
}

/// Says in a sentence that there is no `what` to show.
pub fn none_shown(model: &Model, what: &str) -> String {
    match model.bundles().is_empty() {
        true => format!("No {what} is open."),
        false => format!("No {what} passes the filters."),
    }
}

/// Why no run is shown, in a sentence.
pub fn no_run(model: &Model, state: &ViewState) -> String {
    match other_operation(model, state) {
        None => none_shown(model, "run"),
        Some(_) => {
            let (shown, all) = (&state.filter.operation, model.operations());
            format!("No run of {shown} is open, only of {}.", all.join(", "))
        }
    }
}

/// The operation with the most runs, if no run of the one shown is open.
pub fn other_operation<'a>(model: &'a Model, state: &ViewState) -> Option<&'a str> {
    let other = model.main_operation()?;
    (!model.operations().contains(&state.filter.operation.as_str())).then_some(other)
}

/// The text with spaces in its numbers at which egui breaks no lines, as it does at narrow ones.
pub fn unbroken(text: &str) -> String {
    text.replace('\u{202f}', "\u{a0}")
}

/// Says that a matrix was generated, as its bundle has no values.
pub fn made_again(name: &str) -> String {
    format!("{name} is generated here from the recipe in its bundle.")
}
