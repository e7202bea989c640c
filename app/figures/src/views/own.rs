//! Views that can also show what a link describes, without an open bundle: their numbers in the
//! texts of lessons.

use super::{fsai, levels, skyline};
use crate::lesson::{Step, fill};
use crate::model::Model;
use crate::state::{FsaiOf, LevelsOf, PointsOf, ViewState};

/// Returns whether the view of this state shows something that needs no open bundle.
pub(crate) fn is_own(state: &ViewState) -> bool {
    match state.view.as_str() {
        view if view == levels::VIEW.id => match state.levels.of {
            LevelsOf::Selected => false,
            LevelsOf::Small => state.layouts.small.matrix().is_some(),
            LevelsOf::Grid(_) => true,
        },
        view if view == fsai::VIEW.id => match state.fsai.of {
            FsaiOf::Selected => false,
            FsaiOf::Small => state.layouts.small.matrix().is_some(),
            FsaiOf::Mesh(_) => true,
        },
        view if view == skyline::VIEW.id => state.skyline.of != PointsOf::Selected,
        _ => false,
    }
}

/// Returns whether the view with this id has steps to go through with keys.
pub fn steps(view: &str) -> bool {
    [levels::VIEW.id, skyline::VIEW.id, fsai::VIEW.id].contains(&view)
}

/// Returns whether this question exists for this view.
pub(super) fn is_known(asked: &str, view: &str) -> bool {
    view == levels::VIEW.id && levels::is_known(asked)
        || view == skyline::VIEW.id && skyline::is_known(asked)
        || view == fsai::VIEW.id && fsai::is_known(asked)
}

/// The answer to `quantity;key=value`, with settings as in a link, for this state.
pub(super) fn number(asked: &str, model: &Model, state: &ViewState) -> Result<String, String> {
    let (asked, settings) = asked.split_once(';').unwrap_or((asked, ""));
    let mut state = state.clone();
    if !settings.is_empty() {
        let fragment = format!("v1;{settings}");
        if let Some(unknown) = ViewState::not_understood(&fragment) {
            return Err(format!("`{unknown}` is unknown here"));
        }
        state = state.with_fragment(&fragment).ok_or("there is no such number")?;
    }
    match state.view.as_str() {
        view if view == skyline::VIEW.id => skyline::number(asked, model, &state),
        view if view == fsai::VIEW.id => fsai::number(asked, model, &state),
        _ => levels::number(asked, model, &state),
    }
}

/// Checks the numbers of a lesson's step that needs no open bundle.
pub(super) fn check(step: &Step) -> Result<(), String> {
    let then = step.then.as_ref().unwrap_or(&step.show);
    let model = Model::default();
    let fills = |texts: &[String], state: &ViewState| -> Result<Vec<String>, String> {
        texts.iter().map(|text| fill(text, |asked| number(asked, &model, state))).collect()
    };
    if is_own(&step.show) {
        fills(&step.text, &step.show)?;
        fills(step.ask.as_slice(), &step.show)?;
        let mut choices = fills(&step.choices, &step.show)?;
        sparsescope_core::order::sort(&mut choices);
        choices.dedup();
        if choices.len() < step.choices.len() {
            return Err("two choices are the same".into());
        }
    }
    if is_own(then) {
        fills(&step.answer, then)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::views::VIEWS;

    const SHOWN: [&str; 12] = [
        "view=levels;levels-of=grid5x4",
        "view=levels;levels-of=grid9x4",
        "view=levels;levels-of=grid5x6",
        "view=levels;levels-of=small;small=3x0/0,1/1,2",
        "view=levels;levels-of=small;small=3x0/1/2",
        "view=preconditioner;fsai-of=grid5x4",
        "view=preconditioner;fsai-of=weak5x4",
        "view=preconditioner;fsai-of=weak5x5",
        "view=preconditioner;fsai-of=grid5x4;fsai-power=1",
        "view=skyline;points-of=1,4/4,2",
        "view=skyline;points-of=2,2/3,4",
        "view=skyline;points-of=2,2/3,4/5,1",
    ];

    #[test]
    fn what_is_shown_does_not_depend_on_what_was_shown_before() {
        let table = |model: &Model, shown: &str| {
            let state = ViewState::from_fragment(&format!("v1;{shown}")).unwrap();
            let view = VIEWS.iter().find(|view| view.id == state.view).unwrap();
            (view.table)(model, &state)
        };
        let alone = SHOWN.map(|shown| table(&Model::default(), shown));
        assert_eq!(alone.iter().collect::<BTreeSet<_>>().len(), SHOWN.len(), "all differ");
        let model = Model::default();
        for place in (0..SHOWN.len()).chain((0..SHOWN.len()).rev()) {
            assert_eq!(table(&model, SHOWN[place]), alone[place], "{}", SHOWN[place]);
        }
    }
}
