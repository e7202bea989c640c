//! The git revision of an optimised build, for the bundles that it writes: found without running git.
//! It is found here, not in a crate below, so that a commit does not rebuild those; and not for a debug
//! build, so that tests are not linked again. Nobody looks at times of a debug build later.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    if variable("PROFILE") != "release" {
        return;
    }
    let workspace = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    if let Some(checkout) = Checkout::find(&workspace.join(".git")) {
        for file in checkout.changing_files() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        if let Some(revision) = checkout.revision() {
            println!("cargo::rustc-env=SPARSESCOPE_REVISION={revision}");
        }
    }
}

/// The git files that tell which commit is checked out.
pub(crate) struct Checkout {
    /// Holds `HEAD`: `.git`, or the folder that a linked worktree's `.git` file names.
    head_dir: PathBuf,
    /// Holds the branches; another folder than `head_dir` in a linked worktree.
    common_dir: PathBuf,
}

impl Checkout {
    /// The checkout whose `.git` (folder or file) this is; none in a source tarball.
    pub(crate) fn find(dot_git: &Path) -> Option<Self> {
        let head_dir = match fs::read_to_string(dot_git) {
            Ok(text) => dot_git.parent()?.join(text.trim().strip_prefix("gitdir:")?.trim()),
            Err(_) => dot_git.to_owned(),
        };
        head_dir.join("HEAD").is_file().then_some(())?;
        let common_dir = match fs::read_to_string(head_dir.join("commondir")) {
            Ok(relative) => head_dir.join(relative.trim()),
            Err(_) => head_dir.clone(),
        };
        Some(Self { head_dir, common_dir })
    }

    /// `refs/heads/…` when a branch is checked out.
    fn branch(&self) -> Option<String> {
        let head = fs::read_to_string(self.head_dir.join("HEAD")).ok()?;
        Some(head.trim().strip_prefix("ref:")?.trim().to_owned())
    }

    /// Files whose change means another revision, those that exist: naming an absent one would
    /// run this script at every build.
    pub(crate) fn changing_files(&self) -> Vec<PathBuf> {
        let mut files = vec![
            self.head_dir.join("HEAD"),
            self.head_dir.join("logs/HEAD"),
            self.common_dir.join("packed-refs"),
        ];
        files.extend(self.branch().map(|branch| self.common_dir.join(branch)));
        files.retain(|file| file.is_file());
        files
    }

    /// The commit's hash.
    pub(crate) fn revision(&self) -> Option<String> {
        let Some(branch) = self.branch() else {
            return hash(&fs::read_to_string(self.head_dir.join("HEAD")).ok()?);
        };
        if let Ok(loose) = fs::read_to_string(self.common_dir.join(&branch)) {
            return hash(&loose);
        }
        let packed = fs::read_to_string(self.common_dir.join("packed-refs")).ok()?;
        packed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find_map(|(commit, name)| (name == branch).then(|| hash(commit))?)
    }
}

/// A SHA-1 or SHA-256 commit hash, or nothing.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hexadecimal && matches!(text.len(), 40 | 64)).then(|| text.to_owned())
}
