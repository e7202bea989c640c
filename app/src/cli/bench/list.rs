//! A file that names matrices, one per line.

use std::path::Path;

use anyhow::Context;
use sparsescope_core::experiment::SubjectSource;
use sparsescope_core::io::file_forms::is_named_like_a_matrix;
use sparsescope_core::record::Operation;

use crate::cli::fetch::{self, Name};
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::UsageError;

/// A line of a list.
#[derive(Debug, PartialEq)]
enum Line {
    /// A source as on the command line.
    Source(String),
    /// A matrix of the collection.
    Collection(Name),
}

/// Returns the sources that the file at `path` names, in order, each once. Matrices of the collection are
/// fetched if they are not on this machine.
pub(super) fn read(
    path: &Path,
    operation: Operation,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Vec<SubjectSource>> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the list {shown}"))?;
    // Some matrices are in the collection.
    let of_matrices = SubjectSource::are_matrices(operation);
    let lines = lines(&text, of_matrices, |path| Path::new(path).exists());
    if lines.is_empty() {
        return Err(UsageError(format!("the list {shown} is empty")).into());
    }
    let of_collection = lines.iter().filter_map(|(_, line)| match line {
        Line::Collection(name) => Some(name.clone()),
        Line::Source(_) => None,
    });
    let names: Vec<Name> = of_collection.collect();
    let files =
        fetch::files(&names, interrupt, quiet).with_context(|| format!("the list {shown}"))?;
    let mut files = files.into_iter();
    let mut sources = Vec::new();
    for (number, line) in lines {
        let text = match line {
            Line::Source(text) => text,
            Line::Collection(_) => match files.next() {
                Some(file) => file.display().to_string(),
                None => continue,
            },
        };
        let source = SubjectSource::parse(operation, &text)
            .map_err(|error| UsageError(format!("line {number} of the list {shown}: {error}")))?;
        sources.push(source);
    }
    Ok(sources)
}

/// The lines that name something, with their numbers from 1. A comment begins with `#` at the start of a line
/// or after a blank.
fn lines(text: &str, of_matrices: bool, is_there: impl Fn(&str) -> bool) -> Vec<(usize, Line)> {
    let mut lines: Vec<(usize, Line)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let comment = line.char_indices().scan(' ', |before, (at, c)| {
            Some((at, std::mem::replace(before, c).is_whitespace() && c == '#'))
        });
        let end = comment.filter(|(_, begins)| *begins).map(|(at, _)| at).next();
        let name = line.get(..end.unwrap_or(line.len())).unwrap_or(line).trim();
        if name.is_empty() {
            continue;
        }
        let is_recipe = ["gen:", "suite:", "fsai:", "fsai?"].iter().any(|p| name.starts_with(p));
        // What is named like a file is no name of the collection.
        let is_file = is_named_like_a_matrix(name) || name.ends_with(".points");
        let is_path = is_recipe || is_file || is_there(name);
        let line = match Name::parse(name) {
            Ok(name) if of_matrices && !is_path => Line::Collection(name),
            _ => Line::Source(name.to_owned()),
        };
        if !lines.iter().any(|(_, known)| *known == line) {
            lines.push((number, line));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_recipe_a_path_or_a_name_of_the_collection() {
        let text = "# all of them\n\ngen:stencil27?n=9   # small\nsuite:cant\ncant\n  Williams/pdb1HYS\n\
                    a.mtx\r\nhere\ndir/b#1.mtx.gz\n/no/such\ncant\na.graph\na.npz\n";
        let found = lines(text, true, |path| path == "here");
        let collection = |name: &str| Line::Collection(Name::parse(name).unwrap());
        let source = |text: &str| Line::Source(text.to_owned());
        let expected = [
            (3, source("gen:stencil27?n=9")),
            (4, source("suite:cant")),
            (5, collection("cant")),
            (6, collection("Williams/pdb1HYS")),
            (7, source("a.mtx")),
            (8, source("here")),
            (9, source("dir/b#1.mtx.gz")),
            (10, source("/no/such")),
            (12, source("a.graph")),
            (13, source("a.npz")),
        ];
        assert_eq!(found, expected);
        // There is no collection of points.
        assert_eq!(lines("cant", false, |_| false), [(1, source("cant"))]);
        assert_eq!(lines("# nothing\n  \n", true, |_| true), []);
    }
}
