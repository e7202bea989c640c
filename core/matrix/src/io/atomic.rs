//! Files written completely or not at all, with the errors of this module.

use std::io::Write;
use std::path::Path;

use super::IoError;
pub use crate::files::Overwrite;
use crate::files::{WriteError, write_whole};

/// Writes the file `path` through `write`, as [`write_whole`] does. It appears under its name only
/// after all of it has been written. On any error nothing is left behind and an older file stays as
/// it was.
pub fn write_atomically<E: From<IoError>>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let written = write_whole(path, overwrite, write);
    written.map(drop).map_err(|error| match error {
        WriteError::Exists => IoError::Exists.in_file(path).into(),
        WriteError::System { doing, error } => {
            IoError::System { doing, error }.in_file(path).into()
        }
        WriteError::Content(error) => error,
    })
}

/// Like [`write_atomically`], with the whole content given.
pub fn write_bytes(path: &Path, overwrite: Overwrite, content: &[u8]) -> Result<(), IoError> {
    write_atomically(path, overwrite, |out| {
        let failed = |error| IoError::System { doing: "write", error }.in_file(path);
        out.write_all(content).map_err(failed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, overwrite: Overwrite, text: &str) -> Result<(), IoError> {
        write_bytes(path, overwrite, text.as_bytes())
    }

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        folder.read_dir().unwrap().map(|e| e.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_overwritten_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("y.mtx");
        put(&path, Overwrite::Never, "first").unwrap();
        let error = put(&path, Overwrite::Never, "second").unwrap_err().to_string();
        assert!(error.ends_with("y.mtx: the file already exists"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
        put(&path, Overwrite::Replace, "third").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(names(folder.path()), ["y.mtx"]);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("y.mtx");
        let error = write_atomically(&path, Overwrite::Never, |_| -> Result<(), IoError> {
            std::fs::write(&path, "theirs").unwrap();
            Ok(())
        });
        assert!(error.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("y.mtx");
        put(&path, Overwrite::Never, "old").unwrap();
        let error = write_atomically(&path, Overwrite::Replace, |out| {
            out.write_all(&[b'x'; 1 << 20]).unwrap();
            Err(IoError::Cancelled)
        });
        assert!(error.unwrap_err().is_cancelled());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["y.mtx"]);
    }

    #[test]
    fn without_the_folder_the_error_names_only_the_file_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/y.mtx");
        let error = put(&path, Overwrite::Never, "").unwrap_err().to_string();
        assert!(error.contains("y.mtx: cannot create a temporary file in its folder: "), "{error}");
        // The user does not know the name of the temporary file.
        assert!(!error.contains(".sparsescope-"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        put(&ours, Overwrite::Never, "").unwrap();
        std::fs::write(&plain, "").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
