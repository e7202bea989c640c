//! The result bundle: one zip that holds everything measured.

mod schema;

pub use schema::*;
