//! Candidates in batches of falling sums of levels.

use super::candidates::{Candidates, LONG};
use crate::skyline::Cancelled;

/// Candidates of the first batch, about.
const FIRST: usize = 1 << 10;

/// How much larger each further batch is.
const GROWTH: usize = 4;

/// Candidates of a batch, beyond which it takes in no further sum.
const MOST: usize = 1 << 20;

/// The candidates in batches: whoever dominates one is in the same batch or in an earlier one, for
/// candidates of equal sums are in the same. `None` when cancelled.
pub(super) fn batches(
    candidates: &Candidates<'_>,
    cancelled: &Cancelled<'_>,
) -> Option<Vec<Vec<u32>>> {
    let most = candidates.sums.iter().max().map_or(0, |&most| most as usize);
    let mut counts = vec![0; most + 1];
    for sums in candidates.sums.chunks(LONG) {
        if cancelled() {
            return None;
        }
        sums.iter().for_each(|&sum| counts[sum as usize] += 1);
    }
    let (mut batch_of, mut sizes) = (vec![0; most + 1], vec![0]);
    let mut target = FIRST;
    for (sum, &count) in counts.iter().enumerate().rev() {
        let batch = sizes.len() - 1;
        batch_of[sum] = batch;
        sizes[batch] += count;
        if sizes[batch] >= target {
            target = (target * GROWTH).min(MOST);
            sizes.push(0);
        }
    }
    let mut batches: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
    for (part, sums) in candidates.sums.chunks(LONG).enumerate() {
        if cancelled() {
            return None;
        }
        for (at, &sum) in sums.iter().enumerate() {
            batches[batch_of[sum as usize]].push((part * LONG + at) as u32);
        }
    }
    batches.retain(|batch| !batch.is_empty());
    Some(batches)
}
