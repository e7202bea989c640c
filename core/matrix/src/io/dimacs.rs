//! Graphs of the DIMACS challenges: comments `c`, a line `p KIND vertices edges`, then a line per edge. The kinds
//! are `sp` (shortest paths, `a from to length`), `max` (maximum flow, `a from to capacity`), and `edge` or `col`
//! (cliques and coloring, `e vertex vertex`, undirected). Vertices count from 1.

use super::error::{counted, quoted};
use super::matrix_market::{self, Format, Header, Lines};
use super::unpack::without_mark;
use super::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry};
use crate::matrix::{Extent, FormatError};
use crate::memory::MemoryLimit;
use crate::pace::{Pace, at_once};

/// What the first line after the comments must contain.
const PROBLEM: &str = "the line \"p sp|max|edge|col VERTICES EDGES\" of a DIMACS graph";

/// Whether a file is such a graph: lines `c` and then a line `p`, or only lines `c` in what is looked at and a
/// name of such graphs.
pub(super) fn is_meant(name: &str, data: &[u8]) -> bool {
    /// Bytes that are looked at, as of compressed files.
    const LONGEST: usize = 512;
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let endings = [".gr", ".col", ".clq", ".max", ".dimacs"];
    let is_named = endings.iter().any(|ending| name.ends_with(ending));
    let text = without_mark(data);
    let text = text.get(..LONGEST).unwrap_or(text);
    let mut comments = 0;
    for line in text.split(|byte| *byte == b'\n') {
        match first_word(line) {
            b"" => {}
            // Some comments have no blank after the letter.
            [b'c', after @ ..] if is_named || after.is_empty() => comments += 1,
            b"p" => {
                let vertices = words(line).nth(2).unwrap_or_default();
                return is_named || vertices.first().is_some_and(u8::is_ascii_digit);
            }
            _ => return false,
        }
    }
    is_named && comments > 0
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn first_word(line: &[u8]) -> &[u8] {
    words(line).next().unwrap_or_default()
}

/// The kind of graph, and its header as of a Matrix Market file.
struct Problem {
    /// What a line with an edge begins with.
    letter: u8,
    /// What such a line must look like.
    edge: &'static str,
    header: Header,
}

impl Problem {
    /// Reads up to the line `p`.
    fn read(text: &[u8]) -> Result<Self, IoError> {
        let mut lines = Lines::new(text);
        let line = loop {
            match lines.next() {
                Some(line) if matches!(first_word(line), [b'c', ..] | b"") => {}
                line => break line.unwrap_or_default().trim_ascii(),
            }
        };
        let unexpected = || IoError::Unexpected {
            line: lines.number,
            expected: PROBLEM.to_owned(),
            found: if line.is_empty() { "the end of the file".to_owned() } else { quoted(line) },
        };
        let mut words = words(line);
        let (mark, kind) = (words.next(), words.next());
        let (letter, edge, field, symmetry) = match kind {
            Some(b"sp") => (b'a', "a line \"a FROM TO LENGTH\"", Field::Integer, Symmetry::General),
            Some(b"max") => {
                (b'a', "a line \"a FROM TO CAPACITY\"", Field::Integer, Symmetry::General)
            }
            Some(b"edge" | b"edges" | b"col") => {
                (b'e', "a line \"e VERTEX VERTEX\"", Field::Pattern, Symmetry::Symmetric)
            }
            _ => return Err(unexpected()),
        };
        let numbers = words.map(|word| std::str::from_utf8(word).ok()?.parse::<u64>().ok());
        let numbers: Option<Vec<u64>> = numbers.take(3).collect();
        let Some([vertices, edges]) = numbers.as_deref().filter(|_| mark == Some(&b"p"[..])) else {
            return Err(unexpected());
        };
        let (rows, cols) = (*vertices, *vertices);
        let Ok(small) = u32::try_from(rows) else {
            return Err(FormatError::DimensionTooLarge { rows, cols }.into());
        };
        let header = Header {
            format: Format::Coordinate,
            field,
            symmetry,
            rows: small,
            cols: small,
            base: 1,
            banner: None,
            ignores_numbers: false,
            declared: *edges,
            size_line: lines.number,
            body: lines.position,
        };
        Ok(Self { letter, edge, header })
    }

    /// The text with blanks for the letters of edges, and `%` for those of other lines, so that nothing moves;
    /// and the number of lines that are no edges and no comments.
    fn plain(&self, text: &[u8], progress: Progress<'_>) -> Result<(Vec<u8>, u64), IoError> {
        /// Lines between checks for cancellation.
        const WAVE: u64 = 1 << 16;
        let mut plain = text.to_vec();
        let mut rest = plain.get_mut(self.header.body..).unwrap_or_default();
        let (mut number, mut skipped) = (self.header.size_line, 0);
        while !rest.is_empty() {
            number += 1;
            if number.is_multiple_of(WAVE) {
                progress.check()?;
            }
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let Some(line) = rest.split_off_mut(..end) else { break };
            let Some(begin) = line.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                continue;
            };
            let Some(line) = line.get_mut(begin..) else { break };
            let letter = match &*line {
                [letter, after, ..] if after.is_ascii_whitespace() => *letter,
                [letter] | [letter @ b'c', ..] => *letter,
                _ => 0,
            };
            let instead = match letter {
                letter if letter == self.letter => b' ',
                b'c' => b'%',
                b'n' | b'd' | b'v' | b'x' => {
                    skipped += 1;
                    b'%'
                }
                _ => {
                    let (expected, found) = (self.edge.to_owned(), quoted(line.trim_ascii()));
                    return Err(IoError::Unexpected { line: number, expected, found });
                }
            };
            if let Some(first) = line.first_mut() {
                *first = instead;
            }
        }
        Ok((plain, skipped))
    }
}

