//! Which form a text has: the readers of matrices and of their sizes ask here, so that they agree.

use super::{MatrixForm, metis, triplet_text};

/// What a text in a file called `name` is: a banner decides, then the name, then how it begins.
pub(super) fn form_of(name: &str, text: &[u8]) -> MatrixForm {
    if metis::is_meant(name) && !text.starts_with(b"%%MatrixMarket") {
        return MatrixForm::Metis;
    }
    match triplet_text::is_meant(name, text) {
        true => MatrixForm::Triplets,
        false => MatrixForm::MatrixMarket,
    }
}
