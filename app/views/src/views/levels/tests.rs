//! The view in the interface, and from a bundle without the matrix.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Key, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sparsescope_core::bundle::{Bundle, MatrixFolder};
use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::matrix::{Csr, Statistics};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{MatrixRecord, Producer, Source, matrix_id};
use sparsescope_core::spy;
use sparsescope_core::symgs::Wavefronts;
use sparsescope_figures::lesson::Lesson;
use sparsescope_figures::model::Model;
use sparsescope_figures::picture::Picture;
use sparsescope_figures::state::{Order, ViewState};
use sparsescope_figures::views::levels::VIEW;
use sparsescope_figures::views::levels::front::Front;
use sparsescope_figures::views::levels::numbers::progress;
use sparsescope_figures::waves::Waves;

use crate::shell::App;

fn made(spec: &str) -> Csr {
    let spec = GeneratorSpec::parse(spec).unwrap();
    generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
}

/// A bundle with the picture of a matrix, and with at most this many bytes of its levels.
fn bundle(a: &Csr, levels: u64) -> Vec<u8> {
    let sha256 = "cd".repeat(32);
    let record = MatrixRecord {
        id: matrix_id("grid", &sha256),
        name: "grid".into(),
        source: Source::Generated,
        generator: None,
        reordered: None,
        sha256,
        field: "real".into(),
        symmetry: "general".into(),
        read_seconds: 1.0,
        statistics: Statistics {
            rows: a.rows() as u64,
            cols: a.cols() as u64,
            nnz: a.nnz() as u64,
            nnz_class: "1M-10M".into(),
            ..Statistics::default()
        },
    };
    let picture = Picture::of(&LoadedValues::Real(Arc::new(a.clone())));
    let mut files = spy::to_files(&picture.pyramid, &picture.profile, 1 << 15);
    files.extend(Wavefronts::files_of(a, levels, MemoryLimit::unlimited()).unwrap());
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
    bundle.matrices.push(MatrixFolder { record, files });
    bundle.complete = true;
    bundle.to_bytes().unwrap()
}

fn shown(file: &str, bytes: &[u8], state: &str) -> Harness<'static, App> {
    sized(file, bytes, state, vec2(1280.0, 800.0))
}

fn sized(file: &str, bytes: &[u8], state: &str, size: Vec2) -> Harness<'static, App> {
    let mut app = App::new();
    app.open_bytes(file, bytes.to_vec());
    let matrix = app.state().matrix.clone();
    app.set_state(ViewState { matrix, ..ViewState::from_fragment(state).unwrap() });
    let mut harness = Harness::builder()
        .with_size(size)
        .with_max_steps(200)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

fn step(harness: &Harness<'_, App>) -> Option<u32> {
    harness.state().state().levels.step
}

#[test]
fn a_bundle_without_the_matrix_plays_the_sweep_over_64_000_rows_forward_and_back() {
    let bytes = bundle(&made("stencil27?n=40"), 4096);
    let mut harness = shown("grid.zip", &bytes, "v1;view=levels;path=true");
    harness.get_by_label("Levels of grid, forward sweep");
    harness.get_by_label_contains("64\u{a0}000 rows in 274 levels");
    harness.get_by_label("Critical path: 274 rows, each waiting for the previous one.");
    harness.get_by_label("Next level").click();
    harness.run();
    harness.get_by_label_contains(
        "Level 0 of 274 levels: 1 row at once; 0 done, 63\u{202f}999 waiting.",
    );
    harness.key_press(Key::ArrowRight);
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    // Two points have x + 2 y + 4 z = 2: 4 rows are in levels 0 to 2.
    harness.get_by_label_contains("Level 2 of 274 levels: 2 rows at once; 2 done");
    harness.key_press(Key::ArrowLeft);
    harness.run();
    assert_eq!(step(&harness), Some(1));
    harness.key_press(Key::End);
    harness.run();
    harness.get_by_label("All 274 levels are done, 64\u{202f}000 rows.");
    harness.get_by_label("All levels").click();
    harness.run();
    assert_eq!(step(&harness), None);
}

#[test]
fn the_matrix_stays_where_it_is_however_long_the_words_about_a_step_are() {
    let bytes = bundle(&made("stencil27?n=40"), 4096);
    // On a phone, where the words need up to two lines, and in windows where only few have space beside the buttons.
    for width in [390.0, 800.0, 900.0, 1000.0] {
        let mut harness = sized("grid.zip", &bytes, "v1;view=levels;level=0", vec2(width, 844.0));
        let tops = [0, 9, 137, 274].map(|step| {
            let mut state = harness.state().state().clone();
            state.levels.step = Some(step);
            harness.state_mut().set_state(state);
            harness.run();
            harness.get_by_label("Levels of grid, forward sweep").rect().top()
        });
        assert!(tops.iter().all(|top| *top == tops[0]), "{width}: {tops:?}");
    }
}

