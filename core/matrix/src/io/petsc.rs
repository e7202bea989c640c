//! Binary files of PETSc: big-endian objects, one after another. A matrix is its class, rows, columns and
//! nonzeros, then the length of each row, the columns and the values; or, with -1 nonzeros, dense values row by
//! row. A vector is its class, length and values. The first bytes show how wide integers are; how wide values
//! are follows from where the next object begins, and their type from what they would be.

mod kind;
#[cfg(test)]
mod tests;
mod write;

use num_complex::Complex64;

pub use self::write::write_petsc;

use self::kind::{Halves, Kind, are_quadruple, halves, word};
use super::build::{build, repeated};
use super::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry};
use crate::matrix::{Extent, FormatError};
use crate::memory::MemoryLimit;

const MATRIX: i64 = 1_211_216;
const VECTOR: i64 = 1_211_214;
const INDICES: i64 = 1_211_218;
const BAG: i64 = 1_211_219;

/// Stands for the number of nonzeros of a matrix whose values are dense.
const DENSE: i64 = -1;

/// Bytes that a value may take, the most usual first.
const WIDTHS: [u64; 4] = [8, 16, 4, 32];

/// Whether the data begins like such a file, whatever its name.
pub(super) fn is_meant(_: &str, data: &[u8]) -> bool {
    File::new(data).is_some()
}

/// The sizes of the first matrix.
pub(super) fn extent(data: &[u8], _: &ReadOptions) -> Result<Extent, IoError> {
    let Object { rows, cols, count, is_dense, .. } = File::of(data)?.matrix()?;
    Ok(Extent { rows, cols, entries: count, estimated: is_dense })
}

/// Reads the first matrix.
pub(super) fn read(
    data: &[u8],
    _: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let file = File::of(data)?;
    let object = file.matrix()?;
    let Object { rows, cols, count, .. } = object;
    if rows.max(cols) > u64::from(u32::MAX) {
        return Err(FormatError::DimensionTooLarge { rows, cols }.into());
    }
    let width = file.width(&object, None)?;
    let (kind, warning) = file.kind(&object, width)?;
    let mut warnings: Vec<String> = warning.into_iter().collect();
    let numbers = (file, object, kind);
    let (size, most) = ((rows, cols), (Symmetry::General, count));
    let (matrix, merged) = if kind.is_complex() {
        let entries = |take: &mut dyn FnMut(u64, u64, Complex64)| each(numbers, progress, take);
        let built = build(size, most, &entries, limit, progress)?;
        (AnyMatrix::Complex(built.matrix), built.merged)
    } else {
        let entries = |take: &mut dyn FnMut(u64, u64, f64)| {
            each(numbers, progress, &mut |row, col, value| take(row, col, value.re))
        };
        let built = build(size, most, &entries, limit, progress)?;
        (AnyMatrix::Real(built.matrix), built.merged)
    };
    warnings.extend(repeated(merged));
    progress.advance(data.len());
    let field = if kind.is_complex() { Field::Complex } else { Field::Real };
    let (form, symmetry) = (MatrixForm::Petsc, Symmetry::General);
    Ok(MatrixFile { matrix, field, symmetry, form, warnings })
}

