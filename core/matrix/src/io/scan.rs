//! Parses numbers from text: the cursor shared by the Matrix Market, vector and triplet readers. In the page, where size
//! counts more than speed, numbers are parsed in functions of their own.

use super::decimal::{byte, decimal, eight_at, ends_word, leading_digits, value_of};

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

    fn at_boundary(&self) -> bool {
        self.rest.first().is_none_or(|byte| ends_word(*byte))
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
        if let Some(eight) = eight_at(self.rest, 0) {
            let digits = leading_digits(eight);
            if (1..8).contains(&digits) {
                if !ends_word(byte(eight, digits)) {
                    return None;
                }
                self.advance(digits);
                return Some(value_of(eight, digits));
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
        if let Some((value, length)) = decimal(self.rest) {
            self.advance(length);
            return Some(Real { value, overflowed: false });
        }
        self.any_real()
    }

    /// Reads a line `row col value` and its end, with one blank between the numbers and nothing else, as most are.
    /// `None` means that the line must be read number by number; then the cursor does not move.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(super) fn triplet(&mut self, first: &mut FirstIndex) -> Option<(u32, u32, f64)> {
        // The compiler sees that most places are within this many bytes.
        let line: &[u8; 64] = self.rest.first_chunk()?;
        first.read(eight_at(line, 0)?)?;
        let at = first.length + 1;
        let (second, length) = short_index(eight_at(line, at)?)?;
        let at = at + length + 1;
        let (value, length) = decimal(line.get(at..)?)?;
        let end = at + length;
        let length = match line.get(end..)? {
            [b'\n', ..] => end + 1,
            [b'\r', b'\n', ..] => end + 2,
            _ => return None,
        };
        self.advance(length);
        Some((first.value, second, value))
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

/// The first number of a line, which is often that of the line before. It is only read where it differs: otherwise the
/// core goes on to the second number without waiting for the length of the first.
pub(super) struct FirstIndex {
    /// The bytes of the digits among eight, and the digits.
    mask: u64,
    digits: u64,
    value: u32,
    length: usize,
}

impl FirstIndex {
    /// That of no line.
    pub(super) fn none() -> Self {
        Self { mask: 0, digits: 1, value: 0, length: 0 }
    }

    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn read(&mut self, eight: u64) -> Option<()> {
        if eight & self.mask != self.digits {
            let (value, length) = short_index(eight)?;
            // With the blank after the digits.
            let mask = u64::MAX >> (56 - 8 * (length & 7));
            *self = Self { mask, digits: eight & mask, value, length };
        }
        Some(())
    }
}

/// A number of up to 7 digits before a blank, and its length.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn short_index(eight: u64) -> Option<(u32, usize)> {
    let digits = leading_digits(eight);
    let is_short = (1..8).contains(&digits) && matches!(byte(eight, digits), b' ' | b'\t');
    is_short.then(|| (value_of(eight, digits) as u32, digits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Most such lines are spelled as the lines of most files, and some are not.
    const LINE: &str = concat!(
        "[12]{1,9}[ \t]{1,2}[0-9]{1,9} ",
        "-?[0-9]{1,3}(\\.[0-9]{0,24}(e[-+]?[0-9]{1,2})?)?[ \r]?\n"
    );

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
    fn a_line_of_three_short_numbers_is_read_at_once() {
        let mut first = FirstIndex::none();
        let mut read = |line: &str| {
            let text = format!("{line}{}", " ".repeat(64));
            Cursor::new(text.as_bytes()).triplet(&mut first)
        };
        assert_eq!(read("17 4 0.12345678901234567\n"), Some((17, 4, 0.12345678901234566)));
        assert_eq!(read("17 1234567 -1.5e-20\n"), Some((17, 1234567, -1.5e-20)));
        assert_eq!(read("17 4 0.5\r\n"), Some((17, 4, 0.5)));
        assert_eq!(read("1\t2\t-0\n").map(|(row, col, _)| (row, col)), Some((1, 2)));
        for line in [
            "17  4 1\n",
            " 17 4 1\n",
            "17 4 1 \n",
            "17 4 1\r",
            "17 4 inf\n",
            "17 4\n",
            "% 17 4 1\n",
            "12345678 1 1\n",
        ] {
            assert_eq!(read(line), None, "{line:?}");
        }
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
            fraction in "0{0,9}[0-9]{0,21}",
            exponent in prop::option::of(prop_oneof![-80i32..81, -345i32..330]),
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
            scale in -200i32..200,
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
        fn lines_are_read_at_once_as_they_are_number_by_number(
            lines in prop::collection::vec(LINE, 1..20),
        ) {
            let text = format!("{}{}", lines.concat(), " ".repeat(64));
            let (mut whole, mut first) = (Cursor::new(text.as_bytes()), FirstIndex::none());
            for line in &lines {
                let mut each = whole;
                let row = each.unsigned().unwrap();
                each.skip_blanks();
                let col = each.unsigned().unwrap();
                each.skip_blanks();
                let value = each.real().unwrap().value;
                prop_assert!(each.end_of_line());
                match whole.triplet(&mut first) {
                    Some((r, c, v)) => {
                        prop_assert_eq!((r.into(), c.into(), v.to_bits()), (row, col, value.to_bits()), "{}", line);
                        prop_assert_eq!(whole.remaining(), each.remaining());
                    }
                    None => prop_assert_eq!(whole.remaining(), each.remaining() + line.len()),
                }
                whole = each;
            }
        }

        #[test]
        fn any_bytes_are_a_number_only_where_the_standard_library_agrees(text in "[-+0-9eE.]{1,12}") {
            let found = Cursor::new(text.as_bytes()).real().map(|r| r.value.to_bits());
            prop_assert_eq!(found, text.parse::<f64>().ok().map(f64::to_bits), "{}", text);
        }
    }
}