#[test]
fn a_sweep_that_plays_goes_on_by_itself_until_it_is_paused() {
    let text =
        "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 2\n2 2 2\n3 3 2\n2 1 1\n3 2 1\n";
    let mut harness = shown("chain.mtx", text.as_bytes(), "v1;view=levels");
    let width =
        |harness: &Harness<'_, App>, word: &'static str| harness.get_by_label(word).rect().width();
    let wide = width(&harness, "Play");
    harness.get_by_label("Play").click();
    harness.step();
    harness.step();
    assert_eq!(step(&harness), Some(0));
    for _ in 0..60 {
        harness.step();
    }
    assert!(step(&harness) > Some(0), "{:?}", step(&harness));
    for _ in 0..600 {
        harness.step();
    }
    harness.run(); // no longer changing
    assert_eq!(step(&harness), Some(3));
    harness.get_by_label("Play").click();
    harness.step();
    harness.step();
    assert_eq!(width(&harness, "Pause"), wide, "what follows must not move");
    harness.get_by_label("Pause").click();
    harness.run();
    let paused = step(&harness);
    assert!(paused < Some(3), "from the beginning, and no further");
    for _ in 0..60 {
        harness.step();
    }
    assert_eq!(step(&harness), paused);
}

#[test]
fn every_row_is_computed_in_the_step_of_its_level_in_every_order() {
    let a = made("stencil27?n=6");
    let waves = Waves::of(&LoadedValues::Real(Arc::new(a))).unwrap();
    for order in Order::ALL {
        let (shift, wave) = waves.seen(*order, waves.rows());
        let front = Front { wave, shift };
        let rows = waves.rows() as f32;
        for step in 0..=wave.widths.len() {
            let share = front.share(&(0..waves.rows()), step);
            let [done, now] = progress(wave, step).map(|rows| rows as f32);
            let of = [share.done * rows, share.now * rows].map(f32::round);
            assert_eq!(of, [done, now], "{order:?} {step}");
        }
    }
}

#[test]
fn places_of_several_rows_are_done_in_part_and_never_less_than_before() {
    let a = made("kmer?m=20000&near=50");
    let files = Wavefronts::files_of(&a, 1000, MemoryLimit::unlimited()).unwrap();
    let waves = Waves::from_files(&files).unwrap().unwrap();
    let (shift, wave) = waves.seen(Order::Forward, waves.rows());
    assert!(shift > 0, "of several rows");
    let front = Front { wave, shift };
    let mut last = 0.0;
    for step in 0..=wave.widths.len() {
        let share = front.share(&(0..waves.rows()), step);
        assert!(share.done >= last && share.done + share.now <= 1.0 + 1e-4, "{step}: {share:?}");
        last = share.done;
    }
    assert_eq!(last, 1.0);
}

#[test]
fn what_has_no_levels_says_why_in_a_sentence() {
    let head = "%%MatrixMarket matrix coordinate";
    for (text, sentence) in [
        (
            format!("{head} real general\n2 3 1\n1 1 1\n"),
            "m has no levels: it has 2 rows and 3 columns, expected a square matrix. This is a grid of 8 × 8 instead.",
        ),
        (
            format!("{head} complex general\n2 2 1\n1 1 1 1\n"),
            "No levels for m: it is complex, expected a real matrix. This is a grid of 8 × 8 instead.",
        ),
        (
            format!("{head} real general\n2 2 1\n1 2 1\n"),
            "2 rows in 2 levels: a sweep cannot take fewer steps.",
        ),
    ] {
        let backward = if sentence.contains("fewer") { ";levels=backward" } else { "" };
        let harness = shown("m.mtx", text.as_bytes(), &format!("v1;view=levels{backward}"));
        harness.get_by_label(sentence);
    }
    let bare = bundle(&made("stencil7?n=4"), 0);
    let harness = shown("grid.zip", &bare, "v1;view=levels");
    harness.get_by_label(
        "No levels for grid: its bundle does not contain them; open the matrix file. This is a grid of 8 × 8 instead.",
    );
    harness.get_by_label("Levels of 8 × 8 points, 5-point stencil, forward sweep");
    let app = harness.state();
    assert!((VIEW.is_empty)(app.model(), app.state()));
    let small = "v1;view=levels;levels-of=small;small=2x0/0/1";
    let mut harness = shown("grid.zip", &bare, small);
    harness.get_by_label_contains("Small matrix has no levels: it has 3 rows and 2 columns");
    harness.get_by_label("Show a grid of 8 × 8").click();
    harness.run();
    assert!(harness.state().state().to_fragment().contains("levels-of=grid5x8"));
    harness.get_by_label("Levels of 8 × 8 points, 5-point stencil, forward sweep");
}

