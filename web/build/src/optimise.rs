//! `wasm-opt`, from the npm package that `web/package-lock.json` pins.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

/// What rustc's target has by default; every browser with WebGL 2 and reference types knows them.
const FEATURES: [&str; 8] = [
    "bulk-memory",
    "bulk-memory-opt",
    "multivalue",
    "mutable-globals",
    "nontrapping-float-to-int",
    "reference-types",
    "sign-ext",
    "simd",
];

/// Passes that make the download smaller. `-Oz` as a whole does not: what it inlines and rewrites
/// compresses worse, 1 % more with brotli for 6 % less without, and takes minutes.
const PASSES: [&str; 13] = [
    "--duplicate-function-elimination",
    "--merge-similar-functions",
    "--duplicate-function-elimination",
    "--remove-unused-brs",
    "--vacuum",
    "--remove-unused-names",
    "--merge-blocks",
    "--optimize-instructions",
    "--vacuum",
    "--rse",
    "--coalesce-locals",
    "--reorder-locals",
    "--vacuum",
];

/// Makes the program smaller.
pub(crate) fn run(web: &Path, program: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    install(web)?;
    let folder = Scratch::new(web)?;
    let (before, after) = (folder.0.join("in.wasm"), folder.0.join("out.wasm"));
    std::fs::write(&before, program)
        .with_context(|| format!("cannot write {}", before.display()))?;
    eprintln!("optimising it");
    let status = Command::new("node")
        .arg(web.join("node_modules/binaryen/bin/wasm-opt"))
        .args(PASSES)
        .args(FEATURES.map(|feature| format!("--enable-{feature}")))
        .arg(&before)
        .arg("-o")
        .arg(&after)
        .status()
        .context("cannot run node, which runs wasm-opt; --no-opt does without")?;
    if !status.success() {
        bail!("wasm-opt ended with {status}");
    }
    std::fs::read(&after).with_context(|| format!("cannot read {}", after.display()))
}

/// Has npm put wasm-opt in place, unless the pinned version is there.
fn install(web: &Path) -> anyhow::Result<()> {
    let version = |path: &str, keys: &[&str]| {
        let text = std::fs::read_to_string(web.join(path)).ok()?;
        let mut value: &serde_json::Value = &serde_json::from_str(&text).ok()?;
        for key in keys {
            value = value.get(key)?;
        }
        value.as_str().map(str::to_owned)
    };
    let wanted = version("package.json", &["devDependencies", "binaryen"]);
    let installed = version("node_modules/binaryen/package.json", &["version"]);
    if wanted.is_some() && wanted == installed {
        return Ok(());
    }
    eprintln!("installing wasm-opt from npm");
    // npm is a script of the command interpreter on Windows.
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let status = Command::new(npm)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"])
        .current_dir(web)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("npm cannot install wasm-opt ({status}); --no-opt does without"),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no npm, which brings wasm-opt; install Node.js with npm, or use --no-opt"
        ),
        Err(error) => Err(error).context("cannot run npm"),
    }
}

/// A folder that goes away again.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(web: &Path) -> anyhow::Result<Self> {
        let folder = web.join(format!("dist.opt-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0); // what is left is ignored by git and harmless
    }
}
