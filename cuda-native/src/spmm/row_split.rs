//! The launcher of `cuda/spmm/row-split`, which has several ways to share rows among threads.

use sparsescope_core::kernel::{PathShares, columns_of_row_split, columns_per_thread};
use sparsescope_core::matrix::{Csr, Offset, Real};
use sparsescope_core::parallel::IntoElements;

use crate::arguments::{Element, Reads, Spmm, SpmmEqual, SpmmLong, SpmmStaged, Stored, Writes};
use crate::arrays::Offsets;
use crate::buffer::{Buffer, Spent};
use crate::cusparse::Block;
use crate::device::{Device, DeviceError, count, row_count};
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Bytes of the widest pack of columns, which a thread moves at once.
const WIDEST: usize = 16;

/// Nonzeros of a row above which blocks share it. In a small matrix, one that is shorter would still
/// keep its threads busy after all others: a row must not have more than this share of the nonzeros,
/// unless it has few.
const LONGEST: usize = 512;
const SHARE: usize = 1 << 15;
const FEW: usize = 64;

/// Nonzeros of a long row that a block takes.
const OF_PART: usize = 1024;

/// Where no row has so many times the nonzeros of the average row, all rows end at about the same
/// time. Long ones then are not shared either if threads with one pack each would be this many.
const UNEVEN: usize = 4;
const ENOUGH_THREADS: usize = 100_000;

/// Most nonzeros of the average row of a matrix whose rows are short, and of any row of one whose
/// nonzeros are staged.
const SHORT: usize = 32;
const LONGEST_STAGED: usize = 64;

/// Nonzeros of the average row above which four threads share each of two packs.
const MEAN_OF_QUARTERS: usize = 64;

/// Rows of a block of threads that stages nonzeros, the nonzeros per row that it has room for, and the
/// most of a block, which take 48 KiB in f64.
const ROWS_STAGED: usize = 128;
const ROOM_STAGED: usize = 16;
const MOST_STAGED: usize = 4096;

/// The packs of a row of which two are a thread's are a multiple of this number.
const PACKS_OF_PAIRS: usize = 16;

/// Nonzeros of the average row from which rows with the same columns are searched.
const MEAN_EQUAL: usize = 8;

/// The fewest columns of X with which it pays to take them together.
const LEAST_EQUAL: usize = 16;

/// Places at which they are searched first.
const SAMPLED: usize = 256;

/// How the rows of a matrix are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// One thread per pack of a row.
    Plain,
    /// The same; the thread loads ahead.
    Ahead,
    /// Two packs of a row per thread.
    TwoPacks,
    /// Two threads per pack, each with every second nonzero.
    Halves,
    /// Four threads per pack.
    Quarters,
    /// A block loads the nonzeros of its rows together.
    Staged,
    /// One thread per pack of up to so many adjacent rows with the same columns. The first row of
    /// each such group, and the number of rows.
    Equal(usize, Vec<u32>),
    /// Blocks share rows with more than so many nonzeros. The row, its first part and its parts, for
    /// each of their parts.
    Long(usize, Vec<u32>),
}

impl Way {
    /// The fastest for a matrix and k columns of X, as measured.
    fn of<T: Real>(a: &Csr<T>, k: usize) -> Self {
        let longest = a.max_row_len();
        let each = columns_of_row_split(k, T::BYTES);
        let (packs, is_wide) = (k / each, each * T::BYTES == WIDEST);
        let are_similar = longest * a.rows() < UNEVEN * a.nnz();
        let twice_the_mean = 2 * a.nnz() / a.rows().max(1);
        let most = match are_similar {
            true => LONGEST,
            false => (a.nnz() / SHARE).clamp(FEW, LONGEST).max(twice_the_mean),
        };
        if longest > most && !(are_similar && a.rows() * packs >= ENOUGH_THREADS) {
            return Self::Long(most, parts(a, most));
        }
        let is_short = a.nnz() <= SHORT * a.rows();
        if each > columns_per_thread(k, T::BYTES) {
            return match packs {
                _ if !is_wide => Self::Ahead,
                _ if is_short && longest <= LONGEST_STAGED => Self::Staged,
                4 if k >= LEAST_EQUAL
                    && let Some(equal) = equal_rows(a) =>
                {
                    equal
                }
                2 if a.nnz() > MEAN_OF_QUARTERS * a.rows() => Self::Quarters,
                2 | 4 if !is_short && are_uneven(a) => Self::Quarters,
                _ => Self::Ahead,
            };
        }
        if !is_wide {
            return Self::Plain;
        }
        if let Some(equal) = equal_rows(a) {
            return equal;
        }
        let in_halves = matches!(packs, 8 | 16) && !is_short;
        let in_pairs = packs.is_multiple_of(PACKS_OF_PAIRS);
        match (in_halves || in_pairs) && are_uneven(a) {
            true if in_halves => Self::Halves,
            false if in_pairs => Self::TwoPacks,
            _ => Self::Plain,
        }
    }

