//! The columns of an edge list, and its text with blanks as separators.

use std::borrow::Cow;

use super::attributes::{Attributes, keep_weights};
use crate::io::error::quoted;
use crate::io::{IoError, Progress};
use crate::memory::MemoryLimit;
use crate::pace::Pace;
use crate::parallel::*;

/// What the columns that are read hold, in the order in which they are read.
const ROLES: [&str; 3] = ["from", "to", "weight"];
/// Names of the columns that hold the edges.
const FROM: [&str; 3] = ["source", "src", "from"];
const TO: [&str; 4] = ["target", "to", "dst", "dest"];
const WEIGHT: [&str; 3] = ["weight", "w", "value"];
/// Names of what is no weight, wherever it stands.
const NO_WEIGHT: [&str; 6] = ["time", "timestamp", "date", "id", "type", "label"];
/// Number of columns that are looked at.
const MOST_NAMES: usize = 1 << 10;
/// Number of columns not read that a warning names.
const NAMED: usize = 5;

/// The columns of a table that begins with their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// 1-based line of the names.
    pub(super) line: u64,
    separator: u8,
    /// The places, from 0, of those that are read, in the order of [`ROLES`].
    places: Vec<usize>,
    /// Whether the words of a line are those of these columns already, in this order.
    is_plain: bool,
    /// Which were read.
    pub(super) warning: String,
}

impl Columns {
    /// The columns with these names, in this line.
    pub(super) fn of(names: &[u8], line: u64) -> Self {
        let separates = |byte: &u8| fields(names, *byte).nth(1).is_some();
        let separator = [b';', b'\t', b','].into_iter().find(separates).unwrap_or(b' ');
        let names: Vec<String> = fields(names, separator)
            .take(MOST_NAMES)
            .map(|name| String::from_utf8_lossy(unquoted(name)).into_owned())
            .collect();
        let is_one_of =
            |name: &str, known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        let find = |known: &[&str]| names.iter().position(|name| is_one_of(name, known));
        let third = names.get(2).filter(|name| !is_one_of(name, &NO_WEIGHT)).map(|_| 2);
        let (places, tell) = match (find(&FROM), find(&TO)) {
            (Some(from), Some(to)) => {
                let third = third.filter(|_| from < 2 && to < 2 && names.len() == 3);
                ([Some(from), Some(to), find(&WEIGHT).or(third)], true)
            }
            _ => ([Some(0), Some(1), third], false),
        };
        let places: Vec<usize> = places.into_iter().flatten().collect();
        let may_be_more = !tell && places.len() == 3;
        let is_plain = (may_be_more || names.len() <= places.len())
            && places.iter().enumerate().all(|(k, place)| k == *place);
        let name = |place: usize| match names.get(place) {
            Some(name) => quoted(name.as_bytes()),
            None => format!("column {}", place + 1),
        };
        let read: Vec<String> = ROLES
            .iter()
            .zip(&places)
            .map(|(role, &place)| format!("{role} {}", name(place)))
            .collect();
        let mut warning =
            format!("line {line} was read as the names of the columns: {}", read.join(", "));
        if !tell {
            warning += "; the names do not tell, so their order decided";
        }
        let other = (0..names.len()).filter(|place| !is_plain && !places.contains(place));
        let mut other: Vec<String> = other.take(NAMED + 1).map(name).collect();
        if other.len() > NAMED {
            other.truncate(NAMED);
            other.push("…".to_owned());
        }
        if !other.is_empty() {
            warning += &format!("; not read: {}", other.join(", "));
        }
        Self { line, separator, places, is_plain, warning }
    }

    /// Leaves only the words of these columns in each line, in their order and padded with blanks. A line that
    /// lacks one becomes a single word, which is no edge.
    fn keep(&self, lines: &mut [u8]) {
        let mut kept = Vec::new();
        for line in lines.split_mut(|byte| *byte == b'\n') {
            let first = line.iter().position(|byte| !byte.is_ascii_whitespace());
            let Some(first) = first.and_then(|at| line.get_mut(at)) else { continue };
            if matches!(*first, b'#' | b'%') {
                *first = b'%';
                continue;
            }
            kept.clear();
            for &place in &self.places {
                let word = fields(line, self.separator).nth(place).map(unquoted);
                let word = word.unwrap_or_default();
                if word.is_empty() || word.iter().any(u8::is_ascii_whitespace) {
                    kept.clear();
                    break;
                }
                if !kept.is_empty() {
                    kept.push(b' ');
                }
                kept.extend_from_slice(word);
            }
            // A word that begins like a comment is not one.
            if kept.first().is_none_or(|first| *first == b'%') {
                let blanks = line.iter_mut().filter(|byte| byte.is_ascii_whitespace());
                blanks.for_each(|blank| *blank = b',');
                continue;
            }
            line.fill(b' ');
            line.iter_mut().zip(&kept).for_each(|(byte, kept)| *byte = *kept);
        }
    }
}

