//! Views side by side: the state in a link, the effects of keys, buttons and drags, and undoing them with
//! Back.

use egui::{Key, Modifiers, Rect, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sparsescope_figures::views::VIEWS;

use super::nameless::nameless;
use super::tests::{EXAMPLE, with_example, with_example_at};
use super::*;

const CHART: &str = "Figure: Kernels by matrix";

fn arrangement(harness: &Harness<'_, App>) -> String {
    harness.state().state().arrangement.text()
}

fn sentence(view: &str) -> &'static str {
    VIEWS.iter().find(|known| known.id == view).unwrap().sentence
}

fn button(harness: &Harness<'_, App>, pos: egui::Pos2, pressed: bool) {
    let button = egui::PointerButton::Primary;
    let modifiers = Modifiers::NONE;
    harness.event(egui::Event::PointerButton { pos, button, pressed, modifiers });
}

/// Moves the pointer with its button down, in steps like a hand.
fn drag(harness: &mut Harness<'_, App>, from: egui::Pos2, to: egui::Pos2) {
    button(harness, from, true);
    harness.run_steps(2);
    for step in 1..=8 {
        harness.hover_at(from + (to - from) * (step as f32 / 8.0));
        harness.run_steps(1);
    }
    button(harness, to, false);
    harness.run();
}

#[test]
fn a_link_puts_views_beside_one_another_and_only_those_are_drawn() {
    let harness = with_example("v1;view=runs;layout=h(chart,v(runs,matrix))");
    harness.get_by_label(CHART);
    harness.get_by_label("Sort by Kernel");
    for view in ["chart", "runs", "matrix"] {
        harness.get_by_label(sentence(view));
    }
    let harness = with_example("v1;view=matrix;layout=h(t2(chart,runs),matrix)");
    assert!(harness.query_by_label(CHART).is_none(), "behind the runs");
    harness.get_by_label("Sort by Kernel");
    harness.get_by_label(sentence("matrix"));
}

#[test]
fn what_is_no_arrangement_falls_back_to_all_tabs() {
    for text in ["layout=h(chart,nonsense)", "layout=h(chart", "layout=h(chart,chart)"] {
        let harness = with_example(&format!("v1;view=runs;{text}"));
        assert_eq!(arrangement(&harness), "", "{text}");
        for view in VIEWS {
            harness.get_by_label(view.name);
        }
        harness.get_by_label(sentence("runs"));
    }
}

#[test]
fn a_view_that_an_arrangement_lacks_comes_by_its_key_or_from_the_menu() {
    let mut harness = with_example("v1;layout=h(chart,runs)");
    assert!(harness.query_by_label("Matrix").is_none());
    harness.key_press(Key::Num4);
    harness.run();
    assert_eq!(arrangement(&harness), "h(t(chart,matrix),runs)");
    harness.get_by_label(sentence("matrix"));

    let mut harness = with_example("v1;layout=h(chart,runs)");
    harness.get_by_label("Views").click();
    harness.run();
    harness.get_by_label("Show Matrix").click();
    harness.run();
    assert_eq!(harness.state().state().view, "matrix");
    harness.get_by_label(sentence("matrix"));
}

#[test]
fn buttons_split_and_join_and_back_undoes_each() {
    let mut harness = with_example("v1");
    harness.get_by_label("Move Charts to the right").click();
    harness.run();
    let first = arrangement(&harness);
    assert!(first.starts_with("h(") && first.ends_with(",chart)"), "{first}");
    harness.get_by_label(CHART);
    harness.get_by_label(sentence("runs"));
    assert_eq!(harness.state().state().view, "chart", "the keyboard stays with it");

    harness.get_by_label("Move Runs below").click();
    harness.run();
    let second = arrangement(&harness);
    assert!(second.contains("v(") && second.contains("runs)"), "{second}");
    harness.get_by_label("Join Runs with the other views").click();
    harness.run();
    assert!(!arrangement(&harness).contains("v("), "{}", arrangement(&harness));

    for expected in [second.as_str(), first.as_str(), ""] {
        harness.get_by_label("Back").click();
        harness.run();
        assert_eq!(arrangement(&harness), expected);
    }
    assert!(harness.state().history.is_empty());
}

