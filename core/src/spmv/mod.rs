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

use checked::{Checked, check_sizes};
pub use partition::{GuidedChunks, MergePath, MergePoint, RowParts};

use rayon::prelude::*;

/// Runs `work` on each part, in parallel when there are several.
fn each_part<P: Send>(parts: Vec<P>, work: impl Fn(P) + Sync + Send) {
    parts.into_par_iter().with_max_len(1).for_each(work);
}
