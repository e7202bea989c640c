//! `coordinate` files: one line `row col value` per nonzero. Nonzeros that come row by row are put in their places as
//! they are read. For others, a first pass counts the nonzeros of each row and a second puts each in its place, so that
//! no memory beyond the matrix is needed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::parallel::*;

use super::body::{
    Expected, Fault, NOT_PARSED, Notes, Pass, end_of_entry, index, line_of_entry, parse_body,
};
use super::count::{Counted, begins_in_order, count, pairs_in_both_triangles};
use super::header::Header;
use super::value::{Value, min_bytes};
use crate::io::assemble::{Arrays, Assembled, Counts, Entry};
use crate::io::error::quoted;
use crate::io::in_order::InOrder;
use crate::io::parts::{Buckets, Parts};
use crate::io::scan::{Cursor, FirstIndex};
use crate::io::{IoError, Progress, Symmetry};
use crate::matrix::Scalar;
use crate::memory::MemoryLimit;

/// The matrix that was read.
pub(super) struct Found<T> {
    pub(super) assembled: Assembled<T>,
    pub(super) notes: Notes,
    /// Off-diagonal positions that a file with symmetric storage gives in both triangles.
    pub(super) pairs: usize,
}

/// The matrix, expanded by its symmetry, duplicates summed in file order.
pub(super) async fn read<V: Value>(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Found<V>, IoError> {
    // The last line may lack its line end, which is included in the shortest line.
    let body = (text.len() - header.body) as u64 + 1;
    let possible = header.declared.min(body / (4 + min_bytes(header.field)));
    let general = header.symmetry == Symmetry::General;
    if !general || possible < header.declared || !begins_in_order(text, header) {
        let most = if general { possible } else { 2 * possible };
        return read_in_any_order(text, header, most, limit, progress).await;
    }
    match read_in_order(text, header, limit, progress).await? {
        Ok(found) => Ok(found),
        Err(read) => {
            let ahead = AtomicUsize::new(read);
            read_in_any_order(text, header, possible, limit, progress.ahead(&ahead)).await
        }
    }
}

/// Reads nonzeros that come row by row in one pass. Returns the number of bytes read if a row descends, or if the
/// declared nonzeros do not fit into memory, which is not the error if there are others.
async fn read_in_order<V: Value>(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Result<Found<V>, usize>, IoError> {
    let counts = Counts::new(header.rows as usize, header.declared, limit)?;
    let room = counts.with_room::<V>(header.cols as usize, header.declared, limit);
    let Ok(mut arrays) = room else { return Ok(Err(0)) };
    let (descends, read) = (AtomicBool::new(false), AtomicUsize::new(header.body));
    let parse = |chunk: &[u8], entries: &mut Buckets<Entry<V>>| {
        read.fetch_add(chunk.len(), Ordering::Relaxed);
        if descends.load(Ordering::Relaxed) {
            return Err(NOT_PARSED);
        }
        let notes = parse_chunk::<V>(chunk, header, Parts::one(), entries)?;
        if !entries.only().is_sorted_by_key(|entry| entry.row) {
            descends.store(true, Ordering::Relaxed);
        }
        Ok(notes)
    };
    let (mut free, mut last) = (InOrder::of(&mut arrays), 0);
    let store = |wave: &mut [Buckets<Entry<V>>]| {
        let mut places = Vec::with_capacity(wave.len());
        for entries in wave.iter().map(Buckets::only) {
            let [first, ..] = entries else { continue };
            if first.row < last {
                descends.store(true, Ordering::Relaxed);
            }
            last = entries.last().unwrap_or(first).row;
            places.push((free.split_off(entries.len(), last), entries));
        }
        if !descends.load(Ordering::Relaxed) {
            places
                .into_par_iter()
                .for_each(|(places, entries)| places.put(entries.iter().copied()));
        }
    };
    let notes = parse_body(text, header, (progress, Pass::Only), parse, store).await;
    if descends.into_inner() {
        return Ok(Err(read.into_inner()));
    }
    let notes = notes?;
    free.finish();
    progress.rest().await?;
    Ok(Ok(Found { assembled: arrays.into_csr()?, notes, pairs: 0 }))
}

/// Reads nonzeros in two passes. With their mirrors, there are at most `most`.
async fn read_in_any_order<V: Value>(
    text: &[u8],
    header: &Header,
    most: u64,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Found<V>, IoError> {
    let parts = Parts::for_entries(most);
    let Counted { counts, lines, mixed } =
        count(text, header, most, parts, limit, progress).await?;
    if lines != header.declared {
        // Something is wrong: only the second pass reports what and where.
        drop(counts);
        let parse =
            |chunk: &[u8], entries: &mut _| parse_chunk::<V>(chunk, header, Parts::one(), entries);
        let second = (progress, Pass::Second);
        parse_body(text, header, second, parse, |_: &mut [Buckets<Entry<V>>]| {}).await?;
        let (line, declared) = (header.size_line, header.declared);
        return Err(IoError::TooFewEntries { line, declared, found: lines });
    }
    let pairs = match mixed {
        true => pairs_in_both_triangles(text, header, lines, limit, progress).await?,
        false => 0,
    };
    progress.rest().await?;
    let mut arrays = counts.into_arrays::<V>(header.cols as usize, limit)?;
    let parse = |chunk: &[u8], entries: &mut _| parse_chunk::<V>(chunk, header, parts, entries);
    let mut blocks = arrays.dealt(parts);
    let store = |wave: &mut [Buckets<Entry<V>>]| {
        let wave: Vec<_> = wave.iter().collect();
        Arrays::put(&mut blocks, &wave);
    };
    let notes = parse_body(text, header, (progress, Pass::Second), parse, store).await?;
    drop(blocks);
    progress.rest().await?;
    let assembled = arrays.into_csr()?;
    Ok(Found { assembled, notes, pairs })
}

/// All nonzeros of the text after the header, in file order. With symmetric storage, each off-diagonal
/// nonzero is followed by its mirror.
#[cfg(any(not(target_family = "wasm"), test))]
pub(super) async fn entries(
    text: &[u8],
    header: &Header,
    progress: Progress<'_>,
) -> Result<(Vec<(u32, u32, f64)>, Notes), IoError> {
    let parse =
        |chunk: &[u8], entries: &mut _| parse_chunk::<f64>(chunk, header, Parts::one(), entries);
    let mut all = Vec::new();
    let store = |wave: &mut [Buckets<Entry<f64>>]| {
        let entries = wave.iter().flat_map(Buckets::only);
        all.extend(entries.map(|entry| (entry.row, entry.col, entry.val)));
    };
    let notes = super::body::pass_over(text, header, (progress, Pass::Only), parse, store).await?;
    Ok((all, notes))
}

fn parse_chunk<V: Value>(
    chunk: &[u8],
    header: &Header,
    parts: Parts,
    entries: &mut Buckets<Entry<V>>,
) -> Result<Notes, Fault> {
    entries.reset(parts);
    let symmetry = header.symmetry;
    let mut cursor = Cursor::new(chunk);
    let (mut notes, mut first) = (Notes::default(), FirstIndex::none());
    loop {
        let entry = match read_line::<V>(&mut cursor, header, &mut first) {
            Some(entry) => entry,
            None if !cursor.next_record() => return Ok(notes),
            None => read_entry::<V>(&mut cursor, header, &mut notes)
                .map_err(|expected| Fault { remaining: cursor.remaining(), expected })?,
        };
        notes.entries += 1;
        entries.push(parts, entry.row, entry);
        if symmetry != Symmetry::General {
            push_mirrored(entry, symmetry, parts, entries, &mut notes);
        }
    }
}

/// Reads a line that is spelled as most are, and whose indices are in range; on `None` the cursor does not move.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn read_line<V: Value>(
    cursor: &mut Cursor<'_>,
    header: &Header,
    first: &mut FirstIndex,
) -> Option<Entry<V>> {
    let before = *cursor;
    let (row, col, val) = V::read_line(header.field, cursor, first)?;
    let (row, col) = (row.wrapping_sub(header.base), col.wrapping_sub(header.base));
    if row < header.rows && col < header.cols {
        return Some(Entry { row, col, val });
    }
    *cursor = before;
    None
}

#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn read_entry<V: Value>(
    cursor: &mut Cursor<'_>,
    header: &Header,
    notes: &mut Notes,
) -> Result<Entry<V>, Expected> {
    let row = index(cursor, header.rows, header.base).ok_or(Expected::RowIndex)?;
    cursor.skip_blanks();
    let col = index(cursor, header.cols, header.base).ok_or(Expected::ColIndex)?;
    cursor.skip_blanks();
    let val = V::read(header.field, cursor, notes)?;
    match end_of_entry(cursor, header, notes) {
        true => Ok(Entry { row, col, val }),
        false => Err(Expected::EndOfLine),
    }
}

/// Appends the mirror of an off-diagonal nonzero.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn push_mirrored<T: Scalar>(
    Entry { row, col, val }: Entry<T>,
    symmetry: Symmetry,
    parts: Parts,
    entries: &mut Buckets<Entry<T>>,
    notes: &mut Notes,
) {
    if row == col {
        notes.off_symmetry += u64::from(!is_of_diagonal(val, symmetry));
        return;
    }
    let val = match symmetry {
        Symmetry::General | Symmetry::Symmetric => val,
        Symmetry::SkewSymmetric => -val,
        Symmetry::Hermitian => val.conj(),
    };
    entries.push(parts, col, Entry { row: col, col: row, val });
}

