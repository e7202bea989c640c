//! Checks what cargo does not: the order of the modules of each of the core's crates, as `ARCHITECTURE.md` has it,
//! and that no crate's files use one another in a cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use sparsescope_tests::{PROGRAMS, Paths, Use, paths, roots};

use crate::pages::{read, rows};

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The head of the table of the core's crates. A row without a crate belongs to the one above it.
const HEAD: &str = "| crate | module | what it holds |";

/// The modules of each of the core's crates, in the order of the table; a crate with `–` is one module.
fn table(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut folder = String::new();
    let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(text, HEAD) {
        let [named, module] = [&row[0], &row[1]].map(|cell| cell.trim_matches('`'));
        if !named.is_empty() {
            folder = named.to_owned();
        }
        if module != "–" {
            table.entry(folder.clone()).or_default().push(module.to_owned());
        }
    }
    table
}

/// The violations of the order of a crate's modules, one sentence each: a module uses only those before it.
fn out_of_order(order: &[String], found: &Paths) -> Vec<String> {
    let place = |room: &str| order.iter().position(|listed| listed == room);
    let new = found.rooms.iter().filter(|room| place(room).is_none());
    let mut wrong: Vec<String> = new.map(|room| format!("the table lacks {room}")).collect();
    let gone = order.iter().filter(|room| !found.rooms.contains(*room));
    wrong.extend(gone.map(|room| format!("the table has {room}, the crate has not")));
    for path in &found.uses {
        if let (Some(room), Some(used)) = (&path.room, &path.used_room)
            && place(used) > place(room)
        {
            wrong.push(format!("{}: {used} stands after {room}", told(path)));
        }
    }
    wrong
}

/// The files of a crate, and for each file that they use one path that leads there.
struct Files<'p>(BTreeMap<&'p Path, BTreeMap<&'p Path, &'p Use>>);

impl<'p> Files<'p> {
    fn of(found: &'p Paths) -> Self {
        let mut files: BTreeMap<&Path, BTreeMap<&Path, &Use>> = BTreeMap::new();
        for path in &found.uses {
            if let Some(used) = &path.used {
                files.entry(&path.file).or_default().entry(used).or_insert(path);
            }
        }
        Self(files)
    }

    /// The shortest cycle for each file in one, each cycle once, as text.
    fn circles(&self) -> Vec<String> {
        let shortest = self.0.keys().filter_map(|file| self.shortest_circle(file));
        let circles: BTreeSet<Vec<&Path>> = shortest.collect();
        circles.iter().map(|circle| self.circle_told(circle)).collect()
    }

    /// The shortest way from a file back to itself, starting at the first file by name.
    fn shortest_circle(&self, start: &'p Path) -> Option<Vec<&'p Path>> {
        let mut before: BTreeMap<&Path, &Path> = BTreeMap::new();
        let mut next = VecDeque::from([start]);
        while let Some(file) = next.pop_front() {
            for &used in self.0.get(file).into_iter().flat_map(BTreeMap::keys) {
                if !before.contains_key(used) {
                    before.insert(used, file);
                    next.push_back(used);
                }
            }
        }
        let mut circle = vec![start];
        let mut at = *before.get(start)?;
        while at != start {
            circle.push(at);
            at = before[at];
        }
        circle.reverse();
        let first = (0..circle.len()).min_by_key(|&place| circle[place])?;
        circle.rotate_left(first);
        Some(circle)
    }

    fn circle_told(&self, circle: &[&Path]) -> String {
        let names: Vec<String> = circle.iter().map(|file| file.display().to_string()).collect();
        let mut text = format!("a circle of {}", names.join(", "));
        for (place, from) in circle.iter().enumerate() {
            let to = circle[(place + 1) % circle.len()];
            text += &format!("\n    {}", told(self.0[from][to]));
        }
        text
    }
}

fn told(path: &Use) -> String {
    let place = format!("{}:{} uses {}", path.file.display(), path.line, path.path);
    match &path.used {
        Some(file) => format!("{place} (defined in {})", file.display()),
        None => place,
    }
}

fn lost(found: &Paths) -> impl Iterator<Item = String> + '_ {
    found.lost.iter().map(|path| format!("{}, which cannot be found", told(path)))
}

