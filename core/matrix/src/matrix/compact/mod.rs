//! Lossless formats with fewer bytes per nonzero: columns as 16-bit distances where they fit, values as
//! dictionary codes where few are distinct.

mod coded;
mod csr;
mod dictionary;
mod estimate;
mod fours;
mod hll;
mod lines;
mod values;

pub use coded::{Code, Coded};
pub use csr::{CompactCsr, CsrPlan};
pub use dictionary::{Dictionary, MOST_VALUES};
pub use estimate::CompactEstimate;
pub use fours::{Fours, NO_SLOT};
pub use hll::{CompactHll, HllPlan};
pub use lines::{Lines, WIDE};
pub use values::ValueCoding;
