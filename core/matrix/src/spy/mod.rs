//! Pictures of a matrix's structure at every zoom: a pyramid of exact nonzero counts, and the
//! profile of its row lengths. Both have a compact form that is stored in a bundle.

#![deny(clippy::indexing_slicing)]

mod detail;
mod files;
mod profile;
mod pyramid;

pub use detail::Detail;
pub use files::{SpyError, SpyHeader, coarse_from_files, from_files, to_files};
pub use profile::{LengthBin, RowProfile};
pub use pyramid::{Level, Pyramid, TILE};
