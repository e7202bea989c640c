//! Files that appear whole or not at all: written beside, then renamed.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::IoError;

/// What to do with a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Leave it and fail with [`IoError::Exists`].
    Never,
    /// Put the new one in its place.
    Replace,
}

/// Writes the file `path` through `write`. It appears under its name only after all of it has
/// been written; on any error nothing is left behind, and an older file stays as it was.
pub fn write_atomically<E: From<IoError>>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |doing| move |error| IoError::System { doing, error }.in_file(path);
    if overwrite == Overwrite::Never && path.symlink_metadata().is_ok() {
        return Err(IoError::Exists.in_file(path).into());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sparsescope-");
    #[cfg(unix)]
    {
        // As any new file: what the user's mask leaves.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder).map_err(failed("create a file"))?;
    // To the file itself: the temporary file's own errors would name it, not `path`.
    let mut out = BufWriter::with_capacity(1 << 18, file.as_file());
    write(&mut out)?;
    out.into_inner().map_err(|e| failed("write")(e.into_error()))?;
    let renamed = match overwrite {
        Overwrite::Never => file.persist_noclobber(path),
        Overwrite::Replace => file.persist(path),
    };
    renamed.map(drop).map_err(|e| match e.error.kind() {
        std::io::ErrorKind::AlreadyExists => IoError::Exists.in_file(path).into(),
        _ => failed("move the finished file to its name")(e.error).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, overwrite: Overwrite, text: &str) -> Result<(), IoError> {
        write_atomically(path, overwrite, |out| {
            out.write_all(text.as_bytes())
                .map_err(|error| IoError::System { doing: "write", error })
        })
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
        assert!(error.ends_with("y.mtx: the file exists already and is left as it is"), "{error}");
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
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/y.mtx");
        let error = put(&path, Overwrite::Never, "").unwrap_err().to_string();
        assert!(error.contains("y.mtx: cannot create a file: "), "{error}");
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
