//! Keys of runs in links. A run's number depends on which bundles are open and in which order; its
//! key does not.

use super::Model;
use super::open::{OpenBundle, RunOf};
use crate::state::{Filter, MOST_BESIDE, ViewState};

/// Digits of the run's own part of its key.
const OWN: usize = 12;
/// Digits of the bundle's part.
const BUNDLE: usize = 8;

impl RunOf<'_> {
    /// Its key in links: the start of the digest of what was measured, and of its bundle's hash.
    pub fn link_key(&self) -> String {
        format!("{}-{}", own_key(self), bundle_key(self.bundle))
    }
}

/// The part of the key that is the same in every bundle.
fn own_key(run: &RunOf<'_>) -> String {
    run.run.key(run.subject).digest().chars().take(OWN).collect()
}

fn bundle_key(bundle: &OpenBundle) -> String {
    bundle.sha256.chars().take(BUNDLE).collect()
}

impl Model {
    /// The number of the run with this key in links. If its bundle is not open, that of the same
    /// measurement in the first bundle that has it.
    pub fn run_of_key(&self, key: &str) -> Option<usize> {
        self.found.keys.get(key.to_owned(), |key| self.find_key(key))
    }

    fn find_key(&self, key: &str) -> Option<usize> {
        let (own, bundle) = key.split_once('-')?;
        let runs = self.runs(&Filter::everything());
        let find = |here: bool| {
            let mut among = runs.iter().filter(|run| (bundle_key(run.bundle) == bundle) == here);
            among.find(|run| own_key(run) == own).map(|run| run.index)
        };
        find(true).or_else(|| find(false))
    }

    /// Makes number and key of the selected run agree: the number decides if there is one. A key
    /// remains if its bundle is not open: it may be opened later, and a link still means its run.
    pub fn settle_run(&self, state: &mut ViewState) {
        if state.run.is_none() && !state.run_key.is_empty() {
            state.run = self.run_of_key(&state.run_key);
        } else if let Some(run) = state.run.and_then(|number| self.run(number)) {
            let key = run.link_key();
            if key != state.run_key && !self.stands_in(&run, &state.run_key) {
                state.run_key = key;
            }
        }
    }

    /// Returns whether a run is the one that is shown for a key of another bundle.
    fn stands_in(&self, run: &RunOf<'_>, key: &str) -> bool {
        key.starts_with(&own_key(run)) && self.run_of_key(key) == Some(run.index)
    }

