//! The kernels in vectors for each precision, compiled in this crate: a crate that calls generic functions compiles
//! them for itself, and again for its unit tests.

use super::compact::{self, CsrShares, HllShares};
use super::simd::{self, CsrPlan, HllPlan, Level, Vectorised};
use super::{RowParts, bsr, dia};
use sparsescope_matrix::matrix::{Bsr, CompactCsr, CompactHll, Csr, Dia, Hll};

/// A value type with its kernels.
pub trait Products: Vectorised {
    /// y = A·x by `cpu/csr/simd`.
    fn csr_simd(a: &Csr<Self>, plan: &CsrPlan, x: &[Self], y: &mut [Self]);
    /// y = A·x by `cpu/hll/simd`.
    fn hll_simd(a: &Hll<Self>, plan: &HllPlan, x: &[Self], y: &mut [Self]);
    /// y = A·x by `cpu/csr/compact`.
    fn csr_compact(a: &CompactCsr<Self>, shares: &CsrShares, x: &[Self], y: &mut [Self]);
    /// y = A·x by `cpu/hll/compact`.
    fn hll_compact(a: &CompactHll<Self>, shares: &HllShares, x: &[Self], y: &mut [Self]);
    /// y = A·x by `cpu/bsr/rows`.
    fn bsr_rows(a: &Bsr<Self>, level: Level, parts: &RowParts, x: &[Self], y: &mut [Self]);
    /// y = A·x by `cpu/dia/rows`.
    fn dia_rows(a: &Dia<Self>, level: Level, parts: &RowParts, x: &[Self], y: &mut [Self]);
}

macro_rules! products {
    ($($value:ty),*) => {$(
        impl Products for $value {
            fn csr_simd(a: &Csr<Self>, plan: &CsrPlan, x: &[Self], y: &mut [Self]) {
                simd::csr(a, plan, x, y);
            }

            fn hll_simd(a: &Hll<Self>, plan: &HllPlan, x: &[Self], y: &mut [Self]) {
                simd::hll(a, plan, x, y);
            }

            fn csr_compact(a: &CompactCsr<Self>, shares: &CsrShares, x: &[Self], y: &mut [Self]) {
                compact::csr(a, shares, x, y);
            }

            fn hll_compact(a: &CompactHll<Self>, shares: &HllShares, x: &[Self], y: &mut [Self]) {
                compact::hll(a, shares, x, y);
            }

            fn bsr_rows(
                a: &Bsr<Self>,
                level: Level,
                parts: &RowParts,
                x: &[Self],
                y: &mut [Self],
            ) {
                bsr::parts(a, level, parts, x, y);
            }

            fn dia_rows(
                a: &Dia<Self>,
                level: Level,
                parts: &RowParts,
                x: &[Self],
                y: &mut [Self],
            ) {
                dia::parts(a, level, parts, x, y);
            }
        }
    )*};
}

products!(f64, f32);
