//! Distributes rows among threads in small blocks, and groups what is found in text by the owner of
//! its row. Consecutive nonzeros of a file usually lie in nearby rows: distributing the blocks
//! round-robin gives every thread its share of them.

use crate::parallel::*;

/// Binary logarithm of the number of rows of a block.
const BLOCK_BITS: u32 = 8;
/// Maximum number of parts: a thread cannot append efficiently to more lists at once.
const MOST_PARTS: usize = 64;

/// The number of parts that rows are distributed to; a power of two.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    bits: u32,
}

/// Items of one stretch of text, grouped by part, in text order within each part.
pub(super) struct Buckets<I> {
    lists: Vec<Vec<I>>,
}

impl<I> Default for Buckets<I> {
    fn default() -> Self {
        Self { lists: Vec::new() }
    }
}

/// Data of each block of rows, distributed to the parts.
pub(super) struct Dealt<B> {
    parts: Parts,
    blocks: Vec<Vec<B>>,
}

impl Parts {
    /// Everything in one part.
    pub(super) fn one() -> Self {
        Self { bits: 0 }
    }

    /// As many parts as threads, for work on this many nonzeros.
    pub(super) fn for_entries(entries: u64) -> Self {
        const SMALL: u64 = 1 << 14;
        if entries < SMALL {
            return Self::one();
        }
        let parts = crate::parallel::current_num_threads().clamp(1, MOST_PARTS);
        Self { bits: parts.next_power_of_two().trailing_zeros() }
    }

    fn count(self) -> usize {
        1 << self.bits
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn of(self, row: u32) -> usize {
        (row >> BLOCK_BITS) as usize & (self.count() - 1)
    }

    /// Number of rows of the block that begins at `first`, with `rows` rows in total.
    pub(super) fn block_len(rows: usize, first: usize) -> usize {
        (rows - first.min(rows)).min(1 << BLOCK_BITS)
    }

    /// Distributes the data of the blocks, given in row order.
    pub(super) fn deal<B>(self, blocks: impl Iterator<Item = B>) -> Dealt<B> {
        let mut dealt: Vec<Vec<B>> = (0..self.count()).map(|_| Vec::new()).collect();
        for (k, block) in blocks.enumerate() {
            if let Some(part) = dealt.get_mut(k & (self.count() - 1)) {
                part.push(block);
            }
        }
        Dealt { parts: self, blocks: dealt }
    }
}

impl<I> Buckets<I> {
    /// Clears the lists of this many parts.
    pub(super) fn reset(&mut self, parts: Parts) {
        self.lists.resize_with(parts.count(), Vec::new);
        self.lists.iter_mut().for_each(Vec::clear);
    }

    /// Appends an item that belongs to `row`.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn push(&mut self, parts: Parts, row: u32, item: I) {
        if let Some(list) = self.lists.get_mut(parts.of(row)) {
            list.push(item);
        }
    }

    /// All items, if there is only one part.
    pub(super) fn only(&self) -> &[I] {
        self.lists.first().map_or(&[], Vec::as_slice)
    }
}

impl<B: Send> Dealt<B> {
    /// Calls `take(block, row in its block, item)` for each item of each stretch of text in order; the
    /// parts run in parallel. Items of rows outside all blocks are skipped.
    pub(super) fn hand_out<I: Copy + Sync>(
        &mut self,
        stretches: &[&Buckets<I>],
        row: impl Fn(I) -> u32 + Sync,
        take: impl Fn(&mut B, usize, I) + Sync,
    ) {
        const IN_BLOCK: u32 = (1 << BLOCK_BITS) - 1;
        let block_shift = BLOCK_BITS + self.parts.bits;
        (&mut self.blocks).into_par_iter().enumerate().for_each(|(part, blocks)| {
            for stretch in stretches {
                for &item in stretch.lists.get(part).into_iter().flatten() {
                    let row = row(item);
                    if let Some(block) = blocks.get_mut((row >> block_shift) as usize) {
                        take(block, (row & IN_BLOCK) as usize, item);
                    }
                }
            }
        });
    }
}
