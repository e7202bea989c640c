//! Opens files by their paths, and writes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::dense::{self, DenseFile};
use super::file_forms::inner_name;
use super::hypre::{self, Piece};
use super::layer::Kind;
use super::matrix_market::{FileShare, read_share};
use super::open::read_named_matrix_as;
use super::points::{
    Chosen, Columns, HeaderLine, PointsTaken, read_columns, read_points_extent_as,
};
use super::unpack::{Layers, reserve, unpack};
use super::vector::{self, Companion, VectorFile};
use super::{
    IoError, MatrixFile, MatrixForm, Overwrite, Progress, ReadOptions, read_named_extent_as,
    write_atomically,
};
use crate::matrix::{Extent, Points, PointsExtent};
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// Reads the matrix in the file `path`, as [`read_named_matrix`](super::read_named_matrix)
/// does. Errors name the path.
pub fn open_matrix(
    path: &Path,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    open_matrix_as(path, &ReadOptions::default(), limit, progress)
}

/// Reads the matrix in the file `path`, as [`read_named_matrix_as`] does; in a folder of 10x Genomics, the
/// file `matrix.mtx.gz` or `matrix.mtx`. Errors name the path.
pub fn open_matrix_as(
    path: &Path,
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    if let Some((files, warnings)) = pieces(path, hypre::is_meant, limit, progress)? {
        options.form(MatrixForm::Hypre).map_err(|error| error.in_file(path))?;
        let bytes: usize = files.iter().map(|(.., text)| text.len()).sum();
        let limit = MemoryLimit::bytes(limit.get().saturating_sub(bytes as u64));
        let read = hypre::read_pieces(&texts(&files), limit, progress);
        let mut file = read.map_err(|error| error.in_file(path))?;
        file.warnings.splice(0..0, warnings);
        return Ok(file);
    }
    let found = in_folder(path);
    let path = found.as_deref().unwrap_or(path);
    let name = name_of(path);
    let mut file = with_bytes(path, limit, progress, |data, limit| {
        read_named_matrix_as(&name, data, options, limit, progress)
    })?;
    if found.is_some() {
        file.warnings.insert(0, format!("{name} was read from the folder"));
    }
    Ok(file)
}

/// The matrix in a folder as 10x Genomics' programs write it.
fn in_folder(path: &Path) -> Option<PathBuf> {
    let files = ["matrix.mtx.gz", "matrix.mtx"].map(|name| path.join(name));
    // A path that is not a folder has no files in it.
    files.into_iter().find(|file| file.is_file())
}

/// Files, their names in their archives, and their texts.
type Texts = Vec<(PathBuf, Option<String>, Vec<u8>)>;

/// The files that the processes of hypre wrote, one of them `path`, their texts, decompressed, and what was
/// ignored. `None` if there is no other, or `path` is not such a piece.
fn pieces(
    path: &Path,
    is_meant: fn(&str, &[u8]) -> bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<(Texts, Vec<String>)>, IoError> {
    let name = name_of(path);
    let inner = inner_name(&name);
    let Some((stem, own)) = hypre::numbered(inner) else { return Ok(None) };
    // All are compressed in the same way, or none is.
    let ending = name.get(inner.len()..).unwrap_or_default();
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let beside = folder.unwrap_or(Path::new(".")).read_dir().into_iter().flatten().flatten();
    let number = |file: std::fs::DirEntry| {
        let file = file.file_name();
        let (of, number) = hypre::numbered(file.to_str()?.strip_suffix(ending)?)?;
        (of == stem).then_some(number)
    };
    let last = beside.filter_map(number).max().unwrap_or(own);
    let progress = progress.uncounted();
    let is_piece = || {
        with_bytes(path, limit, progress, |data, limit| {
            Ok(is_meant(inner, &Layers::of(&name, data, limit, progress)?.start))
        })
    };
    if last == 0 || !is_piece()? {
        return Ok(None);
    }
    let (mut files, mut warnings, mut left) = (Vec::new(), Vec::new(), limit);
    for number in 0..=last {
        let piece = path.with_file_name(format!("{stem}.{number:05}{ending}"));
        let (member, text) = with_bytes(&piece, limit, progress, |data, _| {
            let unpacked = at_once(unpack(&name, data, left, progress))?;
            left.check("the text of all processes", unpacked.text.len() as u128)?;
            warnings.extend(unpacked.warnings);
            Ok((unpacked.member, unpacked.text.into_owned()))
        })?;
        left = MemoryLimit::bytes(left.get().saturating_sub(text.len() as u64));
        files.push((piece, member, text));
    }
    Ok(Some((files, warnings)))
}

fn texts(files: &Texts) -> Vec<Piece<'_>> {
    let pieces = files.iter().map(|(path, member, text)| Piece {
        path: Some(path),
        member: member.as_deref(),
        text,
    });
    pieces.collect()
}

