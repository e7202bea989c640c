//! Level 4: matrices one after another, each with a header of five words (type, rows, columns, whether it is
//! complex, length of the name), its name and its numbers, column by column. The digits of the type are MOPT:
//! byte order M, 0, precision P, and T for full, text or sparse. A sparse matrix is stored as a full one with
//! columns row, column, value (and imaginary part); its last row has the sizes.

use super::array::{Array, Numbers, Places, Width, fault};
use super::variable::{Class, Variable};
use crate::io::{Field, IoError, Progress};
use crate::memory::MemoryLimit;

const WIDTHS: [Width; 6] = [Width::F64, Width::F32, Width::I32, Width::I16, Width::U16, Width::U8];

/// Whether the numbers of a file whose first bytes are the header and the name of a matrix have the most
/// significant byte first; `None` if they are something else.
pub(super) fn order(data: &[u8]) -> Option<bool> {
    [false, true].into_iter().find(|is_big| {
        let fits = || {
            let header = Header::read(data, *is_big)?;
            let begins = header.name.first().is_some_and(u8::is_ascii_alphabetic);
            (begins && header.complex <= 1 && header.ends_name).then_some(())
        };
        fits().is_some()
    })
}

/// What comes before the numbers of a matrix.
struct Header<'a> {
    class: Class,
    width: Width,
    rows: u64,
    cols: u64,
    complex: u64,
    /// Without the NUL that ends it.
    name: &'a [u8],
    ends_name: bool,
    rest: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(data: &'a [u8], is_big: bool) -> Option<Self> {
        let words = Numbers { bytes: data.get(..20)?, width: Width::U32, is_big };
        let word = |k| words.index(k);
        let kind = word(0)?;
        if kind / 100 != 10 * u64::from(is_big) {
            return None;
        }
        let width = *WIDTHS.get((kind / 10 % 10) as usize)?;
        let class = match kind % 10 {
            0 => Class::Full,
            1 => Class::Other,
            2 => Class::Sparse,
            _ => return None,
        };
        let length = usize::try_from(word(4)?).ok()?;
        let (name, rest) = data.get(20..)?.split_at_checked(length)?;
        let ends_name = name.last() == Some(&0);
        let name = name.split(|byte| *byte == 0).next()?;
        Some(Self {
            class,
            width,
            rows: word(1)?,
            cols: word(2)?,
            complex: word(3)?,
            name,
            ends_name,
            rest,
        })
    }
}

/// The numbers of a matrix.
struct Matrix<'a> {
    header: Header<'a>,
    real: Numbers<'a>,
    imaginary: Option<Numbers<'a>>,
    rest: &'a [u8],
}

impl<'a> Matrix<'a> {
    fn read(data: &'a [u8], is_big: bool) -> Option<Self> {
        let header = Header::read(data, is_big)?;
        let numbers = Numbers { bytes: header.rest, width: header.width, is_big };
        let count = header.rows.checked_mul(header.cols)?;
        let real = numbers.part(0, count)?;
        let imaginary = match header.complex {
            0 => None,
            _ => Some(numbers.part(count, count)?),
        };
        let used = real.bytes.len() + imaginary.map_or(0, |numbers| numbers.bytes.len());
        let rest = header.rest.get(used..)?;
        Some(Self { header, real, imaginary, rest })
    }

    /// Rows and columns: those of a sparse matrix are in the last row of its numbers.
    fn size(&self) -> Option<(u64, u64)> {
        let Header { class, rows, cols, .. } = self.header;
        if class != Class::Sparse {
            return Some((rows, cols));
        }
        let last = rows.checked_sub(1)?;
        let is_sparse = cols == 3 || cols == 4;
        Some((self.real.index(last)?, self.real.index(rows + last)?)).filter(|_| is_sparse)
    }
}

/// The matrices of a file.
pub(super) fn variables<'a>(
    data: &'a [u8],
    is_big: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<Variable<'a>>, IoError> {
    let mut found = Vec::new();
    let mut left = data;
    while !left.is_empty() {
        progress.check()?;
        limit.check("the list of variables", found.len() as u128 * 128)?;
        let Some(matrix) = Matrix::read(left, is_big) else {
            let (at, bytes) = (data.len() - left.len(), left.len());
            return Err(IoError::Stored(format!(
                "byte {at}: expected a whole matrix of a MATLAB 4 file, found other data or only a part of it in the last {bytes} bytes"
            )));
        };
        found.push(Variable {
            name: String::from_utf8_lossy(matrix.header.name).into_owned(),
            class: matrix.header.class,
            size: matrix.size(),
            stored: left,
            is_packed: false,
        });
        left = matrix.rest;
    }
    Ok(found)
}

/// The array that begins with these bytes.
pub(super) fn array<'a>(
    name: &'a str,
    bytes: &'a [u8],
    is_big: bool,
) -> Result<Array<'a>, IoError> {
    let read = || {
        let matrix = Matrix::read(bytes, is_big)?;
        let (rows, cols) = matrix.size()?;
        let Matrix { header, real, imaginary, .. } = matrix;
        let (places, real, imaginary) = match header.class {
            Class::Full => (Places::Full, real, imaginary),
            Class::Sparse => {
                let count = header.rows.checked_sub(1)?;
                let column = |k: u64| real.part(k * header.rows, count);
                let imaginary = if header.cols == 4 { Some(column(3)?) } else { None };
                let places = Places::Triplets { row: column(0)?, col: column(1)? };
                (places, column(2)?, imaginary)
            }
            _ => return None,
        };
        Some(Array { name, rows, cols, field: Field::Real, by_row: false, places, real, imaginary })
    };
    read().ok_or_else(|| {
        fault(name, "expected a full matrix, or a sparse one with 3 or 4 columns and its sizes in the last row, found another")
    })
}
