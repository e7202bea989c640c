//! The interface without a window, by its accessible names.

use egui::{Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sparsescope_figures::model::significant;
use sparsescope_figures::views::VIEWS;
use sparsescope_figures::views::runs::view::rows;

use super::*;

pub(super) const EXAMPLE: &[u8] = include_bytes!("../../../example/cpu.zip");

pub(super) fn with_example(state: &str) -> Harness<'static, App> {
    with_example_at(state, 0.25)
}

/// With one frame per `step` seconds.
pub(super) fn with_example_at(state: &str, step: f32) -> Harness<'static, App> {
    let mut app = App::new();
    app.open_bytes("example.zip", EXAMPLE);
    app.state = ViewState::from_fragment(state).unwrap();
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .with_step_dt(step)
        .with_max_steps(100)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

#[test]
fn every_view_is_reached_by_its_number_and_by_its_tab() {
    let mut harness = with_example("v1");
    let keys = [Key::Num1, Key::Num2, Key::Num3];
    for (key, view) in keys.into_iter().zip(VIEWS) {
        harness.key_press(key);
        harness.run();
        assert_eq!(harness.state().state().view, view.id);
        harness.get_by_label(view.sentence);
    }
    for view in VIEWS {
        harness.get_by_label(view.name).click();
        harness.run();
        assert_eq!(harness.state().state().view, view.id);
    }
}

#[test]
fn a_heading_sorts_and_a_second_click_turns_the_order() {
    let mut harness = with_example("v1;view=runs;sort=kernel;descending=false");
    harness.get_by_label("Sort by Kernel, smallest first");
    let first = |harness: &Harness<'_, App>| {
        let app = harness.state();
        let runs = VIEWS.iter().find(|view| view.id == "runs").unwrap();
        (runs.table)(&app.model, &app.state)[1][1].clone()
    };
    assert_eq!(first(&harness), "cpu/bsr/rows");
    harness.get_by_label("Sort by Kernel, smallest first").click();
    harness.run();
    harness.get_by_label("Sort by Kernel, largest first");
    assert_eq!(first(&harness), "cpu/spmv/auto");
    harness.get_by_label("Sort by Setting").click();
    harness.run();
    assert_eq!(harness.state().state().sort, "setting");
}

#[test]
fn the_longest_number_of_a_column_begins_below_its_heading() {
    let harness = with_example("v1;view=runs;sort=pct_copy;descending=true");
    let heading = harness.get_by_label("Sort by % of copy, largest first").rect();
    let app = harness.state();
    let first = rows(&app.model, &app.state).runs[0];
    let share = significant(app.model.run(first).unwrap().pct_copy().unwrap());
    let text = format!("% of copy {share}");
    let cells = harness.get_all_by_label(&text).map(|cell| cell.rect().left());
    let nearest = cells.map(|left| (left - heading.left()).abs()).fold(f32::MAX, f32::min);
    assert!(nearest < 1.0, "{text}: {nearest}");
}

#[test]
fn a_click_on_a_run_tells_all_of_it_and_leads_to_its_matrix_and_back_returns() {
    let mut harness = with_example("v1;view=runs;search=road;kernel=cpu/coo/serial");
    // With warm and with flushed caches.
    harness.get_all_by_label("Run of cpu/coo/serial on road").next().unwrap().click();
    harness.run();
    assert_eq!(harness.state().state().view, "runs");
    harness.get_by_label_contains("samples, ");
    harness.get_by_label("Matrix of the selected run").click();
    harness.run();
    assert_eq!(harness.state().state().view, "matrix");
    harness.get_by_label("Row lengths and formats of road");
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    harness.run();
    assert_eq!(harness.state().state().view, "runs");
    assert_eq!(harness.get_all_by_label("Run of cpu/coo/serial on road").count(), 2);
}

#[test]
fn the_back_button_goes_back_step_by_step_to_the_start() {
    let mut harness = with_example("v1");
    for view in ["Runs", "Matrix"] {
        harness.get_by_label(view).click();
        harness.run();
    }
    for view in ["runs", "chart"] {
        harness.get_by_label("Back").click();
        harness.run();
        assert_eq!(harness.state().state().view, view);
    }
    assert!(harness.state().history.is_empty());
    harness.get_by_label("Redo").click();
    harness.run();
    assert_eq!(harness.state().state().view, "runs");
}

