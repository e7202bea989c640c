//! The files that the server offers: the viewer and the bundles. A request is looked up in a list of names,
//! never joined to a folder, so no path escapes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sparsescope_figures::percent;

use super::http::Request;

/// The viewer's folder and the bundles.
#[derive(Debug)]
pub(super) struct Site {
    viewer: PathBuf,
    bundles: BTreeMap<String, PathBuf>,
}

/// A file to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) kind: &'static str,
    /// `br` or `gzip` for a compressed copy.
    pub(super) encoding: Option<&'static str>,
    /// The file may be cached forever: its name changes with its content.
    pub(super) keeps: bool,
}

impl Site {
    /// Bundles get the addresses `/bundles/1/NAME`, `/bundles/2/NAME`, …
    pub(super) fn new(viewer: PathBuf, bundles: &[PathBuf]) -> Self {
        let address = |(index, path): (usize, &PathBuf)| {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            (format!("bundles/{}/{name}", index + 1), path.clone())
        };
        Self { viewer, bundles: bundles.iter().enumerate().map(address).collect() }
    }

    /// The query that opens all bundles.
    pub(super) fn query(&self) -> String {
        // Encoded once as a path, and again as a value in a query.
        let encode = |text: &str| percent::encode(text, b"/");
        let values: Vec<String> =
            self.bundles.keys().map(|name| format!("bundle={}", encode(&encode(name)))).collect();
        if values.is_empty() { String::new() } else { format!("?{}", values.join("&")) }
    }

    /// Finds the file for a request.
    pub(super) fn find(&self, request: &Request) -> Option<Found> {
        let name = request.path.strip_prefix('/')?;
        if let Some(path) = self.bundles.get(name) {
            return Some(Found {
                path: path.clone(),
                kind: kind(name),
                encoding: None,
                keeps: false,
            });
        }
        let name = if name.is_empty() { "index.html" } else { name };
        // Listed on each request: the viewer may have been rebuilt.
        let files = files(&self.viewer);
        let plain = files.get(name)?;
        let packed =
            [("br", "br"), ("gzip", "gz")].into_iter().find_map(|(encoding, extension)| {
                let path = files.get(&format!("{name}.{extension}"))?;
                request.takes(encoding).then_some((path, encoding))
            });
        let (path, encoding) = packed.map_or((plain, None), |(path, it)| (path, Some(it)));
        // All but the service worker have a content hash in their name.
        let keeps =
            name != "worker.js" && [".wasm", ".js", ".css"].iter().any(|end| name.ends_with(end));
        Some(Found { path: path.clone(), kind: kind(name), encoding, keeps })
    }
}

/// The files in a folder and its subfolders, by their relative names with `/` as separator.
fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            // Links are skipped too: they could lead anywhere.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push((format!("{name}/"), entry.path())),
                Ok(kind) if kind.is_file() => drop(found.insert(name, entry.path())),
                _ => {}
            }
        }
    }
    found
}

/// The content type of a file, from its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("txt") => "text/plain; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("zip") => "application/zip",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> (tempfile::TempDir, Site) {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), name).unwrap();
        write("secret");
        std::fs::create_dir_all(folder.path().join("viewer/examples")).unwrap();
        for name in ["index.html", "index.html.br", "a-1.wasm", "a-1.wasm.gz", "examples/cpu.zip"] {
            write(&format!("viewer/{name}"));
        }
        write("r 1.zip");
        let site = Site::new(folder.path().join("viewer"), &[folder.path().join("r 1.zip")]);
        (folder, site)
    }

    fn ask(site: &Site, path: &str, encodings: &str) -> Option<Found> {
        site.find(&Request { path: path.into(), encodings: encodings.into(), ..Request::default() })
    }

    #[test]
    fn files_have_their_kind_and_go_out_compressed_where_that_is_taken() {
        let (_folder, site) = site();
        let index = ask(&site, "/", "gzip, br").unwrap();
        assert!(index.path.ends_with("index.html.br") && index.kind.starts_with("text/html"));
        assert_eq!((index.encoding, index.keeps), (Some("br"), false));
        let program = ask(&site, "/a-1.wasm", "gzip, br").unwrap();
        assert_eq!((program.kind, program.encoding), ("application/wasm", Some("gzip")));
        assert!(program.keeps);
        let plain = ask(&site, "/a-1.wasm", "").unwrap();
        assert!(plain.path.ends_with("a-1.wasm") && plain.encoding.is_none());
        assert_eq!(ask(&site, "/examples/cpu.zip", "br").unwrap().kind, "application/zip");
    }

    #[test]
    fn bundles_have_an_address_each_and_the_query_names_them() {
        let (_folder, site) = site();
        assert!(ask(&site, "/bundles/1/r 1.zip", "").unwrap().path.ends_with("r 1.zip"));
        assert_eq!(site.query(), "?bundle=bundles/1/r%25201.zip");
        assert_eq!(ask(&site, "/bundles/2/r 1.zip", ""), None);
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let (folder, site) = site();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join("secret"), folder.path().join("viewer/link"))
            .unwrap();
        let absolute = folder.path().join("secret").display().to_string();
        for path in [
            "/../secret",
            "/examples/../../secret",
            "//secret",
            "/./index.html",
            "/link",
            "/examples",
            "/examples/",
            &absolute,
            &format!("/{absolute}"),
        ] {
            assert_eq!(ask(&site, path, ""), None, "{path}");
        }
    }
}
