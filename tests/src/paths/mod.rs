//! Reads a crate's sources: which file uses which, with every path followed to the file that defines its
//! target, and which string literals exist or are formatted with `Debug`. Tests are left out.

mod code;
mod debug;
mod reader;
mod syntax;

pub use debug::{ProgramText, debug_texts, texts};
pub use reader::{Paths, Use, paths};