    /// Threads per block, unless they are given.
    fn block(&self, packs: usize) -> u32 {
        match self {
            Self::TwoPacks => 256,
            // A row has fewer than eight packs.
            Self::Staged => (ROWS_STAGED * packs) as u32,
            _ => 128,
        }
    }
}

/// The parts of rows with more than `most` nonzeros, three numbers each: the row, its first
/// part and the number of its parts. Rows with several parts are first.
fn parts<T: Real>(a: &Csr<T>, most: usize) -> Vec<u32> {
    let mut plan = Vec::new();
    let long = (0..a.rows()).filter(|&row| a.row_len(row) > most);
    let (several, one): (Vec<_>, Vec<_>) = long.partition(|&row| a.row_len(row) > OF_PART);
    for row in several.into_iter().chain(one) {
        let (first, of_row) = (plan.len() / 3, a.row_len(row).div_ceil(OF_PART));
        let part = [row as u32, first as u32, of_row as u32];
        plan.extend(std::iter::repeat_n(part, of_row).flatten());
    }
    plan
}

/// Whether the longer of two adjacent rows has on average a quarter more nonzeros than a row.
fn are_uneven<T: Real>(a: &Csr<T>) -> bool {
    let longer = |pair: usize| a.row_len(2 * pair).max(a.row_len(2 * pair + 1));
    let all = (0..a.rows() / 2).into_par_iter().map(longer).reduce(|| 0, |one, other| one + other);
    8 * all > 5 * a.nnz()
}

/// Groups of up to two or three adjacent rows with the same columns, as finite elements with several
/// unknowns per node have, if they have two rows on average.
fn equal_rows<T: Real>(a: &Csr<T>) -> Option<Way> {
    let rows = a.rows();
    if a.nnz() < MEAN_EQUAL * rows {
        return None;
    }
    // Of two adjacent pairs of rows, one lies within a group.
    let repeats = |row: usize| a.row(row).0 == a.row(row - 1).0;
    let sample = (1..rows.saturating_sub(1)).step_by((rows / SAMPLED).max(1));
    let (seen, found) = sample.fold((0, 0), |(seen, found), row| {
        (seen + 1, found + usize::from(repeats(row) || repeats(row + 1)))
    });
    if seen == 0 || 2 * found < seen {
        return None;
    }
    let repeated: Vec<bool> =
        (0..rows).into_par_iter().map(|row| row > 0 && repeats(row)).collect();
    let groups_of = |most: usize| {
        let mut first = Vec::new();
        let mut row = 0;
        while row < rows {
            first.push(row as u32);
            let end = rows.min(row + most);
            row = (row + 1..end).find(|&next| repeated.get(next) != Some(&true)).unwrap_or(end);
        }
        (most, first)
    };
    let (most, mut first) =
        [2, 3].map(groups_of).into_iter().min_by_key(|(_, first)| first.len())?;
    let are_full = 39 * first.len() <= 20 * rows; // a few may have one
    first.push(rows as u32);
    are_full.then_some(Way::Equal(most, first))
}

