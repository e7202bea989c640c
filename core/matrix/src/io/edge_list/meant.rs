//! Tells edge lists from triplets and other text.

use std::cell::LazyCell;

use super::attributes::Attributes;
use super::columns::separator;
use super::heading::{Heading, no_edge};
use crate::io::matrix_market::{Header, Survey, survey};
use crate::io::scan::Cursor;
use crate::io::triplet_text::{begins_with_number, has_banner, needs_banner, words_of_first_entry};
use crate::io::{IoError, Progress};
use crate::pace::at_once;

/// Number of bytes that are looked at first, and how many times more next.
const BEGINNING: usize = 1 << 20;
const MORE: usize = 8;

/// Whether a text in a file called `name` is an edge list: its name, its comments, its commas or the attributes
/// of edges say so, or its first line cannot be the sizes of triplet text.
pub(in crate::io) fn is_meant(name: &str, text: &[u8]) -> bool {
    if needs_banner(name) || has_banner(text) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|end| name.ends_with(end));
    let heading = Heading::read(text);
    let body = text.get(heading.body..).unwrap_or_default();
    ends(&[".edges", ".el", ".edgelist"])
        || heading.konect.is_some()
        || text.trim_ascii_start().starts_with(b"#")
        || (heading.columns.is_some() && ends(&[".csv", ".tsv"]))
        || (heading.columns.is_none()
            && (separator(body).is_some()
                || (begins_with_number(body) && has_attributes(body))
                || contradicts(body, &heading)))
}

/// Whether the first line ends with attributes.
fn has_attributes(body: &[u8]) -> bool {
    Attributes::of(body.split(|byte| *byte == b'\n').next().unwrap_or_default()).is_some()
}

/// Whether all lines of a text are needed to find out whether it is an edge list, or how large, given its
/// first ones.
pub(in crate::io) fn may_be(name: &str, beginning: &[u8]) -> bool {
    let mut cursor = Cursor::new(beginning);
    // The first lines of other text end at a `#`, which in an edge list begins a comment.
    let may_begin = cursor.next_record() && matches!(cursor.rest(), [b'#' | b'0'..=b'9', ..]);
    is_meant(name, beginning) || (!needs_banner(name) && !has_banner(beginning) && may_begin)
}

/// The number of words of the first line, at most 4, and the numbers that it begins with, which are skipped.
fn first_numbers(cursor: &mut Cursor<'_>) -> (usize, Vec<u64>) {
    cursor.next_record();
    let words = words_of_first_entry(*cursor);
    let mut numbers = Vec::new();
    for _ in 0..words {
        cursor.skip_blanks();
        numbers.extend(cursor.unsigned());
    }
    (words, numbers)
}

/// Whether the first line looks like the others and cannot be the sizes of triplet text: it has a fraction or
/// sizes of 0, or both the number of lines and an index contradict it.
fn contradicts(body: &[u8], heading: &Heading) -> bool {
    if !begins_with_number(body) {
        return false;
    }
    let mut cursor = Cursor::new(body);
    let (words, sizes) = first_numbers(&mut cursor);
    let (rows, cols, declared) = match *sizes.as_slice() {
        [rows, declared] if words == 2 => (rows, rows, declared),
        [_, _] if words == 3 => return cursor.real().is_some() && cursor.end_of_line(),
        [rows, cols, declared] if words == 3 => (rows, cols, declared),
        _ => return false,
    };
    if !cursor.end_of_line() {
        return false;
    }
    if (rows == 0 || cols == 0) && declared > 0 {
        return true;
    }
    if words_of_first_entry(cursor) != words {
        return false;
    }
    let rest = cursor.rest();
    let header = Header { body: 0, ..heading.header() };
    // Whether an index lies beyond the sizes or is 0, and the number of lines with entries.
    let look = |text: &[u8]| {
        let plain = |_: &[u8], _: &mut Vec<u8>| false;
        let found = at_once(survey(text, &header, &plain, None, Progress::none()));
        let (found, _) = found.unwrap_or_default();
        (found.zeros > 0 || found.last_row > rows || found.last_col > cols, found.lines)
    };
    // Comments and blank lines count as well, so that there are no more entries. Takes long.
    let lines = LazyCell::new(|| {
        let ends = memchr::memchr_iter(b'\n', rest).count() as u64;
        ends + u64::from(!body.ends_with(b"\n"))
    });
    // Mostly the beginning is enough.
    let mut length = BEGINNING;
    while let Some(beginning) = rest.get(..length) {
        let end = memchr::memrchr(b'\n', beginning).unwrap_or(0);
        let (is_outside, found) = look(beginning.get(..end).unwrap_or_default());
        if is_outside && found > declared {
            return true;
        }
        let next_is_enough = is_outside && found.saturating_mul(MORE as u64) > declared;
        if !next_is_enough && (*lines == declared || is_outside && *lines < declared) {
            return *lines != declared;
        }
        length = length.saturating_mul(MORE);
    }
    if *lines == declared {
        return false;
    }
    let (is_outside, found) = look(rest);
    is_outside && found != declared
}

/// Whether the first line, read as an edge, may hold the sizes of triplets: no index is beyond them, and they
/// count the other lines or, in triplets from 0, at least lie beside zeros.
pub(super) fn may_begin_with_sizes(first: &[u8], heading: &Heading, found: &Survey) -> bool {
    let mut cursor = Cursor::new(first);
    let (words, sizes) = first_numbers(&mut cursor);
    let counts = |declared: u64| declared > 0 && declared == found.lines.saturating_sub(1);
    let fits = match *sizes.as_slice() {
        [rows, declared] if words == 2 => {
            counts(declared) && found.last_row == rows && found.last_col <= rows.max(declared)
        }
        [rows, cols, declared] if words == 3 => {
            let zeros = found.zeros > 0 && rows > 0 && cols > 0;
            (counts(declared) || zeros) && found.last_row == rows && found.last_col == cols
        }
        _ => false,
    };
    fits && cursor.end_of_line() && heading.konect.is_none()
}

/// The error of a text that options for edge lists do not fit: names of vertices, if it begins with words.
pub(in crate::io) fn unfit(error: IoError, text: &[u8]) -> IoError {
    let Some(columns) = Heading::read(text).columns.filter(|_| !has_banner(text)) else {
        return error;
    };
    let mut lines = text.split(|byte| *byte == b'\n').skip(columns.line as usize - 1);
    let line = lines.next().unwrap_or_default();
    no_edge(line, line, columns.line)
}
