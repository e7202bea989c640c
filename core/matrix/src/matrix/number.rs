//! Formats of floating-point numbers.

/// A format of floating-point numbers: IEEE 754's, and bfloat16, which is binary32 without its last 16 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// IEEE binary64.
    F64,
    /// IEEE binary32.
    F32,
    /// bfloat16.
    Bf16,
    /// IEEE binary16.
    F16,
}

/// The bits of infinity in the two formats of 16 bits.
const BF16_INFINITY: u16 = 0x7f80;
const F16_INFINITY: u16 = 0x7c00;

impl Number {
    /// `f64`, `f32`, `bf16` or `f16`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::Bf16 | Self::F16 => 2,
        }
    }

    /// Binary digits of a normal number.
    fn digits(self) -> i32 {
        match self {
            Self::F64 => 53,
            Self::F32 => 24,
            Self::Bf16 => 8,
            Self::F16 => 11,
        }
    }

    /// Exponent of the smallest positive number, which is subnormal.
    fn least_exponent(self) -> i32 {
        match self {
            Self::F64 => -1074,
            Self::F32 => -149,
            Self::Bf16 => -133,
            Self::F16 => -24,
        }
    }

    /// Largest finite number.
    pub fn largest(self) -> f64 {
        match self {
            Self::F64 => f64::MAX,
            Self::F32 => f64::from(f32::MAX),
            Self::Bf16 => power_of_two(127) * (2.0 - power_of_two(-7)),
            Self::F16 => 65504.0,
        }
    }

    /// Smallest positive number: 2⁻¹⁰⁷⁴, 2⁻¹⁴⁹, 2⁻¹³³ or 2⁻²⁴.
    pub fn smallest(self) -> f64 {
        power_of_two(self.least_exponent())
    }

    /// Largest relative error of rounding to a normal number: 2⁻⁵³, 2⁻²⁴, 2⁻⁸ or 2⁻¹¹.
    pub fn unit_roundoff(self) -> f64 {
        power_of_two(-self.digits())
    }

    /// Largest error of rounding a number of this size.
    pub fn rounding_error(self, size: f64) -> f64 {
        (self.unit_roundoff() * size).max(self.smallest() / 2.0)
    }

    /// The nearest number, ties to even; infinite when `value` is finite but too large.
    pub fn rounded(self, value: f64) -> f64 {
        match self {
            Self::F64 => value,
            Self::F32 => f64::from(value as f32),
            Self::Bf16 | Self::F16 if value.is_finite() => {
                // Where neighbours of the value are this far apart, dividing and multiplying by it is exact.
                let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
                let spacing =
                    power_of_two((exponent + 1 - self.digits()).max(self.least_exponent()));
                let nearest = (value / spacing).round_ties_even() * spacing;
                let fits = nearest.abs() <= self.largest();
                if fits { nearest } else { f64::INFINITY.copysign(value) }
            }
            Self::Bf16 | Self::F16 => value,
        }
    }
}

/// 2 to the power of an exponent from −1074 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        -1022.. => f64::from_bits(((1023 + exponent) as u64) << 52),
        _ => f64::from_bits(1 << (1074 + exponent)),
    }
}

/// The bits of a value as a bfloat16, rounded to the nearest, ties to even. A NaN stays one, without its payload.
pub fn bf16_bits(value: f32) -> u16 {
    if value.is_nan() {
        return BF16_INFINITY | 1 << 6;
    }
    let rounded = Number::Bf16.rounded(f64::from(value)) as f32;
    (rounded.to_bits() >> 16) as u16
}

