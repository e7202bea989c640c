//! Tar archives, as the collections SuiteSparse and KONECT ship them: reads the one member that is the matrix
//! into memory. Names are used only to choose a member, never as a path.

use std::io::Read;

use super::IoError;
use super::error::quoted;
use super::file_forms::{FORMS, inner_name};
use super::head::{BANNER, first_lines, holds_sizes};
use crate::memory::MemoryLimit;

/// Headers, contents and padding come in blocks of this many bytes (POSIX.1-1988, `ustar`).
const BLOCK: usize = 512;
/// Maximum number of members of an archive: the collection's largest have a few hundred.
const MAX_MEMBERS: usize = 100_000;
/// Maximum bytes of a long name or of extended attributes.
const MAX_EXTENDED: u64 = 1 << 20;
/// Number of members that a message names.
const NAMED: usize = 5;

/// What follows the name of the matrix in the name of its right-hand side, and of its initial guess.
pub(super) const RIGHT_SIDE: &[&str] = &["_b"];
pub(super) const START: &[&str] = &["_x0", "_x"];

/// The matrix of an archive, and what else it contained.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    pub(super) warning: Option<String>,
}

/// Whether a file that begins with `start` is a tar archive: its first block is a header.
pub(super) fn is_tar(start: &[u8]) -> bool {
    start.first_chunk::<BLOCK>().is_some_and(checksum_holds)
}

/// Reads an archive to its end and keeps the member `NAME/NAME.mtx`, or the only member of the highest
/// [rank](Rank) that is not a vector of another by its name. The others are skipped without being kept.
pub(super) fn read_matrix(input: &mut dyn Read, limit: MemoryLimit) -> Result<Member, IoError> {
    find(input, false, &MATRIX, |archive, _, size| archive.matrix(size, limit))
}

/// Reads the member `NAME/NAME_b.mtx` or, without a folder, `NAME_b.mtx`, a vector that comes with the matrix
/// `NAME.mtx`. `_b` is the first of these endings that the archive has.
pub(super) fn read_vector(
    input: &mut dyn Read,
    endings: &[&str],
    limit: MemoryLimit,
) -> Result<Member, IoError> {
    let names: Vec<String> = endings.iter().map(|end| format!("NAME/NAME{end}.mtx")).collect();
    let sought = Sought {
        rank: &|name: &str| Rank::of_vector(name, endings),
        what: "vector",
        names: &names.join(" or "),
    };
    find(input, true, &sought, |archive, _, size| {
        Ok((archive.content(size, limit, "the vector in the archive")?, 0))
    })
}

/// Reads the same member, of Matrix Market only the first lines, up to the matrix's sizes, and no more of the
/// archive than needed to find it: a second `NAME/NAME.mtx` is not looked for.
pub(super) fn peek_matrix(input: &mut dyn Read, limit: MemoryLimit) -> Result<Member, IoError> {
    find(input, true, &MATRIX, |archive, rank, size| match rank {
        Rank::Possible | Rank::Named => archive.first_lines(size, limit),
        _ => archive.matrix(size, limit),
    })
}

/// Which member of an archive is sought.
struct Sought<'a> {
    /// How likely a member is it, by its name.
    rank: &'a dyn Fn(&str) -> Rank,
    what: &'a str,
    /// The names by which it is expected.
    names: &'a str,
}

const MATRIX: Sought<'static> =
    Sought { rank: &Rank::of, what: "matrix", names: "a matrix such as NAME/NAME.mtx" };

