//! The forms of files that hold a matrix, as data for help texts, file dialogs and messages.

/// A form of files that hold a matrix.
#[derive(Clone, Copy, Debug)]
pub struct FileForm {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, without the dot. Another extension does not matter if the content shows the form.
    pub extensions: &'static [&'static str],
    /// What is read.
    pub read: &'static str,
    /// Whether `generate` and `convert` write it, with its first extension.
    pub is_written: bool,
}

const fn form(
    name: &'static str,
    extensions: &'static [&'static str],
    read: &'static str,
    is_written: bool,
) -> FileForm {
    FileForm { name, extensions, read, is_written }
}

/// What is read of HDF5, and which builds read it.
const HDF5: &str = if cfg!(feature = "hdf5") {
    "MATLAB 7.3, 10x Genomics, AnnData, Octave"
} else {
    "with --features hdf5: MATLAB 7.3, 10x, AnnData"
};

/// All forms.
pub const FORMS: [FileForm; 15] = [
    form("Matrix Market", &["mtx"], "coordinate and array files, also complex", true),
    form("SciPy sparse array", &["npz"], "csr, csc, coo, bsr, dia (save_npz)", true),
    form("NumPy array", &["npy"], "a dense matrix", false),
    form("Rutherford-Boeing", &["rb"], "assembled matrices", true),
    form("Harwell-Boeing", &["rua", "rsa", "psa"], "assembled matrices", false),
    form("MATLAB", &["mat"], "a sparse or dense matrix, level 4 or 5", false),
    form("HDF5", &["h5", "h5ad", "hdf5"], HDF5, false),
    form("PETSc binary", &["petsc"], "a sparse or dense matrix (MatView)", true),
    form("binary triplets", &["triplets"], "row, column and value per nonzero", true),
    form("hypre IJ", &["00000"], "a matrix in pieces .00000, .00001, ...", false),
    form("METIS graph", &["graph", "metis"], "a line of adjacent vertices for each vertex", false),
    form("DIMACS graph", &["gr", "col"], "arcs with weights, or edges", false),
    form(
        "edge list",
        &["edges", "el", "txt", "tsv", "csv"],
        "\"from to [weight]\" per line, or named columns",
        false,
    ),
    form("triplet text", &["txt"], "sizes, then \"row column value\" per line", false),
    form("archive", &["tar", "tgz", "zip"], "a .tar, .tar.gz or .zip with one matrix", false),
];

/// Extensions of compressed files of any form.
pub const COMPRESSED: [&str; 4] = ["gz", "bz2", "xz", "zst"];

/// Endings of the names of compressed files.
const ENDINGS: [&str; 5] = [".gz", ".bz2", ".xz", ".zst", ".zip"];

/// Every extension of a file that may hold a matrix, each once.
pub fn extensions() -> Vec<&'static str> {
    let mut found = Vec::new();
    for extension in FORMS.iter().flat_map(|form| form.extensions).chain(&COMPRESSED) {
        if !found.contains(extension) {
            found.push(*extension);
        }
    }
    found
}

/// Whether a file of this name may hold a matrix, as far as its name shows.
pub fn is_named_like_a_matrix(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.rsplit_once('.').is_some_and(|(_, last)| extensions().contains(&last))
}

/// Whether a file holds a matrix, rather than a result bundle, a lesson or other JSON, as far as its name and its
/// first bytes show. A bundle begins with its manifest.
pub fn is_matrix(name: &str, start: &[u8]) -> bool {
    if start.starts_with(b"PK\x03\x04") {
        return start.get(30..).is_none_or(|names| !names.starts_with(b"manifest.json"));
    }
    match name.rsplit_once('.').map(|(_, last)| last.to_ascii_lowercase()).as_deref() {
        Some("zip" | "json") => false,
        _ if is_named_like_a_matrix(name) => true,
        _ => !matches!(start.trim_ascii_start().first(), Some(b'{' | b'[')),
    }
}

/// The name of a file without the endings of compressed files: `edges.csv` for `edges.csv.xz`.
pub(super) fn inner_name(mut name: &str) -> &str {
    let stem = |name: &'_ str, ending: &str| {
        let at = name.len().checked_sub(ending.len())?;
        let tail = name.as_bytes().get(at..)?;
        tail.eq_ignore_ascii_case(ending.as_bytes()).then_some(at)
    };
    while let Some(at) = ENDINGS.iter().find_map(|ending| stem(name, ending)) {
        name = name.get(..at).unwrap_or_default();
    }
    name
}

/// The names of all forms, for a message.
pub(super) fn names() -> String {
    FORMS.map(|form| form.name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_differ_from_bundles_and_lessons() {
        let zip = |name: &str| [&b"PK\x03\x04"[..], &[0; 26], name.as_bytes()].concat();
        for (name, start, expected) in [
            ("a.mtx", &b""[..], true),
            ("a.npz", &zip("indices.npy"), true),
            ("a.zip", &zip("a.mtx"), true),
            ("a.zip", &zip("manifest.json"), false),
            ("renamed", &zip("manifest.json"), false),
            ("a.zip", b"PK", false),
            ("a.json", b"", false),
            ("a.rb", b"[a title of a matrix]", true),
            ("lesson", b" {\"title\": 1}", false),
            ("results", b"[{}]", false),
            ("a.mat", b"MATLAB 5.0 MAT-file", true),
            ("a.h5ad", b"\x89HDF\r\n\x1a\n", true),
            ("a.petsc", b"\0\x12\x7b\x50", true),
            ("a.mtx.xz", b"\xfd7zXZ\0", true),
            ("ij.00000", b"0 3 0 3\n", true),
            ("road.gr", b"p sp 3 2\n", true),
            ("queen.col", b"p edge 3 2\n", true),
            ("out.zoo", b"% sym\n1 2\n", true),
            ("a", b"%%MatrixMarket", true),
        ] {
            assert_eq!(is_matrix(name, start), expected, "{name}");
        }
    }

    #[test]
    fn each_extension_is_listed_once_in_lower_case() {
        let all = extensions();
        assert!(all.iter().all(|extension| **extension == extension.to_ascii_lowercase()));
        assert!(all.iter().enumerate().all(|(k, extension)| !all[..k].contains(extension)));
        for name in ["a.MTX", "a.tar.gz", "a.tgz", "a.triplets", "b.el", "c.gz"] {
            assert!(is_named_like_a_matrix(name), "{name}");
        }
        assert!(!is_named_like_a_matrix("cant") && !is_named_like_a_matrix("Williams/cant.1"));
    }
}
