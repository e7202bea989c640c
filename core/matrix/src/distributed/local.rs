//! The part of a matrix that a rank holds: its rows with renumbered columns, so that single-process kernels
//! can multiply them.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::*;

use super::error::DistributedError;
use super::halo::Halo;
use super::partition::Partition;
use super::rows::Rows;
use crate::matrix::{Csr, RowPtr};
use crate::memory::{MemoryLimit, zeroed};

/// The rows of a rank. Those without nonzeros in columns of other ranks, the interior, come first, then the
/// boundary, each in the order of the whole matrix. If rows and columns have the same partition, the rank's
/// own columns follow the order of its rows, so that y of one SpMV is x of the next. After the own columns
/// come those of the [`Halo`].
///
/// Therefore y = (interior·x_own, boundary·(x_own, x_halo)): the interior can be multiplied while the halo is
/// in transit.
#[derive(Clone, Debug)]
pub struct LocalMatrix {
    rank: usize,
    rows: Range<u64>,
    cols: Range<u64>,
    /// For each local row, its index in `rows`.
    order: Vec<u32>,
    /// For each index in `cols`, the local column; `None` if they are the same.
    places: Option<Vec<u32>>,
    interior: Arc<Csr>,
    boundary: Arc<Csr>,
    halo: Halo,
}

/// Rows processed between checks of the cancel flag.
const CHUNK: usize = 4096;

/// Row lengths of a chunk, and its columns that other ranks own.
struct Seen {
    lengths: Vec<u32>,
    is_boundary: Vec<bool>,
    outside: Vec<u64>,
}