#[test]
fn a_module_of_the_core_uses_only_those_before_it() {
    let (mut wrong, mut uses) = (Vec::new(), 0);
    for (folder, order) in table(&read("ARCHITECTURE.md")) {
        let root = Path::new(&folder).join("src/lib.rs");
        let found = paths(Path::new(WORKSPACE), &root).unwrap();
        uses += found.uses.len();
        let of_crate = out_of_order(&order, &found).into_iter();
        wrong.extend(of_crate.map(|sentence| format!("{folder}: {sentence}")));
    }
    assert!(uses > 100, "{uses}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_files_of_a_crate_use_one_another_in_a_circle() {
    let roots = roots(Path::new(WORKSPACE), &PROGRAMS);
    for library in ["core/kernels", "app", "app/figures", "app/views", "cuda-native", "web"] {
        assert!(roots.contains(&Path::new(library).join("src/lib.rs")), "{roots:?}");
    }
    let mut wrong = Vec::new();
    for file in roots {
        let found = paths(Path::new(WORKSPACE), &file).unwrap();
        wrong.extend(lost(&found));
        wrong.extend(Files::of(&found).circles());
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The text of each Rust file in a folder and below it.
fn rust_in(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_in(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(path, text);
        }
    }
}

#[test]
fn every_file_of_a_crate_is_one_of_its_modules() {
    let roots = roots(Path::new(WORKSPACE), &PROGRAMS);
    let roots: Vec<PathBuf> = roots.iter().map(|root| Path::new(WORKSPACE).join(root)).collect();
    let mut wrong = Vec::new();
    for root in roots.iter().filter(|root| root.ends_with("src/lib.rs")) {
        let mut files = BTreeMap::new();
        rust_in(root.parent().unwrap(), &mut files);
        for file in files.keys().filter(|file| !roots.contains(file)) {
            let own: &Path = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file };
            let (folder, name) = (own.parent().unwrap(), own.file_stem().unwrap());
            let line = format!("mod {};", name.display());
            let above = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name));
            let mut above = above.into_iter().chain([folder.with_extension("rs")]);
            let by_path = format!("{}.rs\"]", name.display());
            let is_declared = above.any(|it| files.get(&it).is_some_and(|it| it.contains(&line)))
                || files.values().any(|text| text.contains(&by_path));
            if !is_declared {
                wrong.push(file.display().to_string());
            }
        }
    }
    assert!(wrong.is_empty(), "files that no module declares:\n{}", wrong.join("\n"));
}

/// The paths of a crate with these files in `src`.
fn crate_of(files: &[(&str, &str)]) -> Paths {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        std::fs::create_dir_all(path.parent().expect("`src` at least")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let found = paths(folder.path(), Path::new("src/lib.rs")).expect("Rust");
    assert_eq!(lost(&found).collect::<Vec<_>>(), [""; 0]);
    found
}

/// The violations of this order in a crate with these files.
fn wrong(order: &[&str], files: &[(&str, &str)]) -> Vec<String> {
    let order: Vec<String> = order.iter().map(|&room| room.to_owned()).collect();
    out_of_order(&order, &crate_of(files))
}

/// The violations of this order in a crate with the modules `low` and `high`.
fn wrong_in(order: [&str; 2], low: &str, high: &str) -> Vec<String> {
    wrong(&order, &[("lib.rs", "mod low;\nmod high;"), ("low.rs", low), ("high.rs", high)])
}

fn circles(files: &[(&str, &str)]) -> Vec<String> {
    Files::of(&crate_of(files)).circles()
}

#[test]
fn a_module_uses_only_those_before_it() {
    let order = ["low", "high"];
    assert_eq!(wrong_in(order, "pub struct X;", "use crate::low::X;"), [""; 0]);
    assert_eq!(
        wrong_in(order, "\n\npub fn f(_: super::high::X) {}", "pub struct X;"),
        ["src/low.rs:3 uses super::high::X (defined in src/high.rs): high stands after low"],
    );
    // What another crate defines is cargo's to hold.
    let files = [
        ("lib.rs", "mod low;\npub use other::high;"),
        ("low.rs", "use crate::high::X;\nuse other::low::Y;"),
    ];
    assert_eq!(wrong(&["low"], &files), [""; 0]);
}

#[test]
fn a_name_counts_for_the_file_that_defines_it() {
    let files = |used| {
        [
            ("lib.rs", "mod far;\nmod near;\nmod user;"),
            ("far/mod.rs", "mod deep;\npub use deep::*;"),
            ("far/deep.rs", "pub struct X;"),
            ("near/mod.rs", "mod own;\npub use crate::far::X as Y;\npub use own::Own;"),
            ("near/own.rs", "pub struct Own;"),
            ("user.rs", used),
        ]
    };
    // `near` does not use what it re-exports.
    let order = ["near", "user", "far"];
    assert_eq!(wrong(&order, &files("use crate::near::Own;")), [""; 0]);
    let sentence = "(defined in src/far/deep.rs): far stands after user";
    for used in
        ["use crate::near::{Own, Y};", "use crate::near;\nfn f(_: near::Y, _: near::Own) {}"]
    {
        let found = wrong(&order, &files(used));
        assert!(found.len() == 1 && found[0].ends_with(sentence), "{found:?}");
    }
}

#[test]
fn what_macros_define_lies_where_they_are_called() {
    let order = ["high", "low"];
    for low in ["make!(pub struct X;);", "lists! { a: [X, Y] }"] {
        let found = wrong_in(order, low, "use crate::low::X;");
        let sentence = "(defined in src/low.rs): low stands after high";
        assert!(found.len() == 1 && found[0].ends_with(sentence), "{found:?}");
    }
    let exported = "#[macro_export]\nmacro_rules! m { () => {} }";
    let found = wrong_in(order, exported, "use crate::m;");
    assert!(found.len() == 1 && found[0].contains("src/low.rs"), "{found:?}");
}

#[test]
fn paths_are_seen_wherever_they_stand() {
    let low = "pub fn f() {}\npub trait T {}\npub const C: u8 = 0;";
    for high in [
        "fn f() { crate::low::f() }",
        "fn f() { use crate::low::{self as other}; }",
        "fn f() { use super as above; above::low::f() }",
        "impl crate::low::T for () {}",
        "fn f(x: u8) { match x { crate::low::C => {} _ => {} } }",
        "fn f<X: crate::low::T>(_: X) {}",
        "fn f() { println!(\"{:?}\", [vec![crate::low::f()]]) }",
        "struct S { #[serde(with = \"crate::low\")] x: u8 }",
        "macro_rules! m { () => { $crate::low::f() } }",
        "use crate::low::*;",
        "mod inner { use super::super::low::f; }",
    ] {
        assert!(!wrong_in(["high", "low"], low, high).is_empty(), "{high}");
        assert_eq!(wrong_in(["low", "high"], low, high), [""; 0], "{high}");
    }
}

#[test]
fn what_only_tests_see_is_left_out() {
    let order = ["low", "high"];
    for low in [
        "#[cfg(test)]\nmod tests { use crate::high::X; }",
        "#[cfg(all(test, unix))]\nmod tests;",
        "#[cfg(test)]\nuse crate::high::X;",
        "struct S;\nimpl S { #[cfg(test)]\nfn f(_: crate::high::X) {} }",
    ] {
        assert_eq!(wrong_in(order, low, "pub struct X;"), [""; 0], "{low}");
    }
    let low = "#[cfg(any(test, unix))]\nuse crate::high::X;";
    assert_eq!(wrong_in(order, low, "pub struct X;").len(), 1);
}

#[test]
fn the_table_has_the_modules_that_there_are() {
    let text = format!(
        "{HEAD}\n|---|---|---|\n| `a/b` | `low` | L |\n| | `high` | H |\n| `a/c` | – | C |\n\nMore."
    );
    let table = table(&text);
    assert_eq!(table.len(), 1);
    let order = &table["a/b"];
    assert_eq!(order[..], ["low", "high"]);
    let files = |lib| crate_of(&[("lib.rs", lib), ("high.rs", ""), ("low.rs", ""), ("new.rs", "")]);
    assert_eq!(out_of_order(order, &files("mod high;\nmod low;")), [""; 0]);
    let found = files("mod low;\nmod new;");
    let wrong = ["the table lacks new", "the table has high, the crate has not"];
    assert_eq!(out_of_order(order, &found), wrong);
}

#[test]
fn a_circle_is_told_with_a_path_for_each_step() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;"),
        ("a.rs", "use crate::b::B;\nuse crate::c::C;\npub struct A;"),
        ("b.rs", "use crate::c::C;\npub struct B;"),
        ("c.rs", "pub struct C(crate::a::A);"),
    ];
    let found = circles(&files);
    let [with_b, short] = &found[..] else { panic!("{found:?}") };
    assert!(with_b.starts_with("a circle of src/a.rs, src/b.rs, src/c.rs\n"), "{with_b}");
    assert_eq!(
        short,
        "a circle of src/a.rs, src/c.rs\n    src/a.rs:2 uses crate::c::C (defined in src/c.rs)\n    \
         src/c.rs:1 uses crate::a::A (defined in src/a.rs)",
    );
}

