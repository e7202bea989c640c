//! What the whole-system tests share.
//!
//! Most tests run on any machine. One that needs more than that says so with [`skip!`](crate::skip!):
//! it is skipped where the need is absent, and fails where `SPARSESCOPE_REQUIRE` names the need.

mod documents;
mod foreign;
mod large;
mod links;
mod need;
mod paths;
pub mod planted;
mod program;
mod roots;
mod server;

pub use documents::{documents, follow_the_schema};
pub use foreign::changed;
pub use links::{Links, Shown};
pub use need::{Need, is_required, skip};
pub use paths::{Paths, ProgramText, Use, debug_texts, paths, texts};
pub use program::{Program, Ran};
pub use roots::{PROGRAMS, roots};
pub use server::{Asked, Reply, Server};
