//! Reads the sizes of a matrix from the first lines of its file, without reading the rest.

use std::borrow::Cow;
use std::io::Read as _;

use super::form::{self, form_of};
use super::head::first_lines;
use super::matrix_market::{Format, Header};
use super::unpack::{Layers, Unpacked, unpack, without_mark};
use super::{
    IoError, MatrixForm, Progress, ReadOptions, Symmetry, edge_list, foreign, metis, tar,
    triplet_text,
};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// The sizes that a file called `name` declares: those that [`read_named_matrix`] would find, for
/// every kind of file that it reads. Fails on a file that ends before its sizes or is no matrix;
/// whatever follows the sizes is ignored. A text that may be an edge list is read to its end.
///
/// [`read_named_matrix`]: super::read_named_matrix
pub fn read_named_extent(name: &str, data: &[u8]) -> Result<Extent, IoError> {
    read_named_extent_as(name, data, &ReadOptions::default())
}

/// Like [`read_named_extent`], with options.
pub fn read_named_extent_as(
    name: &str,
    data: &[u8],
    options: &ReadOptions,
) -> Result<Extent, IoError> {
    let (limit, progress) = (MemoryLimit::of_machine(), Progress::none());
    let mut layers = Layers::of(name, data, limit, progress)?;
    let member = layers.member.clone();
    let found = match tar::is_tar(&layers.start) {
        true => tar::peek_matrix(&mut layers, limit).and_then(|member| of_member(&member, options)),
        false => of_layers((name, data), layers, options),
    };
    found.map_err(|error| error.in_member(member.as_deref()))
}

fn of_member(member: &tar::Member, options: &ReadOptions) -> Result<Extent, IoError> {
    let (limit, progress) = (MemoryLimit::of_machine(), Progress::none());
    let unpacked = at_once(unpack(&member.name, &member.content, limit, progress));
    let found = unpacked.and_then(|Unpacked { name, text, .. }| {
        if let Some(stored) = form::stored(&name, &text) {
            options.form(stored.form)?;
            return (stored.extent)(&text, options);
        }
        foreign::refuse(&text, "a matrix")?;
        of_text(&name, &text, options)
    });
    found.map_err(|error| error.in_member(Some(&member.name)))
}

/// The sizes of a matrix that is not in a tar archive.
fn of_layers(
    (name, data): (&str, &[u8]),
    layers: Layers<'_>,
    options: &ReadOptions,
) -> Result<Extent, IoError> {
    let (limit, progress) = (MemoryLimit::of_machine(), Progress::none());
    if let Some(stored) = form::stored(&layers.name, without_mark(&layers.start)) {
        options.form(stored.form)?;
        return (stored.extent)(&at_once(layers.text(limit, progress))?.text, options);
    }
    let inner = layers.name.clone();
    let text = beginning(layers)?;
    let text = match !metis::is_meant(&inner) && edge_list::may_be(&inner, &text) {
        // The sizes of an edge list are those of all its lines.
        true => at_once(unpack(name, data, limit, progress))?.text,
        false => Cow::Owned(text),
    };
    of_text(&inner, &text, options)
}

/// The sizes that a text, or its first lines, declare.
fn of_text(name: &str, text: &[u8], options: &ReadOptions) -> Result<Extent, IoError> {
    let form = form_of(name, text, options, MemoryLimit::of_machine())?;
    let form = options.form(form).map_err(|error| edge_list::unfit(error, text))?;
    let header = match form {
        MatrixForm::EdgesFrom0 | MatrixForm::EdgesFrom1 => edge_list::header(text, options)?,
        MatrixForm::Metis => return metis::extent(text),
        MatrixForm::Triplets => triplet_text::header(text)?,
        // The others have a reader of their own.
        _ => Header::read(text)?,
    };
    Ok(extent(&header))
}

fn extent(header: &Header) -> Extent {
    let (rows, cols, lines) = (header.rows.into(), header.cols.into(), header.declared);
    let (entries, is_most) = match (header.format, header.symmetry) {
        (Format::Coordinate, Symmetry::General) => (lines, false),
        (_, Symmetry::SkewSymmetric) => (lines.saturating_mul(2), false),
        (Format::Coordinate, _) => (lines.saturating_mul(2), true),
        (Format::Array, _) => (u64::saturating_mul(rows, cols), false),
    };
    // Zeros of an array file are not stored, and a diagonal has no second triangle.
    Extent { rows, cols, entries, estimated: is_most || header.format == Format::Array }
}

