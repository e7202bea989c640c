//! Decompresses gzip data into memory, with a limit: a small file may decompress to any size.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use flate2::bufread::{GzDecoder, MultiGzDecoder};

use super::{IoError, Progress};
use crate::memory::{MemoryError, MemoryLimit};

/// Whether the data starts like gzip, whatever the file name.
pub(super) fn is_gzip(data: &[u8]) -> bool {
    data.starts_with(&[0x1f, 0x8b])
}

/// The decompressed data of all members of a gzip file. Zero bytes after the last one are padding, as tapes
/// and block devices leave it.
struct Members<'a> {
    decoder: GzDecoder<&'a [u8]>,
}

impl<'a> Members<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self { decoder: GzDecoder::new(data) }
    }

    /// The data not yet read.
    fn rest(&self) -> &'a [u8] {
        self.decoder.get_ref()
    }
}

impl Read for Members<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.decoder.read(out)?;
            let rest = self.rest();
            if read > 0 || out.is_empty() || rest.iter().all(|byte| *byte == 0) {
                return Ok(read);
            }
            self.decoder = GzDecoder::new(rest);
        }
    }
}

/// A stream of decompressed data at the pace of its reader; its errors are [`IoError`]s wrapped in the
/// system's.
pub(super) struct Gunzip<'a, 'p> {
    decoder: Members<'a>,
    data: &'a [u8],
    consumed: usize,
    decompressed: u64,
    progress: Progress<'p>,
}

impl<'a, 'p> Gunzip<'a, 'p> {
    pub(super) fn new(data: &'a [u8], progress: Progress<'p>) -> Self {
        let decoder = Members::new(data);
        Self { decoder, data, consumed: 0, decompressed: 0, progress }
    }

    fn read_or_why(&mut self, out: &mut [u8]) -> Result<usize, IoError> {
        self.progress.check()?;
        let read = self.decoder.read(out);
        let now = self.data.len() - self.decoder.rest().len();
        self.progress.advance(now - self.consumed);
        self.consumed = now;
        match read {
            Ok(bytes) => {
                self.decompressed += bytes as u64;
                Ok(bytes)
            }
            Err(error) => Err(IoError::Gzip { decompressed: self.decompressed, error }),
        }
    }
}

impl Read for Gunzip<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.read_or_why(out).map_err(std::io::Error::other)
    }
}

/// Decompresses gzip data to its end, or until it exceeds `most` bytes, and discards it; returns the number
/// of bytes. Fails on data that is truncated or does not match its checksums.
pub fn check_gzip(
    input: &mut dyn BufRead,
    most: u64,
    progress: Progress<'_>,
) -> Result<u64, IoError> {
    let mut decoder = MultiGzDecoder::new(input);
    let mut block = vec![0; 1 << 16];
    let mut decompressed = 0;
    loop {
        progress.check()?;
        match decoder.read(&mut block) {
            Ok(0) => return Ok(decompressed),
            Ok(_) if decompressed > most => return Ok(decompressed),
            Ok(bytes) => decompressed += bytes as u64,
            Err(error) => return Err(IoError::Gzip { decompressed, error }),
        }
    }
}

/// The first bytes of the decompressed data, at most 512; fewer if an error comes first.
pub(super) fn peek(data: &[u8]) -> Vec<u8> {
    let mut start = Vec::new();
    // Errors in the data are reported when all of it is read.
    let _ = Members::new(data).take(512).read_to_end(&mut start);
    start
}

/// Appends the next block of decompressed data to `text`; returns its length, 0 at the end. Fails before the
/// text exceeds `limit`.
pub(super) fn next_block(
    decoder: &mut dyn Read,
    text: &mut Vec<u8>,
    limit: MemoryLimit,
) -> Result<std::io::Result<usize>, MemoryError> {
    const BLOCK: u64 = 1 << 20;
    let needed = text.len() as u128 + u128::from(BLOCK);
    limit.check("the decompressed file", needed)?;
    if needed > text.capacity() as u128 {
        // Double the capacity, as vectors grow, but never beyond the limit.
        let room = (2 * text.capacity() as u128).min(limit.get().into()).max(needed);
        text.reserve_exact(room as usize - text.len());
    }
    Ok(decoder.take(BLOCK).read_to_end(text))
}

/// Decompresses all members of a gzip file, one block per step; also returns the number of zero bytes after
/// them. Fails before the result exceeds `limit`.
async fn decompress(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Vec<u8>, usize), IoError> {
    let mut decoder = Members::new(data);
    let mut text = Vec::new();
    let mut consumed = 0;
    loop {
        progress.rest().await?;
        let read = next_block(&mut decoder, &mut text, limit)?;
        let now = data.len() - decoder.rest().len();
        progress.advance(now - consumed);
        consumed = now;
        match read {
            Ok(0) => {
                let padding = decoder.rest().len();
                progress.advance(padding);
                return Ok((text, padding));
            }
            Ok(_) => {}
            Err(error) => return Err(IoError::Gzip { decompressed: text.len() as u64, error }),
        }
    }
}