/// Finds the member that is sought; with `at_once` the search ends at the first of rank
/// [`Named`](Rank::Named). `keep` returns what to keep of a member, and how many bytes it left unread.
fn find(
    input: &mut dyn Read,
    at_once: bool,
    sought: &Sought<'_>,
    keep: impl Fn(&mut Archive<'_>, Rank, u64) -> Result<(Vec<u8>, u64), IoError>,
) -> Result<Member, IoError> {
    let mut kept: Option<(Rank, String, Vec<u8>)> = None;
    let (mut tied, mut ignored) = (Vec::new(), Vec::new());
    let mut archive = Archive { input, members: 0 };
    while let Some(Header { name, size }) = archive.next_file()? {
        let rank = (sought.rank)(&name);
        let best = kept.as_ref().map_or(Rank::Other, |(rank, ..)| *rank);
        let is_tied = rank == best && rank != Rank::Other;
        let keeps_vector = kept.as_ref().is_some_and(|(_, kept, _)| is_vector_of(kept, &name));
        if rank > best || (is_tied && keeps_vector) {
            let (content, left) = keep(&mut archive, rank, size).map_err(|error| match error {
                IoError::Memory(_) => error.in_member(Some(&name)),
                // Of the archive, or of the compressed data that it is in.
                error => error,
            })?;
            if at_once && rank == Rank::Named {
                return Ok(Member { name, content, warning: None });
            }
            archive.skip_bytes(left)?;
            if !is_tied {
                ignored.append(&mut tied);
            }
            ignored.extend(kept.replace((rank, name, content)).map(|(_, name, _)| name));
            continue;
        }
        archive.skip(size)?;
        if is_tied { tied.push(name) } else { ignored.push(name) }
    }
    let Some((_, first, content)) = kept else {
        let found = match ignored.as_slice() {
            [] => "no files".to_owned(),
            names => list(names),
        };
        let names = sought.names;
        return Err(IoError::Archive(format!("expected {names} in the archive, found {found}")));
    };
    let is_vector = |name: &String| is_vector_of(name, &first);
    let (vectors, others): (Vec<_>, Vec<_>) = tied.into_iter().partition(is_vector);
    if let Some(second) = others.first() {
        let (first, second) = (quoted(first.as_bytes()), quoted(second.as_bytes()));
        let what = sought.what;
        return Err(IoError::Archive(format!(
            "expected one {what} in the archive, found several, including {first} and {second}"
        )));
    }
    ignored.extend(vectors);
    Ok(Member { name: first, content, warning: warning(&ignored) })
}

/// Whether a vector comes with a matrix by their names, such as `NAME_b.mtx` with `NAME.mtx`.
pub(super) fn is_vector_of(vector: &str, matrix: &str) -> bool {
    let [vector, matrix] = [vector, matrix].map(inner_name);
    let ending = match (vector.rsplit_once('.'), matrix.rsplit_once('.')) {
        (Some((vector, form)), Some((matrix, same))) if form == same => vector.strip_prefix(matrix),
        _ => None,
    };
    ending.is_some_and(|ending| RIGHT_SIDE.contains(&ending) || START.contains(&ending))
}

/// The warning about files that were not read as the matrix.
pub(super) fn warning(ignored: &[String]) -> Option<String> {
    (!ignored.is_empty()).then(|| format!("the archive also has other files: {}", list(ignored)))
}

/// Some of the names, and the number of others.
pub(super) fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|n| quoted(n.as_bytes())).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// How likely a member is the one sought, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Other,
    /// A text that may be an edge list or triplets.
    Text,
    /// A matrix of another form by its extension, or an `out.NAME` of KONECT.
    OfForm,
    /// Such a `NAME/NAME.EXTENSION`.
    NamedOfForm,
    /// Any `.mtx`, or a vector with another ending than the first.
    Possible,
    /// `NAME/NAME.mtx`, or the vector `NAME/NAME_b.mtx` or `NAME_b.mtx`.
    Named,
}

impl Rank {
    pub(super) fn of(name: &str) -> Self {
        let mut parts = inner_name(name).rsplit('/');
        let file = parts.next().unwrap_or_default();
        let Some((stem, extension)) = file.rsplit_once('.') else { return Self::Other };
        // The file that macOS stores beside another is not a second matrix, nor is a description one.
        if stem.starts_with("._") || stem.eq_ignore_ascii_case("readme") {
            return Self::Other;
        }
        let is_named = parts.next() == Some(stem);
        match extension.to_ascii_lowercase().as_str() {
            "mtx" if is_named => Self::Named,
            "mtx" => Self::Possible,
            "txt" | "tsv" | "csv" => Self::Text,
            "tar" | "tgz" => Self::Other,
            form if FORMS.iter().any(|known| known.extensions.contains(&form)) => match is_named {
                true => Self::NamedOfForm,
                false => Self::OfForm,
            },
            _ if file.starts_with("out.") => Self::OfForm,
            _ => Self::Other,
        }
    }

