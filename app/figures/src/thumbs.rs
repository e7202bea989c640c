//! Small pictures of the structure of matrices.

use std::sync::Arc;

use crate::figure::ColorImage;
use crate::model::Model;
use crate::state::Theme;

/// The structure of the matrix with this key, in grey; `None` without a picture.
pub fn of(_: &Model, _: &str, _: usize, _: Theme) -> Option<Arc<ColorImage>> {
    None
}
