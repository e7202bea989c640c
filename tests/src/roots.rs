//! The root files of the workspace's crates.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The target kinds of libraries and programs.
pub const PROGRAMS: [&str; 4] = ["lib", "cdylib", "rlib", "bin"];

/// The root files of the workspace's targets of these kinds, relative to its root.
pub fn roots(workspace: &Path, kinds: &[&str]) -> Vec<PathBuf> {
    const DOCUMENTED: &str = "what `cargo metadata` documents";
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(workspace)
        .output()
        .expect("cargo, which runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect(DOCUMENTED);
    let workspace = metadata["workspace_root"].as_str().expect(DOCUMENTED);
    let packages = metadata["packages"].as_array().expect(DOCUMENTED);
    let mut roots = Vec::new();
    for target in packages.iter().flat_map(|p| p["targets"].as_array().expect(DOCUMENTED)) {
        let of_target = target["kind"].as_array().expect(DOCUMENTED);
        if of_target.iter().any(|kind| kinds.iter().any(|k| kind == k)) {
            let path = Path::new(target["src_path"].as_str().expect(DOCUMENTED));
            roots.push(path.strip_prefix(workspace).expect("a member's file").to_owned());
        }
    }
    roots
}
