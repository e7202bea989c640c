//! Intel's oneMKL: the library, searched for at run time, and SpMV with its sparse matrices. It is not
//! linked; if it is missing, one sentence says so.

mod library;
mod matrix;
mod places;
mod team;

pub(crate) use library::{Mkl, mkl};
pub(crate) use matrix::{MklError, MklMatrix, MklValue};
