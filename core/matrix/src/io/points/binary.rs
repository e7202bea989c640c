//! The binary form of points: a header, then the coordinates as in memory.

use crate::io::{IoError, Progress};
use crate::matrix::{Points, PointsExtent};
use crate::memory::MemoryLimit;

/// The first bytes of the file.
pub(super) const MAGIC: [u8; 8] = *b"SSPOINTS";

/// The version that is written, and the newest that is read.
pub(super) const VERSION: u32 = 1;

/// Bytes of magic, version, D and N.
const HEADER: usize = 24;

/// Coordinates read between checks for cancellation.
const WAVE: usize = 1 << 16;

/// Whether the data begins like a file of this form.
pub(super) fn is_meant(data: &[u8]) -> bool {
    data.starts_with(&MAGIC)
}

/// The header for this many points and dimensions.
pub(super) fn header(dimensions: u32, points: u64) -> Vec<u8> {
    let numbers = [&VERSION.to_le_bytes()[..], &dimensions.to_le_bytes(), &points.to_le_bytes()];
    [&MAGIC[..], &numbers.concat()].concat()
}

/// The sizes that the header declares.
pub(super) fn extent(data: &[u8]) -> Result<PointsExtent, IoError> {
    let short = || {
        let found = data.len();
        IoError::Points(format!(
            "expected a binary point file with a header of {HEADER} bytes, found {found} bytes"
        ))
    };
    let header = data.first_chunk::<HEADER>().ok_or_else(short)?;
    let [_, _, version, dimensions, low, high] = words(header);
    if version != VERSION {
        return Err(IoError::Points(format!(
            "expected version {VERSION} of the binary point format, found {version}"
        )));
    }
    if dimensions == 0 {
        let why = "expected at least 1 dimension in the binary point file, found 0";
        return Err(IoError::Points(why.to_owned()));
    }
    let points = u64::from(high) << 32 | u64::from(low);
    Ok(PointsExtent { dimensions: dimensions.into(), points, estimated: false })
}

/// The header as words of four bytes.
fn words(header: &[u8; HEADER]) -> [u32; HEADER / 4] {
    let (words, _) = header.as_chunks::<4>();
    let mut found = [0; HEADER / 4];
    found.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
    found
}

/// Reads the whole file.
pub(super) fn read(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
    let PointsExtent { dimensions, points, .. } = extent(data)?;
    let content = data.get(HEADER..).unwrap_or_default();
    let (expected, found) = (u128::from(dimensions) * u128::from(points) * 8, content.len());
    if expected != found as u128 {
        return Err(IoError::Points(format!(
            "expected {expected} bytes after the header of the binary point file, for {points} points in {dimensions} dimensions, found {found}"
        )));
    }
    limit.check(format!("{points} points in {dimensions} dimensions"), expected)?;
    let mut coordinates = Vec::with_capacity(found / 8);
    let (values, _) = content.as_chunks::<8>();
    for wave in values.chunks(WAVE) {
        progress.check()?;
        coordinates.extend(wave.iter().map(|bytes| f64::from_le_bytes(*bytes)));
    }
    Ok(Points::new(usize::try_from(dimensions).unwrap_or(usize::MAX), coordinates)?)
}
