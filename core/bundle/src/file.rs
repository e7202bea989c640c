//! Bundles as files: read whole under the limits, written to a temporary file and renamed.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Bundle, BundleError, Limits};
use sparsescope_matrix::files::{Overwrite, WriteError, write_whole};

impl Bundle {
    /// Reads a bundle file; loads no more than `limits` allows into memory.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, BundleError> {
        Self::read(&content(path, limits)?, limits)
    }

    /// Reads a bundle, or results of another program as a bundle `created` now.
    pub fn open_any(path: &Path, created: String, limits: &Limits) -> Result<Self, BundleError> {
        Self::read_any(&path.to_string_lossy(), &content(path, limits)?, created, limits)
    }

    /// Writes the bundle to a file, atomically. Replaces an existing file only if `overwrite` is
    /// set.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), BundleError> {
        if !overwrite && path.exists() {
            return Err(BundleError::Exists { path: path.into() });
        }
        place(path, &self.to_bytes()?, overwrite).map(drop)
    }
}

/// Reads the file, or the beginning of one larger than any valid bundle.
fn content(path: &Path, limits: &Limits) -> Result<Vec<u8>, BundleError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limits.zip_bytes.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(io("read", path))?;
    Ok(bytes)
}

/// Wraps a system error in [`BundleError::Io`].
pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> BundleError {
    let path = PathBuf::from(path);
    move |source| BundleError::Io { action, path, source }
}

/// Writes a file with this content at `path` and returns it open for appending.
pub(super) fn place(path: &Path, content: &[u8], overwrite: bool) -> Result<File, BundleError> {
    let overwrite = if overwrite { Overwrite::Replace } else { Overwrite::Never };
    write_whole(path, overwrite, |out| out.write_all(content)).map_err(|error| match error {
        WriteError::Exists => BundleError::Exists { path: path.into() },
        WriteError::System { error, .. } | WriteError::Content(error) => io("write", path)(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_saved_bundle_opens_and_is_never_overwritten_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.zip");
        let mut bundle = sample::bundle();
        bundle.save(&path, false).unwrap();
        assert_eq!(Bundle::open(&path, &Limits::default()).unwrap(), bundle);

        bundle.label = Some("second".into());
        let error = bundle.save(&path, false).unwrap_err();
        assert!(error.to_string().ends_with("results.zip already exists"), "{error}");
        assert_ne!(Bundle::open(&path, &Limits::default()).unwrap(), bundle);
        bundle.save(&path, true).unwrap();
        assert_eq!(Bundle::open(&path, &Limits::default()).unwrap(), bundle);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside");
    }

    #[test]
    fn a_bundle_that_cannot_be_written_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut bundle = sample::bundle();
        bundle.runs[0].samples[0] = f64::NAN;
        assert!(bundle.save(&folder.path().join("results.zip"), false).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = sample::bundle().save(&folder.path().join("no/such.zip"), false).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
    }

    #[test]
    fn a_file_over_the_limit_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big.zip");
        File::create(&path).unwrap().set_len(1 << 20).unwrap();
        let error = Bundle::open(&path, &Limits { zip_bytes: 1000, ..Limits::default() });
        assert_eq!(
            error.unwrap_err().to_string(),
            "the bundle has 1001 bytes, more than the limit of 1000"
        );
    }
}