/// The declared sizes.
pub(super) fn extent(text: &[u8], _: &ReadOptions) -> Result<Extent, IoError> {
    let Header { rows, cols, declared, symmetry, .. } = Problem::read(text)?.header;
    let is_mirrored = symmetry == Symmetry::Symmetric;
    let entries = if is_mirrored { declared.saturating_mul(2) } else { declared };
    Ok(Extent { rows: rows.into(), cols: cols.into(), entries, estimated: is_mirrored })
}

/// Reads the graph as its adjacency matrix, in parallel like a Matrix Market file.
pub(super) fn read(
    text: &[u8],
    _: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let problem = Problem::read(text)?;
    limit.check("the text without letters", text.len() as u128)?;
    let (plain, skipped) = problem.plain(text, progress)?;
    let limit = MemoryLimit::bytes(limit.get().saturating_sub(plain.len() as u64));
    let progress = progress.at(Pace::AtOnce);
    let mut file = at_once(matrix_market::read_body(&plain, &problem.header, limit, progress))?;
    file.form = MatrixForm::Dimacs;
    if let (Symmetry::Symmetric, AnyMatrix::Real(a)) = (file.symmetry, &file.matrix)
        && a.val().iter().any(|value| *value != 1.0)
    {
        // Some files list each edge in both directions.
        limit.check("the graph", 2 * u128::from(a.bytes()))?;
        file.matrix = AnyMatrix::Real(a.map(|_| 1.0));
        file.warnings.clear();
        file.warnings.push("edges that occur more than once were read as one".to_owned());
    }
    let lines = ["line that describes a vertex was", "lines that describe vertices were"];
    file.warnings.extend(counted(skipped, lines, "ignored"));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{read_named_extent, read_named_matrix};
    use crate::matrix::Csr;

    fn read_file(name: &str, text: &str) -> Result<MatrixFile, String> {
        let limit = MemoryLimit::bytes(1 << 20);
        let read = read_named_matrix(name, text.as_bytes(), limit, Progress::none());
        read.map_err(|error| error.to_string())
    }

    fn sizes(name: &str, text: &str) -> (u64, u64, u64, bool) {
        let extent = read_named_extent(name, text.as_bytes()).unwrap();
        (extent.rows, extent.cols, extent.entries, extent.estimated)
    }

    fn matrix(n: usize, entries: &[(usize, usize, f64)]) -> AnyMatrix {
        AnyMatrix::Real(Csr::from_triplets(n, n, entries).unwrap())
    }

    #[test]
    fn arcs_of_shortest_paths_and_flows_are_nonzeros() {
        let arcs = "a 1 2 7\nc between\ncomment\na 3 1 2.5\r\n\na 1 2 3\n a 4 4 1";
        let expected = matrix(4, &[(0, 1, 10.0), (2, 0, 2.5), (3, 3, 1.0)]);
        for (text, more) in [
            (format!("c roads\nc\np sp 4 4\n{arcs}"), 0),
            (format!("\u{feff}p max 4 4\nn 1 s\nn 4 t\n{arcs}"), 1),
        ] {
            for name in ["a.gr", "a.max", "a.txt"] {
                let file = read_file(name, &text).unwrap();
                assert_eq!((&file.matrix, file.form), (&expected, MatrixForm::Dimacs), "{text}");
                assert_eq!(file.warnings.len(), 2 + more, "{:?}", file.warnings);
                assert!(file.warnings[1].starts_with("1 entry repeats the position"));
                assert_eq!(sizes(name, &text), (4, 4, 4, false));
            }
        }
    }

    #[test]
    fn edges_are_mirrored_and_count_once() {
        let path = matrix(3, &[(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]);
        for (text, entries, warnings) in [
            ("p edge 3 2\ne 1 2\ne 3 2\n", 4, 0),
            ("c both directions\np col 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n", 8, 1),
            ("p edge 3 2\nn 1 5\nd 3\ne 2 1\ne 3 2\n", 4, 1),
        ] {
            let file = read_file("a.col", text).unwrap();
            assert_eq!((&file.matrix, file.field), (&path, Field::Pattern), "{text}");
            assert_eq!(file.symmetry, Symmetry::Symmetric);
            assert_eq!(file.warnings.len(), warnings, "{:?}", file.warnings);
            assert_eq!(sizes("a.col", text), (3, 3, entries, true));
        }
    }

    #[test]
    fn comments_longer_than_what_is_looked_at_need_the_name() {
        let text = format!("{}p sp 1 1\na 1 1 1\n", "c a comment of the file\n".repeat(100));
        assert_eq!(read_file("a.GR", &text).unwrap().matrix, matrix(1, &[(0, 0, 1.0)]));
        assert_eq!(sizes("a.gr", &text), (1, 1, 1, false));
        let glued = "c----\np sp 1 1\na 1 1 1\n";
        assert_eq!(read_file("a.gr", glued).unwrap().matrix, matrix(1, &[(0, 0, 1.0)]));
        assert!(!is_meant("a.txt", glued.as_bytes()));
        for (name, text) in [("a.gr", "1 2 3\n"), ("a.txt", "c\n1\n"), ("a.txt", "p q\n1 2\n")] {
            assert!(!is_meant(name, text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_one_sentence_with_its_line() {
        let problem = "the line \"p sp|max|edge|col VERTICES EDGES\" of a DIMACS graph";
        for (text, expected) in [
            ("c\np cnf 3 2\n1 -2 0\n", format!("line 2: expected {problem}, found \"p cnf 3 2\"")),
            ("p sp 3\n", format!("line 1: expected {problem}, found \"p sp 3\"")),
            ("p sp 3 1 1\n", format!("line 1: expected {problem}, found \"p sp 3 1 1\"")),
            ("c only\n", format!("line 1: expected {problem}, found the end of the file")),
            (
                "p sp 3 1\ne 1 2\n",
                "line 2: expected a line \"a FROM TO LENGTH\", found \"e 1 2\"".to_owned(),
            ),
            (
                "p sp 3 1\na 1 4 2\n",
                "line 2: expected a column index from 1 to 3, found \"4\"".to_owned(),
            ),
            (
                "p sp 3 2\na 1 2 2\n",
                "line 1 declares 2 entries, but the file ends after 1".to_owned(),
            ),
        ] {
            assert_eq!(read_file("a.gr", text).unwrap_err(), expected);
        }
        assert!(read_file("a.gr", "p edge 2 1\ne 1 2\ne 2 1\n").unwrap_err().contains("line 3"));
        assert!(read_file("a.gr", "p sp 4294967296 0\n").unwrap_err().contains("too large"));
    }
}
