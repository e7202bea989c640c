//! Files of points in D dimensions, the input of the skyline operator.
//!
//! Text, as the program `rbox` writes it: a line that begins with D, followed by any text, a line with the
//! number of points N, then N lines of D numbers separated by blanks. CSV, for names that end in `.csv`,
//! `.csv.gz` or the like, and for others whose first line has commas or semicolons: one line of D numbers per
//! point, separated by commas, semicolons, tabs or blanks, with or without a header line of names. A binary
//! form for large sets, recognized by its first bytes: `SSPOINTS`, then, all little-endian, the version 1 and D as
//! `u32`, N as `u64`, and N × D coordinates as `f64`. A NumPy array of N rows and D columns (`.npy`, or the only
//! one of a `.npz`).

mod binary;
mod columns;
mod dialect;
mod extent;
#[cfg(not(target_family = "wasm"))]
mod rbox;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub use columns::{Chosen, Column, Columns};
pub use dialect::{HeaderLine, PointsTaken};
pub use extent::{read_named_points_extent, read_points_extent_as};
#[cfg(not(target_family = "wasm"))]
pub use rbox::rbox;
pub use write::{PointsForm, write, write_table, write_with_ids};

use super::unpack::{Unpacked, beside, unpack};
use super::{IoError, Progress, foreign, numpy};
use crate::matrix::Points;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// Reads the points of a file with this name, which determines whether it is CSV. Compressed data is
/// decompressed first.
pub fn read_named_points(
    name: &str,
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
    read_points_as(name, data, HeaderLine::Find, limit, progress).map(|(points, _)| points)
}

/// Like [`read_named_points`], also returning how the file was interpreted. `header` says what the first line
/// of CSV is.
pub fn read_points_as(
    name: &str,
    data: &[u8],
    header: HeaderLine,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Points, PointsTaken), IoError> {
    let read = read_columns(name, data, (header, &Columns::default()), limit, progress);
    read.map(|(points, taken, _)| (points, taken))
}

/// Like [`read_points_as`], for some columns of the file: the coordinates of the points are those compared.
pub fn read_columns(
    name: &str,
    data: &[u8],
    how: (HeaderLine, &Columns),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Points, PointsTaken, Chosen), IoError> {
    let mut unpacked = at_once(unpack(name, data, limit, progress))?;
    let member = unpacked.member.take();
    let read = read_unpacked(unpacked, how, limit);
    read.map_err(|error| error.in_member(member.as_deref()))
}

fn read_unpacked(
    Unpacked { name, text: data, progress, warnings, .. }: Unpacked<'_>,
    (header, columns): (HeaderLine, &Columns),
    limit: MemoryLimit,
) -> Result<(Points, PointsTaken, Chosen), IoError> {
    let is_numpy = numpy::is_meant(&data);
    if !is_numpy {
        foreign::refuse(&data, "points")?;
    }
    let limit = beside(&data, limit);
    let of_form = |form| PointsTaken { form, ..PointsTaken::default() };
    let unnamed = |points, form| {
        columns.of(points, limit).map(|(points, chosen)| (points, of_form(form), chosen))
    };
    let mut read = if binary::is_meant(&data) {
        unnamed(binary::read(&data, limit, progress)?, "binary")?
    } else if is_numpy {
        unnamed(numpy::points(&data, limit, progress)?, "npy")?
    } else if table::is_meant(&name, &data) {
        table::read(&data, (header, columns), limit, progress)?
    } else {
        unnamed(text::read(&data, limit, progress)?, "text")?
    };
    progress.advance(data.len());
    read.1.warnings.extend(warnings);
    Ok(read)
}
