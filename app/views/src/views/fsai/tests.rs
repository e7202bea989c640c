//! The view in the interface, with its numbers checked against the definitions.

use egui::{Key, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::fsai::VIEW;

use crate::shell::App;

fn shown(state: &str) -> Harness<'static, App> {
    let state = ViewState::from_fragment(&format!("v1;view=preconditioner;{state}")).unwrap();
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), App::at(state));
    harness.run();
    harness
}

fn opened(text: &str) -> Harness<'static, App> {
    let mut app = App::new();
    app.open_bytes("m.mtx", text.as_bytes().to_vec());
    let matrix = app.state().matrix.clone();
    app.set_state(ViewState { view: VIEW.id.into(), matrix, ..ViewState::default() });
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

fn row(harness: &Harness<'_, App>) -> Option<u32> {
    harness.state().state().fsai.row
}

#[test]
fn a_click_gathers_a_row_and_the_arrow_keys_go_on() {
    let mut harness = shown("fsai-of=grid5x8;fsai-power=1");
    harness.get_by_label("Nonzeros of 8 × 8, 5-point Laplacian, G: the factor");
    let place = harness
        .get_by_label("Nonzeros of 8 × 8, 5-point Laplacian, G: the factor: click to gather a row")
        .rect();
    // The middle of the picture is the corner of rows 31 and 32; a little below is row 32.
    let at = place.center() + vec2(0.0, place.height() / 128.0);
    harness.hover_at(at);
    harness.run();
    harness.drag_at(at);
    harness.drop_at(at);
    harness.run();
    assert_eq!(row(&harness), Some(32));
    harness.get_by_label("Dense system of row 32 of 8 × 8, 5-point Laplacian");
    harness.key_press(Key::Escape);
    harness.get_by_label("Next row").click();
    harness.run();
    assert_eq!(row(&harness), Some(33));
    harness.get_by_label("No row").click();
    harness.run();
    assert_eq!(row(&harness), None);
}

#[test]
fn what_has_no_set_up_says_why_in_a_sentence() {
    let head = "%%MatrixMarket matrix coordinate";
    for (text, sentence) in [
        (format!("{head} real general\n2 3 1\n1 1 1\n"), "2 x 3"),
        (format!("{head} complex general\n2 2 1\n1 1 1 1\n"), "it is complex"),
        (format!("{head} real general\n2 2 3\n1 1 1\n2 2 1\n1 2 1\n"), "symmetric"),
        (format!("{head} real symmetric\n2 2 2\n1 1 1\n2 2 -1\n"), "positive diagonal"),
        (format!("{head} real symmetric\n2 2 3\n1 1 1\n2 2 1\n2 1 3\n"), "row 1"),
    ] {
        let harness = opened(&text);
        let told = harness.get_by_label_contains("No setup for m: ");
        let told = told.accesskit_node().value().unwrap_or_default();
        assert!(told.contains(sentence) && told.ends_with('.'), "{sentence}: {told}");
    }
    let mut harness = opened(&format!("{head} real symmetric\n2 2 2\n1 1 1\n2 2 1\n"));
    harness.get_by_label("Patterns of m, G: the factor");
    let state = ViewState::from_fragment("v1;view=preconditioner;search=other").unwrap();
    harness.state_mut().set_state(state);
    harness.run();
    harness.get_by_label(
        "No matrix passes the filters. Generate one under Matrix. This is a mesh of 8 × 8 instead.",
    );
}
