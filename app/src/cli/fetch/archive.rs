//! An archive in the folder: `NAME.tar.gz` with its digest in `NAME.tar.gz.sha256`, and
//! `NAME.tar.gz.part` while it is being downloaded.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use sparsescope_core::files::rename_whole;
use sparsescope_core::io::{Overwrite, Progress, check_gzip, write_bytes};
use sparsescope_core::matrix::Sha256Hex;

use super::failure::Failure;

/// Interval at which another process's file lock is polled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The path of an archive, whether it exists or not.
pub(super) struct Archive {
    path: PathBuf,
}

/// A partial archive, locked by this process.
pub(super) struct Part {
    file: File,
    path: PathBuf,
    whole: PathBuf,
}

impl Archive {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        Self { path: folder.join(format!("{name}.tar.gz")) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// An archive gets its final name once it has been checked.
    pub(super) fn is_complete(&self) -> bool {
        self.path.is_file()
    }

    /// Opens the partial archive, or begins it, once no other process writes it. Returns nothing if another
    /// process has completed it meanwhile, unless `anew` asks to fetch it again. Calls `waiting` while
    /// another process writes it.
    pub(super) fn part(
        &self,
        anew: bool,
        cancel: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> anyhow::Result<Option<Part>> {
        let path = beside(&self.path, ".part");
        loop {
            let mut options = OpenOptions::new();
            // Not to append: Windows then refuses to start over.
            let file = options.read(true).write(true).create(true).truncate(false).open(&path);
            let file = file.with_context(|| format!("cannot write {}", path.display()))?;
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::WouldBlock) if cancel.load(Ordering::Relaxed) => {
                        return Err(Failure::Cancelled.into());
                    }
                    Err(TryLockError::WouldBlock) => {
                        waiting();
                        std::thread::sleep(BETWEEN_LOOKS);
                    }
                    Err(TryLockError::Error(error)) => {
                        let locked = || format!("cannot lock {}", path.display());
                        return Err(error).with_context(locked);
                    }
                }
            }
            // The previous owner of the lock may have renamed or removed the file.
            if !is_at(&file, &path) {
                continue;
            }
            let part = Part { file, path, whole: self.path.clone() };
            if anew || !self.is_complete() {
                return Ok(Some(part));
            }
            if part.len()? == 0 {
                part.remove()?;
            }
            return Ok(None);
        }
    }
}

/// Whether an open file is the one at `path` now.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (open.dev(), open.ino()) == (there.dev(), there.ino())
    }
    // On other systems an open file keeps its name.
    #[cfg(not(unix))]
    {
        open.len() == there.len()
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

impl Part {
    /// The number of bytes present.
    pub(super) fn len(&self) -> std::io::Result<u64> {
        self.file.metadata().map(|meta| meta.len())
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(bytes)
    }

    /// Starts over.
    pub(super) fn clear(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)
    }

    /// Fails unless the file is gzip data from its first byte to its last checksum and decompresses to at
    /// most `most` bytes.
    pub(super) fn check(&mut self, most: u64, cancel: &AtomicBool) -> Result<(), Failure> {
        self.file.seek(SeekFrom::Start(0))?;
        let progress = Progress::none().cancelled_by(cancel);
        match check_gzip(&mut BufReader::new(&self.file), most, progress) {
            Ok(bytes) if bytes > most => {
                Err(Failure::Damaged(format!("it decompresses to more than {most} bytes")))
            }
            Ok(_) => Ok(()),
            Err(error) if error.is_cancelled() => Err(Failure::Cancelled),
            Err(error) => Err(Failure::Damaged(error.to_string())),
        }
    }

    /// Writes the digest and gives the archive its final name; returns its size.
    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        self.file.sync_all().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.file.seek(SeekFrom::Start(0))?;
        let mut digest = Sha256Hex::default();
        let mut block = vec![0; 1 << 20];
        loop {
            match self.file.read(&mut block)? {
                0 => break,
                n => digest.update(block.get(..n).unwrap_or_default()),
            }
        }
        let name = self.whole.file_name().unwrap_or_default().to_string_lossy();
        // In the format that `sha256sum --check` reads.
        let line = format!("{}  {name}\n", digest.finish());
        let digest_path = beside(&self.whole, ".sha256");
        write_bytes(&digest_path, Overwrite::Replace, line.as_bytes())?;
        let bytes = self.len()?;
        rename_whole(&self.path, &self.whole)
            .with_context(|| format!("cannot create {}", self.whole.display()))?;
        Ok(bytes)
    }

    /// Removes a useless partial file.
    pub(super) fn remove(&self) -> std::io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
