//! An array of numbers in a MATLAB or HDF5 file, and the matrix or vector that it holds.

use num_complex::Complex64;

use crate::io::build::{build, repeated};
use crate::io::error::{quoted, rounded_integers};
use crate::io::word::bits;
use crate::io::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, Symmetry};
use crate::matrix::Extent;
use crate::memory::{MemoryLimit, zeroed};

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Width {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Width {
    pub(in crate::io) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// Numbers of one width, one after another.
#[derive(Clone, Copy, Debug)]
pub(in crate::io) struct Numbers<'a> {
    pub(in crate::io) bytes: &'a [u8],
    pub(in crate::io) width: Width,
    pub(in crate::io) is_big: bool,
}

impl<'a> Numbers<'a> {
    pub(in crate::io) fn count(&self) -> u64 {
        (self.bytes.len() / self.width.bytes()) as u64
    }

    /// `count` numbers from number `first` on, if the array has them.
    pub(in crate::io) fn part(&self, first: u64, count: u64) -> Option<Self> {
        let width = self.width.bytes();
        let bytes = |numbers: u64| usize::try_from(numbers).ok()?.checked_mul(width);
        let bytes = self.bytes.get(bytes(first)?..)?.get(..bytes(count)?)?;
        Some(Self { bytes, ..*self })
    }

    fn bits(&self, k: u64) -> Option<u64> {
        let width = self.width.bytes();
        let begin = usize::try_from(k).ok()?.checked_mul(width)?;
        bits(self.bytes.get(begin..)?.get(..width)?, self.is_big)
    }

    /// Number `k`, rounded to the nearest `f64`.
    fn get(&self, k: u64) -> Option<f64> {
        let bits = self.bits(k)?;
        Some(match self.width {
            Width::U8 | Width::U16 | Width::U32 | Width::U64 => bits as f64,
            Width::I8 => f64::from(bits as i8),
            Width::I16 => f64::from(bits as i16),
            Width::I32 => f64::from(bits as i32),
            Width::I64 => bits as i64 as f64,
            Width::F32 => f64::from(f32::from_bits(bits as u32)),
            Width::F64 => f64::from_bits(bits),
        })
    }

    /// Number `k` if it is an integer that may be an index or a size.
    pub(in crate::io) fn index(&self, k: u64) -> Option<u64> {
        if self.width == Width::I32 {
            // The usual type, without rounding in f64.
            return u64::try_from(self.bits(k)? as i32).ok();
        }
        let value = self.get(k)?;
        ((0.0..9e15).contains(&value) && value.fract() == 0.0).then_some(value as u64)
    }

    /// How many of the numbers `f64` cannot hold.
    fn rounded(&self) -> u64 {
        let is_rounded = |bits: &u64| match self.width {
            Width::U64 => (*bits as f64) as u128 != u128::from(*bits),
            _ => (*bits as i64 as f64) as i128 != i128::from(*bits as i64),
        };
        match self.width {
            Width::U64 | Width::I64 => {
                (0..self.count()).filter_map(|k| self.bits(k)).filter(is_rounded).count() as u64
            }
            _ => 0,
        }
    }
}

/// Where the values of an array belong.
#[derive(Clone, Copy, Debug)]
pub(in crate::io) enum Places<'a> {
    /// Column by column, zeros included.
    Full,
    /// The row of each, from 0, and where each column begins.
    Columns { row: Numbers<'a>, begin: Numbers<'a> },
    /// Row and column of each, from 1.
    Triplets { row: Numbers<'a>, col: Numbers<'a> },
}

/// A real or complex array with two dimensions.
#[derive(Debug)]
pub(in crate::io) struct Array<'a> {
    pub(in crate::io) name: &'a str,
    pub(in crate::io) rows: u64,
    pub(in crate::io) cols: u64,
    pub(in crate::io) field: Field,
    /// Whether values are stored row by row: `places` then has rows for columns, and columns for rows.
    pub(in crate::io) by_row: bool,
    pub(in crate::io) places: Places<'a>,
    pub(in crate::io) real: Numbers<'a>,
    pub(in crate::io) imaginary: Option<Numbers<'a>>,
}

/// An error in the variable of this name.
pub(in crate::io) fn fault(name: &str, what: &str) -> IoError {
    IoError::Stored(format!("variable {}: {what}", quoted(name.as_bytes())))
}

