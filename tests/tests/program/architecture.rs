//! Compares the crate diagram of `ARCHITECTURE.md` with cargo's metadata; it lacks arrows that follow from others.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

const ARCHITECTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md");

/// The workspace's packages and their dependencies.
#[derive(Debug, Default, PartialEq)]
struct Diagram {
    packages: BTreeSet<String>,
    /// (user, used)
    arrows: BTreeSet<(String, String)>,
}

impl Diagram {
    /// Reads the one block fenced as `crates`: a line is a package, or `user -> used`.
    fn from_markdown(text: &str) -> Result<Self, String> {
        let mut blocks = text.split("```crates\n").skip(1);
        let (Some(block), None) = (blocks.next(), blocks.next()) else {
            return Err("expected one block fenced as ```crates".to_owned());
        };
        let (block, _) = block.split_once("```").ok_or("the block ```crates has no end")?;
        let mut diagram = Self::default();
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let names: Vec<&str> = line.split("->").map(str::trim).collect();
            match names[..] {
                [package] => diagram.add_package(package),
                [user, used] => {
                    diagram.add_package(user);
                    diagram.add_package(used);
                    diagram.arrows.insert((user.to_owned(), used.to_owned()));
                }
                _ => return Err(format!("`{line}`: expected `package` or `user -> used`")),
            }
        }
        Ok(diagram)
    }

    /// Reads `cargo metadata --no-deps`: the members and their normal dependencies on one another.
    fn from_metadata(metadata: &Value) -> Self {
        let mut diagram = Self::default();
        for package in list(&metadata["packages"]) {
            let user = text(&package["name"]);
            diagram.add_package(user);
            for dependency in list(&package["dependencies"]) {
                // Development dependencies have the kind "dev"; only a local crate has a path.
                if dependency["kind"].is_null() && dependency["path"].is_string() {
                    let used = text(&dependency["name"]);
                    diagram.arrows.insert((user.to_owned(), used.to_owned()));
                }
            }
        }
        diagram
    }

    /// Leaves out the arrows that follow from others.
    fn reduced(mut self) -> Self {
        let all = self.arrows.clone();
        self.arrows.retain(|(user, used)| {
            let mut others = all.iter().filter(|(from, to)| from == user && to != used);
            !others.any(|(_, to)| leads(&all, to, used))
        });
        self
    }

    fn add_package(&mut self, name: &str) {
        self.packages.insert(name.to_owned());
    }

    /// The changes to `self`, the diagram, that make it equal to `truth`.
    fn changes_to(&self, truth: &Self) -> Vec<String> {
        let arrow = |(user, used): &(String, String)| format!("{user} -> {used}");
        let mut changes = Vec::new();
        changes.extend(truth.packages.difference(&self.packages).map(|new| format!("add `{new}`")));
        changes.extend(
            self.packages.difference(&truth.packages).map(|gone| format!("remove `{gone}`")),
        );
        changes.extend(
            truth.arrows.difference(&self.arrows).map(|new| format!("add `{}`", arrow(new))),
        );
        changes.extend(
            self.arrows.difference(&truth.arrows).map(|gone| format!("remove `{}`", arrow(gone))),
        );
        changes
    }
}

/// Whether arrows lead from a package to another.
fn leads(arrows: &BTreeSet<(String, String)>, from: &str, to: &str) -> bool {
    from == to || arrows.iter().any(|(user, used)| user == from && leads(arrows, used, to))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list, as `cargo metadata` documents")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text, as `cargo metadata` documents")
}

#[test]
fn the_crate_diagram_shows_the_workspace() {
    let drawn = Diagram::from_markdown(&std::fs::read_to_string(ARCHITECTURE).unwrap()).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).unwrap();
    let workspace = Diagram::from_metadata(&metadata).reduced();

    let changes = drawn.changes_to(&workspace);
    assert!(changes.is_empty(), "in ARCHITECTURE.md's crate diagram, {}", changes.join(", "));
}

#[test]
fn what_to_change_is_told_for_packages_and_arrows() {
    let drawn = Diagram::from_markdown("# Crates\n```crates\napp  -> core\n\napp -> old\n```\n");
    let metadata = serde_json::json!({"packages": [
        {"name": "core", "dependencies": [
            {"name": "serde", "kind": null},
            {"name": "tests", "kind": "dev", "path": "/tests"},
        ]},
        {"name": "app", "dependencies": [{"name": "core", "kind": null, "path": "/core"}]},
        {"name": "tests", "dependencies": [
            {"name": "app", "kind": null, "path": "/app"},
            // Follows from the others.
            {"name": "core", "kind": null, "path": "/core"},
        ]},
    ]});
    assert_eq!(
        drawn.unwrap().changes_to(&Diagram::from_metadata(&metadata).reduced()),
        ["add `tests`", "remove `old`", "add `tests -> app`", "remove `app -> old`"],
    );
}

#[test]
fn a_diagram_that_cannot_be_read_is_an_error() {
    assert!(Diagram::from_markdown("no block").is_err());
    assert!(Diagram::from_markdown("```crates\na\n```\n```crates\nb\n```").is_err());
    assert!(Diagram::from_markdown("```crates\na -> b").is_err());
    assert!(Diagram::from_markdown("```crates\na -> b -> c\n```").is_err());
}
