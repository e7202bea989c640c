//! Reading and writing matrices, vectors and points: any file becomes a CSR matrix or one sentence that
//! says where the file is wrong. Input is untrusted: nothing here indexes, and sizes are checked against
//! a [`MemoryLimit`](crate::memory::MemoryLimit) before allocating.
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod assemble;
#[cfg(not(target_family = "wasm"))]
mod atomic;
pub mod binary_triplets;
mod boeing;
mod build;
mod decimal;
pub mod dense;
mod dimacs;
mod edge_list;
mod error;
mod extent;
pub mod file_forms;
#[cfg(not(target_family = "wasm"))]
mod files;
mod foreign;
mod form;
#[cfg(feature = "hdf5")]
mod hdf5;
mod head;
mod hypre;
mod in_order;
mod layer;
mod matlab;
mod matrix_file;
pub mod matrix_market;
mod metis;
pub mod numpy;
mod open;
mod parts;
mod petsc;
pub mod points;
mod progress;
mod read_options;
#[cfg(all(test, not(target_family = "wasm")))]
mod real_files;
mod scan;
#[cfg(not(target_family = "wasm"))]
mod stream;
mod tar;
mod triplet_text;
mod unpack;
pub mod vector;
mod word;
mod zipped;

#[cfg(not(target_family = "wasm"))]
pub use atomic::{Overwrite, write_atomically, write_bytes};
pub use boeing::write_rb;
pub use error::IoError;
pub use extent::{read_named_extent, read_named_extent_as};
#[cfg(not(target_family = "wasm"))]
pub use files::{
    open_companion, open_dense, open_extent, open_matrix, open_matrix_as, open_points,
    open_points_extent, open_share, open_vector, save, share_of_text,
};
pub use layer::check_gzip;
pub use matrix_file::{AnyMatrix, Field, MatrixFile, MatrixForm, Symmetry};
#[cfg(not(target_family = "wasm"))]
pub use matrix_market::FileShare;
pub use open::{read_matrix, read_named_matrix, read_named_matrix_as, read_named_matrix_in_steps};
pub use petsc::write_petsc;
pub use progress::Progress;
pub use read_options::ReadOptions;
#[cfg(not(target_family = "wasm"))]
pub use stream::{HandedOut, hand_out, is_compressed};
