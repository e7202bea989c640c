//! Edge lists, such as those of SNAP and KONECT: a line `from to [weight]` per edge, without sizes; words are
//! separated by blanks, commas or semicolons, and comments begin with `#` or `%`. The first line may name the
//! columns; if it says which they are, they may stand anywhere. NetworkX writes the attributes of an edge after it,
//! among them the weight. Vertices count from 0 if a 0 occurs, else from 1. The matrix has a row for every vertex;
//! its nonzeros are the weights, or 1.

mod attributes;
mod columns;
mod heading;
mod ids;
mod meant;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(super) use meant::{is_meant, may_be, unfit};

use self::attributes::Attributes;
use self::heading::{Heading, Konect, no_edge};
use self::ids::{line_of_vertex, renumber};
use self::meant::may_begin_with_sizes;
use super::matrix_market::{Header, Kept, Survey, read_body, refuse_other_kinds, survey};
use super::scan::Cursor;
use super::triplet_text::words_of_first_entry;
use super::unpack::beside;
use super::{Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry};
use crate::matrix::FormatError;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// What a text holds, and how to read it.
struct Plan<'t> {
    /// With blanks for the separators only if vertices were renumbered.
    text: Cow<'t, [u8]>,
    heading: Heading,
    header: Header,
    /// The nonzeros, if they were kept.
    kept: Option<Kept>,
    warnings: Vec<String>,
    /// The progress that remains to be reported.
    progress: Progress<'t>,
}

/// The sizes of the matrix, for which all lines are read.
pub(super) fn header(text: &[u8], options: &ReadOptions) -> Result<Header, IoError> {
    let limit = MemoryLimit::of_machine();
    let plan = plan(Cow::Borrowed(text), options, (limit, None), Progress::none());
    at_once(plan).map(|plan| plan.header)
}

/// Reads the matrix: in one pass in parallel or, if that takes too much memory or a line is not as expected, like
/// a Matrix Market file.
pub(super) async fn read_text(
    text: Cow<'_, [u8]>,
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let is_borrowed = matches!(text, Cow::Borrowed(_));
    // The matrix needs the other half.
    let keep = MemoryLimit::bytes(limit.get() / 2);
    let plan = plan(text, options, (limit, Some(keep)), progress).await?;
    let Plan { text, heading, header, kept, mut warnings, progress } = plan;
    let read = match kept {
        Some(kept) => kept.matrix(&header, limit, progress).await,
        None => None,
    };
    let mut file = match read {
        Some(file) => file,
        None => {
            let text = match options.compress_ids {
                true => text,
                false => {
                    let dialect = heading.dialect(&text);
                    dialect.plain(text, heading.body, limit, progress).await?
                }
            };
            // An owned text was already subtracted from the limit, a copy was not.
            let limit = if is_borrowed { beside(&text, limit) } else { limit };
            read_body(&text, &header, limit, progress).await?
        }
    };
    warnings.append(&mut file.warnings);
    let form = match header.base {
        0 => MatrixForm::EdgesFrom0,
        _ => MatrixForm::EdgesFrom1,
    };
    Ok(MatrixFile { form, warnings, ..file })
}

