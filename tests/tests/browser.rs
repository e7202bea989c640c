//! The built page in a browser: `tests/browser` drives Chromium on what `serve` serves.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use sparsescope_core::bundle::Limits;
use sparsescope_figures::figure::for_file;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::{Texts, texts_of};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::{Killed, Links, Program, Shown};

const TESTS: &str = env!("CARGO_MANIFEST_DIR");
const GOLDEN: &[u8] = include_bytes!("../golden/bundle-1.0.zip");

/// Runs of an operation that the program does not know, on subjects that are not matrices.
const UNKNOWN: &[u8] = include_bytes!("../golden/bundle-1.3.zip");

/// The bundle that the page opens by default.
const EXAMPLE: &[u8] = include_bytes!("../../app/example/cpu.zip");

/// What the program shows for each link, each in its own model.
static SHOWN: LazyLock<Vec<Shown>> = LazyLock::new(|| Links::read().shown());

/// The first of these programs that exists.
fn program_named(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let mut places = names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    places.find(|place| place.is_file())
}

/// The golden bundle with `content` as its entry `name`.
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

/// More than the size limit of an entry.
fn bomb(_: Vec<u8>) -> Vec<u8> {
    let limits = Limits::default();
    vec![b' '; usize::try_from(limits.ratio_from + limits.document_bytes).unwrap()]
}

fn of_step(texts: &Texts) -> Value {
    let Texts { text, ask, choices, answer } = texts;
    json!({ "text": text, "ask": ask, "choices": choices, "answer": answer })
}

/// The texts of every step of every lesson, before and after the class sees the answer.
fn lessons() -> Value {
    let mut model = Model::default();
    model.open("mini.zip", EXAMPLE).unwrap();
    let lessons = model.lessons.iter().map(|lesson| {
        let steps = (0..).zip(&lesson.steps).map(|(page, step)| {
            let [asked, told] = [false, true].map(|told| {
                let mut state = ViewState::from_fragment("v1;view=layouts").unwrap();
                lesson.show(page, told, &mut state);
                of_step(&texts_of(step, &model, &state))
            });
            json!({ "title": step.title, "right": step.right, "asked": asked, "told": told })
        });
        json!({ "id": lesson.id, "title": lesson.title, "steps": steps.collect::<Vec<_>>() })
    });
    lessons.collect()
}

#[test]
fn a_link_shows_the_same_whatever_was_shown_before() {
    let links = Links::read();
    let session = links.fresh();
    let numbered = || links.links.iter().zip(SHOWN.iter());
    for (link, fresh) in numbered().chain(numbered().rev()) {
        let found = Shown::of(&session, link);
        let lines = found.table.lines().zip(fresh.table.lines());
        let other = lines.enumerate().find(|(_, (found, fresh))| found != fresh);
        assert!(found == *fresh, "{link}: {other:?}");
    }
}

#[test]
fn a_link_shows_what_export_writes() {
    let p = Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"));
    let links = Links::read();
    for (name, bytes) in &links.bundles {
        p.write(name, bytes);
    }
    let names: Vec<&str> = links.bundles.iter().map(|(name, _)| name.as_str()).collect();
    for view in ["best", "matrix", "levels", "preconditioner"] {
        let is_of_view = |link: &String| link.contains(&format!(";view={view};"));
        let place = links.links.iter().position(is_of_view).unwrap();
        let link = &links.links[place];
        let table = ["--table", "-", "--svg", "figure.svg", "--force", "--state", link.as_str()];
        let written = p.succeed(&[&["export"], &names[..], &table[..]].concat());
        assert_eq!(written, SHOWN[place].table, "{link}");
        let svg = std::fs::read_to_string(p.path("figure.svg")).unwrap();
        let shown = SHOWN[place].svg.as_deref().map(|svg| for_file(svg, None));
        assert_eq!(Some(svg), shown, "{link}");
    }
}

#[test]
fn links_on_which_program_and_page_are_compared_show_something() {
    let links = Links::read();
    let empty = |shown: &Shown| shown.table.lines().count() < 2;
    let shown = links.links.iter().zip(SHOWN.iter());
    let empty: Vec<&String> =
        shown.filter(|(_, shown)| empty(shown)).map(|(link, _)| link).collect();
    println!("nothing to show: {empty:#?}");
    assert!(empty.len() * 4 < links.links.len(), "{empty:#?}");
    // 10^10 nonzeros.
    let large = links.links.iter().zip(SHOWN.iter()).filter(|(link, _)| link.contains("dense?n"));
    let large: Vec<_> = large.filter(|(_, shown)| shown.table.contains("10000000000")).collect();
    assert!(!large.is_empty(), "no link shows a count that 32 bits do not hold");
}

#[test]
fn the_choices_of_a_question_differ_and_one_of_them_is_right() {
    let lessons = lessons();
    let mut questions = 0;
    for lesson in lessons.as_array().unwrap() {
        for step in lesson["steps"].as_array().unwrap() {
            let texts = &step["asked"];
            let choices = texts["choices"].as_array().unwrap();
            let at = format!("{}, {}: {choices:?}", lesson["id"], step["title"]);
            let right = step["right"].as_u64();
            assert_eq!(choices.is_empty(), right.is_none(), "{at}");
            assert!(right.is_none_or(|right| (right as usize) < choices.len()), "{at}");
            for (k, choice) in choices.iter().enumerate() {
                assert!(!choices[..k].contains(choice), "{at}");
            }
            // The question stays the same when the answer is shown.
            assert_eq!(step["told"]["choices"], texts["choices"], "{at}");
            questions += usize::from(right.is_some());
        }
    }
    assert!(questions > 50, "{questions}");
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

    // The page must say the same about a bundle as the command line.
    let mut sentences = Map::new();
    for name in refused {
        let error = p.fail(1, &["export", name, "--csv", "none.csv"]);
        let sentence = error.strip_prefix(&format!("error: cannot open {name}: ")).unwrap();
        sentences.insert(name.into(), sentence.into());
    }

    let links = Links::read();
    for (name, bytes) in &links.bundles {
        p.write(name, bytes);
    }
    p.write("links.json", links.with_shown(&SHOWN).to_string());
    p.write("lessons.json", lessons().to_string());
    let session: Vec<&str> = links.bundles.iter().map(|(name, _)| name.as_str()).collect();

    let all = [&["golden.zip", "unknown.zip"], &refused[..], &session[..]].concat();
    let mut serve = p.command(&[&["serve"], &all[..]].concat());
    serve.env("SPARSESCOPE_WEB", &dist).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Killed(serve.spawn().unwrap());
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
        "session": session,
        "links": p.path("links.json"),
        "lessons": p.path("lessons.json"),
        "lessonsReport": std::env::var_os("SPARSESCOPE_LESSONS").map(PathBuf::from),
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
