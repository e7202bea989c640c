//! Many small dense symmetric matrices of one size, stored one after the other.

use super::{FormatError, Sha256Hex};

/// Maximum rows of a matrix that is generated or gathered into a batch. Up to this size a kernel returns
/// soon enough to be cancelled.
pub const MOST_UNKNOWNS: usize = 512;

/// Symmetric, finite matrices of n × n numbers, n ≥ 1, stored in full and row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    unknowns: usize,
    values: Vec<f64>,
}

/// A borrowed [`Batch`]: what kernels are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchView<'a> {
    unknowns: usize,
    values: &'a [f64],
}

/// The size of a batch that has not been built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchExtent {
    /// Rows of a matrix, n.
    pub unknowns: u64,
    /// Number of matrices.
    pub systems: u64,
}

impl BatchExtent {
    /// Bytes of the matrices, stored in full: 8·n²·systems.
    pub fn bytes(self) -> u128 {
        8 * u128::from(self.unknowns).pow(2) * u128::from(self.systems)
    }
}

impl Batch {
    /// A batch of matrices of n × n numbers. Fails when n is 0, when the last matrix is incomplete, or
    /// when a matrix is not symmetric or not finite, and names the first such matrix.
    pub fn new(unknowns: usize, values: Vec<f64>) -> Result<Self, FormatError> {
        let numbers = values.len();
        match numbers.checked_rem(unknowns.saturating_mul(unknowns)) {
            None => {
                return Err(FormatError::Invariant(
                    "expected at least 1 unknown per system, found 0".to_owned(),
                ));
            }
            Some(0) => {}
            Some(_) => {
                return Err(FormatError::Invariant(format!(
                    "expected a multiple of {unknowns} x {unknowns} values, found {numbers}"
                )));
            }
        }
        let batch = Self { unknowns, values };
        let is_wrong = |&s: &usize| !is_symmetric(batch.view().matrix(s), unknowns);
        match (0..batch.len()).find(is_wrong) {
            None => Ok(batch),
            Some(s) => Err(FormatError::Invariant(format!(
                "matrix {s} of the batch (0-based) is not symmetric or not finite"
            ))),
        }
    }

    /// Borrows the batch.
    #[inline]
    pub fn view(&self) -> BatchView<'_> {
        BatchView { unknowns: self.unknowns, values: &self.values }
    }

    /// The numbers of all matrices, one after the other, each row-major.
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Rows of a matrix, n.
    #[inline]
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// Number of matrices.
    #[inline]
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there is no matrix.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Bytes that the matrices occupy.
    pub fn bytes(&self) -> u64 {
        self.values.len() as u64 * size_of::<f64>() as u64
    }

    /// Returns the SHA-256, in lower-case hexadecimal, of these little-endian numbers: n and the number
    /// of matrices as `u64`, then the lower triangle of each matrix, row by row, as `f64` bits. It is the
    /// same on every platform. Returns `None` once `cancelled` returns true.
    pub fn identity(&self, cancelled: &dyn Fn() -> bool) -> Option<String> {
        let mut hash = Sha256Hex::default();
        for size in [self.unknowns, self.len()] {
            hash.update(&(size as u64).to_le_bytes());
        }
        // Hash long blocks.
        let mut block = Vec::new();
        for s in 0..self.len() {
            for (i, row) in self.view().matrix(s).chunks(self.unknowns).enumerate() {
                row.iter().take(i + 1).for_each(|value| block.extend(value.to_le_bytes()));
            }
            if block.len() >= BLOCK {
                if cancelled() {
                    return None;
                }
                hash.update(&block);
                block.clear();
            }
        }
        hash.update(&block);
        Some(hash.finish())
    }
}

/// Bytes gathered before they are hashed.
const BLOCK: usize = 1 << 16;

/// Whether the row-major n × n matrix equals its transpose and is finite.
fn is_symmetric(a: &[f64], n: usize) -> bool {
    let mut is = true;
    for (i, row) in a.chunks(n).enumerate() {
        for (j, value) in row.iter().enumerate().take(i + 1) {
            is &= value.is_finite() & (*value == a[j * n + i]);
        }
    }
    is
}

impl<'a> BatchView<'a> {
    /// Rows of a matrix, n.
    #[inline]
    pub fn unknowns(self) -> usize {
        self.unknowns
    }

    /// Number of matrices.
    #[inline]
    pub fn len(self) -> usize {
        self.values.len() / (self.unknowns * self.unknowns)
    }

    /// Whether there is no matrix.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// One matrix, row-major. Panics when its index is not below [`len`](Self::len).
    #[inline]
    pub fn matrix(self, s: usize) -> &'a [f64] {
        let size = self.unknowns * self.unknowns;
        &self.values[s * size..][..size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matrix_that_is_not_symmetric_or_not_finite_is_named() {
        let wrong = |n, values: &[f64]| Batch::new(n, values.to_vec()).unwrap_err().to_string();
        assert_eq!(wrong(0, &[]), "expected at least 1 unknown per system, found 0");
        assert_eq!(wrong(2, &[1.0; 6]), "expected a multiple of 2 x 2 values, found 6");
        let second = "matrix 1 of the batch (0-based) is not symmetric or not finite";
        assert_eq!(wrong(2, &[1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 3.0, 1.0]), second);
        assert_eq!(wrong(1, &[1.0, f64::NAN, f64::INFINITY]), second);
        let batch = Batch::new(2, vec![1.0, 2.0, 2.0, 5.0]).unwrap();
        assert_eq!((batch.len(), batch.unknowns(), batch.bytes()), (1, 2, 32));
        assert!(Batch::new(3, Vec::new()).unwrap().is_empty());
    }

    #[test]
    fn the_identity_is_the_digest_that_python_computes() {
        // hashlib.sha256(struct.pack('<2Q6d', 2, 2, 1.5, -0.0, 3, 4, 5, 6)).hexdigest()
        let batch = Batch::new(2, vec![1.5, -0.0, -0.0, 3.0, 4.0, 5.0, 5.0, 6.0]).unwrap();
        let identity = |batch: &Batch| batch.identity(&|| false).unwrap();
        assert_eq!(
            identity(&batch),
            "1d74a4028c474303a8a07e4cfe0de109d4a7934dcc0467de9bc97730118b833e"
        );
        let one = |n, values: &[f64]| identity(&Batch::new(n, values.to_vec()).unwrap());
        assert_ne!(one(1, &[0.0]), one(1, &[-0.0]));
        assert_ne!(one(1, &[]), one(2, &[]));
        let large = Batch::new(1, vec![1.0; BLOCK]).unwrap();
        assert_eq!(large.identity(&|| true), None);
    }
}
