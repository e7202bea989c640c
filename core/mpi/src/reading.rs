//! Reads a file on all ranks at once: each reads its share of the lines and sends the nonzeros to the owners
//! of their rows.

use std::path::Path;

use super::agreed::agreed;
use super::numbering::Numbering;
use super::world::World;
use sparsescope_bench::experiment::unread_matrix;
use sparsescope_matrix::distributed::{BlockCounts, Partition, RowBlock};
use sparsescope_matrix::io::{
    Field, FileShare, HandedOut, Progress, Symmetry, hand_out, is_compressed, open_share,
    share_of_text,
};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

/// The rows of a rank as read, and the file's header.
pub struct Read {
    /// The rank's rows, with the columns of the whole matrix.
    pub block: RowBlock,
    /// Which rank owns which rows: about equal numbers of nonzeros.
    pub partition: Partition,
    /// Kind of values in the file.
    pub field: Field,
    /// Symmetry declared by the file.
    pub symmetry: Symmetry,
    /// Warnings about how this rank's share was read.
    pub warnings: Vec<String>,
}

/// Words per nonzero in a message: row, column, value.
const WORDS: usize = 3;

/// Reads a `coordinate` file of Matrix Market, and reorders its rows and columns if requested. A compressed
/// file is read by rank 0, which sends each rank its lines. Duplicates are summed in the order of the file: a
/// row's owner takes the nonzeros of one share after another. Fails on all ranks together.
pub fn read(
    world: &World,
    path: &Path,
    numbering: Option<&Numbering>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Read, String> {
    let (rank, ranks) = (world.rank(), world.ranks());
    let is_compressed = is_compressed(path).map_err(|error| unread_matrix(path, error));
    let is_compressed = agreed(world, is_compressed)?;
    let mut share = match world.any(is_compressed) {
        false => agreed(world, open_share(path, (rank, ranks), limit, progress))?,
        true => handed_out(world, path, limit, progress)?,
    };
    let (rows, cols) = (share.rows, share.cols);
    let lines = world.sum(share.lines);
    if lines != share.declared {
        let path = path.display();
        return Err(format!(
            "{path}: the size line declares {} entries, found {lines}",
            share.declared
        ));
    }
    if let Some(numbering) = numbering {
        if [rows, cols] != [numbering.order().len() as u64; 2] {
            let (path, of) = (path.display(), numbering.order().len());
            return Err(format!("{path} is {rows} x {cols}, but the permutation has {of} rows"));
        }
        for (row, col, _) in &mut share.entries {
            for number in [row, col] {
                *number = numbering.positions()[*number as usize];
            }
        }
    }
    let block = BlockCounts::block_of(rows, ranks);
    let mut counts = vec![0u64; rows.div_ceil(block) as usize];
    for &(row, ..) in &share.entries {
        counts[(u64::from(row) / block) as usize] += 1;
    }
    let counts = BlockCounts::new(rows, block, world.sums(&counts));
    let partition = match numbering.and_then(Numbering::partition) {
        Some(partition) => partition.clone(),
        None => Partition::equal_entries(&counts, ranks),
    };

    let needed = 2 * 8 * WORDS as u128 * share.entries.len() as u128;
    agreed(world, limit.check("nonzeros sent to their owners", needed))?;
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

/// The rank's share of a compressed file, which rank 0 reads twice: the first time to count the bytes.
fn handed_out(
    world: &World,
    path: &Path,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<FileShare, String> {
    let mut lines: Vec<u8> = Vec::new();
    let mut too_much = None;
    let given =
        world.hand_out(|give| hand_out(path, world.ranks(), progress, give), &mut |piece| {
            let needed = lines.len() as u128 + piece.len() as u128;
            match limit.check("a share of the file's text", needed) {
                Ok(()) => lines.extend_from_slice(piece),
                Err(error) => too_much = Some(error),
            }
        });
    let given = match given {
        Some(given) => given,
        None => Ok(HandedOut::default()),
    };
    let HandedOut { header, before } = agreed(world, given)?;
    agreed(world, too_much.map_or(Ok(()), Err))?;
    let header = world.of_first(&header);
    let before = world.all_lists(&before).into_iter().next().unwrap_or_default();
    let before = before.get(world.rank()).copied().unwrap_or_default();
    let text = (header.as_bytes(), lines, before);
    let share = share_of_text(path, text, limit, progress);
    let mut share = agreed(world, share)?;
    if world.is_first() {
        let said = "the file is compressed: this rank reads it and sends the others their lines";
        share.warnings.push(said.to_owned());
    }
    Ok(share)
}