/// The fields of a line; several blanks separate like a single one.
fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut in_quotes = false;
    let ends = move |byte: &u8| {
        in_quotes ^= *byte == b'"';
        !in_quotes && (*byte == separator || separator == b' ' && byte.is_ascii_whitespace())
    };
    line.split(ends).filter(move |field| separator != b' ' || !field.is_empty())
}

/// A field without the blanks and quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    let inside = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    inside.map_or(field, <[u8]>::trim_ascii)
}

/// The character other than blanks that separates the words of the first line.
pub(super) fn separator(body: &[u8]) -> Option<u8> {
    let line = body.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let is_number = line.first().is_some_and(u8::is_ascii_digit);
    [b';', b','].into_iter().find(|separator| is_number && line.contains(separator))
}

/// How the lines of a list are written.
pub(super) struct Dialect<'c> {
    columns: Option<&'c Columns>,
    separator: Option<u8>,
    /// The attributes in the first line.
    pub(super) attributes: Option<Attributes>,
}

impl<'c> Dialect<'c> {
    pub(super) fn of(edges: &[u8], columns: Option<&'c Columns>) -> Self {
        let first = edges.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let columns = columns.filter(|columns| !columns.is_plain || first.contains(&b'"'));
        let attributes = Attributes::of(first).filter(|_| columns.is_none());
        let before = attributes.as_ref().map_or(first.len(), |attributes| attributes.begin);
        let separator = separator(first.get(..before).unwrap_or_default());
        Self { columns, separator, attributes }
    }

    /// Leaves the words of the columns that are read, blanks for the separators and `%` for the `#` of comments,
    /// so that no line moves.
    pub(super) fn change(&self, lines: &mut [u8]) {
        if self.attributes.is_some() {
            keep_weights(lines);
        }
        match self.columns {
            Some(columns) => columns.keep(lines),
            None => separate(lines, self.separator),
        }
    }

    fn changes(&self, lines: &[u8]) -> bool {
        self.columns.is_some()
            || self.attributes.is_some()
            || memchr::memchr2(self.separator.unwrap_or(b'#'), b'#', lines).is_some()
    }

    /// Writes changed lines to `space`; returns false if nothing in them changes.
    pub(super) fn rewrite(&self, lines: &[u8], space: &mut Vec<u8>) -> bool {
        let changes = self.changes(lines);
        if changes {
            space.clear();
            space.extend_from_slice(lines);
            self.change(space);
        }
        changes
    }

    /// The text with the lines from offset `body` changed.
    pub(super) async fn plain<'t>(
        &self,
        text: Cow<'t, [u8]>,
        body: usize,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<Cow<'t, [u8]>, IoError> {
        if !self.changes(text.get(body..).unwrap_or_default()) {
            return Ok(text);
        }
        if let Cow::Borrowed(text) = text {
            limit.check("the text without separators", text.len() as u128)?;
        }
        let mut text = text.into_owned();
        let edges = text.get_mut(body..).unwrap_or_default();
        in_pieces(edges, progress, &|lines: &mut [u8]| self.change(lines)).await?;
        Ok(Cow::Owned(text))
    }
}

fn separate(lines: &mut [u8], separator: Option<u8>) {
    // Mostly each separator follows a word, so that no state is needed, which is many times faster.
    let mark = separator.unwrap_or(b'#');
    let after = lines.get(1..).unwrap_or_default();
    let is_odd = lines.iter().zip(after).fold(false, |is_odd, (&before, &byte)| {
        is_odd | (byte == b'#') | ((byte == mark) & ((before <= b' ') | (before == mark)))
    });
    let is_odd = is_odd || lines.first().is_some_and(|first| [mark, b'#'].contains(first));
    if !is_odd {
        lines.iter_mut().for_each(|byte| *byte = if *byte == mark { b' ' } else { *byte });
        return;
    }
    // The last character of this line that is not a blank: two separators have nothing between them.
    let mut before = b'\n';
    for byte in lines {
        let found = *byte;
        if before == b'\n' && found == b'#' {
            *byte = b'%';
        } else if Some(found) == separator && before != b'\n' && before != found {
            *byte = b' ';
        }
        if found == b'\n' || !found.is_ascii_whitespace() {
            before = found;
        }
    }
}

