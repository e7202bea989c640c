//! Graphs in METIS format: a line `vertices edges [fmt [ncon]]`, then one line per vertex with its
//! neighbours, counted from 1. The digits of `fmt` say whether vertices have sizes, whether vertices have
//! `ncon` weights and whether edges have weights. The matrix has one nonzero per neighbour: the edge's
//! weight, or 1. Every edge is listed in the lines of both its vertices. Comments begin with `%`; the line of
//! a vertex without neighbours is blank.

use super::error::{quoted, rounded_integers};
use super::matrix_market::{Lines, refuse_other_kinds};
use super::scan::Cursor;
use super::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, Symmetry};
use crate::matrix::{Csr, Extent, FormatError, RowPtr};
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// What the first line must contain.
const SIZES: &str = "the line \"vertices edges [fmt [ncon]]\" of a METIS graph";

/// Vertices read between checks for cancellation.
const WAVE: u32 = 1 << 12;

/// Whether the name of a file says that it holds such a graph.
pub(super) fn is_meant(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".graph") || name.ends_with(".metis")
}

/// The contents of the first line.
#[derive(Clone, Copy)]
struct Header {
    vertices: u32,
    edges: u64,
    /// Numbers in the line of a vertex before its neighbours: its size and weights.
    before: u64,
    has_edge_weights: bool,
    line: u64,
}

impl Header {
    /// Reads the first line that is not blank or a comment.
    fn read(lines: &mut Lines<'_>) -> Result<Self, IoError> {
        let line = loop {
            match lines.next() {
                Some(line) if is_comment(line) || line.trim_ascii().is_empty() => {}
                Some(line) => break line.trim_ascii(),
                None => {
                    let (expected, found) = (SIZES.to_owned(), "the end of the file".to_owned());
                    return Err(IoError::Unexpected { line: lines.number + 1, expected, found });
                }
            }
        };
        let unexpected = |expected: &str| IoError::Unexpected {
            line: lines.number,
            expected: expected.to_owned(),
            found: quoted(line),
        };
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let words: Vec<&[u8]> = words.collect();
        let number = |word: &[u8]| {
            let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<u64>().ok());
            number.ok_or_else(|| unexpected(SIZES))
        };
        let (vertices, edges, fmt, ncon) = match *words.as_slice() {
            [vertices, edges] => (vertices, edges, &b"0"[..], None),
            [vertices, edges, fmt] => (vertices, edges, fmt, None),
            [vertices, edges, fmt, ncon] => (vertices, edges, fmt, Some(number(ncon)?)),
            _ => return Err(unexpected(SIZES)),
        };
        let (vertices, edges) = (number(vertices)?, number(edges)?);
        if fmt.len() > 3 || !fmt.iter().all(|digit| matches!(digit, b'0' | b'1')) {
            return Err(unexpected("the fmt of a METIS graph, up to three digits 0 or 1"));
        }
        let has = |place: usize| fmt.iter().rev().nth(place) == Some(&b'1');
        let weights = match (has(1), ncon) {
            (false, None | Some(0)) => 0,
            (true, None) => 1,
            (true, Some(ncon @ 1..=1000)) => ncon,
            _ => {
                return Err(unexpected(
                    "an ncon from 1 to 1000 if the second digit of fmt is 1, and none otherwise",
                ));
            }
        };
        let Ok(small) = u32::try_from(vertices) else {
            return Err(FormatError::DimensionTooLarge { rows: vertices, cols: vertices }.into());
        };
        Ok(Self {
            vertices: small,
            edges,
            before: weights + u64::from(has(2)),
            has_edge_weights: has(0),
            line: lines.number,
        })
    }

    /// Number of neighbours in all lines together.
    fn neighbours(&self) -> u64 {
        self.edges.saturating_mul(2)
    }

    /// Appends the neighbours of a vertex (counted from 1) with the weights of their edges. On failure
    /// returns what was expected and what was found.
    fn read_vertex(
        &self,
        line: &[u8],
        vertex: u32,
        row: &mut Vec<(u32, f64)>,
        rounded: &mut u64,
    ) -> Result<(), (String, String)> {
        let mut cursor = Cursor::new(line);
        let unexpected = |cursor: &Cursor<'_>, expected: String| match cursor.token() {
            [] => (expected, "the end of the line".to_owned()),
            token => (expected, quoted(token)),
        };
        for k in 1..=self.before {
            cursor.skip_blanks();
            let before = self.before;
            cursor.unsigned().ok_or_else(|| {
                unexpected(
                    &cursor,
                    format!("number {k} of {before} before the neighbours of vertex {vertex}"),
                )
            })?;
        }
        while !cursor.end_of_line() {
            let start = cursor;
            let neighbour =
                cursor.unsigned().filter(|n| (1..=u64::from(self.vertices)).contains(n));
            let neighbour = neighbour.ok_or_else(|| {
                let last = self.vertices;
                unexpected(&start, format!("a neighbour of vertex {vertex}, from 1 to {last}"))
            })? as u32;
            if neighbour == vertex {
                let expected = format!("no edge from vertex {vertex} to itself");
                return Err(unexpected(&start, expected));
            }
            let mut weight = 1.0;
            if self.has_edge_weights {
                cursor.skip_blanks();
                let integer = cursor.integer().ok_or_else(|| {
                    let edge = format!("the edge from vertex {vertex} to {neighbour}");
                    unexpected(&cursor, format!("the weight of {edge}, an integer"))
                })?;
                *rounded += u64::from(integer.rounded);
                weight = integer.value;
            }
            row.push((neighbour - 1, weight));
            if row.len() as u64 > self.neighbours().min(self.vertices.into()) {
                break; // Reading the row reports the error.
            }
        }
        Ok(())
    }
}

