//! On-disk cache of compiled kernels, so that only the first start after a change compiles.

use std::path::PathBuf;

use sha2::{Digest, Sha256};
use sparsescope_core::files::{user_cache, variable};
use sparsescope_core::io::{Overwrite, write_bytes};
use sparsescope_core::matrix::sha256;

/// The folder for compiled kernels, instead of the user's cache folder.
pub const KERNEL_CACHE: &str = "SPARSESCOPE_KERNEL_CACHE";

/// Bytes of the checksum at the start of each file.
const CHECKSUM: usize = 32;

/// A folder of compiled kernels. Each file holds the SHA-256 of its contents, then the contents.
#[derive(Clone, Debug)]
pub struct KernelCache {
    folder: Option<PathBuf>,
}

impl KernelCache {
    /// The user's cache folder; no cache if there is none.
    pub fn of_user() -> Self {
        let user = || user_cache().map(|cache| cache.join("kernels"));
        Self { folder: variable(KERNEL_CACHE).or_else(user) }
    }

    /// This folder, created on first write.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Returns the contents cached under the key `parts`, or calls `make` and caches its result. A
    /// damaged entry is replaced. A folder that cannot be written to is not an error: it only costs
    /// time.
    pub fn get_or_make<E>(
        &self,
        parts: &[&str],
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let path = self.folder.as_ref().map(|folder| folder.join(name(parts)));
        if let Some(kept) = path.as_ref().and_then(|path| std::fs::read(path).ok())
            && let Some((checksum, contents)) = kept.split_at_checked(CHECKSUM)
            && Sha256::digest(contents).as_slice() == checksum
        {
            return Ok(contents.to_vec());
        }
        let made = make()?;
        if let (Some(path), Some(folder)) = (&path, &self.folder) {
            let _ = std::fs::create_dir_all(folder);
            let content = [Sha256::digest(&made).as_slice(), &made].concat();
            let _ = write_bytes(path, Overwrite::Replace, &content);
        }
        Ok(made)
    }
}

/// File name of an entry: the SHA-256 of its parts, each prefixed with its length.
fn name(parts: &[&str]) -> String {
    let parts =
        parts.iter().map(|part| [&(part.len() as u64).to_le_bytes(), part.as_bytes()].concat());
    format!("{}.cubin", sha256(&parts.collect::<Vec<_>>().concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(cache: &KernelCache, parts: &[&str], made: &[u8]) -> Vec<u8> {
        cache.get_or_make::<()>(parts, || Ok(made.to_vec())).unwrap()
    }

    #[test]
    fn an_entry_is_made_once_and_each_part_of_its_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::in_folder(folder.path().join("new"));
        assert_eq!(get(&cache, &["source", "sm_90"], b"first"), b"first");
        assert_eq!(get(&cache, &["source", "sm_90"], b"second"), b"first");
        assert_eq!(get(&cache, &["source", "sm_80"], b"second"), b"second");
        assert_eq!(get(&cache, &["sources", "m_90"], b"third"), b"third");
    }

    #[test]
    fn a_damaged_entry_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::in_folder(folder.path().to_owned());
        get(&cache, &["s"], b"contents");
        let path = folder.path().join(name(&["s"]));
        let whole = std::fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[..7], b"", &[&whole[..], b"x"].concat()] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(get(&cache, &["s"], b"contents"), b"contents");
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn a_failure_leaves_no_entry_and_an_unwritable_folder_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let cache = KernelCache::in_folder(folder.path().to_owned());
        assert_eq!(cache.get_or_make(&["s"], || Err("no")), Err("no"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(get(&KernelCache::in_folder(file), &["s"], b"made"), b"made");
    }
}
