//! Numbers as people read them.

/// A size as people read it: three digits and a decimal unit.
pub fn bytes(count: u64) -> String {
    let (digits, prefix) = scaled(count as f64);
    format!("{digits} {prefix}B")
}

/// A number of things as people read it, e.g. `4.01 M`.
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

/// A number that may be far from 1, with two digits, e.g. `1.1e-16`.
pub fn small(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

/// Slots as people read them, e.g. `1 slot`, `1.5 slots`.
pub fn slots(value: f64) -> String {
    let number = significant(value);
    if number == "1" { "1 slot".into() } else { format!("{number} slots") }
}

/// A time as people read it, e.g. `1.25 ms`.
pub fn seconds(value: f64) -> String {
    let (scale, unit) = match value {
        v if v >= 1.0 => (1.0, "s"),
        v if v >= 1e-3 => (1e3, "ms"),
        v if v >= 1e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", significant(value * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(4_007_383), "4.01 M");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(48_100_000_000), "48.1 GB");
        assert_eq!(seconds(0.001_25), "1.25 ms");
        assert_eq!(seconds(2.5e-8), "25 ns");
        assert_eq!(significant(0.012_34), "0.0123");
    }
}
