//! The folder of the finished page: filled next to its final path, then moved there as a whole.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sha2::{Digest, Sha256};

use crate::compress;

/// A folder being filled. Removed unless published.
pub(crate) struct Dist {
    place: PathBuf,
    filling: PathBuf,
}

impl Dist {
    /// A new folder that will become `place`.
    pub(crate) fn beside(place: &Path) -> anyhow::Result<Self> {
        let filling = place.with_extension(format!("new-{}", std::process::id()));
        std::fs::create_dir_all(&filling)
            .with_context(|| format!("cannot create {}", filling.display()))?;
        Ok(Self { place: place.to_owned(), filling })
    }

    /// Writes a file, whose name may contain folders.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.filling.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes a file and its compressed copies; returns the sizes of the three.
    pub(crate) fn write_packed(
        &self,
        name: &str,
        bytes: &[u8],
        quick: bool,
    ) -> anyhow::Result<[usize; 3]> {
        let (gzip, brotli) = (compress::gzip(bytes)?, compress::brotli(bytes, quick)?);
        self.write(name, bytes)?;
        self.write(&format!("{name}.gz"), &gzip)?;
        self.write(&format!("{name}.br"), &brotli)?;
        Ok([bytes.len(), gzip.len(), brotli.len()])
    }

    /// Moves the folder to its final path, replacing the old one.
    pub(crate) fn publish(self) -> anyhow::Result<()> {
        let old = self.place.with_extension(format!("old-{}", std::process::id()));
        let moved = match std::fs::rename(&self.place, &old) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot move {}", self.place.display()));
            }
        };
        std::fs::rename(&self.filling, &self.place)
            .with_context(|| format!("cannot move the new build to {}", self.place.display()))?;
        if moved {
            std::fs::remove_dir_all(&old)
                .with_context(|| format!("cannot remove {}", old.display()))?;
        }
        Ok(())
    }
}

impl Drop for Dist {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.filling); // already gone if published
    }
}

/// `stem-<hash>.extension`: the name changes with the content, so that caches may keep it forever.
pub(crate) fn hashed_name(stem: &str, extension: &str, bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hash: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{stem}-{hash}.{extension}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_replaces_the_old_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("dist");
        for round in ["first", "second"] {
            let dist = Dist::beside(&place).unwrap();
            dist.write(&format!("{round}/file"), round.as_bytes()).unwrap();
            dist.publish().unwrap();
            let names: Vec<_> = std::fs::read_dir(&place)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(names, [round]);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_abandoned_page_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("dist");
        let first = Dist::beside(&place).unwrap();
        first.write("file", b"1").unwrap();
        first.publish().unwrap();
        Dist::beside(&place).unwrap().write("file", b"2").unwrap();
        assert_eq!(std::fs::read(place.join("file")).unwrap(), b"1");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_name_changes_with_the_content() {
        // SHA-256 of the empty text starts e3b0c44298fc.
        assert_eq!(hashed_name("page", "js", b""), "page-e3b0c44298fc.js");
        assert_ne!(hashed_name("page", "js", b"1"), hashed_name("page", "js", b"2"));
    }
}
