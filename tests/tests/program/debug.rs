//! Nothing shown, stored or compared is formatted with `Debug`: that output is for developers, changes with
//! the names in the program, and may be the same for two values.

use std::path::Path;

use sparsescope_tests::{PROGRAMS, debug_texts, roots};

/// The string literals of a file with this Rust code.
fn texts(rust: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lib.rs"), rust).unwrap();
    let found = debug_texts(folder.path(), Path::new("lib.rs")).unwrap();
    found.into_iter().map(|found| found.text).collect()
}

#[test]
fn no_text_of_the_workspace_is_made_from_debug() {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let kinds = [&PROGRAMS[..], &["example", "custom-build"]].concat();
    let roots = roots(workspace, &kinds);
    assert!(roots.contains(&"app/src/lib.rs".into()), "{roots:?}");
    assert!(roots.contains(&"core/examples/sectors.rs".into()), "{roots:?}");
    let mut wrong = Vec::new();
    for root in roots {
        let found = debug_texts(workspace, &root).unwrap();
        wrong.extend(
            found.iter().map(|found| {
                format!("{}:{}: \"{}\"", found.file.display(), found.line, found.text)
            }),
        );
    }
    let advice = "use a typed key, the word of a link or of a file, or Display";
    assert!(wrong.is_empty(), "made from Debug ({advice}):\n{}", wrong.join("\n"));
}

#[test]
fn a_placeholder_is_found_wherever_it_stands() {
    for text in ["{x:?}", "{:#?}", "a {0:>8.3?} b", "{{{x:?}}}", "{x}: {y:?}"] {
        for rust in [
            format!("fn f() {{ let key = format!({text:?}); }}"),
            format!("fn f() {{ write!(out, {text:?}, x); }}"),
            format!("fn f() {{ println!({text:?}) }}"),
            format!("fn f() {{ Err(anyhow!({text:?}, 1, 2)) }}"),
            format!("fn f() {{ std::format_args!({text:?}); }}"),
            format!("fn f() {{ vec![Some(format!({text:?}))] }}"),
            format!("mod inner {{ impl X {{ fn f() {{ bail!({text:?}) }} }} }}"),
            format!("macro_rules! m {{ ($x:expr) => {{ format!({text:?}, $x) }} }}"),
            format!("#[derive(Error)] enum E {{ #[error({text:?})] A(u8) }}"),
            format!("fn f() {{ x.expect_or(format!({text:?})) }}"),
            format!("fn f() {{ format!({text:?}).parse().expect(\"a number\"); }}"),
        ] {
            assert_eq!(texts(&rust), [text], "{rust}");
        }
    }
}

#[test]
fn what_tests_say_and_what_is_said_of_a_fault_is_left_out() {
    for rust in [
        "#[cfg(test)] mod tests { fn f() { println!(\"{x:?}\") } }",
        "impl X { #[cfg(test)] fn told(&self) -> String { format!(\"{x:?}\") } }",
        "fn f() { assert!(x, \"{x:?}\"); debug_assert_eq!(x, y, \"{x:?}\"); }",
        "fn f() { let Some(x) = y else { panic!(\"{y:?}\") }; }",
        "fn f() { vec![match x { 1 => 2, x => unreachable!(\"{x:?}\") }] }",
        "fn f() { x.expect(&format!(\"{x:?}\")); vec![x.expect(&format!(\"{x:?}\"))] }",
        "/// Shown as `{x:?}`.\nfn f() { format!(\"{x} {{x:?}} {y:>8.3} a?\") }",
    ] {
        assert_eq!(texts(rust), [""; 0], "{rust}");
    }
}
