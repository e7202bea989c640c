//! Level 5: a header of 128 bytes, then data elements, each with a tag (its type and number of bytes) and
//! padding to a multiple of 8 bytes; data of up to 4 bytes may be in the tag. A variable is an element with
//! further elements in it: class, sizes, name and the numbers, in any type that can hold them; or it is such an
//! element compressed by zlib.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::ZlibDecoder;

use super::array::{Array, Numbers, Places, Width, fault};
use super::variable::{Class, Variable};
use crate::io::{Field, IoError, Progress, unpack};
use crate::memory::MemoryLimit;

/// Bytes before the first element.
const HEADER: usize = 128;
/// The types of elements that hold a variable.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Bytes of a variable in which its class, sizes and name must be.
const LONGEST: usize = 4096;

/// Whether a file says that it has this form; its header may be cut off.
pub(super) fn is_meant(data: &[u8]) -> bool {
    data.starts_with(b"MATLAB 5.0 MAT-file") || ends_header(data).is_some()
}

/// Whether the most significant byte comes first, from the version and the letters that end the header.
fn ends_header(data: &[u8]) -> Option<bool> {
    match data.get(HEADER - 4..HEADER)? {
        b"\0\x01IM" => Some(false),
        b"\x01\0MI" => Some(true),
        _ => None,
    }
}

/// The same, or what is wrong.
pub(super) fn order(data: &[u8]) -> Result<bool, IoError> {
    ends_header(data).ok_or_else(|| {
        let found = match data.len() < HEADER {
            true => format!("the end of the file after {} bytes", data.len()),
            false => "other bytes".to_owned(),
        };
        IoError::Stored(format!(
            "expected a MATLAB header of {HEADER} bytes that ends with version 1 and IM or MI, found {found}"
        ))
    })
}

struct Element<'a> {
    kind: u32,
    data: &'a [u8],
}

impl<'a> Element<'a> {
    fn numbers(&self, is_big: bool) -> Option<Numbers<'a>> {
        let width = match self.kind {
            1 => Width::I8,
            2 => Width::U8,
            3 => Width::I16,
            4 => Width::U16,
            5 => Width::I32,
            6 => Width::U32,
            7 => Width::F32,
            9 => Width::F64,
            12 => Width::I64,
            13 => Width::U64,
            _ => return None,
        };
        Some(Numbers { bytes: self.data, width, is_big })
    }
}

/// Data elements one after another.
#[derive(Clone, Copy)]
struct Elements<'a> {
    rest: &'a [u8],
    is_big: bool,
}

impl<'a> Elements<'a> {
    fn word(&self, bytes: [u8; 4]) -> u32 {
        if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The next element, if it is whole.
    fn take(&mut self) -> Option<Element<'a>> {
        let (tag, rest) = self.rest.split_first_chunk::<8>()?;
        let [a, b, c, d, e, f, g, h] = *tag;
        let word = self.word([a, b, c, d]);
        let small = (word >> 16) as usize;
        if small > 0 {
            self.rest = rest;
            return Some(Element { kind: word & 0xffff, data: tag.get(4..4 + small)? });
        }
        let size = usize::try_from(self.word([e, f, g, h])).ok()?;
        let (data, rest) = rest.split_at_checked(size)?;
        let padding = if word == COMPRESSED { 0 } else { size.wrapping_neg() & 7 };
        self.rest = rest.get(padding..).unwrap_or_default();
        Some(Element { kind: word, data })
    }

    fn numbers(&mut self) -> Option<Numbers<'a>> {
        self.take()?.numbers(self.is_big)
    }
}

