//! y = alpha·A·x + beta·y: how the sum of a row becomes its element of y.

use super::simd::Lanes;
use sparsescope_matrix::matrix::Scalar;

/// What a kernel stores: [`Unscaled`] sums, those of a [`Scaling`], or either, as an `Option` says. Kernels without
/// vectors are compiled for the former two; those in vectors, which take long to compile, only for the latter.
pub trait Store<T: Scalar>: Copy + Send + Sync {
    /// alpha and beta; `None` for y = A·x.
    fn scaling(self) -> Option<Scaling<T>>;

    /// Stores the sum of a row in its element of y.
    #[inline(always)]
    fn put(self, y: &mut T, sum: T) {
        *y = match self.scaling() {
            None => sum,
            Some(Scaling { alpha, beta }) if beta == T::ZERO => alpha * sum,
            Some(Scaling { alpha, beta }) => alpha * sum + beta * *y,
        };
    }

    /// Stores the sums of neighbouring rows, of which there may be more than y has elements.
    #[inline(always)]
    fn put_all(self, y: &mut [T], sums: &[T]) {
        let sums = &sums[..y.len()];
        match self.scaling() {
            None => y.copy_from_slice(sums),
            Some(scaling) => y.iter_mut().zip(sums).for_each(|(y, &sum)| scaling.put(y, sum)),
        }
    }

    /// Prepares y for kernels that add to it one [`term`](Self::term) after another.
    #[inline(always)]
    fn begin(self, y: &mut [T]) {
        match self.scaling() {
            Some(Scaling { beta, .. }) if beta != T::ZERO => {
                y.iter_mut().for_each(|y| *y = beta * *y)
            }
            _ => y.fill(T::ZERO),
        }
    }

    /// What a part of a row's sum adds to its element of y.
    #[inline(always)]
    fn term(self, part: T) -> T {
        match self.scaling() {
            None => part,
            Some(Scaling { alpha, .. }) => alpha * part,
        }
    }
}

/// y = A·x.
#[derive(Clone, Copy, Debug)]
pub struct Unscaled;

impl<T: Scalar> Store<T> for Unscaled {
    #[inline(always)]
    fn scaling(self) -> Option<Scaling<T>> {
        None
    }
}

/// alpha and beta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling<T> {
    /// Factor of A·x.
    pub alpha: T,
    /// Factor of the previous y, which is not read if this is 0.
    pub beta: T,
}

impl<T: Scalar> Store<T> for Scaling<T> {
    #[inline(always)]
    fn scaling(self) -> Option<Self> {
        Some(self)
    }
}

impl<T: Scalar> Store<T> for Option<Scaling<T>> {
    #[inline(always)]
    fn scaling(self) -> Self {
        self
    }
}

/// Returns what is stored for the sums of `n` neighbouring rows whose elements of y begin at `y`, with the bits that
/// [`put`](Store::put) stores.
///
/// # Safety
/// n is at most `LANES`, n values can be read from y, and the CPU supports the instructions.
#[inline(always)]
pub(super) unsafe fn scaled<L: Lanes, S: Store<L::Value>>(
    store: S,
    y: *const L::Value,
    n: usize,
    sums: L::Vector,
) -> L::Vector {
    let Some(Scaling { alpha, beta }) = store.scaling() else { return sums };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let scaled = L::mul(L::splat(alpha), sums);
        if beta == L::Value::ZERO {
            return scaled;
        }
        let y = if n == L::LANES { L::load(y) } else { L::load_first(y, n) };
        L::add(scaled, L::mul(L::splat(beta), y))
    }
}

/// Runs `$body` with `$store` bound to what a kernel stores for `$scaling`, an `Option` of alpha and beta, so that the
/// kernel is compiled once with them and once without.
#[macro_export]
macro_rules! with_store {
    ($scaling:expr, |$store:ident| $body:expr) => {
        match $scaling {
            None => {
                let $store = $crate::spmv::Unscaled;
                $body
            }
            Some($store) => $body,
        }
    };
}
