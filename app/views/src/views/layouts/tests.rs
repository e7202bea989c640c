//! Lessons in the view, by their accessible names.

use std::sync::Arc;

use egui::{Key, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use sparsescope_figures::lesson::{Lesson, Lessons};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::layouts::numbers::Texts;

use crate::shell::App;
use crate::shell::nameless::nameless;

fn shown(state: &str, size: (f32, f32)) -> Harness<'static, App> {
    let app = App::at(ViewState::from_fragment(state).unwrap());
    let mut harness = Harness::builder()
        .with_size(vec2(size.0, size.1))
        .with_max_steps(8)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    harness.run();
    harness
}

fn built_in() -> Vec<Arc<Lesson>> {
    Lessons::default().iter().cloned().collect()
}

/// Every step of every lesson, with and without its answer, as the state of a link.
fn every_frame() -> Vec<(Arc<Lesson>, u32, bool, ViewState)> {
    let mut frames = Vec::new();
    for lesson in built_in() {
        for (page, step) in (0..).zip(&lesson.steps) {
            for told in [false, true].into_iter().filter(|told| !told || step.hides()) {
                let mut state = ViewState::default();
                lesson.show(page, told, &mut state);
                frames.push((lesson.clone(), page, told, state));
            }
        }
    }
    frames
}

#[test]
fn a_link_restores_every_step_and_whether_its_answer_is_told() {
    // The window stays, with the letters that it has drawn.
    let mut harness = shown("v1", (1280.0, 800.0));
    for (lesson, page, told, state) in every_frame() {
        let text = state.to_fragment();
        assert_eq!(ViewState::from_fragment(&text).as_ref(), Some(&state), "{text}");
        *harness.state_mut() = App::at(state);
        harness.run();
        let step = &lesson.steps[page as usize];
        harness.get_by_label(&step.title);
        assert_eq!(harness.query_by_label("Reveal").is_some(), step.hides() && !told);
        assert_eq!(nameless(harness.root()), Vec::<String>::new(), "{text}");
        // The texts have placeholders for the numbers of another view.
        if step.show.view != sparsescope_figures::views::layouts::VIEW.id {
            assert!(harness.query_all_by_label_contains("{").next().is_none(), "{text}");
            continue;
        }
        let texts = Texts::counted(step, None).unwrap();
        for text in &texts.text {
            harness.get_by_label(text);
        }
        for answer in &texts.answer {
            assert_eq!(harness.query_by_label(answer).is_some(), told, "{text}: {answer}");
        }
        // The board was drawn, not an error sentence.
        harness.get_by_label_contains("Memory layouts of ");
    }
}

#[test]
fn keys_lead_through_every_step_and_back() {
    for lesson in built_in() {
        let mut state = ViewState::default();
        lesson.show(0, false, &mut state);
        let mut harness = shown(&state.to_fragment(), (1024.0, 768.0));
        let place = |harness: &Harness<'_, App>| {
            let layouts = &harness.state().state().layouts;
            (layouts.lesson.clone().unwrap().1, layouts.told)
        };
        let mut seen = vec![place(&harness)];
        let frames: usize = lesson.steps.iter().map(|step| 1 + usize::from(step.hides())).sum();
        for _ in 1..frames {
            harness.key_press(Key::PageDown);
            harness.run();
            seen.push(place(&harness));
        }
        let last = lesson.steps.len() as u32 - 1;
        assert_eq!(seen.last().map(|(page, _)| *page), Some(last));
        harness.key_press(Key::PageDown);
        harness.run();
        for expected in seen.iter().rev() {
            assert_eq!(place(&harness), *expected, "{}", lesson.id);
            harness.key_press(Key::PageUp);
            harness.run();
        }
    }
}

