//! The zip file of a bundle, read as untrusted input.

use std::collections::{BTreeMap, HashSet};
use std::io::{Cursor, Read};

use zip::read::{ArchiveOffset, Config, ZipFileEntry};
use zip::{CompressionMethod, ZipArchive};

use super::check::{ENVIRONMENT, MANIFEST, MATRIX, PLAN, SUBJECT};
use crate::{BundleError, Limits};
use sparsescope_matrix::pace::Pace;
use sparsescope_record::{HISTORIES, is_safe_entry, matrix_entry, printable, subject_entry};

/// A zip whose directory has been read, with only the manifest decompressed.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Content of the first entry.
    pub(super) manifest: Vec<u8>,
}

impl<'a> Archive<'a> {
    /// Reads the directory, at most `limits.entries` entries of it, and the manifest, which must
    /// come first. A later version may need to interpret the rest, so it is left to
    /// [`check`](Self::check).
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, BundleError> {
        limits.check("the bundle", bytes.len() as u64, "bytes", limits.zip_bytes)?;
        if !bytes.starts_with(LOCAL_HEADER) {
            return Err(BundleError::NotAZip);
        }
        check_directory_end(bytes, limits)?;
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let mut zip = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(damaged)?;
        let first = zip.by_index_data(0).map_err(damaged)?;
        if first.name_raw() != MANIFEST.as_bytes() || first.header_start() != 0 {
            return Err(BundleError::ManifestNotFirst { entry: name_of(&first) });
        }
        check_entry(&first, limits)?;
        let manifest = read(&mut zip, 0)?.1;
        Ok(Self { zip, manifest })
    }

    /// Checks names, methods, sizes and ratios of all entries, from the directory alone, and that
    /// the directory agrees with the headers beside the data.
    pub(super) fn check(&mut self, limits: &Limits) -> Result<(), BundleError> {
        let mut names = HashSet::new();
        let mut total = 0u64;
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index_data(index).map_err(damaged)?;
            check_entry(&entry, limits)?;
            if !names.insert(name_of(&entry).to_ascii_lowercase()) {
                return Err(BundleError::DuplicateEntry { entry: name_of(&entry) });
            }
            total = total.saturating_add(entry.size());
        }
        // The directory keeps only one entry per name.
        if self.zip.has_duplicate_names() {
            return Err(BundleError::Damaged { detail: "two entries have the same name".into() });
        }
        limits.check("the bundle", total, "uncompressed bytes", limits.total_bytes)?;
        self.zip.validate_header_consistency().map_err(damaged)
    }

    /// Decompresses every entry except the manifest, once [`check`](Self::check) has passed.
    pub(super) async fn contents_at(
        mut self,
        pace: Pace,
    ) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
        let mut contents = BTreeMap::new();
        for index in 1..self.zip.len() {
            let (name, content) = read(&mut self.zip, index)?;
            contents.insert(name, content);
            pace.rest().await;
        }
        Ok(contents)
    }

    #[cfg(test)]
    pub(super) fn contents(self) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
        sparsescope_matrix::pace::at_once(self.contents_at(Pace::AtOnce))
    }
}

const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const DIRECTORY_END: &[u8] = b"PK\x05\x06";

/// The end record has 22 bytes and a comment of up to 65535; twice that is searched.
const TAIL: usize = 2 * (22 + 65_535);

/// Reads the number of entries before the directory is loaded. A bundle never needs zip64, which
/// stores these numbers elsewhere.
fn check_directory_end(bytes: &[u8], limits: &Limits) -> Result<(), BundleError> {
    let tail = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or(bytes);
    let mut found = false;
    // A record inside another's comment counts too, since readers differ on which one they use.
    for at in memchr::memmem::find_iter(tail, DIRECTORY_END) {
        // At offset 8: entries on this disk and in total, then the directory's size and offset.
        let Some(&[a, b, c, d, s0, s1, s2, s3, o0, o1, o2, o3]) = tail.get(at + 8..at + 20) else {
            continue;
        };
        found = true;
        let entries = u16::from_le_bytes([a, b]).max(u16::from_le_bytes([c, d]));
        let (size, offset) = ([s0, s1, s2, s3], [o0, o1, o2, o3]);
        if entries == u16::MAX || size == [0xff; 4] || offset == [0xff; 4] {
            let detail = "expected a plain zip, found zip64".into();
            return Err(BundleError::Damaged { detail });
        }
        limits.check("the bundle", entries.into(), "entries", limits.entries)?;
    }
    if found { Ok(()) } else { Err(BundleError::Truncated) }
}

/// Returns the name and content of an entry. Decompresses at most the declared size, which has been
/// checked, whatever the data says.
fn read(
    zip: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
) -> Result<(String, Vec<u8>), BundleError> {
    let entry = zip.by_index_data(index).map_err(damaged)?;
    let (name, declared) = (name_of(&entry), entry.size());
    let file = zip.by_index(index).map_err(damaged)?;
    let mut content = Vec::new();
    file.take(declared.saturating_add(1)).read_to_end(&mut content).map_err(|error| {
        let detail = format!("entry `{name}`: {}", printable(&error.to_string()));
        BundleError::Damaged { detail }
    })?;
    if content.len() as u64 == declared {
        Ok((name, content))
    } else {
        Err(BundleError::Size { entry: name, declared })
    }
}

/// Checks what the directory says about one entry.
fn check_entry(entry: &ZipFileEntry<'_>, limits: &Limits) -> Result<(), BundleError> {
    let raw = entry.name_raw();
    limits.check("the name of an entry", raw.len() as u64, "bytes", limits.name_bytes)?;
    let name = name_of(entry);
    if !std::str::from_utf8(raw).is_ok_and(is_safe_entry) {
        return Err(BundleError::UnsafeName { entry: name });
    }
    if entry.encrypted() {
        return Err(BundleError::Encrypted { entry: name });
    }
    if !matches!(entry.compression(), CompressionMethod::Deflated | CompressionMethod::Stored) {
        return Err(BundleError::Method { entry: name });
    }
    let size = entry.size();
    let limit = if is_document(&name) { limits.document_bytes } else { limits.entry_bytes };
    limits.check(&format!("entry `{name}`"), size, "bytes", limit)?;
    let ratio = size / entry.compressed_size().max(1);
    if size > limits.ratio_from && ratio > limits.ratio {
        return Err(BundleError::Ratio { entry: name, ratio, limit: limits.ratio });
    }
    Ok(())
}

/// Whether this is a document that is parsed, other than `runs.json`.
fn is_document(name: &str) -> bool {
    matches!(name, MANIFEST | ENVIRONMENT | PLAN)
        || matrix_entry(name).is_some_and(|(_, file)| file == MATRIX)
        || subject_entry(name).is_some_and(|(_, _, file)| file == SUBJECT)
        || name.starts_with(HISTORIES)
}

/// The name for a message; unchanged if it is safe.
fn name_of(entry: &ZipFileEntry<'_>) -> String {
    match std::str::from_utf8(entry.name_raw()) {
        Ok(name) if is_safe_entry(name) => name.to_owned(),
        _ => printable(&String::from_utf8_lossy(entry.name_raw())),
    }
}

fn damaged(error: zip::result::ZipError) -> BundleError {
    BundleError::Damaged { detail: printable(&error.to_string()) }
}
