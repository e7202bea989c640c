//! CPU kernels of y = A·x in f64 and f32: one file a format, one mapping a function. Kernels run on the
//! ambient rayon pool, follow a [`partition`](self::RowParts) made beforehand and overwrite y. What
//! gathers from x without looking takes a value that only the check of the sizes makes.

pub mod bsr;
mod checked;
pub mod coo;
pub mod csr;
pub mod dia;
mod dot;
pub mod ellpack;
pub mod hll;
pub mod hyb;
mod partition;
mod pieces;
mod rows;
pub mod simd;

use checked::{Checked, check_sizes};
pub use partition::{GuidedChunks, MergePath, MergePoint, RowParts, SlotParts};
pub use pieces::Pieces;

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Runs `work` on each part, in parallel when there are several.
fn each_part<P: Send>(parts: Vec<P>, work: impl Fn(P) + Sync + Send) {
    parts.into_par_iter().with_max_len(1).for_each(work);
}

/// Runs `work` on each part, the k-th by the k-th worker, so that a worker finds its part in its own
/// caches when the product is computed again. Gives the results in the order of the parts.
fn each_own_part<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    if parts.len() <= 1 {
        return parts.into_iter().map(work).collect();
    }
    let slots: Vec<_> = parts.into_iter().map(|part| Mutex::new((Some(part), None))).collect();
    rayon::broadcast(|worker| {
        for slot in slots.iter().skip(worker.index()).step_by(worker.num_threads()) {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.1 = slot.0.take().map(&work);
        }
    });
    let results = slots.into_iter().filter_map(|slot| slot.into_inner().ok()?.1);
    results.collect()
}
