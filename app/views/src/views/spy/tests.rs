//! The picture in the interface, by its accessible names.

use std::fmt::Write as _;

use egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sparsescope_figures::state::{At, ViewState};

use crate::shell::App;

/// 9000 × 9000 with the nonzeros (i, i) and (i, 0), as Matrix Market text.
fn arrow() -> String {
    let n = 9000;
    let mut text =
        format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n", 2 * n - 1);
    for i in 1..=n {
        let _ = writeln!(text, "{i} {i} {i}");
        if i > 1 {
            let _ = writeln!(text, "{i} 1 -1");
        }
    }
    text
}

fn opened(file: &str, text: &str, state: &str) -> App {
    let mut app = App::new();
    app.open_bytes(file, text.as_bytes());
    let matrix = app.state().matrix.clone();
    app.set_state(ViewState { matrix, ..ViewState::from_fragment(state).unwrap() });
    app
}

fn drawn(app: App) -> Harness<'static, App> {
    let mut harness = Harness::builder()
        .with_size(vec2(1100.0, 800.0))
        .with_max_steps(100)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

fn with_arrow(state: &str) -> Harness<'static, App> {
    drawn(opened("arrow.mtx", &arrow(), state))
}

#[test]
fn a_matrix_file_opens_as_its_picture() {
    let mut app = App::new();
    app.open_bytes("arrow.mtx", arrow().as_bytes());
    assert_eq!(app.state().view, "spy");
    let harness = with_arrow("v1;view=spy");
    harness.get_by_label("Structure of arrow");
    harness.get_by_label_contains("All 18.0 k nonzeros; zoom in to individual nonzeros");
}

#[test]
fn a_bundle_without_structures_shows_a_grid_and_offers_to_generate_a_matrix() {
    let mut app = App::new();
    app.open_bytes("solvers.zip", include_bytes!("../../../../example/solvers.zip"));
    app.set_state(ViewState::from_fragment("v1;view=spy").unwrap());
    let harness = drawn(app);
    harness.get_by_label("Structure of 16 × 16 points, 5-point stencil");
    harness.get_by_label("Generate Cubo_4 (stand-in), 7.58 M nonzeros");
}

#[test]
fn a_file_that_is_no_matrix_is_one_sentence_with_its_line() {
    let mut harness = with_arrow("v1;view=spy");
    harness
        .state_mut()
        .open_bytes("bad.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2\n");
    harness.run();
    harness.get_by_label_contains("Could not open bad.mtx: line 2");
    harness.get_by_label("Structure of arrow");
}

#[test]
fn the_pointer_reads_exact_counts_and_single_values() {
    let mut harness = with_arrow("v1;view=spy;at=4500.5,4500.5,9");
    let center = harness.get_by_label("Cells of arrow").rect().center();
    harness.hover_at(center);
    harness.run();
    for words in ["Row 4\u{202f}500", "Column 4\u{202f}500", "1 nonzero", "Value 4501"] {
        harness.get_by_label(words);
    }
    let mut harness = with_arrow("v1;view=spy");
    let corner = harness.get_by_label("Cells of arrow").rect().left_top();
    harness.hover_at(corner + vec2(1.0, 1.0));
    harness.run();
    // A cell of 32 rows and columns at the corner: 32 diagonal nonzeros and 31 below the first.
    harness.get_by_label("Rows 0 to 31");
    harness.get_by_label("63 nonzeros");
}

#[test]
fn keys_zoom_and_move_and_go_back_to_the_whole() {
    let mut harness = with_arrow("v1;view=spy");
    harness.get_by_label("Cells of arrow").click();
    harness.run();
    harness.key_press(Key::Plus);
    harness.run();
    let at = |harness: &Harness<'_, App>| harness.state().state().spy.at;
    assert_eq!(at(&harness), Some(At { row: 4500.0, col: 4500.0, rows: 4500.0 }));
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert!(at(&harness).unwrap().row > 4500.0);
    harness.key_press(Key::Num0);
    harness.run();
    assert_eq!(at(&harness), None);
    assert_eq!(harness.state().state().view, "spy", "the key chose no view");
}

