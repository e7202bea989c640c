//! The words and pictures of the start page agree with the examples. `UPDATE_SNAPSHOTS=1` rewrites the pictures and
//! the sentence that counts kernels and matrices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sparsescope_core::record::Source;
use sparsescope_figures::landing::{Card, Door, Landing};
use sparsescope_figures::lesson::Lessons;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::written::svg_of;

/// Width and height of a picture.
const SIZE: [u32; 2] = [372, 250];

/// The largest picture, in bytes.
const MOST: usize = 60_000;

/// The board of the lesson.
const BOARD: &str =
    "v1;view=layouts;small=8x0,1/1/0,2,5/3/2,4/1,3,4,5,6,7/6/0,7;formats=csr,hll;pick=5,4";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/example")
}

fn landing() -> Landing {
    Landing::from_json(&std::fs::read_to_string(examples().join("landing.json")).unwrap()).unwrap()
}

fn model(example: &str) -> Model {
    let mut model = Model::default();
    let bytes = std::fs::read(examples().join(format!("{example}.zip"))).unwrap();
    model.open(example, &bytes).unwrap();
    model
}

fn updates() -> bool {
    std::env::var_os("UPDATE_SNAPSHOTS").is_some()
}

#[test]
fn the_pictures_are_those_of_what_the_cards_open() {
    let model = model("gpu");
    for card in landing().cards {
        let (link, area) = match card.picture.as_str() {
            "wins" => (card.opens.link.as_str(), [0.0, 0.0, 744.0, 500.0]),
            "structure" => (card.opens.link.as_str(), [78.0, 68.0, 558.0, 375.0]),
            "layouts" => (BOARD, [0.0, 48.0, 446.4, 300.0]),
            other => panic!("there is no picture {other}"),
        };
        for theme in ["light", "dark"] {
            let whole = svg_of(&model, &format!("{link};theme={theme}")).unwrap();
            let picture = cropped(&whole, area);
            let bytes = picture.len();
            assert!(bytes < MOST, "{}: {bytes} bytes", card.picture);
            let document = roxmltree::Document::parse(&picture).unwrap();
            assert!(document.root_element().children().count() > 2, "{picture}");
            let path = examples().join(format!("landing/{}-{theme}.svg", card.picture));
            if updates() {
                std::fs::write(&path, picture).unwrap();
                continue;
            }
            let is_same = std::fs::read_to_string(&path).is_ok_and(|found| found == picture);
            assert!(is_same, "{} differs: UPDATE_SNAPSHOTS=1 rewrites it", path.display());
        }
    }
}

#[test]
fn the_first_card_counts_what_the_example_holds() {
    let model = model("gpu");
    let bundle = &model.bundles()[0].bundle;
    let mut devices: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in &bundle.runs {
        devices.entry(&run.device).or_default().insert(&run.kernel);
    }
    let (device, kernels) = devices.into_iter().max_by_key(|(_, kernels)| kernels.len()).unwrap();
    let expected = format!(
        "{} kernels on {} matrices, generated to resemble real ones and measured on one {device}.",
        kernels.len(),
        bundle.matrices.len()
    );
    assert!(bundle.matrices.iter().all(|matrix| matrix.record.source == Source::StandIn));
    let words = landing();
    let text = &words.cards[0].text;
    if updates() {
        let stated = text.split_inclusive('.').next().unwrap();
        let path = examples().join("landing.json");
        let file = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, file.replace(stated, &expected)).unwrap();
        return;
    }
    assert!(text.starts_with(&expected), "expected {expected}: {text}");
    let state = ViewState::from_fragment(&words.cards[1].opens.link).unwrap();
    let shown = model.matrix(&state.matrix.unwrap()).unwrap();
    let millions = format!(" {} million nonzeros ", shown.statistics.nnz / 1_000_000);
    assert!(words.cards[1].text.contains(&millions), "expected{millions}");
}

#[test]
fn whatever_it_opens_is_there() {
    let words = landing();
    let doors: Vec<Door> = words.cards.into_iter().map(|Card { opens, .. }| opens).collect();
    let lessons = Lessons::default();
    for Door { example, link, action } in doors.iter().chain(&words.more) {
        assert_eq!(ViewState::not_understood(link), None, "{action}");
        let state = ViewState::from_fragment(link).unwrap();
        if let Some(example) = example {
            assert!(model(example).count(&state.filter) > 0, "{action}: {example} has no runs");
        }
        if let Some((lesson, _)) = &state.layouts.lesson {
            assert!(lessons.get(lesson).is_some(), "{action}: there is no lesson {lesson}");
        }
    }
}

/// The part of a figure inside a rectangle (left, top, width, height), without its title and provenance.
fn cropped(svg: &str, [left, top, width, height]: [f32; 4]) -> String {
    let is_shown = |line: &&str| {
        let is_head = ["<svg", "<title", "<desc"].iter().any(|start| line.starts_with(start));
        let is_outside = extent(line).is_some_and(|[x, y, right, bottom]| {
            x > left + width || y > top + height || right < left || bottom < top
        });
        !is_head && !is_outside
    };
    // Images are reduced here, and smoothly.
    let svg = svg.replace(" style=\"image-rendering:pixelated\"", "");
    let shapes: Vec<&str> = svg.lines().filter(is_shown).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"{left} {top} {width} {height}\" preserveAspectRatio=\"xMinYMin slice\" \
         font-family=\"Helvetica, Arial, sans-serif\">\n{}\n",
        SIZE[0],
        SIZE[1],
        shapes.join("\n")
    )
}

/// Left, top, right and bottom of a shape, at least; none if it has no position.
fn extent(line: &str) -> Option<[f32; 4]> {
    /// Length of the longest text.
    const TEXT: f32 = 300.0;
    /// Radius of the largest mark.
    const MARK: f32 = 20.0;
    if let Some((_, points)) = line.split_once(" points=\"") {
        let numbers = points.split('"').next()?.split([' ', ',']);
        let numbers: Vec<f32> = numbers.filter_map(|number| number.parse().ok()).collect();
        let of = |from: usize| numbers.iter().skip(from).step_by(2).copied();
        let least = |from| of(from).fold(f32::INFINITY, f32::min);
        let most = |from| of(from).fold(f32::NEG_INFINITY, f32::max);
        return Some([least(0), least(1), most(0), most(1)]);
    }
    if let Some((_, at)) = line.split_once("translate(") {
        let mut at = at.split([' ', ')']).filter_map(|number| number.parse::<f32>().ok());
        let (x, y) = (at.next()?, at.next()?);
        return Some([x - MARK, y - TEXT, x + MARK, y]);
    }
    let number = |name: &str| {
        let (_, after) = line.split_once(&format!(" {name}=\""))?;
        after.split('"').next()?.parse::<f32>().ok()
    };
    if let (Some(x), Some(y)) = (number("cx"), number("cy")) {
        return Some([x - MARK, y - MARK, x + MARK, y + MARK]);
    }
    let (x, y) = (number("x")?, number("y")?);
    Some(match (number("width"), number("height")) {
        (Some(width), Some(height)) => [x, y, x + width, y + height],
        _ => [x - TEXT, y - MARK, x + TEXT, y + 4.0],
    })
}
