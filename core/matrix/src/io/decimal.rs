//! Parses decimal numbers as most files have them, eight bytes at a time; others are left to the full parser. In the
//! page, where size counts more than speed, this is done in functions of their own.

/// A decimal at the beginning of a text, and its length. It has 7 digits at most before the decimal point, 23 after it,
/// below 10^19 altogether, and text after it. `None` means that the full parser must decide.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    // No branch on the sign, which is unpredictable.
    let negative = *text.first()? == b'-';
    let mut end = usize::from(negative);
    let eight = eight_at(text, end)?;
    // One digit before the point is seen without counting, so that the core can go on to those after it.
    let digits = match byte(eight, 0).is_ascii_digit() && byte(eight, 1) == b'.' {
        true => 1,
        false => leading_digits(eight),
    };
    if !(1..8).contains(&digits) {
        return None;
    }
    let mut mantissa = if digits == 1 { eight & 0x0f } else { value_of(eight, digits) };
    let mut exponent = 0i64;
    let mut next = byte(eight, digits);
    end += digits;
    if next == b'.' {
        let fraction;
        (mantissa, fraction, next) = with_fraction(mantissa, text.get(end + 1..)?)?;
        exponent = -(fraction as i64);
        end += 1 + fraction;
    }
    if matches!(next, b'e' | b'E') {
        end += 1;
        let sign = *text.get(end)?;
        end += usize::from(matches!(sign, b'-' | b'+'));
        let eight = eight_at(text, end)?;
        let digits = leading_digits(eight);
        if !(1..8).contains(&digits) {
            return None;
        }
        let value = value_of(eight, digits) as i64;
        exponent += if sign == b'-' { -value } else { value };
        next = byte(eight, digits);
        end += digits;
    }
    if !ends_word(next) {
        return None;
    }
    let power = match mantissa < SHORT {
        true => EXACT_POWERS.get(exponent.unsigned_abs() as usize),
        false => None,
    };
    let magnitude = match power {
        // Both numbers are exact, so that the result is rounded once (Clinger, PLDI 1990).
        Some(power) if exponent < 0 => mantissa as f64 / power,
        Some(power) => mantissa as f64 * power,
        None => rounded_product(mantissa, exponent)?,
    };
    let sign = u64::from(negative) << 63;
    Some((f64::from_bits(magnitude.to_bits() | sign), end))
}

/// Numbers below this are exact, and most files have either none or only such: where numbers have 15 to 17 digits, a
/// core would not foresee which of them f64 holds.
const SHORT: u64 = 1 << 43;

/// The number that the digits before the decimal point make with those after it, of which there are up to 23; how many
/// these are, and the byte after them.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn with_fraction(whole: u64, text: &[u8]) -> Option<(u64, usize, u8)> {
    // Each number of words has code of its own: the core need not wait for the digits to be counted.
    let first = eight_at(text, 0)?;
    let digits = leading_digits(first);
    if digits < 8 {
        let number = whole * power_of_ten(digits)? + value_of(first, digits);
        return Some((number, digits, byte(first, digits)));
    }
    let number = whole * 100_000_000 + spelled(first);
    let second = eight_at(text, 8)?;
    let digits = leading_digits(second);
    if digits < 8 {
        let number = appended(number, second, digits)?;
        return Some((number, 8 + digits, byte(second, digits)));
    }
    let third = eight_at(text, 16)?;
    let digits = leading_digits(third);
    if digits == 8 || number >= power_of_ten(MOST_DIGITS - 8 - digits)? {
        return None;
    }
    let number = number * 100_000_000 + spelled(second);
    let number = number * power_of_ten(digits)? + value_of(third, digits);
    Some((number, 16 + digits, byte(third, digits)))
}

/// A number with up to 7 digits more; `None` if it could exceed u64.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn appended(number: u64, eight: u64, digits: usize) -> Option<u64> {
    if number >= power_of_ten(MOST_DIGITS - digits)? {
        return None;
    }
    Some(number * power_of_ten(digits)? + value_of(eight, digits))
}

