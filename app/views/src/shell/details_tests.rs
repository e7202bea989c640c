//! Selecting runs, their details, and links to them.

use egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sparsescope_core::bundle::{Bundle, Limits};

use super::tests::{EXAMPLE, with_example};
use super::*;

fn numbers(harness: &Harness<'_, App>, label: &str) -> usize {
    harness.query_all_by_label_contains(label).count()
}

/// The number of the run of this kernel on `road`.
fn number(app: &App, kernel: &str) -> usize {
    let filter = Filter { kernel: kernel.into(), search: "road".into(), ..Filter::everything() };
    app.model().runs(&filter).first().unwrap().index
}

#[test]
fn selecting_a_run_leaves_the_columns_of_the_list() {
    let mut harness = with_example("v1;view=runs;search=road;kernel=cpu/coo/serial");
    let before = numbers(&harness, "Sort by ");
    assert!(before > 6);
    harness.get_all_by_label("Run of cpu/coo/serial on road").next().unwrap().click();
    harness.run();
    harness.get_by_label("Close the run's details");
    assert_eq!(numbers(&harness, "Sort by "), before);
}

#[test]
fn a_run_kept_for_comparison_stands_beside_the_next_until_it_is_taken_away() {
    let mut harness = with_example("v1;view=runs;search=road");
    let [one, other] =
        ["cpu/coo/serial", "cpu/hyb/serial"].map(|kernel| number(harness.state(), kernel));
    harness.state_mut().state.run = Some(one);
    harness.run();
    harness.get_by_label("Compare the selected run").click();
    harness.run();
    harness.state_mut().state.run = Some(other);
    harness.run();
    harness.get_by_label("2 runs side by side");
    harness.get_by_label("≠ Kernel");
    harness.get_by_label("Precision");
    let key = harness.state().model().run(one).unwrap().link_key();
    let link = harness.state().state().to_fragment();
    assert!(link.contains(&format!(";runs={key}")), "{link}");
    harness.get_by_label("Remove cpu/hyb/serial on road").click();
    harness.run();
    assert_eq!(harness.state().state().run, Some(one));
    harness.get_by_label("Matrix of the selected run");
}

#[test]
fn a_link_to_a_run_waits_for_its_bundle_whatever_else_is_open() {
    let harness = with_example("v1");
    let number = number(harness.state(), "cpu/coo/serial");
    let run = harness.state().model().run(number).unwrap();
    let (key, expected) = (run.link_key(), run.run.clone());
    let mut app = App::new();
    app.follow_first(&format!("v1;view=runs;run={key}"));
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    assert_eq!(harness.state().state().run, None);
    let other = include_bytes!("../../../../tests/golden/bundle-1.2.zip");
    harness.state_mut().open_bytes("other.zip", other);
    harness.run();
    harness.get_by_label("The run in this link is not open here: drop its bundle.");
    harness.state_mut().open_bytes("example.zip", EXAMPLE);
    harness.run();
    assert!(harness.query_by_label_contains("The run in this link").is_none());
    let app = harness.state();
    let selected = app.state().run.and_then(|number| app.model().run(number)).unwrap();
    assert_eq!((selected.bundle.file.as_str(), selected.run), ("example.zip", &expected));
    assert!(app.history.is_empty(), "finding it is no step");
}

/// Another bundle with the example's measurements.
fn again() -> Vec<u8> {
    let mut bundle = Bundle::read(EXAMPLE, &Limits::default()).unwrap();
    bundle.label = Some("measured again".into());
    bundle.to_bytes().unwrap()
}

/// The key of this kernel's run on `road` in the example.
fn example_key(kernel: &str) -> String {
    let mut app = App::new();
    app.open_bytes("example.zip", EXAMPLE);
    app.model().run(number(&app, kernel)).unwrap().link_key()
}

fn harness(app: App) -> Harness<'static, App> {
    let builder = Harness::builder().with_size(vec2(1280.0, 800.0)).with_max_steps(100);
    builder.with_step_dt(0.25).build_ui_state(|ui, app: &mut App| app.ui(ui), app)
}

#[test]
fn a_run_that_is_not_open_is_given_up_by_its_button() {
    for run in ["9999", "000000000000-00000000"] {
        let mut harness = with_example(&format!("v1;view=runs;run={run}"));
        harness.get_by_label("Select no run").click();
        harness.run();
        assert!(harness.query_by_label("Select no run").is_none());
        let state = harness.state().state();
        assert_eq!((state.run, state.run_key.as_str()), (None, ""));
    }
}

