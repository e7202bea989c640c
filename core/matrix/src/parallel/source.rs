//! Elements that can be split into parts for several threads.

use std::iter;
use std::ops::{Range, RangeFrom};
use std::{slice, vec};

/// Elements that can be split.
pub trait Source: Sized + Send {
    type Item;
    type Iter: Iterator<Item = Self::Item>;

    /// Number of elements, equal to the number that [`in_turn`](Self::in_turn) yields.
    fn length(&self) -> usize;

    /// Splits off the first `count` elements; `count` is at most the length.
    fn cut_off(&mut self, count: usize) -> Self;

    /// Yields the elements in order.
    fn in_turn(self) -> Self::Iter;
}

impl Source for Range<usize> {
    type Item = usize;
    type Iter = Self;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_off(&mut self, count: usize) -> Self {
        let first = self.start..self.start + count;
        self.start = first.end;
        first
    }

    fn in_turn(self) -> Self {
        self
    }
}

impl<T: Send> Source for vec::IntoIter<T> {
    type Item = T;
    type Iter = Self;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_off(&mut self, count: usize) -> Self {
        self.by_ref().take(count).collect::<Vec<T>>().into_iter()
    }

    fn in_turn(self) -> Self {
        self
    }
}

impl<'a, T: Sync> Source for &'a [T] {
    type Item = &'a T;
    type Iter = slice::Iter<'a, T>;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_off(&mut self, count: usize) -> Self {
        self.split_off(..count).unwrap_or_default()
    }

    fn in_turn(self) -> Self::Iter {
        self.iter()
    }
}

impl<'a, T: Send> Source for &'a mut [T] {
    type Item = &'a mut T;
    type Iter = slice::IterMut<'a, T>;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_off(&mut self, count: usize) -> Self {
        self.split_off_mut(..count).unwrap_or_default()
    }

    fn in_turn(self) -> Self::Iter {
        self.iter_mut()
    }
}

/// Like `chunks` of a slice.
pub struct Chunks<'a, T> {
    pub(super) all: &'a [T],
    pub(super) length: usize,
}

impl<'a, T: Sync> Source for Chunks<'a, T> {
    type Item = &'a [T];
    type Iter = slice::Chunks<'a, T>;

    fn length(&self) -> usize {
        self.all.len().div_ceil(self.length)
    }

    fn cut_off(&mut self, count: usize) -> Self {
        let end = self.all.len().min(count * self.length);
        Self { all: self.all.cut_off(end), length: self.length }
    }

    fn in_turn(self) -> Self::Iter {
        self.all.chunks(self.length)
    }
}

/// Like `chunks_mut` of a slice.
pub struct ChunksMut<'a, T> {
    pub(super) all: &'a mut [T],
    pub(super) length: usize,
}

impl<'a, T: Send> Source for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type Iter = slice::ChunksMut<'a, T>;

    fn length(&self) -> usize {
        self.all.len().div_ceil(self.length)
    }

    fn cut_off(&mut self, count: usize) -> Self {
        let end = self.all.len().min(count * self.length);
        Self { all: self.all.cut_off(end), length: self.length }
    }

    fn in_turn(self) -> Self::Iter {
        self.all.chunks_mut(self.length)
    }
}

/// Pairs of elements from two sources.
pub struct Zip<A, B>(pub(super) A, pub(super) B);

impl<A: Source, B: Source> Source for Zip<A, B> {
    type Item = (A::Item, B::Item);
    type Iter = iter::Zip<A::Iter, B::Iter>;

    fn length(&self) -> usize {
        self.0.length().min(self.1.length())
    }

    fn cut_off(&mut self, count: usize) -> Self {
        Self(self.0.cut_off(count), self.1.cut_off(count))
    }

    fn in_turn(self) -> Self::Iter {
        self.0.in_turn().zip(self.1.in_turn())
    }
}

/// Elements with their numbers.
pub struct Enumerate<P> {
    pub(super) first: usize,
    pub(super) all: P,
}

impl<P: Source> Source for Enumerate<P> {
    type Item = (usize, P::Item);
    type Iter = iter::Zip<RangeFrom<usize>, P::Iter>;

    fn length(&self) -> usize {
        self.all.length()
    }

    fn cut_off(&mut self, count: usize) -> Self {
        let first = Self { first: self.first, all: self.all.cut_off(count) };
        self.first += count;
        first
    }

    fn in_turn(self) -> Self::Iter {
        (self.first..).zip(self.all.in_turn())
    }
}
