//! What surrounds the views: the side panel, presentations, messages, the start page.

use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::record::Operation;
use sparsescope_figures::landing::Landing;
use sparsescope_figures::model::{matrix_key, subject_name};

use super::tests::{EXAMPLE, with_example, with_example_at};
use super::*;

const LANDING: &str = include_str!("../../../example/landing.json");

/// The start page over the example.
fn at_home() -> Harness<'static, App> {
    let mut harness = with_example("v1;theme=dark");
    harness.state_mut().set_landing(Landing::from_json(LANDING).unwrap(), &[]);
    harness.state_mut().toggle_home();
    harness.run();
    harness
}

#[test]
fn the_start_page_gives_what_was_chosen_and_its_link_keeps_the_theme() {
    let words = Landing::from_json(LANDING).unwrap();
    let lesson = sparsescope_figures::lesson::Lessons::default().iter().nth(1).unwrap().clone();
    let mut choices: Vec<(String, String)> = words
        .cards
        .iter()
        .map(|card| (format!("{}: {}", card.title, card.opens.action), card.opens.link.clone()))
        .chain(words.more.iter().map(|door| (door.action.clone(), door.link.clone())))
        .collect();
    choices.push((lesson.title.clone(), format!("v1;lesson={},0", lesson.id)));
    for (label, link) in &choices {
        let mut harness = at_home();
        assert!(harness.query_by_label("Filters").is_none());
        harness.get_by_label(label).click();
        harness.run();
        let chosen = harness.state_mut().take_chosen().unwrap();
        assert_eq!(&chosen.link, link);
        assert_eq!(harness.state_mut().take_chosen().map(|door| door.link), None);
        harness.state_mut().leave_home(link);
        harness.run();
        assert!(harness.query_by_label(&words.headline).is_none());
        assert_eq!(harness.state().notices.sentences().count(), 0, "{link} is understood");
        assert_eq!(harness.state().state().theme, Theme::Dark);
        let shown = ViewState::from_fragment(link).unwrap();
        assert_eq!(harness.state().state().layouts.lesson, shown.layouts.lesson);
    }
}

#[test]
fn the_cards_are_equally_high_and_end_below_their_last_line() {
    let harness = at_home();
    let mut bottoms = Vec::new();
    for card in Landing::from_json(LANDING).unwrap().cards {
        let action = &card.opens.action;
        let button = harness.get_by_label(&format!("{}: {action}", card.title)).rect();
        let below = button.bottom() - harness.get_by_label(action).rect().bottom();
        assert!((12.0..24.0).contains(&below), "{below} points below {action}");
        bottoms.push(button.bottom());
    }
    assert!(bottoms.windows(2).all(|two| (two[0] - two[1]).abs() < 1.0), "{bottoms:?}");
}

#[test]
fn a_link_of_the_start_page_stays_in_one_line() {
    let harness = at_home();
    for lesson in sparsescope_figures::lesson::Lessons::default().iter() {
        let height = harness.get_by_label(&lesson.title).rect().height();
        assert!(height < 24.0, "{}: {height}", lesson.title);
    }
}

#[test]
fn the_machine_of_a_bundle_is_below_its_file_name() {
    let harness = with_example("v1");
    let open = &harness.state().model().bundles()[0];
    assert!(open.machine.ends_with(" matrices"), "{}", open.machine);
    let name = harness.get_by_label(&format!("Rename {}", open.label())).rect();
    let machine = harness.get_by_label(&open.machine).rect();
    assert!(machine.top() >= name.bottom() - 1.0, "{name} {machine}");
    assert!((machine.left() - name.left()).abs() < 12.0, "{name} {machine}");
}

#[test]
fn the_start_page_goes_when_anything_else_is_shown() {
    let headline = Landing::from_json(LANDING).unwrap().headline;
    for leave in 0..3 {
        let mut harness = at_home();
        harness.get_by_label(&headline);
        match leave {
            0 => harness.key_press(Key::Num3),
            1 => harness.state_mut().open_bytes("notes.pdf", b"hello"),
            _ => harness.state_mut().toggle_home(),
        }
        harness.run();
        assert!(harness.query_by_label(&headline).is_none(), "{leave}");
    }
}

#[test]
fn the_title_and_a_key_ask_for_the_start_page_where_there_is_one() {
    let mut harness = with_example("v1");
    harness.key_press(Key::H);
    harness.run();
    assert_eq!(harness.state_mut().take_asked(), []);
    harness.state_mut().offer(&[HOME]);
    harness.run();
    harness.get_by_label("Sparsescope").click();
    harness.run();
    harness.key_press(Key::H);
    harness.run();
    assert_eq!(harness.state_mut().take_asked(), [HOME, HOME]);
}