#[test]
fn the_table_has_every_level_with_its_rows_and_the_path_and_the_figure_says_the_same() {
    let mut model = Model::default();
    model.open("grid.zip", &bundle(&made("stencil7?n=5"), 1 << 16)).unwrap();
    let state =
        ViewState::from_fragment("v1;view=levels;path=true;colouring=true;level=3").unwrap();
    let table = (VIEW.table)(&model, &state);
    // x + y + z on a grid of 5³ points, then two colours.
    assert_eq!(table.len(), 1 + 13 + 2);
    let rows = |order: &str| -> Vec<u32> {
        let of = table.iter().filter(|line| line[1] == order);
        of.map(|line| line[3].parse().unwrap()).collect()
    };
    assert_eq!(rows("forward"), [1, 3, 6, 10, 15, 18, 19, 18, 15, 10, 6, 3, 1]);
    assert_eq!(rows("colours"), [63, 62]);
    let path: Vec<u32> = table
        .iter()
        .filter(|line| line[1] == "forward")
        .map(|line| line[5].parse().unwrap())
        .collect();
    assert!(path[0] == 0 && path[12] == 124 && path.is_sorted(), "{path:?}");
    let svg = (VIEW.svg.unwrap())(&model, &state);
    for text in [
        "Level 3 of 13 levels: 10 rows at once; 10 done, 105 waiting.",
        "Critical path: 13 rows, each waiting for the previous one.",
        "Mean width 62.5 rows (the average parallelism), widest 63.",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains("<image"), "the cells");
}

#[test]
fn a_lesson_shows_levels_of_a_matrix_of_its_own() {
    let lesson =
        |show: &str, text: &str| sparsescope_figures::views::read_lesson(&own_bytes(show, text));
    let chain = "v1;view=levels;levels-of=small;small=3x0/0,1/1,2;level=1";
    let text =
        "{levels} levels, {now} row now, {done} done, {levels;levels-of=grid5x8} of the grid";
    let own: Lesson = lesson(chain, text).unwrap();
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), App::new());
    let mut state = ViewState::default();
    own.show(0, false, &mut state);
    harness.state_mut().open_bytes("own.json", own_bytes(chain, text));
    harness.state_mut().set_state(state);
    harness.run();
    harness.get_by_label("Levels of Small matrix, forward sweep");
    harness.get_by_label("3 levels, 1 row now, 1 done, 15 of the grid");
    // The arrow keys control the sweep, not the lesson.
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert_eq!(step(&harness), Some(2));
    for (text, wrong) in [
        ("{slots:csr}", "step 1: `{slots:csr}`: there is no such number"),
        (
            "{levels;levels-of=grid7x8}",
            "step 1: `{levels;levels-of=grid7x8}`: `levels-of=grid7x8` is unknown here",
        ),
    ] {
        assert_eq!(lesson(chain, text).unwrap_err(), wrong);
    }
}

fn own_bytes(show: &str, text: &str) -> Vec<u8> {
    let lesson = serde_json::json!({
        "format": "sparsescope-lesson", "version": 1, "id": "own", "language": "en", "title": "Own",
        "steps": [{ "title": "Chain", "text": text, "show": show }],
    });
    lesson.to_string().into_bytes()
}

/// Checks what the lesson about Gauss–Seidel claims in words, not in numbers.
#[test]
fn what_the_lesson_claims_in_words_is_so() {
    let number = |asked: &str, link: &str| -> f64 {
        let state = ViewState::from_fragment(&format!("v1;view=levels;levels-of={link}")).unwrap();
        sparsescope_figures::views::facts::number(asked, &Model::default(), &state)
            .unwrap()
            .parse()
            .unwrap()
    };
    // Twice the side: about twice the levels and twice the rows at once, four times the rows.
    let [levels, width] =
        ["levels", "width"].map(|of| number(of, "grid5x16") / number(of, "grid5x8"));
    assert!((1.9..2.1).contains(&levels) && (1.8..2.1).contains(&width), "{levels} {width}");
    assert_eq!(number("rows", "grid5x16"), 4.0 * number("rows", "grid5x8"));
    // Two behind the line above: x + 2 y.
    assert_eq!(number("levels", "grid9x8"), 7.0 + 2.0 * 7.0 + 1.0);
    assert_eq!((number("colours", "grid5x8"), number("colours", "grid9x8")), (2.0, 4.0));
    let sweeps = |more: &str| number("sweeps", &format!("grid5x8{more}"));
    assert!(sweeps(";levels=colours") > sweeps(""), "another iteration, and a slower one");
}

#[test]
fn the_files_of_a_bundle_that_are_damaged_are_a_sentence() {
    let mut files: BTreeMap<String, Vec<u8>> =
        Wavefronts::files_of(&made("stencil7?n=4"), 1 << 16, MemoryLimit::unlimited()).unwrap();
    assert!(Waves::from_files(&BTreeMap::new()).is_none());
    files.remove("levels.bin");
    let why = Waves::from_files(&files).unwrap().unwrap_err();
    assert_eq!(why, "the picture of the dependency levels has no file levels.bin");
}
