//! CPU kernels for y = A·x in f64 and f32: one file per format, one function per mapping. Kernels run on the
//! ambient rayon pool, whose workers can be kept spinning, follow a [`partition`](self::RowParts) made
//! beforehand and overwrite y, or compute y = alpha·A·x + beta·y in the same pass: what they [`Store`] is an
//! argument. Unchecked gathers from x take a value that only the size check can create.

pub mod bsr;
mod checked;
pub mod compact;
pub mod coo;
mod crew;
pub mod csr;
pub mod dia;
mod dot;
pub mod ellpack;
mod far;
pub mod hll;
pub mod hyb;
mod partition;
mod pieces;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod products;
mod rows;
mod scaling;
pub mod simd;
pub mod transposed;

use checked::{Checked, check_sizes};
#[doc(hidden)]
pub use crew::gather;
pub use partition::{GuidedChunks, MergePath, MergePoint, RowParts, SlotParts};
pub use pieces::Pieces;
#[cfg(not(target_family = "wasm"))]
pub use products::Products;
pub(crate) use rows::Rows;
use scaling::scaled;
pub use scaling::{Scaling, Store, Unscaled};

use std::sync::{Mutex, PoisonError};

/// Runs `work` on each part, the k-th part on the k-th worker, so that a worker finds its part in its own
/// caches the next time. Returns the results in the order of the parts.
pub(crate) fn each_own_part<P: Send, R: Send>(
    parts: Vec<P>,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    if parts.len() <= 1 {
        return parts.into_iter().map(work).collect();
    }
    let slots: Vec<_> = parts.into_iter().map(|part| Mutex::new((Some(part), None))).collect();
    let threads = rayon::current_num_threads();
    let own = |worker: usize| {
        for slot in slots.iter().skip(worker).step_by(threads) {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.1 = slot.0.take().map(&work);
        }
    };
    crew::each_worker(&own);
    let results = slots.into_iter().filter_map(|slot| slot.into_inner().ok()?.1);
    results.collect()
}

#[cfg(test)]
mod tests;
