//! The kernels in vectors for each precision, compiled in this crate: a crate that calls generic functions compiles
//! them for itself, and again for its unit tests.

use super::compact::{self, CsrShares, HllShares};
use super::simd::{self, CsrPlan, HllPlan, Level, Vectorised};
use super::{RowParts, Scaling, bsr, dia};
use sparsescope_matrix::matrix::{Bsr, CompactCsr, CompactHll, Csr, Dia, Hll};

/// Defines a trait whose methods call these generic functions with the same arguments, and implements it for f64 and
/// f32.
macro_rules! products {
    (
        $(#[$about:meta])*
        pub trait $products:ident: $bound:ident {
            $(
                $(#[$doc:meta])*
                fn $kernel:ident($($argument:ident: $of:ty),*) = $generic:path;
            )*
        }
    ) => {
        $(#[$about])*
        pub trait $products: $bound {
            $(
                $(#[$doc])*
                fn $kernel($($argument: $of),*);
            )*
        }

        impl $products for f64 {
            $(fn $kernel($($argument: $of),*) { $generic($($argument),*); })*
        }

        impl $products for f32 {
            $(fn $kernel($($argument: $of),*) { $generic($($argument),*); })*
        }
    };
}

pub(crate) use products;

products! {
    /// A value type with its kernels, each for y = A·x, or for y = alpha·A·x + beta·y if there is a scaling.
    pub trait Products: Vectorised {
        /// `cpu/csr/simd`.
        fn csr_simd(
            a: &Csr<Self>, plan: &CsrPlan, scaling: Option<Scaling<Self>>, x: &[Self], y: &mut [Self]
        ) = simd::csr;
        /// `cpu/hll/simd`.
        fn hll_simd(
            a: &Hll<Self>, plan: &HllPlan, scaling: Option<Scaling<Self>>, x: &[Self], y: &mut [Self]
        ) = simd::hll;
        /// `cpu/csr/compact`.
        fn csr_compact(
            a: &CompactCsr<Self>, shares: &CsrShares,
            scaling: Option<Scaling<Self>>, x: &[Self], y: &mut [Self]
        ) = compact::csr;
        /// `cpu/hll/compact`.
        fn hll_compact(
            a: &CompactHll<Self>, shares: &HllShares,
            scaling: Option<Scaling<Self>>, x: &[Self], y: &mut [Self]
        ) = compact::hll;
        /// `cpu/bsr/rows`.
        fn bsr_rows(
            a: &Bsr<Self>, level: Level, parts: &RowParts,
            scaling: Option<Scaling<Self>>, x: &[Self], y: &mut [Self]
        ) = bsr::parts;
        /// `cpu/dia/rows`.
        fn dia_rows(
            a: &Dia<Self>, level: Level, parts: &RowParts,
            scaling: Option<Scaling<Self>>, x: &[Self], y: &mut [Self]
        ) = dia::parts;
    }
}