#[test]
fn an_example_replaces_the_one_before_and_leaves_other_bundles_open() {
    let mut app = App::new();
    let nameless = |bytes: &[u8]| {
        let mut bundle = Bundle::read(bytes, &Limits::default()).unwrap();
        bundle.label = None;
        bundle.to_bytes().unwrap()
    };
    let first = nameless(include_bytes!("../../../../tests/golden/bundle-1.2.zip"));
    app.open_bytes("mine.zip", include_bytes!("../../../../tests/golden/bundle-1.4.zip"));
    app.open_example(None, |app| app.open_bytes("cpu.zip", first));
    let of_example = |app: &App| app.model().bundles().last().unwrap().label().to_owned();
    assert!(of_example(&app).contains("matri"), "{}", of_example(&app));
    let key = app.model().bundles().last().unwrap().bundle.matrices.first().unwrap();
    app.state.matrix = Some(matrix_key(&key.record));
    let run = app.model().runs(&Filter::everything()).last().unwrap().index;
    app.state.run = Some(run);
    app.open_example(Some(Operation::Spmv), |app| app.open_bytes("gpu.zip", EXAMPLE));
    let files: Vec<&str> = app.model().bundles().iter().map(|open| open.file.as_str()).collect();
    assert_eq!(files, ["mine.zip", "gpu.zip"]);
    assert_eq!((app.state().matrix.clone(), app.state().run), (None, None));
    // Twice the same one.
    app.open_example(None, |app| app.open_bytes("gpu.zip", EXAMPLE));
    assert_eq!(app.model().bundles().len(), 2);
}

#[test]
fn the_button_of_an_example_is_dim_while_only_that_is_open() {
    let mut harness = with_example("v1");
    harness.state_mut().offer(&[GPU_EXAMPLE]);
    harness.run();
    let is_dim = |harness: &Harness<'static, App>| {
        harness.get_by_label(GPU_EXAMPLE.name).accesskit_node().is_disabled()
    };
    assert!(!is_dim(&harness));
    let other = include_bytes!("../../../../tests/golden/bundle-1.2.zip");
    harness.state_mut().open_example(None, |app| app.open_bytes("gpu.zip", other));
    harness.run();
    assert!(!is_dim(&harness), "beside another bundle");
    harness.state_mut().model.close(0);
    harness.run();
    assert!(is_dim(&harness));
}

#[test]
fn everything_in_a_bar_is_centred_alike() {
    for state in ["v1;view=runs", "v1;view=runs;theme=projector"] {
        let harness = with_example(state);
        let middle = |name: &str| {
            harness.get_all_by_label(name).next().unwrap().rect().center().y // the bar comes first
        };
        for [name, other] in [["Sparsescope", "Matrices"], ["Group by matrix", "Export"]] {
            assert!((middle(name) - middle(other)).abs() < 1.1, "{state}: {name}, {other}");
        }
    }
}

#[test]
fn the_list_of_keys_fits_a_low_window_and_has_a_button_that_closes_it() {
    let mut harness = with_example("v1");
    harness.set_size(egui::vec2(1280.0, 300.0));
    harness.key_press(Key::Questionmark);
    harness.run();
    harness.run();
    let close = harness.get_by_label("Close the keys").rect();
    assert!(close.top() >= 0.0 && close.bottom() < 150.0, "{close:?}");
    harness.get_by_label("Close the keys").click();
    harness.run();
    assert!(harness.query_by_label("Present the view").is_none());
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
fn lines_of_the_list_are_tall_enough_for_a_finger_on_a_phone() {
    let mut app = App::new();
    app.open_bytes("example.zip", include_bytes!("../../../example/cpu.zip"));
    app.bar.shows_side = Some(true);
    let mut harness = Harness::builder()
        .with_size(egui::vec2(390.0, 844.0))
        .with_max_steps(20)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    let mut below = f32::NEG_INFINITY;
    for line in harness.get_all_by_label_contains("Matrix ") {
        let rect = line.rect();
        assert!(rect.height() >= 44.0 && rect.top() >= below - 0.01, "{rect:?}");
        below = rect.bottom();
    }
    assert!(below > 0.0);
}

#[test]
fn the_list_explains_stand_ins_to_a_screen_reader_once() {
    let mut app = App::new();
    app.open_bytes("gpu.zip", include_bytes!("../../../example/gpu.zip"));
    let mut harness = Harness::builder()
        .with_size(egui::vec2(1280.0, 800.0))
        .with_max_steps(200)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    let lines = harness.get_all_by_label_contains("(stand-in)").filter(|line| {
        line.accesskit_node().label().is_some_and(|name| name.starts_with("Matrix "))
    });
    let explained: Vec<bool> =
        lines.map(|line| line.accesskit_node().description().is_some()).collect();
    assert!(explained.len() > 5, "{explained:?}");
    assert_eq!(explained.iter().filter(|is_it| **is_it).count(), 1, "{explained:?}");
}

#[test]
fn the_list_begins_with_the_largest_and_shows_the_whole_line_of_what_is_selected() {
    let mut harness = with_example("v1");
    let matrices: Vec<(String, String)> = {
        let model = harness.state().model();
        let all = model.matrices(&harness.state().state().filter).into_iter();
        all.map(|of| (of.key.to_owned(), format!("Matrix {}", subject_name(of.record.into()))))
            .collect()
    };
    let top = |harness: &Harness<'static, App>, label: &str| {
        harness.query_by_label(label).map(|line| line.rect().top())
    };
    let shown: Vec<f32> =
        matrices.iter().rev().filter_map(|(_, label)| top(&harness, label)).collect();
    assert!(shown.len() > 5 && shown.is_sorted(), "{shown:?}");
    let search = harness.get_by_label("Search matrices").rect();
    for height in [800.0, 400.0] {
        harness.set_size(egui::vec2(1280.0, height));
        harness.run();
        for (key, label) in &matrices {
            let matrix = Some(key.clone());
            let state = ViewState { matrix, ..harness.state().state().clone() };
            harness.state_mut().set_state(state);
            harness.run();
            let line = harness.get_by_label(label).rect();
            assert!(line.top() >= search.bottom() && line.bottom() <= height, "{label}: {line:?}");
        }
    }
}

