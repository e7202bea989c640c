//! Dense vectors: Matrix Market files, plain text with one number per line, and arrays and vectors of NumPy,
//! MATLAB, HDF5, PETSc and hypre.

use std::io::Write;

use crate::parallel::*;

use super::error::quoted;
#[cfg(feature = "hdf5")]
use super::hdf5;
use super::matrix_market::{self, Announced, Header, banners};
use super::scan::Cursor;
use super::triplet_text::has_banner;
use super::unpack::{Layers, Unpacked, beside, unpack};
use super::{IoError, Progress, boeing, foreign, hypre, matlab, numpy, petsc, tar, zipped};
use crate::memory::MemoryLimit;
use crate::pace::at_once;

#[cfg(test)]
mod tests;

/// Reads a vector, or a column of an array, from decompressed data, if it has the reader's form.
type ReadStored =
    fn(&[u8], Option<u32>, MemoryLimit, Progress<'_>) -> Option<Result<Vec<f64>, IoError>>;

/// The forms that are looked for before text.
const STORED: &[ReadStored] = &[
    #[cfg(feature = "hdf5")]
    hdf5::vector,
    numpy::vector,
    matlab::vector,
    petsc::read_vector,
    hypre::read_vector,
];

/// Reads a dense vector from a Matrix Market file with one row or one column (missing elements of a
/// `coordinate` file are 0), from plain text with one number per line, where blank lines and lines that start
/// with `%` are skipped, or from a file of NumPy, MATLAB, HDF5, PETSc or hypre. Compressed data is decompressed
/// first.
pub fn read_bytes(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<f64>, IoError> {
    read_column(data, None, limit, progress).map(|file| file.values)
}

/// A vector and what a user should know about how it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VectorFile {
    /// The elements.
    pub values: Vec<f64>,
    /// Warnings for the user: rounded integers, a misspelled banner, and the like.
    pub warnings: Vec<String>,
}

impl From<Vec<f64>> for VectorFile {
    fn from(values: Vec<f64>) -> Self {
        Self { values, warnings: Vec::new() }
    }
}

/// Like [`read_bytes`]; with a column, counted from 1, reads that column of a Matrix Market file or NumPy array with
/// any number of columns.
pub fn read_column(
    data: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<VectorFile, IoError> {
    let Unpacked { member, text, progress, warnings, .. } =
        at_once(unpack("", data, limit, progress))?;
    let limit = beside(&text, limit);
    let stored = STORED.iter().find_map(|read| read(&text, column, limit, progress));
    let read = match stored {
        Some(read) => read.map(VectorFile::from),
        None => foreign::refuse(&text, "a vector")
            .and_then(|()| read_text(&text, column, limit, progress)),
    };
    let mut file = read.map_err(|error| error.in_member(member.as_deref()))?;
    file.warnings.splice(0..0, warnings);
    Ok(file)
}

/// A vector that may come with a matrix: in its archive, or after its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Companion {
    /// The right-hand side b.
    RightSide,
    /// The initial guess.
    Start,
}

impl Companion {
    /// What follows the name of the matrix in the name of the vector.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::RightSide => tar::RIGHT_SIDE,
            Self::Start => tar::START,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::RightSide => "a right-hand side",
            Self::Start => "an initial guess",
        }
    }
}

