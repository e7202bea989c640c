//! Parallel calls over many elements.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::vec;

use super::source::{Chunks, ChunksMut, Enumerate, Source, Zip};
use super::threads::{ALONE, current_num_threads, for_each_part, lock, sort_unstable};

/// Parts per thread: more of them balance uneven work better, fewer cost less.
const PARTS: usize = 16;

/// Elements shared among threads. Each method means what rayon's of the same name means.
pub struct Elements<P> {
    source: P,
    /// Minimum number of elements per part.
    at_least: usize,
}

/// Types that convert into elements.
pub trait IntoElements {
    type Source: Source;
    fn into_par_iter(self) -> Elements<Self::Source>;
}

impl IntoElements for Range<usize> {
    type Source = Self;

    fn into_par_iter(self) -> Elements<Self> {
        Elements::of(self)
    }
}

impl<T: Send> IntoElements for Vec<T> {
    type Source = vec::IntoIter<T>;

    fn into_par_iter(self) -> Elements<vec::IntoIter<T>> {
        Elements::of(self.into_iter())
    }
}

impl<'a, T: Send> IntoElements for &'a mut Vec<T> {
    type Source = &'a mut [T];

    fn into_par_iter(self) -> Elements<&'a mut [T]> {
        Elements::of(self.as_mut_slice())
    }
}

impl<P: Source> IntoElements for Elements<P> {
    type Source = P;

    fn into_par_iter(self) -> Self {
        self
    }
}

/// Elements and chunks of slices.
pub trait Slices<T> {
    fn par_iter(&self) -> Elements<&[T]>
    where
        T: Sync;
    fn par_chunks(&self, length: usize) -> Elements<Chunks<'_, T>>
    where
        T: Sync;
    fn par_chunks_mut(&mut self, length: usize) -> Elements<ChunksMut<'_, T>>
    where
        T: Send;
    fn par_sort_unstable(&mut self)
    where
        T: Ord + Send;
}

impl<T> Slices<T> for [T] {
    fn par_iter(&self) -> Elements<&[T]>
    where
        T: Sync,
    {
        Elements::of(self)
    }

    fn par_chunks(&self, length: usize) -> Elements<Chunks<'_, T>>
    where
        T: Sync,
    {
        Elements::of(Chunks { all: self, length })
    }

    fn par_chunks_mut(&mut self, length: usize) -> Elements<ChunksMut<'_, T>>
    where
        T: Send,
    {
        Elements::of(ChunksMut { all: self, length })
    }

    fn par_sort_unstable(&mut self)
    where
        T: Ord + Send,
    {
        sort_unstable(self);
    }
}

impl<P: Source> Elements<P> {
    fn of(source: P) -> Self {
        Self { source, at_least: 1 }
    }

    pub fn zip<J: IntoElements>(self, other: J) -> Elements<Zip<P, J::Source>> {
        let other = other.into_par_iter();
        let at_least = self.at_least.max(other.at_least);
        Elements { source: Zip(self.source, other.source), at_least }
    }

    pub fn enumerate(self) -> Elements<Enumerate<P>> {
        let source = Enumerate { first: 0, all: self.source };
        Elements { source, at_least: self.at_least }
    }

    pub fn with_min_len(self, at_least: usize) -> Self {
        Self { at_least, ..self }
    }

    pub fn map<R, F: Fn(P::Item) -> R + Sync>(
        self,
        f: F,
    ) -> Mapped<P, impl Fn() + Sync, impl Fn(&mut (), P::Item) -> R + Sync> {
        self.map_init(|| (), move |(): &mut (), item| f(item))
    }

    /// Calls `init()` once per part.
    pub fn map_init<S, R, I, F>(self, init: I, f: F) -> Mapped<P, I, F>
    where
        I: Fn() -> S + Sync,
        F: Fn(&mut S, P::Item) -> R + Sync,
    {
        Mapped { elements: self, init, f }
    }

    pub fn for_each(self, f: impl Fn(P::Item) + Sync) {
        self.of_parts(|_, items| items.for_each(&f));
    }