#[test]
fn dragging_moves_what_is_under_the_pointer_along_and_counts_as_one_step_back() {
    let mut harness = with_arrow("v1;view=spy;at=4500,4500,900");
    let center = harness.get_by_label("Cells of arrow").rect().center();
    harness.drag_at(center);
    harness.run();
    for step in 1_u8..=3 {
        harness.hover_at(center + vec2(0.0, -20.0 * f32::from(step)));
        harness.run();
    }
    harness.drop_at(center + vec2(0.0, -60.0));
    harness.run();
    let height = harness.get_by_label("Cells of arrow").rect().height();
    let at = harness.state().state().spy.at.unwrap();
    let expected = 4500.0 + 900.0 * 60.0 / f64::from(height);
    assert!((at.row - expected).abs() < 1.0, "{} instead of {expected}", at.row);
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    harness.run();
    let at = harness.state().state().spy.at.unwrap();
    assert_eq!(at, At { row: 4500.0, col: 4500.0, rows: 900.0 });
}

#[test]
fn a_pinch_keeps_what_is_between_the_fingers_and_does_not_pan_twice() {
    use egui::{Event, PointerButton, TouchDeviceId, TouchId, TouchPhase};
    let mut harness = with_arrow("v1;view=spy;at=4500,4500,900");
    let cells = harness.get_by_label("Cells of arrow").rect();
    let per_point = 900.0 / f64::from(cells.height());
    let touch = |harness: &mut Harness<'static, App>, finger, phase, pos| {
        let (device_id, id) = (TouchDeviceId(1), TouchId(finger));
        harness.event(Event::Touch { device_id, id, phase, pos, force: None });
    };
    // As browsers report it: the first finger is also the pointer.
    let press = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let at = |x: f32, y: f32| cells.left_top() + vec2(x, y);
    let [mut one, other] = [at(60.0, 150.0), at(140.0, 150.0)];
    harness.event(Event::PointerMoved(one));
    touch(&mut harness, 1, TouchPhase::Start, one);
    harness.event(press(one, true));
    harness.step();
    touch(&mut harness, 2, TouchPhase::Start, other);
    harness.step();
    for _ in 0..4 {
        one.x -= 10.0;
        harness.event(Event::PointerMoved(one));
        touch(&mut harness, 1, TouchPhase::Move, one);
        harness.step();
    }
    harness.run();
    // The fingers are 120 points apart instead of 80, their middle 20 points further left.
    let now = harness.state().state().spy.at.unwrap();
    assert!((now.rows - 600.0).abs() < 0.1, "{now:?}");
    let middle = |now: At, x: f32| {
        now.col + f64::from(x - cells.width() * 0.5) * now.rows / f64::from(cells.height())
    };
    let before = At { row: 4500.0, col: 4500.0, rows: 900.0 };
    assert!((middle(now, 80.0) - middle(before, 100.0)).abs() < per_point * 0.5, "{now:?}");
}

#[test]
fn a_bundle_without_the_matrix_says_where_its_picture_ends() {
    let mut app = App::new();
    app.open_bytes("example.zip", include_bytes!("../../../../example/cpu.zip"));
    app.set_state(ViewState::from_fragment("v1;view=spy;search=web").unwrap());
    let mut harness = drawn(app);
    harness.get_by_label_contains("the bundle's finest cells are ");
    let at = At { row: 90.5, col: 90.5, rows: 1.0 };
    let mut state = harness.state().state().clone();
    state.spy.at = Some(at);
    harness.state_mut().set_state(state);
    harness.run();
    harness.get_by_label_contains("the bundle has no finer picture");
}

#[test]
fn all_of_it_is_seen_above_the_details_of_a_run() {
    // The overlays take another line.
    for overlays in ["", ";parts=4;split=entries;hack=32"] {
        let mut app = App::new();
        app.open_bytes("example.zip", include_bytes!("../../../../example/cpu.zip"));
        let state = format!("v1;view=spy;run=20{overlays}");
        app.set_state(ViewState::from_fragment(&state).unwrap());
        let mut harness = drawn(app);
        harness.set_size(vec2(1024.0, 768.0));
        harness.run();
        let details = harness.get_by_label("Close the run's details").rect();
        let last = harness.get_by_label_contains("double-click to reset.").rect();
        assert!(last.bottom() < details.top(), "{overlays}: {last:?}, {details:?}");
    }
}

#[test]
fn overlays_say_what_they_show() {
    let harness = with_arrow("v1;view=spy;parts=4;split=entries;hack=32");
    harness.get_by_label_contains("4 threads with equal nonzeros: the largest part has 1.00 times");
    harness.get_by_label_contains("Hacks of 32 rows: 1.00 slots per nonzero");
}

