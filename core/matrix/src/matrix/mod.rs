//! Matrix formats: one file per format, with its struct, its invariants, its conversion from CSR
//! and its size in bytes. All formats convert from and to [`Csr`]; rows and columns are 0-based.
//! [`Points`] is a dense array of points rather than a matrix; a [`Batch`] is many small dense
//! matrices.

mod batch;
mod batches;
mod blocks;
mod bsr;
mod compact;
mod coo;
mod copied;
mod csr;
mod dia;
mod ellpack;
mod error;
mod extent;
mod format;
mod hll;
mod hyb;
mod identity;
mod layout;
mod number;
mod points;
mod precision;
mod prefetch;
mod reorder;
mod row_order;
mod row_ptr;
mod scalar;
mod stats;

pub use batch::{Batch, BatchExtent, BatchView, MOST_UNKNOWNS};
pub use batches::{Batches, NumberedBatch};
pub use bsr::{BSR_BLOCKS, BSR_MIN_FILL, Bsr};
pub use compact::{
    Code, Coded, CompactCsr, CompactEstimate, CompactHll, CsrPlan, Dictionary, Fours, HllPlan,
    Lines, MOST_VALUES, NO_SLOT, ValueCoding, WIDE,
};
pub use coo::Coo;
#[doc(hidden)]
pub use copied::{copied, repeated};
pub use csr::Csr;
pub use dia::{DIA_MIN_FILL, Dia};
pub use ellpack::{EllShape, Ellpack};
pub use error::FormatError;
pub use extent::Extent;
pub use format::{AnyFormat, FormatSize, FormatSpec};
pub use hll::{DEFAULT_HACK_SIZE, DEFAULT_SIGMA, HACK_SIZES, Hll, HllLayout, HllShape};
pub use hyb::Hyb;
pub use identity::{CanonicalValue, IdentityStream, Sha256Hex, identity, identity_at, sha256};
pub use layout::{Order, SlotLayout, transposed, transposing_bytes};
pub use number::{Number, bf16_bits, f16_bits};
pub use points::{Points, PointsExtent, PointsView};
pub use precision::Precision;
#[doc(hidden)]
pub use prefetch::{CACHE_LINE, prefetch, prefetch_later, prefetch_lines};
pub use reorder::{Reordering, permuted};
pub use row_order::RowOrder;
pub use row_ptr::{NARROW_MAX, Offset, OffsetWidth, RowPtr};
pub use scalar::{Operands, Real, Scalar};
pub use stats::{Band, RowLengths, Statistics, nnz_class};

pub mod examples;
