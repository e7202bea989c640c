//! Loops over a rank's elements of several vectors, block by block on the ambient pool. Sums are added in the
//! order of the blocks, so that they are bitwise the same for any number of threads.

use rayon::prelude::*;

pub(crate) use sparsescope_kernels::pcg::vectors::BLOCK;
use sparsescope_kernels::pcg::vectors::{dot as dot_of_block, reduce};

/// The sums over all blocks.
pub(super) fn added<const N: usize>(
    blocks: impl IndexedParallelIterator<Item = [f64; N]>,
) -> [f64; N] {
    let blocks: Vec<[f64; N]> = blocks.collect();
    blocks.iter().fold([0.0; N], |sums, of| std::array::from_fn(|k| sums[k] + of[k]))
}

/// a·b.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let blocks = (a.par_chunks(BLOCK), b.par_chunks(BLOCK)).into_par_iter();
    let [sum] = added(blocks.map(|(a, b)| [dot_of_block(a, b)]));
    sum
}

/// to = from + factor·to.
pub(super) fn renew(factor: f64, from: &[f64], to: &mut [f64]) {
    (to.par_chunks_mut(BLOCK), from.par_chunks(BLOCK)).into_par_iter().for_each(|(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from + factor * *to);
    });
}

/// x += αp; r −= αq; r·r.
pub(super) fn advance(alpha: f64, p: &[f64], q: &[f64], x: &mut [f64], r: &mut [f64]) -> f64 {
    let blocks = (
        x.par_chunks_mut(BLOCK),
        r.par_chunks_mut(BLOCK),
        p.par_chunks(BLOCK),
        q.par_chunks(BLOCK),
    );
    let [sum] = added(blocks.into_par_iter().map(|(x, r, p, q)| {
        x.iter_mut().zip(p).for_each(|(x, p)| *x += alpha * p);
        [reduce(alpha, q, r)]
    }));
    sum
}

/// to −= from.
pub(super) fn subtract(from: &[f64], to: &mut [f64]) {
    (to.par_chunks_mut(BLOCK), from.par_chunks(BLOCK)).into_par_iter().for_each(|(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to -= from);
    });
}
