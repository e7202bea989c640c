//! `array` files: the values of a dense matrix, one per line, column by column; for a symmetric matrix
//! the lower triangle, for a skew-symmetric one without the diagonal.

use crate::parallel::*;

use super::body::{Expected, Fault, Notes, Pass, end_of_entry, parse_body};
use super::header::Header;
use super::value::{Value, min_bytes};
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress, Symmetry};
use crate::matrix::{Csr, RowPtr, Scalar};
use crate::memory::MemoryLimit;
use crate::memory::zeroed;

/// Reads all values in file order, with notes on how they were read.
pub(in crate::io) async fn read_values<V: Value>(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Vec<V>, Notes), IoError> {
    // The last line may lack its line end, which is included in the shortest line.
    let body = (text.len() - header.body) as u64 + 1;
    let possible = header.declared.min(body / min_bytes(header.field).max(1));
    limit.check("the array", u128::from(possible) * V::BYTES as u128)?;
    let mut values = zeroed(V::ZERO, possible as usize);
    let mut free = values.as_mut_slice();
    let store = |wave: &mut [Vec<V>]| {
        let place = |chunk: &Vec<V>| free.split_off_mut(..chunk.len()).unwrap_or_default();
        let places: Vec<_> = wave.iter().map(place).zip(&*wave).collect();
        places.into_par_iter().for_each(|(place, chunk)| place.copy_from_slice(chunk));
    };
    let pass = (progress, Pass::Only);
    let parse = |chunk: &[u8], values: &mut _| parse_chunk::<V>(chunk, header, values);
    let notes = parse_body(text, header, pass, parse, store).await?;
    Ok((values, notes))
}

fn parse_chunk<V: Value>(
    chunk: &[u8],
    header: &Header,
    values: &mut Vec<V>,
) -> Result<Notes, Fault> {
    values.clear();
    let mut cursor = Cursor::new(chunk);
    let mut notes = Notes::default();
    while cursor.next_record() {
        let value = V::read(header.field, &mut cursor, &mut notes).and_then(|value| {
            match end_of_entry(&mut cursor, header, &mut notes) {
                true => Ok(value),
                false => Err(Expected::EndOfLine),
            }
        });
        match value {
            Ok(value) => {
                notes.entries += 1;
                values.push(value);
            }
            Err(expected) => return Err(Fault { remaining: cursor.remaining(), expected }),
        }
    }
    Ok(notes)
}

/// Returns the nonzero values as a matrix, expanded by its symmetry, and the number of values on the
/// diagonal that are not their own conjugates. A dense file has no structure, so zeros are not stored;
/// NaN is.
pub(super) fn nonzeros<T: Scalar>(
    values: &[T],
    header: &Header,
    limit: MemoryLimit,
) -> Result<(Csr<T>, u64), IoError> {
    let (rows, symmetry) = (header.rows as usize, header.symmetry);
    let held = std::mem::size_of_val(values) as u128;
    limit.check("the matrix", held + rows as u128 * 16)?;
    let mut lengths = vec![0usize; rows];
    let mut off_symmetry = 0;
    let mut count = |row: u32, _: u32, _: T| {
        if let Some(length) = lengths.get_mut(row as usize) {
            *length += 1;
        }
    };
    for_each_entry(values, header, |row, col, val| {
        count(row, col, val);
        if symmetry != Symmetry::General && row != col {
            count(col, row, val);
        }
        off_symmetry += u64::from(row == col && val != val.conj());
    });
    let row_ptr = RowPtr::from_lengths(lengths.iter().copied());
    let nnz = row_ptr.get(rows);
    let entry = 4 + T::BYTES as u128;
    limit.check("the matrix", held + rows as u128 * 16 + nnz as u128 * entry)?;
    let mut next: Vec<usize> = lengths;
    let mut begin = 0;
    for length in &mut next {
        begin += std::mem::replace(length, begin);
    }
    let (mut col, mut val) = (zeroed(0u32, nnz), zeroed(T::ZERO, nnz));
    // Column by column, so the columns of each row ascend, mirrored ones too.
    let mut put = |row: u32, c: u32, v: T| {
        let Some(next) = next.get_mut(row as usize) else { return };
        if let (Some(col), Some(val)) = (col.get_mut(*next), val.get_mut(*next)) {
            (*col, *val) = (c, v);
        }
        *next += 1;
    };
    for_each_entry(values, header, |r, c, v| {
        put(r, c, v);
        match symmetry {
            Symmetry::General => {}
            _ if r == c => {}
            Symmetry::Symmetric => put(c, r, v),
            Symmetry::SkewSymmetric => put(c, r, -v),
            Symmetry::Hermitian => put(c, r, v.conj()),
        }
    });
    Ok((Csr::try_new(rows, header.cols as usize, row_ptr, col, val)?, off_symmetry))
}

/// Calls `take` with row, column and value of each nonzero value in the file, in file order.
fn for_each_entry<T: Scalar>(values: &[T], header: &Header, mut take: impl FnMut(u32, u32, T)) {
    let mut values = values.iter();
    for col in 0..header.cols {
        let first_row = match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => col,
            Symmetry::SkewSymmetric => col + 1,
        };
        for (row, &val) in (first_row..header.rows).zip(&mut values) {
            if val != T::ZERO {
                take(row, col, val);
            }
        }
    }
}
