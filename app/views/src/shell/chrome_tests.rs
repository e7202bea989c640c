//! What surrounds the views: the side panel, presentations, messages, cards.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::tests::{with_example, with_example_at};
use super::*;

#[test]
fn the_title_shows_what_there_is_to_open_and_a_lesson_begins_from_there() {
    let mut harness = with_example("v1");
    harness.get_by_label("Sparsescope").click();
    harness.run();
    let lesson = sparsescope_figures::lesson::Lessons::default().iter().next().unwrap().clone();
    harness.get_by_label(&lesson.title).click();
    harness.run();
    let shown = harness.state().state().layouts.lesson.clone();
    assert_eq!(shown, Some((lesson.id.clone(), 0)));
    assert!(harness.query_by_label("A matrix or a result").is_none());
}

#[test]
fn the_cards_go_when_anything_else_is_shown() {
    let mut harness = with_example("v1");
    let shown =
        |harness: &Harness<'static, App>| harness.query_by_label("A matrix or a result").is_some();
    for leave in 0..2 {
        harness.get_by_label("Sparsescope").click();
        harness.run();
        assert!(shown(&harness));
        match leave {
            0 => harness.key_press(Key::Num3),
            _ => harness.state_mut().open_bytes("notes.pdf", b"hello"),
        }
        harness.run();
        assert!(!shown(&harness), "{leave}");
    }
}

#[test]
fn the_side_folds_by_its_key_and_by_itself_where_there_is_little_room() {
    let mut harness = with_example("v1");
    let shown = |harness: &Harness<'static, App>| harness.query_by_label("Filters").is_some();
    assert!(shown(&harness));
    for expected in [false, true] {
        harness.key_press(Key::B);
        harness.run();
        assert_eq!(shown(&harness), expected);
    }
    let mut narrow = with_example("v1;zoom=1.5");
    assert!(!shown(&narrow), "853 points");
    narrow.get_by_label("Matrices").click();
    narrow.run();
    assert!(shown(&narrow));
}

#[test]
fn a_presentation_leaves_the_view_and_a_line_of_its_settings() {
    let mut harness = with_example("v1;view=chart");
    harness.key_press(Key::P);
    harness.run();
    assert!(harness.state().state().present);
    harness.get_by_label("Figure: Kernels by matrix");
    harness.get_by_label("Chart: Kernels by matrix");
    for gone in ["Filters", "Export", "Views", "Theme"] {
        assert!(harness.query_by_label(gone).is_none(), "{gone}");
    }
    harness.get_by_label("End presentation").click();
    harness.run();
    assert!(!harness.state().state().present);
    harness.get_by_label("Export");
}

#[test]
fn what_confirms_goes_away_by_itself_and_what_went_wrong_stays() {
    let mut harness = with_example_at("v1", 1.0);
    harness.state_mut().confirm("Saved a.csv.".into());
    harness.state_mut().notify("Could not open b.zip.".into());
    harness.run_steps(2);
    harness.get_by_label("Saved a.csv.");
    harness.run_steps(10);
    assert!(harness.query_by_label("Saved a.csv.").is_none());
    harness.get_by_label("Could not open b.zip.");
}

#[test]
fn the_legend_shows_a_series_alone_and_all_again() {
    let mut harness = with_example("v1;view=chart");
    harness.get_by_label("Show only cpu/hll/guided").click();
    harness.run();
    assert_eq!(harness.state().state().charts.only, "cpu/hll/guided");
    harness.get_by_label("Show all series").click();
    harness.run();
    assert_eq!(harness.state().state().charts.only, "");
}

#[test]
fn what_an_import_leaves_out_is_said() {
    let mut app = App::new();
    let of = include_bytes!("../../../../tests/golden/nvbench.json");
    app.open_bytes("example.zip", include_bytes!("../../../example/mini.zip"));
    app.open_bytes("nvbench.json", of);
    let open = app.model().bundles().last().unwrap();
    let sentences: Vec<String> = open.bundle.left_out().map(str::to_owned).collect();
    assert!(!sentences.is_empty());
    for sentence in sentences {
        let said = app.notices.sentences().any(|said| said.contains(&sentence));
        assert!(said, "{sentence}");
    }
}

#[test]
fn the_selected_run_stays_selected_when_a_bundle_before_it_is_closed() {
    let mut harness = with_example("v1;view=runs");
    let other = include_bytes!("../../../../tests/golden/bundle-1.2.zip");
    harness.state_mut().open_bytes("other.zip", other);
    let last = harness.state().model().runs(&Filter::everything()).last().unwrap().index;
    for run in [last - 1, last] {
        let state = ViewState { run: Some(run), ..harness.state().state().clone() };
        harness.state_mut().set_state(state);
        harness.run();
    }
    let selected = |app: &App| {
        let run = app.state.run.and_then(|number| app.model.run(number))?;
        Some((run.bundle.file.clone(), run.run.clone()))
    };
    let before = selected(harness.state()).unwrap();
    assert_eq!(before.0, "other.zip");
    let close = format!("Close {}", harness.state().model().bundles()[0].label());
    harness.get_by_label(&close).click();
    harness.run();
    assert_eq!(harness.state().model().bundles().len(), 1);
    assert_eq!(selected(harness.state()), Some(before));
    harness.get_by_label("Back").click();
    harness.run();
    assert_eq!(harness.state().state().run, None, "other runs have the old numbers");
}

#[test]
fn a_lesson_that_is_opened_again_shows_its_new_words() {
    let lesson = |words: &str| {
        let step = serde_json::json!({
            "title": "One", "text": words, "show": "v1;view=skyline;points-of=2,2/3,4",
        });
        let lesson = serde_json::json!({
            "format": "sparsescope-lesson", "version": 1, "id": "mine", "language": "en",
            "title": "Mine", "steps": [step],
        });
        lesson.to_string().into_bytes()
    };
    let mut harness = with_example("v1");
    for (words, before) in [("{points} points.", "None."), ("Now {points} points.", "2 points.")] {
        harness.state_mut().open_bytes("mine.json", lesson(words));
        harness.run();
        harness.get_by_label(&words.replace("{points}", "2"));
        assert!(harness.query_by_label(before).is_none(), "{words}");
    }
}
