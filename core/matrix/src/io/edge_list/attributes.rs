//! The attributes of edges as NetworkX writes them: after each edge a dictionary of Python, such as
//! `{'weight': 0.5, 'color': 'red'}`.

use std::ops::Range;

/// The dictionary at the end of a line.
pub(super) struct Attributes {
    /// Where it begins.
    pub(super) begin: usize,
    /// Where the value of `weight` is.
    weight: Option<Range<usize>>,
    pub(super) has_others: bool,
}

impl Attributes {
    /// `None` for a line that does not end with one.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let begin = memchr::memchr(b'{', line)?;
        let inside = line.get(begin + 1..)?.trim_ascii_end().strip_suffix(b"}")?;
        let mut quote = None;
        let ends = |byte: &u8| {
            quote = match quote {
                None if matches!(*byte, b'\'' | b'"') => Some(*byte),
                Some(open) if open == *byte => None,
                same => same,
            };
            quote.is_none() && *byte == b','
        };
        let (mut at, mut weight, mut has_others) = (begin + 1, None, false);
        for item in inside.split(ends) {
            match item.trim_ascii().strip_prefix(b"'weight':") {
                Some(value) => {
                    let (value, end) = (value.trim_ascii_start(), at + item.trim_ascii_end().len());
                    // NumPy 2 calls its numbers by their type, such as np.float64(0.5).
                    let called = value
                        .strip_suffix(b")")
                        .and_then(|value| value.get(memchr::memchr(b'(', value)? + 1..));
                    let end = end - usize::from(called.is_some());
                    weight = Some(end - called.unwrap_or(value).len()..end);
                }
                None => has_others |= !item.trim_ascii().is_empty(),
            }
            at += item.len() + 1;
        }
        Some(Self { begin, weight, has_others })
    }

    /// What to tell the user.
    pub(super) fn warning(&self) -> Option<String> {
        let warning = match self.weight {
            Some(_) => "of the attributes after each edge, only the weight was read",
            None => "the attributes after each edge were not read: they have no weight",
        };
        self.has_others.then(|| warning.to_owned())
    }
}

/// Leaves of the attributes in each line the weight, padded with blanks.
pub(super) fn keep_weights(lines: &mut [u8]) {
    for line in lines.split_mut(|byte| *byte == b'\n') {
        let Some(Attributes { begin, weight, .. }) = Attributes::of(line) else { continue };
        let weight = weight.unwrap_or(begin..begin);
        let end = begin + weight.len();
        line.copy_within(weight, begin);
        line.get_mut(end..).unwrap_or_default().fill(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_dictionary_the_weight_is_left() {
        for (line, kept, has_others) in [
            ("0 1 {}", "0 1", false),
            ("0 1 {'weight': 0.5}\r", "0 1 0.5", false),
            ("0,1,{'color': 'red', 'weight': -2}", "0,1,-2", true),
            ("0 1 {'weight':1e-05 , 'a': [1, 2]} ", "0 1 1e-05", true),
            ("0 1 {'weight': np.float64(0.25)}", "0 1 0.25", false),
            ("0 1 {'weight': np.int64(3), 'b': 1}", "0 1 3", true),
            // Not the weight of the edge.
            ("0 1 {'a': \"'weight': 1, 'weight': 2\"}", "0 1", true),
            ("0 1 {'a': {'b': 1, 'weight': 3}}", "0 1 3}", true),
        ] {
            let mut lines = line.as_bytes().to_vec();
            assert_eq!(Attributes::of(&lines).unwrap().has_others, has_others, "{line}");
            keep_weights(&mut lines);
            assert_eq!(lines.len(), line.len());
            assert_eq!(std::str::from_utf8(&lines).unwrap().trim_end(), kept);
        }
        for line in ["0 1", "0 1 {'weight': 1", "0 1 {'weight': 1} x", ""] {
            let mut lines = line.as_bytes().to_vec();
            keep_weights(&mut lines);
            assert_eq!(lines, line.as_bytes());
        }
    }
}