#[test]
fn the_menu_splits_and_starts_over() {
    let mut harness = with_example("v1;view=runs");
    for (button, expected) in [("Split down", true), ("Reset layout", false)] {
        harness.get_by_label("Views").click();
        harness.run();
        harness.get_by_label(button).click();
        harness.run();
        assert_eq!(arrangement(&harness).starts_with("v("), expected, "{}", arrangement(&harness));
    }
    assert_eq!(arrangement(&harness), "");
    assert_eq!(harness.state().state().view, "runs");
}

#[test]
fn a_border_is_dragged_in_one_step() {
    let mut harness = with_example("v1;layout=h(chart,runs)");
    let border = harness.get_by_label(sentence("runs")).rect().left() - 10.0;
    drag(&mut harness, pos2(border, 500.0), pos2(border + 120.0, 500.0));
    let moved = arrangement(&harness);
    assert!(moved.starts_with("h(6"), "{moved}");
    let now = harness.get_by_label(sentence("runs")).rect().left() - 10.0;
    assert!((now - border - 120.0).abs() < 12.0, "{border} {now}");
    harness.get_by_label("Back").click();
    harness.run();
    assert_eq!(arrangement(&harness), "h(chart,runs)");
    assert!(harness.state().history.is_empty());
}

#[test]
fn a_border_moves_by_arrow_keys_and_a_double_click_makes_halves() {
    let mut harness = with_example_at("v1;layout=v(30:chart,70:runs)", 0.02);
    let border = "Border between Charts and Runs";
    harness.get_by_label(border).focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    let moved = arrangement(&harness);
    assert!(moved.starts_with("v(3") && moved != "v(30:chart,70:runs)", "{moved}");
    let at = harness.get_by_label(border).rect().center();
    for pressed in [true, false, true, false] {
        button(&harness, at, pressed);
        harness.run_steps(1);
    }
    harness.run();
    assert_eq!(arrangement(&harness), "v(chart,runs)");
}

#[test]
fn a_tab_is_dragged_to_the_right_half_in_one_step() {
    let mut harness = with_example("v1");
    let tab = harness.get_by_label("Runs").rect().center();
    drag(&mut harness, tab, pos2(1200.0, 450.0));
    let moved = arrangement(&harness);
    assert!(moved.starts_with("h(") && moved.ends_with(",runs)"), "{moved}");
    assert_eq!(harness.state().state().view, "runs");
    harness.get_by_label("Sort by Kernel");
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run();
    assert_eq!(arrangement(&harness), "");
    assert!(harness.state().history.is_empty());
}

#[test]
fn the_pane_that_was_clicked_has_the_keyboard_and_that_is_no_step_back() {
    let mut harness = with_example("v1;view=chart;layout=h(chart,runs)");
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert_eq!(harness.state().state().run, None, "the chart has the keyboard");
    harness.get_by_label(sentence("runs")).click();
    harness.run();
    assert_eq!(harness.state().state().view, "runs");
    assert!(harness.state().history.is_empty());
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert!(harness.state().state().run.is_some());
}

#[test]
fn exports_say_whose_they_are_when_several_views_are_shown() {
    let mut harness = with_example("v1;layout=h(chart,runs)");
    harness.get_by_label("Export of Runs").click();
    harness.run();
    harness.get_by_label("Save CSV").click();
    harness.run();
    let exports = harness.state_mut().take_exports();
    assert_eq!(exports[0].name, "sparsescope-runs.csv");
}

/// Every named widget of the centre stays within the window and its own pane.
#[test]
fn beside_one_another_nothing_overlaps_at_the_usual_size() {
    for text in ["h(chart,runs,matrix)", "h(chart,v(runs,matrix))", "v(chart,runs)"] {
        let harness = with_example(&format!("v1;layout={text}"));
        let buttons = harness.get_all_by_role(egui::accesskit::Role::Button);
        let named = |name: &str| name.starts_with("Export of ") || name.starts_with("Move ");
        let rects: Vec<(String, Rect)> = buttons
            .map(|node| (node.accesskit_node().label().unwrap_or_default(), node.rect()))
            .filter(|(name, _)| named(name))
            .collect();
        assert!(rects.len() >= 2, "{rects:?}");
        for (index, (name, rect)) in rects.iter().enumerate() {
            assert!(rect.right() <= 1280.0 && rect.bottom() <= 800.0, "{text}: {name} {rect}");
            for (other, place) in &rects[..index] {
                let overlap = rect.shrink(1.0).intersects(*place);
                assert!(!overlap, "{text}: {name} {rect} over {other} {place}");
            }
        }
    }
}