    /// Calls `init()` once per part.
    pub fn for_each_init<S>(self, init: impl Fn() -> S + Sync, f: impl Fn(&mut S, P::Item) + Sync) {
        self.of_parts(|_, items| {
            let mut state = init();
            items.for_each(|item| f(&mut state, item));
        });
    }

    pub fn all(self, f: impl Fn(P::Item) -> bool + Sync) -> bool {
        self.find_map_first(|item| (!f(item)).then_some(())).is_none()
    }

    pub fn find_first(self, f: impl Fn(&P::Item) -> bool + Sync) -> Option<P::Item>
    where
        P::Item: Send,
    {
        self.find_map_first(|item| f(&item).then_some(item))
    }

    pub fn find_map_first<R: Send>(self, f: impl Fn(P::Item) -> Option<R> + Sync) -> Option<R> {
        let first = AtomicUsize::new(usize::MAX);
        let found = self.of_parts(|k, mut items| {
            if first.load(Ordering::Relaxed) < k {
                return None;
            }
            let found = items.find_map(&f);
            if found.is_some() {
                first.fetch_min(k, Ordering::Relaxed);
            }
            found
        });
        found.into_iter().flatten().next()
    }

    pub fn position_first(self, f: impl Fn(P::Item) -> bool + Sync) -> Option<usize> {
        self.enumerate().find_map_first(|(k, item)| f(item).then_some(k))
    }

    /// Calls `work` with the number of each part and its elements; returns the results in the order of the
    /// parts.
    fn of_parts<R: Send>(self, work: impl Fn(usize, P::Iter) -> R + Sync) -> Vec<R> {
        let mut rest = self.source;
        if ALONE {
            return vec![work(0, rest.in_turn())];
        }
        let share = rest.length().div_ceil(PARTS * current_num_threads());
        let length = share.max(self.at_least).max(1);
        let mut parts = Vec::new();
        while rest.length() > length {
            parts.push(Some(rest.cut_off(length)));
        }
        parts.push(Some(rest));
        let count = parts.len();
        // Apart from the parts, so that what collects results is compiled once for all sources.
        let results: Vec<Option<R>> = std::iter::repeat_with(|| None).take(count).collect();
        let results = Mutex::new(results);
        let parts = Mutex::new(parts);
        for_each_part(count, &|k| {
            let part = lock(&parts).get_mut(k).and_then(Option::take);
            let result = part.map(|part| work(k, part.in_turn()));
            if let Some(place) = lock(&results).get_mut(k) {
                *place = result;
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().flatten().collect()
    }
}

/// A mapping over elements, not yet run.
pub struct Mapped<P, I, F> {
    elements: Elements<P>,
    init: I,
    f: F,
}

impl<P, S, R, I, F> Mapped<P, I, F>
where
    P: Source,
    R: Send,
    I: Fn() -> S + Sync,
    F: Fn(&mut S, P::Item) -> R + Sync,
{
    pub fn collect(self) -> Vec<R> {
        let Self { elements, init, f } = self;
        let length = elements.source.length();
        let mut all: Vec<R> = Vec::with_capacity(length);
        let room: &mut [MaybeUninit<R>] = &mut all.spare_capacity_mut()[..length];
        elements.zip(Elements::of(room)).for_each_init(init, |state, (item, place)| {
            place.write(f(state, item));
        });
        // SAFETY: the capacity suffices, and all places have been written: there are as many elements, and
        // parts of both are equally long.
        unsafe { all.set_len(length) };
        all
    }

    pub fn reduce(self, identity: impl Fn() -> R + Sync, join: impl Fn(R, R) -> R + Sync) -> R {
        let Self { elements, init, f } = self;
        let parts = elements.of_parts(|_, items| {
            let mut state = init();
            items.map(|item| f(&mut state, item)).fold(identity(), &join)
        });
        parts.into_iter().fold(identity(), join)
    }

    pub fn max(self) -> Option<R>
    where
        R: Ord,
    {
        let Self { elements, init, f } = self;
        let parts = elements.of_parts(|_, items| {
            let mut state = init();
            items.map(|item| f(&mut state, item)).max()
        });
        parts.into_iter().flatten().max()
    }
}
