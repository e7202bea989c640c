//! Many small dense symmetric matrices of one size, one after the other.

use super::{FormatError, Sha256Hex};

/// Most rows of a matrix that is generated or gathered into a batch: none takes a kernel so long that it
/// could not be told to stop.
pub const MOST_UNKNOWNS: usize = 512;

/// Matrices of n × n numbers, n ≥ 1, stored whole and by rows; each symmetric and finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    unknowns: usize,
    values: Vec<f64>,
}

/// The same, borrowed: what kernels are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchView<'a> {
    unknowns: usize,
    values: &'a [f64],
}

/// How large a batch is that has not been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchExtent {
    /// Rows of a matrix, n.
    pub unknowns: u64,
    /// Number of matrices.
    pub systems: u64,
}

impl BatchExtent {
    /// Bytes of the matrices, stored whole: 8·n²·systems.
    pub fn bytes(self) -> u128 {
        8 * u128::from(self.unknowns).pow(2) * u128::from(self.systems)
    }
}

impl Batch {
    /// Of n × n numbers a matrix. Fails when n is 0, when the last matrix is not whole, and names the
    /// first matrix that is not symmetric or not finite.
    pub fn new(unknowns: usize, values: Vec<f64>) -> Result<Self, FormatError> {
        let numbers = values.len();
        match numbers.checked_rem(unknowns.saturating_mul(unknowns)) {
            None => {
                return Err(FormatError::Invariant("a system has one unknown at least".to_owned()));
            }
            Some(0) => {}
            Some(_) => {
                return Err(FormatError::Invariant(format!(
                    "{numbers} numbers are no whole number of matrices of {unknowns} rows"
                )));
            }
        }
        let batch = Self { unknowns, values };
        let is_wrong = |&s: &usize| !is_symmetric(batch.view().matrix(s), unknowns);
        match (0..batch.len()).find(is_wrong) {
            None => Ok(batch),
            Some(s) => Err(FormatError::Invariant(format!(
                "matrix {s} of the batch is not symmetric and finite (0-based)"
            ))),
        }
    }

    /// The batch borrowed.
    pub fn view(&self) -> BatchView<'_> {
        BatchView { unknowns: self.unknowns, values: &self.values }
    }

    /// The numbers of all matrices, one after the other, each by rows.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Rows of a matrix, n.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// Number of matrices.
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

    /// Lower-case hexadecimal SHA-256, the same on every platform, of all little-endian: n and the number
    /// of matrices as `u64`, then of each matrix the lower triangle by rows as `f64` bits. None once
    /// `cancelled` says so.
    pub fn identity(&self, cancelled: &dyn Fn() -> bool) -> Option<String> {
        let mut hash = Sha256Hex::default();
        for size in [self.unknowns, self.len()] {
            hash.update(&(size as u64).to_le_bytes());
        }
        // The hash sees long blocks.
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

/// Bytes gathered before they go to the hash.
const BLOCK: usize = 1 << 16;

/// Whether the row-major matrix of n rows equals its transpose and has finite numbers only.
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
    pub fn unknowns(self) -> usize {
        self.unknowns
    }

    /// Number of matrices.
    pub fn len(self) -> usize {
        self.values.len() / (self.unknowns * self.unknowns)
    }

    /// Whether there is no matrix.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// One matrix, row-major. Panics when it is not below [`len`](Self::len).
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
        assert_eq!(wrong(0, &[]), "a system has one unknown at least");
        assert_eq!(wrong(2, &[1.0; 6]), "6 numbers are no whole number of matrices of 2 rows");
        let second = "matrix 1 of the batch is not symmetric and finite (0-based)";
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
