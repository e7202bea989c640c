//! The range of the indices of a text that declares no sizes, found in a single pass that also keeps the
//! nonzeros if memory allows.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::parallel::*;

use super::body::{Notes, Pass, end_of_entry, pass_over};
use super::header::Header;
use super::value::Value;
use crate::io::assemble::{Arrays, Assembled, Counts, Entry};
use crate::io::build::repeated;
use crate::io::in_order::InOrder;
use crate::io::parts::{Buckets, Parts};
use crate::io::scan::Cursor;
use crate::io::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress};
use crate::memory::MemoryLimit;

/// Chunks per step.
const WAVE: usize = 32;

/// What the lines after a header contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::io) struct Survey {
    /// Number of lines that are not blank or comments.
    pub(in crate::io) lines: u64,
    /// Number of those that begin with two indices.
    pub(in crate::io) pairs: u64,
    /// Number of indices that are 0.
    pub(in crate::io) zeros: u64,
    /// Largest row index.
    pub(in crate::io) last_row: u64,
    /// Largest column index.
    pub(in crate::io) last_col: u64,
}

impl Survey {
    fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.pairs += other.pairs;
        self.zeros += other.zeros;
        self.last_row = self.last_row.max(other.last_row);
        self.last_col = self.last_col.max(other.last_col);
    }
}

/// Nonzeros in file order, with the indices that the lines give.
#[derive(Clone, Default)]
struct Entries {
    rows: Vec<u32>,
    cols: Vec<u32>,
    /// None in a pattern, whose values are 1.
    vals: Vec<f64>,
}

impl Entries {
    fn clear(&mut self) {
        self.rows.clear();
        self.cols.clear();
        self.vals.clear();
    }

    fn bytes(&self) -> u64 {
        let (rows, cols, vals) = (&self.rows[..], &self.cols[..], &self.vals[..]);
        (size_of_val(rows) + size_of_val(cols) + size_of_val(vals)) as u64
    }

    /// The nonzeros with indices from 0; these here count from `base`.
    fn zero_based(&self, base: u32) -> impl Iterator<Item = Entry<f64>> {
        let vals = self.vals.iter().copied().chain(std::iter::repeat(1.0));
        self.rows.iter().zip(&self.cols).zip(vals).map(move |((row, col), val)| Entry {
            row: row.wrapping_sub(base),
            col: col.wrapping_sub(base),
            val,
        })
    }
}

/// The nonzeros of all lines.
pub(in crate::io) struct Kept {
    chunks: Vec<Entries>,
    /// Whether the rows never descend.
    in_order: bool,
    bytes: u64,
    found: Survey,
    notes: Notes,
}

/// What one chunk contains.
#[derive(Default)]
struct Chunk {
    found: Survey,
    /// The nonzeros if each line is one, in no more memory than they need.
    kept: Option<Entries>,
    in_order: bool,
    /// Memory that the next chunk uses again.
    entries: Entries,
    space: Vec<u8>,
}

/// Writes lines with blanks between their words; returns false, and writes nothing, if they are so already.
type Rewrite<'r> = &'r (dyn Fn(&[u8], &mut Vec<u8>) -> bool + Sync);

/// Reads the indices of all lines. With `keep`, the nonzeros are returned as well if no line is anything else
/// and they take no more memory than that.
pub(in crate::io) async fn survey(
    text: &[u8],
    header: &Header,
    rewrite: Rewrite<'_>,
    keep: Option<MemoryLimit>,
    progress: Progress<'_>,
) -> Result<(Survey, Option<Kept>), IoError> {
    let keeps = AtomicBool::new(keep.is_some());
    let (mut found, mut chunks, mut bytes) = (Survey::default(), Vec::new(), 0);
    let (mut in_order, mut last) = (true, 0);
    let parse = |text: &[u8], chunk: &mut Chunk| {
        let mut space = std::mem::take(&mut chunk.space);
        let lines = if rewrite(text, &mut space) { space.as_slice() } else { text };
        let notes = parse_chunk(lines, header, keeps.load(Ordering::Relaxed), chunk);
        chunk.space = space;
        Ok(notes)
    };
    let store = |wave: &mut [Chunk]| {
        for chunk in wave {
            found.add(&chunk.found);
            let kept = chunk.kept.take();
            bytes += kept.as_ref().map_or(0, Entries::bytes);
            if kept.is_none() || keep.is_none_or(|keep| bytes > keep.get()) {
                keeps.store(false, Ordering::Relaxed);
            }
            let kept = kept.unwrap_or_default();
            if let [first, ..] = kept.rows[..] {
                in_order &= chunk.in_order && first >= last;
            }
            last = kept.rows.last().copied().unwrap_or(last);
            chunks.push(kept);
        }
        if !keeps.load(Ordering::Relaxed) {
            chunks.clear();
        }
    };
    let notes = pass_over(text, header, (progress, Pass::Only), parse, store).await?;
    let kept = Kept { chunks, in_order, bytes, found, notes };
    Ok((found, keeps.into_inner().then_some(kept)))
}

