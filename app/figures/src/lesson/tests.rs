//! Lessons as files: what is accepted, what is rejected and how, and the built-in ones.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use sparsescope_core::kernel::kernel;
use sparsescope_core::layout::{Array, ArrayTraffic, columns_traffic};
use sparsescope_core::matrix::AnyFormat;

use super::*;
use crate::state::Small;
use crate::views::check;
use crate::views::own::is_own;
use crate::views::{Texts, read_lesson};

fn small() -> Value {
    json!({
        "format": "sparsescope-lesson",
        "version": 1,
        "id": "own",
        "language": "de",
        "title": "Eigene",
        "steps": [
            {
                "title": "Frage",
                "text": ["{entries} Einträge", "Absatz"],
                "ask": "Wie viele?",
                "choices": ["3", "{slots:csr}"],
                "right": 2,
                "answer": "{slots:csr}",
                "show": "https://example.org/?bundle=a.zip#v1;view=layouts;small=four",
                "then": "v1;small=four;formats=csr"
            },
            { "title": "Schluss", "text": "Schluss", "show": "v1" }
        ]
    })
}

fn read(value: &Value) -> Result<Lesson, String> {
    read_lesson(value.to_string().as_bytes())
}

/// The error when the value at `pointer` is replaced or removed.
fn refusal(pointer: &str, value: Option<Value>) -> String {
    let mut lesson = small();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = lesson.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Some(value) => parent.insert(key.into(), value),
        None => parent.remove(key),
    };
    read(&lesson).unwrap_err()
}

#[test]
fn a_step_can_show_any_view_with_its_filters_and_what_is_unknown_is_refused() {
    let mut lesson = small();
    let steps = lesson["steps"].as_array_mut().unwrap();
    steps.push(json!({
        "title": "Runs", "text": "{best} on {name}: {rate:cpu/csr/serial}",
        "show": "v1;view=runs;kernel=cpu/csr/serial;sort=median_s"
    }));
    let read_lesson = read(&lesson).unwrap();
    let mut state = ViewState { zoom: 1.5, ..ViewState::default() };
    read_lesson.show(2, false, &mut state);
    assert_eq!((state.view.as_str(), state.filter.kernel.as_str()), ("runs", "cpu/csr/serial"));
    assert_eq!((state.sort.as_str(), state.zoom), ("median_s", 1.5));
    assert_eq!(read_lesson.view(&state), Some("runs"));
    read_lesson.go(Move::Back, &mut state);
    assert_eq!((state.view.as_str(), read_lesson.view(&state)), ("layouts", Some("layouts")));
    for (show, text, expected) in [
        ("v1;view=nowhere", "x", "step 3: there is no view nowhere"),
        ("v1;view=runs", "{slots:csr}", "step 3: `{slots:csr}`: there is no such number"),
        ("v1;view=runs", "{rate}", "step 3: `{rate}`: there is no such number"),
    ] {
        lesson["steps"][2] = json!({ "title": "x", "text": text, "show": show });
        assert_eq!(read(&lesson).unwrap_err(), expected);
    }
}