/// With a second limit, keeps the nonzeros if they take no more memory and nothing must be done to them.
async fn plan<'t>(
    mut text: Cow<'t, [u8]>,
    options: &ReadOptions,
    (limit, keep): (MemoryLimit, Option<MemoryLimit>),
    progress: Progress<'t>,
) -> Result<Plan<'t>, IoError> {
    refuse_other_kinds(&text)?;
    let heading = Heading::read(&text);
    let dialect = heading.dialect(&text);
    let first = text.get(heading.body..).unwrap_or_default();
    let given = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    limit.check("the first line", given.len() as u128)?;
    let mut first = given.to_vec();
    dialect.change(&mut first);
    let mut header = heading.header();
    header.field =
        if words_of_first_entry(Cursor::new(&first)) > 2 { Field::Real } else { Field::Pattern };
    if options.undirected {
        header.symmetry = Symmetry::Symmetric;
    }
    let mut warnings: Vec<String> =
        heading.columns.iter().map(|columns| columns.warning.clone()).collect();
    warnings.extend(dialect.attributes.as_ref().and_then(Attributes::warning));
    let is_as_given = header.symmetry == Symmetry::General && !options.compress_ids;
    let keep = keep.filter(|_| is_as_given);
    let (once, again) = match keep {
        Some(_) => (progress, progress.uncounted()),
        None => (progress.uncounted(), progress),
    };
    let rewrite = |lines: &[u8], space: &mut Vec<u8>| dialect.rewrite(lines, space);
    let (found, kept) = survey(&text, &header, &rewrite, keep, once).await?;
    let is_empty = heading.nodes.is_some() || heading.declared() == Some(0);
    if found.pairs == 0 && (found.lines > 0 || !is_empty) {
        return Err(no_edge(given, &first, heading.line));
    }
    if may_begin_with_sizes(&first, &heading, &found) {
        warnings.push(format!(
            "line {} was read as an edge; if it holds the sizes of triplets, remove it",
            heading.line
        ));
    }
    if options.undirected && heading.konect == Some(Konect::Bipartite) {
        let expected = "a graph with one set of vertices, because its edges are to be mirrored";
        let (expected, found) = (expected.to_owned(), "\"bip\"".to_owned());
        return Err(IoError::Unexpected { line: heading.konect_line, expected, found });
    }
    if !options.undirected && heading.says_undirected {
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
        let apart = heading.konect == Some(Konect::Bipartite);
        let is_borrowed = matches!(text, Cow::Borrowed(_));
        text = dialect.plain(text, heading.body, limit, again).await?;
        let limit = if is_borrowed { beside(&text, limit) } else { limit };
        let sizes = renumber(&mut text, &header, apart, limit, progress).await?;
        warnings
            .push("the vertices that have edges were numbered in order, without gaps".to_owned());
        sizes
    } else {
        header.base = base(&heading, options, &found, &mut warnings);
        let last = found.last_row.max(found.last_col);
        let most = u64::from(u32::MAX) - 1 + u64::from(header.base);
        if last > most {
            let text = dialect.plain(text, heading.body, limit, again).await?;
            let expected = format!("a vertex up to {most}, or the option --compress-ids");
            let line = line_of_vertex(&text, heading.body, last);
            return Err(IoError::Unexpected { line, expected, found: format!("\"{last}\"") });
        }
        sizes(&header, &heading, &found, &mut warnings)
    };
    let (Ok(small_rows), Ok(small_cols)) = (u32::try_from(rows), u32::try_from(cols)) else {
        return Err(FormatError::DimensionTooLarge { rows, cols }.into());
    };
    (header.rows, header.cols) = (small_rows, small_cols);
    Ok(Plan { text, heading, header, kept, warnings, progress: again })
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
    header: &Header,
    heading: &Heading,
    found: &Survey,
    warnings: &mut Vec<String>,
) -> (u64, u64) {
    let base = u64::from(header.base);
    let count = |last: u64| if found.pairs == 0 { 0 } else { (last + 1).saturating_sub(base) };
    let (rows, cols) = match *heading.sizes.as_slice() {
        [_, rows, cols] => (rows, cols),
        [_, rows] => (rows, rows),
        _ => (count(found.last_row), count(found.last_col)),
    };
    if heading.konect == Some(Konect::Bipartite) {
        return (rows, cols);
    }
    let size = rows.max(cols);
    let last = found.last_row.max(found.last_col);
    match heading.nodes {
        Some(nodes) if nodes < size => {
            warnings.push(format!(
                "the file declares {nodes} nodes, but their numbers go up to {last}; the matrix has a row for each number; to leave out those without edges, use --compress-ids"
            ));
            (size, size)
        }
        Some(nodes) => (nodes, nodes),
        None => (size, size),
    }
}
