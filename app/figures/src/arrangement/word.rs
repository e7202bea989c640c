//! Writes and parses an arrangement as one word of a link.

use std::fmt::Write as _;

use super::part::{Group, Part};

/// Maximum length and nesting depth of a word: a link may come from anywhere.
const MOST_BYTES: usize = 1000;
const MOST_DEPTH: usize = 6;

/// The part as a word.
pub(super) fn of(part: &Part) -> String {
    let mut text = String::new();
    write(part, &mut text);
    text
}

/// Parses a word; returns `None` if it is not a part.
pub(super) fn read(text: &str) -> Option<Part> {
    let mut reader = Reader { rest: text };
    let part = (text.len() <= MOST_BYTES).then(|| reader.part(0))??;
    reader.rest.is_empty().then_some(part)
}

/// The share of each of `parts` equal parts, in percent.
fn equal_share(parts: usize) -> u8 {
    u8::try_from((100 + parts / 2) / parts.max(1)).unwrap_or(100).max(1)
}

fn write(part: &Part, text: &mut String) {
    match part {
        Part::Group(group) => match (group.views.as_slice(), group.front) {
            ([view], _) => text.push_str(view),
            (views, 0) => {
                let _ = write!(text, "t({})", views.join(",")); // writing to a String cannot fail
            }
            (views, front) => {
                let _ = write!(text, "t{}({})", front + 1, views.join(","));
            }
        },
        Part::Split { down, parts } => {
            text.push_str(if *down { "v(" } else { "h(" });
            let equal = equal_share(parts.len());
            let all_equal = parts.iter().all(|(share, _)| *share == equal);
            for (index, (share, part)) in parts.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                if !all_equal {
                    let _ = write!(text, "{share}:");
                }
                write(part, text);
            }
            text.push(')');
        }
    }
}

/// Parses an arrangement's word from left to right.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn part(&mut self, depth: usize) -> Option<Part> {
        if depth > MOST_DEPTH {
            return None;
        }
        let word = self.word();
        if word.is_empty() {
            return None;
        }
        if !self.takes('(') {
            return Some(Part::Group(Group { views: vec![word.to_owned()], front: 0 }));
        }
        match word {
            "h" | "v" => {
                let (mut parts, mut explicit) = (Vec::new(), 0);
                loop {
                    let share = self.share();
                    explicit += usize::from(share.is_some());
                    parts.push((share.unwrap_or_default(), self.part(depth + 1)?));
                    if !self.takes(',') {
                        break;
                    }
                }
                let count = parts.len();
                if explicit == 0 {
                    parts.iter_mut().for_each(|(share, _)| *share = equal_share(count));
                }
                let whole = self.takes(')') && count > 1 && (explicit == 0 || explicit == count);
                whole.then_some(Part::Split { down: word == "v", parts })
            }
            _ => {
                let number = word.strip_prefix('t')?;
                let front = if number.is_empty() { 1 } else { number.parse().ok()? };
                let mut views = vec![self.word().to_owned()];
                while self.takes(',') {
                    views.push(self.word().to_owned());
                }
                let whole =
                    self.takes(')') && views.len() > 1 && (1..=views.len()).contains(&front);
                let named = views.iter().all(|view| !view.is_empty());
                (whole && named).then(|| Part::Group(Group { views, front: front - 1 }))
            }
        }
    }

    /// Letters, digits and hyphens; may be empty.
    fn word(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A share of 1 to 100 percent with its colon, if present.
    fn share(&mut self) -> Option<u8> {
        let (number, rest) = self.rest.split_once(':')?;
        let share = number.parse().ok().filter(|share| (1..=100).contains(share))?;
        self.rest = rest;
        Some(share)
    }

    fn takes(&mut self, what: char) -> bool {
        let rest = self.rest.strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
