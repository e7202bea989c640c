//! The first lines of a text, up to the sizes of its matrix.

use std::io::{BufRead, BufReader, Read};

/// The first bytes of a Matrix Market file.
pub(super) const BANNER: &[u8] = b"%%MatrixMarket";

/// Maximum bytes of comments before the sizes: hundreds of times more than in the largest files of
/// the collection.
const LONGEST: u64 = 64 << 20;

/// The lines of a text up to and including the size line, the first that is neither a comment nor
/// blank.
pub(super) fn first_lines(input: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut lines = BufReader::new(input.take(LONGEST));
    let mut text = Vec::new();
    loop {
        let line = text.len();
        let end = lines.read_until(b'\n', &mut text)?;
        let is_comment = match text.get(line..).unwrap_or_default().trim_ascii_start() {
            [] | [b'%', ..] => true,
            [_, ..] => false,
        };
        if end == 0 || !is_comment {
            return Ok(text);
        }
    }
}

/// Whether `text` ends with a complete line that is neither a comment nor blank.
pub(super) fn holds_sizes(text: &[u8]) -> bool {
    let Some(lines) = text.strip_suffix(b"\n") else { return false };
    let last = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    !matches!(last.trim_ascii_start(), [] | [b'%', ..])
}
