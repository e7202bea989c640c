//! Determines the form of a text. The readers of matrices and of their sizes share this, so that
//! they agree.

use super::error::quoted;
#[cfg(feature = "hdf5")]
use super::hdf5;
use super::head::BANNER;
use super::matrix_market::refuse_other_kinds;
use super::{
    IoError, MatrixFile, MatrixForm, Progress, ReadOptions, binary_triplets, boeing, dimacs,
    edge_list, file_forms, hypre, matlab, metis, numpy, petsc, triplet_text,
};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

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

const fn stored_as(
    form: MatrixForm,
    is_meant: fn(&str, &[u8]) -> bool,
    read: fn(&[u8], &ReadOptions, MemoryLimit, Progress<'_>) -> Result<MatrixFile, IoError>,
    extent: fn(&[u8], &ReadOptions) -> Result<Extent, IoError>,
) -> Stored {
    Stored { form, is_meant, read, extent }
}

/// The forms that are looked for before text.
const STORED: &[Stored] = &[
    #[cfg(feature = "hdf5")]
    stored_as(MatrixForm::Hdf5, hdf5::is_meant, hdf5::read, hdf5::extent),
    stored_as(
        MatrixForm::BinaryTriplets,
        binary_triplets::is_meant,
        binary_triplets::read,
        binary_triplets::extent,
    ),
    stored_as(MatrixForm::Matlab5, matlab::is_level_5, matlab::read, matlab::extent),
    stored_as(MatrixForm::Matlab4, matlab::is_level_4, matlab::read, matlab::extent),
    stored_as(
        MatrixForm::Npz,
        |_, data| numpy::is_archive(data),
        |data, _, limit, progress| numpy::read(data, limit, progress),
        |data, _| numpy::extent(data),
    ),
    stored_as(
        MatrixForm::Npy,
        |_, data| numpy::is_array(data),
        |data, _, limit, progress| numpy::read(data, limit, progress),
        |data, _| numpy::extent(data),
    ),
    stored_as(MatrixForm::RutherfordBoeing, boeing::is_meant, boeing::read, boeing::extent),
    stored_as(MatrixForm::Petsc, petsc::is_meant, petsc::read, petsc::extent),
    stored_as(MatrixForm::Hypre, hypre::is_meant, hypre::read, hypre::extent),
    stored_as(MatrixForm::Dimacs, dimacs::is_meant, dimacs::read, dimacs::extent),
];

/// The form of a file that is not one of the text forms. The banner of Matrix Market rules them out.
pub(super) fn stored(name: &str, data: &[u8]) -> Option<&'static Stored> {
    let mut forms = STORED.iter().filter(|_| !data.starts_with(BANNER));
    forms.find(|form| (form.is_meant)(name, data))
}

/// The form of a text in a file called `name`: decided by a banner, then the name, then the content. Where the
/// vertices of an edge list count from is only known once it is read. Fails on a text of no form, or of two.
pub(super) fn form_of(
    name: &str,
    text: &[u8],
    options: &ReadOptions,
    limit: MemoryLimit,
) -> Result<MatrixForm, IoError> {
    if metis::is_meant(name) && !text.starts_with(BANNER) {
        return Ok(MatrixForm::Metis);
    }
    if edge_list::is_meant(name, text) {
        return Ok(MatrixForm::EdgesFrom1);
    }
    // Options that a text cannot have are refused with what they need.
    let has_options = *options != ReadOptions::default();
    if triplet_text::is_meant(name, text) {
        let graph = if has_options { None } else { metis::vertices_of(text, limit) };
        let Some(vertices) = graph else { return Ok(MatrixForm::Triplets) };
        return match at_once(triplet_text::read_bytes(text, limit, Progress::none())) {
            Ok(_) => Err(IoError::TwoForms { vertices }),
            Err(_) => Ok(MatrixForm::Metis),
        };
    }
    if has_options || triplet_text::needs_banner(name) || triplet_text::has_banner(text) {
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
