//! The values of a nonzero, as the field of the banner says.

use num_complex::Complex64;

use super::body::{Expected, Notes};
use crate::io::Field;
use crate::io::scan::{Cursor, FirstIndex};
use crate::matrix::Scalar;

/// Minimum bytes of an array line, its line end included; a coordinate line has four more for its indices.
pub(super) fn min_bytes(field: Field) -> u64 {
    match field {
        Field::Real | Field::Integer => 2,
        Field::Pattern => 0,
        Field::Complex => 4,
    }
}

/// A value that a file can contain.
pub(super) trait Value: Scalar {
    /// Reads the value at the cursor, which is past any blanks.
    fn read(field: Field, cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<Self, Expected>;

    /// Reads a line with this value that is spelled as most are; on `None` the cursor does not move.
    fn read_line(_: Field, _: &mut Cursor<'_>, _: &mut FirstIndex) -> Option<(u32, u32, Self)> {
        None
    }
}

impl Value for f64 {
    // All values of a file have the same field, so that its branch costs nothing and one reader serves three.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn read(field: Field, cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<Self, Expected> {
        match field {
            Field::Pattern => Ok(1.0),
            Field::Integer => {
                let Some(integer) = cursor.integer() else {
                    return read_misnamed_real(cursor, notes);
                };
                notes.rounded += u64::from(integer.rounded);
                Ok(integer.value)
            }
            Field::Real | Field::Complex => read_real(cursor, notes).ok_or(Expected::Real),
        }
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn read_line(
        field: Field,
        cursor: &mut Cursor<'_>,
        first: &mut FirstIndex,
    ) -> Option<(u32, u32, Self)> {
        if field == Field::Real { cursor.triplet(first) } else { None }
    }
}

impl Value for Complex64 {
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn read(_: Field, cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<Self, Expected> {
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

#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn read_real(cursor: &mut Cursor<'_>, notes: &mut Notes) -> Option<f64> {
    let real = cursor.real()?;
    notes.overflowed += u64::from(real.overflowed);
    Some(real.value)
}
