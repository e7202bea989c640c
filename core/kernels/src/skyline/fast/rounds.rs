//! Processes batch after batch: first against the survivors of earlier batches, then among itself.

use std::ops::Range;

use rayon::prelude::*;

use super::candidates::{Candidates, LONG};
use super::lanes::{Lanes, Work, with_widest};
use super::pivots::dominates;
use super::tree::Tree;
use crate::skyline::{Cancelled, Found};

/// Candidates that a thread takes at a time.
const TAKEN: usize = 1 << 8;

/// Bytes compared between two checks for cancellation: about a millisecond.
const PATIENCE: u64 = 1 << 26;

/// Compares the candidates batch by batch.
pub(super) struct Rounds<'r> {
    candidates: &'r Candidates<'r>,
    cancelled: &'r Cancelled<'r>,
    /// The skyline points of each batch, equal ones only once.
    kept: Vec<Tree>,
    /// Whether each candidate is a skyline point, duplicates included.
    is_kept: Vec<bool>,
    comparisons: u64,
}

/// The outcome for a candidate within its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Dominated,
    /// Equal to the candidate at this earlier place, so it shares its fate.
    As(u32),
}

impl<'r> Rounds<'r> {
    /// The state before the first batch.
    pub(super) fn new(candidates: &'r Candidates<'r>, cancelled: &'r Cancelled<'r>) -> Self {
        let is_kept = vec![false; candidates.len()];
        Self { candidates, cancelled, kept: Vec::new(), is_kept, comparisons: 0 }
    }

    /// Keeps the candidates of a batch that neither an earlier batch nor their own dominates. `None` when
    /// cancelled.
    pub(super) fn compare(&mut self, batch: &[u32]) -> Option<()> {
        let mut left = Vec::new();
        let parts = batch.par_chunks(TAKEN);
        for (part, seen) in all(parts.map(|part| with_widest(Earlier { rounds: self, part })))? {
            left.extend(part);
            self.comparisons += seen;
        }
        if left.is_empty() {
            return Some(());
        }
        let members = self.candidates.cluster(left, self.cancelled)?;
        let tree = Tree::new(self.candidates, members, self.cancelled)?;
        let n = tree.members.len();
        let mut fates = Vec::with_capacity(n);
        let parts = (0..n.div_ceil(TAKEN)).into_par_iter().map(|part| {
            let places = part * TAKEN..n.min((part + 1) * TAKEN);
            with_widest(Among { rounds: self, tree: &tree, places })
        });
        for (part, seen) in all(parts)? {
            fates.extend(part);
            self.comparisons += seen;
        }
        self.keep(tree, fates)
    }

    /// Adds the kept candidates of a batch. `None` when cancelled.
    fn keep(&mut self, tree: Tree, mut fates: Vec<Fate>) -> Option<()> {
        let mut kept = Vec::with_capacity(tree.members.len());
        for (place, &member) in tree.members.iter().enumerate() {
            if place.is_multiple_of(LONG) && (self.cancelled)() {
                return None;
            }
            let fate = fates[place];
            if let Fate::As(earlier) = fate
                && fates[earlier as usize] == Fate::Dominated
            {
                // Later candidates equal to this one find the fate here.
                fates[place] = Fate::Dominated;
            }
            self.is_kept[member as usize] = fates[place] != Fate::Dominated;
            if fate == Fate::Kept {
                kept.push(member);
            }
        }
        if kept.len() == tree.members.len() {
            self.kept.push(tree);
        } else if !kept.is_empty() {
            self.kept.push(Tree::new(self.candidates, kept, self.cancelled)?);
        }
        Some(())
    }

    /// The skyline of all batches. `None` when cancelled.
    pub(super) fn found(self) -> Option<Found> {
        let indices = self.candidates.indices(&self.is_kept, self.cancelled)?;
        Some(Found { indices, comparisons: self.comparisons })
    }

    /// Whether to stop; checks for cancellation once enough has been compared since the last check.
    #[inline(always)]
    fn is_over(&self, seen: u64, ask_at: &mut u64) -> bool {
        let bytes = seen * self.candidates.dimensions() as u64;
        bytes >= *ask_at && {
            *ask_at = bytes + PATIENCE;
            (self.cancelled)()
        }
    }
}

/// The results of all parts in order; `None` if one was cancelled.
fn all<T: Send>(parts: impl ParallelIterator<Item = Option<T>>) -> Option<Vec<T>> {
    parts.collect()
}

/// Finds the candidates of a part of a batch that no earlier batch dominates, and counts the points visited.
struct Earlier<'e> {
    rounds: &'e Rounds<'e>,
    part: &'e [u32],
}

impl Work for Earlier<'_> {
    type Output = Option<(Vec<u32>, u64)>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Self::Output {
        let candidates = self.rounds.candidates;
        let (mut left, mut seen, mut ask_at) = (Vec::with_capacity(self.part.len()), 0, 0);
        for &candidate in self.part {
            if self.rounds.is_over(seen, &mut ask_at) {
                return None;
            }
            let q = candidates.point(candidate);
            let is_dominated = self.rounds.kept.iter().any(|tree| {
                let is_over = |place: usize| dominates(candidates.point(tree.members[place]), q);
                // SAFETY: the caller's promise.
                unsafe { tree.search::<L>(candidates.levels(candidate), q, &mut seen, is_over) }
            });
            if !is_dominated {
                left.push(candidate);
            }
        }
        Some((left, seen))
    }
}

/// Computes the fates of the candidates at some places of a batch's tree, and counts the points visited.
struct Among<'a> {
    rounds: &'a Rounds<'a>,
    tree: &'a Tree,
    places: Range<usize>,
}

impl Work for Among<'_> {
    type Output = Option<(Vec<Fate>, u64)>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> Self::Output {
        let (candidates, members) = (self.rounds.candidates, &self.tree.members);
        let (mut fates, mut seen, mut ask_at) = (Vec::with_capacity(self.places.len()), 0, 0);
        for place in self.places {
            if self.rounds.is_over(seen, &mut ask_at) {
                return None;
            }
            let (q, levels) = (candidates.point(members[place]), candidates.levels(members[place]));
            let mut fate = Fate::Kept;
            let settles = |other: usize| {
                let p = candidates.point(members[other]);
                if dominates(p, q) {
                    fate = Fate::Dominated;
                } else if other < place && p == q {
                    fate = Fate::As(other as u32);
                }
                fate != Fate::Kept
            };
            // SAFETY: the caller's promise.
            unsafe { self.tree.search::<L>(levels, q, &mut seen, settles) };
            fates.push(fate);
        }
        Some((fates, seen))
    }
}
