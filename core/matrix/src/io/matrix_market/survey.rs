//! The range of the indices of a text that declares no sizes: what a reader needs to know before the first
//! of its two passes.

use crate::parallel::*;

use super::body::{Notes, Pass, pass_over};
use super::header::Header;
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress};
use crate::memory::MemoryLimit;

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

/// Reads the indices of all lines.
pub(in crate::io) async fn survey(
    text: &[u8],
    header: &Header,
    progress: Progress<'_>,
) -> Result<Survey, IoError> {
    let mut all = Survey::default();
    let parse = |text: &[u8], found: &mut Survey| {
        *found = Survey::default();
        let mut cursor = Cursor::new(text);
        while cursor.next_record() {
            found.lines += 1;
            if let Some((row, col)) = pair(&mut cursor) {
                found.pairs += 1;
                found.zeros += u64::from(row == 0) + u64::from(col == 0);
                found.last_row = found.last_row.max(row);
                found.last_col = found.last_col.max(col);
            }
            cursor.next_line();
        }
        Ok(Notes::default())
    };
    let store = |wave: &[Survey]| wave.iter().for_each(|chunk| all.add(chunk));
    pass_over(text, header, (progress.uncounted(), Pass::Only), parse, store).await?;
    Ok(all)
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
    let store = |wave: &[Vec<(u64, u64)>]| {
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
#[inline(always)]
fn pair(cursor: &mut Cursor<'_>) -> Option<(u64, u64)> {
    let row = cursor.unsigned()?;
    cursor.skip_blanks();
    Some((row, cursor.unsigned()?))
}
