//! The words and pictures of the start page agree with the examples. `UPDATE_SNAPSHOTS=1` rewrites the pictures and
//! the sentence that counts kernels and matrices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sparsescope_core::io::file_forms::FORMS;
use sparsescope_core::record::{Source, Verdict};
use sparsescope_figures::figure::{Provenance, elided_at_word, strong_width, text_width};
use sparsescope_figures::landing::{Card, Door, Landing};
use sparsescope_figures::lesson::Lessons;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::best::view;
use sparsescope_figures::views::{Board, current};
use sparsescope_figures::written::svg_of;

/// Width and height of a picture.
const SIZE: [u32; 2] = [372, 250];

/// The largest picture, in bytes.
const MOST: usize = 60_000;

/// Width of the heat map, so narrow that the cells follow the names.
const HEAT_MAP: f32 = 500.0;

/// The board of a lesson, with few nonzeros: their letters are large.
const BOARD: &str =
    "v1;view=layouts;lesson=csr-hll,0;small=5x0,2/1/0,3/4/2;formats=csr,coo,hll;pick=2,3";

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

/// The heat map of the winners as SVG, and the top of the names of its kernels.
fn heat_map(model: &Model, link: &str) -> (String, f32) {
    let state = ViewState::from_fragment(link).unwrap();
    let board = Board::of(model, &state);
    let drawn = view::figure(state.best.form, &board, model, &state, HEAT_MAP);
    let figure = drawn.with_pictures(model, &state);
    let [top, _] = figure.head.as_ref().unwrap().y;
    (figure.to_svg("", &Provenance::default()), top)
}

fn updates() -> bool {
    std::env::var_os("UPDATE_SNAPSHOTS").is_some()
}

