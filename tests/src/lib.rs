//! Helpers shared by the whole-system tests.

mod documents;
mod foreign;
mod large;
mod links;
mod paths;
mod program;
mod roots;
mod server;

pub use documents::{documents, follow_the_schema};
pub use foreign::changed;
pub use links::{Links, Shown};
pub use paths::{Paths, ProgramText, Use, debug_texts, paths, texts};
pub use program::{Killed, Program, Ran};
pub use roots::{PROGRAMS, roots};
pub use server::{Asked, Reply, Server};
