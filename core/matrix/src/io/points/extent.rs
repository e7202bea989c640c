//! Reads the sizes of a point set from the beginning of its file.

use std::borrow::Cow;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Columns, HeaderLine, binary, table, text};
use crate::io::tar::unreadable;
use crate::io::unpack::{Layers, unpack};
use crate::io::{IoError, Progress, foreign, numpy};
use crate::matrix::PointsExtent;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// Number of bytes read.
const BEGINNING: usize = 1 << 20;

/// The beginning of a file.
struct Beginning<'a> {
    /// The name of the file without the endings of compressed files.
    name: String,
    /// The name of the file in its archive, if it is in one.
    member: Option<String>,
    text: Cow<'a, [u8]>,
    /// Ratio of the length of the whole text to this part; 1 if this is all.
    times: f64,
    /// The error that cut it short, if it does not end at the end of the file.
    failed: Option<IoError>,
}

impl<'a> Beginning<'a> {
    fn of(name: &str, data: &'a [u8]) -> Result<Self, IoError> {
        let consumed = AtomicU64::new(0);
        let progress = Progress::none().counting(&consumed);
        let mut layers = Layers::of(name, data, MemoryLimit::of_machine(), progress)?;
        let (name, member) = (std::mem::take(&mut layers.name), layers.member.take());
        if let Cow::Borrowed(_) = layers.start {
            let text = data.get(..BEGINNING).unwrap_or(data);
            let times = data.len() as f64 / text.len().max(1) as f64;
            return Ok(Self { name, member, text: text.into(), times, failed: None });
        }
        let mut text = Vec::new();
        let read = layers.by_ref().take(BEGINNING as u64).read_to_end(&mut text);
        let failed = read.err().map(unreadable);
        let is_all = failed.is_none() && text.len() < BEGINNING;
        let consumed = consumed.load(Ordering::Relaxed).max(1);
        let times = if is_all { 1.0 } else { data.len() as f64 / consumed as f64 };
        Ok(Self { name, member, text: text.into(), times, failed })
    }
}

/// The numbers of dimensions and points that a file called `name` declares. CSV declares none; the
/// number of its points is estimated from the length of the first lines unless these are all. Anything
/// later in the file is ignored.
pub fn read_named_points_extent(name: &str, data: &[u8]) -> Result<PointsExtent, IoError> {
    read_points_extent_as(name, data, HeaderLine::Find)
}

/// Like [`read_named_points_extent`], where `header` says what the first line of CSV is.
pub fn read_points_extent_as(
    name: &str,
    data: &[u8],
    header: HeaderLine,
) -> Result<PointsExtent, IoError> {
    let Beginning { name: inner, member, text, times, failed } = Beginning::of(name, data)?;
    let in_member = |error: IoError| error.in_member(member.as_deref());
    let is_numpy = numpy::is_meant(&text);
    if !is_numpy {
        foreign::refuse(&text, "points").map_err(in_member)?;
    }
    let extent = if binary::is_meant(&text) {
        binary::extent(&text)
    } else if numpy::is_array(&text) {
        numpy::points_extent(&text)
    } else if is_numpy {
        // The directory of an archive is at its end.
        let (limit, progress) = (MemoryLimit::of_machine(), Progress::none());
        numpy::points_extent(&at_once(unpack(name, data, limit, progress))?.text)
    } else if table::is_meant(&inner, &text) {
        of_table(&text, header, times)
    } else {
        text::extent(&text)
    };
    // If an error cut the data short, report that error.
    extent.map_err(|error| in_member(failed.unwrap_or(error)))
}

fn of_table(text: &[u8], header: HeaderLine, times: f64) -> Result<PointsExtent, IoError> {
    let is_all = times == 1.0;
    let end = if is_all { None } else { memchr::memrchr(b'\n', text) };
    let lines = text.get(..end.map_or(text.len(), |end| end + 1)).unwrap_or_default();
    let how = (header, &Columns::default());
    let (points, ..) = table::read(lines, how, MemoryLimit::unlimited(), Progress::none())?;
    let share = text.len() as f64 / lines.len().max(1) as f64;
    Ok(PointsExtent {
        dimensions: points.dimensions() as u64,
        points: (points.len() as f64 * times * share).round() as u64,
        estimated: !is_all,
    })
}
