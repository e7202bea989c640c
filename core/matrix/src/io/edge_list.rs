//! Edge lists, such as those of SNAP and KONECT: a line `from to [weight]` per edge, without sizes; words are
//! separated by blanks, commas or semicolons, comments begin with `#` or `%`, and the first line may name
//! the columns. Vertices count from 0 if a 0 occurs, else from 1. The matrix has a row for every vertex; its
//! nonzeros are the weights, or 1.

use std::borrow::Cow;
use std::fmt::Write;

use super::error::quoted;
use super::gzip::beside;
use super::matrix_market::{
    Format, Header, Lines, Survey, ids, read_body, refuse_other_kinds, survey,
};
use super::scan::Cursor;
use super::triplet_text::{begins_with_number, has_banner, needs_banner, words_of_first_entry};
use super::{Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry};
use crate::matrix::FormatError;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// What a line must contain.
const EDGE: &str = "an edge \"from to\" or \"from to weight\" of an edge list";

/// How KONECT's first line describes a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Konect {
    Symmetric,
    Asymmetric,
    Bipartite,
}

/// What stands before the edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Heading {
    konect: Option<Konect>,
    /// The sizes in KONECT's second line: edges, rows, columns.
    sizes: Vec<u64>,
    /// Vertices and edges according to SNAP's comment.
    nodes: Option<u64>,
    edges: Option<u64>,
    says_undirected: bool,
    /// The line of column names.
    names: Option<u64>,
    /// 1-based line of the first edge, and offset of its first byte.
    line: u64,
    body: usize,
}