#[test]
fn keys_go_back_and_redo() {
    let mut harness = with_example("v1;view=chart");
    harness.key_press(Key::Num3);
    harness.run();
    let redo = Modifiers::COMMAND | Modifiers::SHIFT;
    let keys = [
        (Modifiers::COMMAND, Key::Z, "chart"),
        (redo, Key::Z, "runs"),
        (Modifiers::ALT, Key::ArrowLeft, "chart"),
        (Modifiers::ALT, Key::ArrowRight, "runs"),
        (Modifiers::COMMAND, Key::Z, "chart"),
        (Modifiers::COMMAND, Key::Y, "runs"),
    ];
    for (modifiers, key, view) in keys {
        harness.key_press_modifiers(modifiers, key);
        harness.run();
        assert_eq!(harness.state().state().view, view, "{modifiers:?} {key:?}");
    }
}

#[test]
fn the_list_of_keys_opens_by_its_key_and_closes_by_escape() {
    let mut harness = with_example("v1");
    let open = Action { name: "Open…", hint: "Open files", key: Key::O };
    harness.state_mut().offer(&[open]);
    harness.key_press(Key::Questionmark);
    harness.run();
    for effect in ["Everywhere", "Present the view", "Select a run", "Move among the marks"] {
        harness.get_by_label(effect);
    }
    harness.key_press(Key::Escape);
    harness.run();
    assert!(harness.query_by_label("Present the view").is_none());
    harness.get_by_label("Keys").click();
    harness.run();
    harness.get_by_label("Present the view");
}

#[test]
fn arrows_select_runs_and_say_why_and_enter_opens_the_matrix() {
    let mut harness = with_example("v1;view=runs;search=road;kernel=cpu/coo/serial");
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert!(harness.state().state().run.is_some());
    harness.get_by_label_contains("cpu/coo/serial on road: Moves at least");
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().state().view, "matrix");
}

#[test]
fn a_point_of_the_chart_selects_its_run_until_that_is_closed() {
    let mut harness = with_example("v1;search=road;kernel=cpu/coo/serial");
    harness.get_by_label_contains("cpu/coo/serial on road:").click();
    harness.run();
    let selected = harness.state().state().run.unwrap();
    assert_eq!(harness.state().model().run(selected).unwrap().run.kernel, "cpu/coo/serial");
    harness.get_by_label("Close the run's details").click();
    harness.run();
    assert_eq!(harness.state().state().run, None);
    assert!(harness.query_by_label("Close the run's details").is_none());
}

#[test]
fn the_first_view_says_who_wins_and_a_click_tells_of_the_winner() {
    let mut app = App::new();
    app.open_bytes("example.zip", EXAMPLE);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    assert_eq!(harness.state().state().view, "best");
    harness.get_all_by_label_contains("Best on road: ").next().unwrap().click();
    harness.run();
    let model = harness.state().model();
    let selected = model.run(harness.state().state().run.unwrap()).unwrap();
    let all = model.runs(&harness.state().state().filter);
    let rivals = all.iter().filter(|run| run.name() == "road" && run.run.hot);
    let most = rivals.filter_map(RunOf::rate).fold(0.0, f64::max);
    assert_eq!((selected.name(), selected.rate()), ("road".to_owned(), Some(most)));
    harness.get_by_label("Close the run's details");
}

#[test]
fn subjects_that_are_no_matrices_stand_beside_them_and_are_shown() {
    let mut app = App::new();
    app.open_bytes("b.zip", include_bytes!("../../../../tests/golden/bundle-1.3.zip"));
    app.follow("v1;view=spy;operation=increment");
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness.get_by_label("Matrices and other inputs");
    harness.get_by_label("Matrix poisson2d?n=6");
    harness.get_by_label("Subject vector?n=1000").click();
    harness.run();
    assert_eq!(harness.state().state().view, "matrix");
    harness.get_by_label("time an element, ns (lower is better)");
}

#[test]
fn sorting_who_wins_leaves_the_table_of_runs_as_it_was() {
    let mut harness = with_example("v1;view=best;as=list");
    let before = (harness.state().state.sort.clone(), harness.state().state.descending);
    harness.get_by_label("Sort by Lead").click();
    harness.run();
    let state = harness.state().state();
    assert_eq!((state.best.by.as_str(), state.best.down), ("lead", true));
    assert_eq!((state.sort.clone(), state.descending), before);
}

