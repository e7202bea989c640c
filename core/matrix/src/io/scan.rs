//! Parses numbers from text: the cursor shared by the Matrix Market, vector and triplet readers. In the page, where size
//! counts more than speed, numbers are parsed in functions of their own.

/// A position in text that holds numbers separated by blanks, one record per line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

/// Up to 2⁵³ every integer is an f64.
const LARGEST_EXACT: u64 = 1 << f64::MANTISSA_DIGITS;

/// A real number as read, and whether it overflowed to infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Real {
    pub(super) value: f64,
    pub(super) overflowed: bool,
}

/// An integer as read, and whether it was rounded because f64 cannot represent it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Integer {
    pub(super) value: f64,
    pub(super) rounded: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// The text not yet read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Number of bytes not yet read.
    pub(super) fn remaining(&self) -> usize {
        self.rest.len()
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Skips blanks. A carriage return is a blank, so that CRLF ends a line like LF.
    #[inline(always)]
    pub(super) fn skip_blanks(&mut self) {
        while let [b' ' | b'\t' | b'\r' | 0x0c, tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// Skips blank lines, comment lines and indentation up to the first byte of the next record;
    /// returns false at the end of the text.
    #[inline(always)]
    pub(super) fn next_record(&mut self) -> bool {
        loop {
            self.skip_blanks();
            match self.rest {
                [] => return false,
                [b'\n', tail @ ..] => self.rest = tail,
                [b'%', ..] => self.skip_line(),
                _ => return true,
            }
        }
    }

    #[cold]
    pub(super) fn skip_line(&mut self) {
        self.next_line();
    }

    /// Skips the rest of this line and its end.
    #[inline(always)]
    pub(super) fn next_line(&mut self) {
        let end = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |at| at + 1);
        self.advance(end);
    }

    /// Skips blanks and one line end; returns false when something else follows.
    #[inline(always)]
    pub(super) fn end_of_line(&mut self) -> bool {
        self.skip_blanks();
        match self.rest {
            [] => true,
            [b'\n', tail @ ..] => {
                self.rest = tail;
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn at_boundary(&self) -> bool {
        is_boundary(self.rest)
    }

    /// The text up to the next blank or line end, without moving.
    pub(super) fn token(&self) -> &'a [u8] {
        let end = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        self.rest.get(..end).unwrap_or_default()
    }

    /// Skips blanks and the text after them up to the next blank or line end.
    pub(super) fn skip_token(&mut self) {
        self.skip_blanks();
        self.advance(self.token().len());
    }

    /// Parses an unsigned integer, saturating at `u64::MAX`; on `None` the cursor does not move.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        if let Some(eight) = self.rest.first_chunk::<8>() {
            let (digits, value) = leading_digits(u64::from_le_bytes(*eight));
            if (1..8).contains(&digits) {
                let before = self.rest;
                self.advance(digits);
                if self.at_boundary() {
                    return Some(value);
                }
                self.rest = before;
                return None;
            }
        }
        self.unsigned_by_digit()
    }

    /// Parses numbers of eight or more digits, and those near the end of the text.
    #[inline(never)]
    fn unsigned_by_digit(&mut self) -> Option<u64> {
        let token = self.token();
        let digits = token.strip_prefix(b"+").unwrap_or(token);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let value = digits.iter().fold(0u64, |value, digit| {
            value.saturating_mul(10).saturating_add(u64::from(digit & 0x0f))
        });
        self.advance(token.len());
        Some(value)
    }

    /// Parses a real number: decimal, `1e5`, Fortran's `1D5`, `inf`, `nan`, with or without a sign;
    /// on `None` the cursor does not move.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn real(&mut self) -> Option<Real> {
        if let Some((value, rest)) = short_decimal(self.rest) {
            self.rest = rest;
            return Some(Real { value, overflowed: false });
        }
        self.any_real()
    }

    fn any_real(&mut self) -> Option<Real> {
        let before = self.rest;
        if let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(before) {
            self.advance(length);
            if self.at_boundary() {
                let overflowed = value.is_infinite() && !names_infinity(before);
                return Some(Real { value, overflowed });
            }
            self.rest = before;
        }
        self.real_with_fortran_exponent()
    }

    #[inline(never)]
    fn real_with_fortran_exponent(&mut self) -> Option<Real> {
        let token = self.token();
        // `inf` and `nan` contain no d, so a d can only be the exponent letter.
        let at = token.iter().position(|b| matches!(b, b'd' | b'D'))?;
        let mut decimal = token.to_vec();
        *decimal.get_mut(at)? = b'e';
        let value: f64 = fast_float2::parse(&decimal).ok()?;
        self.advance(token.len());
        Some(Real { value, overflowed: value.is_infinite() })
    }

    /// Parses an integer of any length with an optional sign; on `None` the cursor does not move.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn integer(&mut self) -> Option<Integer> {
        let before = self.rest;
        let negative = matches!(before, [b'-', ..]);
        if negative {
            self.advance(1);
        }
        if let Some(magnitude @ 0..=LARGEST_EXACT) = self.unsigned() {
            let value = magnitude as f64;
            return Some(Integer { value: if negative { -value } else { value }, rounded: false });
        }
        self.rest = before;
        self.long_integer()
    }

    #[inline(never)]
    fn long_integer(&mut self) -> Option<Integer> {
        let token = self.token();
        let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let value: f64 = fast_float2::parse(token).ok()?;
        self.advance(token.len());
        let exact = std::str::from_utf8(token).ok().and_then(|t| t.parse::<i128>().ok());
        // Beyond 128 bits only multiples of a large power of two are exact: treat as rounded.
        let rounded = exact.is_none_or(|exact| value as i128 != exact);
        Some(Integer { value, rounded })
    }
}

