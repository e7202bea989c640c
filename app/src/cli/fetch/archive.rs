//! An archive in the folder: `NAME.tar.gz` with its digest in `NAME.tar.gz.sha256`, and
//! `NAME.tar.gz.part` while it is being downloaded.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use sparsescope_core::files::rename_whole;
use sparsescope_core::io::{Overwrite, Progress, check_gzip, write_bytes};
use sparsescope_core::matrix::Sha256Hex;

use super::failure::Failure;

/// Where an archive lies, be it there or not.
pub(super) struct Archive {
    path: PathBuf,
}

/// The beginning of an archive, held by this process alone.
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

    /// An archive gets its name once it has been checked.
    pub(super) fn is_complete(&self) -> bool {
        self.path.is_file()
    }

    /// Opens what there is of the archive, or begins it.
    pub(super) fn part(&self) -> anyhow::Result<Part> {
        let path = beside(&self.path, ".part");
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Part { file, path, whole: self.path.clone() }),
            Err(TryLockError::WouldBlock) => {
                bail!("another fetch is writing {}", path.display())
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

impl Part {
    /// Bytes that are there.
    pub(super) fn len(&self) -> std::io::Result<u64> {
        self.file.metadata().map(|meta| meta.len())
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)
    }

    /// Fails unless it is gzip data from its first byte to its last checksum.
    pub(super) fn check(&mut self, cancel: &AtomicBool) -> Result<(), Failure> {
        self.file.seek(SeekFrom::Start(0))?;
        let progress = Progress::none().cancelled_by(cancel);
        match check_gzip(&mut BufReader::new(&self.file), progress) {
            Ok(_) => Ok(()),
            Err(error) if error.is_cancelled() => Err(Failure::Cancelled),
            Err(error) => Err(Failure::Damaged(error.to_string())),
        }
    }

    /// Writes the digest and gives the archive its name; returns its size.
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
        // As `sha256sum --check` reads it.
        let line = format!("{}  {name}\n", digest.finish());
        let digest_path = beside(&self.whole, ".sha256");
        write_bytes(&digest_path, Overwrite::Replace, line.as_bytes())?;
        let bytes = self.len()?;
        rename_whole(&self.path, &self.whole)
            .with_context(|| format!("cannot name {}", self.whole.display()))?;
        Ok(bytes)
    }

    /// Takes away what is of no use.
    pub(super) fn remove(&self) -> std::io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
