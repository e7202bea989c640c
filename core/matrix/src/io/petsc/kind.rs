//! The type of PETSc's values, which its files do not say, judged by what the values would be.

use num_complex::Complex64;

/// The type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Single,
    Double,
    ComplexSingle,
    ComplexDouble,
}

impl Kind {
    pub(super) fn is_complex(self) -> bool {
        matches!(self, Self::ComplexSingle | Self::ComplexDouble)
    }

    pub(super) fn width(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double | Self::ComplexSingle => 8,
            Self::ComplexDouble => 16,
        }
    }

    /// The value in these bytes, which are as many as the width.
    pub(super) fn value(self, bytes: &[u8]) -> Complex64 {
        let single =
            |at| word(bytes, at, 4).map_or(0.0, |bits| f64::from(f32::from_bits(bits as u32)));
        let double = |at| word(bytes, at, 8).map_or(0.0, f64::from_bits);
        let (re, im) = match self {
            Self::Single => (single(0), 0.0),
            Self::Double => (double(0), 0.0),
            Self::ComplexSingle => (single(0), single(4)),
            Self::ComplexDouble => (double(0), double(8)),
        };
        Complex64::new(re, im)
    }
}

/// The bits of a big-endian number of 4 or 8 bytes.
pub(super) fn word(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let rest = bytes.get(at..)?;
    match width {
        4 => rest.first_chunk().map(|bytes| u32::from_be_bytes(*bytes).into()),
        _ => rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)),
    }
}

/// Whether a number is not 0 and unusually small or large, or not finite.
fn is_strange(value: f64, bits: i32) -> bool {
    let bound = 2f64.powi(bits);
    value != 0.0 && !(1.0 / bound..bound).contains(&value.abs())
}

/// What the halves of values of 8 bytes are.
pub(super) enum Halves {
    /// Parts of a number of 8 bytes.
    Digits,
    /// The same, but they could be two numbers.
    Perhaps,
    /// Two numbers of 4 bytes.
    Numbers,
}

/// Judges values of 8 bytes. Most second halves of real numbers are digits, which as numbers would have exponents
/// of any size, or 0; the first halves of complex ones are often whole numbers such as 4 and -1, which make the
/// odd real numbers 512 and -1/128.
pub(super) fn halves(values: &[u8]) -> Halves {
    /// Different second halves after which chance is ruled out.
    const ENOUGH: usize = 8;
    let (mut found, mut strange_doubles, mut strange_halves) = (0usize, 0, 0);
    let (mut doubles_whole, mut halves_whole, mut largest) = (true, true, 0.0f64);
    let mut seconds: Vec<u32> = Vec::new();
    for bytes in values.chunks_exact(8) {
        let (double, halves) = (Kind::Double.value(bytes).re, Kind::ComplexSingle.value(bytes));
        let Some(second) = word(bytes, 4, 4) else { continue };
        if double == 0.0 {
            continue;
        }
        found += 1;
        strange_doubles += usize::from(is_strange(double, 300));
        strange_halves += usize::from(is_strange(halves.re, 40) || is_strange(halves.im, 40));
        doubles_whole &= double.fract() == 0.0;
        halves_whole &= halves.re.fract() == 0.0;
        largest = largest.max(halves.re.abs());
        // The sign says nothing.
        let second = second as u32 & 0x7fff_ffff;
        if second != 0 && seconds.len() < ENOUGH && !seconds.contains(&second) {
            seconds.push(second);
        }
    }
    let numbers = strange_doubles * 2 > found
        || seconds.len() == ENOUGH
        || (halves_whole && largest >= 3.0 && !doubles_whole);
    match strange_halves * 20 <= found && found > 0 {
        true if numbers => Halves::Numbers,
        true if strange_halves == 0 && !seconds.is_empty() => Halves::Perhaps,
        _ => Halves::Digits,
    }
}

/// Whether values of 16 bytes are one number each rather than two of 8 bytes: the second halves are then digits,
/// which as numbers would have exponents of any size, or all 0 because the numbers are whole.
pub(super) fn are_quadruple(values: &[u8]) -> bool {
    let (mut found, mut strange) = (0usize, 0);
    let (mut quadruples_whole, mut doubles_whole) = (true, true);
    for bytes in values.chunks_exact(16) {
        let (pair, Some(first)) = (Kind::ComplexDouble.value(bytes), word(bytes, 0, 8)) else {
            continue;
        };
        if pair == Complex64::ZERO {
            continue;
        }
        found += 1;
        // 15 bits of exponent, then 48 of the 112 digits.
        let exponent = ((first >> 48) & 0x7fff) as i32 - 0x3fff;
        // Beyond the numbers that doubles reach, it is rather that of a part such as 0, NaN or 5e-324.
        let is_usual = (-1100..=1100).contains(&exponent);
        strange += usize::from(is_usual && pair.im.is_normal() && is_strange(pair.im, 200));
        let is_whole = (0..48).contains(&exponent) && first << (16 + exponent) == 0;
        quadruples_whole &= is_whole && word(bytes, 8, 8) == Some(0);
        doubles_whole &= pair.re.fract() == 0.0;
    }
    strange * 4 > found || (found > 0 && quadruples_whole && !doubles_whole)
}
