//! The value types a matrix can hold.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use num_complex::Complex64;

use super::Precision;

/// A matrix value: `f64` as in files, `f32` for kernels in single precision, [`Complex64`] for
/// reading, statistics and pictures (no kernel runs with it).
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + AddAssign
    + Sum
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// Additive identity; also the padding value of ELLPACK-like formats.
    const ZERO: Self;
    /// Multiplicative identity; the value of the nonzeros of a `pattern` matrix.
    const ONE: Self;
    /// Bytes of one stored value.
    const BYTES: usize = size_of::<Self>();

    /// Whether no component is infinite or NaN.
    fn is_finite(self) -> bool;
    /// Complex conjugate; the value itself for real types.
    fn conj(self) -> Self;
    /// Absolute value as `f64`.
    fn magnitude(self) -> f64;
    /// The bit pattern, which differs between −0 and 0 and between NaNs.
    fn bits(self) -> u128;
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    #[inline]
    fn conj(self) -> Self {
        self
    }
    #[inline]
    fn magnitude(self) -> f64 {
        self.abs()
    }
    #[inline(always)]
    fn bits(self) -> u128 {
        self.to_bits().into()
    }
}

impl Scalar for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
    #[inline]
    fn conj(self) -> Self {
        self
    }
    #[inline]
    fn magnitude(self) -> f64 {
        f64::from(self).abs()
    }
    #[inline(always)]
    fn bits(self) -> u128 {
        self.to_bits().into()
    }
}

impl Scalar for Complex64 {
    const ZERO: Self = Complex64::new(0.0, 0.0);
    const ONE: Self = Complex64::new(1.0, 0.0);
    #[inline]
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    #[inline]
    fn conj(self) -> Self {
        Complex64::conj(&self)
    }
    #[inline]
    fn magnitude(self) -> f64 {
        libm::hypot(self.re, self.im)
    }
    #[inline(always)]
    fn bits(self) -> u128 {
        u128::from(self.re.to_bits()) << 64 | u128::from(self.im.to_bits())
    }
}

/// The x and the y of one SpMV, in one precision.
#[derive(Debug)]
pub enum Operands<'v> {
    /// In f64.
    Double(&'v [f64], &'v mut [f64]),
    /// In f32.
    Single(&'v [f32], &'v mut [f32]),
}

/// A value type that kernels run with.
pub trait Real: Scalar + Into<f64> + Sub<Output = Self> + Div<Output = Self> {
    /// The precision of computations.
    const PRECISION: Precision;
    /// Not a number.
    const NAN: Self;

    /// The nearest value, ties to even; infinite when `value` is finite but too large.
    fn rounded(value: f64) -> Self;
    /// The vectors, if they are in this precision.
    fn operands<'v>(operands: Operands<'v>) -> Option<(&'v [Self], &'v mut [Self])>;
}

impl Real for f64 {
    const PRECISION: Precision = Precision::F64;
    const NAN: Self = Self::NAN;
    #[inline]
    fn rounded(value: f64) -> Self {
        value
    }
    fn operands<'v>(operands: Operands<'v>) -> Option<(&'v [Self], &'v mut [Self])> {
        match operands {
            Operands::Double(x, y) => Some((x, y)),
            Operands::Single(..) => None,
        }
    }
}

impl Real for f32 {
    const PRECISION: Precision = Precision::F32;
    const NAN: Self = Self::NAN;
    #[inline]
    fn rounded(value: f64) -> Self {
        value as Self
    }
    fn operands<'v>(operands: Operands<'v>) -> Option<(&'v [Self], &'v mut [Self])> {
        match operands {
            Operands::Single(x, y) => Some((x, y)),
            Operands::Double(..) => None,
        }
    }
}
