//! The lines after the size line: cut at line ends into chunks that are parsed in parallel, one wave
//! at a time, so that parsed data is stored while it is still in the cache.

use std::ops::Range;

use crate::parallel::*;

use super::header::Header;
use crate::io::error::quoted;
use crate::io::scan::Cursor;
use crate::io::{Field, IoError, Progress};
use crate::pace::Pace;

/// Bytes of text in a chunk: its parsed nonzeros stay in the L2 cache.
pub(super) const CHUNK: usize = 128 << 10;
/// Chunks per thread in a wave.
const CHUNKS_PER_THREAD: usize = 8;

/// What was read, and how values changed in reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// Lines with a nonzero.
    pub(super) entries: u64,
    /// Integers that f64 cannot represent exactly.
    pub(super) rounded: u64,
    /// Numbers too large for f64, read as infinity.
    pub(super) overflowed: u64,
    /// Values of an integer file that are not integers.
    pub(super) misnamed: u64,
    /// Entries followed by numbers that were ignored.
    pub(super) numbers: u64,
    /// Entries followed by a comment that was ignored.
    pub(super) remarks: u64,
    /// Values on the diagonal that the symmetry does not allow: nonzero in skew-symmetric files, not
    /// real in hermitian files.
    pub(super) off_symmetry: u64,
}

impl Notes {
    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.rounded += other.rounded;
        self.overflowed += other.overflowed;
        self.misnamed += other.misnamed;
        self.numbers += other.numbers;
        self.remarks += other.remarks;
        self.off_symmetry += other.off_symmetry;
    }
}

/// Parses one of `bound` indices that count from `base` and returns it 0-based.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn index(cursor: &mut Cursor<'_>, bound: u32, base: u32) -> Option<u32> {
    let before = *cursor;
    let found = cursor.unsigned()?.wrapping_sub(base.into());
    if found < u64::from(bound) {
        return Some(found as u32);
    }
    *cursor = before;
    None
}

/// Moves past the end of the line of an entry; returns false when something is there that is not ignored.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn end_of_entry(cursor: &mut Cursor<'_>, header: &Header, notes: &mut Notes) -> bool {
    cursor.end_of_line() || ignored(cursor, header, notes)
}

/// Moves past what is ignored with a warning: numbers, if the header says so, and a comment.
#[cold]
#[inline(never)]
fn ignored(cursor: &mut Cursor<'_>, header: &Header, notes: &mut Notes) -> bool {
    if header.ignores_numbers && cursor.real().is_some() {
        notes.numbers += 1;
        cursor.skip_blanks();
        while cursor.real().is_some() {
            cursor.skip_blanks();
        }
    }
    if cursor.token().starts_with(b"%") {
        notes.remarks += 1;
        cursor.next_line();
        return true;
    }
    cursor.end_of_line()
}

/// The first place in a chunk that is not a valid nonzero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// Bytes of the chunk that remained at that place.
    pub(super) remaining: usize,
    pub(super) expected: Expected,
}

/// What a line of the body must contain next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    RowIndex,
    ColIndex,
    Real,
    Integer,
    RealPart,
    ImaginaryPart,
    EndOfLine,
}

impl Expected {
    fn describe(self, header: &Header) -> String {
        let index = |what: &str, bound: u32| match bound {
            0 => format!("no entries, because the matrix has no {what}s"),
            _ => {
                let base = u64::from(header.base);
                format!("a {what} index from {base} to {}", base + u64::from(bound) - 1)
            }
        };
        match self {
            Self::RowIndex => index("row", header.rows),
            Self::ColIndex => index("column", header.cols),
            Self::Real => "a number".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::RealPart => "the real part, a number".to_owned(),
            Self::ImaginaryPart => "the imaginary part, a number".to_owned(),
            Self::EndOfLine => {
                let field = header.field.as_str();
                let article = if header.field == Field::Integer { "an" } else { "a" };
                format!("the end of the line after {article} {field} entry")
            }
        }
    }
}

/// Which bytes a pass over the lines counts as read: two passes together count each byte once.
#[derive(Clone, Copy)]
pub(super) enum Pass {
    Only,
    First,
    Second,
}

impl Pass {
    fn counted(self, bytes: usize) -> usize {
        match self {
            Self::Only => bytes,
            Self::First => bytes / 4,
            Self::Second => bytes - bytes / 4,
        }
    }
}