/// Changes pieces of whole lines in parallel.
pub(super) async fn in_pieces(
    mut text: &mut [u8],
    progress: Progress<'_>,
    change: &(dyn Fn(&mut [u8]) + Sync),
) -> Result<(), IoError> {
    const PIECE: usize = 128 << 10;
    let most = match progress.pace() {
        Pace::AtOnce => 8 * current_num_threads(),
        Pace::InSteps => 1,
    };
    while !text.is_empty() {
        let mut wave = Vec::new();
        while wave.len() < most && !text.is_empty() {
            let least = PIECE.min(text.len());
            let end = memchr::memchr(b'\n', text.get(least..).unwrap_or_default());
            let end = end.map_or(text.len(), |at| least + at + 1);
            let (piece, rest) = std::mem::take(&mut text).split_at_mut(end);
            wave.push(piece);
            text = rest;
        }
        wave.into_par_iter().for_each(change);
        progress.rest().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The warning about these names without its beginning, and the words that are left of a line.
    fn read(names: &str, line: &str) -> (String, String) {
        let columns = Columns::of(names.as_bytes(), 1);
        let mut line = line.as_bytes().to_vec();
        if !columns.is_plain {
            columns.keep(&mut line);
        }
        let begin = "line 1 was read as the names of the columns: ";
        let warning = columns.warning.strip_prefix(begin).unwrap().to_owned();
        (warning, String::from_utf8(line).unwrap().trim().to_owned())
    }

    #[test]
    fn names_that_are_known_decide_and_others_leave_it_to_the_order() {
        let order = "; the names do not tell, so their order decided";
        for (names, line, warning, kept) in [
            ("src,dst", "1,2", "from \"src\", to \"dst\"", "1,2"),
            ("src,dst,rating", "1,2,3", "from \"src\", to \"dst\", weight \"rating\"", "1,2,3"),
            (
                "id,source,target",
                "9,1,2",
                "from \"source\", to \"target\"; not read: \"id\"",
                "1 2",
            ),
            (
                "\"Target\";\"W\";\"SOURCE\"",
                "\"2\"; 0.5 ;1\r",
                "from \"SOURCE\", to \"Target\", weight \"W\"",
                "1 2 0.5",
            ),
            (
                "source,target,timestamp,weight",
                "1,2,99,0.5",
                "from \"source\", to \"target\", weight \"weight\"; not read: \"timestamp\"",
                "1 2 0.5",
            ),
            ("from to date", " 1  2\t99", "from \"from\", to \"to\"; not read: \"date\"", "1 2"),
            (
                "Label\tfrom\tto",
                "New York\t1\t2",
                "from \"from\", to \"to\"; not read: \"Label\"",
                "1 2",
            ),
            (
                "name,source,target",
                "\"a, b\",1,2",
                "from \"source\", to \"target\"; not read: \"name\"",
                "1 2",
            ),
            ("a,b,c", "1,2,3", &format!("from \"a\", to \"b\", weight \"c\"{order}"), "1,2,3"),
            (
                "user,item,Time",
                "1,2,99",
                &format!("from \"user\", to \"item\"{order}; not read: \"Time\""),
                "1 2",
            ),
            ("a", "1 2", &format!("from \"a\", to column 2{order}"), "1 2"),
        ] {
            assert_eq!(read(names, line), (warning.to_owned(), kept.to_owned()), "{names}");
        }
        let (warning, _) = read("id,from,to,a,b,c,d,e", "1");
        assert!(warning.ends_with("not read: \"id\", \"a\", \"b\", \"c\", \"d\", …"), "{warning}");
    }

    proptest! {
        #[test]
        fn a_comment_elsewhere_does_not_change_which_separators_become_blanks(
            text in "[12, #\n]{0,16}",
        ) {
            let change = |text: &str| {
                let mut lines = text.as_bytes().to_vec();
                separate(&mut lines, Some(b','));
                lines
            };
            let mut beside = change(&format!("{text}\n#"));
            beside.truncate(text.len());
            prop_assert_eq!(change(&text), beside);
        }
    }

    #[test]
    fn a_line_that_lacks_a_column_is_no_edge_and_comments_stay() {
        for (line, kept) in [
            ("7 1 2", "7,1,2"),
            ("7", "7"),
            ("# 7 1 2", "% 7 1 2"),
            ("% 7 1 2 3", "% 7 1 2 3"),
            ("", ""),
            ("7 %1 2 3", "7,%1,2,3"),
        ] {
            assert_eq!(read("id source target weight", line).1, kept);
        }
    }
}