impl LocalMatrix {
    /// Builds the rows of `rank` according to the partition `rows`, with x partitioned by `cols`. Every row
    /// is requested twice, in parallel, so that only the result is kept. Fails before allocating more than
    /// `limit`.
    ///
    /// Panics when a partition does not match the matrix or has no such rank.
    pub fn new(
        source: &dyn Rows,
        rank: usize,
        rows: &Partition,
        cols: &Partition,
        limit: MemoryLimit,
        cancel: &AtomicBool,
    ) -> Result<Self, DistributedError> {
        assert_eq!(
            (rows.rows(), cols.rows(), rows.ranks()),
            (source.rows(), source.cols(), cols.ranks()),
            "the partitions are those of the matrix"
        );
        let (own_rows, own_cols) = (rows.range(rank), cols.range(rank));
        let count = narrow(rank, own_rows.end - own_rows.start, "rows")?;
        let own_count = narrow(rank, own_cols.end - own_cols.start, "owned columns")?;
        limit.check(format!("the rows of rank {rank}"), 16 * count as u128)?;

        let seen: Vec<Seen> = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let chunk = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
                match cancel.load(Ordering::Relaxed) {
                    true => Seen { lengths: vec![], is_boundary: vec![], outside: vec![] },
                    false => look(source, own_rows.start, chunk, &own_cols),
                }
            })
            .collect();
        if cancel.load(Ordering::Relaxed) {
            return Err(DistributedError::Cancelled);
        }

        let mut outside: Vec<u64> = seen.iter().flat_map(|chunk| &chunk.outside).copied().collect();
        outside.par_sort_unstable();
        outside.dedup();
        let halo = Halo::new(outside, cols);
        narrow(rank, (own_count + halo.len()) as u64, "columns including its halo")?;

        let is_boundary = |place: u32| {
            let place = place as usize;
            seen[place / CHUNK].is_boundary[place % CHUNK]
        };
        let length = |place: u32| {
            let place = place as usize;
            seen[place / CHUNK].lengths[place % CHUNK] as usize
        };
        let places = 0..count as u32;
        let mut order: Vec<u32> = places.clone().filter(|&place| !is_boundary(place)).collect();
        let inside = order.len();
        order.extend(places.filter(|&place| is_boundary(place)));
        let follows = rows == cols && inside > 0 && inside < count;
        let places = follows.then(|| {
            let mut places = zeroed(0u32, count);
            order.iter().zip(0..).for_each(|(&place, local)| places[place as usize] = local);
            places
        });

        let entries: u128 = order.iter().map(|&place| length(place) as u128).sum();
        limit.check(format!("the rows of rank {rank}"), 12 * entries + 24 * count as u128)?;
        let column = |global: u64| match own_cols.contains(&global) {
            true => {
                let place = (global - own_cols.start) as u32;
                places.as_ref().map_or(place, |places| places[place as usize])
            }
            false => {
                let position = halo.position(global).expect("every column elsewhere was seen"); // invariant
                (own_count + position) as u32
            }
        };
        let part = |order: &[u32], cols: usize| {
            let row_ptr = RowPtr::from_lengths(order.iter().map(|&place| length(place)));
            let filled = Csr::filled(order.len(), cols, row_ptr, |k, col, val| {
                if cancel.load(Ordering::Relaxed) {
                    return;
                }
                with_row(|row| {
                    source.row(own_rows.start + u64::from(order[k]), row);
                    row.iter_mut().for_each(|(global, _)| *global = column(*global).into());
                    row.sort_unstable_by_key(|&(column, _)| column);
                    for ((&(column, value), col), val) in row.iter().zip(col).zip(val) {
                        (*col, *val) = (column as u32, value);
                    }
                });
            });
            match cancel.load(Ordering::Relaxed) {
                true => Err(DistributedError::Cancelled),
                false => filled.map_err(|reason| DistributedError::Format { rank, reason }),
            }
        };
        let interior = Arc::new(part(&order[..inside], own_count)?);
        let boundary = Arc::new(part(&order[inside..], own_count + halo.len())?);
        Ok(Self { rank, rows: own_rows, cols: own_cols, order, places, interior, boundary, halo })
    }

    /// The rank that owns these rows.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The rows, numbered as in the whole matrix.
    pub fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }

    /// The columns whose elements of x the rank owns, numbered as in the whole matrix.
    pub fn cols(&self) -> Range<u64> {
        self.cols.clone()
    }

    /// Rows that need nothing from other ranks: local rows `0..interior().rows()`, over the own columns.
    pub fn interior(&self) -> &Arc<Csr> {
        &self.interior
    }

    /// The remaining rows, over own columns and halo.
    pub fn boundary(&self) -> &Arc<Csr> {
        &self.boundary
    }

    /// What is needed from other ranks; its columns are the local columns from `own_cols()`.
    pub fn halo(&self) -> &Halo {
        &self.halo
    }

    /// Number of rows, that is, elements of y.
    pub fn own_rows(&self) -> usize {
        self.order.len()
    }

    /// Number of own columns, that is, elements of x before the halo.
    pub fn own_cols(&self) -> usize {
        (self.cols.end - self.cols.start) as usize
    }

    /// Number of own and halo columns, that is, elements of x including those received.
    pub fn local_cols(&self) -> usize {
        self.own_cols() + self.halo.len()
    }

    /// Number of nonzeros of all rows.
    pub fn entries(&self) -> u64 {
        (self.interior.nnz() + self.boundary.nnz()) as u64
    }

    /// The row of the whole matrix that corresponds to a local row.
    pub fn global_row(&self, local: usize) -> u64 {
        self.rows.start + u64::from(self.order[local])
    }

    /// The column of the whole matrix that corresponds to a local column.
    pub fn global_col(&self, local: usize) -> u64 {
        match local.checked_sub(self.own_cols()) {
            Some(position) => self.halo.columns()[position],
            None if self.places.is_some() => self.cols.start + u64::from(self.order[local]),
            None => self.cols.start + local as u64,
        }
    }

    /// The local column of one of the own columns; `None` for other columns.
    pub fn own_col(&self, global: u64) -> Option<u32> {
        let place = self.cols.contains(&global).then(|| (global - self.cols.start) as u32)?;
        Some(self.places.as_ref().map_or(place, |places| places[place as usize]))
    }

    /// Writes the nonzeros of one of the rank's rows to `entries`, by ascending column. Row and columns are
    /// numbered as in the whole matrix. Panics when the row is not the rank's.
    pub fn global_entries(&self, row: u64, entries: &mut Vec<(u64, f64)>) {
        assert!(self.rows.contains(&row), "the row is the rank's");
        let place = (row - self.rows.start) as u32;
        let (inside, outside) = self.order.split_at(self.interior.rows());
        let (col, val) = match (inside.binary_search(&place), outside.binary_search(&place)) {
            (Ok(local), _) => self.interior.row(local),
            (_, local) => self.boundary.row(local.expect("a row lies inside or not")), // invariant
        };
        entries.clear();
        entries.extend(col.iter().zip(val).map(|(&c, &v)| (self.global_col(c as usize), v)));
        entries.sort_unstable_by_key(|&(column, _)| column);
    }

    /// Reorders a vector over the own columns from the order of the whole matrix to the local order. Panics
    /// when it has another length.
    pub fn localised<T: Copy + Send + Sync>(&self, own: &[T]) -> Vec<T> {
        assert_eq!(own.len(), self.own_cols(), "one element an own column");
        match &self.places {
            Some(_) => self.order.iter().map(|&place| own[place as usize]).collect(),
            None => own.to_vec(),
        }
    }

    /// Reorders a vector over the rows from the local order to the order of the whole matrix. Panics when it
    /// has another length.
    pub fn in_global_order<T: Copy + Default>(&self, local: &[T]) -> Vec<T> {
        assert_eq!(local.len(), self.own_rows(), "one element a row");
        let mut own = vec![T::default(); local.len()];
        for (&place, &value) in self.order.iter().zip(local) {
            own[place as usize] = value;
        }
        own
    }
}

/// Checks that `count` items can be numbered with `u32`.
fn narrow(rank: usize, count: u64, what: &str) -> Result<usize, DistributedError> {
    match u32::try_from(count) {
        Ok(count) => Ok(count as usize),
        Err(_) => Err(DistributedError::TooLarge { rank, what: format!("{count} {what}") }),
    }
}

/// Scans a chunk of rows.
fn look(source: &dyn Rows, first: u64, chunk: Range<usize>, own: &Range<u64>) -> Seen {
    let mut seen = Seen { lengths: Vec::new(), is_boundary: Vec::new(), outside: Vec::new() };
    let mut row = Vec::new();
    for place in chunk {
        source.row(first + place as u64, &mut row);
        let known = seen.outside.len();
        let columns = row.iter().map(|&(column, _)| column);
        seen.outside.extend(columns.filter(|column| !own.contains(column)));
        seen.is_boundary.push(seen.outside.len() > known);
        seen.lengths.push(row.len() as u32);
    }
    seen.outside.sort_unstable();
    seen.outside.dedup();
    seen
}

/// Lends the thread-local buffer for a row.
fn with_row(work: impl FnOnce(&mut Vec<(u64, f64)>)) {
    thread_local! {
        static ROW: RefCell<Vec<(u64, f64)>> = const { RefCell::new(Vec::new()) };
    }
    ROW.with_borrow_mut(work);
}
