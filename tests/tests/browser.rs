//! The built page in a browser: `tests/browser` drives Chromium over what `serve` serves.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};
use sparsescope_core::bundle::Limits;
use sparsescope_tests::{Need, Program, skip};

const TESTS: &str = env!("CARGO_MANIFEST_DIR");
const GOLDEN: &[u8] = include_bytes!("../golden/bundle-1.0.zip");

/// Holds runs of an operation that the program does not know, on subjects that are no matrices.
const UNKNOWN: &[u8] = include_bytes!("../golden/bundle-1.3.zip");

/// The first of these programs that there is.
fn program_named(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let mut places = names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    places.find(|place| place.is_file())
}

/// The golden bundle with its entry `name` made of `content`.
fn with_entry(name: &str, content: &dyn Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut old = zip::ZipArchive::new(Cursor::new(GOLDEN)).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let here = entry.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let options = zip::write::SimpleFileOptions::default();
        new.start_file(here.as_str(), options).unwrap();
        new.write_all(&if here == name { content(bytes) } else { bytes }).unwrap();
    }
    new.finish().unwrap().into_inner()
}

fn newer(manifest: Vec<u8>) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(&manifest).unwrap();
    manifest["schema"] = json!({ "major": 2, "minor": 0 });
    serde_json::to_vec(&manifest).unwrap()
}

/// More than an entry may grow to.
fn bomb(_: Vec<u8>) -> Vec<u8> {
    let limits = Limits::default();
    vec![b' '; usize::try_from(limits.ratio_from + limits.document_bytes).unwrap()]
}

/// `sparsescope serve`, ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_page_does_in_a_browser_what_it_should() {
    let Some(node) = program_named(&["node"]) else {
        skip!(Need::Browser, "there is no node");
    };
    let Some(browser) = program_named(&["chromium", "chromium-browser", "google-chrome"]) else {
        skip!(Need::Browser, "there is no chromium");
    };
    let scripts = Path::new(TESTS).join("browser");
    if !scripts.join("node_modules/playwright-core").is_dir() {
        skip!(Need::Browser, "playwright-core is missing: `npm ci` in {}", scripts.display());
    }
    let dist = Path::new(TESTS).join("../web/dist");
    if !dist.join("index.html").is_file() {
        skip!(Need::Browser, "the page is not built: `cargo web` does that");
    }

    let p = Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"));
    let refused = ["cut.zip", "newer.zip", "bomb.zip"];
    p.write("golden.zip", GOLDEN);
    p.write("unknown.zip", UNKNOWN);
    p.write("cut.zip", &GOLDEN[..GOLDEN.len() / 2]);
    p.write("newer.zip", with_entry("manifest.json", &newer));
    p.write("bomb.zip", with_entry("environment.json", &bomb));
    p.succeed(&["export", "golden.zip", "--csv", "golden.csv"]);
    let export = ["export", "golden.zip", "--html", "golden.html"];
    let exported = p.command(&export).env("SPARSESCOPE_WEB", &dist).output().unwrap();
    assert!(exported.status.success(), "{exported:?}");

    // What the command line says of a bundle is what the page has to say.
    let mut sentences = Map::new();
    for name in refused {
        let error = p.fail(1, &["export", name, "--csv", "none.csv"]);
        let sentence = error.strip_prefix(&format!("error: cannot open {name}: ")).unwrap();
        sentences.insert(name.into(), sentence.into());
    }

    let all = [&["golden.zip", "unknown.zip"], &refused[..]].concat();
    let mut serve = p.command(&[&["serve"], &all[..]].concat());
    serve.env("SPARSESCOPE_WEB", &dist).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(serve.spawn().unwrap());
    let mut address = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let (address, _) = address.split_once("/?").unwrap();

    let named = |value: &dyn Fn(usize, &str) -> Value| -> Map<String, Value> {
        all.iter().enumerate().map(|(index, name)| ((*name).into(), value(index, name))).collect()
    };
    let screenshots = std::env::var_os("SPARSESCOPE_SCREENSHOTS").map_or(p.path(""), PathBuf::from);
    std::fs::create_dir_all(&screenshots).unwrap();
    let given = json!({
        "browser": browser,
        "address": address,
        "bundles": named(&|index, name| format!("bundles/{}/{name}", index + 1).into()),
        "files": named(&|_, name| json!(p.path(name))),
        "refused": sentences,
        "csv": p.path("golden.csv"),
        "standalone": format!("file://{}", p.path("golden.html").display()),
        "screenshots": screenshots,
        "kernels": Path::new(TESTS).join("../core/wgpu/kernels"),
    });
    p.write("given.json", given.to_string());
    let ran = Command::new(node)
        .arg(scripts.join("run.mjs"))
        .arg(p.path("given.json"))
        .args(std::env::var_os("SPARSESCOPE_CASES"))
        .current_dir(&scripts)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&ran.stdout);
    println!("{report}");
    let complaints = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{report}\n{complaints}");
}
