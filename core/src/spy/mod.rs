//! Pictures of a matrix's structure at every zoom: a pyramid of exact entry counts, and the
//! profile of its row lengths beside it. Both have a compact form that a bundle carries.

#![deny(clippy::indexing_slicing)]

mod detail;
mod files;
mod profile;
mod pyramid;

pub use detail::Detail;
pub use files::{SpyError, SpyHeader, from_files, to_files};
pub use profile::{LengthBin, RowProfile};
pub use pyramid::{Level, Pyramid, TILE};
