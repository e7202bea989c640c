//! What stands before the edges: the comments of SNAP and KONECT, and the names of the columns.

use super::columns::{Columns, Dialect};
use crate::io::error::quoted;
use crate::io::matrix_market::{Format, Header, Lines};
use crate::io::{Field, IoError, Symmetry};

/// What a line must contain.
const EDGE: &str = "an edge \"from to\" or \"from to weight\" of an edge list";

/// What a line with a name must contain.
const VERTEX: &str =
    "a vertex number, because names are not read (--compress-ids numbers only numeric ids)";

/// How KONECT's first line describes a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Konect {
    Symmetric,
    Asymmetric,
    Bipartite,
}

/// What stands before the edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) konect: Option<Konect>,
    /// 1-based line that says so.
    pub(super) konect_line: u64,
    /// The sizes in KONECT's second line: edges, rows, columns.
    pub(super) sizes: Vec<u64>,
    /// Vertices and edges according to SNAP's comment.
    pub(super) nodes: Option<u64>,
    edges: Option<u64>,
    pub(super) says_undirected: bool,
    /// The columns, if a line names them.
    pub(super) columns: Option<Columns>,
    /// 1-based line of the first edge, and offset of its first byte.
    pub(super) line: u64,
    pub(super) body: usize,
}

impl Heading {
    pub(super) fn read(text: &[u8]) -> Self {
        let mut heading = Self::default();
        let mut lines = Lines::new(text);
        let mut comments = 0;
        loop {
            (heading.line, heading.body) = (lines.number + 1, lines.position);
            let Some(line) = lines.next() else { return heading };
            match line.trim_ascii_start() {
                [] => {}
                [mark @ (b'#' | b'%'), comment @ ..] => {
                    comments += 1;
                    heading.take(comments, *mark, comment);
                }
                start if heading.columns.is_none() && begins_name(start) => {
                    heading.columns = Some(Columns::of(line, heading.line));
                }
                _ => return heading,
            }
        }
    }

    fn take(&mut self, number: u64, mark: u8, comment: &[u8]) {
        let words = comment.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        let count = |word: &&[u8]| -> Option<u64> {
            std::str::from_utf8(word).ok().and_then(|word| word.parse().ok())
        };
        match (mark, number, self.konect) {
            (b'%', 1, _) => (self.konect, self.konect_line) = (konect(&words), self.line),
            (b'%', 2, Some(_)) => {
                let counts = words.iter().map_while(count);
                self.sizes = counts.take(3).collect();
            }
            (b'#', ..) => {
                let after = |name: &[u8]| {
                    let at = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
                    words.get(at + 1).and_then(count)
                };
                self.nodes = self.nodes.or(after(b"Nodes:"));
                self.edges = self.edges.or(after(b"Edges:"));
                self.says_undirected |=
                    number == 1 && comment.trim_ascii_start().starts_with(b"Undirected graph");
            }
            _ => {}
        }
    }

    /// How the edges in this text are written.
    pub(super) fn dialect(&self, text: &[u8]) -> Dialect<'_> {
        Dialect::of(text.get(self.body..).unwrap_or_default(), self.columns.as_ref())
    }

    /// The declared number of edges.
    pub(super) fn declared(&self) -> Option<u64> {
        self.edges.or(self.sizes.first().copied())
    }

    /// A header whose sizes are not known yet.
    pub(super) fn header(&self) -> Header {
        let is_symmetric = self.konect == Some(Konect::Symmetric);
        Header {
            format: Format::Coordinate,
            field: Field::Pattern,
            symmetry: if is_symmetric { Symmetry::Symmetric } else { Symmetry::General },
            rows: 0,
            cols: 0,
            base: 1,
            banner: None,
            ignores_numbers: self.konect.is_some(),
            declared: u64::MAX,
            size_line: self.line,
            body: self.body,
        }
    }
}

/// Whether a line that begins so names the columns.
fn begins_name(line: &[u8]) -> bool {
    match line {
        [b'"', b'0'..=b'9', ..] => false,
        [first, ..] => first.is_ascii_alphabetic() || matches!(first, b'"' | b'_'),
        [] => false,
    }
}

/// The kind of graph in KONECT's first line, such as `% sym positive`.
fn konect(words: &[&[u8]]) -> Option<Konect> {
    let (kind, weights) = (words.first()?, words.get(1)?);
    let ends = [&b"weighted"[..], b"positive", b"signed", b"dynamic"];
    if !ends.iter().any(|end| weights.ends_with(end)) {
        return None;
    }
    match *kind {
        b"sym" => Some(Konect::Symmetric),
        b"asym" => Some(Konect::Asymmetric),
        b"bip" => Some(Konect::Bipartite),
        _ => None,
    }
}

/// Error for a line, of this number, whose columns are no edge.
pub(super) fn no_edge(line: &[u8], columns: &[u8], number: u64) -> IoError {
    let line = line.trim_ascii();
    let expected = if begins_name(columns.trim_ascii()) { VERTEX } else { EDGE };
    let found = if line.is_empty() { "the end of the file".to_owned() } else { quoted(line) };
    IoError::Unexpected { line: number, expected: expected.to_owned(), found }
}
