//! A compressed file whose lines one reader distributes to several, each of which keeps only its own.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::layer::{Kind, Layer};
use super::tar::unreadable;
use super::{IoError, Progress};
use crate::memory::MemoryLimit;

/// What all readers need to know about distributed lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandedOut {
    /// The text up to and including the size line.
    pub header: String,
    /// For each reader, the number of lines between the size line and its own lines.
    pub before: Vec<u64>,
}

/// Maximum bytes of a header: comments may be long, but not endless.
const MOST_HEADER: usize = 16 << 20;

/// Bytes decompressed at a time.
const PIECE: usize = 1 << 20;

/// Whether a file begins like gzip, bzip2, xz or Zstandard data. Errors name the path.
pub fn is_compressed(path: &Path) -> Result<bool, IoError> {
    let open = |path: &Path| -> std::io::Result<bool> {
        let mut start = Vec::new();
        File::open(path)?.take(16).read_to_end(&mut start)?;
        Ok(Kind::of(&start).is_some())
    };
    open(path).map_err(|error| IoError::System { doing: "read it", error }.in_file(path))
}

/// Decompresses a Matrix Market file twice: once to count, once to give each of this many readers, in turn,
/// about its share of the bytes after the sizes, in whole lines. `give` is called with a reader and a piece
/// of its lines; the pieces of a reader are contiguous. Errors name the path.
pub fn hand_out(
    path: &Path,
    readers: usize,
    progress: Progress<'_>,
    give: &mut dyn FnMut(usize, &[u8]),
) -> Result<HandedOut, IoError> {
    handed_out(path, readers, progress, give).map_err(|error| error.in_file(path))
}

fn handed_out(
    path: &Path,
    readers: usize,
    progress: Progress<'_>,
    give: &mut dyn FnMut(usize, &[u8]),
) -> Result<HandedOut, IoError> {
    let mut header = Header::default();
    let mut body = 0u64;
    decompressed(path, progress, &mut |piece| {
        let rest = header.take(piece)?;
        body += rest.len() as u64;
        Ok(())
    })?;
    let header = header.text;

    let mut skipped = 0;
    let (mut reader, mut given, mut lines) = (0, 0u64, 0u64);
    let mut before = vec![0u64; readers];
    let end = |reader: usize| (u128::from(body) * (reader as u128 + 1) / readers as u128) as u64;
    decompressed(path, progress, &mut |piece| {
        let skip = (header.len() - skipped).min(piece.len());
        skipped += skip;
        let mut rest = piece.get(skip..).unwrap_or_default();
        while !rest.is_empty() {
            // The lines of a reader end with the first one that ends at or after the end of its share.
            let least = end(reader).saturating_sub(given + 1).min(rest.len() as u64) as usize;
            let line_end = memchr::memchr(b'\n', rest.get(least..).unwrap_or_default());
            let line_end = line_end.filter(|_| reader + 1 < readers);
            let (piece, after) = rest.split_at(line_end.map_or(rest.len(), |at| least + at + 1));
            give(reader, piece);
            given += piece.len() as u64;
            lines += memchr::memchr_iter(b'\n', piece).count() as u64;
            rest = after;
            while line_end.is_some() && reader + 1 < readers && given >= end(reader) {
                reader += 1;
                before.iter_mut().skip(reader).for_each(|before| *before = lines);
            }
        }
        Ok(())
    })?;
    // Readers without lines come after all lines.
    before.iter_mut().skip(reader + 1).for_each(|before| *before = lines);
    let header = String::from_utf8_lossy(&header).into_owned();
    Ok(HandedOut { header, before })
}

/// The lines up to and including the size line, the first that is neither empty nor a comment.
#[derive(Default)]
struct Header {
    text: Vec<u8>,
    /// Whether the last line is the size line.
    has_sizes: bool,
    at_begin: bool,
    is_whole: bool,
}

impl Header {
    /// Takes the part of a piece that belongs to the header and returns the rest.
    fn take<'p>(&mut self, piece: &'p [u8]) -> Result<&'p [u8], IoError> {
        if self.is_whole {
            return Ok(piece);
        }
        for (at, &byte) in piece.iter().enumerate() {
            if self.text.len() == MOST_HEADER {
                let expected = format!("a size line within the first {MOST_HEADER} bytes");
                return Err(IoError::Unexpected { line: 1, expected, found: "none".to_owned() });
            }
            self.text.push(byte);
            match byte {
                b'\n' if self.has_sizes => {
                    self.is_whole = true;
                    return Ok(piece.get(at + 1..).unwrap_or_default());
                }
                b'\n' => self.at_begin = true,
                b'%' if self.at_begin || self.text.len() == 1 => self.at_begin = false,
                byte if byte.is_ascii_whitespace() => {}
                _ => {
                    self.has_sizes |= self.at_begin;
                    self.at_begin = false;
                }
            }
        }
        Ok(&[])
    }
}

/// Passes on the decompressed content of a compressed file, piece by piece.
fn decompressed(
    path: &Path,
    progress: Progress<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let failed = |error| IoError::System { doing: "read it", error };
    let mut file = BufReader::with_capacity(PIECE, File::open(path).map_err(failed)?);
    let kind = Kind::of(file.fill_buf().map_err(failed)?).unwrap_or(Kind::Gzip);
    let limit = MemoryLimit::of_machine();
    let mut layer = Layer::new(kind, Box::new(file), Arc::default(), limit, progress);
    let mut piece = vec![0; PIECE];
    loop {
        match layer.read(&mut piece).map_err(unreadable)? {
            0 => return Ok(()),
            bytes => take(piece.get(..bytes).unwrap_or_default())?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn all_lines_are_handed_out_once_in_order_and_whole() {
        let header = "%%MatrixMarket matrix coordinate real general\n% 3 3 3\n\n 3 3 5\n";
        for body in ["1 1 1\n2 2 2\n3 3 3\n1 2 4\n1 3 5", "", "1 1 1\n", "\n\n1 1 1\n% a\n2 2 2\n"]
        {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.mtx.gz");
            let file = File::create(&path).unwrap();
            let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            out.write_all(header.as_bytes()).unwrap();
            out.write_all(body.as_bytes()).unwrap();
            out.finish().unwrap().write_all(&[0; 9]).unwrap();
            assert!(is_compressed(&path).unwrap());
            for readers in [1, 2, 3, 7, 40] {
                let mut parts = vec![Vec::new(); readers];
                let mut give = |k: usize, piece: &[u8]| parts[k].extend_from_slice(piece);
                let found = hand_out(&path, readers, Progress::none(), &mut give).unwrap();
                assert_eq!(found.header, header);
                assert_eq!(parts.concat(), body.as_bytes(), "{readers} readers");
                let mut lines = 0;
                for (k, part) in parts.iter().enumerate() {
                    assert_eq!(found.before[k], lines, "{readers} readers, {k}");
                    lines += part.iter().filter(|&&byte| byte == b'\n').count() as u64;
                    let rest: usize = parts[k + 1..].iter().map(Vec::len).sum();
                    assert!(part.is_empty() || rest == 0 || part.ends_with(b"\n"));
                }
            }
        }
    }
}
