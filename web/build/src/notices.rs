//! The licences of the crates in the page or the program: the crates that `cargo tree` lists, with the licence
//! files in their packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::compile::PACKAGE;

/// The page, as cargo's options name it.
pub(crate) const PAGE: &[&str] = &["--package", PACKAGE];

/// The program of a release.
pub(crate) const PROGRAM: &[&str] = &["--package", "sparsescope", "--features", "full"];

/// A third-party crate in the result.
#[derive(Debug)]
struct Package {
    name: String,
    version: String,
    licence: String,
    /// Its licence texts, in the order of the file names.
    texts: Vec<String>,
}

/// The notices for `what` on a target, as one text.
pub(crate) fn collect(root: &Path, what: &[&str], target: &str) -> anyhow::Result<String> {
    let used = used(root, what, target)?;
    let all = ["metadata", "--all-features", "--format-version", "1", "--filter-platform", target];
    let metadata = cargo(root, &all)?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo's output is not JSON")?;
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let key = format!("{} v{}", text("name"), text("version"));
        // Packages without a source are ours.
        if package["source"].is_null() || !used.contains(&key) {
            continue;
        }
        let folder = PathBuf::from(text("manifest_path"));
        let folder = folder.parent().context("a manifest lies in a folder")?;
        let licence = text("license");
        let texts = texts(folder, &licence)?;
        packages.push(Package { name: text("name"), version: text("version"), licence, texts });
    }
    if packages.is_empty() {
        bail!("cargo lists no third-party crates");
    }
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(write(&packages))
}

/// `name vVERSION` of each crate that is compiled into `what`.
fn used(root: &Path, what: &[&str], target: &str) -> anyhow::Result<BTreeSet<String>> {
    let options =
        ["--target", target, "-e", "normal,no-proc-macro", "--prefix", "none", "-f", "{p}"];
    let tree = cargo(root, &[&["tree"][..], what, &options[..]].concat())?;
    let first_two = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    Ok(tree.lines().filter(|line| !line.is_empty()).map(first_two).collect())
}

fn cargo(root: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output = crate::cargo::command()
        .args(args)
        .current_dir(root)
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "cargo {} failed: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).context("cargo's output is not UTF-8")
}

/// The licence texts in a crate's folder and its subfolders: fonts have their own licences. For a crate
/// available under MIT only that text, if it is in a file of its own.
fn texts(folder: &Path, licence: &str) -> anyhow::Result<Vec<String>> {
    let mut files = licence_files(folder)?;
    for folder in subfolders(folder)? {
        files.extend(licence_files(&folder)?);
    }
    files.sort();
    let is_mit = |path: &PathBuf| name(path).contains("mit");
    if licence.contains(" OR ") && !licence.contains(" AND ") && files.iter().any(is_mit) {
        files.retain(is_mit);
    }
    let mut texts = Vec::new();
    for path in files {
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn licence_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let name = name(&path);
        let is_text = !["rs", "toml", "json", "html"]
            .iter()
            .any(|other| name.ends_with(&format!(".{other}")));
        let starts = ["license", "licence", "copying", "notice", "unlicense", "ofl", "ufl"];
        let says_so =
            starts.iter().any(|start| name.starts_with(start)) || name.ends_with("license.txt");
        if path.is_file() && is_text && says_so {
            found.push(path);
        }
    }
    Ok(found)
}

fn subfolders(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let paths = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

/// A list of the crates, then each text once with the crates it applies to.
fn write(packages: &[Package]) -> String {
    let mut out = String::from(
        "Sparsescope contains the Rust standard library (MIT OR Apache-2.0) and these crates.\n\n",
    );
    let mut owners: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for package in packages {
        let title = format!("{} {}", package.name, package.version);
        let _ = writeln!(out, "{title}  {}", package.licence); // writing to a String cannot fail
        for text in &package.texts {
            owners.entry(text).or_default().push(title.clone());
        }
    }
    let mut texts: Vec<_> =
        owners.into_iter().map(|(text, owners)| (owners.join(", "), text)).collect();
    texts.sort();
    for (owners, text) in texts {
        let _ = write!(out, "\n{}\n{owners}\n\n{text}\n", "-".repeat(80)); // likewise
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_several_crates_stands_there_once() {
        let package = |name: &str, text: &str| Package {
            name: name.into(),
            version: "1.0.0".into(),
            licence: "MIT".into(),
            texts: vec![text.into()],
        };
        let notices = write(&[package("a", "same"), package("b", "same"), package("c", "other")]);
        assert_eq!(notices.matches("same").count(), 1);
        assert!(notices.contains("\na 1.0.0, b 1.0.0\n\nsame\n"), "{notices}");
        assert!(notices.contains("c 1.0.0  MIT\n"), "{notices}");
    }

    #[test]
    fn a_crates_licence_files_are_found_and_one_of_alternatives_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("LICENSE-MIT", "mit\r\ntext\n");
        write("LICENSE-APACHE", "apache");
        write("license.rs", "code");
        std::fs::create_dir(folder.path().join("fonts")).unwrap();
        write("fonts/OFL.txt", "ofl");
        assert_eq!(texts(folder.path(), "MIT OR Apache-2.0").unwrap(), ["mit\ntext"]);
        let all = texts(folder.path(), "(MIT OR Apache-2.0) AND OFL-1.1").unwrap();
        assert_eq!(all, ["apache", "mit\ntext", "ofl"]);
    }
}
