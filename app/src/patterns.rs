//! Lists of kernel patterns, separated by commas outside braces.

/// Splits a list such as `cpu/{csr,hll}/*, vendor/*` into patterns without surrounding blanks.
pub(crate) fn split(list: &str) -> Vec<String> {
    let mut depth = 0usize;
    let parts = list.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn commas_separate_patterns_unless_they_stand_in_braces() {
        assert_eq!(
            split("cpu/{csr,hll}/*, cpu/coo/serial,"),
            ["cpu/{csr,hll}/*", "cpu/coo/serial"]
        );
        assert_eq!(split("{a,{b,c}},d"), ["{a,{b,c}}", "d"]);
        assert_eq!(split("a},b"), ["a}", "b"]);
        assert_eq!(split(" , "), [""; 0]);
    }
}
