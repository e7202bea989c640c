//! Determines the form of a text. The readers of matrices and of their sizes share this, so that
//! they agree.

use super::{
    IoError, MatrixFile, MatrixForm, Progress, ReadOptions, dimacs, edge_list, hypre, metis, petsc,
    triplet_text,
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
const STORED: [Stored; 3] = [
    Stored {
        form: MatrixForm::Petsc,
        is_meant: petsc::is_meant,
        read: petsc::read,
        extent: petsc::extent,
    },
    Stored {
        form: MatrixForm::Hypre,
        is_meant: hypre::is_meant,
        read: hypre::read,
        extent: hypre::extent,
    },
    Stored {
        form: MatrixForm::Dimacs,
        is_meant: dimacs::is_meant,
        read: dimacs::read,
        extent: dimacs::extent,
    },
];

/// The form of a file that is not one of the text forms.
pub(super) fn stored(name: &str, data: &[u8]) -> Option<&'static Stored> {
    STORED.iter().find(|form| (form.is_meant)(name, data))
}

/// The form of a text in a file called `name`: decided by a banner, then the name, then the content. Where the
/// vertices of an edge list count from is only known once it is read.
pub(super) fn form_of(name: &str, text: &[u8]) -> MatrixForm {
    if metis::is_meant(name) && !text.starts_with(b"%%MatrixMarket") {
        return MatrixForm::Metis;
    }
    if edge_list::is_meant(name, text) {
        return MatrixForm::EdgesFrom1;
    }
    match triplet_text::is_meant(name, text) {
        true => MatrixForm::Triplets,
        false => MatrixForm::MatrixMarket,
    }
}
