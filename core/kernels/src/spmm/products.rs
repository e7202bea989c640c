//! The kernels in vectors for each precision, compiled in this crate, as those of SpMV are.

use super::{hll, simd};
use crate::spmv::products::products;
use crate::spmv::simd::{Level, Vectorised};
use crate::spmv::{RowParts, SlotParts};
use sparsescope_matrix::matrix::{Csr, Hll};

products! {
    /// A value type with its kernels.
    pub trait Products: Vectorised {
        /// Y = A·X by `cpu/spmm/simd`.
        fn simd(
            a: &Csr<Self>, level: Level, parts: &RowParts, k: usize, x: &[Self], y: &mut [Self]
        ) = simd;
        /// Y = A·X by `cpu/spmm/hll`.
        fn hll(
            a: &Hll<Self>, level: Level, parts: &SlotParts, k: usize, x: &[Self], y: &mut [Self]
        ) = hll;
    }
}
