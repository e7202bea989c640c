//! Patterns of kernel ids: `*` matches any text, slashes included, `?` any character and `{a,b}` one of the
//! patterns separated by commas.

use std::iter::once;
use std::mem::replace;

/// A parsed pattern. Matching follows all alternatives at once, so it takes at most steps × characters.
#[derive(Debug)]
pub(super) struct Pattern {
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Exactly(char),
    AnyCharacter,
    AnyText,
    /// Continue at one of these steps.
    OneOf(Vec<usize>),
    GoTo(usize),
}

/// Open braces: their [`Step::OneOf`], and the [`Step::GoTo`] after each alternative so far.
struct Braces {
    at: usize,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Pattern {
    /// Parses a pattern; fails with a description of the mistake.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let mut steps: Vec<Step> = Vec::new();
        let mut open: Vec<Braces> = Vec::new();
        for c in text.chars() {
            let next = steps.len() + 1;
            let step = match (c, open.last_mut()) {
                ('*', _) => Step::AnyText,
                ('?', _) => Step::AnyCharacter,
                ('[' | ']' | '\\', _) => {
                    return Err(format!("`{c}` is not supported; use `*`, `?` and `{{a,b}}`"));
                }
                ('{', _) => {
                    open.push(Braces { at: next - 1, starts: vec![next], ends: Vec::new() });
                    Step::OneOf(Vec::new())
                }
                (',', Some(braces)) => {
                    braces.ends.push(next - 1);
                    braces.starts.push(next);
                    Step::GoTo(next)
                }
                ('}', _) => {
                    let braces = open.pop().ok_or("`}` without a `{` before it")?;
                    steps[braces.at] = Step::OneOf(braces.starts);
                    for end in braces.ends {
                        steps[end] = Step::GoTo(next);
                    }
                    Step::GoTo(next)
                }
                (c, _) => Step::Exactly(c),
            };
            steps.push(step);
        }
        match open.is_empty() {
            true => Ok(Self { steps }),
            false => Err("`{` without a `}` after it".to_owned()),
        }
    }

    /// Whether the pattern matches all of `id`.
    pub(super) fn matches(&self, id: &str) -> bool {
        let mut at = self.reached(once(0));
        for c in id.chars() {
            let next = self.steps.iter().enumerate().filter(|&(k, _)| at[k]);
            at = self.reached(next.filter_map(|(k, step)| match step {
                Step::Exactly(expected) => (*expected == c).then_some(k + 1),
                Step::AnyCharacter => Some(k + 1),
                Step::AnyText => Some(k),
                Step::OneOf(_) | Step::GoTo(_) => None,
            }));
        }
        at[self.steps.len()]
    }

    /// The steps reached from `from` without consuming a character.
    fn reached(&self, from: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.steps.len() + 1];
        let mut open: Vec<usize> = from.collect();
        while let Some(k) = open.pop() {
            if !replace(&mut reached[k], true) {
                match self.steps.get(k) {
                    Some(Step::AnyText) => open.push(k + 1),
                    Some(Step::OneOf(starts)) => open.extend(starts),
                    Some(Step::GoTo(end)) => open.push(*end),
                    _ => {}
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_match_whole_ids() {
        let cases = [
            ("cpu/csr/serial", "cpu/csr/serial", true),
            ("cpu/csr", "cpu/csr/serial", false),
            ("csr/serial", "cpu/csr/serial", false),
            ("CPU/*", "cpu/csr/serial", false),
            ("*", "cpu/csr/serial", true),
            ("*", "", true),
            ("", "cpu", false),
            ("cpu/*", "cpu/csr/serial", true),
            ("cpu/*/serial", "cpu/csr/serial", true),
            ("cpu/*/serial", "cpu/serial", false),
            ("*csr*serial*", "cpu/csr/serial", true),
            ("cpu/**", "cpu/csr/serial", true),
            ("cpu/cs?/serial", "cpu/csr/serial", true),
            ("cpu/csr?/serial", "cpu/csr/serial", false),
            ("?", "é", true),
            ("cpu/{csr,hll}/*", "cpu/hll/guided", true),
            ("cpu/{csr,hll}/*", "cpu/coo/serial", false),
            ("cpu/{csr,{h,e}ll}/{s*l,rows}", "cpu/ell/serial", true),
            ("cpu/{csr,{h,e}ll}/{s*l,rows}", "cpu/hll/rows", true),
            ("cpu/{csr,{h,e}ll}/{s*l,rows}", "cpu/all/rows", false),
            ("cpu/csr/serial{,-x}", "cpu/csr/serial", true),
            ("cpu/csr/serial{,-x}", "cpu/csr/serial-x", true),
            ("{cpu}", "cpu", true),
            ("a,b", "a,b", true),
        ];
        for (pattern, id, expected) in cases {
            assert_eq!(Pattern::new(pattern).unwrap().matches(id), expected, "{pattern} {id}");
        }
    }

    #[test]
    fn braces_without_partners_and_signs_without_meaning_are_told() {
        let cases = [
            ("cpu/[csr", "`[` is not supported; use `*`, `?` and `{a,b}`"),
            ("cpu/csr]", "`]` is not supported; use `*`, `?` and `{a,b}`"),
            ("cpu\\csr", "`\\` is not supported; use `*`, `?` and `{a,b}`"),
            ("cpu/{csr,{hll}", "`{` without a `}` after it"),
            ("cpu/csr},hll", "`}` without a `{` before it"),
        ];
        for (pattern, expected) in cases {
            assert_eq!(Pattern::new(pattern).unwrap_err(), expected);
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let id = "a".repeat(300);
        assert!(!Pattern::new(&"*a".repeat(200)).unwrap().matches(&"a".repeat(199)));
        assert!(!Pattern::new(&format!("{}b", "*a".repeat(200))).unwrap().matches(&id));
        assert!(!Pattern::new(&format!("{}b", "{a,?,*}".repeat(200))).unwrap().matches(&id));
        let (left, right) = ("{".repeat(2000), "}".repeat(2000));
        assert!(Pattern::new(&format!("{left}a{right}")).unwrap().matches("a"));
    }
}
