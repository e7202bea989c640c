//! An array as NumPy stores it: a header with the type and shape, then the values.

use std::borrow::Cow;

use num_complex::Complex64;

use crate::io::IoError;
use crate::io::error::quoted;
use crate::io::word::bits;
use crate::matrix::Order;

/// The first bytes of an array.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
    Text,
}

/// The type of the values, NumPy's `descr`.
#[derive(Clone, Copy, Debug)]
struct Type {
    kind: Kind,
    /// Bytes of one value.
    bytes: usize,
    big_endian: bool,
}

impl Type {
    /// From a word such as `<f8`.
    fn parse(word: &[u8]) -> Option<Self> {
        let (order, rest) = word.split_first()?;
        let (kind, digits) = rest.split_first()?;
        let bytes: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let (kind, bytes) = match (kind, bytes) {
            (b'b', 1) => (Kind::Bool, 1),
            (b'i', 1 | 2 | 4 | 8) => (Kind::Signed, bytes),
            (b'u', 1 | 2 | 4 | 8) => (Kind::Unsigned, bytes),
            (b'f', 2 | 4 | 8) => (Kind::Float, bytes),
            (b'c', 8 | 16) => (Kind::Complex, bytes),
            (b'S', 1..=64) => (Kind::Text, bytes),
            (b'U', 1..=64) => (Kind::Text, 4 * bytes),
            _ => return None,
        };
        matches!(order, b'<' | b'>' | b'|' | b'=').then_some(Self {
            kind,
            bytes,
            big_endian: *order == b'>',
        })
    }
}

/// What stands before the values.
#[derive(Debug)]
struct Header {
    of: Type,
    /// Whether the first index varies fastest (Fortran's order).
    first_fastest: bool,
    shape: Vec<u64>,
    /// Offset of the first value.
    body: usize,
}

impl Header {
    fn read(name: &'static str, data: &[u8]) -> Result<Self, IoError> {
        let begin = data.get(..MAGIC.len()).unwrap_or(data);
        let Some(rest) = data.strip_prefix(MAGIC) else {
            return Err(wrong(name, "a NumPy array", quoted(begin)));
        };
        let short = || wrong(name, "the header of a NumPy array", "the end of the data");
        let (begin, length) = match *rest {
            [1, _, a, b, ..] => (10, u32::from(u16::from_le_bytes([a, b]))),
            [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d])),
            [1..=3, ..] | [] => return Err(short()),
            [version, ..] => {
                let expected = "version 1, 2 or 3 of NumPy's format";
                return Err(wrong(name, expected, version.to_string()));
            }
        };
        let body = usize::saturating_add(begin, length as usize);
        let dictionary = data.get(begin..body).ok_or_else(short)?;
        let lacks = |key: &str| wrong(name, format!("\"{key}\" in the header"), quoted(dictionary));
        let descr = after(dictionary, "descr").ok_or_else(|| lacks("descr"))?;
        let word = in_quotes(descr);
        if word.is_some_and(|word| word.starts_with(b"|O")) {
            return Err(wrong(name, "numbers", "pickled Python objects, which are not read"));
        }
        let of = word.and_then(Type::parse).ok_or_else(|| {
            let expected =
                "bool, integers, float16 to float64, complex64 or complex128 (as \"<f8\")";
            wrong(name, expected, quoted(word.unwrap_or(descr)))
        })?;
        let order = after(dictionary, "fortran_order").unwrap_or_default();
        let first_fastest = match (order.starts_with(b"True"), order.starts_with(b"False")) {
            (true, _) => true,
            (_, true) => false,
            _ => return Err(lacks("fortran_order")),
        };
        let shape = after(dictionary, "shape").and_then(sizes).ok_or_else(|| lacks("shape"))?;
        Ok(Self { of, first_fastest, shape, body })
    }

    fn len(&self) -> u64 {
        self.shape.iter().fold(1, |len, size| u64::saturating_mul(len, *size))
    }
}

/// What follows a key in a dictionary as Python prints it.
fn after<'t>(dictionary: &'t [u8], key: &str) -> Option<&'t [u8]> {
    let at = memchr::memmem::find(dictionary, key.as_bytes())?;
    let rest = dictionary.get(at + key.len()..)?;
    let rest = rest.strip_prefix(b"'").or_else(|| rest.strip_prefix(b"\""))?;
    Some(rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())
}