/// Parses every line after the size line. `parse` parses one chunk; `store` gets the parsed chunks of
/// a wave, in file order; each wave is a step. Fails when the number of nonzeros differs from the
/// declared number; never stores more.
pub(super) async fn parse_body<E: Default + Send>(
    text: &[u8],
    header: &Header,
    (progress, pass): (Progress<'_>, Pass),
    parse: impl Fn(&[u8], &mut E) -> Result<Notes, Fault> + Sync,
    store: impl FnMut(&mut [E]),
) -> Result<Notes, IoError> {
    let notes = pass_over(text, header, (progress, pass), parse, store).await?;
    let (declared, found) = (header.declared, notes.entries);
    if found < declared {
        return Err(IoError::TooFewEntries { line: header.size_line, declared, found });
    }
    if found > declared {
        let line = line_of_entry(text, header, declared);
        return Err(IoError::TooManyEntries { line, declared, found });
    }
    Ok(notes)
}

/// Like [`parse_body`], with any number of nonzeros.
pub(super) async fn pass_over<E: Default + Send>(
    text: &[u8],
    header: &Header,
    (progress, pass): (Progress<'_>, Pass),
    parse: impl Fn(&[u8], &mut E) -> Result<Notes, Fault> + Sync,
    mut store: impl FnMut(&mut [E]),
) -> Result<Notes, IoError> {
    progress.advance(pass.counted(header.body));
    let wave_length = match progress.pace() {
        Pace::AtOnce => CHUNKS_PER_THREAD * crate::parallel::current_num_threads(),
        Pace::InSteps => 1,
    };
    let mut entries: Vec<E> = (0..wave_length).map(|_| E::default()).collect();
    let mut notes = Notes::default();
    let mut position = header.body;
    while position < text.len() {
        let wave = chunks(text, &mut position, wave_length);
        let results: Vec<Result<Notes, Fault>> = wave
            .par_iter()
            .zip(&mut entries)
            .map(|(range, entries)| {
                progress.check().map_err(|_| NOT_PARSED)?;
                let parsed = parse(text.get(range.clone()).unwrap_or_default(), entries);
                progress.advance(pass.counted(range.len()));
                parsed
            })
            .collect();
        progress.rest().await?;
        for (range, result) in wave.iter().zip(results) {
            notes.add(result.map_err(|fault| fault.explain(text, range.end, header))?);
        }
        if notes.entries <= header.declared {
            store(entries.get_mut(..wave.len()).unwrap_or_default());
        }
    }
    Ok(notes)
}

/// Placeholder for a chunk that was not parsed, which nobody reports.
pub(super) const NOT_PARSED: Fault = Fault { remaining: 0, expected: Expected::EndOfLine };

/// The next chunks of the text, each ending after a line end or at the end of the text.
fn chunks(text: &[u8], position: &mut usize, count: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::with_capacity(count);
    while chunks.len() < count && *position < text.len() {
        let nominal = position.saturating_add(CHUNK).min(text.len());
        let tail = text.get(nominal..).unwrap_or_default();
        let end = memchr::memchr(b'\n', tail).map_or(text.len(), |at| nominal + at + 1);
        chunks.push(*position..end);
        *position = end;
    }
    chunks
}

impl Fault {
    fn explain(self, text: &[u8], chunk_end: usize, header: &Header) -> IoError {
        let at = chunk_end - self.remaining;
        let token = Cursor::new(text.get(at..).unwrap_or_default()).token();
        let found = match token {
            [] if at == text.len() => "the end of the file".to_owned(),
            [] => "the end of the line".to_owned(),
            token => quoted(token),
        };
        IoError::Unexpected {
            line: line_number(text, at),
            expected: self.expected.describe(header),
            found,
        }
    }
}

/// 1-based line of the byte at `at`.
fn line_number(text: &[u8], at: usize) -> u64 {
    memchr::memchr_iter(b'\n', text.get(..at).unwrap_or(text)).count() as u64 + 1
}

/// 1-based line of the nonzero with the given number, counted from 0.
pub(super) fn line_of_entry(text: &[u8], header: &Header, entry: u64) -> u64 {
    line_number(text, offset_of_entry(text, header, entry))
}

/// Offset of the nonzero with the given number, counted from 0; the length of the text if there are fewer.
pub(super) fn offset_of_entry(text: &[u8], header: &Header, entry: u64) -> usize {
    let mut cursor = Cursor::new(text.get(header.body..).unwrap_or_default());
    let mut passed = 0;
    while cursor.next_record() && passed < entry {
        cursor.skip_line();
        passed += 1;
    }
    text.len() - cursor.remaining()
}