#[test]
fn arrow_keys_move_through_the_list_of_winners_and_enter_selects() {
    let mut harness = with_example("v1;view=best;as=list");
    let name = |harness: &Harness<'_, App>, row: usize| {
        let lines = (VIEWS[0].table)(&harness.state().model, &harness.state().state);
        format!("Best on {}: {}", lines[row][0], lines[row][2])
    };
    // The list starts with the largest, the table with the smallest.
    let [second, third] = [3, 2].map(|row| name(&harness, row));
    harness.get_by_label(&second).focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert!(harness.get_by_label(&third).is_focused());
    harness.key_press(Key::ArrowUp);
    harness.run();
    assert!(harness.get_by_label(&second).is_focused());
    harness.key_press(Key::Enter);
    harness.run();
    let app = harness.state();
    let run = app.state.run.and_then(|number| app.model.run(number)).unwrap();
    assert_eq!(format!("Best on {}: {}", run.name(), run.run.kernel), second);
}

#[test]
fn a_link_says_what_it_could_not_restore_and_a_lessons_link_shows_its_board() {
    let mut harness = with_example("v1");
    let mut follow = |fragment: &str| {
        let app = harness.state_mut();
        app.notices.clear();
        app.follow(fragment);
        let said: String = app.notices.sentences().collect();
        let state = app.state().clone();
        harness.run();
        (said, state)
    };
    assert_eq!(follow("v1;view=runs").0, "");
    let (said, state) = follow("v2;view=runs");
    assert!(said.contains("`v2`") && state == ViewState::default(), "{said}");
    assert!(follow("v1;zoom=1e30").0.contains("`zoom=1e30`"));
    assert!(follow("v1;view=nowhere").0.contains("`nowhere`"));
    // As printed in `docs/lessons.md`.
    let (said, state) = follow("#v1;view=layouts;lesson=coalescing,1;told=true");
    assert_eq!(said, "");
    let lessons = sparsescope_figures::lesson::Lessons::default();
    let mut shown = ViewState::default();
    lessons.get("coalescing").unwrap().show(1, true, &mut shown);
    assert_eq!(state.layouts, shown.layouts);
    let (_, state) = follow("v1;view=layouts;lesson=coalescing,1;told=true;sigma=8");
    assert_eq!(state.layouts.sigma, 8, "the link's own settings override the step's");
    follow("v1;view=matrix;matrix=00ff00ff00ff00ff-real");
    harness.get_by_label("The matrix in this link is not open here: drop its file or its bundle.");
    harness.get_by_label("Show another matrix").click();
    harness.run();
    assert_eq!(harness.state().state().matrix, None);
}

#[test]
fn the_slash_goes_to_the_search_which_filters_and_digits_do_not_leave_the_view() {
    let mut harness = with_example("v1");
    harness.key_press(Key::Slash);
    harness.run();
    let search = harness.get_by_label("Search matrices");
    assert!(search.is_focused());
    search.type_text("grid-2");
    harness.run();
    harness.key_press(Key::Num2);
    harness.run();
    assert_eq!(harness.state().state().view, "chart");
    assert_eq!(harness.state().state().filter.search, "grid-2");
    harness.get_by_label("Matrix grid-27pt");
    assert!(harness.query_by_label("Matrix grid-5pt").is_none());
}

#[test]
fn themes_are_chosen_by_name_and_the_projector_is_larger() {
    let mut harness = with_example("v1");
    for (theme, factor) in [(Theme::Dark, 1.0), (Theme::Projector, 1.5), (Theme::Light, 1.0)] {
        let now = harness.state().state().theme;
        harness.get_by_label(&format!("Theme: {}", now.name())).click();
        harness.run();
        harness.get_by_label(theme.name()).click();
        harness.run();
        assert_eq!(harness.state().state().theme, theme);
        assert_eq!(harness.ctx.zoom_factor(), factor);
        assert_eq!(harness.ctx.global_style().visuals.dark_mode, theme == Theme::Dark);
    }
}

#[test]
fn a_file_that_is_no_bundle_is_one_sentence_and_breaks_nothing() {
    let mut harness = with_example("v1");
    harness.state_mut().open_bytes("notes.pdf", b"hello");
    harness.run();
    harness.get_by_label_contains(
        "Could not open notes.pdf: line 1: expected a matrix in one of these forms",
    );
    harness.get_by_label("Figure: Kernels by matrix");
    harness.get_by_label("Dismiss").click();
    harness.run();
    assert!(harness.query_by_label("Dismiss").is_none());
}