#[test]
fn a_lesson_is_read_as_it_is_written() {
    let lesson = read(&small()).unwrap();
    assert_eq!((lesson.id.as_str(), lesson.language.as_str()), ("own", "de"));
    let [first, last] = &lesson.steps[..] else { unreachable!() };
    assert_eq!((first.text.len(), first.right, first.hides()), (2, Some(1), true));
    assert_eq!(first.show.layouts.small.matrix().unwrap().nnz(), 9);
    assert_eq!(first.then.as_ref().unwrap().layouts.formats, "csr");
    assert_eq!((last.ask.as_ref(), last.hides(), last.text.len()), (None, false, 1));
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_was_expected() {
    let cases = [
        ("/format", Some(json!("lesson")), "not a lesson: `format` is not `sparsescope-lesson`"),
        ("/version", None, "the lesson: `version` is not the number 1"),
        (
            "/version",
            Some(json!(2)),
            "the lesson has version 2, expected 1: use a newer Sparsescope",
        ),
        (
            "/id",
            Some(json!("a b")),
            "the lesson: `id` is `a b`, expected lower-case letters, digits and -",
        ),
        ("/title", None, "the lesson: `title` is not a string of 1 to 120 characters"),
        ("/steps", Some(json!([])), "the lesson: `steps` is not a list of 1 to 100 steps"),
        (
            "/more",
            Some(json!(1)),
            "the lesson: `more` is unknown, expected one of format, version, id, language, title, steps",
        ),
        (
            "/steps/0/title",
            Some(json!(3)),
            "step 1: `title` is not a string of 1 to 120 characters",
        ),
        ("/steps/1/text", Some(json!([])), "step 2: `text` is not a list of 1 to 12 strings"),
        (
            "/steps/0/answers",
            Some(json!("")),
            "step 1: `answers` is unknown, expected one of title, text, ask, choices, right, answer, show, then",
        ),
        ("/steps/0/answer", None, "step 1: `answer` is missing"),
        ("/steps/0/ask", None, "step 1: `ask` is missing"),
        (
            "/steps/0/right",
            Some(json!(3)),
            "step 1: expected at least 2 `choices`, and `right` to be the number of one of them, from 1",
        ),
        ("/steps/1/show", None, "step 2: `show` is not a string of 1 to 4000 characters"),
        (
            "/steps/1/show",
            Some(json!("layouts")),
            "step 2: `show` is not a link to a view, such as `v1;view=layouts`",
        ),
        (
            "/steps/1/show",
            Some(json!("v1;small=five;sigma=99")),
            "step 2: `show`: `sigma=99` is unknown here",
        ),
        (
            "/steps/1/show",
            Some(json!("v1;walk=cuda/csr/none")),
            "step 2: cuda/csr/none: there is no such kernel",
        ),
        ("/steps/1/show", Some(json!("v1;formats=csr,elk")), "step 2: there is no format elk"),
        ("/steps/1/text", Some(json!("{slots:csr")), "step 2: `{slots:csr` has no closing `}`"),
        (
            "/steps/1/text",
            Some(json!("{slot:csr}")),
            "step 2: `{slot:csr}`: there is no such number",
        ),
        (
            "/steps/1/text",
            Some(json!("{slots:ell;hack=4}")),
            "step 2: `{slots:ell;hack=4}`: `hack=4` is unknown here",
        ),
        (
            "/steps/1/text",
            Some(json!("{sectors:cuda/spmm/row-split,0}")),
            "step 2: `{sectors:cuda/spmm/row-split,0}`: expected 1 to 128 columns, found `0`",
        ),
        (
            "/steps/1/text",
            Some(json!("{sectors:cpu/csr/serial,4}")),
            "step 2: `{sectors:cpu/csr/serial,4}`: cpu/csr/serial has no numbers for several columns",
        ),
        (
            "/steps/1/show",
            Some(json!("v1;walk=cuda/spmm/merge,4")),
            "step 2: cuda/spmm/merge,4: it has no steps for several columns",
        ),
        ("/steps/0/choices", Some(json!(["9", "{entries}"])), "step 1: two choices are the same"),
    ];
    for (pointer, value, sentence) in cases {
        assert_eq!(refusal(pointer, value), sentence);
    }
    assert_eq!(
        read(&json!([1])).unwrap_err(),
        "not a lesson: `format` is not `sparsescope-lesson`"
    );
    let long = vec![b' '; MOST_BYTES + 1];
    assert!(read_lesson(&long).unwrap_err().starts_with("a lesson has at most 262144 bytes"));
    let cut = read_lesson(b"{\"format\": ").unwrap_err();
    assert!(cut.starts_with("not a lesson: not a JSON file: "), "{cut}");
}

proptest! {
    #[test]
    fn no_text_and_no_json_upsets_the_reader(text in "\\PC{0,60}", at in 0..9usize) {
        let _ = Lesson::read(text.as_bytes());
        let mut lesson = small();
        let keys = ["title", "text", "ask", "choices", "right", "answer", "show", "then", "x"];
        lesson["steps"][0][keys[at]] = json!(text);
        let _ = read(&lesson);
        lesson["steps"][0]["text"] = json!(format!("{{{text}}}"));
        let _ = read(&lesson);
    }
}

#[test]
fn every_lesson_that_comes_with_the_program_is_sound() {
    assert_eq!(Lessons::default().iter().count(), BUILT_IN.len());
    for text in BUILT_IN {
        let lesson = Lesson::read(text.as_bytes()).unwrap();
        check(&lesson).unwrap_or_else(|why| panic!("{}: {why}", lesson.id));
        for (number, step) in lesson.steps.iter().enumerate() {
            let known = [Some(&step.show), step.then.as_ref()];
            for state in known.into_iter().flatten() {
                assert_ne!(state.layouts.small, Small::Selected, "{} {number}", lesson.id);
                assert!(is_own(state) || state.view == "layouts", "{} {number}", lesson.id);
            }
            assert!(step.choices.is_empty() || (2..=4).contains(&step.choices.len()));
        }
        assert!(lesson.steps.iter().any(Step::hides), "{}", lesson.id);
    }
}

/// Numbers that do not come from the model: sizes of the machine and of elements.
const CONSTANTS: [&str; 5] = ["1", "4", "8", "32", "64"];

#[test]
fn no_number_of_a_built_in_lesson_is_written_by_hand() {
    for text in BUILT_IN {
        let lesson = Lesson::read(text.as_bytes()).unwrap();
        for step in &lesson.steps {
            let mut texts: Vec<&String> = step.text.iter().chain(&step.answer).collect();
            texts.extend(&step.ask);
            // Wrong choices may contain any number.
            texts.extend(step.right.and_then(|right| step.choices.get(right)));
            for text in texts {
                let mut plain = String::new();
                for part in text.split('}') {
                    plain.push_str(part.split('{').next().unwrap());
                }
                let words = plain.split(|c: char| !c.is_alphanumeric());
                let numbers = words.filter(|word| word.chars().all(|c| c.is_ascii_digit()));
                for number in numbers.filter(|word| !word.is_empty()) {
                    assert!(CONSTANTS.contains(&number), "{}: {number} in {text}", step.title);
                }
            }
        }
    }
}

/// The most words that one of 32 banks serves when 32 lanes read words that are `apart` words apart.
fn busiest(apart: usize) -> usize {
    let mut words = [0; 32];
    (0..32).for_each(|lane| words[lane * apart % 32] += 1);
    words.into_iter().max().unwrap()
}

#[test]
fn the_answers_of_the_lesson_on_banks_are_counted() {
    let lessons = Lessons::default();
    let lesson = lessons.get("bank-conflicts").unwrap();
    let shorter = lesson.steps[4].show.layouts.hack as usize;
    for (page, apart) in [(2, 1), (3, 32), (4, shorter), (5, 32 + 1)] {
        let step = &lesson.steps[page];
        assert_eq!(step.choices[step.right.unwrap()], busiest(apart).to_string(), "{}", step.title);
    }
    // The picture's hack has the size that the answer calculates with, and fills one tile.
    assert_eq!((shorter, lesson.steps[4].show.layouts.small.matrix().unwrap().rows()), (8, 8));
    assert!((1..64).all(|apart| (busiest(apart) == 1) == (apart % 2 == 1)));
}

/// Each stores 5 rows of 8 values of 8 bytes.
#[test]
fn texts_have_numbers_of_all_our_cuda_kernels_of_spmm() {
    let mut lesson = small();
    let stored = ["row-split", "merge", "bsr", "hll"]
        .map(|kernel| format!("{{useful:cuda/spmm/{kernel},8:y}}"));
    lesson["steps"][1] = json!({ "title": "x", "text": stored, "show": "v1;small=five" });
    let lesson = read(&lesson).unwrap();
    assert_eq!(Texts::counted(&lesson.steps[1], None).unwrap().text, ["320"; 4]);
}

#[test]
fn the_answers_of_the_lesson_on_many_vectors_are_what_the_model_counts() {
    let lessons = Lessons::default();
    let lesson = lessons.get("many-vectors").unwrap();
    let a = lesson.steps[2].show.layouts.small.matrix().unwrap();
    let (kernel, csr) =
        (kernel("cuda/spmm/row-split").unwrap(), AnyFormat::Csr(Arc::new(a.clone())));
    let traffic = |k: usize| columns_traffic(kernel, &csr, k).unwrap();
    let loads = |k: usize, array: Array| {
        let traffic = traffic(k);
        traffic.iter().find(|of| of.array == array).unwrap().loads
    };
    for k in [4, 8, 32] {
        for array in [Array::Val, Array::Col] {
            assert_eq!(loads(k, array).sectors, loads(1, array).sectors, "{k} columns");
        }
        assert_eq!(loads(k, Array::X).efficiency(), Some(1.0), "{k} columns");
        // Each nonzero needs all k numbers of its row of X.
        let asked = loads(k, Array::X).asked_bytes;
        assert_eq!(asked, 8 * (a.nnz() * k) as u64);
    }
    assert!(loads(1, Array::X).efficiency().unwrap() < 1.0);
    let moved_per_column = [1, 4, 8, 32].map(|k: usize| {
        let moved = |of: &ArrayTraffic| of.loads.moved_bytes() + of.stores.moved_bytes();
        traffic(k).iter().map(moved).sum::<u64>() as f64 / k as f64
    });
    assert!(moved_per_column.windows(2).all(|pair| pair[1] < pair[0]), "{moved_per_column:?}");
}

#[test]
fn forward_and_back_are_each_others_reverse_and_reveal_in_between() {
    let lesson = read(&small()).unwrap();
    let mut state = ViewState { zoom: 2.0, ..ViewState::default() };
    lesson.show(0, false, &mut state);
    assert_eq!((state.view.as_str(), state.zoom), ("layouts", 2.0));
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push((state.layouts.lesson.clone().unwrap().1, state.layouts.told));
        lesson.go(Move::Forward, &mut state);
    }
    assert_eq!(seen, [(0, false), (0, true), (1, false)]);
    for (page, told) in [(0, true), (0, false), (0, false)] {
        lesson.go(Move::Back, &mut state);
        assert_eq!(state.layouts.lesson, Some(("own".into(), page)));
        assert_eq!(state.layouts.told, told);
        assert_eq!(state.layouts.formats, if told { "csr" } else { "" });
    }
    lesson.go(Move::Next, &mut state);
    assert_eq!((state.layouts.lesson.clone().unwrap().1, state.layouts.told), (1, false));
    lesson.go(Move::Reveal, &mut state);
    assert!(!state.layouts.told, "there is nothing to reveal");
}

#[test]
fn a_lesson_takes_the_place_of_the_one_with_its_id() {
    let mut lessons = Lessons::default();
    let before = lessons.iter().count();
    lessons.add(read(&small()).unwrap());
    let mut other = small();
    other["title"] = json!("Andere");
    lessons.add(read(&other).unwrap());
    assert_eq!(lessons.iter().count(), before + 1);
    assert_eq!(lessons.get("own").unwrap().title, "Andere");
    assert!(lessons.get("none").is_none());
}

#[test]
fn json_is_a_lesson_unless_it_holds_results() {
    let cases: [(&str, &[u8], bool); 8] = [
        ("a.json", b" {\"sparsescope-lesson\": 1}", true),
        ("a", b"{}", true),
        ("a.json", b"no JSON", true),
        ("a.json", include_bytes!("../../../../tests/golden/ginkgo-seconds.json"), false),
        ("a.json", include_bytes!("../../../../tests/golden/google-benchmark.json"), false),
        ("a.json", include_bytes!("../../../../tests/golden/nvbench.json"), false),
        ("a.json", b"{\"filename\": \"a.mtx\", \"spmv\": {}}", false),
        ("a.zip", b"PK", false),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(is_lesson(name, bytes), expected, "{name}");
    }
}