fn is_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"%")
}

/// The sizes that the first line declares.
pub(super) fn extent(text: &[u8]) -> Result<Extent, IoError> {
    refuse_other_kinds(text)?;
    let header = Header::read(&mut Lines::new(text))?;
    let (rows, entries) = (u64::from(header.vertices), header.neighbours());
    Ok(Extent { rows, cols: rows, entries, estimated: false })
}

/// The number of vertices if the whole text is such a graph with at least one edge, else `None`.
pub(super) fn vertices_of(text: &[u8], limit: MemoryLimit) -> Option<u64> {
    let mut lines = Lines::new(text);
    let header = Header::read(&mut lines).ok().filter(|header| header.edges > 0)?;
    // A cheap check before reading: most texts do not have one line per vertex.
    let mut count = 0u64;
    while let Some(line) = lines.next() {
        count += u64::from(!is_comment(line));
    }
    let vertices = u64::from(header.vertices);
    (count >= vertices).then_some(())?;
    at_once(read_bytes(text, limit, Progress::none())).ok().map(|_| vertices)
}

/// Reads the graph as its adjacency matrix, and checks that every edge is listed in two lines.
pub(super) async fn read_bytes(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    refuse_other_kinds(text)?;
    let mut lines = Lines::new(text);
    let header = Header::read(&mut lines)?;
    let Header { vertices, edges, line: first_line, .. } = header;
    // Whatever is declared, a vertex takes at least one line and a neighbour at least two bytes.
    let room = u64::from(vertices).min(memchr::memchr_iter(b'\n', text).count() as u64 + 1);
    let most = header.neighbours().min(text.len() as u64 / 2 + 1);
    let longest = most.min(vertices.into());
    let bytes = u128::from(room + 1) * 16 + u128::from(most) * 12 + u128::from(longest) * 32;
    limit.check("the graph", bytes)?;
    let mut row_ptr = Vec::with_capacity(room as usize + 1);
    row_ptr.push(0u64);
    let (mut col, mut val) = (Vec::with_capacity(most as usize), Vec::with_capacity(most as usize));
    let (mut row, mut rounded, mut counted) = (Vec::new(), 0, 0);
    for vertex in 1..=vertices {
        let line = loop {
            match lines.next() {
                Some(line) if is_comment(line) => {}
                line => break line,
            }
        };
        let at = |(expected, found): (String, String)| IoError::Unexpected {
            line: lines.number,
            expected,
            found,
        };
        let Some(line) = line else {
            let expected = format!("the line of vertex {vertex} of {vertices}");
            let found = "the end of the file".to_owned();
            return Err(IoError::Unexpected { line: lines.number + 1, expected, found });
        };
        row.clear();
        header.read_vertex(line, vertex, &mut row, &mut rounded).map_err(at)?;
        row.sort_unstable_by_key(|(neighbour, _)| *neighbour);
        let twice = row.iter().zip(row.iter().skip(1)).find(|(one, next)| one.0 == next.0);
        if let Some(((neighbour, _), _)) = twice {
            let expected = format!("each neighbour of vertex {vertex} once");
            return Err(at((expected, format!("vertex {} twice", u64::from(*neighbour) + 1))));
        }
        if (col.len() + row.len()) as u64 > header.neighbours() {
            let expected = format!(
                "at most {} neighbours in total, two for each of the {edges} edges declared in line {first_line}",
                header.neighbours()
            );
            return Err(at((expected, "more".to_owned())));
        }
        col.extend(row.iter().map(|(neighbour, _)| *neighbour));
        val.extend(row.iter().map(|(_, weight)| *weight));
        row_ptr.push(col.len() as u64);
        if vertex.is_multiple_of(WAVE) {
            progress.advance(lines.position - counted);
            counted = lines.position;
            progress.rest().await?;
        }
    }
    while let Some(line) = lines.next() {
        if !is_comment(line) && !line.trim_ascii().is_empty() {
            let expected = format!("the end of the file after {vertices} vertices");
            let found = quoted(line.trim_ascii());
            return Err(IoError::Unexpected { line: lines.number, expected, found });
        }
    }
    progress.advance(text.len() - counted);
    let found = col.len() as u64;
    if found != header.neighbours() {
        let expected = format!(
            "{} neighbours in total, two for each of the {edges} edges declared here",
            header.neighbours()
        );
        return Err(IoError::Unexpected { line: first_line, expected, found: found.to_string() });
    }
    if let Some(fault) = one_sided(&row_ptr, &col, &val) {
        return Err(fault.explain(text));
    }
    let mut warnings = Vec::new();
    if header.before > 0 {
        warnings.push(
            "vertex sizes and weights were ignored: they are not part of the matrix".to_owned(),
        );
    }
    warnings.extend(rounded_integers(rounded));
    let size = vertices as usize;
    let matrix = Csr::try_new(size, size, RowPtr::from_offsets(row_ptr), col, val)?;
    Ok(MatrixFile {
        matrix: AnyMatrix::Real(matrix),
        field: if header.has_edge_weights { Field::Integer } else { Field::Pattern },
        symmetry: Symmetry::General,
        form: MatrixForm::Metis,
        warnings,
    })
}

