//! Who uses whom inside a crate: every path in its files, followed to the file that defines what
//! the path names. What only tests see is left out.

mod code;
mod reader;
mod syntax;

pub use reader::{Paths, Use, paths};
