//! A CPU kernel stepped through slot by slot: the slots of each thread, and the cache lines that it
//! has touched so far.

use sparsescope_core::kernel::{KernelDescriptor, row_at};
use sparsescope_core::layout::{Array, CACHE_LINE, CpuStep, CpuTraffic, LayoutError, Place};
use sparsescope_core::matrix::AnyFormat;

use super::cells::Owner;
use super::moment::Moment;
use crate::model::significant;

/// Every thread with its slots, in order.
pub(super) struct Threads {
    traffic: CpuTraffic,
    /// For each thread, (share, step of the share).
    turns: Vec<Vec<(usize, u64)>>,
    /// The thread of a dynamically scheduled share is not known before the run.
    guided: bool,
    pub(super) parts: Parts,
}

/// The thread that owns each row and each nonzero.
pub(super) struct Parts {
    cols: usize,
    rows: Vec<Option<usize>>,
    entries: Vec<Option<usize>>,
}

impl Parts {
    /// The thread of a cell, if a single one owns it.
    pub(super) fn of(&self, owner: Owner) -> Option<usize> {
        match owner {
            Owner::Entry(i, j) => self.entries.get(i * self.cols + j).copied().flatten(),
            Owner::Padding(i) | Owner::Row(i) | Owner::Rows(i, _) => {
                self.rows.get(i).copied().flatten()
            }
            _ => None,
        }
    }
}

impl Threads {
    pub(super) fn new(
        kernel: &'static KernelDescriptor,
        a: &AnyFormat,
        (rows, cols): (usize, usize),
        workers: usize,
    ) -> Result<Self, LayoutError> {
        let traffic = CpuTraffic::of(kernel, a, workers)?;
        let mut parts = Parts { cols, rows: vec![None; rows], entries: vec![None; rows * cols] };
        let mut turns = vec![Vec::new(); workers];
        let mut guided = false;
        for (number, share) in traffic.shares().iter().enumerate() {
            // A dynamic share goes to the thread that is free first, assuming equal time per slot.
            let first_free = || (0..workers).min_by_key(|&w| turns.get(w).map_or(0, Vec::len));
            guided |= share.share.worker.is_none();
            let Some(thread) = share.share.worker.or_else(first_free) else { continue };
            if let Some(turns) = turns.get_mut(thread) {
                turns.extend((0..share.steps).map(|step| (number, step)));
            }
            let take = |part: Option<&mut Option<usize>>| {
                if let Some(part) = part {
                    part.get_or_insert(thread);
                }
            };
            for step in traffic.steps(number, 0..share.steps) {
                take(parts.entries.get_mut(step.row * cols + step.x.index as usize));
                take(parts.rows.get_mut(step.row));
            }
            if share.share.entries.is_none() {
                share.share.rows.clone().for_each(|p| take(parts.rows.get_mut(row_at(a, p))));
            }
        }
        Ok(Self { traffic, turns, guided, parts })
    }

    /// Steps of the busiest thread.
    pub(super) fn len(&self) -> usize {
        self.turns.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Steps of the busiest thread divided by the mean: 1 is balanced.
    pub(super) fn imbalance(&self) -> f64 {
        let all: usize = self.turns.iter().map(Vec::len).sum();
        if all == 0 { 1.0 } else { (self.len() * self.turns.len()) as f64 / all as f64 }
    }

    /// Slots of each thread, or of one.
    pub(super) fn steps(&self, thread: Option<usize>) -> usize {
        match thread {
            Some(thread) => self.turns.get(thread).map_or(0, Vec::len),
            None => self.turns.iter().map(Vec::len).sum(),
        }
    }

    /// The places that a thread has touched after its first `steps` slots.
    fn places(&self, thread: usize, steps: usize) -> Vec<Place> {
        let Some(turns) = self.turns.get(thread) else { return Vec::new() };
        let turns = turns.get(..steps).unwrap_or(turns);
        let mut places = Vec::new();
        for (k, (share, step)) in turns.iter().enumerate() {
            let last = turns.get(k + 1).is_none_or(|(next, _)| next != share);
            if last {
                places.extend(self.traffic.places(*share, step + 1));
            }
        }
        places
    }

    /// Elements of an array per cache line.
    fn a_line(&self, array: Array) -> u64 {
        let info = self.traffic.arrays().iter().find(|info| info.array == array);
        CACHE_LINE / u64::from(info.map_or(8, |info| info.element_bytes))
    }

    /// Distinct cache lines that a thread has touched after its first `steps` slots.
    pub(super) fn lines(&self, thread: usize, steps: usize) -> usize {
        let places = self.places(thread, steps);
        let line = |p: &Place| (p.array.index(), p.index / self.a_line(p.array));
        sparsescope_core::order::set(places.iter().map(line)).len()
    }

    fn now(&self, thread: usize, at: usize) -> Option<CpuStep> {
        let &(share, step) = self.turns.get(thread)?.get(at)?;
        self.traffic.steps(share, step..step + 1).into_iter().next()
    }

    /// The accesses of every thread in its step `at`.
    pub(super) fn moment(&self, at: usize) -> Moment {
        let mut moment = Moment::default();
        for thread in (0..self.turns.len()).filter(|&thread| self.now(thread, at).is_some()) {
            let before = self.places(thread, at).len();
            for place in self.places(thread, at + 1).into_iter().skip(before) {
                moment.touch(place.array, place.index..place.index + 1, thread);
                moment.block(place.array, place.index, self.a_line(place.array));
            }
        }
        let how = match self.guided {
            true => {
                "The next free thread takes the next hacks. Here, every slot takes the same time."
            }
            false => "Every thread has its own part. All threads work at the same time.",
        };
        let words = format!("Step {} of {}: each thread processes one slot", at + 1, self.len());
        moment.words = vec![words, how.into()];
        moment
    }

    /// Each thread's work up to step `at`: header and lines.
    pub(super) fn totals(&self, at: usize) -> (String, Vec<Vec<String>>) {
        let busiest = self.len();
        let mean = self.steps(None) as f64 / self.turns.len().max(1) as f64;
        let title = format!(
            "Imbalance {}: the busiest thread has {busiest} slots, the mean is {}",
            significant(self.imbalance()),
            significant(mean)
        );
        let header = ["thread", "now", "slots", "lines so far", "bytes"].map(String::from).to_vec();
        let line = |thread: usize| {
            let (all, lines) = (self.steps(Some(thread)), self.lines(thread, at + 1));
            let now = match self.now(thread, at) {
                Some(step) => format!("row {}", step.row),
                None => "done".into(),
            };
            vec![
                format!("T{thread}"),
                now,
                format!("{} of {all}", all.min(at + 1)),
                lines.to_string(),
                (lines as u64 * CACHE_LINE).to_string(),
            ]
        };
        let lines = (0..self.turns.len()).map(line);
        (title, std::iter::once(header).chain(lines).collect())
    }
}
