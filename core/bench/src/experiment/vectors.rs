//! What a kernel that computes with any x requires of the vectors that it is given.

use super::error::KernelError;
use sparsescope_matrix::matrix::Operands;
use sparsescope_model::kernel::KernelDescriptor;

/// The number k of columns of X and Y, from their elements: X has k per column of A, Y k per row. At least 1.
pub(super) fn columns((rows, cols): (usize, usize), x: usize, y: usize) -> usize {
    let k = y.checked_div(rows).or_else(|| x.checked_div(cols));
    k.map_or(1, |k| k.max(1))
}

/// Fails unless Y has k elements per row, X k per column, and X is finite if the kernel multiplies padding by it.
/// Without a k, any is accepted that X and Y share.
pub fn admit_vectors(
    kernel: &KernelDescriptor,
    (rows, cols): (usize, usize),
    k: Option<usize>,
    vectors: &Operands<'_>,
) -> Result<(), KernelError> {
    let needs_finite = kernel.needs.finite_x;
    let (found, is_fit) = match vectors {
        Operands::Double(x, y) => {
            ((y.len(), x.len()), !needs_finite || x.iter().all(|v| v.is_finite()))
        }
        Operands::Single(x, y) => {
            ((y.len(), x.len()), !needs_finite || x.iter().all(|v| v.is_finite()))
        }
    };
    let k = k.unwrap_or_else(|| columns((rows, cols), found.1, found.0));
    let (rows, cols) = (rows.saturating_mul(k), cols.saturating_mul(k));
    let reason = match found == (rows, cols) {
        true if is_fit => return Ok(()),
        true => "it multiplies padding by x, which has an infinite or NaN element".to_owned(),
        false => format!(
            "expected y with {rows} elements and x with {cols}, found {} and {}",
            found.0, found.1
        ),
    };
    Err(KernelError::new(kernel.id, reason))
}

/// The error for vectors in another precision than the kernel was prepared for.
pub fn other_precision(kernel: &KernelDescriptor) -> KernelError {
    KernelError::new(kernel.id, "x and y are in another precision")
}