#[test]
fn a_phone_has_no_room_for_views_side_by_side() {
    for (width, offers) in [(1280.0, true), (390.0, false)] {
        let mut app = App::new();
        app.open_bytes("example.zip", EXAMPLE);
        app.follow("v1;view=runs");
        let mut harness = Harness::builder()
            .with_size([width, 844.0])
            .with_max_steps(100)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        harness.run();
        assert_eq!(harness.query_by_label("Move Runs below").is_some(), offers, "{width}");
    }
}

#[test]
fn every_widget_has_a_name() {
    let harness = with_example("v1;view=runs;layout=h(t2(chart,runs),matrix)");
    assert_eq!(nameless(harness.root()), Vec::<String>::new());
}

#[test]
fn every_widget_of_every_view_has_a_name_also_on_a_phone() {
    for size in [[1280.0, 800.0], [390.0, 844.0]] {
        let mut app = App::new();
        app.open_bytes("example.zip", EXAMPLE);
        app.open_bytes("predicted.zip", include_bytes!("../../../../tests/golden/bundle-1.2.zip"));
        let mut harness = Harness::builder()
            .with_size(size)
            .with_step_dt(0.25)
            .with_max_steps(1000)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        let views = VIEWS.iter().map(|view| format!("v1;view={}", view.id));
        let others = ["v1;view=best;as=list", "v1;view=best;as=bars", "v1;view=runs;run=3"];
        for link in views.chain(others.map(String::from)) {
            harness.state_mut().set_state(ViewState::from_fragment(&link).unwrap());
            harness.run();
            assert_eq!(nameless(harness.root()), Vec::<String>::new(), "{link} {size:?}");
            if let Some(more) = harness.query_all_by_label("More").next() {
                more.click();
            }
            harness.run();
            assert_eq!(nameless(harness.root()), Vec::<String>::new(), "More of {link} {size:?}");
        }
    }
}

#[test]
fn the_active_tab_and_the_layouts_are_seen_on_a_small_screen() {
    let mut app = App::new();
    app.open_bytes("example.zip", EXAMPLE);
    let mut harness = Harness::builder()
        .with_size(egui::vec2(1024.0, 768.0))
        .with_step_dt(0.25)
        .with_max_steps(100)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    for view in VIEWS {
        let state = ViewState { view: view.id.into(), ..ViewState::default() };
        harness.state_mut().set_state(state);
        harness.run();
        let corner = harness.get_by_label(&format!("Move {} below", view.name)).rect();
        for name in [view.name, "Layouts"] {
            let tab = harness.get_by_label(name).rect();
            assert!(tab.left() >= 250.0, "{name} of {}: {tab}", view.id);
            assert!(tab.right() <= corner.left(), "{name} of {}: {tab} {corner}", view.id);
        }
    }
}

#[test]
fn the_last_tab_stays_in_view_where_the_tabs_almost_fit() {
    for width in [650.0, 660.0, 670.0, 680.0] {
        let mut app = App::new();
        app.open_bytes("example.zip", EXAMPLE);
        let mut harness = Harness::builder()
            .with_size(egui::vec2(width, 768.0))
            .with_step_dt(0.1)
            .with_max_steps(100)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        for id in ["levels", "preconditioner", "skyline"] {
            let state = ViewState { view: id.into(), ..ViewState::default() };
            harness.state_mut().set_state(state);
            harness.run();
        }
        harness.run_steps(20);
        let corner = harness.get_by_label("Move Skyline below").rect();
        let tab = harness.get_by_label("Skyline").rect();
        assert!(tab.left() >= 0.0 && tab.right() <= corner.left(), "{width}: {tab} {corner}");
    }
}
