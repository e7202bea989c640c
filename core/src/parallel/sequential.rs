//! The part of rayon's interface that the core uses, for one thread. Each call means what rayon's
//! of the same name means.

use std::slice::{Chunks, ChunksMut, Iter};

/// An iterator that is not shared among threads. Its own type, since methods of the same name take
/// other arguments in [`Iterator`].
pub(crate) struct Sequence<I>(I);

/// What elements can be taken from, one after the other.
pub(crate) trait IntoSequence {
    type Iter: Iterator;
    fn into_par_iter(self) -> Sequence<Self::Iter>;
}

impl<T: IntoIterator> IntoSequence for T {
    type Iter = T::IntoIter;

    fn into_par_iter(self) -> Sequence<T::IntoIter> {
        Sequence(self.into_iter())
    }
}

impl<I: Iterator> IntoSequence for Sequence<I> {
    type Iter = I;

    fn into_par_iter(self) -> Self {
        self
    }
}

/// Parts of slices.
pub(crate) trait SliceSequences<T> {
    fn par_iter(&self) -> Sequence<Iter<'_, T>>;
    fn par_chunks(&self, length: usize) -> Sequence<Chunks<'_, T>>;
    fn par_chunks_mut(&mut self, length: usize) -> Sequence<ChunksMut<'_, T>>;
    fn par_sort_unstable(&mut self)
    where
        T: Ord;
}

impl<T> SliceSequences<T> for [T] {
    fn par_iter(&self) -> Sequence<Iter<'_, T>> {
        Sequence(self.iter())
    }

    fn par_chunks(&self, length: usize) -> Sequence<Chunks<'_, T>> {
        Sequence(self.chunks(length))
    }

    fn par_chunks_mut(&mut self, length: usize) -> Sequence<ChunksMut<'_, T>> {
        Sequence(self.chunks_mut(length))
    }

    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        self.sort_unstable();
    }
}

impl<I: Iterator> Sequence<I> {
    pub(crate) fn map<R>(self, f: impl FnMut(I::Item) -> R) -> Sequence<impl Iterator<Item = R>> {
        Sequence(self.0.map(f))
    }

    /// One `init()` serves every element.
    pub(crate) fn map_init<S, R>(
        self,
        init: impl FnOnce() -> S,
        mut f: impl FnMut(&mut S, I::Item) -> R,
    ) -> Sequence<impl Iterator<Item = R>> {
        let mut state = init();
        Sequence(self.0.map(move |item| f(&mut state, item)))
    }

    pub(crate) fn zip<J: IntoSequence>(
        self,
        other: J,
    ) -> Sequence<impl Iterator<Item = (I::Item, <J::Iter as Iterator>::Item)>> {
        Sequence(self.0.zip(other.into_par_iter().0))
    }

    pub(crate) fn enumerate(self) -> Sequence<impl Iterator<Item = (usize, I::Item)>> {
        Sequence(self.0.enumerate())
    }

    pub(crate) fn with_min_len(self, _: usize) -> Self {
        self
    }

    pub(crate) fn for_each(self, f: impl FnMut(I::Item)) {
        self.0.for_each(f);
    }

    /// One `init()` serves every element.
    pub(crate) fn for_each_init<S>(
        self,
        init: impl FnOnce() -> S,
        mut f: impl FnMut(&mut S, I::Item),
    ) {
        let mut state = init();
        self.0.for_each(|item| f(&mut state, item));
    }

    pub(crate) fn reduce(
        self,
        identity: impl FnOnce() -> I::Item,
        f: impl FnMut(I::Item, I::Item) -> I::Item,
    ) -> I::Item {
        self.0.fold(identity(), f)
    }

    pub(crate) fn collect<C: FromIterator<I::Item>>(self) -> C {
        self.0.collect()
    }

    pub(crate) fn max(self) -> Option<I::Item>
    where
        I::Item: Ord,
    {
        self.0.max()
    }

    pub(crate) fn all(mut self, f: impl FnMut(I::Item) -> bool) -> bool {
        self.0.all(f)
    }

    pub(crate) fn find_first(mut self, f: impl FnMut(&I::Item) -> bool) -> Option<I::Item> {
        self.0.find(f)
    }

    pub(crate) fn find_map_first<R>(mut self, f: impl FnMut(I::Item) -> Option<R>) -> Option<R> {
        self.0.find_map(f)
    }

    pub(crate) fn position_first(mut self, f: impl FnMut(I::Item) -> bool) -> Option<usize> {
        self.0.position(f)
    }
}

/// Both, one after the other.
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// One.
pub(crate) fn current_num_threads() -> usize {
    1
}

#[cfg(test)]
mod tests {
    use super::{current_num_threads, join};

    /// Every call, so that the same text means rayon's or ours.
    macro_rules! calls {
        ($numbers:expr) => {{
            let numbers: &[u64] = $numbers;
            let mut sorted = numbers.to_vec();
            sorted.par_sort_unstable();
            let mut chunks = sorted.clone();
            let lines = chunks.par_chunks_mut(7).zip(numbers.par_chunks(7)).enumerate();
            lines.for_each(|(k, (line, other))| line[0] = k as u64 + other[0]);
            chunks.par_chunks_mut(3).for_each_init(|| 5, |state, line| line[0] += *state);
            let doubled = numbers.par_iter().map(|n| n * 2).with_min_len(8);
            let started = (0..9usize).into_par_iter().map_init(|| 3, |state, k| k + *state);
            (
                (sorted, chunks, doubled.collect::<Vec<_>>(), started.collect::<Vec<_>>()),
                numbers.par_iter().all(|n| *n < 1009),
                numbers.par_iter().map(|n| *n).reduce(|| 0, |a, b| a + b),
                numbers.par_iter().max().copied(),
                numbers.par_iter().position_first(|n| *n > 1000),
                (0..1000usize).into_par_iter().find_first(|k| numbers[*k] > 900),
                (0..1000usize).into_par_iter().find_map_first(|k| numbers[k].checked_sub(1000)),
                numbers.par_iter().position_first(|n| *n > 5000),
            )
        }};
    }

    #[test]
    fn each_call_gives_what_rayon_gives() {
        let numbers: Vec<u64> = (0..1000).map(|k| k * 7919 % 1009).collect();
        let of_rayon = {
            use rayon::prelude::*;
            calls!(&numbers)
        };
        let in_turn = {
            use super::{IntoSequence as _, SliceSequences as _};
            calls!(&numbers)
        };
        assert_eq!(of_rayon, in_turn);
        assert_eq!(join(|| 1, || 2), rayon::join(|| 1, || 2));
        assert_eq!(current_num_threads(), 1);
    }
}