/// What is left of a limit after a text was decompressed into memory.
#[expect(clippy::ptr_arg, reason = "only an owned text takes memory")]
pub(super) fn beside(text: &Cow<'_, [u8]>, limit: MemoryLimit) -> MemoryLimit {
    match text {
        Cow::Owned(text) => MemoryLimit::bytes(limit.get().saturating_sub(text.len() as u64)),
        Cow::Borrowed(_) => limit,
    }
}

/// A text without its UTF-8 byte order mark.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Returns the text in `data` without a byte order mark, and the progress that
/// remains to be reported: gzip data is counted during decompression, which takes longer than parsing; also a
/// warning about what was ignored.
pub(super) async fn decompressed<'a, 'p>(
    data: &'a [u8],
    limit: MemoryLimit,
    progress: Progress<'p>,
) -> Result<(Cow<'a, [u8]>, Progress<'p>, Option<String>), IoError> {
    if is_gzip(data) {
        let (mut text, padding) = decompress(data, limit, progress).await?;
        let mark = text.len() - without_mark(&text).len();
        text.drain(..mark);
        let warning = format!("{padding} zero bytes after the end of the gzip data were ignored");
        Ok((Cow::Owned(text), progress.uncounted(), (padding > 0).then_some(warning)))
    } else {
        let text = without_mark(data);
        progress.advance(data.len() - text.len());
        Ok((Cow::Borrowed(text), progress, None))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::pace::at_once;

    fn compress(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn decompressed(data: &[u8], limit: u64) -> Result<Vec<u8>, IoError> {
        let limit = MemoryLimit::bytes(limit);
        at_once(decompress(data, limit, Progress::none())).map(|(text, _)| text)
    }

    #[test]
    fn all_members_of_a_file_are_read() {
        let two = [compress(b"one "), compress(b"two")].concat();
        assert_eq!(decompressed(&two, 2 << 20).unwrap(), b"one two");
        // Zeros after them are padding, anything else is not.
        let padded = [&two[..], &[0; 300]].concat();
        let limit = MemoryLimit::bytes(2 << 20);
        let read = at_once(decompress(&padded, limit, Progress::none())).unwrap();
        assert_eq!(read, (b"one two".to_vec(), 300));
        assert_eq!(peek(&padded), b"one two");
        for end in [&b"x"[..], b"\0\0x", b"\0\x1f\x8b"] {
            let error = decompressed(&[&two[..], end].concat(), 2 << 20).unwrap_err().to_string();
            assert!(error.contains("followed by other bytes"), "{error}");
        }
    }

    #[test]
    fn a_decompression_bomb_stops_at_the_memory_limit() {
        let bomb = compress(&vec![b' '; 64 << 20]);
        assert!(bomb.len() < 1 << 20);
        let error = decompressed(&bomb, 8 << 20).unwrap_err().to_string();
        assert!(error.contains("the decompressed file needs 9437184 bytes"), "{error}");
    }

    #[test]
    fn the_room_for_a_text_stays_within_the_limit_and_what_is_made_of_it_has_the_rest() {
        let data = compress(&vec![b' '; 40 << 20]);
        let limit = MemoryLimit::bytes(48 << 20);
        let text = decompressed(&data, limit.get()).unwrap();
        assert_eq!(text.len(), 40 << 20);
        assert!(text.capacity() as u64 <= limit.get(), "{}", text.capacity());
        assert_eq!(beside(&Cow::Owned(text), limit).get(), 8 << 20);
        assert_eq!(beside(&Cow::Borrowed(&data[..]), limit), limit);
    }

    #[test]
    fn cut_off_and_damaged_data_are_named_as_such() {
        let mut data = compress("3 1 4 1 5 9 2 6 5 3 5\n".repeat(1000).as_bytes());
        assert_eq!(check_gzip(&mut &data[..], u64::MAX, Progress::none()).unwrap(), 22_000);
        assert!(check_gzip(&mut &data[..data.len() - 1], u64::MAX, Progress::none()).is_err());
        let cut = decompressed(&data[..data.len() - 9], 2 << 20).unwrap_err().to_string();
        assert!(cut.starts_with("the gzip data is damaged, truncated"), "{cut}");
        let checksum = data.len() - 6;
        data[checksum] ^= 1;
        assert!(matches!(decompressed(&data, 2 << 20), Err(IoError::Gzip { .. })));
        assert!(check_gzip(&mut &data[..], u64::MAX, Progress::none()).is_err());
    }
}
