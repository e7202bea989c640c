//! The dense systems of rows, gathered and queued by size.

use std::cmp::Ordering;

use super::error::{FsaiError, Stop, unless_cancelled};
use super::{Cancelled, FsaiParameters, dense_system, pattern_of};
use sparsescope_matrix::matrix::{Batch, Batches, Csr, MOST_UNKNOWNS};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_matrix::parallel::*;

/// The dense systems A[P, P] of rows of G before rows are merged, where P is a row's pattern: one batch per
/// size, with 0-based row numbers ascending. At most `most` rows are taken, evenly spaced. Fails if all
/// systems together, 8·m² bytes each, need more than `limit`, and names a row whose pattern has more than
/// [`MOST_UNKNOWNS`] nonzeros. `None` when cancelled.
pub fn row_systems(
    a: &Csr,
    parameters: &FsaiParameters,
    most: Option<usize>,
    limit: MemoryLimit,
    cancelled: &Cancelled<'_>,
) -> Result<Option<Batches>, FsaiError> {
    let Some(pattern) = pattern_of(a, parameters, limit, cancelled)? else { return Ok(None) };
    let all = pattern.rows();
    let taken = most.map_or(all, |most| most.min(all));
    // u128, as both the number of rows and the number taken may be as large as usize allows.
    let row = |k: usize| (k as u128 * all as u128 / taken.max(1) as u128) as usize;
    let mut queue: Vec<(usize, u32)> = Vec::with_capacity(taken);
    let mut bytes = 0u128;
    for k in 0..taken {
        let size = pattern.row(row(k)).len();
        if size > MOST_UNKNOWNS {
            return Err(FsaiError::TooLarge { row: row(k), size, most: MOST_UNKNOWNS });
        }
        bytes += 8 * (size as u128).pow(2);
        queue.push((size, k as u32));
    }
    limit.check(format!("the dense systems of {taken} rows"), bytes)?;
    queue.sort_unstable();
    let gathered = |group: &[(usize, u32)]| -> Result<(Batch, Vec<u32>), Stop> {
        let n = group.first().map_or(1, |(size, _)| *size);
        let mut values = zeroed(0f64, n * n * group.len());
        values.par_chunks_mut(n * n).zip(group.par_iter()).for_each(|(to, &(_, k))| {
            if !cancelled() {
                to.copy_from_slice(&dense_system(a, pattern.row(row(k as usize))));
            }
        });
        match cancelled() {
            true => Err(Stop::Cancelled),
            false => Ok((Batch::new(n, values)?, group.iter().map(|(_, k)| *k).collect())),
        }
    };
    let batches: Result<Vec<_>, Stop> =
        queue.chunk_by(|one, next| one.0 == next.0).map(gathered).collect();
    unless_cancelled(batches.and_then(|batches| Ok(Batches::new(batches)?)))
}

