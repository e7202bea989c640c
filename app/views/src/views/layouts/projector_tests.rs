//! Legibility from the last row: 1024 × 768 pixels of a projector; and on a phone.

use egui::{Rect, Shape, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sparsescope_figures::lesson::Lessons;
use sparsescope_figures::state::{Theme, ViewState};
use sparsescope_figures::views::layouts::walk::kernels;

use crate::shell::App;

const SIZE: egui::Vec2 = vec2(1024.0, 768.0);

fn show(harness: &mut Harness<'static, App>, state: ViewState) {
    harness.state_mut().set_state(state);
    harness.run();
}

fn shown(state: ViewState) -> Harness<'static, App> {
    let app = App::at(state);
    let mut harness = Harness::builder()
        .with_size(SIZE)
        .with_max_steps(8)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

/// The texts of a shape with their font sizes, in points.
fn texts(shape: &Shape, all: &mut Vec<(f32, String)>) {
    match shape {
        Shape::Text(text) => {
            let sections = text.galley.job.sections.iter();
            let sizes = sections.map(|section| section.format.font_id.size);
            all.extend(sizes.map(|size| (size, text.galley.text().to_owned())));
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, all)),
        _ => {}
    }
}

/// The smallest font size in pixels with its text, and whether all of the board is in the window.
fn seen(harness: &Harness<'_, App>) -> (f32, String, bool) {
    let zoom = harness.ctx.zoom_factor();
    let mut all = Vec::new();
    for clipped in &harness.output().shapes {
        texts(&clipped.shape, &mut all);
    }
    let smallest = all.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let parts = [
        "Memory layouts of ",
        "Levels of ",
        "Points of ",
        "Widths of the levels of ",
        "Patterns of ",
        "Dense system of ",
        "Scatter of ",
        "Pairs of dimensions of ",
    ];
    let boards: Vec<Rect> = parts
        .iter()
        .flat_map(|part| harness.query_all_by_label_contains(part))
        .map(|of| of.rect())
        .collect();
    assert!(!boards.is_empty());
    // Inside the margins of the harness and of the view, which clip anything larger.
    let mut inside = Rect::from_min_size(egui::Pos2::ZERO, SIZE / zoom).shrink(16.0);
    if let Some(controls) = harness.query_by_label("Lessons") {
        inside.max.y = controls.rect().min.y - 6.0;
    }
    (smallest.0 * zoom, smallest.1, boards.iter().all(|board| inside.contains_rect(*board)))
}

#[test]
fn a_followed_kernel_is_seen_whole_and_no_type_is_smaller_than_14_pixels() {
    let (mut cut, mut harness) = (Vec::new(), shown(ViewState::default()));
    for kernel in kernels() {
        for state in
            ["v1;view=layouts", "v1;view=layouts;small=8x0,1/1/0,2,5/3/2,4/1,3,4,5,6,7/6/0,7"]
        {
            let link = format!("{state};theme=projector;walk={};step=1", kernel.id);
            show(&mut harness, ViewState::from_fragment(&link).unwrap());
            let (size, text, whole) = seen(&harness);
            assert!(size > 13.99, "{link}: {text} in {size} pixels");
            cut.extend((!whole).then(|| link.clone()));
            harness.get_by_label_contains("Kernel: step 2 of ");
        }
    }
    assert_eq!(cut, Vec::<String>::new());
}

#[test]
fn every_step_of_the_lessons_is_seen_whole_and_no_type_is_smaller_than_14_pixels() {
    let (mut cut, mut harness) = (Vec::new(), shown(ViewState::default()));
    for lesson in Lessons::default().iter() {
        for (page, step) in (0..).zip(&lesson.steps) {
            for told in [false, true].into_iter().filter(|told| !told || step.hides()) {
                let mut state = ViewState { theme: Theme::Projector, ..ViewState::default() };
                lesson.show(page, told, &mut state);
                let link = state.to_fragment();
                // With two kernels side by side, the lower ends may need scrolling.
                let two = !state.layouts.beside.is_empty();
                show(&mut harness, state);
                let (size, text, whole) = seen(&harness);
                assert!(size > 13.99, "{link}: {text} in {size} pixels");
                cut.extend((!whole && !two).then_some(link));
            }
        }
    }
    assert_eq!(cut, Vec::<String>::new());
}

#[test]
fn on_a_phone_no_letter_of_a_board_is_smaller_than_12_points_and_the_controls_are_one_line() {
    let mut harness = shown(ViewState::default());
    harness.set_size(vec2(390.0, 844.0));
    for lesson in Lessons::default().iter() {
        for (page, step) in (0..).zip(&lesson.steps) {
            if step.show.view != sparsescope_figures::views::layouts::VIEW.id {
                continue;
            }
            let mut state = ViewState::default();
            lesson.show(page, true, &mut state);
            let link = state.to_fragment();
            show(&mut harness, state);
            let (size, text, _) = seen(&harness);
            assert!(size > 11.99, "{link}: {text} in {size} points");
            let next = harness.get_by_label("Lesson: next step").rect().center();
            assert!(next.y > 400.0, "{link}: the text has the upper half");
            if let Some(step) = harness.query_by_label("Next step") {
                assert!((step.rect().center().y - next.y).abs() < 2.0, "{link}");
            }
        }
    }
}

#[test]
fn the_controls_are_one_line_until_the_settings_are_asked_for() {
    let link = "v1;view=layouts;theme=projector;walk=cuda/csr/thread-per-row";
    let mut harness = shown(ViewState::from_fragment(link).unwrap());
    assert!(harness.query_by_label("Search matrices").is_none());
    assert!(harness.query_by_label("Sorting window").is_none());
    let line = |name: &str| harness.get_by_label(name).rect().center().y;
    assert!((line("Lessons") - line("Next step")).abs() < 2.0);
    harness.get_by_label("Next step").click();
    harness.run();
    harness.get_by_label("Kernel: step 2 of 4");
    harness.get_by_label("Settings").click();
    harness.run();
    harness.get_by_label("More").click();
    harness.run();
    harness.get_by_label("Sorting window");
}
