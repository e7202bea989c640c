//! What a file is, found from its content and its name, and the reader that it goes to.

use std::borrow::Cow;

use super::{IoError, MatrixFile, Progress, gzip, matrix_market};
use crate::memory::MemoryLimit;

/// Reads a matrix from the bytes of a file, decompressed first where they are gzip data.
pub fn read_matrix(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let (text, progress) = decompressed(data, limit, progress)?;
    matrix_market::read_bytes(&text, limit, progress)
}

/// The text in `data`, and the progress that is left to report on it: gzip data has been counted
/// while it was decompressed, which takes longer than parsing.
pub(super) fn decompressed<'a, 'p>(
    data: &'a [u8],
    limit: MemoryLimit,
    progress: Progress<'p>,
) -> Result<(Cow<'a, [u8]>, Progress<'p>), IoError> {
    if gzip::is_gzip(data) {
        let text = gzip::decompress(data, limit, progress)?;
        Ok((Cow::Owned(text), progress.uncounted()))
    } else {
        Ok((Cow::Borrowed(data), progress))
    }
}

#[cfg(not(target_family = "wasm"))]
pub use self::files::{open_matrix, open_vector, save};

#[cfg(not(target_family = "wasm"))]
mod files {
    use std::fs::File;
    use std::io::Write;
    use std::path::Path;

    use super::{IoError, MatrixFile, MemoryLimit, Progress, read_matrix};
    use crate::io::{Overwrite, vector, write_atomically};

    /// Reads the matrix in the file `path`. Errors name the path.
    pub fn open_matrix(
        path: &Path,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<MatrixFile, IoError> {
        with_bytes(path, |data| read_matrix(data, limit, progress))
    }

    /// Reads the dense vector in the file `path`. Errors name the path.
    pub fn open_vector(
        path: &Path,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<Vec<f64>, IoError> {
        with_bytes(path, |data| vector::read_bytes(data, limit, progress))
    }

    /// Writes the file `path` as [`write_atomically`] does, compressed when its name ends in `.gz`.
    pub fn save(
        path: &Path,
        overwrite: Overwrite,
        write: impl FnOnce(&mut dyn Write) -> Result<(), IoError>,
    ) -> Result<(), IoError> {
        let is_gz = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        write_atomically(path, overwrite, |out| {
            if !is_gz {
                return write(out);
            }
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut encoder)?;
            encoder.finish().map(drop).map_err(|error| IoError::System { doing: "write", error })
        })
        .map_err(|error| error.in_file(path))
    }

    fn with_bytes<T>(
        path: &Path,
        read: impl FnOnce(&[u8]) -> Result<T, IoError>,
    ) -> Result<T, IoError> {
        let open = || {
            let failed = |error| IoError::System { doing: "open the file", error };
            let file = File::open(path).map_err(failed)?;
            if file.metadata().map_err(failed)?.is_dir() {
                return Err(failed(std::io::ErrorKind::IsADirectory.into()));
            }
            // SAFETY: the mapping is private and read only, and the slice is dropped before it.
            // Another process that shortens or rewrites the file meanwhile can end this one with
            // SIGBUS or hand it mixed text, as with every program that maps its input; no
            // reference outlives a byte, because the readers copy what they parse.
            let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
            #[cfg(unix)]
            // Only a hint: reading works without it.
            map.advise(memmap2::Advice::Sequential).ok();
            read(&map)
        };
        open().map_err(|error: IoError| error.in_file(path))
    }
}
