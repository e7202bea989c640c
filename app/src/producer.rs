//! This program, as named in the bundles that it writes.

use sparsescope_core::record::Producer;

/// Name, version and, in an optimised build from a git checkout, the commit. It does not show uncommitted
/// changes.
pub fn producer() -> Producer {
    Producer {
        name: "sparsescope".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: option_env!("SPARSESCOPE_REVISION").map(str::to_owned),
    }
}

#[cfg(test)]
#[path = "../build.rs"]
#[expect(dead_code, reason = "only its parts are tested, not `main`")]
mod build_script;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::build_script::Checkout;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_revision_is_found_in_each_layout_of_a_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        assert!(Checkout::find(&git).is_none(), "a tarball has no revision");

        fs::create_dir_all(git.join("refs/heads")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let revision = || Checkout::find(&git).unwrap().revision();
        assert_eq!(revision(), None, "a branch without commits");
        assert!(Checkout::find(&git).unwrap().changing_files().iter().all(|file| file.is_file()));

        fs::write(git.join("packed-refs"), format!("# pack-refs\n{COMMIT} refs/heads/main\n"))
            .unwrap();
        assert_eq!(revision().as_deref(), Some(COMMIT), "packed branch");

        let newer = COMMIT.replace('0', "f");
        fs::write(git.join("refs/heads/main"), format!("{newer}\n")).unwrap();
        assert_eq!(revision(), Some(newer.clone()), "loose branch wins over packed");

        let linked = git.join("worktrees/w");
        fs::create_dir_all(&linked).unwrap();
        fs::write(linked.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(linked.join("commondir"), "../..\n").unwrap();
        let dot_git = dir.path().join("w.git");
        fs::write(&dot_git, "gitdir: .git/worktrees/w\n").unwrap();
        assert_eq!(Checkout::find(&dot_git).unwrap().revision(), Some(newer), "linked worktree");

        fs::write(git.join("HEAD"), format!("{COMMIT}\n")).unwrap();
        assert_eq!(revision().as_deref(), Some(COMMIT), "detached head");

        fs::write(git.join("HEAD"), "/home/ann/secret\n").unwrap();
        assert_eq!(revision(), None, "not a hash");
    }
}
