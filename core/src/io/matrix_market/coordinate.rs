//! `coordinate` files: a line `row col value` for each entry.

use crate::parallel::*;

use super::body::{Expected, Fault, Notes, line_of_entry, parse_body};
use super::header::Header;
use super::value::Value;
use crate::io::assemble::Triplets;
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress, Symmetry};
use crate::matrix::Scalar;
use crate::memory::MemoryLimit;
use crate::memory::zeroed;

struct Entry<T> {
    row: u32,
    col: u32,
    val: T,
}

/// All entries in file order, and what happened to their values.
pub(super) async fn read<V: Value>(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Triplets<V::Scalar>, Notes), IoError> {
    // The last line may lack its end, which the shortest line counts in.
    let body = (text.len() - header.body) as u64 + 1;
    let possible = header.declared.min(body / (4 + V::MIN_BYTES));
    limit.check("the matrix", u128::from(possible) * (8 + V::Scalar::BYTES as u128))?;
    let possible = possible as usize;
    let mut row = zeroed(0u32, possible);
    let mut col = zeroed(0u32, possible);
    let mut val = zeroed(V::Scalar::ZERO, possible);
    let (mut free_row, mut free_col, mut free_val) = (&mut row[..], &mut col[..], &mut val[..]);
    let store = |wave: &[Vec<Entry<V::Scalar>>]| {
        let places: Vec<_> = wave
            .iter()
            .map(|chunk| {
                let row = split_front(&mut free_row, chunk.len());
                let col = split_front(&mut free_col, chunk.len());
                let val = split_front(&mut free_val, chunk.len());
                row.iter_mut().zip(col).zip(val).zip(chunk)
            })
            .collect();
        places.into_par_iter().for_each(|places| {
            for (((row, col), val), entry) in places {
                (*row, *col, *val) = (entry.row, entry.col, entry.val);
            }
        });
    };
    let (rows, cols) = (header.rows, header.cols);
    let parse = |chunk: &[u8], entries: &mut Vec<_>| parse_chunk::<V>(chunk, rows, cols, entries);
    let notes = parse_body(text, header, progress, parse, store).await?;
    let triplets = Triplets { rows: rows as usize, cols: cols as usize, row, col, val };
    Ok((triplets, notes))
}

/// Takes `count` elements off the front of `free`.
pub(super) fn split_front<'a, T>(free: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(free).split_at_mut(count);
    *free = rest;
    front
}

fn parse_chunk<V: Value>(
    chunk: &[u8],
    rows: u32,
    cols: u32,
    entries: &mut Vec<Entry<V::Scalar>>,
) -> Result<Notes, Fault> {
    let mut cursor = Cursor::new(chunk);
    let mut notes = Notes::default();
    while cursor.next_record() {
        let mut read_entry = || {
            let row = index(&mut cursor, rows).ok_or(Expected::RowIndex)?;
            cursor.skip_blanks();
            let col = index(&mut cursor, cols).ok_or(Expected::ColIndex)?;
            cursor.skip_blanks();
            let val = V::read(&mut cursor, &mut notes)?;
            if !cursor.end_of_line() {
                return Err(Expected::EndOfLine);
            }
            Ok(Entry { row, col, val })
        };
        match read_entry() {
            Ok(entry) => entries.push(entry),
            Err(expected) => return Err(Fault { remaining: cursor.remaining(), expected }),
        }
    }
    Ok(notes)
}

/// A 1-based index up to `bound`, as 0-based.
#[inline(always)]
fn index(cursor: &mut Cursor<'_>, bound: u32) -> Option<u32> {
    let before = *cursor;
    let found = cursor.unsigned()?;
    if (1..=u64::from(bound)).contains(&found) {
        return Some((found - 1) as u32);
    }
    *cursor = before;
    None
}

/// Fails on the first non-zero diagonal entry of a skew-symmetric file.
pub(super) fn check_skew_diagonal<T: Scalar>(
    text: &[u8],
    header: &Header,
    entries: &Triplets<T>,
) -> Result<(), IoError> {
    let positions = entries.row.iter().zip(&entries.col);
    let bad = positions.zip(&entries.val).position(|((r, c), v)| r == c && *v != T::ZERO);
    match bad {
        None => Ok(()),
        Some(entry) => Err(IoError::Unexpected {
            line: line_of_entry(text, header, entry as u64),
            expected: "no non-zero value on the diagonal of a skew-symmetric matrix".to_owned(),
            found: entries.val.get(entry).map_or(String::new(), |v| format!("{v:?}")),
        }),
    }
}

/// Positions off the diagonal that a file with symmetric storage gives in both triangles.
pub(super) fn pairs_in_both_triangles<T: Scalar>(
    entries: &Triplets<T>,
    symmetry: Symmetry,
    limit: MemoryLimit,
) -> Result<usize, IoError> {
    if symmetry == Symmetry::General {
        return Ok(0);
    }
    let positions = || entries.row.iter().copied().zip(entries.col.iter().copied());
    let mixed = positions().any(|(r, c)| r < c) && positions().any(|(r, c)| r > c);
    if !mixed {
        return Ok(0);
    }
    let bytes = entries.val.len() as u128 * (16 + T::BYTES as u128);
    limit.check("the search for entries given in both triangles", bytes)?;
    let sorted = |mut keys: Vec<(u32, u32)>| {
        keys.par_sort_unstable();
        keys.dedup();
        keys
    };
    let lower = sorted(positions().filter(|(r, c)| r > c).collect());
    let upper = sorted(positions().filter(|(r, c)| r < c).map(|(r, c)| (c, r)).collect());
    Ok(upper.iter().filter(|key| lower.binary_search(key).is_ok()).count())
}
