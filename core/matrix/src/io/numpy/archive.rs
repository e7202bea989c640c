//! The members of a `.npz` file, a zip archive of arrays.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::array::{Array, wrong};
use crate::io::error::shown;
use crate::io::{IoError, Progress};
use crate::memory::MemoryLimit;

/// The member that only sparse arrays have.
const FORMAT: &str = "format.npy";

/// The members of an archive.
pub(super) struct Members<'a, 'p> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes of the archive.
    length: u64,
    /// What the arrays read so far leave.
    limit: MemoryLimit,
    progress: Progress<'p>,
}

impl<'a, 'p> Members<'a, 'p> {
    pub(super) fn open(
        data: &'a [u8],
        limit: MemoryLimit,
        progress: Progress<'p>,
    ) -> Result<Self, IoError> {
        let zip = ZipArchive::new(Cursor::new(data)).map_err(|error| {
            let why = error.to_string();
            let why = shown(why.as_bytes());
            IoError::Stored(format!("the .npz file is cut off, or damaged: {why}"))
        })?;
        Ok(Self { zip, length: data.len() as u64, limit, progress })
    }

    /// What the arrays read so far leave of the memory limit.
    pub(super) fn limit(&self) -> MemoryLimit {
        self.limit
    }

    /// Whether they are those of a sparse array.
    pub(super) fn are_sparse(&self) -> bool {
        self.has(FORMAT)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name_raw(name.as_bytes()).is_some()
    }

    /// The array of the only member.
    pub(super) fn only(&mut self, whole: bool) -> Result<Array<'static>, IoError> {
        match self.zip.len() {
            1 => self.read(0, "the array", whole),
            _ if self.are_sparse() => {
                Err(wrong("the .npz file", "a dense array", "a sparse array"))
            }
            count => {
                let expected = "one array, or a sparse array with the member format.npy";
                Err(wrong("the .npz file", expected, format!("{count} members")))
            }
        }
    }

    /// The array of a member, with its values if `whole`.
    pub(super) fn array(
        &mut self,
        name: &'static str,
        whole: bool,
    ) -> Result<Array<'static>, IoError> {
        match self.zip.index_for_name_raw(name.as_bytes()) {
            Some(index) => self.read(index, name, whole),
            None => Err(wrong("the .npz file", format!("the member {name}"), "none")),
        }
    }

    fn read(
        &mut self,
        index: usize,
        name: &'static str,
        whole: bool,
    ) -> Result<Array<'static>, IoError> {
        const BLOCK: u64 = 1 << 20;
        /// No header is longer.
        const BEGINNING: u64 = 1 << 17;
        /// Deflate makes at most this many bytes of one.
        const RATIO: u64 = 1032;
        let mut member = self.zip.by_index(index).map_err(|error| damaged(&error))?;
        let most = if whole { u64::MAX } else { BEGINNING };
        let (declared, stored) = (member.size(), member.compressed_size().min(self.length));
        let bytes = declared.min(most);
        self.limit.check(name, bytes.into())?;
        let room = bytes.min(stored.saturating_mul(RATIO));
        let mut content = Vec::with_capacity(room as usize);
        loop {
            self.progress.check()?;
            // The last read finds the end, where the checksum is compared.
            let left = bytes - content.len() as u64;
            let block = left.saturating_add(u64::from(whole)).min(BLOCK);
            let read = member.by_ref().take(block).read_to_end(&mut content);
            let read = read.map_err(|error| damaged(&error))?;
            if content.len() as u64 > bytes || (read == 0 && left > 0) {
                let found = content.len();
                return Err(wrong(name, format!("{bytes} bytes"), format!("{found} bytes")));
            }
            if read == 0 {
                break;
            }
        }
        self.limit = MemoryLimit::bytes(self.limit.get().saturating_sub(content.len() as u64));
        match whole {
            true => Array::whole(name, Cow::Owned(content)),
            false => Array::beginning(name, Cow::Owned(content)),
        }
    }
}

fn damaged(error: &dyn Display) -> IoError {
    let error = error.to_string();
    IoError::Stored(format!("the .npz file is damaged: {}", shown(error.as_bytes())))
}