/// Reads the `k`-th of this many shares of the lines of an uncompressed `coordinate` file. Errors name
/// the path.
pub fn open_share(
    path: &Path,
    share: (usize, usize),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<FileShare, IoError> {
    with_bytes(path, limit, progress, |data, limit| {
        if let Some(kind) = Kind::of(data) {
            return Err(IoError::Stored(format!(
                "expected uncompressed text, because several ranks read it in parallel, found {} data",
                kind.as_str()
            )));
        }
        read_share(data, share, limit, progress)
    })
}

/// Like [`open_share`], for lines from [`hand_out`](crate::io::hand_out): the text up to the size line, a
/// share of the lines after it, and the number of lines before that share.
pub fn share_of_text(
    path: &Path,
    (header, mut lines, before): (&[u8], Vec<u8>, u64),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<FileShare, IoError> {
    lines.splice(0..0, header.iter().copied());
    let above = memchr::memchr_iter(b'\n', header).count() as u64;
    let read = read_share(&lines, (0, 1), limit, progress);
    read.map_err(|error| error.further_down(above, before).in_file(path))
}

/// Reads only the sizes of the matrix in the file `path`, as [`read_named_extent_as`] does. Errors name
/// the path.
pub fn open_extent(path: &Path, options: &ReadOptions) -> Result<Extent, IoError> {
    let (limit, progress) = (MemoryLimit::of_machine(), Progress::none());
    if let Some((files, _)) = pieces(path, hypre::is_meant, limit, progress)? {
        let extent = hypre::extent_of_pieces(&texts(&files));
        return extent.map_err(|error| error.in_file(path));
    }
    let found = in_folder(path);
    let path = found.as_deref().unwrap_or(path);
    with_bytes(path, limit, progress, |data, _| read_named_extent_as(&name_of(path), data, options))
}

/// Reads the dense vector in the file `path`, or a column of it, as [`vector::read_column`] does. Errors
/// name the path.
pub fn open_vector(
    path: &Path,
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<VectorFile, IoError> {
    if let Some((files, warnings)) = pieces(path, hypre::is_vector, limit, progress)? {
        let read = hypre::read_vector_pieces(&texts(&files), column, limit, progress);
        let values = read.map_err(|error| error.in_file(path))?;
        return Ok(VectorFile { values, warnings });
    }
    with_bytes(path, limit, progress, |data, limit| {
        vector::read_column(data, column, limit, progress)
    })
}

/// Reads the dense matrix in the file `path`, as [`dense::read_dense`] does. Errors name the path.
pub fn open_dense(
    path: &Path,
    fits: &mut dyn FnMut(u64, u64) -> bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<DenseFile>, IoError> {
    with_bytes(path, limit, progress, |data, limit| {
        dense::read_dense(&name_of(path), data, fits, limit, progress)
    })
}

/// Reads a vector that comes with the matrix in the file `path`, as [`vector::read_companion`] does.
/// Errors name the path.
pub fn open_companion(
    path: &Path,
    wanted: (Companion, Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<VectorFile, IoError> {
    let found = in_folder(path);
    with_bytes(found.as_deref().unwrap_or(path), limit, progress, |data, limit| {
        vector::read_companion(data, wanted, limit, progress)
    })
}

/// Reads columns of the points in the file `path` and how the file was interpreted, as [`read_columns`]
/// does. Errors name the path.
pub fn open_points(
    path: &Path,
    how: (HeaderLine, &Columns),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Points, PointsTaken, Chosen), IoError> {
    with_bytes(path, limit, progress, |data, limit| {
        read_columns(&name_of(path), data, how, limit, progress)
    })
}

/// Reads only the sizes of the points in the file `path`, as [`read_points_extent_as`] does. Errors name
/// the path.
pub fn open_points_extent(path: &Path, header: HeaderLine) -> Result<PointsExtent, IoError> {
    with_bytes(path, MemoryLimit::of_machine(), Progress::none(), |data, _| {
        read_points_extent_as(&name_of(path), data, header)
    })
}

fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
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

/// What was read from standard input and pipes, which give their data only once.
static PIPED: Mutex<BTreeMap<PathBuf, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());

/// All data of a pipe. Fails before it exceeds `limit`.
fn piped(
    path: &Path,
    input: &mut dyn Read,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Arc<Vec<u8>>, IoError> {
    const BLOCK: u64 = 1 << 20;
    let mut known = PIPED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(data) = known.get(path) {
        return Ok(Arc::clone(data));
    }
    let mut data = Vec::new();
    loop {
        progress.check()?;
        reserve(&mut data, BLOCK, "the input", limit)?;
        match (&mut *input).take(BLOCK).read_to_end(&mut data) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Err(IoError::System { doing: "read the input", error }),
        }
    }
    let data = Arc::new(data);
    known.insert(path.to_owned(), Arc::clone(&data));
    Ok(data)
}

/// Calls `read` with the contents of a file, or of standard input if `path` is `-`, and what they leave of
/// `limit`.
fn with_bytes<T>(
    path: &Path,
    limit: MemoryLimit,
    progress: Progress<'_>,
    read: impl FnOnce(&[u8], MemoryLimit) -> Result<T, IoError>,
) -> Result<T, IoError> {
    let beside = |data: &[u8]| MemoryLimit::bytes(limit.get().saturating_sub(data.len() as u64));
    let open = || {
        let failed = |error| IoError::System { doing: "open the file", error };
        if path == Path::new("-") {
            let data = piped(path, &mut std::io::stdin().lock(), limit, progress)?;
            return read(&data, beside(&data));
        }
        // Opening a pipe a second time could wait forever for another writer.
        let known = PIPED.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(data) = known {
            return read(&data, beside(&data));
        }
        let mut file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?;
        if kind.is_dir() {
            return Err(failed(std::io::ErrorKind::IsADirectory.into()));
        }
        if !kind.is_file() {
            let data = piped(path, &mut file, limit, progress)?;
            return read(&data, beside(&data));
        }
        // SAFETY: the mapping is private and read-only, and the slice is dropped before it. If another
        // process truncates or rewrites the file meanwhile, this process may end with SIGBUS or read
        // mixed text, as with any program that maps its input. No reference outlives a byte, because the
        // readers copy what they parse.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
        #[cfg(unix)]
        // Only a hint: reading works without it.
        map.advise(memmap2::Advice::Sequential).ok();
        read(&map, limit)
    };
    open().map_err(|error: IoError| error.in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_in_a_folder_of_10x_genomics_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (path, limit) = (folder.path(), MemoryLimit::unlimited());
        let open = || open_matrix(path, limit, Progress::none());
        assert!(open().unwrap_err().to_string().contains("cannot open the file"));
        let text = "%%MatrixMarket matrix coordinate integer general\n3 2 1\n3 1 5\n";
        for name in ["matrix.mtx", "matrix.mtx.gz"] {
            let put = |out: &mut dyn std::io::Write| {
                out.write_all(text.as_bytes())
                    .map_err(|error| IoError::System { doing: "write", error })
            };
            save(&path.join(name), crate::io::Overwrite::Never, put).unwrap();
            let file = open().unwrap();
            assert_eq!((file.matrix.rows(), file.matrix.nnz()), (3, 1));
            assert_eq!(file.warnings, [format!("{name} was read from the folder")]);
            let extent = open_extent(path, &ReadOptions::default()).unwrap();
            assert_eq!((extent.rows, extent.cols, extent.entries), (3, 2, 1));
        }
    }
}
