//! The links of `browser/links.json`, and what the program shows for each, which the page must show too.

use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};
use sparsescope_figures::model::Model;
use sparsescope_figures::written::{svg_of, table_of};

use crate::large::large;

const TESTS: &str = env!("CARGO_MANIFEST_DIR");

/// Links, and a model with the bundles that they refer to.
pub struct Links {
    /// The open bundles with their names, in this order.
    pub bundles: Vec<(String, Vec<u8>)>,
    /// The links, in order.
    pub links: Vec<String>,
    /// The whole file.
    file: Value,
    /// An unused model.
    model: Model,
}

/// What a link shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The table as CSV text.
    pub table: String,
    /// The figure as SVG, if the view is one.
    pub svg: Option<String>,
}

impl Shown {
    /// What a model shows for a link.
    ///
    /// # Panics
    /// If there is no table.
    pub fn of(model: &Model, link: &str) -> Self {
        let table = table_of(model, link);
        assert!(table.is_ok(), "{link}: {table:?}");
        Self { table: table.unwrap_or_default(), svg: svg_of(model, link).ok() }
    }
}

impl Links {
    /// The links over every golden bundle, every example and one with counts beyond 32 bits.
    ///
    /// # Panics
    /// If one of them cannot be read.
    pub fn read() -> Self {
        let text = read(&Path::new(TESTS).join("browser/links.json"));
        let file: Value = serde_json::from_slice(&text).expect("a list of links"); // invariant of tests
        let links = file["links"].as_array().expect("links"); // invariant of tests
        let links = links.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let mut bundles = [zips("golden"), zips("../app/example")].concat();
        let first = bundles.first().map(|(_, bytes)| large(bytes));
        bundles.extend(first.map(|bytes| ("large.zip".to_owned(), bytes)));
        let mut model = Model::default();
        for (name, bytes) in &bundles {
            let opened = model.open(name, bytes);
            assert!(opened.is_ok(), "{name}: {opened:?}");
        }
        Self { bundles, links, file, model }
    }

    /// An unused model with the bundles.
    pub fn fresh(&self) -> Model {
        self.model.clone()
    }

    /// What each link shows in its own model.
    ///
    /// # Panics
    /// If one has no table.
    pub fn shown(&self) -> Vec<Shown> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let each = |links: Vec<(String, Model)>| -> Vec<Shown> {
            links.iter().map(|(link, model)| Shown::of(model, link)).collect()
        };
        thread::scope(|scope| {
            let parts = self.links.chunks(self.links.len().div_ceil(threads).max(1));
            let started: Vec<_> = parts
                .map(|part| {
                    let with_models: Vec<_> =
                        part.iter().map(|link| (link.clone(), self.fresh())).collect();
                    scope.spawn(move || each(with_models))
                })
                .collect();
            let done = started.into_iter().flat_map(|part| part.join().expect("tables")); // invariant of tests
            done.collect()
        })
    }

    /// The file together with what its links show, for the page's test.
    pub fn with_shown(&self, shown: &[Shown]) -> Value {
        let links = self.links.iter().zip(shown);
        let links: Vec<Value> = links
            .map(|(link, Shown { table, svg })| json!({ "link": link, "table": table, "svg": svg }))
            .collect();
        json!({ "within": self.file["within"], "links": links, "drawn": self.file["drawn"] })
    }
}

/// The zip files of a folder, sorted by name.
fn zips(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(TESTS).join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder of bundles"); // invariant of tests
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "zip"));
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), read(path))).collect()
}

fn read(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path);
    assert!(bytes.is_ok(), "{}: {:?}", path.display(), bytes.as_ref().err());
    bytes.unwrap_or_default()
}
