//! Determines the form of a text. The readers of matrices and of their sizes share this, so that
//! they agree.

use super::{MatrixForm, metis, triplet_text};

/// The form of a text in a file called `name`: decided by a banner, then the name, then the first
/// characters.
pub(super) fn form_of(name: &str, text: &[u8]) -> MatrixForm {
    if metis::is_meant(name) && !text.starts_with(b"%%MatrixMarket") {
        return MatrixForm::Metis;
    }
    match triplet_text::is_meant(name, text) {
        true => MatrixForm::Triplets,
        false => MatrixForm::MatrixMarket,
    }
}
