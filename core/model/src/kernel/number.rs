//! How numbers of parameters are read, with what was expected instead, and written.

use std::fmt::Display;

/// An integer of 32 bits.
pub(super) fn integer(text: &str) -> Result<usize, String> {
    let number = text.parse::<u32>().map(|number| number as usize);
    number.map_err(|_| "a whole number".to_owned())
}

/// An integer from 1 to `most`.
pub(super) fn whole(text: &str, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("a whole number from 1 to {most}"))
}

/// A finite number of at least `least`.
pub(super) fn number(text: &str, least: f64) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= least)
}

/// A finite number of at least 0.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, 0.0).ok_or_else(|| "a number of at least 0".to_owned())
}

/// The value as it is displayed.
pub(super) fn plain<T: Display>(value: T) -> Option<String> {
    Some(value.to_string())
}

/// The shortest digits that read back as the number, the same for all its spellings.
pub(super) fn decimal(number: f64) -> Option<String> {
    let is_plain = number == 0.0 || (1e-3..1e6).contains(&number.abs());
    Some(if is_plain { (number + 0.0).to_string() } else { format!("{number:e}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_in_one_way() {
        for (text, expected) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1.050", "1.05"),
            ("1E-10", "1e-10"),
            ("0.0000000001", "1e-10"),
            (".001", "0.001"),
            ("12345678", "1.2345678e7"),
        ] {
            assert_eq!(not_negative(text).map(decimal), Ok(Some(expected.to_owned())), "{text}");
        }
        for wrong in ["-1", "inf", "nan", "", "off"] {
            assert_eq!(not_negative(wrong), Err("a number of at least 0".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_say_what_they_expect() {
        assert_eq!((whole("09", 9), integer("0")), (Ok(9), Ok(0)));
        for wrong in ["0", "10", "1.5", ""] {
            assert_eq!(whole(wrong, 9), Err("a whole number from 1 to 9".to_owned()), "{wrong}");
        }
        assert_eq!(integer("4294967296"), Err("a whole number".to_owned()));
    }
}