/// The content of the string that a text begins with.
fn in_quotes(text: &[u8]) -> Option<&[u8]> {
    let (quote, rest) = text.split_first().filter(|(quote, _)| matches!(quote, b'\'' | b'"'))?;
    rest.get(..memchr::memchr(*quote, rest)?)
}

/// The numbers of the tuple that a text begins with. Python 2 wrote long integers with an L.
fn sizes(text: &[u8]) -> Option<Vec<u64>> {
    let inside = text.strip_prefix(b"(")?;
    let inside = inside.get(..memchr::memchr(b')', inside)?)?;
    let words = inside.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| std::str::from_utf8(word).ok()?.trim_end_matches('L').parse::<u64>().ok())
        .collect()
}

/// The error for a member or array that holds something else.
pub(super) fn wrong(
    name: &str,
    expected: impl std::fmt::Display,
    found: impl std::fmt::Display,
) -> IoError {
    IoError::Stored(format!("{name}: expected {expected}, found {found}"))
}

/// An array in memory.
#[derive(Debug)]
pub(super) struct Array<'a> {
    /// Its name in messages.
    pub(super) name: &'static str,
    header: Header,
    data: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    /// The array in this data, which must hold all values.
    pub(super) fn whole(name: &'static str, data: Cow<'a, [u8]>) -> Result<Self, IoError> {
        let array = Self::beginning(name, data)?;
        let expected = u128::from(array.len()) * array.header.of.bytes as u128;
        let found = array.data.len() - array.header.body;
        if expected != found as u128 {
            let sizes: Vec<String> = array.shape().iter().map(u64::to_string).collect();
            let expected =
                format!("{expected} bytes of values for the shape ({})", sizes.join(", "));
            return Err(wrong(name, expected, format!("{found} bytes")));
        }
        Ok(array)
    }

    /// The array at the beginning of this data, for its shape: values that are missing read as 0.
    pub(super) fn beginning(name: &'static str, data: Cow<'a, [u8]>) -> Result<Self, IoError> {
        Ok(Self { name, header: Header::read(name, &data)?, data })
    }

    pub(super) fn kind(&self) -> Kind {
        self.header.of.kind
    }

    pub(super) fn shape(&self) -> &[u64] {
        &self.header.shape
    }

    pub(super) fn order(&self) -> Order {
        if self.header.first_fastest { Order::ColumnMajor } else { Order::RowMajor }
    }

    /// Number of values.
    pub(super) fn len(&self) -> u64 {
        self.header.len()
    }

    /// Fails unless the array has this shape.
    pub(super) fn check_shape(&self, expected: &[u64]) -> Result<(), IoError> {
        if self.shape() == expected {
            return Ok(());
        }
        let told = |shape: &[u64]| {
            let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!("the shape ({})", sizes.join(", "))
        };
        Err(wrong(self.name, told(expected), told(self.shape())))
    }

    /// Fails on text.
    pub(super) fn check_numbers(&self) -> Result<(), IoError> {
        match self.kind() {
            Kind::Text => Err(wrong(self.name, "numbers", "text")),
            _ => Ok(()),
        }
    }

    /// Where the value at these indices stands among all. The indices must lie within the shape.
    pub(super) fn place(&self, at: &[u64]) -> u64 {
        let step = |place: u64, (index, size): (&u64, &u64)| {
            place.saturating_mul(*size).saturating_add(*index)
        };
        let indices = at.iter().zip(self.shape());
        match self.header.first_fastest {
            true => indices.rev().fold(0, step),
            false => indices.fold(0, step),
        }
    }

    /// Rows and columns; an array of one dimension is a column.
    pub(super) fn sizes(&self) -> Result<(u64, u64), IoError> {
        match *self.shape() {
            [rows] => Ok((rows, 1)),
            [rows, cols] => Ok((rows, cols)),
            _ => {
                let found = self.shape().len();
                Err(wrong(self.name, "1 or 2 dimensions", found))
            }
        }
    }

    /// The bytes of text, without the zeros of padding and of wide characters.
    pub(super) fn text(&self) -> Vec<u8> {
        let text = self.data.get(self.header.body..).unwrap_or_default();
        text.iter().copied().filter(|byte| *byte != 0).collect()
    }

    fn item(&self, place: u64) -> &[u8] {
        let bytes = self.header.of.bytes;
        let begin = (place as usize).saturating_mul(bytes).saturating_add(self.header.body);
        self.data.get(begin..).and_then(|rest| rest.get(..bytes)).unwrap_or_default()
    }

    /// 1, 2, 4 or 8 bytes as an integer without a sign.
    fn word(&self, bytes: &[u8]) -> u64 {
        bits(bytes, self.header.of.big_endian).unwrap_or(0)
    }

    /// The real part of a value.
    pub(super) fn real(&self, place: u64) -> f64 {
        let item = self.item(place);
        match self.kind() {
            Kind::Bool => f64::from(u8::from(self.word(item) != 0)),
            Kind::Signed => signed(self.word(item), item.len()) as f64,
            Kind::Unsigned => self.word(item) as f64,
            Kind::Float => float(self.word(item), item.len()),
            Kind::Complex => self.complex(place).re,
            Kind::Text => 0.0,
        }
    }

    pub(super) fn complex(&self, place: u64) -> Complex64 {
        if self.kind() != Kind::Complex {
            return Complex64::new(self.real(place), 0.0);
        }
        let item = self.item(place);
        let (re, im) = item.split_at(item.len() / 2);
        Complex64::new(float(self.word(re), re.len()), float(self.word(im), im.len()))
    }

    pub(super) fn is_zero(&self, place: u64) -> bool {
        self.complex(place) == Complex64::new(0.0, 0.0)
    }

    /// How many integers f64 does not hold.
    pub(super) fn rounded(&self) -> u64 {
        let is_rounded = |place: &u64| {
            let word = self.word(self.item(*place));
            match self.kind() {
                Kind::Signed => (word as i64) as f64 as i128 != i128::from(word as i64),
                _ => word as f64 as i128 != i128::from(word),
            }
        };
        match (self.kind(), self.header.of.bytes) {
            (Kind::Signed | Kind::Unsigned, 8) => (0..self.len()).filter(is_rounded).count() as u64,
            _ => 0,
        }
    }

    /// An integer.
    pub(super) fn integer(&self, place: u64) -> Result<i64, IoError> {
        let item = self.item(place);
        match self.kind() {
            Kind::Signed => Ok(signed(self.word(item), item.len())),
            // What is larger is no index either.
            Kind::Unsigned => Ok(i64::try_from(self.word(item)).unwrap_or(i64::MAX)),
            _ => Err(wrong(self.name, "integers", "numbers of another type")),
        }
    }

    /// An integer that is not negative.
    pub(super) fn index(&self, place: u64) -> Result<u64, IoError> {
        let integer = self.integer(place)?;
        u64::try_from(integer).map_err(|_| {
            let found = format!("{integer} in place {}", place.saturating_add(1));
            wrong(self.name, "integers from 0", found)
        })
    }
}

/// The integer that this many bytes of two's complement represent.
fn signed(word: u64, bytes: usize) -> i64 {
    let unused = 64 - 8 * bytes.clamp(1, 8) as u32;
    ((word << unused) as i64) >> unused
}

/// The number that this many bytes of IEEE 754 represent.
fn float(word: u64, bytes: usize) -> f64 {
    match bytes {
        2 => half(word as u16),
        4 => f32::from_bits(word as u32).into(),
        _ => f64::from_bits(word),
    }
}

/// The number in IEEE 754's binary16.
fn half(word: u16) -> f64 {
    /// The distance of subnormal numbers, 2⁻²⁴.
    const STEP: f64 = 1.0 / (1u32 << 24) as f64;
    let (exponent, digits) = ((word >> 10) & 0x1f, word & 0x3ff);
    let magnitude = match (exponent, digits) {
        (0, digits) => f64::from(digits) * STEP,
        (0x1f, 0) => f64::INFINITY,
        (0x1f, _) => f64::NAN,
        (exponent, digits) => {
            f64::from(1024 + u32::from(digits)) * STEP * f64::from(1u32 << (exponent - 1))
        }
    };
    if word >> 15 == 1 { -magnitude } else { magnitude }
}
