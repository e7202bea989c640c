//! Matrix formats: one file a format, with its struct, its invariants, its conversion from CSR
//! and the bytes it occupies. [`Csr`] is the hub; rows and columns are 0-based.

mod csr;
mod error;
mod identity;
mod row_ptr;
mod scalar;
mod stats;

pub use csr::Csr;
pub use error::FormatError;
pub(crate) use identity::sha256;
pub use identity::{CanonicalValue, identity};
pub use row_ptr::{NARROW_MAX, Offset, OffsetWidth, RowPtr};
pub use scalar::Scalar;
pub use stats::{FormatSize, RowLengths, Statistics};

pub mod examples;
