//! Checks the order of the core's modules in `ARCHITECTURE.md`, and that no crate's files use one another in
//! a cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use sparsescope_tests::{PROGRAMS, Paths, Use, paths, roots};

/// Modules that all others may use, and that use none.
const SHARED: [&str; 5] = ["files", "memory", "pace", "packed", "parallel"];

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const HEADER: &str = "| module | what it holds | may use |";

/// Each top-level module of the core and those that it may use.
#[derive(Debug, Default)]
struct Rooms(BTreeMap<String, Vec<String>>);

impl Rooms {
    /// Reads the one table with the header [`HEADER`]. A module may use modules above it.
    fn from_markdown(text: &str) -> Result<Self, String> {
        let mut tables = text.split(HEADER).skip(1);
        let (Some(table), None) = (tables.next(), tables.next()) else {
            return Err(format!("expected one table `{HEADER}`"));
        };
        let mut rooms = Self(SHARED.map(|room| (room.to_owned(), Vec::new())).into());
        let mut above: Vec<String> = Vec::new();
        let lines = table.trim_start().lines().skip(1).take_while(|line| line.starts_with('|'));
        for line in lines {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, room, _, used, _] = cells[..] else {
                return Err(format!("`{line}`: expected three cells"));
            };
            let room = room.trim_matches('`').to_owned();
            let names = |list: &str| list.split(", ").map(str::to_owned).collect::<Vec<_>>();
            let used = match used.strip_prefix("all above but ") {
                Some(but) => {
                    let but = names(but);
                    above.iter().filter(|room| !but.contains(room)).cloned().collect()
                }
                None if used == "–" => Vec::new(),
                None => names(used),
            };
            if let Some(below) = used.iter().find(|used| !above.contains(used)) {
                return Err(format!("{room} may use {below}, which does not stand above it"));
            }
            above.push(room.clone());
            if rooms.0.insert(room.clone(), used).is_some() {
                return Err(format!("{room} stands there twice"));
            }
        }
        Ok(rooms)
    }

    fn allow(&self, room: &str, used: &str) -> bool {
        let listed = self.0.get(room).is_some_and(|rooms| rooms.iter().any(|room| room == used));
        room == used || listed || SHARED.contains(&used) && !SHARED.contains(&room)
    }

    /// The violations of the order in a crate, one sentence each.
    fn held_against(&self, found: &Paths) -> Vec<String> {
        let mut wrong = Vec::new();
        for room in found.rooms.iter().filter(|room| !self.0.contains_key(*room)) {
            wrong.push(format!("the table of rooms lacks {room}"));
        }
        for room in self.0.keys().filter(|room| !found.rooms.contains(*room)) {
            wrong.push(format!("the table of rooms has {room}, the crate has not"));
        }
        for path in &found.uses {
            if let (Some(room), Some(used)) = (&path.room, &path.used_room)
                && !self.allow(room, used)
            {
                wrong.push(format!("{}: room {room} may not use {used}", told(path)));
            }
        }
        for path in &found.astray {
            let home = path.used_room.as_deref().unwrap_or_default();
            wrong.push(format!("{}: an inherent impl lies in its type's room, {home}", told(path)));
        }
        wrong
    }
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
fn a_room_of_the_core_uses_only_rooms_that_it_may() {
    let workspace = Path::new(WORKSPACE);
    let text = std::fs::read_to_string(workspace.join("ARCHITECTURE.md")).unwrap();
    let rooms = Rooms::from_markdown(&text).unwrap();
    let found = paths(workspace, Path::new("core/src/lib.rs")).unwrap();
    assert!(found.uses.len() > 100, "{found:?}");
    let wrong = rooms.held_against(&found);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_files_of_a_crate_use_one_another_in_a_circle() {
    let roots = roots(Path::new(WORKSPACE), &PROGRAMS);
    for library in ["core", "app", "app/figures", "app/views", "cuda-native", "web"] {
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

/// The paths of a crate with these files in `src`, and with the shared modules.
fn read(files: &[(&str, &str)]) -> Paths {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join("src").join(name);
        std::fs::create_dir_all(path.parent().expect("`src` at least")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    SHARED.iter().for_each(|room| write(&format!("{room}.rs"), "pub struct Shared;"));
    let shared: String = SHARED.iter().map(|room| format!("\nmod {room};")).collect();
    for (name, text) in files {
        let more = if *name == "lib.rs" { shared.as_str() } else { "" };
        write(name, &format!("{text}{more}"));
    }
    let found = paths(folder.path(), Path::new("src/lib.rs")).expect("Rust");
    assert_eq!(lost(&found).collect::<Vec<_>>(), [""; 0]);
    found
}

/// The table of these modules, each with those that it may use.
fn table(rooms: &[(&str, &str)]) -> Result<Rooms, String> {
    let line = |(room, used): &(&str, &str)| format!("| `{room}` | anything | {used} |\n");
    let lines: String = rooms.iter().map(line).collect();
    Rooms::from_markdown(&format!("# Rooms\n\n{HEADER}\n|---|---|---|\n{lines}\nMore."))
}

/// The violations of these modules' order in a crate with these files.
fn wrong(rooms: &[(&str, &str)], files: &[(&str, &str)]) -> Vec<String> {
    table(rooms).expect("a table").held_against(&read(files))
}

/// The violations in a crate with the modules `low` and `high`.
fn wrong_in(low: &str, high: &str, high_may_use: &str) -> Vec<String> {
    let files = [("lib.rs", "mod low;\nmod high;"), ("low.rs", low), ("high.rs", high)];
    wrong(&[("low", "–"), ("high", high_may_use)], &files)
}

fn circles(files: &[(&str, &str)]) -> Vec<String> {
    Files::of(&read(files)).circles()
}

#[test]
fn a_room_uses_those_that_its_line_names() {
    let (x, uses_x) = ("pub struct X;", "use crate::low::X;");
    assert_eq!(wrong_in(x, uses_x, "low"), [""; 0]);
    assert_eq!(wrong_in(x, uses_x, "all above but other"), [""; 0]);
    assert_eq!(wrong_in(x, uses_x, "–").len(), 1);
    assert_eq!(wrong_in(x, uses_x, "all above but low").len(), 1);
    assert_eq!(
        wrong_in("\n\npub fn f(_: super::high::X) {}", x, "low"),
        ["src/low.rs:3 uses super::high::X (defined in src/high.rs): room low may not use high"],
    );
}

#[test]
fn all_may_use_the_shared_rooms_and_these_use_none() {
    assert_eq!(wrong_in("use crate::memory::Shared;", "", "–"), [""; 0]);
    let files = [("lib.rs", "mod low;"), ("low.rs", "pub struct X;")];
    let upwards = [&files[..], &[("memory.rs", "use crate::low::X;")]].concat();
    assert_eq!(wrong(&[("low", "–")], &upwards).len(), 1);
    let across = [&files[..], &[("parallel.rs", "use crate::memory::Shared;")]].concat();
    assert_eq!(wrong(&[("low", "–")], &across).len(), 1);
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
    let rooms = [("far", "–"), ("near", "–"), ("user", "near")];
    assert_eq!(wrong(&rooms, &files("use crate::near::Own;")), [""; 0]);
    let sentence = "(defined in src/far/deep.rs): room user may not use far";
    for used in
        ["use crate::near::{Own, Y};", "use crate::near;\nfn f(_: near::Y, _: near::Own) {}"]
    {
        let found = wrong(&rooms, &files(used));
        assert!(found.len() == 1 && found[0].ends_with(sentence), "{found:?}");
    }
}

#[test]
fn what_macros_define_lies_where_they_are_called() {
    for low in ["make!(pub struct X;);", "lists! { a: [X, Y] }"] {
        let found = wrong_in(low, "use crate::low::X;", "–");
        let sentence = "(defined in src/low.rs): room high may not use low";
        assert!(found.len() == 1 && found[0].ends_with(sentence), "{found:?}");
    }
    let exported = "#[macro_export]\nmacro_rules! m { () => {} }";
    let found = wrong_in(exported, "use crate::m;", "–");
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
        assert!(!wrong_in(low, high, "–").is_empty(), "{high}");
        assert_eq!(wrong_in(low, high, "low"), [""; 0], "{high}");
    }
}

#[test]
fn what_only_tests_see_is_left_out() {
    for low in [
        "#[cfg(test)]\nmod tests { use crate::high::X; }",
        "#[cfg(all(test, unix))]\nmod tests;",
        "#[cfg(test)]\nuse crate::high::X;",
        "struct S;\nimpl S { #[cfg(test)]\nfn f(_: crate::high::X) {} }",
    ] {
        assert_eq!(wrong_in(low, "pub struct X;", "–"), [""; 0], "{low}");
    }
    let low = "#[cfg(any(test, unix))]\nuse crate::high::X;";
    assert_eq!(wrong_in(low, "pub struct X;", "–").len(), 1);
}

#[test]
fn an_inherent_impl_lies_in_its_types_room() {
    let (x, inherent) = ("pub struct X;", "use crate::low::X;\nimpl X { fn f() {} }");
    let sentence = "src/high.rs:2 uses X (defined in src/low.rs): an inherent impl lies in its type's room, low";
    assert_eq!(wrong_in(x, inherent, "low"), [sentence]);
    assert_eq!(wrong_in(x, "use crate::low::X;\nimpl Drop for X {}", "low"), [""; 0]);
}

#[test]
fn the_table_has_the_rooms_that_there_are_in_their_order() {
    let files = [("lib.rs", "mod low;\nmod high;"), ("high.rs", ""), ("low.rs", "")];
    assert_eq!(wrong(&[("low", "–")], &files), ["the table of rooms lacks high"]);
    assert_eq!(wrong(&[("low", "–"), ("high", "–"), ("higher", "–")], &files).len(), 1);
    assert!(table(&[("high", "low"), ("low", "–")]).is_err());
    assert!(table(&[("low", "–"), ("low", "–")]).is_err());
    assert!(Rooms::from_markdown("no table").is_err());
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
