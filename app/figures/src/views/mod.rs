//! The views. Each is one file with a [`View`] in it and one line in [`VIEWS`]. Views do not depend
//! on each other; all draw from (bundles, state) and change only the state.

#[doc(hidden)]
pub mod best;
#[doc(hidden)]
pub mod charts;
#[doc(hidden)]
pub mod facts;
#[doc(hidden)]
pub mod fsai;
#[doc(hidden)]
pub mod layouts;
#[doc(hidden)]
pub mod levels;
#[doc(hidden)]
pub mod matrix;
#[doc(hidden)]
pub mod own;
#[doc(hidden)]
pub mod predicted;
mod provenance;
mod ranking;
#[doc(hidden)]
pub mod runs;
#[doc(hidden)]
pub mod skyline;
#[doc(hidden)]
pub mod spy;
#[doc(hidden)]
pub mod view;

use crate::lesson::{Lesson, fill};
use crate::model::Model;
use crate::state::ViewState;
pub use best::board::Board;
pub use layouts::{Texts, texts_of};
pub use view::View;

/// Every view, in the order of the tabs: those of any operation, then those of one.
pub const VIEWS: &[View] = &[
    best::VIEW,
    charts::VIEW,
    runs::VIEW,
    matrix::VIEW,
    spy::VIEW,
    layouts::VIEW,
    predicted::VIEW,
    levels::VIEW,
    fsai::VIEW,
    skyline::VIEW,
];

/// The active view; the first one if the state names an unknown view.
pub fn current(state: &ViewState) -> Option<&'static View> {
    VIEWS.iter().find(|view| view.id == state.view).or(VIEWS.first())
}

/// Returns whether a lesson, or on a projector the board of layouts, replaces this view's settings
/// and the surroundings of the views.
pub fn teaches(view: &View, model: &Model, state: &ViewState) -> bool {
    if view.id == layouts::VIEW.id && layouts::is_framed(state) {
        return true;
    }
    let Some((id, _)) = &state.layouts.lesson else { return false };
    let shown = model.lessons.get(id).and_then(|lesson| lesson.view(state));
    shown.unwrap_or(layouts::VIEW.id) == view.id
}

/// Reads a lesson and checks its numbers and kernels.
pub fn read_lesson(bytes: &[u8]) -> Result<Lesson, String> {
    let lesson = Lesson::read(bytes)?;
    check(&lesson)?;
    Ok(lesson)
}

/// Checks the views, numbers and kernels of a lesson.
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

/// Returns whether the view has something to show when no bundle is open.
pub fn needs_no_bundle(view: &View, state: &ViewState) -> bool {
    view.id == layouts::VIEW.id || (view.id == state.view && own::is_own(state))
}

/// Returns whether a view draws the text of a lesson's step itself.
pub fn draws_its_lesson(view: &View) -> bool {
    view.id == layouts::VIEW.id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_one_operation_stand_behind_the_others() {
        assert!(VIEWS.is_sorted_by_key(|view| view.of_operation));
    }
}
