//! Number formatting.

use sparsescope_core::record::Distributed;

/// A size with three digits and a decimal unit.
pub fn bytes(count: u64) -> String {
    let (digits, prefix) = scaled(count as f64);
    format!("{digits} {prefix}B")
}

/// A count with a decimal prefix, e.g. `4.01 M`.
pub fn count(count: u64) -> String {
    let (digits, prefix) = scaled(count as f64);
    format!("{digits} {prefix}").trim_end().to_owned()
}

fn scaled(value: f64) -> (String, &'static str) {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) =
        prefixes.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    (significant(value / scale), prefix)
}

/// Three significant digits without an exponent.
pub fn significant(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e3 {
        return format!("{value}");
    }
    let decimals = match value.abs() {
        0.0 => 0,
        size => (2.0 - size.log10().floor()).clamp(0.0, 9.0) as usize,
    };
    format!("{value:.decimals$}")
}

/// How the nonzeros are distributed over the ranks, as a clause.
pub fn balance(shared: &Distributed) -> String {
    let most = significant(shared.imbalance());
    match (shared.ranks.len(), most.as_str()) {
        (1, _) => "it has all nonzeros".to_owned(),
        (_, "1") => "each has the same number of nonzeros".to_owned(),
        (_, "1.00") => "each has about the same number of nonzeros".to_owned(),
        (_, most) => format!("the largest has {most} times the mean nonzeros"),
    }
}

/// A number of any magnitude with two digits, e.g. `1.1e-16`.
pub fn small(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

/// A matrix value in at most twelve characters: five digits, all digits of whole numbers up to 10⁶,
/// an exponent above that and below 10⁻⁴, e.g. `-4`, `0.33333`, `2.0630e31`.
pub fn value(value: f64) -> String {
    let size = value.abs();
    if !size.is_finite() || size == 0.0 {
        return if size == 0.0 { "0".into() } else { value.to_string() };
    }
    if !(1e-4..=1e6).contains(&size) {
        return format!("{value:.4e}");
    }
    let decimals = (4.0 - size.log10().floor()).clamp(0.0, 8.0) as usize;
    let digits = format!("{value:.decimals$}");
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits,
    }
}

/// A count and its noun, e.g. `1 run`, `2 runs`.
pub fn plural(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// A number of slots, e.g. `1 slot`, `1.5 slots`.
pub fn slots(value: f64) -> String {
    let number = significant(value);
    if number == "1" { "1 slot".into() } else { format!("{number} slots") }
}

/// A time, e.g. `1.25 ms`.
pub fn seconds(value: f64) -> String {
    small_unit(value, "s")
}

/// An energy, e.g. `1.25 mJ`.
pub fn joules(value: f64) -> String {
    small_unit(value, "J")
}

fn small_unit(value: f64, unit: &str) -> String {
    let (scale, prefix) = match value {
        v if v >= 1.0 => (1.0, ""),
        v if v >= 1e-3 => (1e3, "m"),
        v if v >= 1e-6 => (1e6, "µ"),
        _ => (1e9, "n"),
    };
    format!("{} {prefix}{unit}", significant(value * scale))
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::RankShare;

    use super::*;

    #[test]
    fn the_largest_rank_is_mentioned_only_if_it_has_more_than_the_others() {
        let of = |all: &[u64]| {
            let share = |&entries: &u64| RankShare { entries, ..RankShare::default() };
            let ranks = all.iter().map(share).collect();
            balance(&Distributed { ranks, ..Distributed::default() })
        };
        assert_eq!(of(&[5]), "it has all nonzeros");
        assert_eq!(of(&[5, 5]), "each has the same number of nonzeros");
        assert_eq!(of(&[1001, 1000]), "each has about the same number of nonzeros");
        // The mean is 4.
        assert_eq!(of(&[5, 3]), "the largest has 1.25 times the mean nonzeros");
    }

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(4_007_383), "4.01 M");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(48_100_000_000), "48.1 GB");
        assert_eq!(seconds(0.001_25), "1.25 ms");
        assert_eq!(seconds(2.5e-8), "25 ns");
        assert_eq!([joules(2.5), joules(4e-4)], ["2.50 J", "400 µJ"]);
        assert_eq!(significant(0.012_34), "0.0123");
        assert_eq!([0, 1, 2].map(|n| plural(n, "run")), ["0 runs", "1 run", "2 runs"]);
    }

    #[test]
    fn values_are_short_however_large_or_small_they_are() {
        let expected = [
            (0.0, "0"),
            (-0.0, "0"),
            (-4.0, "-4"),
            (4501.0, "4501"),
            (2.5, "2.5"),
            (-1.0 / 3.0, "-0.33333"),
            (12_345.678, "12346"),
            (1e-4, "0.0001"),
            (-0.000_123_456, "-0.00012346"),
            (999_999.0, "999999"),
            (1e6, "1000000"),
            (-1_000_001.0, "-1.0000e6"),
            (2.063_006_902_324_907_2e31, "2.0630e31"),
            (9.9e-5, "9.9000e-5"),
            (-5e-324, "-4.9407e-324"),
            (f64::MAX, "1.7977e308"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ];
        for (number, text) in expected {
            assert_eq!(value(number), text, "{number:e}");
        }
    }
}
