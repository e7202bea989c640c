//! Results of other programs as bundles, so that what was published or measured elsewhere can be
//! drawn beside what was measured here: Ginkgo's SpMV benchmark, nvbench and Google Benchmark.
//! `docs/import.md` says what is taken over and what is not.

mod by_name;
mod ginkgo;
mod left_out;
mod program;
mod run;

#[cfg(not(target_family = "wasm"))]
mod google;
#[cfg(not(target_family = "wasm"))]
mod nvbench;
#[cfg(not(target_family = "wasm"))]
mod refusals;
#[cfg(not(target_family = "wasm"))]
mod told;

pub use by_name::is_known_by_name;

use crate::bundle::{Bundle, BundleError, Limits};
use program::Program;

impl Bundle {
    /// Reads a bundle, or results of another program as one: JSON begins with a bracket and a zip
    /// does not. `file` may be a path of Ginkgo's published data, which names device and executor
    /// in its folders; `created` is when it is read.
    ///
    /// # Errors
    /// One sentence, as [`read`](Self::read); in a page also for results of nvbench and Google
    /// Benchmark, which only the program imports.
    pub fn read_any(
        file: &str,
        bytes: &[u8],
        created: String,
        limits: &Limits,
    ) -> Result<Self, BundleError> {
        if !matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{')) {
            return Self::read(bytes, limits);
        }
        limits.check("the file", bytes.len() as u64, "bytes", limits.document_bytes)?;
        let program = Program::of(bytes);
        let bundle = match program {
            Program::Ginkgo => ginkgo::read(file, bytes, created, limits)?,
            #[cfg(not(target_family = "wasm"))]
            Program::Nvbench => nvbench::read(bytes, created, limits)?,
            #[cfg(not(target_family = "wasm"))]
            Program::Google => google::read(bytes, created, limits)?,
            #[cfg(target_family = "wasm")]
            Program::Nvbench | Program::Google => {
                return Err(BundleError::NotInPage { of: program.results() });
            }
        };
        // Times and sizes may be beyond all measure.
        bundle.check_contents()?;
        Ok(bundle)
    }
}