/// Reads a vector that comes with a matrix, or a column of it, from the data of the matrix: the member
/// `NAME/NAME_b.mtx` or `NAME_b.mtx` of a tar or zip archive (`_x0` or `_x` for the initial guess), the right-hand
/// side or solution that a line `%%AMGX 1 1 rhs solution` announces, that of a Harwell-Boeing file, the first
/// (second) Matrix Market file or vector of PETSc after the matrix in the same file, or the variable `b` or
/// `Problem.b` of a MATLAB or HDF5 file (`x0` or `x`).
pub fn read_companion(
    data: &[u8],
    (which, column): (Companion, Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<VectorFile, IoError> {
    if let Some(member) = zipped::vector(data, which.endings())? {
        let layers = Layers::of_member("", data, Some(member), limit, progress)?;
        let Unpacked { member, text, progress, .. } = at_once(layers.text(limit, progress))?;
        let read = read_text(&text, column, beside(&text, limit), progress);
        return read.map_err(|error| error.in_member(member.as_deref()));
    }
    let mut layers = Layers::of("", data, limit, progress)?;
    if tar::is_tar(&layers.start) {
        let tar::Member { name, content, .. } =
            tar::read_vector(&mut layers, which.endings(), limit)?;
        let limit = MemoryLimit::bytes(limit.get().saturating_sub(content.len() as u64));
        let progress = progress.uncounted();
        let read = at_once(unpack("", &content, limit, progress)).and_then(|unpacked| {
            let text = unpacked.text;
            read_text(&text, column, beside(&text, limit), progress)
        });
        return read.map_err(|error| error.in_member(Some(&name)));
    }
    let Unpacked { member, text, progress, .. } = at_once(layers.text(limit, progress))?;
    let limit = beside(&text, limit);
    let read = in_matrix_file(&text, (which, column), limit, progress);
    let read = read.map_err(|error| error.in_member(member.as_deref()))?;
    read.ok_or_else(|| IoError::NoVector(which.as_str()))
}

/// Reads the vector from the text of the file of the matrix, if it is there.
fn in_matrix_file(
    text: &[u8],
    (which, column): (Companion, Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<VectorFile>, IoError> {
    let names: Vec<&str> =
        which.endings().iter().map(|ending| ending.trim_start_matches('_')).collect();
    let read = matlab::companion(text, (names.as_slice(), column), limit, progress);
    #[cfg(feature = "hdf5")]
    let read = read.or_else(|| hdf5::companion(text, (names.as_slice(), column), limit, progress));
    if let Some(read) = read {
        return Ok(read?.map(VectorFile::from));
    }
    if boeing::is_meant("", text) {
        let wanted = (which == Companion::Start, column);
        let read = boeing::read_vector(text, wanted, limit, progress)?;
        return Ok(read.map(VectorFile::from));
    }
    let skipped = usize::from(which == Companion::Start);
    if petsc::is_meant("", text) {
        let read = petsc::read_companion(text, (skipped, column), limit, progress)?;
        return Ok(read.map(VectorFile::from));
    }
    foreign::refuse(text, "a matrix")?;
    let Ok(header) = Header::read(text) else { return Ok(None) };
    let announced = Announced::of(text, &header)?;
    let begin = announced.begin(text, &header);
    let place = |begin: usize| {
        let before = text.get(..begin).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() as u64
    };
    if announced != Announced::default() {
        let has = match which {
            Companion::RightSide => announced.rhs,
            Companion::Start => announced.solution,
        };
        if !has {
            return Ok(None);
        }
        if let Some(column) = column.filter(|column| *column != 1) {
            return Err(IoError::NoColumn { column: column.into(), cols: 1 });
        }
        let numbers = text.get(begin..).unwrap_or_default();
        let read = read_numbers(numbers, limit, progress);
        let VectorFile { mut values, warnings } =
            read.map_err(|error| error.further_down(0, place(begin)))?;
        let rows = header.rows as usize;
        let expected = rows as u128 * (u128::from(announced.rhs) + u128::from(announced.solution));
        if values.len() as u128 != expected {
            return Err(IoError::Unexpected {
                line: place(begin) + 1,
                expected: format!("{expected} numbers after the entries of the matrix"),
                found: values.len().to_string(),
            });
        }
        if which == Companion::Start && announced.rhs {
            values.drain(..rows);
        }
        values.truncate(rows);
        return Ok(Some(VectorFile { values, warnings }));
    }
    let mut after = banners(text, &header).skip(skipped);
    let Some(begin) = after.next() else { return Ok(None) };
    let end = after.next().unwrap_or(text.len());
    let array = text.get(begin..end).unwrap_or_default();
    let read = matrix_market::read_vector(array, column, limit, progress);
    let read = read.map(|(values, warnings)| Some(VectorFile { values, warnings }));
    read.map_err(|error| error.further_down(0, place(begin)))
}

fn read_text(
    text: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<VectorFile, IoError> {
    let is_number = |b: &u8| b.is_ascii_digit() || b"+-.%iInN".contains(b);
    let start = text.trim_ascii_start();
    if has_banner(start) || !start.first().is_none_or(is_number) {
        // Not plain numbers: the Matrix Market reader reports what is wrong.
        let (values, warnings) = matrix_market::read_vector(text, column, limit, progress)?;
        return Ok(VectorFile { values, warnings });
    }
    match column {
        None | Some(1) => read_numbers(text, limit, progress),
        Some(column) => Err(IoError::NoColumn { column: column.into(), cols: 1 }),
    }
}

fn read_numbers(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<VectorFile, IoError> {
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    limit.check("the vector", lines as u128 * 8)?;
    let mut values = Vec::with_capacity(lines);
    let mut overflowed = 0;
    let mut cursor = Cursor::new(text);
    while cursor.next_record() {
        let value = cursor.real().ok_or("a number");
        let value = value.and_then(|v| {
            overflowed += u64::from(v.overflowed);
            if cursor.end_of_line() { Ok(v.value) } else { Err("one number per line") }
        });
        let value = value.map_err(|expected| {
            let read = text.get(..text.len() - cursor.remaining()).unwrap_or_default();
            IoError::Unexpected {
                line: memchr::memchr_iter(b'\n', read).count() as u64 + 1,
                expected: expected.to_owned(),
                found: quoted(cursor.token()),
            }
        })?;
        values.push(value);
        if values.len() % (1 << 16) == 0 {
            progress.check()?;
        }
    }
    progress.advance(text.len());
    Ok(VectorFile { values, warnings: matrix_market::overflow(overflowed).into_iter().collect() })
}

/// Writes `values` as Matrix Market `array real general` of this many columns, with 17 significant digits, so that
/// they read back bit for bit. They are given row by row: the file has them column by column.
pub fn write_columns(
    values: &[f64],
    columns: usize,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    const CHUNK: usize = 1 << 14;
    const WAVE: usize = 32;
    let count = values.len();
    let rows = count.checked_div(columns).unwrap_or(0);
    let at = |place: usize| {
        let (column, row) = (place / rows.max(1), place % rows.max(1));
        values.get(row * columns + column).copied().unwrap_or_default()
    };
    let put = |out: &mut dyn Write, text: &[u8]| {
        out.write_all(text).map_err(|error| IoError::System { doing: "write", error })
    };
    let header = format!("%%MatrixMarket matrix array real general\n{rows} {columns}\n");
    put(out, header.as_bytes())?;
    let chunks = count.div_ceil(CHUNK);
    for wave in (0..chunks).step_by(WAVE) {
        let texts: Vec<String> = (wave..chunks.min(wave + WAVE))
            .into_par_iter()
            .map(|chunk| {
                let places = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
                places.map(|place| format!("{}\n", scientific(at(place)))).collect()
            })
            .collect();
        for text in texts {
            progress.check()?;
            put(out, text.as_bytes())?;
            progress.advance(text.len());
        }
    }
    Ok(())
}

/// Formats like C's `%.16e`: 17 significant digits, an exponent with a sign and at least two
/// digits.
fn scientific(value: f64) -> String {
    let text = format!("{value:.16e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        // NaN, inf, -inf.
        None => text,
    }
}
