//! What is read off a crate's files: who uses whom, every path followed to the file that defines what it
//! names, and which texts there are or are made from `Debug`. What only tests see is left out.

mod code;
mod debug;
mod reader;
mod syntax;

pub use debug::{ProgramText, debug_texts, texts};
pub use reader::{Paths, Use, paths};
