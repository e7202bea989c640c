//! Facts about this build for `measure::environment`: compiler, target, profile and flags, without
//! embedding a path of the building machine.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let variable = |name| env::var(name).unwrap_or_default();
    let flags = described_flags(
        &variable("CARGO_ENCODED_RUSTFLAGS"),
        &variable("CARGO_CFG_TARGET_FEATURE"),
    );
    println!("cargo::rustc-env=SPARSESCOPE_RUSTC={}", rustc_version(&variable("RUSTC")));
    println!("cargo::rustc-env=SPARSESCOPE_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=SPARSESCOPE_PROFILE={}", variable("PROFILE"));
    println!("cargo::rustc-env=SPARSESCOPE_FLAGS={flags}");
}

/// First line of `rustc --version`, or `unknown`.
fn rustc_version(rustc: &str) -> String {
    let output = Command::new(rustc).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.ok().and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or("unknown".into())
}

/// The flags given to rustc without those that name a path, and, when any remain, the target
/// features that they led to. `encoded` separates arguments by 0x1f, as Cargo does.
pub(crate) fn described_flags(encoded: &str, features: &str) -> String {
    let names_path = |argument: &str| argument.contains(['/', '\\']);
    let takes_value = |argument: &str| {
        matches!(
            argument,
            "-C" | "-L"
                | "-Z"
                | "-l"
                | "-o"
                | "--codegen"
                | "--cfg"
                | "--check-cfg"
                | "--emit"
                | "--extern"
                | "--out-dir"
                | "--remap-path-prefix"
                | "--sysroot"
        )
    };
    let mut kept: Vec<String> = Vec::new();
    let mut arguments = encoded.split('\u{1f}').filter(|argument| !argument.is_empty());
    while let Some(argument) = arguments.next() {
        let mut whole = argument.to_owned();
        if takes_value(argument)
            && let Some(value) = arguments.next()
        {
            whole = format!("{argument} {value}");
        }
        if !names_path(&whole) {
            kept.push(whole.replace(['\n', '\r'], " "));
        }
    }
    if kept.is_empty() {
        return String::new();
    }
    format!("{} (target features: {features})", kept.join(" "))
}
