//! One layer of compression, decompressed as it is read: gzip, bzip2, xz, Zstandard, or a file of a zip
//! archive.

use std::io::{BufRead, Error, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::BzDecoder;
use flate2::CrcReader;
use flate2::bufread::{DeflateDecoder, GzDecoder};
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::tar::unreadable;
use super::{IoError, Progress};
use crate::memory::MemoryLimit;

/// What a layer reads.
pub(super) type Source<'a> = Box<dyn BufRead + Send + 'a>;

/// Largest window of Zstandard data, as the program `zstd` allows it.
const MOST_WINDOW: u64 = 1 << 27;

/// Characters of a decoder's error that a message shows: some list all they have read.
const LONGEST_REASON: usize = 200;

/// A kind of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gzip,
    Bzip2,
    Xz,
    Zstandard,
    Zip,
}

impl Kind {
    /// The kind of the data that starts so, whatever the file name. A zip archive is not found: its files are
    /// chosen from its end.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // The digits of pi begin a block, those of its root end a stream without blocks.
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => {
                Some(Self::Bzip2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // The second begins a frame to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Self::Zstandard)
            }
            _ => None,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstandard => "Zstandard",
            Self::Zip => "zip",
        }
    }
}

/// Why data cannot be decompressed.
enum Failure {
    NoMemory,
    CutOff,
    Damaged(String),
}

impl Failure {
    fn of(error: &Error) -> Self {
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        match error.kind() {
            ErrorKind::OutOfMemory => Self::NoMemory,
            ErrorKind::UnexpectedEof => Self::CutOff,
            _ => Self::Damaged(error.to_string().chars().map(shown).take(LONGEST_REASON).collect()),
        }
    }
}

/// The error of a block of Zstandard data: that of reading it, else without the names that the decoder has for it.
fn bad_block(error: FrameDecoderError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<Error>() {
            return Error::new(error.kind(), error.to_string());
        }
        cause = error.source();
    }
    Error::other("a block is corrupt")
}

/// The decoder of a member (gzip), stream (bzip2), frame (Zstandard) or whole file.
enum Decoder<'a> {
    Gzip(Box<GzDecoder<Source<'a>>>),
    Bzip2(Box<BzDecoder<Source<'a>>>),
    /// All streams, and the padding between and after them.
    Xz(Box<XzReader<Source<'a>>>),
    Zstandard(Box<FrameDecoder>, Source<'a>),
    /// A file, and the checksum that it should have.
    Zip(CrcReader<Box<dyn Read + Send + 'a>>, u32),
}

impl Read for Decoder<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(out),
            Self::Bzip2(decoder) => decoder.read(out),
            Self::Xz(decoder) => decoder.read(out),
            Self::Zstandard(frame, source) => {
                while frame.can_collect() == 0 && !frame.is_finished() {
                    let one = BlockDecodingStrategy::UptoBlocks(1);
                    frame.decode_blocks(&mut *source, one).map_err(bad_block)?;
                }
                frame.read(out)
            }
            Self::Zip(file, _) => file.read(out),
        }
    }
}

/// The decompressed data of all members of a source; its errors are [`IoError`]s wrapped in the system's, and
/// come again when it is read again.
pub(super) struct Layer<'a> {
    kind: Kind,
    /// None at the end.
    decoder: Option<Decoder<'a>>,
    limit: MemoryLimit,
    progress: Progress<'a>,
    decompressed: u64,
    padding: Arc<AtomicU64>,
    failed: Option<Failure>,
}

impl<'a> Layer<'a> {
    /// The number of zero bytes after the last member is added to `padding`.
    pub(super) fn new(
        kind: Kind,
        source: Source<'a>,
        padding: Arc<AtomicU64>,
        limit: MemoryLimit,
        progress: Progress<'a>,
    ) -> Self {
        let decoder = match kind {
            Kind::Bzip2 => Decoder::Bzip2(Box::new(BzDecoder::new(source))),
            Kind::Xz => {
                let most = u32::try_from(limit.get() / 1024).unwrap_or(u32::MAX);
                Decoder::Xz(Box::new(XzReader::new_mem_limit(source, true, most)))
            }
            Kind::Zstandard => {
                let mut frame = FrameDecoder::new();
                frame.set_max_window_size(limit.get().min(MOST_WINDOW));
                Decoder::Zstandard(Box::new(frame), source)
            }
            Kind::Gzip | Kind::Zip => Decoder::Gzip(Box::new(GzDecoder::new(source))),
        };
        let decoder = Some(decoder);
        Self { kind, decoder, limit, progress, decompressed: 0, padding, failed: None }
    }

