//! Reordering of rows and columns before they are distributed.

use sparsescope_matrix::distributed::{
    Partition, permutation_of_rows, ranks_of_rows, sorted_by_rank,
};
use sparsescope_matrix::matrix::RowOrder;

/// A new order of the rows and columns of a square matrix, the same on all ranks.
pub struct Numbering {
    by: &'static str,
    order: Vec<u32>,
    positions: Vec<u32>,
    partition: Option<Partition>,
}

impl Numbering {
    /// Row and column `order[k]` become row and column k, as found by `by`. Fails if `order` is not a
    /// permutation.
    pub fn new(by: &'static str, order: Vec<u32>) -> Result<Self, String> {
        let rows = RowOrder::try_new(order.clone(), 0).map_err(|error| error.to_string())?;
        Ok(Self { by, order, positions: rows.positions(), partition: None })
    }

    /// Sorts rows by rank, as given by the text of a partition file: the rank of each row, one per line, as
    /// METIS and ParMETIS write it.
    pub fn of_partition(text: &str, rows: u64, ranks: usize) -> Result<Self, String> {
        let found = ranks_of_rows(text, rows, ranks).map_err(|error| error.to_string())?;
        let (partition, order) = sorted_by_rank(&found, ranks);
        Ok(Self { partition: Some(partition), ..Self::new("partition", order)? })
    }

    /// The order given by the text of a file: the original row and column of each new one, one per line.
    pub fn of_permutation(text: &str, rows: u64) -> Result<Self, String> {
        let order = permutation_of_rows(text, rows).map_err(|error| error.to_string())?;
        Self::new("permutation", order)
    }

    /// The method that found it: `rcm`, `partition`, `permutation`.
    pub fn by(&self) -> &'static str {
        self.by
    }

    /// The original row and column of each new one.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The new position of each original row and column.
    pub(super) fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The partition, if the order came with one.
    pub fn partition(&self) -> Option<&Partition> {
        self.partition.as_ref()
    }

    /// A vector over the rows, restored to their original order. Panics if it has another length.
    pub fn undone(&self, numbered: &[f64]) -> Vec<f64> {
        assert_eq!(numbered.len(), self.order.len(), "one element a row");
        self.positions.iter().map(|&position| numbered[position as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_gets_its_old_order_back() {
        // Rows 1 and 3 belong to rank 0, the others to rank 1.
        let numbering = Numbering::of_partition("1\n0\n1\n0\n", 4, 2).unwrap();
        assert_eq!((numbering.order(), numbering.by()), (&[1, 3, 0, 2][..], "partition"));
        assert_eq!(numbering.partition().unwrap().range(1), 2..4);
        assert_eq!(numbering.undone(&[10.0, 30.0, 0.0, 20.0]), [0.0, 10.0, 20.0, 30.0]);
        assert!(Numbering::new("rcm", vec![0, 0]).is_err());
        let numbering = Numbering::of_permutation("2\n0\n\n1\n", 3).unwrap();
        assert_eq!((numbering.order(), numbering.by()), (&[2, 0, 1][..], "permutation"));
        assert!(
            Numbering::of_permutation("2\n3\n1\n", 3)
                .is_err_and(|told| told.contains("line 2: expected a row"))
        );
        assert!(Numbering::of_permutation("2\n2\n1\n", 3).is_err());
        assert!(
            Numbering::of_partition("0\n", 2, 1)
                .is_err_and(|told| told.contains("expected 2 lines"))
        );
    }
}
