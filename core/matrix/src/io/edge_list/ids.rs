//! The numbers of vertices: found again in the text, and replaced by numbers without gaps.

use std::borrow::Cow;
use std::fmt::Write;

use super::columns::in_pieces;
use crate::io::matrix_market::{Header, Lines, ids};
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress};
use crate::memory::MemoryLimit;

/// 1-based line of the first edge from or to this vertex.
pub(super) fn line_of_vertex(text: &[u8], body: usize, vertex: u64) -> u64 {
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next() {
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks();
        let row = cursor.unsigned();
        cursor.skip_blanks();
        if lines.position > body && (row == Some(vertex) || cursor.unsigned() == Some(vertex)) {
            break;
        }
    }
    lines.number
}

/// Replaces each vertex in the text by its place among those that occur, which is never longer; returns rows
/// and columns, which are the same vertices unless they are `apart`.
pub(super) async fn renumber(
    text: &mut Cow<'_, [u8]>,
    header: &Header,
    apart: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(u64, u64), IoError> {
    let copy = if let Cow::Borrowed(text) = text { text.len() as u64 } else { 0 };
    limit.check("the text with new ids", copy.into())?;
    let limit = MemoryLimit::bytes(limit.get() - copy);
    let (rows, cols) = ids(text, header, apart, limit, progress).await?;
    let cols = if apart { &cols } else { &rows };
    // Larger numbers read as the largest, and could not be told apart.
    if rows.last() == Some(&u64::MAX) || cols.last() == Some(&u64::MAX) {
        let line = line_of_vertex(text, header.body, u64::MAX);
        let (expected, found) = ("a vertex below 2^64 - 1".to_owned(), "a larger one".to_owned());
        return Err(IoError::Unexpected { line, expected, found });
    }
    let edges = text.to_mut().get_mut(header.body..).unwrap_or_default();
    in_pieces(edges, progress, &|lines: &mut [u8]| {
        lines.split_mut(|byte| *byte == b'\n').for_each(|line| renumber_line(line, [&rows, cols]));
    })
    .await?;
    Ok((rows.len() as u64, cols.len() as u64))
}

fn renumber_line(line: &mut [u8], ids: [&[u64]; 2]) {
    let (mut begin, mut digits) = (0, String::new());
    for ids in ids {
        let mut cursor = Cursor::new(line.get(begin..).unwrap_or_default());
        cursor.skip_blanks();
        begin = line.len() - cursor.remaining();
        let Some(Ok(place)) = cursor.unsigned().map(|id| ids.binary_search(&id)) else { return };
        let end = line.len() - cursor.remaining();
        digits.clear();
        let _ = write!(digits, "{place}");
        let word = line.get_mut(begin..end).unwrap_or_default();
        word.fill(b' ');
        word.iter_mut().zip(digits.bytes()).for_each(|(byte, digit)| *byte = digit);
        begin = end;
    }
}
