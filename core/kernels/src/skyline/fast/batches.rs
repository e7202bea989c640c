//! Candidates in batches of descending level sums.

use super::candidates::{Candidates, LONG};
use crate::skyline::Cancelled;

/// Approximate number of candidates in the first batch.
const FIRST: usize = 1 << 10;

/// Growth factor from one batch to the next.
const GROWTH: usize = 4;

/// Number of candidates beyond which a batch takes no further sum.
const MOST: usize = 1 << 20;

/// Splits the candidates into batches. The dominators of a candidate are in the same batch or an earlier one,
/// as candidates with equal sums share a batch. `None` when cancelled.
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