#[test]
fn a_module_is_in_a_circle_when_it_uses_its_children_and_not_when_it_hands_them_on() {
    fn of(folder: &str, child: &str) -> usize {
        let lib = ("lib.rs", "mod folder;");
        circles(&[
            lib,
            ("folder/mod.rs", folder),
            ("folder/a.rs", child),
            ("folder/b.rs", "pub struct B;"),
        ])
        .len()
    }
    let child = "use super::B;\npub struct A;";
    assert_eq!(of("mod a;\nmod b;\npub use a::A;\npub use b::B;", child), 0);
    assert_eq!(of("mod a;\nmod b;\npub use a::A;\npub use b::B;\nfn f(_: A) {}", child), 0);
    assert_eq!(of("mod a;\npub use a::A;\npub struct B;", child), 0);
    assert_eq!(of("mod a;\npub use a::A;\npub struct B(A);", child), 1);
    assert_eq!(of("mod a;\npub struct B(a::A);", child), 1);
    assert_eq!(of("mod a;\nuse a::A;\npub struct B;", child), 1);
    assert_eq!(
        of(
            "mod a;\npub use a::made;\npub struct B;\nfn f() { made() }",
            "pub fn made() -> super::B {}"
        ),
        1
    );
}

#[test]
fn a_path_that_leads_nowhere_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = "mod a { pub struct A; }\nuse a::A;\nuse self::a::B;";
    std::fs::write(folder.path().join("lib.rs"), text).unwrap();
    let found = paths(folder.path(), Path::new("lib.rs")).unwrap();
    let told: Vec<String> = lost(&found).collect();
    assert_eq!(told, ["lib.rs:3 uses self::a::B, which cannot be found"]);
}