/// Reads the vector with which such a file begins; `None` for other files.
pub(super) fn read_vector(
    data: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Vec<f64>, IoError>> {
    let file = File::new(data)?;
    Some(file.object(0).and_then(|object| match object.class {
        VECTOR => file.vector(&object, None, column, limit, progress),
        _ => Err(IoError::NotAVector { rows: object.rows, cols: object.cols }),
    }))
}

/// Reads a vector that follows the first matrix, the `skipped`-th counted from 0, if there is one.
pub(super) fn read_companion(
    data: &[u8],
    (skipped, column): (usize, Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<Vec<f64>>, IoError> {
    let file = File::of(data)?;
    let matrix = file.matrix()?;
    let width = file.width(&matrix, None)?;
    let (mut at, mut passed) = (matrix.end(width), 0);
    while at < data.len() as u64 {
        progress.check()?;
        let object = file.object(at)?;
        if object.class == VECTOR {
            if passed == skipped {
                return file.vector(&object, Some(width), column, limit, progress).map(Some);
            }
            passed += 1;
        }
        at = object.end(file.width(&object, Some(width))?);
    }
    Ok(None)
}

/// The data and the width of its integers.
#[derive(Clone, Copy)]
struct File<'a> {
    data: &'a [u8],
    /// Whether integers have 8 bytes rather than 4.
    is_wide: bool,
}

/// An object of a file.
#[derive(Clone, Copy)]
struct Object {
    class: i64,
    rows: u64,
    cols: u64,
    is_dense: bool,
    /// Offset of what follows the sizes: the lengths of rows, or the values.
    body: u64,
    /// Offset of the values, and their number.
    values: u64,
    count: u64,
}

impl Object {
    /// Offset of the first byte after the object, with values of this width.
    fn end(&self, width: u64) -> u64 {
        self.values.saturating_add(self.count.saturating_mul(width))
    }
}

impl<'a> File<'a> {
    fn new(data: &'a [u8]) -> Option<Self> {
        let file = Self { data, is_wide: data.starts_with(&[0; 4]) };
        file.class(0).map(|_| file)
    }

    fn of(data: &'a [u8]) -> Result<Self, IoError> {
        Self::new(data).ok_or_else(|| IoError::Stored("expected a PETSc binary file".to_owned()))
    }

    fn integer_bytes(self) -> u64 {
        if self.is_wide { 8 } else { 4 }
    }

    fn integer(self, bytes: &[u8], at: usize) -> Option<i64> {
        let bits = word(bytes, at, self.integer_bytes() as usize)?;
        Some(if self.is_wide { bits as i64 } else { i64::from(bits as u32 as i32) })
    }

    /// The class of the object at this offset, if there is one.
    fn class(self, at: u64) -> Option<i64> {
        let class = self.integer(self.data, usize::try_from(at).ok()?)?;
        [MATRIX, VECTOR, INDICES, BAG].contains(&class).then_some(class)
    }

    /// This many bytes from an offset; none if the data ends before.
    fn part(self, at: u64, bytes: u64) -> &'a [u8] {
        let (Ok(at), Ok(bytes)) = (usize::try_from(at), usize::try_from(bytes)) else { return &[] };
        self.data.get(at..).and_then(|rest| rest.get(..bytes)).unwrap_or_default()
    }

    /// Reads the sizes of the object at an offset.
    fn object(self, at: u64) -> Result<Object, IoError> {
        let bytes = self.integer_bytes();
        let wrong = |what: &str, found: String| {
            IoError::Stored(format!("byte {at}: expected {what}, found {found}"))
        };
        let signed = |k: u64, what: &str| {
            let at = usize::try_from(at + k * bytes).ok();
            let found = at.and_then(|at| self.integer(self.data, at));
            found.ok_or_else(|| wrong(what, "the end of the file".to_owned()))
        };
        let number = |k: u64, what: &str| {
            let found = signed(k, what)?;
            u64::try_from(found).map_err(|_| wrong(what, found.to_string()))
        };
        let class = self.class(at).unwrap_or_default();
        match class {
            MATRIX => {
                let (what, body) = ("the sizes of a PETSc matrix", at + 4 * bytes);
                let (rows, cols) = (number(1, what)?, number(2, what)?);
                let is_dense = signed(3, what)? == DENSE;
                let (values, count) = if is_dense {
                    (body, rows.saturating_mul(cols))
                } else {
                    let lengths = rows.saturating_mul(bytes);
                    let count = match number(3, what)? {
                        // PETSc writes the largest integer when there are more nonzeros.
                        declared if declared == i32::MAX as u64 && !self.is_wide => {
                            let lengths = self.part(body, lengths).chunks_exact(bytes as usize);
                            let lengths = lengths.filter_map(|length| self.integer(length, 0));
                            lengths
                                .fold(0u64, |sum, length| sum.saturating_add(length.max(0) as u64))
                        }
                        declared => declared,
                    };
                    let indices = count.saturating_mul(bytes);
                    (body.saturating_add(lengths).saturating_add(indices), count)
                };
                Ok(Object { class, rows, cols, is_dense, body, values, count })
            }
            VECTOR | INDICES => {
                let (what, body) = ("the length of a PETSc vector", at + 2 * bytes);
                let rows = number(1, what)?;
                let (values, count) = match class {
                    VECTOR => (body, rows),
                    _ => (body.saturating_add(rows.saturating_mul(bytes)), 0),
                };
                Ok(Object { class, rows, cols: 1, is_dense: false, body, values, count })
            }
            BAG => Err(wrong("a PETSc matrix or vector", "a bag of parameters".to_owned())),
            _ => Err(wrong("a PETSc matrix or vector", "other data".to_owned())),
        }
    }

    /// The first matrix of the file.
    fn matrix(self) -> Result<Object, IoError> {
        let mut at = 0;
        loop {
            let object = self.object(at)?;
            if object.class == MATRIX {
                return Ok(object);
            }
            at = object.end(self.width(&object, None)?);
            if at >= self.data.len() as u64 {
                return Err(IoError::NotAMatrix("a PETSc file with vectors only"));
            }
        }
    }

    /// The width of an object's values after which the file ends or another object begins; `before` is that of
    /// another object.
    fn width(self, object: &Object, before: Option<u64>) -> Result<u64, IoError> {
        let length = self.data.len() as u64;
        let fits = |width: &u64| {
            let end = object.end(*width);
            end == length || (end < length && self.class(end).is_some())
        };
        before.into_iter().chain(WIDTHS).find(fits).ok_or_else(|| {
            if object.values > length {
                return IoError::Stored(format!(
                    "expected the values after byte {}, found the end of the file after {length} bytes",
                    object.values
                ));
            }
            IoError::Stored(format!(
                "expected {} values of 4, 8, 16 or 32 bytes from byte {} to the end of the file or the next object, found {} bytes",
                object.count,
                object.values,
                length - object.values
            ))
        })
    }

    /// The type of an object's values, and a warning if another one is as plausible.
    fn kind(self, object: &Object, width: u64) -> Result<(Kind, Option<String>), IoError> {
        /// Values that are looked at.
        const MOST: u64 = 1 << 12;
        let first = self.part(object.values, object.count.min(MOST).saturating_mul(width));
        let warning = |read: &str, other: &str| {
            Some(format!(
                "the values were read as {read}; they could also be {other}, which the file does not say"
            ))
        };
        let (double, complex) = ("real numbers of 8 bytes", "complex numbers of 4 + 4 bytes");
        match width {
            4 => Ok((Kind::Single, None)),
            8 => match halves(first) {
                Halves::Numbers => Ok((Kind::ComplexSingle, warning(complex, double))),
                Halves::Perhaps => Ok((Kind::Double, warning(double, complex))),
                Halves::Digits => Ok((Kind::Double, None)),
            },
            16 if !are_quadruple(first) => Ok((Kind::ComplexDouble, None)),
            _ => Err(IoError::Stored(
                "the values are numbers of 16 bytes (__float128), which are not supported: write the file with a PETSc of double precision".to_owned(),
            )),
        }
    }

    /// Reads a vector of real numbers.
    fn vector(
        self,
        object: &Object,
        before: Option<u64>,
        column: Option<u32>,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<Vec<f64>, IoError> {
        if let Some(column) = column.filter(|column| *column != 1) {
            return Err(IoError::NoColumn { column: column.into(), cols: 1 });
        }
        let width = self.width(object, before)?;
        let (kind, _) = self.kind(object, width)?;
        if kind.is_complex() {
            return Err(IoError::RealOnly);
        }
        limit.check("the vector", u128::from(object.count) * 8)?;
        let values = self.part(object.values, object.count.saturating_mul(width));
        let mut vector = Vec::with_capacity(values.len() / kind.width());
        for block in values.chunks(1 << 20) {
            progress.check()?;
            vector.extend(block.chunks_exact(kind.width()).map(|bytes| kind.value(bytes).re));
            progress.advance(block.len());
        }
        Ok(vector)
    }
}

/// Calls `take` with each nonzero of a matrix.
fn each(
    (file, object, kind): (File<'_>, Object, Kind),
    progress: Progress<'_>,
    take: &mut dyn FnMut(u64, u64, Complex64),
) -> Result<(), IoError> {
    /// Rows between checks for cancellation.
    const WAVE: u64 = 1 << 12;
    let Object { rows, cols, count, body, values, .. } = object;
    let bytes = file.integer_bytes();
    let width = kind.width();
    let values = file.part(values, count.saturating_mul(width as u64));
    let mut values = values.chunks_exact(width).map(|bytes| kind.value(bytes));
    if object.is_dense {
        let filled = if cols == 0 { 0 } else { rows };
        for row in 0..filled {
            progress.check()?;
            for (col, value) in (0..cols).zip(&mut values) {
                if value != Complex64::ZERO {
                    take(row, col, value);
                }
            }
        }
        return Ok(());
    }
    let integers = |at: u64, count: u64| {
        let part = file.part(at, count.saturating_mul(bytes)).chunks_exact(bytes as usize);
        part.map(move |integer| file.integer(integer, 0).unwrap_or_default())
    };
    let mut columns = integers(body.saturating_add(rows.saturating_mul(bytes)), count);
    let mut left = count;
    for (row, length) in (0..rows).zip(integers(body, rows)) {
        if row.is_multiple_of(WAVE) {
            progress.check()?;
        }
        let Some(length) = u64::try_from(length).ok().filter(|length| *length <= left) else {
            return Err(IoError::Stored(format!(
                "expected a length from 0 to {left} of row {} of the PETSc matrix, because it declares {count} nonzeros, found {length}",
                row + 1
            )));
        };
        left -= length;
        for (_, (col, value)) in (0..length).zip((&mut columns).zip(&mut values)) {
            let Ok(col) = u64::try_from(col) else {
                return Err(IoError::Stored(format!(
                    "expected a column from 0 to {} in row {} of the PETSc matrix, found {col}",
                    cols.saturating_sub(1),
                    row + 1
                )));
            };
            take(row, col, value);
        }
    }
    match left {
        0 => Ok(()),
        _ => Err(IoError::Stored(format!(
            "the PETSc matrix declares {count} nonzeros, but the lengths of its rows add up to {}",
            count - left
        ))),
    }
}