/// The beginning of a variable.
struct Head<'a> {
    class: u64,
    is_logical: bool,
    is_complex: bool,
    dims: Numbers<'a>,
    name: &'a [u8],
    /// What follows it.
    rest: Elements<'a>,
}

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8], is_big: bool) -> Option<Self> {
        let mut rest = Elements { rest: bytes, is_big };
        let flags = rest.numbers()?.index(0)?;
        let (is_logical, is_complex) = (flags & 0x200 != 0, flags & 0x800 != 0);
        let class = flags & 0xff;
        let nothing = Numbers { bytes: &[], width: Width::I32, is_big };
        let (dims, name) = match class {
            // Neither objects of classes nor functions have sizes.
            16 | 17 => (nothing, &b""[..]),
            _ => (rest.numbers()?, rest.take()?.data),
        };
        Some(Self { class, is_logical, is_complex, dims, name, rest })
    }

    /// Rows and columns, if there are no other dimensions.
    fn size(&self) -> Option<(u64, u64)> {
        let (rows, cols) = (self.dims.index(0)?, self.dims.index(1)?);
        let is_flat = (2..self.dims.count()).all(|k| self.dims.index(k) == Some(1));
        is_flat.then_some((rows, cols))
    }

    fn class(&self) -> Class {
        match self.class {
            2 => Class::Struct,
            5 => Class::Sparse,
            6..=15 => Class::Full,
            _ => Class::Other,
        }
    }
}

/// The contents of the element with a variable that compressed data begin with.
fn unpacked(bytes: &[u8], is_big: bool) -> Option<&[u8]> {
    let (tag, rest) = bytes.split_first_chunk::<8>()?;
    let [a, b, c, d, e, f, g, h] = *tag;
    let elements = Elements { rest, is_big };
    let size = usize::try_from(elements.word([e, f, g, h])).ok()?;
    (elements.word([a, b, c, d]) == MATRIX).then(|| rest.get(..size).unwrap_or(rest))
}

/// The variables of a file; of those that are compressed only the beginning is decompressed.
pub(super) fn variables<'a>(
    data: &'a [u8],
    is_big: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<Variable<'a>>, IoError> {
    let mut elements = Elements { rest: data.get(HEADER..).unwrap_or_default(), is_big };
    let mut found: Vec<Variable<'a>> = Vec::new();
    let mut start = Vec::new();
    while !elements.rest.is_empty() {
        progress.check()?;
        limit.check("the list of variables", found.len() as u128 * 128)?;
        let at = data.len() - elements.rest.len();
        let unexpected = |expected: &str, found: &str| {
            IoError::Stored(format!("byte {at}: expected {expected}, found {found}"))
        };
        let cut = || unexpected("a whole MATLAB variable", "the end of the file");
        let Element { kind, data: stored } = elements.take().ok_or_else(cut)?;
        let is_packed = kind == COMPRESSED;
        let beginning = match kind {
            MATRIX => Some(stored),
            COMPRESSED => {
                start.clear();
                // Errors in the data are reported when all of it is read.
                let _ = ZlibDecoder::new(stored).take(LONGEST as u64).read_to_end(&mut start);
                unpacked(&start, is_big)
            }
            kind => {
                let found = format!("an element of type {kind}");
                return Err(unexpected("a MATLAB variable", &found));
            }
        };
        let beginning = beginning.map(|bytes| bytes.get(..LONGEST).unwrap_or(bytes));
        let head = beginning.and_then(|bytes| Head::read(bytes, is_big));
        let head = head.ok_or_else(|| {
            unexpected("class, sizes and name of a MATLAB variable", "damaged data")
        })?;
        // What belongs to objects has no name.
        if !head.name.is_empty() {
            found.push(Variable {
                name: String::from_utf8_lossy(head.name).into_owned(),
                class: head.class(),
                size: head.size(),
                stored,
                is_packed,
            });
        }
    }
    Ok(found)
}

