//! Rows of other ranks, as far as the pattern of a factor reaches from a rank's own rows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::agreed::agreed;
use crate::world::World;
use sparsescope_matrix::distributed::{LocalMatrix, Partition};
use sparsescope_matrix::matrix::{Csr, RowPtr};
use sparsescope_matrix::memory::MemoryLimit;

/// Columns of the whole matrix, ascending, and values.
type Row = Vec<(u64, f64)>;

/// A rank's own rows of a symmetric matrix and some rows of others, as a square matrix of these rows and
/// columns in their original order; nonzeros in other columns are left out.
pub(super) struct Gathered {
    /// The matrix.
    pub(super) a: Csr,
    /// The range of the rank's own rows.
    pub(super) own: Range<usize>,
    /// Row numbers in the whole matrix.
    numbers: Vec<u64>,
}

impl Gathered {
    /// Gathers the rows within `steps` steps along the nonzeros. Unless a step may reach rows after the one it
    /// starts from, only rows before the rank's own are needed from others.
    pub(super) fn of(
        world: &World,
        local: &LocalMatrix,
        partition: &Partition,
        (steps, climbs): (u32, bool),
        limit: MemoryLimit,
    ) -> Result<Self, String> {
        let own = local.rows();
        let is_wanted = |column: u64| column < own.start || (climbs && column >= own.end);
        let mut found: BTreeMap<u64, Row> = BTreeMap::new();
        let mut wanted: BTreeSet<u64> =
            local.halo().columns().iter().copied().filter(|&column| is_wanted(column)).collect();
        let mut entries = local.entries();
        for _ in 0..steps {
            let rows = asked(world, local, partition, &wanted)?;
            entries += rows.iter().map(|(_, row)| row.len() as u64).sum::<u64>();
            let needed = 40 * u128::from(entries);
            agreed(world, limit.check("rows of other ranks for the pattern of G", needed))?;
            let columns = rows.iter().flat_map(|(_, row)| row).map(|&(column, _)| column);
            wanted = columns.filter(|&column| is_wanted(column)).collect();
            found.extend(rows);
            wanted.retain(|column| !found.contains_key(column));
        }
        agreed(world, Self::joined(local, found))
    }

    /// The number of a row in the whole matrix.
    pub(super) fn number(&self, row: usize) -> u64 {
        self.numbers.get(row).copied().unwrap_or_default()
    }

    fn joined(local: &LocalMatrix, found: BTreeMap<u64, Row>) -> Result<Self, String> {
        let own = local.rows();
        let before = found.range(..own.start).count();
        let numbers: Vec<u64> = (found.keys().copied().take(before))
            .chain(own.clone())
            .chain(found.keys().copied().skip(before))
            .collect();
        if u32::try_from(numbers.len()).is_err() {
            return Err(format!(
                "{} rows including those of other ranks: at most 4294967295 are supported; use \
                more ranks",
                numbers.len()
            ));
        }
        let place = |column: u64| match own.contains(&column) {
            true => Some(before + (column - own.start) as usize),
            false => numbers.binary_search(&column).ok(),
        };
        let (mut lengths, mut col, mut val) = (Vec::with_capacity(numbers.len()), vec![], vec![]);
        let mut row = Vec::new();
        for &number in &numbers {
            match found.get(&number) {
                Some(found) => row.clone_from(found),
                None => local.global_entries(number, &mut row),
            }
            let known = col.len();
            for &(column, value) in &row {
                if let Some(place) = place(column) {
                    col.push(place as u32);
                    val.push(value);
                }
            }
            lengths.push(col.len() - known);
        }
        let row_ptr = RowPtr::from_lengths(lengths.into_iter());
        let a = Csr::try_new(numbers.len(), numbers.len(), row_ptr, col, val);
        let a = a.map_err(|error| error.to_string())?;
        Ok(Self { a, own: before..before + local.own_rows(), numbers })
    }
}

/// Requests these rows from their owners.
fn asked(
    world: &World,
    local: &LocalMatrix,
    partition: &Partition,
    rows: &BTreeSet<u64>,
) -> Result<Vec<(u64, Row)>, String> {
    let mut wanted: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for &row in rows {
        wanted.entry(partition.owner(row)).or_default().push(row);
    }
    let lists: Vec<(usize, &[u64])> =
        wanted.iter().map(|(&owner, rows)| (owner, rows.as_slice())).collect();
    let of_others = world.exchange(&lists)?;
    let mut row = Vec::new();
    let answers: Vec<Vec<u64>> = of_others
        .iter()
        .map(|rows| {
            let mut words = Vec::new();
            for &number in rows {
                local.global_entries(number, &mut row);
                words.extend([number, row.len() as u64]);
                words.extend(row.iter().flat_map(|&(column, value)| [column, value.to_bits()]));
            }
            words
        })
        .collect();
    let lists: Vec<(usize, &[u64])> = answers.iter().map(Vec::as_slice).enumerate().collect();
    let mut found = Vec::new();
    for words in world.exchange(&lists)? {
        let mut rest = words.as_slice();
        while let [number, length, after @ ..] = rest {
            let (row, next) = after.split_at((2 * *length as usize).min(after.len()));
            let entries = row.chunks_exact(2).map(|entry| (entry[0], f64::from_bits(entry[1])));
            found.push((*number, entries.collect()));
            rest = next;
        }
    }
    Ok(found)
}
