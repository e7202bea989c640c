//! The result bundle: one zip with everything measured, its journal during measurement, the limits
//! for reading bundles from anywhere, and the import of other programs' results. [`Bundle`] is the
//! content; the documents inside are the types of [`sparsescope_record`], described by [`JSON_SCHEMA`].

#![deny(clippy::indexing_slicing, clippy::string_slice, clippy::get_unwrap)]

mod archive;
mod check;
mod compare;
mod contents;
mod error;
mod import;
mod json;
mod limits;
mod lists;
mod merge;
mod read;
mod spreadsheet;
mod table;
mod texts;
mod timeline;
mod write;

#[cfg(not(target_family = "wasm"))]
mod file;
#[cfg(not(target_family = "wasm"))]
mod follow;
#[cfg(not(target_family = "wasm"))]
mod journal;

#[cfg(test)]
#[path = "frozen/reader_1_2.rs"]
mod frozen_reader_1_2;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod key_tests;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod schema_tests;

pub use compare::{ComparedRun, Comparison, VerdictChange};
pub use contents::{Bundle, MatrixFolder, SubjectFolder};
pub use error::BundleError;
#[cfg(not(target_family = "wasm"))]
pub use follow::Follower;
pub use import::is_known_by_name;
#[cfg(not(target_family = "wasm"))]
pub use journal::{Journal, Record, check_unused, journal_path};
pub use limits::Limits;
pub use merge::{Conflicts, merge};
pub use spreadsheet::spreadsheet_cell;
pub use table::HEADER;
pub use timeline::{JudgedRun, Rules, TimePoint, Timeline, judge, wrong_now};

/// The normative JSON Schema (draft 2020-12) of a bundle's documents, under `$defs`: `manifest`,
/// `environment`, `runs`, `matrix`, `subject`, `history`.
pub const JSON_SCHEMA: &str = include_str!("bundle.schema.json");
