//! The view in the interface, with its numbers checked against brute force.

use std::collections::BTreeMap;

use egui::{Key, Pos2, Rect, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sparsescope_core::bundle::{Bundle, SubjectFolder};
use sparsescope_core::record::{Producer, Source, SubjectRecord};
use sparsescope_core::skyline::{Axis, Density, PointsPicture};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::skyline::VIEW;

use crate::shell::App;

const KEY: &str = "abababababababab-generated";

/// A bundle with the picture of a set of points, or without one.
fn bundle(picture: Option<&PointsPicture>) -> Vec<u8> {
    let record = SubjectRecord {
        id: "hotels".into(),
        name: "hotels".into(),
        kind: "points".into(),
        source: Source::Generated,
        generator: None,
        sha256: "ab".repeat(32),
        sizes: BTreeMap::new(),
        read_seconds: None,
    };
    let files = picture.map(|picture| picture.to_files(1 << 20)).unwrap_or_default();
    let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
    let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
    bundle.subjects.push(SubjectFolder { folder: "skyline".into(), record, files });
    bundle.complete = true;
    bundle.to_bytes().unwrap()
}

/// A million points of eight dimensions, as in a bundle: 120 000 points and the densities.
fn large() -> PointsPicture {
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 40) as f32 / (1u64 << 24) as f32
    };
    let (kept, dropped) = (100_000u32, 20_000u32);
    // Skyline points are higher than all others.
    let values = |next: &mut dyn FnMut() -> f32| -> Vec<f32> {
        let upper: Vec<f32> = (0..kept).map(|_| 0.5 + 0.5 * next()).collect();
        upper.into_iter().chain((0..dropped).map(|_| 0.5 * next())).collect()
    };
    let axes: Vec<Axis> =
        (0..8).map(|_| Axis { least: 0.0, greatest: 1.0, values: values(&mut next) }).collect();
    let mut counts = vec![15; 1 << 16];
    counts[0] += 1_000_000 - 15 * (1 << 16);
    let density = Density { cells: 256, counts };
    PointsPicture {
        points: 1_000_000,
        dimensions: 8,
        kept: 300_000,
        clamped: 3,
        indices: (0..kept + dropped).map(|k| k * 8).collect(),
        dominators: (0..kept).chain(0..dropped).collect(),
        axes,
        densities: vec![density; 28],
    }
}

fn shown_with(files: &[Vec<u8>], link: &str, size: egui::Vec2) -> Harness<'static, App> {
    let mut app = App::new();
    for file in files {
        app.open_bytes("points.zip", file.clone());
    }
    let state = ViewState::from_fragment(link).unwrap();
    let matrix = (!files.is_empty()).then(|| KEY.to_owned());
    app.set_state(ViewState { matrix, ..state });
    // A large set is drawn in parts, in as many frames as a busy machine needs.
    let mut harness = Harness::builder()
        .with_size(size)
        .with_max_steps(1000)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

fn shown(files: &[Vec<u8>], link: &str) -> Harness<'static, App> {
    shown_with(files, link, vec2(1280.0, 800.0))
}

fn link(harness: &Harness<'_, App>) -> String {
    harness.state().state().to_fragment()
}

/// The position of the plot on screen.
fn plot(harness: &Harness<'_, App>) -> Rect {
    harness.get_by_label_contains(": click to select the nearest").rect()
}

/// The position at these shares of the way right and up, between the outermost points.
fn place(plot: Rect, right: f32, up: f32) -> Pos2 {
    let share = |of: f32| (0.04 + of) / 1.08;
    plot.left_bottom() + vec2(plot.width() * share(right), -plot.height() * share(up))
}

const HOTELS: &str = "v1;view=skyline;points-of=1,1/3,3/2,2/1,3.5/3,3";

#[test]
fn a_point_that_is_pointed_at_says_who_dominates_it_and_a_click_keeps_it_in_the_link() {
    let mut harness = shown(&[], HOTELS);
    harness.get_by_label("Scatter of Points, dimensions 0 and 1");
    let at = place(plot(&harness), 0.5, 0.4);
    harness.hover_at(at + vec2(4.0, -3.0));
    harness.run();
    harness.get_by_label("Point 2 (2, 2): dominated by point 1 (3, 3).");
    harness.drag_at(at);
    harness.drop_at(at);
    harness.run();
    assert!(link(&harness).ends_with(";point=2"), "{}", link(&harness));
    harness.hover_at(plot(&harness).right_bottom() - vec2(5.0, 5.0));
    harness.run();
    harness.get_by_label("Point 2 (2, 2): dominated by point 1 (3, 3).");
    let again = shown(&[], &link(&harness));
    again.get_by_label("Point 2 (2, 2): dominated by point 1 (3, 3).");
    // Both copies of a point are kept.
    for (point, words) in [
        (1, "Point 1 (3, 3): on the skyline."),
        (4, "Point 4 (3, 3): on the skyline."),
        (9, "There is no point 9: the 5 points are numbered from 0."),
    ] {
        shown(&[], &format!("{HOTELS};point={point}")).get_by_label(words);
    }
    // The result is hidden.
    shown(&[], &format!("{HOTELS};point=2;alike=true")).get_by_label("Point 2 (2, 2).");
}

