//! Determines the form of a text. The readers of matrices and of their sizes share this, so that
//! they agree.

use super::{MatrixForm, edge_list, metis, triplet_text};

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