impl Heading {
    fn read(text: &[u8]) -> Self {
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
                [first, ..] if heading.names.is_none() && is_of_name(*first) => {
                    heading.names = Some(heading.line);
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
            (b'%', 1, _) => self.konect = konect(&words),
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

    /// The declared number of edges.
    fn declared(&self) -> Option<u64> {
        self.edges.or(self.sizes.first().copied())
    }

    /// A header whose sizes are not known yet.
    fn header(&self) -> Header {
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
fn is_of_name(first: u8) -> bool {
    first.is_ascii_alphabetic() || matches!(first, b'"' | b'_')
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

/// Whether a text in a file called `name` is an edge list: its name, its comments or its commas say so, or
/// its first line cannot be the sizes of triplet text.
pub(super) fn is_meant(name: &str, text: &[u8]) -> bool {
    if needs_banner(name) || has_banner(text) {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let ends = |endings: [&str; 2]| endings.iter().any(|end| name.ends_with(end));
    let heading = Heading::read(text);
    let body = text.get(heading.body..).unwrap_or_default();
    ends([".edges", ".el"])
        || heading.konect.is_some()
        || text.trim_ascii_start().starts_with(b"#")
        || (heading.names.is_some() && ends([".csv", ".tsv"]))
        || (heading.names.is_none() && (separator(body).is_some() || contradicts(body, &heading)))
}

/// Whether all lines of a text are needed to find out whether it is an edge list, or how large, given its
/// first ones.
pub(super) fn may_be(name: &str, beginning: &[u8]) -> bool {
    is_meant(name, beginning)
        || (!needs_banner(name) && !has_banner(beginning) && begins_with_number(beginning))
}

/// The character other than blanks that separates the words of the first line.
fn separator(body: &[u8]) -> Option<u8> {
    let line = body.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let is_number = line.first().is_some_and(u8::is_ascii_digit);
    [b';', b','].into_iter().find(|separator| is_number && line.contains(separator))
}

/// Whether the first line looks like the others and cannot be the sizes of triplet text: it has a fraction or
/// sizes of 0, or both the number of lines and an index contradict it.
fn contradicts(body: &[u8], heading: &Heading) -> bool {
    if !begins_with_number(body) {
        return false;
    }
    let mut cursor = Cursor::new(body);
    cursor.next_record();
    let words = words_of_first_entry(cursor);
    let mut sizes = Vec::new();
    for _ in 0..words {
        cursor.skip_blanks();
        sizes.extend(cursor.unsigned());
    }
    let (rows, cols, declared) = match *sizes.as_slice() {
        [rows, declared] if words == 2 => (rows, rows, declared),
        [_, _] if words == 3 => return cursor.real().is_some() && cursor.end_of_line(),
        [rows, cols, declared] if words == 3 => (rows, cols, declared),
        _ => return false,
    };
    if !cursor.end_of_line() {
        return false;
    }
    if (rows == 0 || cols == 0) && declared > 0 {
        return true;
    }
    let ends = memchr::memchr_iter(b'\n', cursor.rest()).count() as u64;
    let lines = ends + u64::from(!body.ends_with(b"\n"));
    if lines == declared || words_of_first_entry(cursor) != words {
        return false;
    }
    let header = Header { body: 0, ..heading.header() };
    let rest = at_once(survey(cursor.rest(), &header, Progress::none()));
    rest.is_ok_and(|rest| {
        let is_outside = rest.zeros > 0 || rest.last_row > rows || rest.last_col > cols;
        rest.lines != declared && is_outside
    })
}

/// Whether the first line, read as an edge, may hold the sizes of triplets: no index is beyond them, and they
/// count the other lines or, in triplets from 0, at least lie beside zeros.
fn may_begin_with_sizes(body: &[u8], heading: &Heading, found: &Survey) -> bool {
    let mut cursor = Cursor::new(body);
    cursor.next_record();
    let words = words_of_first_entry(cursor);
    let mut sizes = Vec::new();
    for _ in 0..words {
        cursor.skip_blanks();
        sizes.extend(cursor.unsigned());
    }
    let counts = |declared: u64| declared > 0 && declared == found.lines.saturating_sub(1);
    let fits = match *sizes.as_slice() {
        [rows, declared] if words == 2 => {
            counts(declared) && found.last_row == rows && found.last_col <= rows.max(declared)
        }
        [rows, cols, declared] if words == 3 => {
            let zeros = found.zeros > 0 && rows > 0 && cols > 0;
            (counts(declared) || zeros) && found.last_row == rows && found.last_col == cols
        }
        _ => false,
    };
    fits && cursor.end_of_line() && heading.konect.is_none()
}

/// The text in the form that the reader of Matrix Market files knows, and what it holds.
struct Plan<'t> {
    text: Cow<'t, [u8]>,
    header: Header,
    warnings: Vec<String>,
}

/// The sizes of the matrix, for which all lines are read.
pub(super) fn header(text: &[u8], options: &ReadOptions) -> Result<Header, IoError> {
    let limit = MemoryLimit::of_machine();
    at_once(plan(Cow::Borrowed(text), options, limit, Progress::none())).map(|plan| plan.header)
}

/// Reads the matrix, in parallel like a Matrix Market file.
pub(super) async fn read_text(
    text: Cow<'_, [u8]>,
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let is_borrowed = matches!(text, Cow::Borrowed(_));
    let Plan { text, header, mut warnings } = plan(text, options, limit, progress).await?;
    // An owned text was already subtracted from the limit, a copy was not.
    let limit = if is_borrowed { beside(&text, limit) } else { limit };
    let mut file = read_body(&text, &header, limit, progress).await?;
    warnings.append(&mut file.warnings);
    let form = match header.base {
        0 => MatrixForm::EdgesFrom0,
        _ => MatrixForm::EdgesFrom1,
    };
    Ok(MatrixFile { form, warnings, ..file })
}

async fn plan<'t>(
    text: Cow<'t, [u8]>,
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Plan<'t>, IoError> {
    refuse_other_kinds(&text)?;
    let heading = Heading::read(&text);
    let mut text = plain(text, heading.body, limit)?;
    let mut header = heading.header();
    let mut warnings = Vec::new();
    if let Some(line) = heading.names {
        warnings.push(format!("line {line} was read as the names of the columns"));
    }
    let found = survey(&text, &header, progress).await?;
    if found.lines == 0 && heading.nodes.is_none() && heading.declared() != Some(0) {
        let (expected, found) = (EDGE.to_owned(), "the end of the file".to_owned());
        return Err(IoError::Unexpected { line: heading.line, expected, found });
    }
    if found.pairs == 0 && found.lines > 0 {
        let line = text.get(heading.body..).unwrap_or_default();
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let (expected, found) = (EDGE.to_owned(), quoted(line.trim_ascii()));
        return Err(IoError::Unexpected { line: heading.line, expected, found });
    }
    if may_begin_with_sizes(text.get(heading.body..).unwrap_or_default(), &heading, &found) {
        warnings.push(format!(
            "line {} was read as an edge; if it holds the sizes of triplets, remove it",
            heading.line
        ));
    }
    let first = Cursor::new(text.get(heading.body..).unwrap_or_default());
    header.field = if words_of_first_entry(first) > 2 { Field::Real } else { Field::Pattern };
    if options.undirected {
        if heading.konect == Some(Konect::Bipartite) {
            let expected = "a graph with one set of vertices, because its edges are to be mirrored";
            let (expected, found) = (expected.to_owned(), "\"bip\"".to_owned());
            return Err(IoError::Unexpected { line: 1, expected, found });
        }
        header.symmetry = Symmetry::Symmetric;
    } else if heading.says_undirected {
        warnings.push(
            "the file says that the graph is undirected; each edge was read as one nonzero; to mirror them, use --undirected".to_owned(),
        );
    }
    header.declared = found.lines;
    if let Some(declared) = heading.declared().filter(|declared| *declared != found.lines) {
        let lines = found.lines;
        warnings.push(format!("the file declares {declared} edges, but has {lines}"));
    }
    let (rows, cols) = if options.compress_ids {
        header.base = 0;
        let sizes = renumber(&mut text, &header, &heading, limit, progress).await?;
        warnings
            .push("the vertices that have edges were numbered in order, without gaps".to_owned());
        sizes
    } else {
        header.base = base(&heading, options, &found, &mut warnings);
        sizes(&text, &header, &heading, &found, &mut warnings)?
    };
    let (Ok(small_rows), Ok(small_cols)) = (u32::try_from(rows), u32::try_from(cols)) else {
        return Err(FormatError::DimensionTooLarge { rows, cols }.into());
    };
    (header.rows, header.cols) = (small_rows, small_cols);
    Ok(Plan { text, header, warnings })
}

/// The text with blanks for its separators and `%` for the `#` of its comments, so that nothing moves.
fn plain(text: Cow<'_, [u8]>, body: usize, limit: MemoryLimit) -> Result<Cow<'_, [u8]>, IoError> {
    let edges = text.get(body..).unwrap_or_default();
    let separator = separator(edges);
    if memchr::memchr2(separator.unwrap_or(b'#'), b'#', edges).is_none() {
        return Ok(text);
    }
    if let Cow::Borrowed(text) = text {
        limit.check("the text without separators", text.len() as u128)?;
    }
    let mut text = text.into_owned();
    // The last character of this line that is not a blank: two separators have nothing between them.
    let mut before = b'\n';
    for byte in text.get_mut(body..).unwrap_or_default() {
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
    Ok(Cow::Owned(text))
}

/// The number of the first vertex.
fn base(
    heading: &Heading,
    options: &ReadOptions,
    found: &Survey,
    warnings: &mut Vec<String>,
) -> u32 {
    if let Some(base) = options.base {
        return base;
    }
    if heading.konect.is_none() && found.pairs > 0 && found.zeros == 0 {
        warnings.push(
            "the vertices were counted from 1, because no 0 occurs; if they count from 0, use --base 0"
                .to_owned(),
        );
    }
    u32::from(heading.konect.is_some() || found.zeros == 0)
}

/// Rows and columns: as declared, or as many as the largest number of a vertex says.
fn sizes(
    text: &[u8],
    header: &Header,
    heading: &Heading,
    found: &Survey,
    warnings: &mut Vec<String>,
) -> Result<(u64, u64), IoError> {
    let last = found.last_row.max(found.last_col);
    if last > u64::from(u32::MAX) - 1 + u64::from(header.base) {
        let most = u64::from(u32::MAX) - 1 + u64::from(header.base);
        let expected = format!("a vertex up to {most}, or the option --compress-ids");
        let line = line_of_vertex(text, heading.body, last);
        return Err(IoError::Unexpected { line, expected, found: format!("\"{last}\"") });
    }
    let base = u64::from(header.base);
    let count = |last: u64| if found.pairs == 0 { 0 } else { (last + 1).saturating_sub(base) };
    let (rows, cols) = match *heading.sizes.as_slice() {
        [_, rows, cols] => (rows, cols),
        [_, rows] => (rows, rows),
        _ => (count(found.last_row), count(found.last_col)),
    };
    if heading.konect == Some(Konect::Bipartite) {
        return Ok((rows, cols));
    }
    let size = rows.max(cols);
    Ok(match heading.nodes {
        Some(nodes) if nodes < size => {
            warnings.push(format!(
                "the file declares {nodes} nodes, but their numbers go up to {last}; the matrix has a row for each number; to leave out those without edges, use --compress-ids"
            ));
            (size, size)
        }
        Some(nodes) => (nodes, nodes),
        None => (size, size),
    })
}

/// 1-based line of the first edge from or to this vertex.
fn line_of_vertex(text: &[u8], body: usize, vertex: u64) -> u64 {
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next() {
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks();
        let row = cursor.unsigned();
        cursor.skip_blanks();
        if lines.position > body && (row == Some(vertex) || cursor.unsigned() == Some(vertex)) {
            break;
        }
    }
    lines.number
}

/// Replaces each vertex in the text by its place among those that occur, which is never longer; returns rows
/// and columns.
async fn renumber(
    text: &mut Cow<'_, [u8]>,
    header: &Header,
    heading: &Heading,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(u64, u64), IoError> {
    if let Cow::Borrowed(text) = text {
        limit.check("the text with new ids", text.len() as u128)?;
    }
    let (mut rows, mut cols) = ids(text, header, header.declared, limit, progress).await?;
    if heading.konect != Some(Konect::Bipartite) {
        rows.append(&mut cols);
        rows.sort_unstable();
        rows.dedup();
        cols.clone_from(&rows);
    }
    // Larger numbers read as the largest, and could not be told apart.
    if rows.last() == Some(&u64::MAX) || cols.last() == Some(&u64::MAX) {
        let line = line_of_vertex(text, heading.body, u64::MAX);
        let (expected, found) = ("a vertex below 2^64 - 1".to_owned(), "a larger one".to_owned());
        return Err(IoError::Unexpected { line, expected, found });
    }
    let edges = text.to_mut().get_mut(heading.body..).unwrap_or_default();
    for (k, line) in edges.split_mut(|byte| *byte == b'\n').enumerate() {
        if k.is_multiple_of(1 << 16) {
            progress.rest().await?;
        }
        renumber_line(line, [&rows, &cols]);
    }
    Ok((rows.len() as u64, cols.len() as u64))
}

fn renumber_line(line: &mut [u8], ids: [&[u64]; 2]) {
    let (mut begin, mut digits) = (0, String::new());
    for ids in ids {
        let mut cursor = Cursor::new(line.get(begin..).unwrap_or_default());
        cursor.skip_blanks();
        begin = line.len() - cursor.remaining();
        let Some(Ok(place)) = cursor.unsigned().map(|id| ids.binary_search(&id)) else { return };
        let end = line.len() - cursor.remaining();
        digits.clear();
        let _ = write!(digits, "{place}");
        let word = line.get_mut(begin..end).unwrap_or_default();
        word.fill(b' ');
        word.iter_mut().zip(digits.bytes()).for_each(|(byte, digit)| *byte = digit);
        begin = end;
    }
}

#[cfg(test)]
mod tests;