#[test]
fn the_pictures_are_those_of_what_the_cards_open() {
    let model = model("gpu");
    for card in landing().cards {
        let link = match card.picture.as_str() {
            "wins" => "v1;view=best;as=heat",
            "layouts" => BOARD,
            _ => card.opens.link.as_str(),
        };
        for theme in ["light", "dark"] {
            let link = format!("{link};theme={theme}");
            let whole = || svg_of(&model, &link).unwrap();
            let picture = match card.picture.as_str() {
                "wins" => {
                    let (heat_map, top) = heat_map(&model, &link);
                    whole_parts(&heat_map, [0.0, top, HEAT_MAP, 336.0])
                }
                "structure" => cropped(&whole(), [78.0, 90.0, 558.0, 375.0], touches),
                "layouts" => whole_parts(&whole(), [-8.0, -8.0, 473.0, 317.9]),
                other => panic!("there is no picture {other}"),
            };
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
fn a_picture_ends_at_a_row_and_a_word() {
    let rect = |y: u32| format!("<rect x=\"0\" y=\"{y}\" width=\"40\" height=\"40\"/>");
    let text = |y: u32, words: &str| {
        format!("<text x=\"50\" y=\"{y}\" font-size=\"12\" text-anchor=\"start\">{words}</text>")
    };
    let shapes = [
        "<svg>".to_owned(),
        rect(0),
        text(20, "a sentence that is too long"),
        text(30, "a (b too long to fit)"),
        text(36, "word"),
        rect(44),
        text(60, "below"),
        "</svg>".to_owned(),
    ];
    let picture = whole_parts(&shapes.join("\n"), [0.0, 0.0, 100.0, 70.0]);
    assert!(picture.contains(&rect(0)) && picture.contains(">word<"), "{picture}");
    assert!(!picture.contains('('), "{picture}");
    let upwards =
        "<text transform=\"translate(50.00 60.00) rotate(-90)\" font-size=\"12\">up</text>";
    assert!(whole_parts(upwards, [0.0, 40.0, 100.0, 70.0]).contains(">up<"));
    assert!(!whole_parts(upwards, [0.0, 55.0, 100.0, 70.0]).contains(">up<"));
    for cut in [rect(44), "too long".to_owned(), ">below<".to_owned()] {
        assert!(!picture.contains(&cut), "{picture}");
    }
    assert!(picture.contains("viewBox=\"0 0 100 70\""), "{picture}");
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
fn the_first_card_says_who_wins_on_large_matrices_of_finite_elements() {
    /// Those with more than 2 million nonzeros.
    const LARGE: [&str; 5] = ["Cube_Coup_dt0", "af_1_k101", "cant", "cop20k_A", "thermal2"];
    let model = model("gpu");
    let runs = &model.bundles()[0].bundle.runs;
    // BSR refuses matrices whose blocks would be mostly empty.
    let has_blocks = |matrix: &str| {
        runs.iter()
            .filter(|run| run.kernel == "cuda/bsr/warp" && run.matrix.starts_with(matrix))
            .any(|run| run.check.verdict == Verdict::Pass)
    };
    let state = ViewState::from_fragment("v1;view=best;as=list").unwrap();
    let table = (current(&state).unwrap().table)(&model, &state);
    let winner = |matrix: &str| {
        let row = table.iter().find(|row| row[0].starts_with(matrix)).unwrap();
        row[2].trim_start_matches("cuda/").to_owned()
    };
    let with_blocks = LARGE.into_iter().filter(|matrix| has_blocks(matrix));
    let winners: BTreeSet<String> = with_blocks.map(winner).collect();
    let winners = Vec::from_iter(winners).join(" and ");
    let expected = format!(" On large FEM matrices with dense blocks, {winners} win.");
    let words = landing();
    assert!(words.cards[0].text.contains(&expected), "expected{expected}");
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

#[test]
fn the_files_that_it_asks_for_are_read() {
    let drop = landing().drop;
    let words = drop.split([' ', '(', ')', ',']).filter_map(|word| word.strip_prefix('.'));
    let named: Vec<&str> = words.collect();
    assert!(named.contains(&"mtx") && named.contains(&"zip"), "{drop}");
    for name in named {
        assert!(FORMS.iter().any(|form| form.extensions.contains(&name)), "{name}");
    }
}

/// Left, top, right and bottom.
type Extent = [f32; 4];

fn touches([x, y, right, bottom]: Extent, [left, top, width, height]: [f32; 4]) -> bool {
    x <= left + width && y <= top + height && right >= left && bottom >= top
}

fn is_inside([x, y, right, bottom]: Extent, [left, top, width, height]: [f32; 4]) -> bool {
    x >= left && y >= top && right <= left + width && bottom <= top + height
}

/// A text that a picture would cut at `right`, up to the last word that fits, without a parenthesis that is not
/// closed; other lines as they are.
fn ended(line: &str, right: f32) -> String {
    let shorter = || {
        let [x, _, end, _] = extent(line)?;
        let (head, rest) = line.split_once('>')?;
        let (words, tail) = rest.split_once('<')?;
        let room = (right - x - 1.0) / STRONG;
        let words = elided_at_word(words, room, number(line, "font-size")?);
        let words = words.split_once(" (").map_or(words.as_str(), |(before, _)| before);
        let is_cut = head.contains("\"start\"") && x < right && end > right;
        is_cut.then(|| format!("{head}>{words}<{tail}"))
    };
    shorter().unwrap_or_else(|| line.to_owned())
}

/// What a figure has in a rectangle, up to the last row and the last words that are there as a whole.
fn whole_parts(svg: &str, area: [f32; 4]) -> String {
    let [left, top, width, height] = area;
    let lines: Vec<String> = svg.lines().map(|line| ended(line, left + width)).collect();
    let svg = lines.join("\n");
    let all: Vec<Extent> = svg.lines().filter_map(extent).collect();
    let mut end = top + height;
    let crosses = |[x, y, right, bottom]: &Extent, end: f32| {
        *x >= left && *right <= left + width && *y >= top && *y < end && *bottom > end
    };
    while let Some(y) = all.iter().filter(|of| crosses(of, end)).map(|of| of[1]).reduce(f32::min) {
        end = y;
    }
    cropped(&svg, area, move |of, _| is_inside(of, [left, top, width, end - top]))
}

/// The part of a figure inside a rectangle (left, top, width, height), of the shapes that are kept, without
/// its title and provenance.
fn cropped(svg: &str, area: [f32; 4], keeps: impl Fn(Extent, [f32; 4]) -> bool) -> String {
    let [left, top, width, height] = area;
    let is_shown = |line: &&str| {
        let is_head = ["<svg", "<title", "<desc"].iter().any(|start| line.starts_with(start));
        !is_head && extent(line).is_none_or(|of| keeps(of, area))
    };
    // Images are reduced here, and smoothly.
    let svg = svg.replace(" style=\"image-rendering:pixelated\"", "");
    let shapes: Vec<String> = svg.lines().filter(is_shown).map(measured).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"{left} {top} {width} {height}\" preserveAspectRatio=\"xMinYMin slice\" \
         font-family=\"Helvetica, Arial, sans-serif\">\n{}\n",
        SIZE[0],
        SIZE[1],
        shapes.join("\n")
    )
}

/// A horizontal text with the width for which the figure has room: browsers have other fonts.
fn measured(line: &str) -> String {
    let with_width = || {
        let (head, rest) = line.split_once('>')?;
        let (words, _) = rest.split_once('<')?;
        // An escape such as `&lt;` is longer than what it stands for.
        (head.starts_with("<text ") && !words.contains('&')).then_some(())?;
        let size = number(line, "font-size")?;
        let width = match head.contains("font-weight") {
            true => strong_width(words, size),
            false => text_width(words, size),
        };
        Some(format!("{head} textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\">{rest}"))
    };
    with_width().unwrap_or_else(|| line.to_owned())
}

/// Semibold letters are up to a tenth wider.
const STRONG: f32 = 1.1;

/// A number of a shape.
fn number(line: &str, name: &str) -> Option<f32> {
    let (_, after) = line.split_once(&format!(" {name}=\""))?;
    after.split('"').next()?.parse().ok()
}

/// The extent of a shape, at least; none if it has no position.
fn extent(line: &str) -> Option<Extent> {
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
        // A text that reads upwards.
        let size = number(line, "font-size")?;
        let words = line.split_once('>')?.1.split('<').next()?;
        return Some([x - size, y - text_width(words, size), x + size * 0.3, y]);
    }
    let number = |name: &str| number(line, name);
    if let (Some(x), Some(y)) = (number("cx"), number("cy")) {
        return Some([x - MARK, y - MARK, x + MARK, y + MARK]);
    }
    let (x, y) = (number("x")?, number("y")?);
    Some(match (number("width"), number("height")) {
        (Some(width), Some(height)) => [x, y, x + width, y + height],
        _ => {
            let size = number("font-size")?;
            let words = line.split_once('>')?.1.split('<').next()?;
            let width = text_width(words, size) * STRONG;
            let before = match line {
                line if line.contains("\"end\"") => width,
                line if line.contains("\"middle\"") => width * 0.5,
                _ => 0.0,
            };
            [x - before, y - size, x - before + width, y + 4.0]
        }
    })
}