impl Array<'_> {
    /// The number of columns, or of rows if values are stored row by row, and its name.
    fn lines(&self) -> (u64, &'static str) {
        if self.by_row { (self.rows, "row") } else { (self.cols, "column") }
    }

    /// The number of values. Fails if the file has fewer of them, or of their indices.
    fn entries(&self) -> Result<u64, IoError> {
        let (entries, places) = match self.places {
            Places::Full => (self.rows.saturating_mul(self.cols), u64::MAX),
            Places::Triplets { row, col } => (row.count(), col.count()),
            Places::Columns { row, begin } => {
                let (lines, line) = self.lines();
                let last = begin.index(lines).ok_or_else(|| {
                    let (expected, found) = (lines.saturating_add(1), begin.count());
                    fault(self.name, &format!(
                        "expected {expected} {line} pointers for {lines} {line}s, found {found} numbers, or one that is no index"
                    ))
                })?;
                (last, row.count())
            }
        };
        let values = self.imaginary.map_or(u64::MAX, |numbers| numbers.count());
        let found = values.min(self.real.count()).min(places);
        match found < entries {
            true => Err(fault(self.name, &format!("expected {entries} values, found {found}"))),
            false => Ok(entries),
        }
    }

    /// Calls `take` with row and column, from 0, and both parts of each value in file order. A full array has no
    /// structure, so its zeros are left out; NaN is not.
    fn each(
        &self,
        progress: Progress<'_>,
        take: &mut dyn FnMut(u64, u64, f64, f64),
    ) -> Result<(), IoError> {
        /// Values or columns between checks for cancellation.
        const WAVE: u64 = 1 << 20;
        let entries = self.entries()?;
        let value = |k: u64| {
            let real = self.real.get(k).unwrap_or_default();
            let imaginary = self.imaginary.and_then(|numbers| numbers.get(k));
            // A logical value is true or false.
            let is_true = f64::from(u8::from(real != 0.0));
            let real = if self.field == Field::Pattern { is_true } else { real };
            (real, imaginary.unwrap_or_default())
        };
        let index = |numbers: &Numbers<'_>, k: u64, first: u64| {
            let index = numbers.index(k).and_then(|index| index.checked_sub(first));
            index.ok_or_else(|| {
                let value = k.saturating_add(1);
                fault(
                    self.name,
                    &format!(
                        "expected an index for value {value}, found a negative number or a fraction"
                    ),
                )
            })
        };
        let (lines, line) = self.lines();
        let mut put = |place: u64, line: u64, real: f64, imaginary: f64| match self.by_row {
            true => take(line, place, real, imaginary),
            false => take(place, line, real, imaginary),
        };
        let rest = |k: u64| if k.is_multiple_of(WAVE) { progress.check() } else { Ok(()) };
        match self.places {
            Places::Full => {
                let length = if self.by_row { self.cols } else { self.rows };
                for k in 0..entries {
                    rest(k)?;
                    let (real, imaginary) = value(k);
                    if real != 0.0 || imaginary != 0.0 {
                        put(k % length, k / length, real, imaginary);
                    }
                }
            }
            Places::Triplets { row, col } => {
                for k in 0..entries {
                    let (real, imaginary) = value(k);
                    put(index(&row, k, 1)?, index(&col, k, 1)?, real, imaginary);
                }
            }
            Places::Columns { row, begin } => {
                let mut k = 0;
                let first = begin.index(0).filter(|first| *first == 0);
                for col in 0..lines {
                    rest(col)?;
                    let end = begin.index(col + 1).filter(|end| (k..=entries).contains(end));
                    let (Some(_), Some(end)) = (first, end) else {
                        let number = col + 1;
                        return Err(fault(
                            self.name,
                            &format!(
                                "expected {line} pointers that begin with 0 and do not descend, found another at {line} {number}"
                            ),
                        ));
                    };
                    while k < end {
                        let (real, imaginary) = value(k);
                        put(index(&row, k, 0)?, col, real, imaginary);
                        k += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// The sizes of the matrix.
    pub(in crate::io) fn extent(&self) -> Result<Extent, IoError> {
        let (rows, cols, entries) = (self.rows, self.cols, self.entries()?);
        Ok(Extent { rows, cols, entries, estimated: matches!(self.places, Places::Full) })
    }

    /// The matrix in a file of this form.
    pub(in crate::io) fn read(
        &self,
        form: MatrixForm,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<MatrixFile, IoError> {
        let size = (self.rows, self.cols);
        let most = (Symmetry::General, self.entries()?);
        let (matrix, merged) = match self.imaginary {
            None => {
                let entries = |take: &mut dyn FnMut(u64, u64, f64)| {
                    self.each(progress, &mut |row, col, real, _| take(row, col, real))
                };
                let built = build(size, most, &entries, limit, progress)?;
                (AnyMatrix::Real(built.matrix), built.merged)
            }
            Some(_) => {
                let entries = |take: &mut dyn FnMut(u64, u64, Complex64)| {
                    self.each(progress, &mut |row, col, real, imaginary| {
                        take(row, col, Complex64::new(real, imaginary));
                    })
                };
                let built = build(size, most, &entries, limit, progress)?;
                (AnyMatrix::Complex(built.matrix), built.merged)
            }
        };
        let mut warnings = Vec::new();
        let imaginary = self.imaginary.map_or(0, |numbers| numbers.rounded());
        let rounded = self.real.rounded() + imaginary;
        warnings.extend(rounded_integers(rounded));
        warnings.extend(repeated(merged));
        let field = if self.imaginary.is_some() { Field::Complex } else { self.field };
        Ok(MatrixFile { matrix, field, symmetry: Symmetry::General, form, warnings })
    }

    /// The vector, or a column counted from 1, with zeros for what is not stored.
    pub(in crate::io) fn vector(
        &self,
        column: Option<u32>,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<Vec<f64>, IoError> {
        let (rows, cols) = (self.rows, self.cols);
        let length = match column.map(u64::from) {
            _ if self.imaginary.is_some() => return Err(IoError::RealOnly),
            None if rows != 1 && cols != 1 => return Err(IoError::NotAVector { rows, cols }),
            None => rows.saturating_mul(cols),
            Some(column) if !(1..=cols).contains(&column) => {
                return Err(IoError::NoColumn { column, cols });
            }
            Some(_) => rows,
        };
        limit.check("the vector", u128::from(length) * 8)?;
        let mut values = zeroed(0.0, length as usize);
        let mut is_outside = false;
        self.each(progress, &mut |row, col, real, _| {
            is_outside |= row >= rows || col >= cols;
            let place = match column {
                Some(column) if u64::from(column) != col.saturating_add(1) => return,
                Some(_) => row,
                // One of the two indices is always 0.
                None => row.saturating_add(col),
            };
            if let Some(slot) = values.get_mut(usize::try_from(place).unwrap_or(usize::MAX)) {
                *slot += real;
            }
        })?;
        match is_outside {
            true => {
                Err(fault(self.name, &format!("an index is outside its {rows} x {cols} values")))
            }
            false => Ok(values),
        }
    }
}