    pub(super) fn of_vector(name: &str, endings: &[&str]) -> Self {
        let mut parts = inner_name(name).rsplit('/');
        let stem = parts.next().and_then(|file| file.strip_suffix(".mtx"));
        let Some(stem) = stem.filter(|stem| !stem.starts_with("._")) else { return Self::Other };
        let folder = parts.next().filter(|folder| *folder != ".");
        let fits = |name: &str| folder.is_none_or(|folder| folder == name);
        match endings.iter().position(|ending| stem.strip_suffix(ending).is_some_and(fits)) {
            Some(0) => Self::Named,
            Some(_) => Self::Possible,
            None => Self::Other,
        }
    }
}

struct Archive<'r> {
    input: &'r mut dyn Read,
    members: usize,
}

/// A regular file of the archive; its content comes next.
struct Header {
    name: String,
    size: u64,
}

impl Archive<'_> {
    /// Returns the next regular file, or `None` at the end, after reading all of the input.
    fn next_file(&mut self) -> Result<Option<Header>, IoError> {
        let mut long_name = None;
        let mut long_size = None;
        loop {
            let mut block = [0u8; BLOCK];
            if !self.fill(&mut block)? || block == [0u8; BLOCK] {
                // Reading on verifies the checksums at the end of compressed data.
                std::io::copy(self.input, &mut std::io::sink()).map_err(unreadable)?;
                return Ok(None);
            }
            self.members += 1;
            if self.members > MAX_MEMBERS {
                return Err(damaged(format!("it has more than {MAX_MEMBERS} members")));
            }
            if !checksum_holds(&block) {
                return Err(damaged(format!("member {} has an invalid header", self.members)));
            }
            let size = number(field(&block, 124, 12))
                .ok_or_else(|| damaged(format!("member {} has an invalid size", self.members)))?;
            match block.get(156) {
                Some(b'0' | 0 | b'7') => {
                    let name = long_name.take().unwrap_or_else(|| name(&block));
                    return Ok(Some(Header { name, size: long_size.unwrap_or(size) }));
                }
                Some(b'L') => long_name = Some(text(&self.extended(size)?)),
                Some(b'x') => {
                    let records = self.extended(size)?;
                    long_name = attribute(&records, b"path").map(text).or(long_name);
                    let digits = attribute(&records, b"size");
                    long_size = digits.and_then(|d| text(d).parse().ok()).or(long_size);
                }
                // Links, devices and folders have no content, whatever size they declare.
                Some(b'1'..=b'6') => (long_name, long_size) = (None, None),
                _ => self.skip(size)?,
            }
        }
    }

    fn extended(&mut self, size: u64) -> Result<Vec<u8>, IoError> {
        if size > MAX_EXTENDED {
            return Err(damaged(format!("member {} has a name of {size} bytes", self.members)));
        }
        self.content(size, MemoryLimit::unlimited(), "a name in the archive")
    }

    /// The content of the file whose header was read, without its padding. Nothing is allocated for
    /// bytes that do not exist.
    fn content(&mut self, size: u64, limit: MemoryLimit, what: &str) -> Result<Vec<u8>, IoError> {
        limit.check(what, u128::from(size))?;
        let mut content = Vec::new();
        let mut part = (&mut *self.input).take(size);
        part.read_to_end(&mut content).map_err(unreadable)?;
        if content.len() as u64 != size {
            return Err(self.cut_off());
        }
        self.skip_bytes(padding(size))?;
        Ok(content)
    }

    /// The content of a file that is a matrix, of which nothing is left unread.
    fn matrix(&mut self, size: u64, limit: MemoryLimit) -> Result<(Vec<u8>, u64), IoError> {
        Ok((self.content(size, limit, "the matrix in the archive")?, 0))
    }

    /// The first lines of a Matrix Market file, or all of another, and the number of unread bytes of it and its
    /// padding.
    fn first_lines(&mut self, size: u64, limit: MemoryLimit) -> Result<(Vec<u8>, u64), IoError> {
        let mut part = (&mut *self.input).take(size);
        let mut start = Vec::new();
        let banner = BANNER.len() as u64;
        part.by_ref().take(banner).read_to_end(&mut start).map_err(unreadable)?;
        if start != BANNER {
            limit.check("the matrix in the archive", u128::from(size))?;
            part.read_to_end(&mut start).map_err(unreadable)?;
            return match part.limit() {
                0 => Ok((start, padding(size))),
                _ => Err(self.cut_off()),
            };
        }
        let text = first_lines(&mut start.as_slice().chain(&mut part)).map_err(unreadable)?;
        let left = part.limit();
        if left > 0 && !holds_sizes(&text) {
            return Err(self.cut_off());
        }
        Ok((text, left + padding(size)))
    }

    fn skip(&mut self, size: u64) -> Result<(), IoError> {
        self.skip_bytes(size.saturating_add(padding(size)))
    }

    fn skip_bytes(&mut self, bytes: u64) -> Result<(), IoError> {
        let mut part = (&mut *self.input).take(bytes);
        let skipped = std::io::copy(&mut part, &mut std::io::sink()).map_err(unreadable)?;
        if skipped == bytes { Ok(()) } else { Err(self.cut_off()) }
    }

    /// Fills a block; returns false when the input ends before it.
    fn fill(&mut self, block: &mut [u8; BLOCK]) -> Result<bool, IoError> {
        let mut filled = 0;
        while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(self.cut_off()),
                Ok(n) => filled += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        Ok(true)
    }

    fn cut_off(&self) -> IoError {
        damaged(format!("it ends in the middle of member {}", self.members))
    }
}