/// The elements of a variable.
pub(super) fn bytes<'a>(
    variable: &Variable<'a>,
    is_big: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Cow<'a, [u8]>, IoError> {
    if !variable.is_packed {
        return Ok(Cow::Borrowed(variable.stored));
    }
    const BLOCK: u64 = 1 << 20;
    let mut decoder = ZlibDecoder::new(variable.stored);
    let mut bytes = Vec::new();
    loop {
        progress.check()?;
        unpack::reserve(&mut bytes, BLOCK, "the decompressed variable", limit)?;
        match decoder.by_ref().take(BLOCK).read_to_end(&mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                return Err(fault(
                    &variable.name,
                    &format!(
                        "its zlib data are damaged or cut off after {} bytes: {error}",
                        bytes.len()
                    ),
                ));
            }
        }
    }
    match unpacked(&bytes, is_big) {
        Some(content) => {
            let end = content.len() + 8;
            bytes.truncate(end);
            bytes.drain(..8);
            Ok(Cow::Owned(bytes))
        }
        None => Err(fault(&variable.name, "its zlib data hold no variable")),
    }
}

/// The elements of a field of a struct with one element; `None` if there is no such field.
pub(super) fn field<'a>(
    name: &str,
    bytes: &'a [u8],
    (field, is_big): (&str, bool),
) -> Result<Option<&'a [u8]>, IoError> {
    let damaged = || fault(name, "expected the fields of a struct, found damaged data");
    let head = Head::read(bytes, is_big).ok_or_else(damaged)?;
    if head.class() != Class::Struct || head.size() != Some((1, 1)) {
        return Err(fault(name, "expected a struct with one element, found something else"));
    }
    let mut rest = head.rest;
    let length = rest.numbers().and_then(|numbers| numbers.index(0)).ok_or_else(damaged)?;
    let length = usize::try_from(length).ok().filter(|length| *length > 0).ok_or_else(damaged)?;
    let names = rest.take().ok_or_else(damaged)?.data;
    for found in names.chunks(length) {
        let Element { kind: MATRIX, data } = rest.take().ok_or_else(damaged)? else {
            return Err(damaged());
        };
        let found = found.split(|byte| *byte == 0).next().unwrap_or_default();
        if found == field.as_bytes() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// The array with these elements.
pub(super) fn array<'a>(
    name: &'a str,
    bytes: &'a [u8],
    is_big: bool,
) -> Result<Array<'a>, IoError> {
    let damaged = || fault(name, "expected its class, sizes and numbers, found damaged data");
    let empty = Numbers { bytes: &[], width: Width::F64, is_big };
    if bytes.is_empty() {
        // A field that was never set.
        let (rows, cols, places) = (0, 0, Places::Full);
        let (field, real, imaginary) = (Field::Real, empty, None);
        return Ok(Array { name, rows, cols, field, by_row: false, places, real, imaginary });
    }
    let head = Head::read(bytes, is_big).ok_or_else(damaged)?;
    let class = head.class();
    if !matches!(class, Class::Sparse | Class::Full) {
        let found = match head.class {
            1 => "cells",
            2 => "a struct; give one of its fields as NAME.FIELD",
            4 => "text",
            _ => "an object",
        };
        return Err(fault(name, &format!("expected numbers, found {found}")));
    }
    let (rows, cols) = head.size().ok_or_else(|| {
        let what = match head.dims.count() {
            2 => "expected two sizes from 0, found a negative one".to_owned(),
            found => format!("expected two dimensions, found {found}"),
        };
        fault(name, &what)
    })?;
    let mut rest = head.rest;
    let mut numbers = || rest.numbers().ok_or_else(damaged);
    let first = numbers()?;
    let (places, real) = match class {
        Class::Sparse => (Places::Columns { row: first, begin: numbers()? }, numbers()?),
        // Octave calls a sparse array of logical values one of bytes.
        _ if head.is_logical => match (numbers(), numbers()) {
            (Ok(begin), Ok(real)) => (Places::Columns { row: first, begin }, real),
            _ => (Places::Full, first),
        },
        _ => (Places::Full, first),
    };
    let imaginary = if head.is_complex { Some(numbers()?) } else { None };
    let field = match head.class {
        _ if head.is_logical => Field::Pattern,
        8.. => Field::Integer,
        _ => Field::Real,
    };
    Ok(Array { name, rows, cols, field, by_row: false, places, real, imaginary })
}
