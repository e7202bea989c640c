//! Determines the form of a text. The readers of matrices and of their sizes share this, so that
//! they agree.

use super::error::quoted;
use super::matrix_market::refuse_other_kinds;
use super::{
    IoError, MatrixFile, MatrixForm, Progress, ReadOptions, binary_triplets, edge_list, file_forms,
    matlab, metis, numpy, triplet_text,
};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// A form with a reader of its own: binary numbers, or text of fixed columns.
pub(super) struct Stored {
    pub(super) form: MatrixForm,
    /// Whether a file with this name and content, decompressed, is meant to have this form; decided by the
    /// name and the first bytes.
    pub(super) is_meant: fn(&str, &[u8]) -> bool,
    pub(super) read:
        fn(&[u8], &ReadOptions, MemoryLimit, Progress<'_>) -> Result<MatrixFile, IoError>,
    /// The sizes that the file declares; fails as `read` does on a file that ends before them.
    pub(super) extent: fn(&[u8], &ReadOptions) -> Result<Extent, IoError>,
}

/// The forms that are looked for before text.
const STORED: [Stored; 5] = [
    Stored {
        form: MatrixForm::BinaryTriplets,
        is_meant: binary_triplets::is_meant,
        read: binary_triplets::read,
        extent: binary_triplets::extent,
    },
    Stored {
        form: MatrixForm::Matlab5,
        is_meant: matlab::is_level_5,
        read: matlab::read,
        extent: matlab::extent,
    },
    Stored {
        form: MatrixForm::Matlab4,
        is_meant: matlab::is_level_4,
        read: matlab::read,
        extent: matlab::extent,
    },
    Stored {
        form: MatrixForm::Npz,
        is_meant: |_, data| numpy::is_archive(data),
        read: |data, _, limit, progress| numpy::read(data, limit, progress),
        extent: |data, _| numpy::extent(data),
    },
    Stored {
        form: MatrixForm::Npy,
        is_meant: |_, data| numpy::is_array(data),
        read: |data, _, limit, progress| numpy::read(data, limit, progress),
        extent: |data, _| numpy::extent(data),
    },
];

/// The form of a file that is not one of the text forms.
pub(super) fn stored(name: &str, data: &[u8]) -> Option<&'static Stored> {
    STORED.iter().find(|form| (form.is_meant)(name, data))
}

/// The form of a text in a file called `name`: decided by a banner, then the name, then the content. Where the
/// vertices of an edge list count from is only known once it is read. Fails on a text of no form.
pub(super) fn form_of(name: &str, text: &[u8]) -> Result<MatrixForm, IoError> {
    if metis::is_meant(name) && !text.starts_with(b"%%MatrixMarket") {
        return Ok(MatrixForm::Metis);
    }
    if edge_list::is_meant(name, text) {
        return Ok(MatrixForm::EdgesFrom1);
    }
    if triplet_text::is_meant(name, text) {
        return Ok(MatrixForm::Triplets);
    }
    if triplet_text::needs_banner(name) || triplet_text::has_banner(text) {
        return Ok(MatrixForm::MatrixMarket);
    }
    refuse_other_kinds(text)?;
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Err(IoError::Unexpected {
        line: 1,
        expected: format!(
            "a matrix in one of these forms, which `sparsescope info --help` describes: {}",
            file_forms::names()
        ),
        found: quoted(line.trim_ascii()),
    })
}
