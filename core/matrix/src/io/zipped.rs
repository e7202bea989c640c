//! Zip archives: the one file that is the matrix, the vector or the points. Names are used only to choose a
//! file, never as a path.

use std::io::Cursor;

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::layer::{Kind, inner_name};
use super::tar::{Rank, list, warning};
use super::{IoError, foreign};

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

/// The only file of a zip archive, or the only one that is a matrix by its name; None for other data, and for
/// archives that are a form of their own, such as result bundles and NumPy's.
pub(super) fn member(data: &[u8]) -> Result<Option<Member<'_>>, IoError> {
    match foreign::first_in_zip(data) {
        None | Some(b"manifest.json" | b"[Content_Types].xml") => return Ok(None),
        Some(name) if name.ends_with(b".npy") => return Ok(None),
        Some(_) => {}
    }
    let damaged = |error: ZipError| Kind::Zip.damaged(0, &error);
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = ZipArchive::with_config(config, Cursor::new(data)).map_err(damaged)?;
    let mut files = Vec::new();
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index).map_err(damaged)?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        // macOS adds files of its own, which it stores beside the others.
        if entry.is_file() && !name.starts_with("__MACOSX/") && !name.ends_with(".DS_Store") {
            files.push((index, name));
        }
    }
    let rank = |name: &str| Rank::of(inner_name(name));
    let best = files.iter().map(|(_, name)| rank(name)).max().unwrap_or(Rank::Other);
    let mut fitting = files.iter().filter(|(_, name)| rank(name) == best);
    let (index, name) = match (fitting.next(), fitting.next()) {
        (Some(file), None) if files.len() == 1 || best != Rank::Other => file.clone(),
        _ => {
            let names: Vec<String> = files.iter().map(|(_, name)| name.clone()).collect();
            let found = if names.is_empty() { "no files".to_owned() } else { list(&names) };
            return Err(IoError::Archive(format!(
                "expected one file, or one whose name ends in .mtx, in the zip archive, found {found}"
            )));
        }
    };
    let others = files.into_iter().filter(|(other, _)| *other != index);
    let ignored: Vec<String> = others.map(|(_, name)| name).collect();

    let file = zip.by_index_raw(index).map_err(damaged)?;
    let is_deflated = match file.compression() {
        _ if file.encrypted() => {
            return Err(IoError::Archive("the file in the zip archive is encrypted".to_owned()));
        }
        CompressionMethod::Deflated => true,
        CompressionMethod::Stored => false,
        _ => {
            let why = "expected a stored or deflated file in the zip archive, found another method";
            return Err(IoError::Archive(why.to_owned()));
        }
    };
    let (start, size, checksum) = (file.data_start(), file.compressed_size(), file.crc32());
    let start = start.and_then(|start| usize::try_from(start).ok());
    let rest = start.and_then(|start| data.get(start..));
    let content = rest.zip(usize::try_from(size).ok()).and_then(|(rest, size)| rest.get(..size));
    let Some(content) = content else {
        return Err(Kind::Zip.damaged(0, &"the file in it is cut off"));
    };
    Ok(Some(Member { name, content, is_deflated, checksum, warning: warning(&ignored) }))
}
