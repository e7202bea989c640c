//! What a kernel that computes with any x requires of the vectors that it is given.

use super::error::KernelError;
use sparsescope_matrix::matrix::Operands;
use sparsescope_model::kernel::KernelDescriptor;

/// Fails unless y has one element per row, x one per column, and x is finite if the kernel multiplies padding
/// by it.
pub fn admit_vectors(
    kernel: &KernelDescriptor,
    (rows, cols): (usize, usize),
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
