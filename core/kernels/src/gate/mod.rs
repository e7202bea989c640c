//! The checks that every result must pass before its time counts, and the references behind them.

mod block;
mod columns;
mod dense;
mod dominators;
mod half_sweeps;
mod overflow;
#[cfg(test)]
mod properties;
mod rounding;
mod row_errors;
mod skyline;
mod solve;
mod spmv;
mod symgs;

pub use block::{COLUMNS_AT_ONCE, ColumnRange};
pub use columns::{BlockReference, check_columns};
pub use dense::Definiteness;
pub use half_sweeps::half_sweeps;
pub use rounding::{Unrounded, against_f64};
pub use row_errors::{RowErrors, undecided};
pub use skyline::{Certificate, same_set};
pub use solve::{ResidualNorms, solved, vanishes};
pub use spmv::{PAPER_EPSILON, Reference};
pub use symgs::{SweepBounds, offenders, same_bits};
