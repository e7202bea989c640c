//! The views. Each is one file with a [`View`] in it and one line in [`VIEWS`]; none knows another,
//! all draw from (bundles, state) and change nothing but the state.

mod best;
pub(crate) mod charts;
pub(crate) mod details;
pub(crate) mod facts;
mod fsai;
pub(crate) mod layouts;
mod levels;
mod matrix;
pub(crate) mod own;
mod player;
mod predicted;
mod provenance;
mod ranking;
mod runs;
mod skyline;
pub mod spy;
mod view;

use crate::lesson::{Lesson, fill};
use crate::model::Model;
use crate::state::ViewState;

#[cfg(not(target_family = "wasm"))]
pub(crate) use best::Board;
pub use layouts::{Texts, texts_of};
pub use view::View;

/// Every view, in the order of the tabs.
pub const VIEWS: &[View] = &[
    best::VIEW,
    charts::VIEW,
    runs::VIEW,
    matrix::VIEW,
    spy::VIEW,
    levels::VIEW,
    fsai::VIEW,
    skyline::VIEW,
    layouts::VIEW,
    predicted::VIEW,
];

/// The view in front; the first where the state names none that exists.
pub(crate) fn current(state: &ViewState) -> Option<&'static View> {
    VIEWS.iter().find(|view| view.id == state.view).or(VIEWS.first())
}

/// Whether a lesson, or on a projector the board of layouts, takes the place of this view's settings
/// and of what lies around the views.
pub(crate) fn teaches(view: &View, model: &Model, state: &ViewState) -> bool {
    if view.id == layouts::VIEW.id && layouts::is_framed(state) {
        return true;
    }
    let Some((id, _)) = &state.layouts.lesson else { return false };
    let shown = model.lessons.get(id).and_then(|lesson| lesson.view(state));
    shown.unwrap_or(layouts::VIEW.id) == view.id
}

/// What is wrong with the views, numbers and kernels of a lesson, if anything.
pub(crate) fn check(lesson: &Lesson) -> Result<(), String> {
    for (number, step) in lesson.steps.iter().enumerate() {
        let at = |why: String| format!("step {}: {why}", number + 1);
        let then = step.then.as_ref().unwrap_or(&step.show);
        for state in [&step.show, then] {
            if !VIEWS.iter().any(|view| view.id == state.view) {
                return Err(at(format!("there is no view {}", state.view)));
            }
        }
        if step.show.view != layouts::VIEW.id {
            let asked = step.ask.iter();
            let texts = step.text.iter().chain(asked).chain(&step.choices).chain(&step.answer);
            let known = |asked: &str| facts::is_known(asked, &step.show.view);
            for text in texts {
                fill(text, |asked| known(asked).map(|()| String::new())).map_err(at)?;
            }
        }
        own::check(step).map_err(at)?;
    }
    layouts::check(lesson)
}

/// Whether there is something to see when no bundle is open.
pub(crate) fn needs_no_bundle(view: &View, state: &ViewState) -> bool {
    view.id == layouts::VIEW.id || (view.id == state.view && own::is_own(state))
}

/// Whether a view draws the text of a lesson's step by itself.
pub(crate) fn draws_its_lesson(view: &View) -> bool {
    view.id == layouts::VIEW.id
}