#[test]
fn a_presentation_leaves_the_view_and_a_line_of_its_settings() {
    let mut harness = with_example("v1;view=chart");
    harness.key_press(Key::P);
    harness.run();
    assert!(harness.state().state().present);
    harness.get_by_label("Figure: Kernels by matrix");
    harness.get_by_label("Chart: Kernels by matrix");
    for gone in ["Filters", "Export", "Views", "Back", "Theme: Light"] {
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
    harness.get_by_label("Show only cpu/hll/guided; Shift-click adds it").click();
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
    app.open_bytes("example.zip", include_bytes!("../../../example/cpu.zip"));
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
    let earlier = harness.state().model().run(last - 1).unwrap().run.clone();
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
    let again = selected(harness.state()).map(|(_, run)| run);
    assert_eq!(again, Some(earlier), "whatever its number is now");
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

#[test]
fn filters_that_are_set_are_shown_and_removed_one_by_one() {
    let mut harness = with_example("v1;view=runs;search=road;kernel=cpu/coo/serial;backend=cpu");
    harness.get_by_label("Remove the filter Kernel: cpu/coo/serial").click();
    harness.run();
    let filter = harness.state().state().filter.clone();
    assert_eq!((filter.kernel.as_str(), filter.backend.as_str()), ("", "cpu"));
    harness.get_by_label("Clear").click();
    harness.run();
    let filter = &harness.state().state().filter;
    assert_eq!((filter.backend.as_str(), filter.search.as_str()), ("", "road"));
    assert!(harness.query_by_label("Clear").is_none());
}

#[test]
fn filters_whose_names_do_not_say_it_are_defined() {
    let mut harness = with_example("v1;view=runs");
    harness.get_by_label("Filters").click();
    harness.run();
    for (name, definition) in
        [("Row variation", "Standard deviation of the row"), ("Bandwidth", "Largest distance of a")]
    {
        harness.get_by_label(name).hover();
        harness.run_steps(8);
        harness.get_by_label_contains(definition);
    }
}

#[test]
fn the_number_of_columns_is_a_choice_where_runs_have_several() {
    let mut harness = with_example("v1;view=runs");
    assert!(harness.query_all_by_label_contains("Filter by Columns of X").next().is_none());
    let mut bundle = Bundle::read(EXAMPLE, &Limits::default()).unwrap();
    for (place, run) in bundle.runs.iter_mut().enumerate() {
        let k = if place == 0 { "1" } else { "32" };
        run.params.insert("vectors".into(), k.into());
    }
    harness.state_mut().show_unfinished("products.zip", bundle);
    harness.run();
    harness.get_by_label("Filter by Columns of X: all (comparing k = 32)");
    harness.state_mut().state.filter.vectors = Some(1);
    harness.run();
    harness.get_by_label("Filter by Columns of X: 1");
}

#[test]
fn a_chosen_number_of_columns_that_no_run_has_can_be_changed() {
    let mut harness = with_example("v1;view=runs;vectors=7");
    harness.get_by_label("Filter by Columns of X: 7");
    harness.state_mut().state.filter.vectors = None;
    harness.run();
    assert!(harness.query_all_by_label_contains("Filter by Columns of X").next().is_none());
}
