//! `array` files: the values of a dense matrix, one a line, column by column; of a symmetric one
//! the lower triangle, of a skew-symmetric one without the diagonal.

use crate::parallel::*;

use super::body::{Expected, Fault, Notes, parse_body};
use super::coordinate::split_front;
use super::header::Header;
use super::value::Value;
use crate::io::assemble::Triplets;
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress, Symmetry};
use crate::matrix::Scalar;
use crate::memory::MemoryLimit;
use crate::memory::zeroed;

/// All values in file order, and what happened to them.
pub(in crate::io) async fn read_values<V: Value>(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Vec<V::Scalar>, Notes), IoError> {
    // The last line may lack its end, which the shortest line counts in.
    let body = (text.len() - header.body) as u64 + 1;
    let possible = header.declared.min(body / V::MIN_BYTES.max(1));
    limit.check("the array", u128::from(possible) * V::Scalar::BYTES as u128)?;
    let mut values = zeroed(V::Scalar::ZERO, possible as usize);
    let mut free = values.as_mut_slice();
    let store = |wave: &[Vec<V::Scalar>]| {
        let places: Vec<_> =
            wave.iter().map(|chunk| (split_front(&mut free, chunk.len()), chunk)).collect();
        places.into_par_iter().for_each(|(place, chunk)| place.copy_from_slice(chunk));
    };
    let notes = parse_body(text, header, progress, parse_chunk::<V>, store).await?;
    Ok((values, notes))
}

fn parse_chunk<V: Value>(chunk: &[u8], values: &mut Vec<V::Scalar>) -> Result<Notes, Fault> {
    let mut cursor = Cursor::new(chunk);
    let mut notes = Notes::default();
    while cursor.next_record() {
        let value = V::read(&mut cursor, &mut notes).and_then(|value| {
            if cursor.end_of_line() { Ok(value) } else { Err(Expected::EndOfLine) }
        });
        match value {
            Ok(value) => values.push(value),
            Err(expected) => return Err(Fault { remaining: cursor.remaining(), expected }),
        }
    }
    Ok(notes)
}

/// The non-zero values as entries. A dense file says nothing about structure, so that its zeros
/// are no stored entries; NaN is one.
pub(super) fn nonzeros<T: Scalar>(
    values: Vec<T>,
    header: &Header,
    limit: MemoryLimit,
) -> Result<Triplets<T>, IoError> {
    let count = values.iter().filter(|v| **v != T::ZERO).count();
    let bytes = values.len() as u128 * T::BYTES as u128 + count as u128 * (8 + T::BYTES as u128);
    limit.check("the matrix", bytes)?;
    let (mut row, mut col, mut val) =
        (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
    let mut values = values.into_iter();
    for c in 0..header.cols {
        let first_row = match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => c,
            Symmetry::SkewSymmetric => c + 1,
        };
        for (r, v) in (first_row..header.rows).zip(&mut values) {
            if v != T::ZERO {
                row.push(r);
                col.push(c);
                val.push(v);
            }
        }
    }
    Ok(Triplets { rows: header.rows as usize, cols: header.cols as usize, row, col, val })
}