/// The bits of a value as an IEEE binary16, rounded to the nearest, ties to even. A NaN stays one, without its
/// payload.
pub fn f16_bits(value: f32) -> u16 {
    if value.is_nan() {
        return F16_INFINITY | 1 << 9;
    }
    let rounded = Number::F16.rounded(f64::from(value));
    let sign = if rounded.is_sign_negative() { 1 << 15 } else { 0 };
    let size = rounded.abs();
    if size.is_infinite() {
        return sign | F16_INFINITY;
    }
    // Below 2⁻¹⁴ numbers are multiples of the smallest, 2⁻²⁴.
    if size < power_of_two(-14) {
        return sign | (size / Number::F16.smallest()) as u16;
    }
    // The exponent and the first ten digits of binary64, with a bias of 15 instead of 1023.
    sign | ((size.to_bits() >> 42) - ((1023 - 15) << 10)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number with these bits, by the definition of the formats.
    fn number(format: Number, bits: u16) -> f64 {
        let (fraction_bits, bias) = match format {
            Number::Bf16 => (7, 127),
            _ => (10, 15),
        };
        let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
        let exponent = i32::from(bits & 0x7fff) >> fraction_bits;
        let fraction = f64::from(bits & ((1 << fraction_bits) - 1)) / 2f64.powi(fraction_bits);
        match exponent {
            0 => sign * fraction * 2f64.powi(1 - bias),
            _ if exponent == 2 * bias + 1 && fraction == 0.0 => sign * f64::INFINITY,
            _ if exponent == 2 * bias + 1 => f64::NAN,
            _ => sign * (1.0 + fraction) * 2f64.powi(exponent - bias),
        }
    }

    fn bits(format: Number, value: f32) -> u16 {
        match format {
            Number::Bf16 => bf16_bits(value),
            _ => f16_bits(value),
        }
    }

    #[test]
    fn known_values_have_the_bits_of_the_tables() {
        // IEEE 754's binary16: the rows of the table that Wikipedia gives.
        for (value, bits) in [
            (0.0, 0x0000),
            (2f32.powi(-24), 0x0001),
            (2f32.powi(-14) * (1023.0 / 1024.0), 0x03ff),
            (2f32.powi(-14), 0x0400),
            (1.0 / 3.0, 0x3555),
            (1.0 - 2f32.powi(-11), 0x3bff),
            (1.0, 0x3c00),
            (1.0 + 2f32.powi(-10), 0x3c01),
            (65504.0, 0x7bff),
            (f32::INFINITY, 0x7c00),
            (-0.0, 0x8000),
            (-2.0, 0xc000),
            (f32::NEG_INFINITY, 0xfc00),
        ] {
            assert_eq!(f16_bits(value), bits, "{value:e}");
        }
        // bfloat16, likewise. The bits of pi in binary32 are 0x40490fdb, those of 1/3 0x3eaaaaab.
        for (value, bits) in [
            (0.0, 0x0000),
            (-0.0, 0x8000),
            (1.0, 0x3f80),
            (-2.0, 0xc000),
            (std::f32::consts::PI, 0x4049),
            (1.0 / 3.0, 0x3eab),
            (3.389_531_4e38, 0x7f7f),
            (f32::INFINITY, 0x7f80),
            (f32::NEG_INFINITY, 0xff80),
            (f32::from_bits(1 << 16), 0x0001),
        ] {
            assert_eq!(bf16_bits(value), bits, "{value:e}");
        }
        assert!(number(Number::F16, f16_bits(f32::NAN)).is_nan());
        assert!(number(Number::Bf16, bf16_bits(f32::NAN)).is_nan());
        assert_eq!((Number::F16.largest(), Number::F16.smallest()), (65504.0, 2f64.powi(-24)));
        assert_eq!(Number::F64.smallest(), f64::from_bits(1));
        assert_eq!(Number::F32.smallest(), f64::from(f32::from_bits(1)));
        assert_eq!(Number::F32.unit_roundoff(), f64::from(f32::EPSILON) / 2.0);
        assert_eq!(Number::F64.unit_roundoff(), f64::EPSILON / 2.0);
    }

    #[test]
    fn every_number_in_16_bits_is_itself_and_between_two_the_nearest_is_taken_and_ties_go_to_even()
    {
        for format in [Number::Bf16, Number::F16] {
            let infinity = if format == Number::Bf16 { BF16_INFINITY } else { F16_INFINITY };
            for lower in 0..infinity {
                let [low, high] = [lower, lower + 1].map(|bits| number(format, bits));
                assert_eq!((bits(format, low as f32), format.rounded(low)), (lower, low));
                // What would follow the largest is where infinity starts.
                let high =
                    if high.is_finite() { high } else { 2.0 * low - number(format, lower - 1) };
                let middle = f64::midpoint(low, high);
                let even = if lower % 2 == 0 { lower } else { lower + 1 };
                for (value, nearest) in
                    [(middle.next_down(), lower), (middle, even), (middle.next_up(), lower + 1)]
                {
                    let expected = number(format, nearest);
                    assert_eq!(format.rounded(value), expected, "{format:?} {value:e}");
                    assert_eq!(format.rounded(-value), -expected, "{format:?} {value:e}");
                    if expected.is_finite() {
                        let error = (expected - value).abs();
                        assert!(error <= format.rounding_error(value), "{format:?} {value:e}");
                    }
                }
                // The tie is a number in f32, too.
                if middle == f64::from(middle as f32) {
                    assert_eq!(bits(format, middle as f32), even, "{format:?} {middle:e}");
                }
            }
        }
    }

    #[test]
    fn rounding_once_is_not_rounding_through_f32() {
        // Just above the tie of 1 and 1 + 2⁻⁷: through f32 it would become the tie, and go to 1.
        let value = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(Number::Bf16.rounded(value), 1.0 + 2f64.powi(-7));
        assert_eq!(Number::Bf16.rounded(f64::from(value as f32)), 1.0);
        assert_eq!(Number::F16.rounded(65519.999), 65504.0);
        assert_eq!(Number::F16.rounded(-65520.0), f64::NEG_INFINITY);
        assert_eq!(Number::Bf16.rounded(f64::MAX), f64::INFINITY);
        assert_eq!(Number::F16.rounded(f64::from_bits(1)), 0.0);
        assert!(Number::F16.rounded(f64::NAN).is_nan());
    }
}
