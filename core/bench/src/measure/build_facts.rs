//! How this program was compiled, as the build script found it.

use sparsescope_record::Build;

/// Compiler, target, profile and flags of this build. Flags that name a path are left out.
pub fn build() -> Build {
    Build {
        rustc: env!("SPARSESCOPE_RUSTC").to_owned(),
        target: env!("SPARSESCOPE_TARGET").to_owned(),
        profile: env!("SPARSESCOPE_PROFILE").to_owned(),
        flags: env!("SPARSESCOPE_FLAGS").to_owned(),
    }
}

#[cfg(test)]
#[path = "../../build.rs"]
#[expect(dead_code, reason = "only its parts are tested, not `main`")]
mod build_script;

#[cfg(test)]
mod tests {
    use super::build_script::described_flags;
    use super::*;

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
}
