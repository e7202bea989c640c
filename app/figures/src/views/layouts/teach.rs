//! A step of a lesson next to what it shows.

use super::numbers::Texts;
use super::subject::Subject;
use crate::lesson::Step;
use crate::model::Model;
use crate::state::{LAYOUTS, Small, ViewState};
use crate::views::{facts, own};

/// The texts of a lesson's step with their numbers for this state; if a number does not exist, a
/// sentence that says so.
pub fn texts_of(step: &Step, model: &Model, now: &ViewState) -> Texts {
    let texts = if now.view == LAYOUTS {
        let is_selected = now.layouts.small == Small::Selected;
        let selected = Subject::of(model, now).ok().filter(|_| is_selected);
        Texts::counted(step, selected.as_ref().map(|subject| &subject.a))
    } else {
        Texts::of(step, |asked, shown| match own::is_own(shown) {
            false => facts::number(asked, model, now),
            // For the step's own matrix or points, even if the class has changed them.
            true => facts::number(asked, model, shown),
        })
    };
    texts.unwrap_or_else(Texts::only)
}
