//! Intel's oneMKL: its library, looked for when the program runs, and products with its sparse matrices.
//! Nothing of it is linked; what is missing is a sentence.

mod library;
mod matrix;
mod places;
mod team;

pub(crate) use library::{Mkl, mkl};
pub(crate) use matrix::{MklMatrix, MklValue};
