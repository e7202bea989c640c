//! y = A·x in compact formats: 16-bit columns and coded values, decoded in registers. The sums are bitwise
//! identical to those of the same loop over plain columns and values.

mod csr;
mod hll;
mod lookup;

pub use csr::{CsrShares, csr};
pub use hll::{HllShares, hll};

#[cfg(test)]
mod tests;