#[test]
fn an_algorithm_is_stepped_through_by_keys_with_its_comparisons() {
    let mut harness = shown(&[], HOTELS);
    harness.key_press(Key::ArrowRight);
    harness.run();
    harness.get_by_label(
        "Step 1 of 5: point 0 against the others, 1 comparison: point 1 dominates it. So far 1 comparison, 1 point decided.",
    );
    harness.key_press(Key::ArrowRight);
    harness.run();
    harness.get_by_label(
        "Step 2 of 5: point 1 against the others, 4 comparisons: it is on the skyline. So far 5 comparisons, 2 points decided.",
    );
    harness.key_press(Key::End);
    harness.run();
    harness.get_by_label("All 5 steps: 15 comparisons, 3 points on the skyline.");
    harness.get_by_label("All points").click();
    harness.run();
    assert_eq!(harness.state().state().skyline.step, None);
    let marks = shown(&[], &format!("{HOTELS};algorithm=shared-marks;points-step=1"));
    marks.get_by_label(
        "Step 2 of 5: point 1 against the unmarked, 4 comparisons: it marks 2. So far 8 comparisons, 2 points decided.",
    );
    let sorted = shown(&[], &format!("{HOTELS};algorithm=sorted;points-step=2"));
    sorted.get_by_label(
        "Step 3 of 5: point 3, next by sum, against the skyline so far, 2 comparisons: it is on the skyline. So far 3 comparisons, 3 points decided.",
    );
}

#[test]
fn on_a_phone_the_points_stay_where_they_are_however_long_the_words_about_a_step_are() {
    let tops = [0, 1, 4, 5].map(|step| {
        let link = format!("{HOTELS};points-step={step}");
        let harness = shown_with(&[], &link, vec2(390.0, 844.0));
        harness.get_by_label("Scatter of Points, dimensions 0 and 1").rect().top()
    });
    assert!(tops.iter().all(|top| *top == tops[0]), "{tops:?}");
}

#[test]
fn pairs_of_dimensions_are_chosen_by_a_click_and_by_keys() {
    let few = "v1;view=skyline;points-of=points-independent?n=50&d=4;at=1,1,1";
    let mut harness = shown(&[], few);
    harness.get_by_label("Pairs of dimensions of points-independent?n=50&d=4");
    harness.get_by_label("Dimensions 1 and 3").click();
    harness.run();
    assert_eq!(harness.state().state().skyline.axes, [1, 3]);
    harness.get_by_label("Scatter of points-independent?n=50&d=4, dimensions 1 and 3");
    harness.get_by_label("Dimensions 0 and 2").focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().state().skyline.axes, [0, 2]);
    // Zooms in by keys, and out.
    harness.get_by_label_contains(": click to select the nearest").focus();
    harness.run();
    harness.key_press(Key::Plus);
    harness.run();
    assert!(link(&harness).contains(";points-at=500,500,"), "{}", link(&harness));
    harness.key_press(Key::Num0);
    harness.run();
    assert!(!link(&harness).contains("points-at"));
}

#[test]
fn what_cannot_be_shown_says_why_in_a_sentence() {
    let without = bundle(None);
    let selected = "v1;view=skyline";
    shown(&[without], selected).get_by_label_contains(
        "Cannot show the points of hotels: its bundle has no picture of them: it was \
         written by a version before 1.5",
    );
    for (of, sentence) in [
        (
            "points-of=points-sphere?n=1e5&d=2",
            "No points: points-sphere?n=100000&d=2 is too large to generate here (limits: 10000 points, \
             100000 coordinates): measure it with `sparsescope bench --operation skyline \
             'gen:points-sphere?n=100000&d=2'` and open the bundle.",
        ),
        ("points-of=points-sphere?n=0&d=2", "points-sphere?n=0&d=2 has no points."),
        (
            "points-of=1,2/3,4;dimensions=0,7",
            "Points has no picture of dimension 7: choose 0 to 1.",
        ),
    ] {
        shown(&[], &format!("{selected};{of}")).get_by_label(sentence);
    }
    let mut app = App::new();
    let matrix = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    app.open_bytes("one.mtx", matrix.as_bytes().to_vec());
    let matrix = app.state().matrix.clone();
    app.set_state(ViewState { matrix, ..ViewState::from_fragment(selected).unwrap() });
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness.get_by_label_contains("under Points. These are generated points instead.");
    harness.get_by_label("Scatter of points-anticorrelated?n=200&d=2, dimensions 0 and 1");
    let app = harness.state();
    assert!((VIEW.is_empty)(app.model(), app.state()));
}