/// An edge that is not listed with the same weight in the lines of both its vertices, which count from 0.
struct OneSided {
    from: u32,
    to: u32,
    /// The weights in both lines, if both list the edge.
    weights: Option<(f64, f64)>,
}

/// Returns the first such edge.
fn one_sided(row_ptr: &[u64], col: &[u32], val: &[f64]) -> Option<OneSided> {
    // In ascending order of vertices, each vertex also sees its neighbours in ascending order.
    let mut next = row_ptr.to_vec();
    for (i, (begin, end)) in row_ptr.iter().zip(row_ptr.iter().skip(1)).enumerate() {
        let from = i as u32;
        let row = *begin as usize..*end as usize;
        let entries = col.get(row.clone())?.iter().zip(val.get(row)?);
        for (&to, &weight) in entries {
            let at = next.get_mut(to as usize)?;
            let end = row_ptr.get(to as usize + 1)?;
            let mirror = (*at < *end).then(|| (col.get(*at as usize), val.get(*at as usize)));
            *at += 1;
            match mirror {
                Some((Some(&back), Some(&other))) if back == from => {
                    if other != weight {
                        return Some(OneSided { from, to, weights: Some((weight, other)) });
                    }
                }
                // An earlier vertex does not list this one.
                Some((Some(&back), _)) if back < from => {
                    return Some(OneSided { from: to, to: back, weights: None });
                }
                _ => return Some(OneSided { from, to, weights: None }),
            }
        }
    }
    None
}