    /// The content of a file of a zip archive, with its CRC-32.
    pub(super) fn of_zip(
        content: Source<'a>,
        (is_deflated, checksum): (bool, u32),
        limit: MemoryLimit,
        progress: Progress<'a>,
    ) -> Self {
        let file: Box<dyn Read + Send + 'a> = match is_deflated {
            true => Box::new(DeflateDecoder::new(content)),
            false => Box::new(content),
        };
        let decoder = Some(Decoder::Zip(CrcReader::new(file), checksum));
        let padding = Arc::default();
        Self { kind: Kind::Zip, decoder, limit, progress, decompressed: 0, padding, failed: None }
    }

    /// The decoder of what follows a member that has ended, or None at the end.
    fn after(&self, ended: Decoder<'a>) -> std::io::Result<Option<Decoder<'a>>> {
        let damaged = |how: &str| Err(Error::new(ErrorKind::InvalidData, how));
        let (mut source, frame) = match ended {
            Decoder::Gzip(decoder) => (decoder.into_inner(), None),
            Decoder::Bzip2(decoder) => (decoder.into_inner(), None),
            Decoder::Zstandard(frame, source) => (source, Some(frame)),
            Decoder::Xz(_) => return Ok(None),
            Decoder::Zip(file, checksum) => match file.crc().sum() == checksum {
                true => return Ok(None),
                false => return damaged("its checksum does not match"),
            },
        };
        if let Some(frame) = &frame
            && let Some(checksum) = frame.get_checksum_from_data()
            && frame.get_calculated_checksum() != Some(checksum)
        {
            return damaged("its checksum does not match");
        }
        // Zero bytes after the last member are padding, as tapes and block devices leave it.
        let mut zeros = 0;
        loop {
            let next = source.fill_buf()?;
            if next.is_empty() {
                self.padding.fetch_add(zeros, Ordering::Relaxed);
                return Ok(None);
            }
            let leading = next.iter().take_while(|byte| **byte == 0).count();
            if leading < next.len() && zeros + leading as u64 > 0 {
                return damaged("other bytes follow the zero bytes after it");
            }
            if leading == 0 {
                // Those of Zstandard are looked at below.
                let is_member = match self.kind {
                    Kind::Gzip => next.first() == Some(&0x1f),
                    Kind::Bzip2 => next.first() == Some(&b'B'),
                    _ => true,
                };
                if !is_member {
                    return damaged("other bytes follow it");
                }
                break;
            }
            source.consume(leading);
            zeros += leading as u64;
        }
        Ok(Some(match (self.kind, frame) {
            (_, Some(mut frame)) => {
                begin_frame(&mut frame, &mut source)?;
                Decoder::Zstandard(frame, source)
            }
            (Kind::Bzip2, None) => Decoder::Bzip2(Box::new(BzDecoder::new(source))),
            (_, None) => Decoder::Gzip(Box::new(GzDecoder::new(source))),
        }))
    }

    fn next(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let read = decoder.read(out)?;
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            self.progress.check().map_err(Error::other)?;
            if let Some(ended) = self.decoder.take() {
                self.decoder = self.after(ended)?;
            }
        }
        Ok(0)
    }

    fn read_or_why(&mut self, out: &mut [u8]) -> Result<usize, IoError> {
        self.progress.check()?;
        if self.failed.is_none() {
            match self.next(out) {
                Ok(bytes) => {
                    self.decompressed += bytes as u64;
                    return Ok(bytes);
                }
                Err(error) => {
                    self.progress.check()?;
                    self.failed = Some(Failure::of(&error));
                }
            }
        }
        let (kind, decompressed) = (self.kind.as_str(), self.decompressed);
        let error = match &self.failed {
            Some(Failure::NoMemory) => {
                let limit = self.limit.get();
                return Err(IoError::Archive(format!(
                    "decompressing the {kind} data needs more memory than the limit of {limit} bytes allows"
                )));
            }
            Some(Failure::CutOff) => None,
            Some(Failure::Damaged(error)) => Some(error.clone()),
            None => return Ok(0),
        };
        Err(IoError::Compressed { kind, decompressed, error })
    }
}

impl Read for Layer<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.read_or_why(out).map_err(Error::other)
    }
}

/// Reads the header of a frame, or skips a frame that holds no data of the file.
fn begin_frame(frame: &mut FrameDecoder, source: &mut Source<'_>) -> std::io::Result<()> {
    match frame.init(&mut *source) {
        Ok(()) => Ok(()),
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
            length,
            ..
        })) => {
            let mut skipped = source.take(length.into());
            match std::io::copy(&mut skipped, &mut std::io::sink())? == u64::from(length) {
                true => Ok(()),
                false => Err(ErrorKind::UnexpectedEof.into()),
            }
        }
        Err(FrameDecoderError::ReadFrameHeaderError(_)) => {
            Err(Error::other("expected the header of a frame, found other bytes"))
        }
        Err(FrameDecoderError::WindowSizeTooBig { .. }) => Err(ErrorKind::OutOfMemory.into()),
        Err(error) => Err(Error::other(error)),
    }
}

/// Decompresses gzip data to its end, or until it exceeds `most` bytes, and discards it; returns the number
/// of bytes. Fails on data that is truncated or does not match its checksums.
pub fn check_gzip(
    input: &mut (dyn BufRead + Send),
    most: u64,
    progress: Progress<'_>,
) -> Result<u64, IoError> {
    let limit = MemoryLimit::of_machine();
    let mut layer = Layer::new(Kind::Gzip, Box::new(input), Arc::default(), limit, progress);
    let mut block = vec![0; 1 << 16];
    let mut decompressed = 0;
    loop {
        match layer.read(&mut block).map_err(unreadable)? {
            0 => return Ok(decompressed),
            _ if decompressed > most => return Ok(decompressed),
            bytes => decompressed += bytes as u64,
        }
    }
}