/// Whether the symmetry allows a value on the diagonal.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn is_of_diagonal<T: Scalar>(val: T, symmetry: Symmetry) -> bool {
    match symmetry {
        Symmetry::General | Symmetry::Symmetric => true,
        Symmetry::SkewSymmetric => val == T::ZERO,
        Symmetry::Hermitian => val == val.conj(),
    }
}

/// Returns an error for the first diagonal value of a skew-symmetric file that is not 0.
pub(super) fn skew_diagonal<V: Value>(text: &[u8], header: &Header) -> IoError {
    let mut cursor = Cursor::new(text.get(header.body..).unwrap_or_default());
    let (mut entry, mut found) = (0, String::new());
    let mut notes = Notes::default();
    while cursor.next_record() {
        let mut written = cursor;
        let read = read_entry::<V>(&mut cursor, header, &mut notes);
        let Ok(Entry { row, col, val }) = read else { break };
        if row == col && !is_of_diagonal(val, header.symmetry) {
            written.skip_token();
            written.skip_token();
            let behind = |cursor: Cursor<'_>| text.len() - cursor.remaining();
            let value = text.get(behind(written)..behind(cursor)).unwrap_or_default();
            found = quoted(value.trim_ascii());
            break;
        }
        entry += 1;
    }
    IoError::Unexpected {
        line: line_of_entry(text, header, entry),
        expected: "zeros on the diagonal of a skew-symmetric matrix".to_owned(),
        found,
    }
}