/// The first lines of a text.
fn beginning(mut layers: Layers<'_>) -> Result<Vec<u8>, IoError> {
    foreign::refuse(&layers.start, "a matrix")?;
    let mark = layers.start.len() - without_mark(&layers.start).len();
    layers.read_exact(&mut vec![0; mark]).map_err(tar::unreadable)?;
    first_lines(&mut layers).map_err(tar::unreadable)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::io::read_named_matrix;

    fn gz(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn sizes(name: &str, data: &[u8]) -> (u64, u64, u64, bool) {
        let found = read_named_extent(name, data).unwrap();
        (found.rows, found.cols, found.entries, found.estimated)
    }

    fn message(name: &str, data: &[u8]) -> String {
        read_named_extent(name, data).unwrap_err().to_string()
    }

    #[test]
    fn sizes_are_found_in_every_kind_of_text() {
        let mm = "%%MatrixMarket matrix";
        for (name, text, expected) in [
            ("a.mtx", format!("{mm} coordinate real general\n% c\n\n 5 4 10\n"), (5, 4, 10, false)),
            ("a.mtx", format!("{mm} coordinate real general\r\n5 4 10"), (5, 4, 10, false)),
            ("a.mtx", format!("{mm} coordinate pattern symmetric\n5 5 7\n"), (5, 5, 14, true)),
            ("a", format!("{mm} coordinate real skew-symmetric\n5 5 7\n"), (5, 5, 14, false)),
            ("a.mtx", format!("{mm} array real general\n3 2\n1\n2\n"), (3, 2, 6, true)),
            ("a.mtx", format!("{mm} array real symmetric\n3 3\n1\n2\n"), (3, 3, 9, true)),
            ("a.txt", "% c\n3 4 2\n1 1 1\n".to_owned(), (3, 4, 2, false)),
            ("a.txt", "3 2".to_owned(), (3, 3, 2, false)),
            ("a.txt", "# Nodes: 4\n0\t1\n0\t2\n".to_owned(), (4, 4, 2, false)),
            ("a.txt", "1 2\n1 3\n2 4\n3 4\n".to_owned(), (4, 4, 4, false)),
            ("a.csv", "id,source,target\n9,1,2\n8,2,3\n".to_owned(), (3, 3, 2, false)),
            ("a.csv", "% c\n# c\nsource,target\n1,2\n2,3\n".to_owned(), (3, 3, 2, false)),
            (
                "a.rb",
                "% c\n# c\n22\r2\x0c\r\n\n2222\r\r2\r\n\n\n\n".to_owned(),
                (2222, 2222, 2, false),
            ),
            ("out.a", "% sym unweighted\n% 2 3\n1 2\n1 3\n".to_owned(), (3, 3, 4, true)),
        ] {
            assert_eq!(sizes(name, text.as_bytes()), expected, "{text}");
            assert_eq!(sizes(name, &gz(text.as_bytes())), expected, "{text}");
        }
    }

    #[test]
    fn what_follows_the_sizes_is_not_read() {
        let mut text = b"%%MatrixMarket matrix coordinate real general\n9 9 1000000\n".to_vec();
        text.extend((0..1_000_000u32).flat_map(|k| k.wrapping_mul(2_654_435_761).to_le_bytes()));
        assert_eq!(sizes("a.mtx", &text), (9, 9, 1_000_000, false));
        let packed = gz(&text);
        let cut = &packed[..packed.len() / 2];
        assert_eq!(sizes("a.mtx.gz", cut), (9, 9, 1_000_000, false));
        let whole = read_named_matrix("a.mtx", cut, MemoryLimit::unlimited(), Progress::none());
        assert!(matches!(whole, Err(IoError::Compressed { kind: "gzip", .. })));
    }

    #[test]
    fn a_file_that_ends_before_its_sizes_or_is_no_matrix_says_so() {
        let mm = "%%MatrixMarket matrix coordinate real general\n";
        for (name, text, expected) in [
            ("a.mtx", "", "an empty file"),
            ("a.mtx", "<html>", "HTML page"),
            ("a.mtx", "3 3 1\n1 1 1\n", "line 1: expected the banner"),
            ("a.mtx", mm, "line 2: expected the size line"),
            ("a.mtx", &format!("{mm}% c\n3 3\n"), "line 3: expected the size line"),
            ("a.txt", "3\n", "line 1: expected the size line"),
            ("a.txt", "hello\n", "line 1: expected a matrix in one of these forms"),
        ] {
            let plain = message(name, text.as_bytes());
            assert!(plain.contains(expected), "{text:?}: {plain}");
            assert_eq!(message(name, &gz(text.as_bytes())), plain);
        }
        let packed = gz(format!("{mm}3 3 1\n1 1 1\n").as_bytes());
        let torn = message("a.mtx.gz", &packed[..packed.len() / 2]);
        assert!(torn.starts_with("the gzip data is cut off"), "{torn}");
    }

    proptest! {
        #[test]
        fn the_sizes_are_those_of_the_matrix_that_is_read(
            (rows, cols) in (1u32..9, 1u32..9),
            places in proptest::collection::btree_set((1u32..9, 1u32..9), 0..20),
            comments in 0usize..3,
        ) {
            let places: Vec<_> = places.iter().filter(|(i, j)| *i <= rows && *j <= cols).collect();
            let entries: String = places.iter().map(|(i, j)| format!("{i} {j} 1\n")).collect();
            let comments = "% c\n".repeat(comments);
            let text = format!("{comments}{rows} {cols} {}\n{entries}", places.len());
            let banner = "%%MatrixMarket matrix coordinate real general\n";
            for (name, text) in [("a.txt", text.clone()), ("a.mtx", format!("{banner}{text}"))] {
                let text = text.as_bytes();
                let read =
                    read_named_matrix(name, text, MemoryLimit::unlimited(), Progress::none());
                let a = read.unwrap().matrix;
                let read = (a.rows() as u64, a.cols() as u64, a.nnz() as u64, false);
                prop_assert_eq!(sizes(name, text), read);
            }
        }

        #[test]
        fn the_sizes_of_any_lines_of_numbers_are_those_of_the_matrix_that_is_read(
            comments in "([%#][0-9 ]?\n){0,3}",
            lines in "([ \t\r\x0c]?[0-9]{1,2}[ \t\r\x0c,][0-9]{1,2}[ \t\r\x0c]?\n|[0-9 \t\r\x0c%#]{0,4}\n){0,4}",
        ) {
            let text = comments + &lines;
            let text = text.as_bytes();
            let read = read_named_matrix("a.rb", text, MemoryLimit::bytes(1 << 24), Progress::none());
            if let Ok(read) = read {
                let found = read_named_extent("a.rb", text).map(|found| (found.rows, found.cols));
                let size = (read.matrix.rows() as u64, read.matrix.cols() as u64);
                prop_assert_eq!(found.ok(), Some(size));
            }
        }
    }
}