/// Fills the packed lower triangles of dense systems: for each, its ascending rows and columns of A +
/// `shift`·diag(A), and m·(m + 1)/2 zeros for its rows one after another, row p starting at p·(p + 1)/2. Only
/// the lower triangle of A is read. Panics if a column is no row of A or the number of zeros is wrong.
pub fn packed_systems(a: &Csr, shift: f64, systems: Vec<(&[u32], &mut [f64])>) {
    systems.into_par_iter().for_each(|(columns, numbers)| {
        let m = columns.len();
        assert_eq!(numbers.len(), m * (m + 1) / 2, "a packed triangle of {m} rows");
        for (p, &i) in columns.iter().enumerate() {
            let row = &mut numbers[p * (p + 1) / 2..][..=p];
            let (col, val) = a.row(i as usize);
            let (mut at, mut q) = (0, 0);
            // Both ascend.
            while at < col.len() && q <= p {
                match col[at].cmp(&columns[q]) {
                    Ordering::Less => at += 1,
                    Ordering::Greater => q += 1,
                    Ordering::Equal => {
                        row[q] = val[at];
                        (at, q) = (at + 1, q + 1);
                    }
                }
            }
            row[p] *= 1.0 + shift;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsai::checks::{made, recursive};

    fn systems(a: &Csr, most: Option<usize>) -> Batches {
        row_systems(a, &recursive(1), most, MemoryLimit::unlimited(), &|| false).unwrap().unwrap()
    }

    #[test]
    fn a_grids_rows_queue_by_the_neighbours_that_come_before_them() {
        // 5 × 5 points, with the 4 nearest: the first has none before it, the 4 and 4 others of the first row
        // and column have one, 16 have two.
        let a = made("poisson2d?n=5");
        let batches = systems(&a, None);
        let sizes: Vec<_> =
            batches.sizes().iter().map(|s| (s.batch().unknowns(), s.batch().len())).collect();
        assert_eq!(sizes, [(1, 1), (2, 8), (3, 16)]);
        let [one, two, three] = batches.sizes() else { panic!("{sizes:?}") };
        assert_eq!(one.batch().view().matrix(0), [4.0]);
        assert!((0..8).all(|s| two.batch().view().matrix(s) == [4.0, -1.0, -1.0, 4.0]));
        // The upper and left neighbours are not neighbours of each other.
        let corner = [4.0, 0.0, -1.0, 0.0, 4.0, -1.0, -1.0, -1.0, 4.0];
        assert!((0..16).all(|s| three.batch().view().matrix(s) == corner));
        let numbers: Vec<u64> = (0..8).map(|s| two.number(s)).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 10, 15, 20]);
    }

    #[test]
    fn rows_are_taken_evenly() {
        // Rows 0, 5, 10, 15 and 20: the first column.
        let few = systems(&made("poisson2d?n=5"), Some(5));
        assert_eq!((few.len(), few.sizes()[0].batch().len(), few.most_unknowns()), (5, 1, 2));
        assert_eq!(few.sizes()[1].number(3), 4);
        assert_eq!(systems(&made("poisson2d?n=5"), Some(1000)).len(), 25);
    }

    #[test]
    fn what_is_too_large_or_does_not_fit_is_told_and_a_wish_to_stop_heeded() {
        let tried = |recipe: &str, power, limit| {
            row_systems(&made(recipe), &recursive(power), None, limit, &|| false)
        };
        let error = tried("poisson2d?n=40", 40, MemoryLimit::unlimited()).unwrap_err().to_string();
        assert!(error.contains("columns; systems of a batch have at most 512 unknowns"), "{error}");
        // The pattern takes less than the systems, which have 1 + 8·4 + 16·9 numbers.
        let error = tried("poisson2d?n=5", 1, MemoryLimit::bytes(1415)).unwrap_err().to_string();
        assert!(error.contains("the dense systems of 25 rows needs 1416 bytes"), "{error}");
        let a = made("poisson2d?n=5");
        let stopped =
            row_systems(&a, &recursive(1), None, MemoryLimit::unlimited(), &|| true).unwrap();
        assert_eq!(stopped, None);
    }

    #[test]
    fn packed_triangles_are_those_of_the_dense_systems() {
        let a = made("fem-hex?n=3&dof=3");
        let all = [vec![7u32], vec![2, 5, 11, 40], (0..a.rows() as u32).collect()];
        let mut packed: Vec<Vec<f64>> =
            all.iter().map(|c| vec![0.0; c.len() * (c.len() + 1) / 2]).collect();
        let parts = all.iter().zip(&mut packed).map(|(c, to)| (&c[..], &mut to[..])).collect();
        packed_systems(&a, 0.5, parts);
        for (columns, packed) in all.iter().zip(packed) {
            let (m, dense) = (columns.len(), dense_system(&a, columns));
            for p in 0..m {
                for q in 0..=p {
                    let expected = dense[p * m + q] * if p == q { 1.5 } else { 1.0 };
                    assert_eq!(packed[p * (p + 1) / 2 + q], expected);
                }
            }
        }
    }
}