/// Adjacent threads on adjacent columns of X, row after row; `block` threads per block, if given.
pub(super) fn row_split<T: DeviceReal, V: Stored<T>>(
    device: &Device,
    block: Option<u32>,
    operands: &Block<'_, T, V>,
    a: &Csr<T>,
) -> Result<Bound, DeviceError> {
    let way = Way::of(a, operands.columns);
    match operands.row_ptr {
        Offsets::Narrow(row_ptr) => split(device, block, operands, row_ptr, &way),
        Offsets::Wide(row_ptr) => split(device, block, operands, row_ptr, &way),
    }
}

fn split<T: DeviceReal, V: Stored<T>, O: Offset + Element>(
    device: &Device,
    block: Option<u32>,
    operands: &Block<'_, T, V>,
    row_ptr: &Buffer<O>,
    way: &Way,
) -> Result<Bound, DeviceError> {
    let Block { columns: k, slots, x, y, .. } = *operands;
    let rows = row_count(operands.rows)?;
    let columns = count("the number of columns of X", k)?;
    let each = columns_of_row_split(k, T::BYTES);
    let packs = k / each;
    let block = block.unwrap_or(way.block(packs));
    let (row_ptr, col, val) = (Reads(row_ptr), Reads(&slots.col), Reads(&slots.val));
    let (x, y) = (Reads(x), Writes(y));
    let blocks = |threads: usize| (threads as u64).div_ceil(block.into());
    let (name, per_row) = match way {
        Way::Plain => (format!("spmm_row_split_{each}"), packs),
        Way::Ahead => (format!("spmm_row_split_ahead_{each}"), packs),
        Way::TwoPacks => ("spmm_row_split_two_packs".to_owned(), packs / 2),
        Way::Halves => ("spmm_row_split_halves".to_owned(), 2 * packs),
        Way::Quarters => ("spmm_row_split_quarters".to_owned(), 4 * packs),
        Way::Staged => {
            let of_block = block as usize / packs;
            let at_once = (ROOM_STAGED * of_block).min(MOST_STAGED);
            let shared_bytes = (at_once * (size_of::<V>() + 4)) as u32;
            let grid = operands.rows.div_ceil(of_block) as u64;
            let shape = Shape { grid, block, shared_bytes };
            let at_once = at_once as u32;
            let arguments = SpmmStaged { rows, columns, at_once, row_ptr, col, val, x, y };
            // SAFETY: as below; shared memory has room for the values and columns of `at_once`
            // nonzeros, an even number. Each block has a row, and threads beyond its rows, or the
            // last row, only copy nonzeros of these.
            let launch =
                unsafe { Launch::new(device, "spmm_row_split_staged", shape, &arguments)? };
            return Ok(Bound::of(vec![Step::Launch(launch)]));
        }
        Way::Equal(most, first) => {
            let first_row = Buffer::of(device, "the first rows of groups", first)?;
            let groups = first.len() - 1;
            let shape = Shape { grid: blocks(groups * packs), block, shared_bytes: 0 };
            let (groups, name) = (row_count(groups)?, format!("spmm_row_split_equal_{most}"));
            let kept = (first_row.bytes(), first_row.spent());
            let first_row = Reads(&first_row);
            let arguments = SpmmEqual { groups, columns, first_row, row_ptr, col, val, x, y };
            // SAFETY: as below; the groups ascend and end with the number of rows, and have at least
            // one and at most as many rows as the function, which have equal numbers of nonzeros.
            // Threads of groups beyond the last return.
            let launch = unsafe { Launch::new(device, &name, shape, &arguments)? };
            return Ok(keeping(launch, kept));
        }
        Way::Long(most, plan) => {
            let parts = plan.len() / 3;
            let carried = plan.iter().skip(2).step_by(3).filter(|&&parts| parts > 1).count();
            let PathShares { width, slices, .. } = PathShares::new(packs, block);
            let plan = Buffer::of(device, "the parts of long rows", plan)?;
            let carry = Buffer::unset(device, "the sums of parts", carried * k)?;
            let arrived =
                Buffer::of(device, "the parts that are done", &vec![0u32; carried * slices])?;
            let kept = (
                plan.bytes() + carry.bytes() + arrived.bytes(),
                plan.spent() + carry.spent() + arrived.spent(),
            );
            let arguments = SpmmLong {
                rows,
                columns,
                longest: *most as u32,
                of_part: OF_PART as u32,
                parts: count("the number of parts of long rows", parts)?,
                width: width as u32,
                plan: Reads(&plan),
                row_ptr,
                col,
                val,
                x,
                y,
                carry: Writes(&carry),
                arrived: Writes(&arrived),
            };
            let grid = (parts * slices) as u64 + blocks(operands.rows * packs);
            let shared_bytes = block * (each * T::BYTES) as u32;
            let shape = Shape { grid, block, shared_bytes };
            let name = format!("spmm_row_split_long_{each}");
            // SAFETY: as below; the parts are those of all rows with more than `longest` nonzeros,
            // each followed by the row's others. For the parts of rows with several, which are first,
            // `carry` has `columns` elements each, and `arrived` one each per slice, 0 before and
            // after. Shared memory has a pack per thread.
            let launch = unsafe { Launch::new(device, &name, shape, &arguments)? };
            return Ok(keeping(launch, kept));
        }
    };
    let shape = Shape { grid: blocks(operands.rows * per_row), block, shared_bytes: 0 };
    let arguments = Spmm { rows, columns, row_ptr, col, val, x, y };
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col and val, and only
    // columns below cols; X and Y have `columns` elements per column and row of A, a multiple of
    // those that a thread takes, and both begin where as many elements are aligned. Threads of rows
    // beyond the last access nothing.
    let launch = unsafe { Launch::new(device, &name, shape, &arguments)? };
    Ok(Bound::of(vec![Step::Launch(launch)]))
}