/// Chooses an item of the menu.
fn export(harness: &mut Harness<'static, App>, item: &str) {
    harness.get_by_label("Export").click();
    harness.run();
    harness.get_by_label(item).click();
    harness.run();
}

#[test]
fn exports_hold_what_is_drawn() {
    let mut harness = with_example("v1;search=road");
    for item in ["Save CSV", "Save SVG", "Save PNG", "Save PDF"] {
        export(&mut harness, item);
    }
    let exports = harness.state_mut().take_exports();
    assert_eq!(exports.len(), 4);
    assert!(exports[2].name.ends_with(".png") && exports[2].bytes.starts_with(b"\x89PNG"));
    assert!(exports[3].name.ends_with(".pdf") && exports[3].bytes.starts_with(b"%PDF-"));
    let csv = String::from_utf8(exports[0].bytes.clone()).unwrap();
    let points = harness.state().model().best(&harness.state().state().filter);
    assert_eq!(csv.lines().count(), 1 + points.len());
    let svg = String::from_utf8(exports[1].bytes.clone()).unwrap();
    assert!(svg.contains(">road</text>") && !svg.contains(">web</text>"));
    let hash = &harness.state().model().bundles()[0].sha256[..12];
    assert!(svg.contains(hash), "the figure names its bundle");
}

#[test]
fn a_figure_is_saved_at_a_width_and_a_table_is_copied() {
    let mut harness = with_example("v1;view=chart");
    harness.get_by_label("Export").click();
    harness.run();
    harness.get_by_label("85 mm").click();
    harness.run();
    harness.get_by_label("Save SVG").click(); // the menu is still open
    harness.run();
    let exports = harness.state_mut().take_exports();
    let svg = String::from_utf8_lossy(&exports[0].bytes);
    assert!(svg.contains(" width=\"85.00mm\""), "{}", &svg[..200]);
    export(&mut harness, "Copy Markdown");
    harness.get_by_label("Copied the table as Markdown.");
}

#[test]
fn actions_are_asked_for_by_button_and_by_key_but_not_while_typing() {
    let mut harness = with_example("v1");
    let open = Action { name: "Open…", hint: "Open files", key: Key::O };
    let run = Action { name: "Run…", hint: "Measure", key: Key::R };
    harness.state_mut().offer(&[open, run]);
    harness.run();
    harness.get_by_label("Open…").click();
    harness.run();
    harness.key_press(Key::R);
    harness.run();
    assert_eq!(harness.state_mut().take_asked(), [open, run]);
    harness.key_press(Key::Slash);
    harness.run();
    harness.key_press(Key::R);
    harness.run();
    assert_eq!(harness.state_mut().take_asked(), []);
}

#[test]
fn without_bundles_the_window_says_what_to_do() {
    let mut harness = Harness::builder()
        .with_size(vec2(800.0, 600.0))
        .build_ui_state(|ui, app: &mut App| app.ui(ui), App::new());
    harness.run();
    harness.get_by_label("Nothing is open");
}

#[test]
fn a_bundle_is_renamed_in_the_side_panel_and_in_what_is_saved() {
    let mut harness = with_example("v1");
    let label = harness.state().model().bundles()[0].label().to_owned();
    let rename = |harness: &mut Harness<'static, App>, from: &str, typed: &str, end: Key| {
        harness.get_by_label(&format!("Rename {from}")).click();
        harness.run();
        harness.run();
        let field = format!("Name of {from}");
        harness.get_by_label(&field).type_text(typed);
        harness.run();
        harness.key_press(end);
        harness.run();
        harness.run();
    };
    rename(&mut harness, &label, " on a laptop", Key::Enter);
    let renamed = harness.state().model().bundles()[0].label().to_owned();
    assert!(renamed.contains("on a laptop") && renamed.contains(&label), "{renamed}");
    // The label of a point in the chart drawn before ends with the bundle's name.
    harness.get_all_by_label_contains(&format!("({renamed}).")).next().unwrap();
    rename(&mut harness, &renamed, "never", Key::Escape);
    assert_eq!(harness.state().model().bundles()[0].label(), renamed);
    export(&mut harness, "Save SVG");
    let exports = harness.state_mut().take_exports();
    let svg = String::from_utf8_lossy(&exports[0].bytes);
    assert!(svg.contains(&format!("{renamed}: ")), "the name in the provenance");
}