#[test]
fn a_run_shown_for_that_of_a_bundle_that_is_not_open_gives_way_to_it() {
    let key = example_key("cpu/coo/serial");
    let mut app = App::new();
    app.open_bytes("again.zip", again());
    app.follow_first(&format!("v1;view=runs;run={key}"));
    let mut harness = harness(app);
    let shown = |app: &App| {
        let run = app.model().run(app.state().run.unwrap()).unwrap();
        (run.bundle.file.clone(), app.state().run_key.clone())
    };
    for (file, opens) in [("again.zip", true), ("example.zip", false)] {
        harness.run();
        assert_eq!(shown(harness.state()), (file.into(), key.clone()));
        if opens {
            harness.state_mut().open_bytes("example.zip", EXAMPLE);
        }
    }
}

#[test]
fn a_run_beside_is_taken_away_though_its_key_names_a_bundle_that_is_not_open() {
    let keys = ["cpu/coo/serial", "cpu/hyb/serial"].map(example_key);
    let mut app = App::new();
    app.open_bytes("again.zip", again());
    app.follow_first(&format!("v1;view=runs;search=road;run={};runs={}", keys[1], keys[0]));
    let mut harness = harness(app);
    harness.run();
    harness.get_by_label("2 runs side by side");
    harness.get_by_label("Remove cpu/coo/serial on road").click();
    harness.run();
    assert!(harness.query_by_label("2 runs side by side").is_none());
    assert!(harness.state().state().beside.is_empty());
    assert_eq!(harness.state().state().run_key, keys[1]);
}

#[test]
fn on_a_phone_the_details_lie_over_the_list() {
    let mut harness = with_example("v1;view=runs");
    harness.set_size(vec2(390.0, 844.0));
    harness.run();
    let before = numbers(&harness, "Run of ");
    assert!(before > 5);
    let run = number(harness.state(), "cpu/coo/serial");
    harness.state_mut().state.run = Some(run);
    harness.run();
    harness.get_by_label("Matrix of the selected run");
    let [caches, precision] =
        ["Caches", "Precision"].map(|name| harness.get_by_label(name).rect().center().y);
    assert!(precision - caches < 30.0, "lines of text are no targets: {caches}, {precision}");
    // The sentence above the list may take another line.
    assert!(numbers(&harness, "Run of ").abs_diff(before) <= 1);
    harness.get_by_label("Close the run's details").click();
    harness.run();
    assert_eq!(harness.state().state().run, None);
}

#[test]
fn a_selected_run_is_scrolled_between_the_head_of_the_list_and_the_details() {
    for (size, head, grouped) in [
        ([1280.0, 800.0], "Sort by Kernel", false),
        ([1280.0, 800.0], "Sort by Kernel", true),
        ([390.0, 844.0], "Largest first", false),
        ([390.0, 844.0], "Largest first", true),
    ] {
        let mut harness = with_example("v1;view=runs");
        harness.state_mut().state.grouped = grouped;
        harness.set_size(size.into());
        harness.run();
        let run = number(harness.state(), "cpu/coo/serial");
        harness.state_mut().state.run = Some(run);
        harness.run();
        let top = harness.get_by_label(head).rect().bottom();
        let bottom = harness.get_by_label("Close the run's details").rect().top();
        let rows = harness.query_all_by_label("Run of cpu/coo/serial on road");
        let rows: Vec<_> = rows.map(|row| row.rect().y_range()).collect();
        let seen = rows.iter().any(|row| row.min >= top && row.max <= bottom);
        assert!(seen, "{size:?}: {rows:?}, expected between {top} and {bottom}");
    }
}

#[test]
fn columns_that_do_not_fit_are_counted_and_come_back() {
    let mut harness = with_example("v1;view=runs");
    harness.set_size(vec2(960.0, 800.0));
    harness.run();
    let before = numbers(&harness, "Sort by ");
    harness.get_by_label_contains(" columns").click();
    harness.run();
    harness.get_by_label("Show all of these columns").click();
    harness.run();
    harness.get_by_label("Columns");
    assert!(numbers(&harness, "Sort by ") > before);
}

#[test]
fn an_origin_is_shown_by_its_name_and_stays_a_word_in_links() {
    let harness = with_example("v1;view=runs;origin=paper:000;variance=0-0.1");
    harness.get_by_label("Remove the filter Origin: CSR/HLL report (Martorelli, Cortese)");
    harness.get_by_label("Remove the filter Row variation: 0-0.1");
    let link = harness.state().state().to_fragment();
    assert!(link.contains(";origin=paper:000"), "{link}");
}

#[test]
fn runs_are_grouped_by_matrix() {
    let mut harness = with_example("v1;view=runs;kernel=cpu/coo/serial");
    harness.get_by_label("Sort by Matrix");
    harness.get_by_label("Group by matrix").click();
    harness.run();
    assert!(harness.query_by_label("Sort by Matrix").is_none());
    assert!(numbers(&harness, " nonzeros · best cpu/coo/serial") > 2);
    assert!(harness.state().state().to_fragment().contains(";group=matrix"));
}
