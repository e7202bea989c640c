//! A file that all ranks read at once: each its share of the lines, whose entries go to the owners of their rows.

use std::path::Path;

use super::matrix::agreed;
use super::world::World;
use crate::distributed::{BlockCounts, Partition, RowBlock};
use crate::io::{Field, Progress, Symmetry, open_share};
use crate::matrix::Csr;
use crate::memory::MemoryLimit;

/// The rows of a rank as they were read, and what the file says.
pub struct Read {
    /// The rank's rows, with the columns of the whole matrix.
    pub block: RowBlock,
    /// Who has which rows: about equal entries.
    pub partition: Partition,
    /// Kind of values in the file.
    pub field: Field,
    /// Symmetry that it declares.
    pub symmetry: Symmetry,
    /// What a person should know of how this rank's share was read.
    pub warnings: Vec<String>,
}

/// Words of an entry on its way: row, column, value.
const WORDS: usize = 3;

/// Reads a `coordinate` file of Matrix Market. Duplicates are summed in the order of the file: a row's owner takes
/// the entries of one share after another. Fails on all ranks alike.
pub fn read(
    world: &World,
    path: &Path,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Read, String> {
    let (rank, ranks) = (world.rank(), world.ranks());
    let share = agreed(world, open_share(path, (rank, ranks), limit, progress))?;
    let (rows, cols) = (share.rows, share.cols);
    let lines = world.sum(share.lines);
    if lines != share.declared {
        let path = path.display();
        return Err(format!(
            "{path}: {} entries are declared, but there are {lines}",
            share.declared
        ));
    }
    let block = BlockCounts::block_of(rows, ranks);
    let mut counts = vec![0u64; rows.div_ceil(block) as usize];
    for &(row, ..) in &share.entries {
        counts[(u64::from(row) / block) as usize] += 1;
    }
    let counts = BlockCounts::new(rows, block, world.sums(&counts));
    let partition = Partition::equal_entries(&counts, ranks);

    let needed = 2 * 8 * WORDS as u128 * share.entries.len() as u128;
    agreed(world, limit.check("the entries on their way to their owners", needed))?;
    let mut lists = vec![Vec::new(); ranks];
    for (row, col, value) in share.entries {
        let words = [row.into(), col.into(), value.to_bits()];
        lists[partition.owner(row.into())].extend(words);
    }
    let lists: Vec<(usize, &[u64])> = lists.iter().map(Vec::as_slice).enumerate().collect();
    let received = world.exchange(&lists)?;
    let own = partition.range(rank);
    let mut triplets = Vec::new();
    for entry in received.iter().flat_map(|list| list.chunks_exact(WORDS)) {
        if let [row, col, bits] = *entry {
            triplets.push(((row - own.start) as usize, col as usize, f64::from_bits(bits)));
        }
    }
    drop(received);
    let made = Csr::from_triplets((own.end - own.start) as usize, cols as usize, &triplets);
    let block = RowBlock::new(own.start, rows, agreed(world, made)?);
    let (field, symmetry, warnings) = (share.field, share.symmetry, share.warnings);
    Ok(Read { block, partition, field, symmetry, warnings })
}
