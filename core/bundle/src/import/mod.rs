//! Imports results of other programs as bundles, so that published results or those measured
//! elsewhere can be plotted next to our own: Ginkgo's SpMV benchmark, nvbench and Google Benchmark.
//! `docs/import.md` says what is imported and what is not.

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

use crate::{Bundle, BundleError, Limits};
use program::Program;

impl Bundle {
    /// Reads a bundle, or results of another program as a bundle: JSON starts with a bracket, a zip
    /// does not. `file` may be a path in Ginkgo's published data, whose folder names give device
    /// and executor; `created` is the time of import.
    ///
    /// # Errors
    /// One sentence, as for [`read`](Self::read). The web page also refuses results of nvbench and
    /// Google Benchmark, which only the program imports.
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
        // Times and sizes may be absurdly large.
        bundle.check_contents()?;
        Ok(bundle)
    }
}