#[test]
fn space_and_enter_reveal_and_arrows_step_the_kernel_or_else_the_lesson() {
    for key in [Key::Space, Key::Enter] {
        let mut harness = shown("v1;view=layouts;lesson=csr-hll,2", (1280.0, 800.0));
        harness.key_press(key);
        harness.run();
        let layouts = &harness.state().state().layouts;
        assert!(layouts.told && layouts.walk == "cuda/csr/thread-per-row" && layouts.step == 1);
        harness.key_press(Key::ArrowRight);
        harness.run();
        let layouts = &harness.state().state().layouts;
        assert_eq!((layouts.step, layouts.lesson.clone().unwrap().1), (2, 2));
    }
    let mut harness = shown("v1;view=layouts;lesson=csr-hll,0;formats=coo", (1280.0, 800.0));
    for (key, page) in [(Key::ArrowRight, 1), (Key::ArrowLeft, 0)] {
        harness.key_press(key);
        harness.run();
        assert_eq!(harness.state().state().layouts.lesson.clone().unwrap().1, page);
    }
}

#[test]
fn a_choice_is_marked_right_or_wrong_in_words_once_the_answer_is_told() {
    let mut harness = shown("v1;view=layouts;lesson=coalescing,1", (1280.0, 800.0));
    harness.get_by_label("Choice: 2").click();
    harness.run();
    harness.get_by_label("Choice: 2 (chosen)");
    assert_eq!(harness.state().state().layouts.guess, Some(0));
    harness.get_by_label("Reveal").click();
    harness.run();
    harness.get_by_label("Choice: 2 (chosen, but wrong)");
    harness.get_by_label("Choice: 8 (right)");
    let link = harness.state().state().to_fragment();
    shown(&link, (1280.0, 800.0)).get_by_label("Choice: 2 (chosen, but wrong)");
    // The next step has no answer chosen yet.
    harness.get_by_label("Lesson: next step").click();
    harness.run();
    assert_eq!(harness.state().state().layouts.guess, None);
}

#[test]
fn a_lesson_is_chosen_from_the_menu_and_left_and_an_unknown_one_is_named() {
    let mut harness = shown("v1;view=layouts", (1280.0, 800.0));
    harness.get_by_label("Lessons").click();
    harness.run();
    harness.get_by_label("Padding and sorting").click();
    harness.run();
    assert_eq!(harness.state().state().layouts.lesson, Some(("padding".into(), 0)));
    assert!(harness.query_by_label("Sorting window").is_none());
    harness.get_by_label("Settings").click();
    harness.run();
    harness.get_by_label("More").click();
    harness.run();
    harness.get_by_label("Sorting window");
    harness.get_by_label("Leave").click();
    harness.run();
    assert_eq!(harness.state().state().layouts.lesson, None);
    let other = shown("v1;view=layouts;lesson=other,3", (1280.0, 800.0));
    other.get_by_label("The lesson `other` is not open: drop its file here.");
}

#[test]
fn an_opened_lesson_is_shown_at_its_start_or_where_the_link_says() {
    let file = include_bytes!("../../../../lessons/3-padding.json");
    let own = String::from_utf8(file.to_vec()).unwrap().replace("\"padding\"", "\"own\"");
    for (link, page) in [("v1", 0), ("v1;view=layouts;lesson=own,2", 2)] {
        let mut harness = shown(link, (1280.0, 800.0));
        harness.state_mut().open_bytes("own.json", own.as_bytes());
        harness.run();
        let state = harness.state().state();
        assert_eq!(
            (state.view.as_str(), &state.layouts.lesson),
            ("layouts", &Some(("own".into(), page)))
        );
    }
    let mut harness = shown("v1", (1280.0, 800.0));
    harness.state_mut().open_bytes("own.json", &own.as_bytes()[..200]);
    harness.run();
    harness.get_by_label_contains("Could not open own.json: not a lesson: not a JSON file");
}