/// A launch that has a workspace of so many bytes.
fn keeping(launch: Launch, (workspace_bytes, spent): (u64, Spent)) -> Bound {
    Bound { workspace_bytes, spent, ..Bound::of(vec![Step::Launch(launch)]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of these lengths; those of each group of `equal` have the same columns.
    fn matrix<T: Real>(equal: usize, lengths: impl IntoIterator<Item = usize>) -> Csr<T> {
        let lengths: Vec<usize> = lengths.into_iter().collect();
        let triplets: Vec<_> = lengths
            .iter()
            .enumerate()
            .flat_map(|(i, &length)| (0..length).map(move |j| (i, i / equal + j, T::ONE)))
            .collect();
        Csr::from_triplets(lengths.len(), 4000, &triplets).unwrap()
    }

    #[test]
    fn short_rows_with_few_threads_are_staged_and_uneven_ones_taken_in_quarters() {
        let short = matrix::<f64>(1, [27; 100]);
        let uneven = matrix::<f64>(1, (0..100).map(|i| if i % 2 == 0 { 20 } else { 80 }));
        assert_eq!(Way::of(&short, 8), Way::Staged);
        assert_eq!(Way::of(&uneven, 8), Way::Quarters);
        assert_eq!(Way::of(&matrix::<f64>(1, [90; 100]), 8), Way::Ahead);
        assert_eq!(Way::of(&matrix::<f32>(1, [90; 100]), 8), Way::Quarters);
        assert_eq!(Way::of(&matrix::<f32>(1, [60; 100]), 8), Way::Ahead);
        let mostly_short = matrix::<f64>(1, (0..100).map(|i| if i == 50 { 100 } else { 28 }));
        assert_eq!(Way::of(&mostly_short, 8), Way::Ahead);
        // Five threads per row are no part of a warp.
        assert_eq!(Way::of(&uneven, 10), Way::Ahead);
        let uneven = matrix::<f32>(1, (0..100).map(|i| if i % 2 == 0 { 20 } else { 80 }));
        assert_eq!(Way::of(&uneven, 16), Way::Quarters);
        // 16 bytes hold four columns, of which k is no multiple.
        assert_eq!(Way::of(&uneven, 10), Way::Ahead);
        assert_eq!([Way::Staged.block(4), Way::Staged.block(2)], [512, 256]);
    }

    #[test]
    fn rows_with_many_threads_have_two_packs_per_thread() {
        let a = matrix::<f64>(1, [27; 100]);
        let ways = [4, 16, 31, 32, 48, 64].map(|k| Way::of(&a, k));
        let expected =
            [Way::Plain, Way::Plain, Way::Plain, Way::TwoPacks, Way::Plain, Way::TwoPacks];
        assert_eq!(ways, expected);
        let a = matrix::<f32>(1, [27; 100]);
        assert_eq!([32, 64].map(|k| Way::of(&a, k)), [Way::Plain, Way::TwoPacks]);
    }

    #[test]
    fn rows_of_very_different_lengths_are_taken_in_halves() {
        let a = matrix::<f64>(1, (0..100).map(|i| if i % 2 == 0 { 20 } else { 80 }));
        let ways = [16, 32, 48, 64].map(|k| Way::of(&a, k));
        assert_eq!(ways, [Way::Halves, Way::Halves, Way::Plain, Way::Plain]);
        let short = matrix::<f64>(1, (0..100).map(|i| i % 2 * 9));
        assert_eq!([16, 32].map(|k| Way::of(&short, k)), [Way::Plain, Way::Plain]);
    }

    #[test]
    fn rows_with_the_same_columns_are_taken_together() {
        let threes = matrix::<f64>(3, [30; 9]);
        assert_eq!(Way::of(&threes, 32), Way::Equal(3, vec![0, 3, 6, 9]));
        assert_eq!(Way::of(&threes, 8), Way::Staged);
        let fours = matrix::<f64>(4, [30; 8]);
        assert_eq!(Way::of(&fours, 16), Way::Equal(2, vec![0, 2, 4, 6, 8]));
        // A node with fewer unknowns, and rows that are too short to gain.
        let mut lengths = vec![30; 30];
        lengths[0] = 29;
        let Way::Equal(3, first) = Way::of(&matrix::<f64>(3, lengths), 32) else {
            unreachable!("most rows are in groups of three")
        };
        assert_eq!(&first[..3], [0, 1, 3]);
        assert_eq!(first.last(), Some(&30));
        assert_eq!(Way::of(&matrix::<f64>(3, [5; 9]), 16), Way::Plain);
    }

    #[test]
    fn long_rows_are_divided_in_parts() {
        let a = matrix::<f64>(1, [3, 2500, 512, 513]);
        let plan = vec![1, 0, 3, 1, 0, 3, 1, 0, 3, 3, 3, 1];
        assert_eq!(Way::of(&a, 8), Way::Long(512, plan.clone()));
        assert_eq!(Way::of(&a, 33), Way::Long(512, plan));
        // Those that leave no sums to others are last.
        let a = matrix::<f64>(1, [1024, 1025, 600]);
        assert_eq!(Way::of(&a, 8), Way::Long(512, vec![1, 0, 2, 1, 0, 2, 0, 2, 1, 2, 3, 1]));
        // Shorter ones, in a small matrix with other rows that are shorter still.
        let a = matrix::<f64>(1, (0..100).map(|i| if i == 7 { 65 } else { 5 }));
        assert_eq!(Way::of(&a, 8), Way::Long(64, vec![7, 0, 1]));
    }

    #[test]
    fn many_long_rows_of_similar_lengths_are_not_divided() {
        let a = matrix::<f64>(1, (0..3200).map(|i| 600 + i % 7));
        assert_eq!(Way::of(&a, 64), Way::TwoPacks);
        assert!(matches!(Way::of(&a, 8), Way::Long(..)), "too few threads");
        let a = matrix::<f64>(1, (0..3200).map(|i| if i == 9 { 2900 } else { 600 }));
        assert!(matches!(Way::of(&a, 64), Way::Long(1201, _)), "one is much longer");
    }

    #[test]
    fn matrices_without_rows_or_nonzeros_have_a_way() {
        for rows in [0, 1, 40] {
            let empty = matrix::<f64>(1, vec![0; rows]);
            assert_eq!(Way::of(&empty, 8), Way::Staged);
            assert_eq!(Way::of(&empty, 64), Way::TwoPacks);
        }
    }
}
