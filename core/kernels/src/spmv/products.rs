//! The kernels in vectors for each precision, compiled in this crate: a crate that calls generic functions compiles
//! them for itself, and again for its unit tests.

use super::compact::{self, CsrShares, HllShares};
use super::simd::{self, CsrPlan, HllPlan, Level, Vectorised};
use super::{RowParts, Scaling, bsr, dia};
use sparsescope_matrix::matrix::{Bsr, CompactCsr, CompactHll, Csr, Dia, Hll};

/// A value type with its kernels, each for y = A·x, or for y = alpha·A·x + beta·y if there is a scaling.
pub trait Products: Vectorised {
    /// `cpu/csr/simd`.
    fn csr_simd(
        a: &Csr<Self>,
        plan: &CsrPlan,
        scaling: Option<Scaling<Self>>,
        x: &[Self],
        y: &mut [Self],
    );
    /// `cpu/hll/simd`.
    fn hll_simd(
        a: &Hll<Self>,
        plan: &HllPlan,
        scaling: Option<Scaling<Self>>,
        x: &[Self],
        y: &mut [Self],
    );
    /// `cpu/csr/compact`.
    fn csr_compact(
        a: &CompactCsr<Self>,
        shares: &CsrShares,
        scaling: Option<Scaling<Self>>,
        x: &[Self],
        y: &mut [Self],
    );
    /// `cpu/hll/compact`.
    fn hll_compact(
        a: &CompactHll<Self>,
        shares: &HllShares,
        scaling: Option<Scaling<Self>>,
        x: &[Self],
        y: &mut [Self],
    );
    /// `cpu/bsr/rows`.
    fn bsr_rows(
        a: &Bsr<Self>,
        level: Level,
        parts: &RowParts,
        scaling: Option<Scaling<Self>>,
        x: &[Self],
        y: &mut [Self],
    );
    /// `cpu/dia/rows`.
    fn dia_rows(
        a: &Dia<Self>,
        level: Level,
        parts: &RowParts,
        scaling: Option<Scaling<Self>>,
        x: &[Self],
        y: &mut [Self],
    );
}

macro_rules! products {
    ($($value:ty),*) => {$(
        impl Products for $value {
            fn csr_simd(
                a: &Csr<Self>,
                plan: &CsrPlan,
                scaling: Option<Scaling<Self>>,
                x: &[Self],
                y: &mut [Self],
            ) {
                simd::csr(a, plan, scaling, x, y);
            }

            fn hll_simd(
                a: &Hll<Self>,
                plan: &HllPlan,
                scaling: Option<Scaling<Self>>,
                x: &[Self],
                y: &mut [Self],
            ) {
                simd::hll(a, plan, scaling, x, y);
            }

            fn csr_compact(
                a: &CompactCsr<Self>,
                shares: &CsrShares,
                scaling: Option<Scaling<Self>>,
                x: &[Self],
                y: &mut [Self],
            ) {
                compact::csr(a, shares, scaling, x, y);
            }

            fn hll_compact(
                a: &CompactHll<Self>,
                shares: &HllShares,
                scaling: Option<Scaling<Self>>,
                x: &[Self],
                y: &mut [Self],
            ) {
                compact::hll(a, shares, scaling, x, y);
            }

            fn bsr_rows(
                a: &Bsr<Self>,
                level: Level,
                parts: &RowParts,
                scaling: Option<Scaling<Self>>,
                x: &[Self],
                y: &mut [Self],
            ) {
                bsr::parts(a, level, parts, scaling, x, y);
            }

            fn dia_rows(
                a: &Dia<Self>,
                level: Level,
                parts: &RowParts,
                scaling: Option<Scaling<Self>>,
                x: &[Self],
                y: &mut [Self],
            ) {
                dia::parts(a, level, parts, scaling, x, y);
            }
        }
    )*};
}

products!(f64, f32);
