//! `wasm-opt` and `terser`, from the npm packages that `web/package-lock.json` pins.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// The default features of rustc's target; every browser with WebGL 2 and reference types supports them.
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

/// Passes that make the download smaller. `-Oz` as a whole does not: what it inlines and rewrites compresses
/// worse, 1 % more with brotli for 6 % less without, and takes minutes. Instances of one generic function,
/// similar in code and in name, compress better next to each other: 1 %.
const PASSES: [&str; 14] = [
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
    "--reorder-functions-by-name",
];

/// Makes the program smaller.
pub(crate) fn run(web: &Path, program: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    install(web)?;
    let folder = Scratch::new(web)?;
    let (before, after) = (folder.0.join("in.wasm"), folder.0.join("out.wasm"));
    std::fs::write(&before, program)
        .with_context(|| format!("cannot write {}", before.display()))?;
    eprintln!("optimising the WebAssembly");
    let status = Command::new("node")
        .arg(web.join("node_modules/binaryen/bin/wasm-opt"))
        .args(PASSES)
        .args(FEATURES.map(|feature| format!("--enable-{feature}")))
        .arg(&before)
        .arg("-o")
        .arg(&after)
        .status()
        .context("cannot run node for wasm-opt; --no-opt skips it")?;
    if !status.success() {
        bail!("wasm-opt exited with {status}");
    }
    std::fs::read(&after).with_context(|| format!("cannot read {}", after.display()))
}

/// Removes a script's comments, line ends and long names; its behaviour and its global names stay.
pub(crate) fn minify(web: &Path, script: &str) -> anyhow::Result<String> {
    install(web)?;
    let mut terser = Command::new("node")
        .arg(web.join("node_modules/terser/bin/terser"))
        .args(["--compress", "--mangle"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run node for terser; --no-opt skips it")?;
    // terser reads everything before it writes anything.
    terser.stdin.take().context("terser has no input")?.write_all(script.as_bytes())?;
    let output = terser.wait_with_output()?;
    if !output.status.success() {
        bail!("terser exited with {}", output.status);
    }
    String::from_utf8(output.stdout).context("terser's output is not UTF-8")
}

/// Runs npm to install both, unless the pinned versions are there.
fn install(web: &Path) -> anyhow::Result<()> {
    let version = |path: &str, keys: &[&str]| {
        let text = std::fs::read_to_string(web.join(path)).ok()?;
        let mut value: &serde_json::Value = &serde_json::from_str(&text).ok()?;
        for key in keys {
            value = value.get(key)?;
        }
        value.as_str().map(str::to_owned)
    };
    let is_there = |package: &str| {
        let wanted = version("package.json", &["devDependencies", package]);
        let installed = format!("node_modules/{package}/package.json");
        wanted.is_some() && wanted == version(&installed, &["version"])
    };
    if is_there("binaryen") && is_there("terser") {
        return Ok(());
    }
    eprintln!("installing wasm-opt and terser from npm");
    // On Windows npm is a script of the command interpreter.
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let status = Command::new(npm)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"])
        .current_dir(web)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            bail!("npm cannot install wasm-opt and terser ({status}); --no-opt skips them")
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("wasm-opt and terser need npm: install Node.js with npm, or use --no-opt")
        }
        Err(error) => Err(error).context("cannot run npm"),
    }
}

/// A folder that is removed when dropped.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(web: &Path) -> anyhow::Result<Self> {
        let folder = web.join(format!("dist.opt-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0); // what is left is ignored by git and harmless
    }
}