#[test]
fn threads_of_a_processor_have_their_parts_and_lines() {
    let mut harness = shown("v1;view=layouts;walk=cpu/csr/rows;cpu-threads=3", (1280.0, 800.0));
    harness.get_by_label("More").click();
    harness.run();
    assert_eq!(harness.query_all_by_label("Threads").count(), 2); // the field and its label
    harness.get_by_label("Kernel: step 1 of 4");
    let svg = (sparsescope_figures::views::layouts::VIEW.svg.unwrap())(
        harness.state().model(),
        harness.state().state(),
    );
    for text in
        ["T0", "T1", "T2", "Imbalance 1.20: the busiest thread has 4 slots, the mean is 3.33"]
    {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn the_tab_key_stops_once_at_the_board_and_arrow_keys_move_among_its_cells() {
    let mut harness = shown("v1;view=layouts;small=3x0,1/1/2", (1280.0, 800.0));
    let [first, below] = [0, 1].map(|row| format!("No nonzero in row {row}, column 2"));
    harness.get_by_label(&first).focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    assert!(harness.get_by_label(&below).is_focused());
    harness.key_press(Key::Tab);
    harness.run();
    let focused = harness.query_all_by_label_contains("row").any(|cell| cell.is_focused());
    assert!(!focused, "array cells have rows in their names, too");
    harness.get_by_label(&below).focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    let link = harness.state().state().to_fragment();
    assert!(link.contains(";small=3x0,1/1,2/2"), "{link}");
}

/// Checks what lessons claim in words, not in numbers.
#[test]
fn what_the_lessons_claim_in_words_is_so() {
    let number = |lesson: &str, page: usize, asked: &str| -> f64 {
        let lesson = built_in().into_iter().find(|other| other.id == lesson).unwrap();
        let step = sparsescope_figures::lesson::Step {
            text: vec![format!("{{{asked}}}")],
            answer: Vec::new(),
            ..lesson.steps[page].clone()
        };
        let text = Texts::counted(&step, None).unwrap().text.remove(0);
        text.trim_end_matches(" %").parse().unwrap()
    };
    let (thread, warp) = ("cuda/csr/thread-per-row", "cuda/csr/warp-shuffle");
    let (row, column) = ("cuda/ell/thread-per-row", "cuda/ell/column-major");
    let at = |what: &str, kernel: &str| format!("{what}:{kernel}");
    // Padding of row-major hacks needs more sectors in the first step, column-major fewer.
    let first = |kernel: &str| number("csr-hll", 6, &format!("step-sectors:{kernel}:val;step=1"));
    assert!(first("cuda/hll/thread-per-row") > first(thread) && first(thread) > first(column));
    let moved = |kernel: &str| number("csr-hll", 7, &at("moved", kernel));
    assert!(moved(column) < moved(thread));
    assert!(number("csr-hll", 5, "bytes:hll") == number("csr-hll", 5, "bytes:hll-column-major"));
    // Every byte of a column-major step is used, and x costs the same in both orders.
    let step = |what: &str| number("coalescing", 3, &format!("step-{what}:{column}:val;step=1"));
    assert_eq!(step("useful"), step("moved"));
    let x = |kernel: &str| number("coalescing", 5, &format!("sectors:{kernel}:x"));
    assert_eq!(x(row), x(column));
    assert_eq!(number("coalescing", 1, "padding:ell"), 0.0);
    // Sorting in a window of one hack saves nothing; sorting all rows pays off.
    let slots = |sigma| number("padding", 4, &format!("slots:hll;sigma={sigma}"));
    assert!(slots(4) == slots(1) && slots(8) < slots(4));
    let bytes = |sigma| number("padding", 3, &format!("bytes:hll;sigma={sigma}"));
    assert!(bytes(8) < bytes(1));
    // Only the hack of the dense row is padded, HYB not at all.
    let dense = |asked: &str| number("dense-row", 2, asked);
    assert_eq!(dense("slots:hll"), dense("hack") * dense("longest") + dense("hack"));
    assert_eq!(dense("slots:hyb-column-major"), dense("entries"));
    // A warp reads a long row without waste, and short ones with more requests.
    let long = |what: &str| number("warp-per-row", 1, &format!("step-{what}:{warp}:val;step=1"));
    assert_eq!(long("useful"), long("moved"));
    let short =
        |what: &str, kernel: &str| number("warp-per-row", 4, &format!("{what}:{kernel}:val"));
    assert!(short("sectors", warp) < short("sectors", thread));
    assert!(short("requests", warp) > short("requests", thread));
    // Partitions among the threads, from uneven to even.
    let imbalance = |kernel: &str| number("balance", 0, &at("imbalance", kernel));
    let by = ["cpu/csr/rows", "cpu/csr/nnz", "cpu/csr/merge"].map(imbalance);
    assert!(by[0] > by[1] && by[1] > by[2] && by[2] > 1.0, "{by:?}");
    assert_eq!(number("balance", 1, "steps:cpu/csr/nnz"), number("balance", 1, "longest"));
}
