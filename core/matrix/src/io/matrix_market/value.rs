//! The values of a nonzero, with one reader per field of a banner.

use num_complex::Complex64;

use super::body::{Expected, Notes};
use crate::io::scan::Cursor;
use crate::matrix::Scalar;

/// Reads the values of a field.
pub(super) trait Value {
    /// The type of the values in the matrix.
    type Scalar: Scalar;
    /// Minimum bytes of an array line, its line end included; a coordinate line has four more for
    /// its indices.
    const MIN_BYTES: u64;

    /// Reads the value at the cursor, which is past any blanks.
    fn read(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<Self::Scalar, Expected>;
}

pub(super) struct Real;
pub(super) struct Integer;
pub(super) struct Pattern;
pub(super) struct Complex;

impl Value for Real {
    type Scalar = f64;
    const MIN_BYTES: u64 = 2;

    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<f64, Expected> {
        read_real(cursor, notes).ok_or(Expected::Real)
    }
}

impl Value for Integer {
    type Scalar = f64;
    const MIN_BYTES: u64 = 2;

    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<f64, Expected> {
        let Some(integer) = cursor.integer() else { return read_misnamed_real(cursor, notes) };
        notes.rounded += u64::from(integer.rounded);
        Ok(integer.value)
    }
}

impl Value for Pattern {
    type Scalar = f64;
    const MIN_BYTES: u64 = 0;

    #[inline(always)]
    fn read(_: &mut Cursor<'_>, _: &mut Notes) -> Result<f64, Expected> {
        Ok(1.0)
    }
}

impl Value for Complex {
    type Scalar = Complex64;
    const MIN_BYTES: u64 = 4;

    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<Complex64, Expected> {
        let re = read_real(cursor, notes).ok_or(Expected::RealPart)?;
        cursor.skip_blanks();
        let im = read_real(cursor, notes).ok_or(Expected::ImaginaryPart)?;
        Ok(Complex64::new(re, im))
    }
}

/// Some programs write `inf`, `1.0` or `2.5e3` into integer files. The value is clear, so it is
/// read with a warning.
#[cold]
fn read_misnamed_real(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<f64, Expected> {
    let value = read_real(cursor, notes).ok_or(Expected::Integer)?;
    notes.misnamed += 1;
    Ok(value)
}

#[inline(always)]
fn read_real(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Option<f64> {
    let real = cursor.real()?;
    notes.overflowed += u64::from(real.overflowed);
    Some(real.value)
}