/// mantissa · 10^exponent, correctly rounded (Lemire, Software: Practice and Experience 51, 2021); `None` for exponents
/// that the table lacks.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn rounded_product(mantissa: u64, exponent: i64) -> Option<f64> {
    /// Bits of a product of 64 bits below those of a significand and the two that decide how it is rounded.
    const BELOW: u64 = 64 - f64::MANTISSA_DIGITS as u64 - 2;
    let (high, low) = *POWERS_OF_FIVE.get(usize::try_from(exponent + FURTHEST_POWER).ok()?)?;
    if mantissa == 0 {
        return Some(0.0);
    }
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << zeros;
    let product = u128::from(mantissa) * u128::from(high);
    let (mut upper, mut lower) = ((product >> 64) as u64, product as u64);
    if upper & ((1 << BELOW) - 1) == (1 << BELOW) - 1 {
        // The lower half of the power may carry into the bits that decide. What it is rounded up by never does, for
        // none of the mantissas.
        let more = (u128::from(mantissa) * u128::from(low)) >> 64;
        let (sum, carries) = lower.overflowing_add(more as u64);
        (upper, lower) = (upper + u64::from(carries), sum);
    }
    let top = upper >> 63;
    let below = top + BELOW;
    let mut significand = upper >> below;
    // Half-way between two numbers, which only these powers allow: round to even.
    let is_exact = lower <= 1 && significand << below == upper;
    if is_exact && (-4..=23).contains(&exponent) && significand & 3 == 1 {
        significand &= !1;
    }
    significand = (significand + (significand & 1)) >> 1;
    // floor(log2(10^exponent)), the place of the product's first bit, and the bias of f64.
    let binary = ((217_706 * exponent) >> 16) + 63 + top as i64 - i64::from(zeros) + 1023;
    // A carry out of the significand raises the exponent, as it should.
    let bits = ((binary as u64) << 52) + (significand - (1 << 52));
    Some(f64::from_bits(bits))
}

/// Digits of the longest numbers of which u64 holds every one.
const MOST_DIGITS: usize = 19;

/// The powers 5^-55 to 5^55: their leading 64 bits, the first of which is 1, and the 64 bits after these. Those of
/// negative exponents are rounded up.
static POWERS_OF_FIVE: [(u64, u64); 2 * FURTHEST_POWER as usize + 1] = powers_of_five();

/// 5^55 is the largest power below 2^128.
const FURTHEST_POWER: i64 = 55;

#[expect(clippy::indexing_slicing, reason = "the compiler runs it and would find a wrong index")]
const fn powers_of_five() -> [(u64, u64); 2 * FURTHEST_POWER as usize + 1] {
    let middle = FURTHEST_POWER as usize;
    let mut powers = [(0, 0); 2 * FURTHEST_POWER as usize + 1];
    let mut power: u128 = 1;
    let mut k = 0;
    while k <= middle {
        let zeros = power.leading_zeros();
        powers[middle + k] = halves(power << zeros);
        if k > 0 {
            // 2^b / power for the b that makes it 128 bits long, bit by bit.
            let (mut quotient, mut rest) = (0u128, 1u128 << (127 - zeros));
            let mut bit = 0;
            while bit < 128 {
                let exceeds = rest >> 127 == 1;
                (quotient, rest) = (quotient << 1, rest << 1);
                if exceeds || rest >= power {
                    (quotient, rest) = (quotient | 1, rest.wrapping_sub(power));
                }
                bit += 1;
            }
            powers[middle - k] = halves(quotient + 1);
        }
        if k < middle {
            power *= 5;
        }
        k += 1;
    }
    powers
}

const fn halves(bits: u128) -> (u64, u64) {
    ((bits >> 64) as u64, bits as u64)
}

#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn power_of_ten(exponent: usize) -> Option<u64> {
    POWERS_OF_TEN.get(exponent).copied()
}

/// 10⁰ to 10¹⁹.
static POWERS_OF_TEN: [u64; MOST_DIGITS + 1] = [
    1,
    10,
    100,
    1000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
    1_000_000_000_000,
    10_000_000_000_000,
    100_000_000_000_000,
    1_000_000_000_000_000,
    10_000_000_000_000_000,
    100_000_000_000_000_000,
    1_000_000_000_000_000_000,
    10_000_000_000_000_000_000,
];

/// The powers of ten that f64 holds exactly: 10⁰ to 10²².
static EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Whether a number before this byte ends there.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c)
}

/// Eight bytes of a text, the first one lowest.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn eight_at(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// One of eight bytes.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn byte(eight: u64, at: usize) -> u8 {
    (eight >> (8 * (at & 7))) as u8
}

/// The number of leading digits among eight bytes.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn leading_digits(eight: u64) -> usize {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let values = eight ^ 0x3030_3030_3030_3030;
    // Adding 0x76 sets the high bit of bytes over 9. The carry disturbs later bytes only.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    (others.trailing_zeros() / 8) as usize
}

/// The value of the first up to 7 of eight bytes, which are digits.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
pub(super) fn value_of(eight: u64, digits: usize) -> u64 {
    // Shift the digits to the end of the word: the zeros shifted in act as leading zeros.
    spelled(eight << 8 << (8 * (7 - (digits & 7))))
}

/// The value of eight digits (first one lowest), with three multiplications instead of a loop.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn spelled(eight: u64) -> u64 {
    // Each multiplies the lower of two neighbours by a power of ten and adds it to the higher.
    let pairs = (eight & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul((10 << 8) | 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul((100 << 16) | 1) >> 16;
    (fours & 0x0000_ffff_0000_ffff).wrapping_mul((10_000 << 32) | 1) >> 32
}
