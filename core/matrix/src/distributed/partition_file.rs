//! Files that list the rank of each row, as METIS and ParMETIS write them, or a permutation of the rows.

use super::error::DistributedError;
use super::partition::Partition;

/// Parses the rank of each of `rows` rows, one number per line, ranks counting from 0.
///
/// Every number must be below `ranks`: a file for fewer ranks leaves some without rows, one for more is
/// rejected.
pub fn ranks_of_rows(text: &str, rows: u64, ranks: usize) -> Result<Vec<u32>, DistributedError> {
    let is_rank = |rank: u32| match (rank as usize) < ranks {
        true => Ok(()),
        false => Err(format!("expected a rank below {ranks}, found {rank} (0-based)")),
    };
    one_a_row(text, rows, "a rank", is_rank).map_err(DistributedError::PartitionFile)
}

/// Parses a permutation of `rows` rows: the row that becomes the first, the second and so on, one number
/// per line, rows counting from 0. The caller checks that each row occurs once.
pub fn permutation_of_rows(text: &str, rows: u64) -> Result<Vec<u32>, DistributedError> {
    let is_row = |row: u32| match u64::from(row) < rows {
        true => Ok(()),
        false => Err(format!("expected a row below {rows}, found {row} (0-based)")),
    };
    one_a_row(text, rows, "a row number", is_row).map_err(DistributedError::PermutationFile)
}

/// Parses one number per line, one line per row; `admits` must accept each number. Empty lines are skipped.
fn one_a_row(
    text: &str,
    rows: u64,
    what: &str,
    admits: impl Fn(u32) -> Result<(), String>,
) -> Result<Vec<u32>, String> {
    let mut found = Vec::new();
    for (number, line) in (1u64..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let read = line.parse::<u32>().map_err(|_| {
            let seen: String = line.chars().take(20).collect();
            format!("line {number}: expected {what}, found `{}`", seen.escape_debug())
        })?;
        admits(read).map_err(|why| format!("line {number}: {why}"))?;
        found.push(read);
        if found.len() as u64 > rows {
            return Err(format!("expected {rows} lines, one per row, found more"));
        }
    }
    match found.len() as u64 == rows {
        true => Ok(found),
        false => Err(format!("expected {rows} lines, one per row, found {}", found.len())),
    }
}

/// Sorts the rows by rank, keeping the order within each rank, and returns the number of rows of each rank:
/// row and column `order[k]` are to become row and column k.
pub fn sorted_by_rank(ranks_of_rows: &[u32], ranks: usize) -> (Partition, Vec<u32>) {
    let mut lengths = vec![0u64; ranks];
    ranks_of_rows.iter().for_each(|&rank| lengths[rank as usize] += 1);
    let partition = Partition::from_lengths(&lengths);
    let mut next: Vec<usize> =
        (0..ranks).map(|rank| partition.range(rank).start as usize).collect();
    let mut order = vec![0u32; ranks_of_rows.len()];
    for (row, &rank) in (0..).zip(ranks_of_rows) {
        let place = &mut next[rank as usize];
        order[*place] = row;
        *place += 1;
    }
    (partition, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_rank_and_keep_their_order_within_one() {
        let ranks = ranks_of_rows("1\n0\n\n 1\r\n3\n0\n", 5, 4).unwrap();
        let (partition, order) = sorted_by_rank(&ranks, 4);
        assert_eq!(order, [1, 4, 0, 2, 3]);
        let ranges: Vec<_> = (0..4).map(|rank| partition.range(rank)).collect();
        assert_eq!(ranges, [0..2, 2..4, 4..4, 4..5]);
    }

    #[test]
    fn what_is_no_partition_is_told_in_a_sentence() {
        let told = |text: &str| ranks_of_rows(text, 2, 2).unwrap_err().to_string();
        assert_eq!(told("0\nx\n"), "invalid partition file: line 2: expected a rank, found `x`");
        assert_eq!(
            told("0\n2\n"),
            "invalid partition file: line 2: expected a rank below 2, found 2 (0-based)"
        );
        assert_eq!(told("0\n"), "invalid partition file: expected 2 lines, one per row, found 1");
        assert_eq!(
            told("0\n1\n0\n"),
            "invalid partition file: expected 2 lines, one per row, found more"
        );
        assert!(told("0\n-1\n").contains("found `-1`"));
    }
}