fn parse_chunk(lines: &[u8], header: &Header, keeps: bool, chunk: &mut Chunk) -> Notes {
    let (mut found, mut notes, mut is_whole) = (Survey::default(), Notes::default(), keeps);
    let has_values = header.field != Field::Pattern;
    let entries = &mut chunk.entries;
    entries.clear();
    let mut cursor = Cursor::new(lines);
    while cursor.next_record() {
        found.lines += 1;
        let pair = pair(&mut cursor);
        if let Some((row, col)) = pair {
            found.pairs += 1;
            found.zeros += u64::from(row == 0) + u64::from(col == 0);
            found.last_row = found.last_row.max(row);
            found.last_col = found.last_col.max(col);
        }
        if is_whole {
            let entry = pair.and_then(|pair| rest_of_entry(&mut cursor, pair, header, &mut notes));
            if let Some(Entry { row, col, val }) = entry {
                entries.rows.push(row);
                entries.cols.push(col);
                if has_values {
                    entries.vals.push(val);
                }
                continue;
            }
            is_whole = false;
        }
        cursor.next_line();
    }
    chunk.found = found;
    chunk.in_order = entries.rows.is_sorted();
    // A list that grew has touched pages that it does not need, which takes longer than reading the text.
    chunk.kept = is_whole.then(|| entries.clone());
    notes
}

/// The nonzero of a line after whose indices the cursor is.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn rest_of_entry(
    cursor: &mut Cursor<'_>,
    (row, col): (u64, u64),
    header: &Header,
    notes: &mut Notes,
) -> Option<Entry<f64>> {
    let (row, col) = (u32::try_from(row).ok()?, u32::try_from(col).ok()?);
    cursor.skip_blanks();
    let val = f64::read(header.field, cursor, notes).ok()?;
    end_of_entry(cursor, header, notes).then_some(Entry { row, col, val })
}