impl OneSided {
    fn explain(&self, text: &[u8]) -> IoError {
        let (from, to) = (u64::from(self.from) + 1, u64::from(self.to) + 1);
        let (expected, found) = match self.weights {
            None => (
                format!(
                    "vertex {from} among the neighbours of vertex {to}, because {to} is a neighbour of {from}"
                ),
                "no such neighbour".to_owned(),
            ),
            Some((weight, other)) => (
                format!(
                    "the weight {weight} of the edge from vertex {to} to {from}, as in the other direction"
                ),
                other.to_string(),
            ),
        };
        IoError::Unexpected { line: line_of_vertex(text, to), expected, found }
    }
}

/// 1-based line of a vertex, counted from 1, in a text whose first line has been read.
fn line_of_vertex(text: &[u8], vertex: u64) -> u64 {
    let mut lines = Lines::new(text);
    let _ = Header::read(&mut lines);
    let mut left = vertex;
    while left > 0
        && let Some(line) = lines.next()
    {
        left -= u64::from(!is_comment(line));
    }
    lines.number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{read_named_extent, read_named_matrix};

    fn read(text: &str) -> Result<MatrixFile, IoError> {
        read_named_matrix("a.graph", text.as_bytes(), MemoryLimit::bytes(1 << 20), Progress::none())
    }

    fn matrix(text: &str) -> Csr {
        read(text).unwrap().matrix.into_real().unwrap()
    }

    /// A triangle of vertices 1, 2, 3 with edge weights 5, 6 and 7, and an isolated fourth vertex.
    fn triangle(weights: [f64; 3]) -> Csr {
        let [a, b, c] = weights;
        let entries = [(0, 1, a), (0, 2, b), (1, 0, a), (1, 2, c), (2, 0, b), (2, 1, c)];
        Csr::from_triplets(4, 4, &entries).unwrap()
    }

    #[test]
    fn every_fmt_is_read_with_comments_and_blank_lines_of_vertices_alone() {
        let plain = triangle([1.0; 3]);
        let weighted = triangle([5.0, 6.0, 7.0]);
        for (text, expected) in [
            ("4 3\n2 3\n1 3\n1 2\n\n", &plain),
            ("% c\n\n4 3 000\n3 2\r\n% c\n 1 3 \r\n2 1\n\n\n", &plain),
            ("4 3 1\n2 5 3 6\n3 7 1 5\n1 6 2 7\n\n", &weighted),
            ("4 3 10\n9 2 3\n9 1 3\n9 1 2\n9", &plain),
            ("4 3 011 2\n0 9 2 5 3 6\n0 9 1 5 3 7\n0 9 1 6 2 7\n0 9\n", &weighted),
            ("4 3 100\n4 2 3\n4 1 3\n4 1 2\n4\n", &plain),
            ("4 3 111\n4 9 2 5 3 6\n4 9 1 5 3 7\n4 9 1 6 2 7\n4 9\n", &weighted),
        ] {
            assert_eq!(&matrix(text), expected, "{text:?}");
            let extent = read_named_extent("a.graph.gz", text.as_bytes()).unwrap();
            assert_eq!((extent.rows, extent.cols, extent.entries), (4, 4, 6), "{text:?}");
        }
        let file = read("4 3\n2 3\n1 3\n1 2\n\n").unwrap();
        assert_eq!((file.field, file.form), (Field::Pattern, MatrixForm::Metis));
        assert!(file.warnings.is_empty());
        let file = read("2 1 11\n1 2 5\n1 1 5\n").unwrap();
        assert_eq!((file.field, file.warnings.len()), (Field::Integer, 1));
        assert_eq!(matrix("0 0\n").rows(), 0);
    }

    #[test]
    fn a_ring_of_four_has_eight_entries() {
        let ring = "4 4\n2 4\n1 3\n2 4\n1 3\n";
        assert_eq!(matrix(ring).nnz(), 8);
        // With a neutral file name, it might be triplets.
        let limit = MemoryLimit::bytes(1 << 20);
        for name in ["ring.txt", "ring"] {
            let error = read_named_matrix(name, ring.as_bytes(), limit, Progress::none());
            let error = error.unwrap_err().to_string();
            assert!(error.contains("a METIS graph of 4 vertices"), "{error}");
        }
        let triplets = b"4 4\n2 4\n1 3\n2 4\n1 2\n";
        assert!(read_named_matrix("a.txt", triplets, limit, Progress::none()).is_ok());
        // Lines of other lengths cannot be triplets.
        let star = b"% by hand\n4 3\n2 3 4\n1\n1\n1\n";
        for name in ["star.txt", "star"] {
            let file = read_named_matrix(name, star, limit, Progress::none()).unwrap();
            assert_eq!((file.form, file.matrix.nnz()), (MatrixForm::Metis, 6));
            let extent = read_named_extent(name, star).unwrap();
            assert_eq!((extent.rows, extent.entries), (4, 6));
        }
        // A banner counts whatever the file name.
        let text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n";
        let file = read_named_matrix("a.graph", text, limit, Progress::none()).unwrap();
        assert_eq!((file.form, file.matrix.nnz()), (MatrixForm::MatrixMarket, 1));
    }

    #[test]
    fn what_is_wrong_is_one_sentence_with_its_line() {
        for (text, expected) in [
            ("", "expected a matrix, found an empty file".to_owned()),
            ("% c\n", format!("line 2: expected {SIZES}, found the end of the file")),
            ("3\n", format!("line 1: expected {SIZES}, found \"3\"")),
            ("3 x\n", format!("line 1: expected {SIZES}, found \"3 x\"")),
            ("2 1 2\n2\n1\n", "line 1: expected the fmt of a METIS graph, up to three digits 0 or 1, found \"2 1 2\"".to_owned()),
            ("2 1 1 1\n", "line 1: expected an ncon from 1 to 1000 if the second digit of fmt is 1, and none otherwise, found \"2 1 1 1\"".to_owned()),
            ("3 1\n2\n1\n", "line 4: expected the line of vertex 3 of 3, found the end of the file".to_owned()),
            ("2 1\n2\n3\n", "line 3: expected a neighbour of vertex 2, from 1 to 2, found \"3\"".to_owned()),
            ("2 1\n0\n1\n", "line 2: expected a neighbour of vertex 1, from 1 to 2, found \"0\"".to_owned()),
            ("2 1\n2\n2\n", "line 3: expected no edge from vertex 2 to itself, found \"2\"".to_owned()),
            ("2 2\n2 2\n1 1\n", "line 2: expected each neighbour of vertex 1 once, found vertex 2 twice".to_owned()),
            ("2 1 1\n2 5\n1\n", "line 3: expected the weight of the edge from vertex 2 to 1, an integer, found the end of the line".to_owned()),
            ("2 1 10\n\n1\n", "line 2: expected number 1 of 1 before the neighbours of vertex 1, found the end of the line".to_owned()),
            ("2 1\n2\n1\n1\n", "line 4: expected the end of the file after 2 vertices, found \"1\"".to_owned()),
            ("3 1\n2\n1 3\n2\n", "line 3: expected at most 2 neighbours in total, two for each of the 1 edges declared in line 1, found more".to_owned()),
            ("3 3\n2\n1 3\n2\n", "line 1: expected 6 neighbours in total, two for each of the 3 edges declared here, found 4".to_owned()),
            ("3 1\n2\n% c\n3\n\n", "line 4: expected vertex 1 among the neighbours of vertex 2, because 2 is a neighbour of 1, found no such neighbour".to_owned()),
            ("3 1\n\n1\n1\n", "line 2: expected vertex 2 among the neighbours of vertex 1, because 1 is a neighbour of 2, found no such neighbour".to_owned()),
            ("2 1 1\n2 5\n1 6\n", "line 3: expected the weight 5 of the edge from vertex 2 to 1, as in the other direction, found 6".to_owned()),
            ("4294967296 1\n", "a 4294967296 x 4294967296 matrix is too large: at most 4294967295 rows and columns are supported".to_owned()),
            ("4294967295 18446744073709551615\n", "line 2: expected the line of vertex 1 of 4294967295, found the end of the file".to_owned()),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected, "{text:?}");
        }
    }
}
