//! What the parameters of solvers accept, and how their values are written.

use super::right_side::RightSide;

/// What a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Takes {
    /// One of these words.
    Words(&'static [&'static str]),
    /// An integer from 1 up.
    Whole { most: u32 },
    /// An integer from 1 up, or this word.
    WholeOr(&'static str),
    /// A number, or a word if there is one.
    Number { least: f64, or: &'static str },
    /// A right-hand side.
    RightSide,
}

impl Takes {
    /// A value as written in files, the same for all spellings of a number; otherwise what was
    /// expected.
    pub(super) fn value(self, text: &str) -> Result<String, String> {
        let whole = |most: u32| text.parse().ok().filter(|n| (1..=most).contains(n));
        let found = match self {
            Self::Words(words) => words.contains(&text).then(|| text.to_owned()),
            Self::Whole { most } => whole(most).map(|n| n.to_string()),
            Self::WholeOr(word) if text == word => Some(word.to_owned()),
            Self::WholeOr(_) => whole(u32::MAX).map(|n| n.to_string()),
            Self::Number { or, .. } if !or.is_empty() && text == or => Some(or.to_owned()),
            Self::Number { least, .. } => {
                let number = text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= least);
                number.map(written)
            }
            Self::RightSide => RightSide::of(text).map(|side| side.to_string()),
        };
        found.ok_or_else(|| self.expected())
    }

    fn expected(self) -> String {
        match self {
            Self::Words(words) => words.join(" or "),
            Self::Whole { most } => format!("a whole number from 1 to {most}"),
            Self::WholeOr(word) => format!("a whole number of at least 1, or {word}"),
            Self::RightSide => RightSide::WORDS.to_owned(),
            Self::Number { least, or } => {
                let or = if or.is_empty() { String::new() } else { format!(", or {or}") };
                match least {
                    0.0 => format!("a number of at least 0{or}"),
                    f64::MIN_POSITIVE => format!("a number greater than 0{or}"),
                    least => format!("a number of at least {least}{or}"),
                }
            }
        }
    }
}

/// The shortest digits that read back as the number.
fn written(number: f64) -> String {
    let is_plain = number == 0.0 || (1e-3..1e6).contains(&number);
    if is_plain { (number + 0.0).to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_in_one_way() {
        let number = Takes::Number { least: 0.0, or: "off" };
        for (text, expected) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1.050", "1.05"),
            ("1E-10", "1e-10"),
            ("0.0000000001", "1e-10"),
            (".001", "0.001"),
            ("off", "off"),
        ] {
            assert_eq!(number.value(text), Ok(expected.to_owned()), "{text}");
        }
        for wrong in ["-1", "inf", "nan", "", "on"] {
            assert_eq!(number.value(wrong).unwrap_err(), "a number of at least 0, or off");
        }
    }

    #[test]
    fn words_and_whole_numbers_say_what_they_expect() {
        let words = Takes::Words(&["zero", "precond"]);
        assert_eq!(words.value("zero"), Ok("zero".to_owned()));
        assert_eq!(words.value("one").unwrap_err(), "zero or precond");
        let whole = Takes::Whole { most: 9 };
        assert_eq!((whole.value("09"), whole.value("0").is_err()), (Ok("9".to_owned()), true));
        assert_eq!(whole.value("10").unwrap_err(), "a whole number from 1 to 9");
        assert_eq!(Takes::WholeOr("all").value("all"), Ok("all".to_owned()));
        let positive = Takes::Number { least: f64::MIN_POSITIVE, or: "" };
        assert_eq!(positive.value("0").unwrap_err(), "a number greater than 0");
    }
}
