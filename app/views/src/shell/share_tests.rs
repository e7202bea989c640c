//! Lessons are shared from their panel, and other pages show a view alone.

use egui::Key;
use egui_kittest::kittest::Queryable as _;

use super::tests::with_example;
use super::*;

#[test]
fn a_lesson_has_its_link_and_its_file_where_they_are_offered() {
    let buttons =
        [("Copy link to this step", COPY_LINK), ("Save this lesson as one HTML file", SAVE_LESSON)];
    let mut harness = with_example("v1;view=layouts;lesson=coalescing,1");
    for (button, _) in buttons {
        assert!(harness.query_by_label(button).is_none(), "{button}");
    }
    harness.state_mut().offer(&[COPY_LINK, SAVE_LESSON]);
    harness.run();
    let middle = |name: &str| harness.get_by_label(name).rect().center().y;
    for (button, _) in buttons {
        assert!((middle(button) - middle("Leave")).abs() < 1.1, "{button} is in the line of Leave");
    }
    for (button, action) in buttons {
        harness.get_by_label(button).click();
        harness.run();
        assert_eq!(harness.state_mut().take_asked(), [action], "{button}");
        harness.key_press(action.key);
        harness.run();
        assert_eq!(harness.state_mut().take_asked(), [action], "{:?}", action.key);
    }
    harness.get_by_label("Leave").click();
    harness.run();
    assert!(harness.query_by_label("Save as HTML").is_none(), "the bar has no such button");
    harness.key_press(SAVE_LESSON.key);
    harness.run();
    assert!(harness.state_mut().take_asked().is_empty(), "there is no lesson to save");
}

#[test]
fn the_file_of_an_opened_lesson_is_known_while_it_is_shown() {
    let step = serde_json::json!({ "title": "One", "text": "Text", "show": "v1;small=four" });
    let lesson = serde_json::json!({
        "format": "sparsescope-lesson", "version": 1, "id": "mine", "language": "en",
        "title": "Mine", "steps": [step],
    });
    let mut harness = with_example("v1;view=layouts;lesson=coalescing,1");
    let known = |app: &App| (app.lesson().map(str::to_owned), app.lesson_file().map(str::to_owned));
    assert_eq!(known(harness.state()), (Some("coalescing".into()), None));
    harness.state_mut().open_bytes("My lesson.json", lesson.to_string().into_bytes());
    harness.run();
    assert_eq!(known(harness.state()), (Some("mine".into()), Some("My lesson.json".into())));
    harness.get_by_label("Leave").click();
    harness.run();
    assert_eq!(known(harness.state()), (None, None));
}

#[test]
fn an_embedded_lesson_stands_alone_and_keeps_its_keys() {
    let mut harness = with_example("v1;view=layouts;lesson=coalescing,1");
    harness.get_by_label("Keys");
    harness.state_mut().embed();
    harness.run();
    harness.get_by_label("Row-major: along the row");
    for around in ["Runs", "Keys", "End presentation", "Leave", "Settings"] {
        assert!(harness.query_by_label(around).is_none(), "{around}");
    }
    harness.key_press(Key::Num3);
    harness.run();
    assert_eq!(harness.state().state().view, "layouts");
    harness.key_press(Key::PageDown);
    harness.run();
    assert!(harness.state().state().layouts.told);
}

#[test]
fn an_embedded_view_shows_a_chosen_run_and_no_way_to_other_views() {
    for size in [[1280.0, 800.0], [390.0, 700.0]] {
        let mut harness = with_example("v1;view=runs;search=road;kernel=cpu/coo/serial");
        harness.set_size(size.into());
        harness.state_mut().embed();
        harness.run();
        harness.get_all_by_label("Run of cpu/coo/serial on road").next().unwrap().click();
        harness.run();
        harness.get_by_label("Compare the selected run");
        assert!(harness.query_by_label("Matrix of the selected run").is_none());
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(harness.state().state().view, "runs");
        harness.get_by_label("Close the run's details").click();
        harness.run();
        assert_eq!(harness.state().state().run, None);
    }
}

#[test]
fn choices_of_a_lesson_are_wide_enough_for_a_finger_on_a_phone() {
    let mut harness = with_example("v1;view=layouts;lesson=bank-conflicts,1");
    harness.set_size(egui::vec2(390.0, 844.0));
    harness.run();
    for choice in ["Choice: 4", "Choice: 8", "Choice: 32"] {
        let size = harness.get_by_label(choice).rect().size();
        assert!(size.x >= 44.0 && size.y >= 44.0, "{choice}: {size}");
    }
}

#[test]
fn a_link_to_a_lesson_shows_the_view_of_its_step() {
    let shown = |link: &str| {
        let mut app = App::new();
        app.follow(link);
        app.state().view.clone()
    };
    assert_eq!(shown("v1;view=layouts;lesson=gauss-seidel,0"), "levels");
    assert_eq!(shown("v1;view=layouts;lesson=skyline,0"), "skyline");
    assert_eq!(shown("v1;view=layouts;lesson=coalescing,0"), "layouts");
    assert_eq!(shown("v1;view=runs;lesson=gauss-seidel,0"), "runs");
    assert_eq!(shown("v1;view=layouts;lesson=none,0"), "layouts");
}
