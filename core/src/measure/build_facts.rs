//! How this program was compiled, as the build script found it.

use crate::record::Build;

/// Compiler, target, profile and flags of this build. Flags that name a path are left out.
pub fn build() -> Build {
    Build {
        rustc: env!("SPARSESCOPE_RUSTC").to_owned(),
        target: env!("SPARSESCOPE_TARGET").to_owned(),
        profile: env!("SPARSESCOPE_PROFILE").to_owned(),
        flags: env!("SPARSESCOPE_FLAGS").to_owned(),
    }
}

/// Git commit that was checked out when this was compiled; none when built from a tarball.
/// Uncommitted changes do not show in it.
pub fn revision() -> Option<&'static str> {
    option_env!("SPARSESCOPE_REVISION")
}

#[cfg(test)]
#[path = "../../build.rs"]
#[expect(dead_code, reason = "only its parts are tested, not `main`")]
mod build_script;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::build_script::{Checkout, described_flags};
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn the_build_names_compiler_target_and_profile() {
        let build = build();
        assert!(build.rustc.starts_with("rustc 1."), "{}", build.rustc);
        assert!(build.target.starts_with(std::env::consts::ARCH), "{}", build.target);
        assert!(["release", "debug"].contains(&build.profile.as_str()), "{}", build.profile);
    }

    #[test]
    fn flags_that_name_a_path_are_dropped_with_their_option() {
        let encoded = [
            "-C",
            "target-cpu=native",
            "--remap-path-prefix",
            "/home/ann=x",
            "-Clinker=/opt/ld",
            "-L",
            "C:\\lib",
            "-Dwarnings",
        ]
        .join("\u{1f}");
        assert_eq!(
            described_flags(&encoded, "avx2,fma"),
            "-C target-cpu=native -Dwarnings (target features: avx2,fma)"
        );
        assert_eq!(described_flags("-Clinker=/opt/ld", "sse2"), "");
        assert_eq!(described_flags("", "sse2"), "");
    }

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
