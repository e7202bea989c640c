//! `sparsescope export --html`: viewer, bundles and lessons in one file that opens from disk.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sparsescope_figures::lesson::{MOST_BYTES, is_lesson};
use sparsescope_figures::views::read_lesson;

use super::compare::open;
use super::markup::Html;
use super::viewer;

/// The viewer as one file without bundles, and the placeholder in it where they go.
const TEMPLATE: &str = "standalone.html";
const MARK: &str = "<!-- sparsescope:bundles -->";

/// Whether the viewer is built.
pub(super) fn is_possible() -> bool {
    viewer::find().is_ok_and(|folder| folder.join(TEMPLATE).is_file())
}

/// The viewer with these bundles.
pub(super) fn page(bundles: &[PathBuf]) -> anyhow::Result<String> {
    let template = viewer::find()?.join(TEMPLATE);
    let page = std::fs::read_to_string(&template)
        .with_context(|| format!("cannot read {}", template.display()))?;
    let Some((before, after)) = page.split_once(MARK) else {
        bail!("{} has no slot for bundles; rebuild it with `cargo web`", template.display());
    };
    let mut html = before.to_owned();
    for bundle in bundles {
        html.push_str(&element(bundle)?);
    }
    html.push_str(after);
    Ok(html)
}

/// A bundle or a lesson as the page reads it. One that cannot be opened is refused: it would be useless to
/// others.
fn element(path: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot open {}", path.display());
    let mut name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let mut bytes = read_at_most(path, MOST_BYTES).with_context(cannot)?;
    if is_lesson(&name, &bytes) {
        read_lesson(&bytes).map_err(anyhow::Error::msg).with_context(cannot)?;
    } else {
        let bundle = open(path)?;
        bytes = match bytes.trim_ascii_start().first() {
            // The page does not import the results of every program that this one does.
            Some(b'[' | b'{') => {
                name.to_mut().push_str(".zip");
                bundle.to_bytes()?
            }
            _ => std::fs::read(path).with_context(cannot)?,
        };
    }
    let data = BASE64_STANDARD.encode(bytes);
    let attributes = [("type", "text/plain"), ("data-bundle", &*name)];
    Ok(Html::of(|html| html.of_text("script", &attributes, &data)) + "\n")
}

/// Reads a file, but at most `most` + 1 bytes.
fn read_at_most(path: &Path, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
