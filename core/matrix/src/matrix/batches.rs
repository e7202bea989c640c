//! Dense matrices of several sizes: one batch per size.

use super::{Batch, FormatError, Sha256Hex};

/// Batches of matrices, one per size, ascending in size; every matrix has a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches(Vec<NumberedBatch>);

/// A batch whose matrices carry numbers given by the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedBatch {
    batch: Batch,
    /// One per matrix, ascending; empty when they are 0, 1, 2, …
    numbers: Vec<u32>,
}

impl NumberedBatch {
    /// The matrices.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The number of matrix s of this batch, 0-based; s itself when there is no such matrix.
    pub fn number(&self, s: usize) -> u64 {
        self.numbers.get(s).map_or(s as u64, |number| u64::from(*number))
    }
}

impl From<Batch> for Batches {
    /// Batches of one size, numbered in order.
    fn from(batch: Batch) -> Self {
        Self(vec![NumberedBatch { batch, numbers: Vec::new() }])
    }
}

impl Batches {
    /// Takes these batches and the numbers of their matrices. Fails unless they ascend in size and
    /// each matrix has a number.
    pub fn new(batches: Vec<(Batch, Vec<u32>)>) -> Result<Self, FormatError> {
        let wrong = |what: &str| Err(FormatError::Invariant(what.to_owned()));
        if !batches.is_sorted_by(|(one, _), (next, _)| one.unknowns() < next.unknowns()) {
            return wrong("batches are not sorted by their number of unknowns");
        }
        if batches.iter().any(|(batch, numbers)| batch.len() != numbers.len()) {
            return wrong("expected one number per system");
        }
        let numbered = |(batch, numbers)| NumberedBatch { batch, numbers };
        Ok(Self(batches.into_iter().map(numbered).collect()))
    }

    /// The batches, ascending in size.
    pub fn sizes(&self) -> &[NumberedBatch] {
        &self.0
    }

    /// Number of matrices.
    pub fn len(&self) -> usize {
        self.0.iter().map(|sized| sized.batch.len()).sum()
    }

    /// Whether there is no matrix.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of the largest matrices; 0 when there are none.
    pub fn most_unknowns(&self) -> usize {
        self.0.last().map_or(0, |sized| sized.batch.unknowns())
    }

    /// Bytes that the matrices occupy.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|sized| sized.batch.bytes()).sum()
    }

    /// Lower-case hexadecimal SHA-256: that of the batch if there is one size, else of all digests,
    /// each followed by its numbers as little-endian `u32`. Returns `None` once `cancelled` returns
    /// true.
    pub fn identity(&self, cancelled: &dyn Fn() -> bool) -> Option<String> {
        if let [NumberedBatch { batch, numbers }] = self.0.as_slice()
            && numbers.is_empty()
        {
            return batch.identity(cancelled);
        }
        let mut hash = Sha256Hex::default();
        for NumberedBatch { batch, numbers } in &self.0 {
            hash.update(batch.identity(cancelled)?.as_bytes());
            let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            hash.update(&numbers);
        }
        Some(hash.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones(n: usize, count: usize) -> Batch {
        Batch::new(n, vec![1.0; n * n * count]).unwrap()
    }

    #[test]
    fn batches_ascend_in_size_and_every_matrix_has_a_number() {
        let error = |batches| Batches::new(batches).unwrap_err().to_string();
        let twice = vec![(ones(2, 1), vec![0]), (ones(2, 1), vec![1])];
        assert_eq!(error(twice), "batches are not sorted by their number of unknowns");
        let fewer = vec![(ones(2, 2), vec![0])];
        assert_eq!(error(fewer), "expected one number per system");
        let both = Batches::new(vec![(ones(1, 2), vec![0, 4]), (ones(3, 1), vec![2])]).unwrap();
        assert_eq!((both.len(), both.most_unknowns(), both.bytes()), (3, 3, 8 * (2 + 9)));
        assert_eq!((both.sizes()[0].number(1), both.sizes()[1].number(0)), (4, 2));
        assert!(Batches::new(Vec::new()).unwrap().is_empty());
    }

    #[test]
    fn the_identity_of_one_size_is_the_batchs_and_else_numbers_count() {
        let never = &|| false;
        let one = ones(2, 3);
        assert_eq!(Batches::from(one.clone()).identity(never), one.identity(never));
        assert_eq!(Batches::from(one.clone()).sizes()[0].number(2), 2);
        let numbered = |numbers: [u32; 3]| {
            let batches = Batches::new(vec![(one.clone(), numbers.to_vec())]).unwrap();
            batches.identity(never).unwrap()
        };
        assert_ne!(numbered([0, 1, 2]), numbered([0, 1, 3]));
    }
}
