//! Peels layers of compression off a file, with a limit: a small file may decompress to any size.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::file_forms::inner_name;
use super::layer::{Kind, Layer, Source};
use super::tar::unreadable;
use super::{IoError, Progress, zipped};
use crate::memory::MemoryLimit;

/// Number of layers that are peeled off.
const MOST_LAYERS: usize = 4;
/// Number of bytes by which compressed data is recognized; a tar archive needs all of them.
const START: u64 = 512;

/// The data of a file, counted as it is read.
struct Counted<'a> {
    rest: &'a [u8],
    progress: Progress<'a>,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.rest.read(out)?;
        self.progress.advance(read);
        Ok(read)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(self.rest)
    }

    fn consume(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.progress.advance(bytes);
    }
}

/// A file below all its layers of compression, decompressed as it is read; its errors are [`IoError`]s wrapped
/// in the system's.
pub(super) struct Layers<'a> {
    /// The name of the file without the endings of compressed files.
    pub(super) name: String,
    /// The name of the file in its archive, if it is in one.
    pub(super) member: Option<String>,
    /// The first bytes, at least 512 unless there are fewer: all of a file that is not compressed.
    pub(super) start: Cow<'a, [u8]>,
    input: Source<'a>,
    /// Number of zero bytes that follow the data of each layer.
    padding: Vec<(Kind, Arc<AtomicU64>)>,
    warning: Option<String>,
}

impl<'a> Layers<'a> {
    /// Counts the bytes of the file, as stored, when they are read.
    pub(super) fn of(
        name: &str,
        data: &'a [u8],
        limit: MemoryLimit,
        progress: Progress<'a>,
    ) -> Result<Self, IoError> {
        Self::of_member(name, data, zipped::member(data)?, limit, progress)
    }

    /// The same for this file of a zip archive, or for data that is not one.
    pub(super) fn of_member(
        name: &str,
        data: &'a [u8],
        member: Option<zipped::Member<'a>>,
        limit: MemoryLimit,
        progress: Progress<'a>,
    ) -> Result<Self, IoError> {
        let (name, rest) = match &member {
            Some(member) => (member.name.as_str(), member.content),
            None => (name, data),
        };
        let name = inner_name(name).to_owned();
        let input: Source<'a> = Box::new(Counted { rest, progress });
        let (start, padding) = (Cow::Borrowed(data), Vec::new());
        let mut layers = Self { name, member: None, start, input, padding, warning: None };
        if let Some(member) = member {
            progress.advance(data.len() - rest.len());
            layers.warning = member.warning;
            let how = (member.is_deflated, member.checksum);
            layers.member = Some(member.name);
            layers.peel(|input| Layer::of_zip(input, how, limit, progress));
        }
        for _ in 0..MOST_LAYERS {
            let Some(kind) = Kind::of(&layers.start) else { return Ok(layers) };
            let padding = Arc::new(AtomicU64::new(0));
            layers.padding.push((kind, Arc::clone(&padding)));
            layers.peel(|input| Layer::new(kind, input, padding, limit, progress));
        }
        match Kind::of(&layers.start) {
            None => Ok(layers),
            Some(_) => Err(IoError::Archive(format!(
                "expected at most {MOST_LAYERS} layers of compression, found more"
            ))
            .in_member(layers.member.as_deref())),
        }
    }

    fn peel(&mut self, layer: impl FnOnce(Source<'a>) -> Layer<'a>) {
        let mut layer = layer(std::mem::replace(&mut self.input, Box::new(std::io::empty())));
        let mut start = Vec::new();
        // An error comes again when the rest is read.
        let _ = layer.by_ref().take(START).read_to_end(&mut start);
        self.start = Cow::Owned(start.clone());
        self.input = Box::new(Cursor::new(start).chain(BufReader::with_capacity(1 << 16, layer)));
    }

    /// What was ignored, once everything is read.
    pub(super) fn warnings(&self) -> Vec<String> {
        let zeros = |(kind, padding): &(Kind, Arc<AtomicU64>)| {
            let (kind, zeros) = (kind.as_str(), padding.load(Ordering::Relaxed));
            let (bytes, were) = if zeros == 1 { ("byte", "was") } else { ("bytes", "were") };
            let warning =
                format!("{zeros} zero {bytes} after the end of the {kind} data {were} ignored");
            (zeros > 0).then_some(warning)
        };
        self.warning.iter().cloned().chain(self.padding.iter().filter_map(zeros)).collect()
    }

    /// All of the text without a byte order mark, one block per step, and the progress that remains to be
    /// reported: compressed data is counted during decompression, which takes longer than parsing. Fails
    /// before the text exceeds `limit`.
    pub(super) async fn text(
        mut self,
        limit: MemoryLimit,
        progress: Progress<'a>,
    ) -> Result<Unpacked<'a>, IoError> {
        if let Cow::Borrowed(data) = self.start {
            let text = without_mark(data);
            progress.advance(data.len() - text.len());
            let (name, member, text) = (self.name, self.member, Cow::Borrowed(text));
            return Ok(Unpacked { name, member, text, progress, warnings: Vec::new() });
        }
        let text = self.decompressed(limit, progress).await;
        let mut text = text.map_err(|error| error.in_member(self.member.as_deref()))?;
        let mark = text.len() - without_mark(&text).len();
        text.drain(..mark);
        let (warnings, text, progress) = (self.warnings(), Cow::Owned(text), progress.uncounted());
        Ok(Unpacked { name: self.name, member: self.member, text, progress, warnings })
    }

    async fn decompressed(
        &mut self,
        limit: MemoryLimit,
        progress: Progress<'a>,
    ) -> Result<Vec<u8>, IoError> {
        const BLOCK: u64 = 1 << 20;
        let mut text = Vec::new();
        loop {
            progress.rest().await?;
            reserve(&mut text, BLOCK, "the decompressed file", limit)?;
            let block = self.input.by_ref().take(BLOCK).read_to_end(&mut text);
            if block.map_err(unreadable)? == 0 {
                return Ok(text);
            }
        }
    }
}

impl Read for Layers<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.input.read(out)
    }
}

/// The text of a file, decompressed.
pub(super) struct Unpacked<'a> {
    /// The name of the file without the endings of compressed files.
    pub(super) name: String,
    /// The name of the file in its archive, if it is in one, for errors.
    pub(super) member: Option<String>,
    pub(super) text: Cow<'a, [u8]>,
    /// The progress that remains to be reported.
    pub(super) progress: Progress<'a>,
    /// What was ignored.
    pub(super) warnings: Vec<String>,
}

/// Decompresses a file called `name`, or returns its data as it is; see [`Layers::text`].
pub(super) async fn unpack<'a>(
    name: &str,
    data: &'a [u8],
    limit: MemoryLimit,
    progress: Progress<'a>,
) -> Result<Unpacked<'a>, IoError> {
    Layers::of(name, data, limit, progress)?.text(limit, progress).await
}

/// Makes room for more bytes of `what`: doubles the capacity, as vectors grow, but never beyond the limit.
pub(super) fn reserve(
    text: &mut Vec<u8>,
    more: u64,
    what: &str,
    limit: MemoryLimit,
) -> Result<(), IoError> {
    let needed = text.len() as u128 + u128::from(more);
    limit.check(what, needed)?;
    if needed > text.capacity() as u128 {
        let room = (2 * text.capacity() as u128).min(limit.get().into()).max(needed);
        text.reserve_exact(room as usize - text.len());
    }
    Ok(())
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

#[cfg(test)]
mod tests;
