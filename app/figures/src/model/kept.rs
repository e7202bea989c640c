//! A cache of answers that take long to compute.

use std::cell::RefCell;

/// The last `MOST` answers, each with its question.
#[derive(Clone, Debug)]
pub(super) struct Kept<K, V, const MOST: usize>(RefCell<Vec<(K, V)>>);

impl<K, V, const MOST: usize> Default for Kept<K, V, MOST> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: PartialEq, V: Clone, const MOST: usize> Kept<K, V, MOST> {
    /// The answer, if it is cached.
    pub(super) fn known(&self, asked: &K) -> Option<V> {
        self.0.borrow().iter().find(|(of, _)| of == asked).map(|(_, answer)| answer.clone())
    }

    /// The cached answer, or computes it now.
    pub(super) fn get(&self, asked: K, find: impl FnOnce(&K) -> V) -> V {
        let place = self.0.borrow().iter().position(|(of, _)| *of == asked);
        let answer = match place {
            Some(place) => self.0.borrow_mut().remove(place),
            None => {
                let found = find(&asked); // may ask further questions
                (asked, found)
            }
        };
        let found = answer.1.clone();
        let mut kept = self.0.borrow_mut();
        kept.push(answer);
        let surplus = kept.len().saturating_sub(MOST);
        kept.drain(..surplus);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answers_asked_for_last_are_not_found_anew() {
        let kept = Kept::<u32, u32, 2>::default();
        let mut found = Vec::new();
        for asked in [1, 2, 1, 3, 1, 2] {
            let answer = kept.get(asked, |of| {
                found.push(*of);
                of * 10
            });
            assert_eq!(answer, asked * 10);
        }
        assert_eq!(found, [1, 2, 3, 2]);
        assert_eq!([1, 2, 3].map(|asked| kept.known(&asked)), [Some(10), Some(20), None]);
    }
}
