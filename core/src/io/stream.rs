//! A compressed file whose lines one reader hands out to several, who do not hold what the others get.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::{IoError, Progress};

/// What all readers have to know of lines that were handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandedOut {
    /// The text up to the line with the sizes, and this.
    pub header: String,
    /// Of each reader the lines between that and its own.
    pub before: Vec<u64>,
}

/// Bytes of a header at most: comments may be long, but not without end.
const MOST_HEADER: usize = 16 << 20;

/// Bytes decompressed at a time.
const PIECE: usize = 1 << 20;

/// Whether a file begins as gzip does. Errors name the path.
pub fn is_compressed(path: &Path) -> Result<bool, IoError> {
    let open = |path: &Path| -> std::io::Result<bool> {
        let mut start = Vec::new();
        File::open(path)?.take(2).read_to_end(&mut start)?;
        Ok(super::gzip::is_gzip(&start))
    };
    open(path).map_err(|error| IoError::System { doing: "read it", error }.in_file(path))
}

/// Decompresses a file of Matrix Market twice: once to count, once to give each of so many readers, in turn, the lines
/// after the sizes that are about its share of the bytes. `give` is told a reader and a piece of its lines; the pieces of
/// a reader follow one another. Errors name the path.
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
            // The lines of a reader end with the first that ends at or after its share.
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
    // Readers that got nothing come after all lines.
    before.iter_mut().skip(reader + 1).for_each(|before| *before = lines);
    let header = String::from_utf8_lossy(&header).into_owned();
    Ok(HandedOut { header, before })
}

/// The lines up to the first that is neither empty nor a comment, which has the sizes, and this.
#[derive(Default)]
struct Header {
    text: Vec<u8>,
    /// Whether the line at the end is one that has the sizes.
    has_sizes: bool,
    at_begin: bool,
    is_whole: bool,
}

impl Header {
    /// Takes of a piece what belongs to the header; the rest comes back.
    fn take<'p>(&mut self, piece: &'p [u8]) -> Result<&'p [u8], IoError> {
        if self.is_whole {
            return Ok(piece);
        }
        for (at, &byte) in piece.iter().enumerate() {
            if self.text.len() == MOST_HEADER {
                let expected = format!("the sizes within the first {MOST_HEADER} bytes");
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

/// Hands over what a gzip file decompresses to, piece by piece.
fn decompressed(
    path: &Path,
    progress: Progress<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<(), IoError>,
) -> Result<(), IoError> {
    let file = File::open(path).map_err(|error| IoError::System { doing: "read it", error })?;
    let mut decoder = MultiGzDecoder::new(BufReader::with_capacity(PIECE, file));
    let (mut piece, mut decompressed) = (vec![0; PIECE], 0u64);
    loop {
        progress.check()?;
        match decoder.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(bytes) => {
                decompressed += bytes as u64;
                take(piece.get(..bytes).unwrap_or_default())?;
            }
            Err(error) => return Err(IoError::Gzip { decompressed, error }),
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
            out.finish().unwrap();
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
