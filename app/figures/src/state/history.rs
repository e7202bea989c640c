//! The steps that Back undoes and Redo repeats.

use super::ViewState;

/// The undo history, newest state last, and what was undone.
#[derive(Debug, Default)]
pub struct History {
    past: Vec<ViewState>,
    undone: Vec<ViewState>,
    typing: bool,
}

/// Maximum number of undo steps.
const DEPTH: usize = 200;

impl History {
    /// Records `before` if `after` differs; what was undone is forgotten. Consecutive letters typed into the search count as one
    /// change, and so do moves in the picture of a matrix or a point set, changes of τ and other
    /// filter thresholds, and steps through the levels of a sweep, an algorithm or the rows of a
    /// setup.
    pub fn record(&mut self, before: &ViewState, after: &ViewState) {
        if before == after {
            return;
        }
        self.undone.clear();
        let mut retyped = before.clone();
        retyped.filter.search.clone_from(&after.filter.search);
        retyped.spy.at = after.spy.at;
        retyped.charts.tau = after.charts.tau;
        retyped.levels.step = after.levels.step;
        (retyped.skyline.at, retyped.skyline.step) = (after.skyline.at, after.skyline.step);
        let (typed, now) = (&mut retyped.fsai, &after.fsai);
        (typed.prefilter, typed.postfilter, typed.row) = (now.prefilter, now.postfilter, now.row);
        if typed.merge.is_some() && now.merge.is_some() {
            typed.merge = now.merge;
        }
        let typing = retyped == *after;
        if !(typing && self.typing) {
            if self.past.len() == DEPTH {
                self.past.remove(0);
            }
            self.past.push(before.clone());
        }
        self.typing = typing;
    }

    /// Makes the next change a separate one, even if it continues typing.
    pub fn settle(&mut self) {
        self.typing = false;
    }

    /// The state before the last change; `now` is the one shown.
    pub fn back(&mut self, now: &ViewState) -> Option<ViewState> {
        self.typing = false;
        let state = self.past.pop()?;
        self.undone.push(now.clone());
        Some(state)
    }

    /// The state before the last step back; `now` is the one shown.
    pub fn forward(&mut self, now: &ViewState) -> Option<ViewState> {
        self.typing = false;
        let state = self.undone.pop()?;
        self.past.push(now.clone());
        Some(state)
    }

    /// Settles the recorded states whose selected run is known by its number only. Must be called
    /// before numbers change.
    pub fn settle_numbers(&mut self, settle: impl Fn(&mut ViewState)) {
        self.states().filter(|state| state.run_key.is_empty()).for_each(settle);
    }

    /// Clears the number of the selected run in all recorded states, because numbers changed. Its
    /// key remains; a number without one is that of a run that is not open yet.
    pub fn forget_numbers(&mut self) {
        self.states().filter(|state| !state.run_key.is_empty()).for_each(|state| state.run = None);
    }

    fn states(&mut self) -> impl Iterator<Item = &mut ViewState> {
        self.past.iter_mut().chain(&mut self.undone)
    }

    /// Returns whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.past.is_empty()
    }

    /// Returns whether a step back can be redone.
    pub fn can_go_forward(&self) -> bool {
        !self.undone.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_undoes_changes_and_typing_counts_as_one() {
        let mut history = History::default();
        let first = ViewState::default();
        let mut now = first.clone();
        for typed in ["f", "fe", "fem"] {
            let before = now.clone();
            now.filter.search = typed.into();
            history.record(&before, &now);
        }
        let searched = now.clone();
        now.view = "runs".into();
        history.record(&searched, &now);
        history.record(&now, &now);
        assert_eq!(history.back(&now), Some(searched.clone()));
        assert_eq!(history.back(&searched), Some(first));
        assert!(history.is_empty());
    }

    #[test]
    fn forward_redoes_what_back_undid_until_something_else_changes() {
        let mut history = History::default();
        let at = |view: &str| ViewState { view: view.into(), ..ViewState::default() };
        let (one, two, three) = (at("best"), at("runs"), at("matrix"));
        history.record(&one, &two);
        history.record(&two, &three);
        assert_eq!(history.forward(&three), None);
        assert_eq!(history.back(&three), Some(two.clone()));
        assert_eq!(history.back(&two), Some(one.clone()));
        assert_eq!(history.back(&one), None);
        assert_eq!(history.forward(&one), Some(two.clone()));
        assert!(history.can_go_forward());
        assert_eq!(history.forward(&two), Some(three.clone()));
        assert!(!history.can_go_forward());
        assert_eq!(history.back(&three), Some(two.clone()), "the way back is the same");
        history.record(&two, &two);
        assert!(history.can_go_forward(), "nothing has changed");
        history.record(&two, &at("spy"));
        assert_eq!(history.forward(&at("spy")), None);
        assert_eq!(history.back(&at("spy")), Some(two));
        assert_eq!(history.back(&three), Some(one));
    }

    #[test]
    fn recorded_runs_are_known_by_their_keys_once_numbers_change() {
        let on = |run: Option<usize>, key: &str| ViewState {
            run,
            run_key: key.into(),
            ..ViewState::default()
        };
        let mut history = History::default();
        // By its number in a link, by its number in a link to a bundle that is not open, by both.
        let [first, waiting, both] = [on(Some(0), ""), on(Some(9), ""), on(Some(1), "b-b")];
        history.record(&first, &waiting);
        history.record(&waiting, &both);
        history.record(&both, &on(None, ""));
        history.settle_numbers(|state| {
            if state.run == Some(0) {
                state.run_key = "a-a".into();
            }
        });
        history.forget_numbers();
        assert_eq!(history.back(&on(None, "")), Some(on(None, "b-b")));
        assert_eq!(history.back(&both), Some(waiting.clone()));
        assert_eq!(history.back(&waiting), Some(on(None, "a-a")), "no longer its number");
    }
}