fn names_infinity(token: &[u8]) -> bool {
    let unsigned = match token {
        [b'+' | b'-', tail @ ..] => tail,
        _ => token,
    };
    matches!(unsigned, [b'i' | b'I', ..])
}

/// Whether a number that ends before `rest` is followed by the end of a word.
#[inline(always)]
fn is_boundary(rest: &[u8]) -> bool {
    matches!(rest, [] | [b' ' | b'\t' | b'\r' | b'\n' | 0x0c, ..])
}

/// Fast path for decimals of up to 19 digits, 7 of them before the decimal point; also returns the text after
/// them. `None` means that the full parser must decide.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn short_decimal(text: &[u8]) -> Option<(f64, &[u8])> {
    // No branch on the sign, which is unpredictable.
    let negative = *text.first()? == b'-';
    let mut rest = text.get(usize::from(negative)..)?;
    let (int_digits, mut mantissa) = leading_digits(u64::from_le_bytes(*rest.first_chunk()?));
    if !(1..8).contains(&int_digits) {
        return None;
    }
    rest = rest.get(int_digits..)?;
    let mut exponent = 0i64;
    if let [b'.', tail @ ..] = rest {
        rest = tail;
        let (mut digits, mut fraction) = (0, 0u64);
        loop {
            let eight = u64::from_le_bytes(*rest.first_chunk()?);
            let (more, value) = leading_digits(eight);
            digits += more;
            if int_digits + digits > MOST_DIGITS {
                return None;
            }
            rest = rest.get(more..)?;
            let value = if more == 8 { spelled(eight) } else { value };
            fraction = fraction * POWERS_OF_TEN.get(more)? + value;
            if more < 8 {
                break;
            }
        }
        mantissa = mantissa * POWERS_OF_TEN.get(digits)? + fraction;
        exponent = -(digits as i64);
    }
    if let [b'e' | b'E', tail @ ..] = rest {
        let (negative, tail) = match tail {
            [b'-', tail @ ..] => (true, tail),
            [b'+', tail @ ..] => (false, tail),
            _ => (false, tail),
        };
        let (digits, value) = leading_digits(u64::from_le_bytes(*tail.first_chunk()?));
        if !(1..8).contains(&digits) {
            return None;
        }
        rest = tail.get(digits..)?;
        exponent += if negative { -(value as i64) } else { value as i64 };
    }
    if !is_boundary(rest) {
        return None;
    }
    let magnitude = match EXACT_POWERS.get(exponent.unsigned_abs() as usize) {
        // Both numbers are exact, so that the result is rounded once (Clinger, PLDI 1990).
        Some(power) if mantissa <= LARGEST_EXACT => match exponent < 0 {
            true => mantissa as f64 / power,
            false => mantissa as f64 * power,
        },
        _ => rounded_product(mantissa, exponent)?,
    };
    let sign = u64::from(negative) << 63;
    Some((f64::from_bits(magnitude.to_bits() | sign), rest))
}