fn damaged(how: String) -> IoError {
    IoError::Archive(format!("the archive is damaged: {how}"))
}

/// Restores the error of the decompressor underneath, which knows the cause.
pub(super) fn unreadable(error: std::io::Error) -> IoError {
    match error.downcast::<IoError>() {
        Ok(error) => error,
        Err(error) => IoError::System { doing: "read the archive", error },
    }
}

fn padding(size: u64) -> u64 {
    size.next_multiple_of(BLOCK as u64).saturating_sub(size)
}

fn field(block: &[u8; BLOCK], start: usize, length: usize) -> &[u8] {
    block.get(start..start + length).unwrap_or_default()
}

/// Whether the bytes of a header, with its checksum replaced by blanks, add up to that checksum.
/// Some old programs summed signed bytes.
fn checksum_holds(block: &[u8; BLOCK]) -> bool {
    let Some(stored) = number(field(block, 148, 8)) else { return false };
    let is_sum = |(k, byte): (usize, &u8)| if (148..156).contains(&k) { b' ' } else { *byte };
    let unsigned: u64 = block.iter().enumerate().map(is_sum).map(u64::from).sum();
    let signed: i64 = block.iter().enumerate().map(is_sum).map(|b| i64::from(b as i8)).sum();
    stored == unsigned || i64::try_from(stored) == Ok(signed)
}

/// Parses octal digits among blanks and NULs, or a binary number that begins with the bit 0x80.
fn number(field: &[u8]) -> Option<u64> {
    if let [first, rest @ ..] = field
        && *first == 0x80
    {
        let (zeros, low) = rest.split_at(rest.len().saturating_sub(8));
        let value = low.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        return zeros.iter().all(|byte| *byte == 0).then_some(value);
    }
    let digits = field.split(|b| *b == 0).next().unwrap_or_default().trim_ascii();
    let octal = |value: Option<u64>, digit: &u8| match digit {
        b'0'..=b'7' => value?.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    };
    (!digits.is_empty()).then_some(()).and(digits.iter().fold(Some(0), octal))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

/// The name in a header: `prefix/name` in a `ustar` header.
fn name(block: &[u8; BLOCK]) -> String {
    let name = text(field(block, 0, 100));
    // GNU's magic ends in blanks, and other fields take the place of the prefix.
    let is_ustar = field(block, 257, 6) == b"ustar\0";
    match text(field(block, 345, 155)) {
        prefix if is_ustar && !prefix.is_empty() => format!("{prefix}/{name}"),
        _ => name,
    }
}

/// Finds a value among the records `LENGTH KEY=VALUE\n` of POSIX.1-2001.
fn attribute<'a>(mut records: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut found = None;
    while !records.is_empty() {
        let blank = records.iter().position(|b| *b == b' ')?;
        let length: usize = std::str::from_utf8(records.get(..blank)?).ok()?.parse().ok()?;
        let record = records.get(blank + 1..length)?.strip_suffix(b"\n")?;
        let equals = record.iter().position(|b| *b == b'=')?;
        if record.get(..equals)? == key {
            found = record.get(equals + 1..);
        }
        records = records.get(length..)?;
    }
    found
}

#[cfg(test)]
mod tests;
