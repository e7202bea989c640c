//! MATLAB files of level 4 and 5. A file holds several variables; the matrix is the one that is asked for or
//! the only one that it can be. Level 7.3 is HDF5.

pub(super) mod array;
mod level4;
mod level5;
#[cfg(test)]
mod tests;
pub(super) mod variable;

use std::borrow::Cow;

use self::array::{Array, fault};
use self::variable::{Choice, Class, Variable, choose, only_vector};
use super::unpack::beside;
use super::{IoError, MatrixFile, MatrixForm, Progress, ReadOptions};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// Whether the first bytes are those of a file of level 4, in either byte order.
pub(super) fn is_level_4(_: &str, data: &[u8]) -> bool {
    level4::order(data).is_some()
}

/// The same for level 5.
pub(super) fn is_level_5(_: &str, data: &[u8]) -> bool {
    level5::is_meant(data)
}

/// Whether the first bytes are those of a file of either level.
pub(super) fn is_meant(data: &[u8]) -> bool {
    level5::is_meant(data) || level4::order(data).is_some()
}

struct File<'a> {
    form: MatrixForm,
    is_big: bool,
    variables: Vec<Variable<'a>>,
}

impl<'a> File<'a> {
    fn open(data: &'a [u8], limit: MemoryLimit, progress: Progress<'_>) -> Result<Self, IoError> {
        match level4::order(data).filter(|_| !level5::is_meant(data)) {
            Some(is_big) => {
                let variables = level4::variables(data, is_big, limit, progress)?;
                Ok(Self { form: MatrixForm::Matlab4, is_big, variables })
            }
            None => {
                let is_big = level5::order(data)?;
                let variables = level5::variables(data, is_big, limit, progress)?;
                Ok(Self { form: MatrixForm::Matlab5, is_big, variables })
            }
        }
    }

    /// The bytes of a variable, decompressed.
    fn bytes(
        &self,
        variable: &Variable<'a>,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<Cow<'a, [u8]>, IoError> {
        level5::bytes(variable, self.is_big, limit, progress)
    }

    /// The array to which the fields `path` lead; `None` if there is no such field.
    fn array<'b>(
        &self,
        variable: &'b Variable<'a>,
        mut bytes: &'b [u8],
        path: &[&str],
    ) -> Result<Option<Array<'b>>, IoError> {
        let name = &variable.name;
        if !path.is_empty() && variable.class != Class::Struct {
            return Err(fault(name, "expected a struct, found something else"));
        }
        for &field in path {
            match level5::field(name, bytes, (field, self.is_big))? {
                Some(found) => bytes = found,
                None => return Ok(None),
            }
        }
        let array = match self.form {
            MatrixForm::Matlab4 => level4::array(name, bytes, self.is_big),
            _ => level5::array(name, bytes, self.is_big),
        };
        array.map(Some)
    }

    /// The array of a choice.
    fn chosen<'b>(&self, choice: &Choice<'b, 'a>, bytes: &'b [u8]) -> Result<Array<'b>, IoError> {
        let array = self.array(choice.variable, bytes, &choice.path)?;
        array.ok_or_else(|| {
            let path = choice.path.join(".");
            fault(&choice.variable.name, &format!("expected the field {path}, found none"))
        })
    }
}

/// Reads the matrix.
pub(super) fn read(
    data: &[u8],
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let file = File::open(data, limit, progress)?;
    let choice = choose(&file.variables, options.variable.as_deref())?;
    let bytes = file.bytes(choice.variable, limit, progress)?;
    let limit = beside(&bytes, limit);
    let mut read = file.chosen(&choice, &bytes)?.read(file.form, limit, progress)?;
    read.warnings.splice(0..0, choice.warning);
    progress.advance(data.len());
    Ok(read)
}

/// The sizes of the matrix.
pub(super) fn extent(data: &[u8], options: &ReadOptions) -> Result<Extent, IoError> {
    let (limit, progress) = (MemoryLimit::of_machine(), Progress::none());
    let file = File::open(data, limit, progress)?;
    let choice = choose(&file.variables, options.variable.as_deref())?;
    let bytes = file.bytes(choice.variable, limit, progress)?;
    file.chosen(&choice, &bytes)?.extent()
}

/// The only vector of a MATLAB file, or a column of its only array; `None` for other files.
pub(super) fn vector(
    data: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Vec<f64>, IoError>> {
    is_meant(data).then(|| {
        let file = File::open(data, limit, progress)?;
        let variable = only_vector(&file.variables, column.is_some())?;
        let choice = Choice { variable, path: Vec::new(), warning: None };
        let bytes = file.bytes(variable, limit, progress)?;
        let limit = beside(&bytes, limit);
        file.chosen(&choice, &bytes)?.vector(column, limit, progress)
    })
}

/// The vector beside the matrix of a MATLAB file: the variable with the first of these names that it has, else
/// such a field of the struct `Problem`. `None` for other files.
pub(super) fn companion(
    data: &[u8],
    (names, column): (&[&str], Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Option<Vec<f64>>, IoError>> {
    is_meant(data).then(|| {
        let file = File::open(data, limit, progress)?;
        let find = |name: &str| file.variables.iter().find(|variable| variable.name == name);
        let nowhere: &[&str] = &[];
        let alone = names.iter().filter_map(|name| Some((find(name)?, nowhere)));
        let fields = names.iter().filter_map(|name| {
            let problem = find("Problem").filter(|variable| variable.class == Class::Struct);
            Some((problem?, std::slice::from_ref(name)))
        });
        for (variable, path) in alone.chain(fields) {
            let bytes = file.bytes(variable, limit, progress)?;
            if let Some(array) = file.array(variable, &bytes, path)? {
                let limit = beside(&bytes, limit);
                return array.vector(column, limit, progress).map(Some);
            }
        }
        Ok(None)
    })
}
