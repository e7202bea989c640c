//! Compiles Rust to WebAssembly and the JavaScript that loads it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use wasm_bindgen_cli_support::Bindgen;

/// The page's target.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// The page's package.
pub(crate) const PACKAGE: &str = "sparsescope-web";

/// Compiles the page's package; returns the path of the result.
pub(crate) fn run(root: &Path, dev: bool) -> anyhow::Result<PathBuf> {
    let profile = if dev { "dev" } else { "web" };
    let mut cargo = crate::cargo::command()
        .args(["build", "--package", PACKAGE, "--target", TARGET, "--profile", profile])
        .args(["--message-format", "json-render-diagnostics"])
        .env("CARGO_ENCODED_RUSTFLAGS", flags(root)?)
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let mut found = None;
    for line in BufReader::new(cargo.stdout.take().context("cargo has no output")?).lines() {
        let message: Value = serde_json::from_str(&line?).context("cargo's output is not JSON")?;
        found = found.or_else(|| artifact(&message));
    }
    let status = cargo.wait()?;
    if !status.success() {
        bail!(
            "cargo cannot build {PACKAGE} for {TARGET} ({status}); `rustup target add {TARGET}` installs the target"
        );
    }
    found.with_context(|| format!("cargo reported no .wasm file for {PACKAGE}"))
}

/// Where wasm-bindgen's script finds its own address. It fails in the frame of a notebook's cell, whose address is no
/// base for others, and is not needed: the page names the program.
const OWN_ADDRESS: &str = "new URL(document.currentScript.src, location.href).toString()";

/// Flags for rustc, added to the user's: SIMD, without which the glyph rasteriser emulates it with a third
/// more code, and path remapping, which keeps this machine's folders out of the page. Every recent browser
/// with WebGL 2 has WebAssembly SIMD.
fn flags(root: &Path) -> anyhow::Result<String> {
    let mut flags: Vec<String> = match std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        Ok(flags) => flags.split('\x1f').map(str::to_owned).collect(),
        Err(_) => {
            let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
            flags.split_whitespace().map(str::to_owned).collect()
        }
    };
    flags.push("-Ctarget-feature=+simd128".to_owned());
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let user = std::env::home_dir().map(|user| user.join(".cargo"));
    let registry = home.or(user).context("there is no home folder")?.join("registry/src");
    for (folder, name) in [(registry.as_path(), "crates"), (root, "sparsescope")] {
        flags.push(format!("--remap-path-prefix={}={name}", folder.display()));
    }
    flags.retain(|flag| !flag.is_empty());
    Ok(flags.join("\x1f"))
}

/// The `.wasm` file of the page's package, from a message of cargo.
fn artifact(message: &Value) -> Option<PathBuf> {
    let is_ours = message["target"]["name"] == PACKAGE.replace('-', "_");
    let files = message["filenames"].as_array().filter(|_| is_ours)?;
    let mut paths = files.iter().filter_map(Value::as_str).map(PathBuf::from);
    paths.find(|path| path.extension().is_some_and(|extension| extension == "wasm"))
}

/// Splits cargo's output into the program and its JavaScript. The script is not an ES module: those do not
/// load from a file on disk, and one script serves the page and the self-contained file. Functions keep their
/// names if `named`.
pub(crate) fn bind(compiled: &Path, dev: bool, named: bool) -> anyhow::Result<(Vec<u8>, String)> {
    let mut output = Bindgen::new()
        .input_path(compiled)
        .no_modules(true)?
        .typescript(false)
        .remove_name_section(!named)
        .remove_producers_section(!dev)
        .generate_output()
        .context("wasm-bindgen cannot read what cargo built")?;
    let script = output.js().replace(OWN_ADDRESS, "document.currentScript.src");
    ensure!(script != output.js(), "the script of wasm-bindgen does not contain {OWN_ADDRESS}");
    Ok((output.wasm_mut().emit_wasm(), script))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_artifact_is_the_wasm_file_of_the_pages_package() {
        let message = |name: &str| json!({"reason": "compiler-artifact", "target": {"name": name}, "filenames": ["/t/a.d", "/t/a.wasm"]});
        assert_eq!(artifact(&message("sparsescope_web")), Some("/t/a.wasm".into()));
        assert_eq!(artifact(&message("sparsescope")), None);
        assert_eq!(artifact(&json!({"reason": "build-finished"})), None);
    }
}
