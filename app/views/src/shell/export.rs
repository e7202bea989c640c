//! Files that the user asked for.

/// A file that the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Suggested name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// The content is an SVG that is to be saved as PNG: only in the page, whose browser draws it.
    pub rasterise: bool,
}

impl Export {
    /// A file as it is.
    pub fn new(name: String, bytes: Vec<u8>) -> Self {
        Self { name, bytes, rasterise: false }
    }
}
