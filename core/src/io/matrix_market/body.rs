//! The lines after the size line: cut at line ends into chunks that are parsed in parallel, a
//! wave at a time, so that what is parsed is stored while it is still in the cache.

use std::ops::Range;

use crate::parallel::*;

use super::header::Header;
use crate::io::error::quoted;
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress};
use crate::pace::Pace;

/// Bytes of text in a chunk: its parsed entries stay in the second-level cache.
const CHUNK: usize = 128 << 10;
/// Chunks a thread takes in a wave.
const CHUNKS_PER_THREAD: usize = 8;

/// What happened to values while they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    /// Integers that f64 does not hold.
    pub(super) rounded: u64,
    /// Numbers too large for f64, read as infinite.
    pub(super) overflowed: u64,
    /// Values of an integer file that are no integers.
    pub(super) misnamed: u64,
}

/// The first place of a chunk that is no entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// Bytes of the chunk that were left there.
    pub(super) remaining: usize,
    pub(super) expected: Expected,
}

/// What a line of the body must hold next.
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
            0 => format!("no entry, as the matrix has no {what}s"),
            _ => format!("a {what} index from 1 to {bound}"),
        };
        match self {
            Self::RowIndex => index("row", header.rows),
            Self::ColIndex => index("column", header.cols),
            Self::Real => "a number".to_owned(),
            Self::Integer => "an integer".to_owned(),
            Self::RealPart => "the real part, a number".to_owned(),
            Self::ImaginaryPart => "the imaginary part, a number".to_owned(),
            Self::EndOfLine => {
                format!("the end of the line after a {} entry", header.field.as_str())
            }
        }
    }
}

/// Parses every line after the size line. `parse` appends the entries of one chunk; `store` gets
/// the entries of a wave, chunk by chunk in file order; a step is a wave. Fails when there are not exactly as many
/// entries as declared; never stores more.
pub(super) async fn parse_body<E: Send>(
    text: &[u8],
    header: &Header,
    progress: Progress<'_>,
    parse: impl Fn(&[u8], &mut Vec<E>) -> Result<Notes, Fault> + Sync,
    mut store: impl FnMut(&[Vec<E>]),
) -> Result<Notes, IoError> {
    progress.advance(header.body);
    let wave_length = match progress.pace() {
        Pace::AtOnce => CHUNKS_PER_THREAD * crate::parallel::current_num_threads(),
        Pace::InSteps => 1,
    };
    let mut entries: Vec<Vec<E>> = (0..wave_length).map(|_| Vec::new()).collect();
    let mut notes = Notes::default();
    let mut found = 0u64;
    let mut position = header.body;
    while position < text.len() {
        let wave = chunks(text, &mut position, wave_length);
        let results: Vec<Result<Notes, Fault>> = wave
            .par_iter()
            .zip(&mut entries)
            .map(|(range, entries)| {
                entries.clear();
                progress.check().map_err(|_| CANCELLED)?;
                let parsed = parse(text.get(range.clone()).unwrap_or_default(), entries);
                progress.advance(range.len());
                parsed
            })
            .collect();
        progress.rest().await?;
        for (range, result) in wave.iter().zip(results) {
            let chunk = result.map_err(|fault| fault.explain(text, range.end, header))?;
            notes.rounded += chunk.rounded;
            notes.overflowed += chunk.overflowed;
            notes.misnamed += chunk.misnamed;
        }
        let parsed = entries.get(..wave.len()).unwrap_or_default();
        found += parsed.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
        if found <= header.declared {
            store(parsed);
        }
    }
    let declared = header.declared;
    if found < declared {
        return Err(IoError::TooFewEntries { line: header.size_line, declared, found });
    }
    if found > declared {
        let line = line_of_entry(text, header, declared);
        return Err(IoError::TooManyEntries { line, declared, found });
    }
    Ok(notes)
}

/// Placeholder of a chunk that was not parsed; the cancellation itself is reported.
const CANCELLED: Fault = Fault { remaining: 0, expected: Expected::EndOfLine };

/// The next chunks of the text, each ending after a line end or at the end.
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

/// 1-based line of the entry with the given number, counted from 0.
pub(super) fn line_of_entry(text: &[u8], header: &Header, entry: u64) -> u64 {
    let mut cursor = Cursor::new(text.get(header.body..).unwrap_or_default());
    for _ in 0..entry {
        cursor.next_record();
        cursor.skip_line();
    }
    cursor.next_record();
    line_number(text, text.len() - cursor.remaining())
}