    /// The key by which a run is kept beside the selected one, if it is.
    pub fn key_beside<'s>(&self, state: &'s ViewState, number: usize) -> Option<&'s String> {
        state.beside.iter().find(|key| self.run_of_key(key) == Some(number))
    }

    /// The runs to show side by side, at most [`MOST_BESIDE`]: those kept for it, then the selected
    /// one.
    pub fn beside(&self, state: &ViewState) -> Vec<RunOf<'_>> {
        let kept = state.beside.iter().filter_map(|key| self.run_of_key(key));
        let mut numbers: Vec<usize> = Vec::new();
        for number in kept.chain(state.run) {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let surplus = numbers.len().saturating_sub(MOST_BESIDE);
        numbers.into_iter().skip(surplus).filter_map(|number| self.run(number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bundle;
    use super::*;
    use sparsescope_core::record::Source;

    fn model(bundles: &[&[u8]]) -> Model {
        let mut model = Model::default();
        for (place, bytes) in bundles.iter().enumerate() {
            model.open(&format!("{place}.zip"), bytes).unwrap();
        }
        model
    }

    #[test]
    fn a_link_selects_the_same_run_whatever_the_order_of_the_bundles() {
        let runs = [("cpu/csr/nnz", 1, 2.0), ("cpu/csr/nnz", 4, 0.5)];
        let one = bundle("m", Source::Real, &runs);
        let other = bundle("m", Source::Real, &[("cpu/coo/serial", 1, 4.0), runs[1]]);
        let first = model(&[&one, &other]);
        // The same measurement is in both bundles, as runs 1 and 3.
        for (number, in_other_order) in [(0, 2), (1, 3), (2, 0), (3, 1)] {
            let mut state = ViewState { run: Some(number), ..ViewState::default() };
            first.settle_run(&mut state);
            let link = state.to_fragment();
            assert!(link.contains(&format!(";run={}", state.run_key)), "{link}");
            let mut read = ViewState::from_fragment(&link).unwrap();
            assert_eq!(read.run, None);
            model(&[&other, &one]).settle_run(&mut read);
            assert_eq!(read.run, Some(in_other_order));
        }
    }

    #[test]
    fn a_key_waits_for_its_bundle_and_finds_the_measurement_in_another() {
        let one = bundle("m", Source::Real, &[("cpu/csr/nnz", 1, 2.0)]);
        let again =
            bundle("m", Source::Real, &[("cpu/coo/serial", 1, 4.0), ("cpu/csr/nnz", 1, 2.5)]);
        let key = model(&[&one]).run(0).unwrap().link_key();
        let link = format!("v1;view=runs;run={key}");
        let mut state = ViewState::from_fragment(&link).unwrap();
        model(&[]).settle_run(&mut state);
        assert_eq!((state.run, state.run_key.as_str()), (None, key.as_str()));
        let model = model(&[&again]);
        model.settle_run(&mut state);
        assert_eq!(state.run, Some(1));
        model.settle_run(&mut state);
        assert_eq!(state.run_key, key, "the link still means the run that it names");
        state.beside = vec![key.clone()];
        assert_eq!(model.key_beside(&state, 1), Some(&key));
        assert_eq!(model.key_beside(&state, 0), None);
        state.run = Some(0); // selected by its number
        model.settle_run(&mut state);
        assert_eq!(state.run_key, model.run(0).unwrap().link_key());
    }

    #[test]
    fn a_key_follows_the_number_to_the_same_measurement_in_another_open_bundle() {
        let [one, other] = [2.0, 3.0].map(|s| bundle("m", Source::Real, &[("cpu/csr/nnz", 1, s)]));
        let model = model(&[&one, &other]);
        let mut state = ViewState { run: Some(0), ..ViewState::default() };
        model.settle_run(&mut state);
        state.run = Some(1);
        model.settle_run(&mut state);
        assert_eq!(state.run_key, model.run(1).unwrap().link_key());
    }

    #[test]
    fn a_link_with_a_number_selects_the_run_of_that_number() {
        let runs = [("cpu/csr/nnz", 1, 2.0), ("cpu/csr/nnz", 4, 0.5)];
        let mut state = ViewState::from_fragment("v1;view=runs;run=1").unwrap();
        assert_eq!(state.run, Some(1));
        let model = model(&[&bundle("m", Source::Real, &runs)]);
        model.settle_run(&mut state);
        assert_eq!(state.run_key, model.run(1).unwrap().link_key());
    }

    #[test]
    fn runs_beside_the_selected_one_are_shown_once_each() {
        let runs = [("cpu/csr/nnz", 1, 2.0), ("cpu/csr/nnz", 4, 0.5), ("cpu/coo/serial", 1, 4.0)];
        let model = model(&[&bundle("m", Source::Real, &runs)]);
        let mut state = ViewState { run: Some(2), ..ViewState::default() };
        let key = |number: usize| model.run(number).unwrap().link_key();
        state.beside = vec![key(1), "0123-4567".into(), key(2), key(0)];
        let shown =
            |state: &ViewState| model.beside(state).iter().map(|run| run.index).collect::<Vec<_>>();
        assert_eq!(shown(&state), [1, 2, 0]);
        state.beside.clear();
        assert_eq!(shown(&state), [2]);
        let read = ViewState::from_fragment(&format!("v1;runs={},{}", key(0), key(1))).unwrap();
        assert_eq!(shown(&read), [0, 1]);
    }
}
