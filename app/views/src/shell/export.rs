//! Files that the user requested.

/// A file that the user requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Suggested name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// The content is an SVG to be saved as a PNG like this: only in the page, whose browser renders it.
    pub raster: Option<Raster>,
}

/// A PNG to be made of an SVG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// It has a size on paper, which it says.
    pub on_paper: bool,
}

impl Export {
    /// A file saved as it is.
    pub fn new(name: String, bytes: Vec<u8>) -> Self {
        Self { name, bytes, raster: None }
    }
}

/// Requested files, what was copied, and errors.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) exports: Vec<Export>,
    pub(super) copied: Vec<String>,
    pub(super) failures: Vec<String>,
}
