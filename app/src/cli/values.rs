//! Parsers of option values, with errors that say what was expected.

use std::ops::RangeInclusive;
use std::time::Duration;

use sparsescope_core::kernel::{Parameter, ParameterError};
use sparsescope_figures::figure::{TYPE_PT, WIDTH_MM};

/// Default maximum size of a downloaded archive: more than any of the collection.
pub(super) const MAX_SIZE: u64 = 64 << 30;

pub(super) fn thread_count(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(threads @ 1..=4096) => Ok(threads),
        _ => Err("expected a number of threads from 1 to 4096".to_owned()),
    }
}

/// Threads per block: a multiple of the warp size.
pub(super) fn block_size(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(size @ 32..=1024) if size % 32 == 0 => Ok(size),
        _ => Err("expected a multiple of 32 from 32 to 1024".to_owned()),
    }
}

pub(super) fn factor(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|r: &f64| r.is_finite() && *r > 0.0);
    value.ok_or_else(|| "expected a factor such as 1.05".to_owned())
}

/// A duration: seconds, or a number with `s`, `m` or `h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit_at).unwrap_or((text, ""));
    let seconds = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    let length = number.trim().parse::<f64>().ok().map(|n| n * seconds).filter(|s| *s > 0.0);
    let length = length.and_then(|s| Duration::try_from_secs_f64(s).ok());
    length.ok_or_else(|| "expected a time such as 90s, 5m or 1.5h".to_owned())
}

/// A share between 0 and 1, as a fraction or in percent.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let share = share.ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "expected a fraction such as 1% or 0.01".to_owned())
}

/// Reads values of a parameter.
pub(super) fn value_of(
    parameter: Parameter,
) -> impl Fn(&str) -> Result<String, ParameterError> + Clone + Send + Sync + 'static {
    move |text| parameter.value(text.trim())
}

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|t: &f64| t.is_finite() && *t >= 0.0);
    value.ok_or_else(|| "expected a finite number that is not negative".to_owned())
}

/// A number of bytes, optionally with a decimal (k, M, G, T) or binary (Ki, Mi, Gi, Ti) suffix.
pub(super) fn byte_count(text: &str) -> Result<u64, String> {
    let text = text.trim().trim_end_matches(['B', 'b']);
    let digits = text.trim_end_matches(char::is_alphabetic);
    let suffix = text.get(digits.len()..).unwrap_or_default().to_lowercase();
    let unit: u64 = match suffix.as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        "ki" => 1 << 10,
        "mi" => 1 << 20,
        "gi" => 1 << 30,
        "ti" => 1 << 40,
        _ => 0,
    };
    let bytes = digits.trim().parse().ok().map(|count: f64| count * unit as f64);
    match bytes.filter(|bytes| *bytes >= 1.0 && *bytes < u64::MAX as f64) {
        Some(bytes) => Ok(bytes as u64),
        None => Err("expected a number of bytes such as 500M, 8G or 16GiB".to_owned()),
    }
}

/// A width on paper.
pub(super) fn width_mm(text: &str) -> Result<f32, String> {
    within(text, WIDTH_MM, "millimetres")
}

/// A size of type on paper.
pub(super) fn type_pt(text: &str) -> Result<f32, String> {
    within(text, TYPE_PT, "points")
}

fn within(text: &str, range: RangeInclusive<f32>, unit: &str) -> Result<f32, String> {
    let value = text.trim().parse().ok().filter(|value: &f32| range.contains(value));
    let [least, most] = [range.start(), range.end()];
    value.ok_or_else(|| format!("expected a number of {unit} from {least} to {most}"))
}

/// A number of bytes, or 0.
pub(super) fn spy_bytes(text: &str) -> Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { byte_count(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::parameters::HACK_SIZE;

    #[test]
    fn bytes_take_decimal_and_binary_suffixes() {
        let all = ["512", "8G", "1.5 G", "16GiB", "2kb"].map(byte_count);
        assert_eq!(all, [Ok(512), Ok(8_000_000_000), Ok(1_500_000_000), Ok(16 << 30), Ok(2000)]);
        for bad in ["", "G", "-1", "5X", "1e40", "nan"] {
            assert!(byte_count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_and_factors_are_positive_numbers_with_or_without_unit() {
        let all = ["90", "90s", "1.5m", "2 h"].map(|t| duration(t).map(|d| d.as_secs()));
        assert_eq!(all, [Ok(90), Ok(90), Ok(90), Ok(7200)]);
        for bad in ["", "m", "-1", "0", "5d", "nan", "1e400", "inf", "ten"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(factor("1.05"), Ok(1.05));
        assert!(["0", "-1", "inf", "nan", "x"].iter().all(|bad| factor(bad).is_err()));
    }

    #[test]
    fn sizes_on_paper_are_sensible() {
        assert_eq!([width_mm("85"), width_mm(" 20 "), type_pt("7.5")], [85.0, 20.0, 7.5].map(Ok));
        let expected = "expected a number of millimetres from 20 to 400";
        for bad in ["19.9", "401", "-85", "nan", "85mm", ""] {
            assert_eq!(width_mm(bad), Err(expected.to_owned()), "{bad}");
        }
        assert_eq!(type_pt("3"), Err("expected a number of points from 4 to 24".to_owned()));
    }

    #[test]
    fn shares_are_fractions_or_percent() {
        assert_eq!(["1%", "0.5 %", "0.01", " 2e-3"].map(share), [0.01, 0.005, 0.01, 0.002].map(Ok));
        for bad in ["1", "0", "0%", "100%", "-1%", "nan", "%", "five"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_the_formats_hack_sizes_and_sane_thread_counts_pass() {
        let hack_size = value_of(HACK_SIZE.id());
        assert_eq!(hack_size(" 64"), Ok("64".to_owned()));
        assert!(hack_size("33").is_err() && hack_size("2").is_err());
        assert!(block_size("160") == Ok(160) && block_size("100").is_err());
        assert!(thread_count("0").is_err() && thread_count("x").is_err());
        assert!(tolerance("inf").is_err() && tolerance("-1").is_err());
    }
}
