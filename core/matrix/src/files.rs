//! Writes files whole or not at all, finds the folder for cached files, and says why the system refuses something.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What to do when the file already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Keep it, and fail.
    Never,
    /// Replace it.
    Replace,
}

/// Why a file was not written.
#[derive(Debug)]
pub enum WriteError<E> {
    /// It already exists and was left as it was.
    Exists,
    /// The operating system reported an error.
    #[expect(missing_docs, reason = "what was being done, and why it cannot be")]
    System { doing: &'static str, error: std::io::Error },
    /// Its content could not be produced.
    Content(E),
}

/// Temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file until it is renamed or removed.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Self {
        unfinished().push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

/// Exits the process at once, whatever its threads are doing, and leaves no half-written file behind.
pub fn exit(code: i32) -> ! {
    let unfinished = unfinished();
    for path in &*unfinished {
        // It has been renamed by now, or the user may remove it.
        let _ = std::fs::remove_file(path);
    }
    // The lock is held until exit, so that no thread begins another file.
    std::process::exit(code)
}

/// What the innermost cause of an error says: where a library cannot be loaded, only that has the system's reason.
pub fn cause(mut error: &(dyn Error + 'static)) -> String {
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}

/// Fails if `path` exists and is not a regular file: a folder, link, device or pipe is never overwritten.
pub fn check_regular(path: &Path) -> std::io::Result<()> {
    let Ok(found) = path.symlink_metadata() else { return Ok(()) };
    let kind = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a symbolic link (pass its target instead)",
        _ => "a device, a pipe or a socket",
    };
    Err(std::io::Error::other(format!("expected a regular file or a new name, found {kind}")))
}

/// Writes the file `path` through `write`: into a temporary file beside it, which is synced to disk and then
/// renamed. On any error nothing is left behind, and an older file stays as it was. Only a regular file is
/// replaced. Returns the file, open for writing at its end.
pub fn write_whole<E>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<File, WriteError<E>> {
    let failed = |doing| move |error| WriteError::System { doing, error };
    check_regular(path).map_err(failed("write"))?;
    if overwrite == Overwrite::Never && path.symlink_metadata().is_ok() {
        return Err(WriteError::Exists);
    }
    // Opened here: an error of `tempfile_in` would name the temporary file.
    let create = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    let file = tempfile::Builder::new().prefix(".sparsescope-").make_in(folder_of(path), create);
    let file = file.map_err(failed("create a temporary file in its folder"))?;
    let _unfinished = Unfinished::new(file.path());
    // Write to the file itself: errors of the temporary file would name it instead of `path`.
    let mut out = BufWriter::with_capacity(1 << 18, file.as_file());
    write(&mut out).map_err(WriteError::Content)?;
    out.into_inner().map_err(|error| failed("write")(error.into_error()))?;
    file.as_file().sync_all().map_err(failed("write"))?;
    let renamed = match overwrite {
        Overwrite::Never => file.persist_noclobber(path),
        Overwrite::Replace => file.persist(path),
    };
    let file = renamed.map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => WriteError::Exists,
        _ => failed("rename the finished file")(error.error),
    })?;
    sync_folder_of(path);
    Ok(file)
}

/// Renames a finished, synced file to `path`, replacing what is there.
pub fn rename_whole(finished: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::rename(finished, path)?;
    sync_folder_of(path);
    Ok(())
}

/// Syncs the renamed entry to disk. Some file systems refuse because they do it on their own; the file exists
/// in either case.
fn sync_folder_of(path: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The program's folder in the user's cache: `%LOCALAPPDATA%`, `~/Library/Caches`, or `$XDG_CACHE_HOME`,
/// falling back to `~/.cache`. None if these give no absolute path.
pub fn user_cache() -> Option<PathBuf> {
    let os = if cfg!(target_os = "macos") { "macos" } else { std::env::consts::FAMILY };
    cache_of(os, variable)
}

fn cache_of(os: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let cache = match os {
        "windows" => variable("LOCALAPPDATA"),
        "macos" => variable("HOME").map(|home| home.join("Library/Caches")),
        _ => variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache"))),
    };
    cache.filter(|cache| cache.is_absolute()).map(|cache| cache.join("sparsescope"))
}

/// An environment variable that is not empty, as a path.
pub fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_each_system_has_it_and_never_a_relative_path() {
        let with = |os: &str, variables: &[(&str, &str)]| {
            cache_of(os, |name| {
                let (_, value) = variables.iter().find(|(n, _)| *n == name)?;
                Some(PathBuf::from(value))
            })
        };
        let (home, cache) = (("HOME", "/home/ann"), ("XDG_CACHE_HOME", "/fast"));
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(with("unix", &[home]), path("/home/ann/.cache/sparsescope"));
        assert_eq!(with("unix", &[home, cache]), path("/fast/sparsescope"));
        assert_eq!(with("macos", &[home, cache]), path("/home/ann/Library/Caches/sparsescope"));
        assert_eq!(with("windows", &[("LOCALAPPDATA", "/c/ann")]), path("/c/ann/sparsescope"));
        assert_eq!(with("unix", &[("XDG_CACHE_HOME", "here"), home]), None);
        assert_eq!(with("unix", &[]), None);
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("target"), "old").unwrap();
        std::os::unix::fs::symlink(place("target"), place("link")).unwrap();
        std::os::unix::fs::symlink(place("none"), place("dangling")).unwrap();
        std::fs::create_dir(place("folder")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(place("socket")).unwrap();
        for (name, found) in [
            ("link", "found a symbolic link"),
            ("dangling", "found a symbolic link"),
            ("folder", "found a folder"),
            ("socket", "found a device, a pipe or a socket"),
        ] {
            for overwrite in [Overwrite::Never, Overwrite::Replace] {
                let written = write_whole(&place(name), overwrite, |_| Ok::<_, ()>(()));
                let Err(WriteError::System { error, .. }) = written else { panic!("{name}") };
                assert!(error.to_string().contains(found), "{error}");
            }
        }
        assert_eq!(std::fs::read_to_string(place("target")).unwrap(), "old");
        assert!(place("link").is_symlink() && !place("none").exists());
        assert!(place("socket").metadata().unwrap().file_type().is_socket());
        drop(socket);
    }

    #[test]
    fn a_finished_file_takes_the_place_of_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let (part, whole) = (folder.path().join("a.part"), folder.path().join("a"));
        std::fs::write(&whole, "old").unwrap();
        std::fs::write(&part, "new").unwrap();
        rename_whole(&part, &whole).unwrap();
        assert_eq!(std::fs::read_to_string(&whole).unwrap(), "new");
        assert!(!part.exists() && rename_whole(&part, &whole).is_err());
    }
}
