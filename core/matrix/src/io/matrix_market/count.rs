//! The first pass over a `coordinate` file: counts the nonzeros of each row. It reads only the indices and
//! skips invalid lines: the second pass, which reads every line completely, reports them.

use crate::parallel::*;

use super::body::{CHUNK, Notes, Pass, index, pass_over};
use super::header::Header;
use crate::io::assemble::Counts;
use crate::io::parts::{Buckets, Parts};
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress, Symmetry};
use crate::memory::MemoryLimit;

/// The result of the first pass.
pub(super) struct Counted {
    pub(super) counts: Counts,
    /// Number of lines that are not blank or comments.
    pub(super) lines: u64,
    /// Whether there are nonzeros both below and above the diagonal.
    pub(super) mixed: bool,
}

/// The result of the first pass for one chunk.
#[derive(Default)]
struct Chunk {
    rows: Buckets<u32>,
    below: bool,
    above: bool,
}

/// Reads the indices of all lines.
pub(super) async fn count(
    text: &[u8],
    header: &Header,
    most: u64,
    parts: Parts,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Counted, IoError> {
    let mut counts = Counts::new(header.rows as usize, most, limit)?;
    let general = header.symmetry == Symmetry::General;
    let (mut below, mut above) = (false, false);
    let mut dealt = counts.dealt(parts);
    let store = |wave: &mut [Chunk]| {
        for chunk in &*wave {
            below |= chunk.below;
            above |= chunk.above;
        }
        let rows: Vec<&Buckets<u32>> = wave.iter().map(|chunk| &chunk.rows).collect();
        dealt.hand_out(&rows, |row| row, |block, row, _| Counts::add(block, row));
    };
    let parse = |text: &[u8], chunk: &mut Chunk| {
        let entries = match general {
            true => count_rows(text, header, parts, chunk),
            false => count_mirrored(text, header, parts, chunk),
        };
        Ok(Notes { entries, ..Notes::default() })
    };
    let notes = pass_over(text, header, (progress, Pass::First), parse, store).await?;
    drop(dealt);
    Ok(Counted { counts, lines: notes.entries, mixed: below && above })
}

/// Whether the rows of the first lines do not descend.
pub(super) fn begins_in_order(text: &[u8], header: &Header) -> bool {
    let lines = text.get(header.body..).unwrap_or_default();
    let lines = lines.get(..CHUNK).unwrap_or(lines);
    let end = memchr::memrchr(b'\n', lines).unwrap_or_default();
    let (mut cursor, mut last) = (Cursor::new(lines.get(..end).unwrap_or_default()), 0);
    while cursor.next_record() {
        let row = index(&mut cursor, header.rows, header.base).unwrap_or(last);
        if row < last {
            return false;
        }
        last = row;
        cursor.next_line();
    }
    true
}

fn count_rows(text: &[u8], header: &Header, parts: Parts, chunk: &mut Chunk) -> u64 {
    chunk.rows.reset(parts);
    let mut cursor = Cursor::new(text);
    let mut lines = 0;
    while cursor.next_record() {
        if let Some(row) = index(&mut cursor, header.rows, header.base) {
            chunk.rows.push(parts, row, row);
        }
        cursor.next_line();
        lines += 1;
    }
    lines
}

fn count_mirrored(text: &[u8], header: &Header, parts: Parts, chunk: &mut Chunk) -> u64 {
    chunk.rows.reset(parts);
    (chunk.below, chunk.above) = (false, false);
    let mut cursor = Cursor::new(text);
    let mut lines = 0;
    while cursor.next_record() {
        if let Some((row, col)) = position(&mut cursor, header) {
            chunk.rows.push(parts, row, row);
            if row != col {
                chunk.rows.push(parts, col, col);
                chunk.below |= row > col;
                chunk.above |= row < col;
            }
        }
        cursor.next_line();
        lines += 1;
    }
    lines
}

#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn position(cursor: &mut Cursor<'_>, header: &Header) -> Option<(u32, u32)> {
    let row = index(cursor, header.rows, header.base)?;
    cursor.skip_blanks();
    Some((row, index(cursor, header.cols, header.base)?))
}

/// Off-diagonal positions that are given in both triangles, in a file with nonzeros in both. Temporarily
/// takes up to 16 bytes per nonzero, because lists double.
pub(super) async fn pairs_in_both_triangles(
    text: &[u8],
    header: &Header,
    lines: u64,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<usize, IoError> {
    limit.check("the check for entries in both triangles", u128::from(lines) * 16)?;
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let parse = |text: &[u8], positions: &mut Vec<(u32, u32)>| {
        positions.clear();
        let mut cursor = Cursor::new(text);
        while cursor.next_record() {
            positions.extend(position(&mut cursor, header).filter(|(row, col)| row != col));
            cursor.next_line();
        }
        Ok(Notes::default())
    };
    let store = |wave: &mut [Vec<(u32, u32)>]| {
        for &(row, col) in wave.iter().flatten() {
            if row > col { lower.push((row, col)) } else { upper.push((col, row)) }
        }
    };
    pass_over(text, header, (progress.uncounted(), Pass::Only), parse, store).await?;
    for keys in [&mut lower, &mut upper] {
        keys.par_sort_unstable();
        keys.dedup();
    }
    Ok(upper.iter().filter(|key| lower.binary_search(key).is_ok()).count())
}