/// mantissa · 10^exponent, correctly rounded (Lemire, Software: Practice and Experience 51, 2021); `None` for 0 and
/// for exponents that the table lacks.
fn rounded_product(mantissa: u64, exponent: i64) -> Option<f64> {
    /// Bits of a product of 64 bits below those of a significand and the two that decide how it is rounded.
    const BELOW: u64 = 64 - f64::MANTISSA_DIGITS as u64 - 2;
    let (high, low) = *POWERS_OF_FIVE.get(usize::try_from(exponent + FURTHEST_POWER).ok()?)?;
    if mantissa == 0 {
        return None;
    }
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << zeros;
    let product = u128::from(mantissa) * u128::from(high);
    let (mut upper, mut lower) = ((product >> 64) as u64, product as u64);
    if upper & ((1 << BELOW) - 1) == (1 << BELOW) - 1 {
        // The lower half of the power may carry into the bits that decide.
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

/// Most digits of which u64 holds every number.
const MOST_DIGITS: usize = 19;

/// The powers 5^-27 to 5^27: their leading 64 bits, the first of which is 1, and the 64 bits after these. Those of
/// negative exponents are rounded up.
const POWERS_OF_FIVE: [(u64, u64); 2 * FURTHEST_POWER as usize + 1] = powers_of_five();

/// 5^27 is the largest power below 2^64.
const FURTHEST_POWER: i64 = 27;

#[expect(clippy::indexing_slicing, reason = "the compiler runs it and would find a wrong index")]
const fn powers_of_five() -> [(u64, u64); 2 * FURTHEST_POWER as usize + 1] {
    let middle = FURTHEST_POWER as usize;
    let mut powers = [(0, 0); 2 * FURTHEST_POWER as usize + 1];
    let mut power: u64 = 1;
    let mut k = 0;
    while k <= middle {
        let zeros = power.leading_zeros();
        powers[middle + k] = (power << zeros, 0);
        if k > 0 {
            // 2^b / power for the b that makes it 128 bits long, 64 bits at a time.
            let first = 1u128 << (127 - zeros);
            let divisor = power as u128;
            let (high, rest) = (first / divisor, first % divisor);
            let low = (rest << 64) / divisor;
            powers[middle - k] = (high as u64, low as u64 + 1);
        }
        if k < middle {
            power *= 5;
        }
        k += 1;
    }
    powers
}

/// 10⁰ to 10¹⁸.
const POWERS_OF_TEN: [u64; 19] = [
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
];

/// The powers of ten that f64 holds exactly: 10⁰ to 10²².
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Returns the number of leading digits among eight bytes (first byte lowest), and their value,
/// which is 0 for eight.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn leading_digits(eight: u64) -> (usize, u64) {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let values = eight ^ 0x3030_3030_3030_3030;
    // Adding 0x76 sets the high bit of bytes over 9. The carry disturbs later bytes only.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    let digits = (others.trailing_zeros() / 8) as usize;
    if !(1..8).contains(&digits) {
        return (digits, 0);
    }
    // Shift the digits to the end of the word: the zeros shifted in act as leading zeros.
    (digits, spelled(values << (64 - 8 * digits as u32)))
}

/// The value of eight digits (first one lowest), with three multiplications instead of a loop.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn spelled(eight: u64) -> u64 {
    let values = eight & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn real(text: &str) -> Option<f64> {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.real().map(|r| r.value)
    }

    #[test]
    fn reals_are_read_in_every_spelling_that_files_use() {
        for (text, value) in [
            ("1e5", 1e5),
            ("1D5", 1e5),
            ("1.5d+00", 1.5),
            ("-2.5D-3", -2.5e-3),
            ("+1", 1.0),
            (".5", 0.5),
            ("12.", 12.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e-400", 0.0),
        ] {
            assert_eq!(real(text), Some(value), "{text}");
        }
        assert!(real("NaN").unwrap().is_nan());
        assert!(real("-nan").unwrap().is_nan());
    }

    #[test]
    fn text_is_no_number_and_does_not_move_the_cursor() {
        for text in
            ["x", "1x", "1.5.2", "--1", "1e5e5", "+", "-", ".", "e5", "1d", "d5", "0x10", "1,5"]
        {
            let mut cursor = Cursor::new(text.as_bytes());
            assert_eq!(cursor.real(), None, "{text}");
            assert_eq!(cursor.remaining(), text.len(), "{text}");
        }
    }

    #[test]
    fn a_number_too_large_for_f64_is_infinite_and_says_so() {
        let overflow = |text: &str| Cursor::new(text.as_bytes()).real().unwrap();
        assert_eq!(overflow("1E9999"), Real { value: f64::INFINITY, overflowed: true });
        assert_eq!(overflow("-1D999"), Real { value: f64::NEG_INFINITY, overflowed: true });
        assert!(!overflow("-inf").overflowed);
    }

    #[test]
    fn integers_above_two_to_the_53_say_whether_they_were_rounded() {
        let read = |text: &str| Cursor::new(text.as_bytes()).integer().unwrap();
        assert_eq!(
            read("-9007199254740992"),
            Integer { value: -9007199254740992.0, rounded: false }
        );
        assert_eq!(read("9007199254740993"), Integer { value: 9007199254740992.0, rounded: true });
        assert!(!read("9007199254740994").rounded);
        assert_eq!(read("19223372036854775808").value, 19223372036854775808.0);
        let forty_digits = "1".repeat(40);
        assert_eq!(
            read(&forty_digits),
            Integer { value: forty_digits.parse().unwrap(), rounded: true }
        );
        assert_eq!(read("+7"), Integer { value: 7.0, rounded: false });
        assert_eq!(Cursor::new(b"1.5").integer(), None);
        assert_eq!(Cursor::new(b"-").integer(), None);
    }

    proptest! {
        #[test]
        fn unsigned_integers_agree_with_the_standard_library(
            value in prop_oneof![0u64..20_000_000_000, any::<u64>()],
            padding in prop::sample::select(vec!["", "          ", "\n", "\t5"]),
        ) {
            let text = format!("{value}{padding}");
            let mut cursor = Cursor::new(text.as_bytes());
            prop_assert_eq!(cursor.unsigned(), Some(value));
            prop_assert_eq!(cursor.remaining(), padding.len());
        }

        #[test]
        fn reals_agree_with_the_standard_library_to_the_last_bit(
            negative in any::<bool>(),
            int in 0u64..200_000_000,
            fraction in "[0-9]{0,19}",
            exponent in prop::option::of(-30i32..31),
            padding in prop::sample::select(vec!["", "          ", "\n1 1 1 1 1 1"]),
        ) {
            let sign = if negative { "-" } else { "" };
            let exponent = exponent.map_or(String::new(), |e| format!("e{e:+03}"));
            let number = format!("{sign}{int}.{fraction}{exponent}");
            let text = format!("{number}{padding}");
            let mut cursor = Cursor::new(text.as_bytes());
            let value = cursor.real().map(|r| r.value.to_bits());
            prop_assert_eq!(value, number.parse::<f64>().ok().map(f64::to_bits), "{}", number);
            prop_assert_eq!(cursor.remaining(), padding.len());
        }

        #[test]
        fn every_f64_is_read_back_from_each_number_of_digits(
            bits in any::<u64>(),
            places in 0usize..19,
            scale in -30i32..30,
        ) {
            let value = f64::from_bits(bits % (1 << 52) + (1023 << 52)) * 2f64.powi(scale);
            for text in [format!("{value:e} "), format!("{value:.places$e} "), format!("{value} ")] {
                let found = Cursor::new(text.as_bytes()).real().map(|r| r.value.to_bits());
                prop_assert_eq!(found, text.trim().parse::<f64>().ok().map(f64::to_bits), "{}", text);
            }
        }

        #[test]
        fn numbers_half_way_between_two_are_rounded_to_even(
            odd in ((1u64 << 53)..(1 << 54)).prop_map(|n| n | 1),
            exponent in -2i32..9,
        ) {
            // An odd number of 54 bits times a power of two, which is half-way between two numbers of 53 bits.
            let five = 5u64.pow(exponent.unsigned_abs());
            let integer = if exponent < 0 { odd * five } else { (odd / five) | 1 };
            let digits = integer.to_string();
            let (first, rest) = digits.split_at(1);
            let text = format!("{first}.{rest}e{} ", exponent + rest.len() as i32);
            let found = Cursor::new(format!("{text}        ").as_bytes()).real().map(|r| r.value);
            prop_assert_eq!(found.map(f64::to_bits), text.trim().parse::<f64>().ok().map(f64::to_bits), "{}", text);
        }

        #[test]
        fn any_bytes_are_a_number_only_where_the_standard_library_agrees(text in "[-+0-9eE.]{1,12}") {
            let found = Cursor::new(text.as_bytes()).real().map(|r| r.value.to_bits());
            prop_assert_eq!(found, text.parse::<f64>().ok().map(f64::to_bits), "{}", text);
        }
    }
}