#[test]
fn a_large_set_of_a_bundle_is_an_image_not_shapes_and_says_what_it_leaves_out() {
    let file = bundle(Some(&large()));
    let mut harness = shown(&[file], "v1;view=skyline;point=800000");
    harness.get_by_label("Scatter of hotels, dimensions 0 and 1");
    harness.get_by_label_contains("Point 800\u{202f}000 (");
    harness.hover_at(plot(&harness).center() + vec2(30.0, -30.0));
    harness.run();
    let shapes = harness.output().shapes.len();
    assert!(shapes < 1500, "{shapes} shapes");
    harness.key_press(Key::ArrowRight);
    harness.run();
    harness.get_by_label(
        "The steps cover the first 1\u{202f}000 drawn points of 1\u{202f}000\u{202f}000.",
    );
}

/// `cargo test -p sparsescope-views --lib frames_of_a_million -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn frames_of_a_million_points() {
    let file = bundle(Some(&large()));
    let mut harness = shown_with(&[file], "v1;view=skyline", vec2(1600.0, 1000.0));
    let mut time = |what: &str, change: &mut dyn FnMut(&mut Harness<'_, App>, u32)| {
        let mut times: Vec<f64> = (0..20)
            .map(|k| {
                change(&mut harness, k);
                let start = std::time::Instant::now();
                harness.step();
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{what}: median {:.2} ms, longest {:.2} ms", times[10], times[19]);
    };
    time("at rest", &mut |_, _| {});
    time("pointed at", &mut |harness, k| {
        harness.hover_at(plot(harness).center() + vec2(k as f32, k as f32));
    });
    time("zoomed and moved", &mut |harness, k| {
        let mut state = harness.state().state().clone();
        let at =
            sparsescope_figures::state::At { row: 500.0 + f64::from(k), col: 500.0, rows: 400.0 };
        state.skyline.at = Some(at);
        harness.state_mut().set_state(state);
    });
    time("other dimensions", &mut |harness, k| {
        let mut state = harness.state().state().clone();
        (state.skyline.axes, state.skyline.at) = ([k % 7, 7], None);
        harness.state_mut().set_state(state);
    });
    time("other theme", &mut |harness, k| {
        let mut state = harness.state().state().clone();
        state.theme = sparsescope_figures::state::Theme::ALL[k as usize % 2];
        harness.state_mut().set_state(state);
    });
}

#[test]
fn the_table_has_every_point_in_view_and_the_figure_says_the_same() {
    let rows = |link: &str| {
        let state = ViewState::from_fragment(link).unwrap();
        (VIEW.table)(&Model::default(), &state)
    };
    let table = rows(HOTELS);
    assert_eq!(table.len(), 1 + 5);
    let of = |line: &Vec<String>| [2, 4, 6, 7, 8].map(|at| line[at].clone());
    assert_eq!(of(&table[3]), ["2", "2", "2", "dominated", "1"]);
    assert_eq!(of(&table[4]), ["3", "1", "3.5", "kept", ""]);
    assert_eq!(rows(&format!("{HOTELS};dropped=false")).len(), 1 + 3);
    // Without the left and the lower end.
    assert_eq!(rows(&format!("{HOTELS};points-at=300,700,600")).len(), 1 + 3);
    let state = ViewState::from_fragment(&format!("{HOTELS};point=2")).unwrap();
    let svg = (VIEW.svg.unwrap())(&Model::default(), &state);
    for text in [
        "skyline: 3 of 5",
        "staircase: everything below it is dominated",
        "Point 2 (2, 2): dominated by point 1 (3, 3).",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!svg.contains("<image"), "few points are shapes");
    let mut model = Model::default();
    model.open("points.zip", &bundle(Some(&large()))).unwrap();
    let state = ViewState {
        matrix: Some(KEY.into()),
        ..ViewState::from_fragment("v1;view=skyline").unwrap()
    };
    let svg = (VIEW.svg.unwrap())(&model, &state);
    assert!(svg.contains("<image") && svg.len() < 4_000_000, "{} bytes", svg.len());
    for text in [
        "a sample of 100\u{202f}000 drawn",
        "a sample of 20\u{202f}000 drawn",
        "3 coordinates beyond single precision",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!((VIEW.table)(&model, &state).len(), 1 + 120_000 + (1 << 16));
}

/// Checks what the lesson claims in words, not in numbers.
#[test]
fn what_the_lesson_claims_in_words_is_so() {
    let number = |asked: &str, link: &str| -> u32 {
        let state = ViewState::from_fragment(&format!("v1;view=skyline;points-of={link}")).unwrap();
        sparsescope_figures::views::skyline::number(asked, &Model::default(), &state)
            .unwrap()
            .parse()
            .unwrap()
    };
    let few = "points-independent?n=32&d=2";
    let of = |algorithm: &str| number("comparisons", &format!("{few};algorithm={algorithm}"));
    assert!(of("sorted") < of("shared-marks") && of("shared-marks") < of("own-points"));
    assert!(of("own-points") < number("pairs", few));
    assert_eq!(number("kept", "2,3/2,3/2,1/1,3"), 2);
    assert_eq!(number("kept", "1,4/4,2"), 2);
    let [two, four, eight] =
        [2, 4, 8].map(|d| number("kept", &format!("points-independent?n=200&d={d}")));
    assert!(two < four && four < eight && eight > 100, "most are kept: {eight}");
}
