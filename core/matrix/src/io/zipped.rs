//! Zip archives: the one file that is the matrix, the vector or the points. Names are used only to choose a
//! file, never as a path.

use std::io::Cursor;

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::IoError;
use super::error::shown;
use super::file_forms::inner_name;
use super::tar::{Rank, is_vector_of, list, warning};

/// The name of the first file of a zip archive; None for other data, and for an archive without files.
pub(super) fn first_in_zip(data: &[u8]) -> Option<&[u8]> {
    let header = data.strip_prefix(b"PK\x03\x04")?;
    let length = header.get(22..24).and_then(|bytes| bytes.first_chunk());
    let length = length.map_or(0, |bytes| u16::from_le_bytes(*bytes));
    let name = header.get(26..).unwrap_or_default();
    Some(name.get(..usize::from(length)).unwrap_or(name))
}

/// The file chosen from an archive.
pub(super) struct Member<'a> {
    pub(super) name: String,
    /// Its content as stored.
    pub(super) content: &'a [u8],
    pub(super) is_deflated: bool,
    /// CRC-32 of the content, decompressed.
    pub(super) checksum: u32,
    pub(super) warning: Option<String>,
}

/// The only file of a zip archive, or the only one of the highest [rank](Rank) that is not a vector of another;
/// None for other data, and for archives that are a form of their own, such as result bundles and NumPy's.
pub(super) fn member(data: &[u8]) -> Result<Option<Member<'_>>, IoError> {
    let Some(mut files) = Files::of(data)? else { return Ok(None) };
    let ranks = files.names.iter().map(|(_, name)| Rank::of(name));
    let best = ranks.max().unwrap_or(Rank::Other);
    let is_best = |name: &str| Rank::of(name) == best;
    let fitting: Vec<_> = files.names.iter().filter(|(_, name)| is_best(name)).collect();
    // The names of its vectors are longer.
    let matrix = fitting.iter().min_by_key(|(_, name)| inner_name(name).len());
    let is_alone = |index: &usize, matrix: &str| {
        let is_vector = |name: &str| is_vector_of(name, matrix);
        fitting.iter().all(|(at, name)| at == index || is_vector(name))
    };
    let index = match matrix {
        Some((index, name))
            if (files.names.len() == 1 || best != Rank::Other) && is_alone(index, name) =>
        {
            *index
        }
        _ => {
            let names: Vec<String> = files.names.iter().map(|(_, name)| name.clone()).collect();
            let found = if names.is_empty() { "no files".to_owned() } else { list(&names) };
            return Err(IoError::Archive(format!(
                "expected one file, or only one that is named like a matrix, in the zip archive, found {found}"
            )));
        }
    };
    files.member(index).map(Some)
}

/// The file of a zip archive with a vector that comes with the matrix, named as in a tar archive; None if there
/// is none.
pub(super) fn vector<'a>(data: &'a [u8], endings: &[&str]) -> Result<Option<Member<'a>>, IoError> {
    let Some(mut files) = Files::of(data)? else { return Ok(None) };
    let rank = |name: &str| Rank::of_vector(name, endings);
    let ranks = files.names.iter().rev().map(|(index, name)| (rank(name), *index));
    // The first of the best.
    match ranks.max_by_key(|(rank, _)| *rank) {
        Some((best, index)) if best != Rank::Other => files.member(index).map(Some),
        _ => Ok(None),
    }
}

fn damaged(error: ZipError) -> IoError {
    let why = error.to_string();
    IoError::Archive(format!("the zip archive is cut off, or damaged: {}", shown(why.as_bytes())))
}

/// A zip archive, and the place and name of each file in it.
struct Files<'a> {
    data: &'a [u8],
    zip: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<(usize, String)>,
}

impl<'a> Files<'a> {
    fn of(data: &'a [u8]) -> Result<Option<Self>, IoError> {
        match first_in_zip(data) {
            None | Some(b"manifest.json" | b"[Content_Types].xml") => return Ok(None),
            Some(name) if name.ends_with(b".npy") => return Ok(None),
            Some(_) => {}
        }
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let zip = ZipArchive::with_config(config, Cursor::new(data)).map_err(damaged)?;
        let mut names = Vec::new();
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(damaged)?;
            let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
            // macOS adds files of its own, which it stores beside the others.
            if entry.is_file() && !name.starts_with("__MACOSX/") && !name.ends_with(".DS_Store") {
                names.push((index, name));
            }
        }
        Ok(Some(Self { data, zip, names }))
    }

    fn member(&mut self, chosen: usize) -> Result<Member<'a>, IoError> {
        let data = self.data;
        let (mut name, mut ignored) = (String::new(), Vec::new());
        for (index, other) in &self.names {
            match *index == chosen {
                true => name.clone_from(other),
                false => ignored.push(other.clone()),
            }
        }
        let refused = |why: &str| Err(IoError::Archive(why.to_owned()).in_member(Some(&name)));
        let file = self.zip.by_index_raw(chosen).map_err(damaged)?;
        let is_deflated = match file.compression() {
            _ if file.encrypted() => return refused("the file is encrypted"),
            CompressionMethod::Deflated => true,
            CompressionMethod::Stored => false,
            _ => return refused("expected a stored or deflated file, found another method"),
        };
        let (start, size, checksum) = (file.data_start(), file.compressed_size(), file.crc32());
        let start = start.and_then(|start| usize::try_from(start).ok());
        let rest = start.and_then(|start| data.get(start..));
        let content =
            rest.zip(usize::try_from(size).ok()).and_then(|(rest, size)| rest.get(..size));
        let Some(content) = content else { return refused("the file is cut off") };
        Ok(Member { name, content, is_deflated, checksum, warning: warning(&ignored) })
    }
}