#[test]
fn the_saved_figure_has_the_cells_and_their_table_has_all_entries() {
    let mut harness = with_arrow("v1;view=spy");
    for item in ["Save SVG", "Save CSV"] {
        harness.get_by_label("Export").click();
        harness.run();
        harness.get_by_label(item).click();
        harness.run();
    }
    let exports = harness.state_mut().take_exports();
    let svg = String::from_utf8(exports[0].bytes.clone()).unwrap();
    assert!(svg.contains("data:image/png;base64,iVBOR") && svg.contains("SHA-256"));
    let csv = String::from_utf8(exports[1].bytes.clone()).unwrap();
    let entries = csv.lines().skip(1).map(|line| line.rsplit(',').nth(2).unwrap());
    let sum: u64 = entries.map(|entries| entries.parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 17_999);
}

#[test]
fn a_saved_figure_has_the_values_that_the_window_shows_and_the_name() {
    let app = opened("arrow.mtx", &arrow(), "v1;view=spy;at=4500.5,4500.5,9");
    let svg = (sparsescope_figures::views::spy::VIEW.svg.unwrap())(app.model(), app.state());
    for text in ["arrow", "4501", "4498", "4\u{202f}500"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn another_matrix_is_shown_whole() {
    let mut harness = with_arrow("v1;view=spy;at=4500,4500,9");
    let other = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n";
    harness.state_mut().open_bytes("other.mtx", other);
    harness.run();
    harness.get_by_label("Structure of other");
    harness.get_by_label("Matrix arrow").click();
    harness.run();
    assert_eq!(harness.state().state().spy.at, None);
}

/// A path through 101 nodes numbered in steps of seven: as a matrix it has a bandwidth of 94, in path order a
/// bandwidth of 1.
fn path() -> String {
    let n = 101;
    let node = |k: usize| k * 7 % n + 1;
    let mut text =
        format!("%%MatrixMarket matrix coordinate pattern symmetric\n{n} {n} {}\n", n - 1);
    for k in 1..n {
        let (a, b) = (node(k - 1), node(k));
        let _ = writeln!(text, "{} {}", a.max(b), a.min(b));
    }
    text
}

#[test]
fn before_and_after_renumbering_stand_side_by_side() {
    let harness = drawn(opened("path.mtx", &path(), "v1;view=spy;numbering=both"));
    let cells: Vec<_> = harness.get_all_by_label_contains("Cells of path.").collect();
    let [before, after] = cells.as_slice() else { panic!("{} pictures", cells.len()) };
    assert!(before.rect().max.x < after.rect().min.x);
    let label = |node: &egui_kittest::Node<'_>| node.accesskit_node().label().unwrap();
    assert!(label(before).contains("As stored: bandwidth 94 below, 94 above"), "{}", label(before));
    assert!(label(after).contains("Cuthill–McKee: bandwidth 1 below, 1 above"), "{}", label(after));
}

#[test]
fn what_is_not_square_has_no_other_numbering() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n";
    let harness = drawn(opened("flat.mtx", text, "v1;view=spy;numbering=rcm"));
    harness.get_by_label_contains("flat cannot be reordered.");
}

#[test]
fn two_matrices_of_one_size_are_compared_cell_by_cell() {
    let text = |entries: &[&str]| {
        let size = format!("3 3 {}", entries.len());
        ["%%MatrixMarket matrix coordinate pattern general", &size, &entries.join("\n"), ""]
            .join("\n")
    };
    let mut app = App::new();
    app.open_bytes("old.mtx", text(&["1 1", "2 2", "3 1"]).as_bytes());
    let old = app.state().matrix.clone().unwrap();
    app.open_bytes("new.mtx", text(&["1 1", "2 3"]).as_bytes());
    let state = ViewState::from_fragment(&format!("v1;view=spy;against={old}")).unwrap();
    let state = ViewState { matrix: app.state().matrix.clone(), ..state };
    app.set_state(state.clone());
    let lines = (sparsescope_figures::views::spy::VIEW.table)(app.model(), &state);
    let counts: Vec<_> =
        lines[1..].iter().map(|l| [&l[2], &l[3], &l[6], &l[8]].map(|s| s.as_str())).collect();
    let expected =
        [["0", "0", "1", "1"], ["1", "1", "0", "1"], ["1", "2", "1", "0"], ["2", "0", "0", "1"]];
    assert_eq!(counts, expected);
    assert!(lines[1..].iter().all(|line| line[7] == "old"));
    let harness = drawn(app);
    harness.get_by_label("Structure of new. new and old");
    harness.get_by_label("Compare with: old");
}
