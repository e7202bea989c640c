//! y = alpha·A·x + beta·y: how the sum of a row is stored.

use sparsescope_matrix::matrix::Scalar;

/// alpha and beta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling<T> {
    /// Factor of A·x.
    pub alpha: T,
    /// Factor of the previous y, which is not read if this is 0.
    pub beta: T,
}

impl<T: Scalar> Scaling<T> {
    /// Stores the sum of a row in its element of y.
    #[inline(always)]
    pub(super) fn put(self, y: &mut T, sum: T) {
        let scaled = self.alpha * sum;
        *y = if self.beta == T::ZERO { scaled } else { scaled + self.beta * *y };
    }
}