impl Kept {
    /// The matrix that [`read_body`](super::read_body) would read from the text. `None` if it would find an index
    /// out of range, if the limit does not allow the matrix beside these nonzeros, or if this was cancelled.
    pub(in crate::io) async fn matrix(
        self,
        header: &Header,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Option<MatrixFile> {
        let Self { chunks, in_order, bytes, found, notes } = self;
        let base = header.base;
        let is_inside =
            |last: u64, size: u32| last < u64::from(size) + u64::from(base) || found.pairs == 0;
        let begins_before = base > 1 || (base == 1 && found.zeros > 0);
        if begins_before
            || !is_inside(found.last_row, header.rows)
            || !is_inside(found.last_col, header.cols)
        {
            return None;
        }
        let limit = MemoryLimit::bytes(limit.get().saturating_sub(bytes));
        let counts = Counts::new(header.rows as usize, found.lines, limit).ok()?;
        let arrays = match in_order {
            true => {
                let cols = header.cols as usize;
                let arrays = counts.with_room::<f64>(cols, found.lines, limit).ok()?;
                fill_in_order(arrays, &chunks, base, progress).await?
            }
            false => fill(counts, &chunks, header, limit, progress).await?,
        };
        drop(chunks);
        let Assembled { matrix, merged } = arrays.into_csr().ok()?;
        let mut warnings = notes.warnings(header);
        warnings.extend(repeated(merged));
        let (field, symmetry, form) = (header.field, header.symmetry, MatrixForm::MatrixMarket);
        Some(MatrixFile { matrix: AnyMatrix::Real(matrix), field, symmetry, form, warnings })
    }
}

/// The arrays with these nonzeros, whose rows never descend. `None` if this was cancelled.
async fn fill_in_order(
    mut arrays: Arrays<f64>,
    chunks: &[Entries],
    base: u32,
    progress: Progress<'_>,
) -> Option<Arrays<f64>> {
    let mut free = InOrder::of(&mut arrays);
    for wave in chunks.chunks(WAVE) {
        let places: Vec<_> = wave
            .iter()
            .filter_map(|entries| Some((entries, entries.rows.last()?.wrapping_sub(base))))
            .map(|(entries, last)| (free.split_off(entries.rows.len(), last), entries))
            .collect();
        places.into_par_iter().for_each(|(places, entries)| places.put(entries.zero_based(base)));
        progress.rest().await.ok()?;
    }
    free.finish();
    Some(arrays)
}

/// The arrays with these nonzeros in any order. `None` if they exceed the limit, or this was cancelled.
async fn fill(
    mut counts: Counts,
    chunks: &[Entries],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Arrays<f64>> {
    let base = header.base;
    let parts = Parts::for_entries(chunks.iter().map(|entries| entries.rows.len() as u64).sum());
    let mut grouped: Vec<Buckets<Entry<f64>>> = (0..WAVE).map(|_| Buckets::default()).collect();
    let group = |wave: &[Entries], grouped: &mut Vec<Buckets<Entry<f64>>>| {
        wave.par_iter().zip(grouped).for_each(|(entries, grouped)| {
            grouped.reset(parts);
            entries.zero_based(base).for_each(|entry| grouped.push(parts, entry.row, entry));
        });
    };
    let mut dealt = counts.dealt(parts);
    for wave in chunks.chunks(WAVE) {
        group(wave, &mut grouped);
        let wave: Vec<_> = grouped.iter().take(wave.len()).collect();
        dealt.hand_out(&wave, |entry| entry.row, |block, row, _| Counts::add(block, row));
        progress.rest().await.ok()?;
    }
    drop(dealt);
    let mut arrays = counts.into_arrays::<f64>(header.cols as usize, limit).ok()?;
    let mut blocks = arrays.dealt(parts);
    for wave in chunks.chunks(WAVE) {
        group(wave, &mut grouped);
        let wave: Vec<_> = grouped.iter().take(wave.len()).collect();
        Arrays::put(&mut blocks, &wave);
        progress.rest().await.ok()?;
    }
    drop(blocks);
    Some(arrays)
}

/// The distinct row and column indices of the declared number of lines, ascending: all in the first list, or
/// those of columns `apart` in the second. Takes 16 bytes per line.
pub(in crate::io) async fn ids(
    text: &[u8],
    header: &Header,
    apart: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Vec<u64>, Vec<u64>), IoError> {
    limit.check("the list of ids", u128::from(header.declared) * 16)?;
    // As many lines as were found in the text.
    let lines = header.declared as usize;
    let (mut rows, mut cols) = match apart {
        true => (Vec::with_capacity(lines), Vec::with_capacity(lines)),
        false => (Vec::with_capacity(2 * lines), Vec::new()),
    };
    let parse = |text: &[u8], pairs: &mut Vec<(u64, u64)>| {
        pairs.clear();
        let mut cursor = Cursor::new(text);
        while cursor.next_record() {
            pairs.extend(pair(&mut cursor));
            cursor.next_line();
        }
        Ok(Notes::default())
    };
    let store = |wave: &mut [Vec<(u64, u64)>]| {
        for &(row, col) in wave.iter().flatten() {
            rows.push(row);
            if apart { cols.push(col) } else { rows.push(col) }
        }
    };
    pass_over(text, header, (progress.uncounted(), Pass::Only), parse, store).await?;
    for ids in [&mut rows, &mut cols] {
        ids.par_sort_unstable();
        ids.dedup();
    }
    Ok((rows, cols))
}

/// The first two indices of a line.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn pair(cursor: &mut Cursor<'_>) -> Option<(u64, u64)> {
    let row = cursor.unsigned()?;
    cursor.skip_blanks();
    Some((row, cursor.unsigned()?))
}
