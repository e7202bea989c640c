//! The README and the pages of `docs/` say what the program does, and their links lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sparsescope_core::generate::{points_suite, suite};
use sparsescope_core::io::file_forms::{COMPRESSED, FORMS};
use sparsescope_core::kernel::{all_kernels, distributed_kernels};
use sparsescope_core::record::Operation;
use sparsescope_figures::lesson::Lessons;
use sparsescope_tests::Program;

use crate::common::program;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const COUNTS: [&str; 14] = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen",
];

/// The text of a file, relative to the root.
pub(crate) fn read(path: &str) -> String {
    let text = std::fs::read_to_string(Path::new(ROOT).join(path));
    assert!(text.is_ok(), "{path}: {text:?}");
    text.unwrap()
}

/// Every page, relative to the root.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "fuzz/README.md"]
            .map(str::to_owned)
            .into();
    for entry in std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    pages
}

/// The parts of a text between `start` and the next `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start)
        .skip(1)
        .filter_map(|rest| rest.split_once(end))
        .map(|(part, _)| part)
        .collect()
}

/// The relative targets of a page's links and pictures.
fn targets(text: &str) -> Vec<&str> {
    let links = ["](", "src=\"", "srcset=\"", "href=\""];
    let ends = [")", "\"", "\"", "\""];
    let all = links.iter().zip(ends).flat_map(|(start, end)| between(text, start, end));
    all.filter(|target| !target.contains("://")).collect()
}

/// The lines outside fenced blocks, or those inside.
fn lines(text: &str, fenced: bool) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !fence && inside == fenced
    })
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = lines(text, false).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// The cells of a table's rows, without its head.
pub(crate) fn rows(text: &str, head: &str) -> Vec<Vec<String>> {
    let mut table = text.lines().skip_while(|line| !line.starts_with(head));
    assert!(table.next().is_some(), "no table begins with {head}");
    let rows = table.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let row = row.trim_matches('|');
        row.split('|').map(|cell| cell.trim().trim_start_matches("– ").to_owned()).collect()
    };
    rows.map(cells).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = read(&page);
        for target in targets(&text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file: PathBuf = match path {
                "" => Path::new(ROOT).join(&page),
                path => Path::new(ROOT).join(&page).with_file_name("").join(path),
            };
            let there = match anchor {
                "" => file.exists(),
                anchor => {
                    std::fs::read_to_string(&file).is_ok_and(|text| anchors(&text).contains(anchor))
                }
            };
            if !there {
                wrong.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "links to nothing:\n{}", wrong.join("\n"));
}

#[test]
fn the_index_links_every_page_of_docs() {
    let index = read("docs/README.md");
    let linked: BTreeSet<&str> = targets(&index).into_iter().collect();
    for page in pages() {
        if let Some(name) = page.strip_prefix("docs/") {
            assert!(name == "README.md" || linked.contains(name), "docs/README.md has no {name}");
        }
    }
}

/// `node tests/browser/pictures.mjs` makes them.
#[test]
fn every_picture_is_shown_and_small() {
    let readme = read("README.md");
    let folder = Path::new(ROOT).join("docs/pictures");
    let mut pictures = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(
            readme.contains(&format!("docs/pictures/{name}")),
            "README.md does not show {name}"
        );
        assert!(entry.metadata().unwrap().len() <= 250_000, "{name} is larger than 250 kB");
        pictures += 1;
    }
    assert_eq!(pictures, 8);
}

#[test]
fn counts_in_the_pages_are_those_of_the_program() {
    let lessons = COUNTS[Lessons::default().iter().count()];
    let matrices = COUNTS[suite("mini").unwrap().entries.len()];
    let points = COUNTS[points_suite("points").unwrap().entries.len()];
    for (page, phrase) in [
        ("README.md", format!("{lessons} lessons")),
        ("docs/commands.md", format!("{lessons} lessons come with the program")),
        ("docs/lessons.md", format!("{lessons} lessons come with the program")),
        ("README.md", format!("{matrices} generated matrices")),
        ("docs/commands.md", format!("{points} generated point sets")),
    ] {
        let text = read(page).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        assert!(text.contains(&phrase), "{page} does not say: {phrase}");
    }
}

#[test]
fn the_forms_of_files_are_those_of_the_program() {
    let page = read("docs/files.md");
    let dotted = |extension: &&str| format!("`.{extension}`");
    let expected = FORMS.map(|form| {
        let extensions: Vec<String> = form.extensions.iter().map(dotted).collect();
        let written = if form.is_written { "yes" } else { "" };
        [form.name, &extensions.join(" "), form.read, written].map(str::to_owned)
    });
    assert_eq!(rows(&page, "| form |"), expected);
    assert!(COMPRESSED.iter().all(|extension| page.contains(&dotted(extension))));
    let help = program().succeed(&["info", "--help"]);
    for form in FORMS {
        assert!(help.contains(form.name) && help.contains(form.read), "{}: {help}", form.name);
    }
}

/// The names of the fuzz targets stand in their page.
#[test]
fn every_fuzz_target_is_listed() {
    let page = read("fuzz/README.md");
    for target in between(&read("fuzz/Cargo.toml"), "[[bin]]\nname = \"", "\"") {
        assert!(page.contains(&format!("`{target}`")), "fuzz/README.md does not list {target}");
    }
}

#[test]
fn every_kernel_that_a_page_names_exists() {
    let known: BTreeSet<&str> = all_kernels()
        .chain(Operation::ALL.iter().flat_map(|&operation| distributed_kernels(operation)))
        .map(|kernel| kernel.id)
        .collect();
    let devices = ["cpu/", "cuda/", "wgpu/", "mpi/", "nccl/", "vendor/"];
    for page in pages() {
        let text = read(&page);
        for word in text.split(|c: char| c.is_whitespace() || "`'\"(),:;".contains(c)) {
            let is_id = devices.iter().any(|device| word.starts_with(device))
                && word.split('/').filter(|part| !part.is_empty()).count() == 3
                && !word.contains(['*', '{', '}', '.', '…']);
            // Results of other programs have ids of their own.
            if is_id && page != "docs/import.md" {
                assert!(known.contains(word), "{page}: there is no kernel {word}");
            }
        }
    }
}

/// The commands that a help lists; none if it is that of a command without commands.
fn commands(help: &str) -> Vec<String> {
    let Some((_, listed)) = help.split_once("Commands:\n") else { return Vec::new() };
    let listed = listed.lines().take_while(|line| line.starts_with(' '));
    let first = |line: &str| line.trim().split(' ').next().unwrap_or_default().to_owned();
    // Longer descriptions go on below, with more space before them.
    let named = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.map(first).filter(|name| name != "help").collect()
}

/// The help of a command and of all below it.
fn whole_help(p: &Program, command: &[&str]) -> String {
    let mut help = p.succeed(&[command, &["--help"]].concat());
    for below in commands(&help) {
        help += &whole_help(p, &[command, &[below.as_str()]].concat());
    }
    help
}

#[test]
fn every_command_has_an_example_and_every_example_is_understood() {
    let p = program();
    let commands = commands(&p.succeed(&["--help"]));
    assert!(commands.contains(&"bench".to_owned()) && commands.len() > 10, "{commands:?}");
    let help: BTreeMap<&str, String> = commands
        .iter()
        .map(|command| (command.as_str(), whole_help(&p, &[command.as_str()])))
        .collect();
    let reference = read("docs/commands.md");
    for command in &commands {
        let has_example = lines(&reference, true)
            .any(|line| line.starts_with(&format!("sparsescope {command} ")));
        assert!(has_example, "docs/commands.md has no example of {command}");
    }
    for page in pages() {
        for line in lines(&read(&page), true) {
            let mut words = line.split_whitespace();
            let Some(help) = words
                .by_ref()
                .find(|word| *word == "sparsescope")
                .and_then(|_| words.next())
                .and_then(|command| help.get(command))
            else {
                continue;
            };
            for option in words.filter(|word| word.starts_with("--")) {
                let name =
                    option.split('=').next().unwrap_or_default().trim_end_matches([';', ',']);
                let mut known = help.split(|c: char| !(c.is_alphanumeric() || c == '-'));
                let known = known.any(|word| word == name);
                assert!(known || name == "--", "{page}: {name} is unknown in: {line}");
            }
        }
    }
}

#[test]
fn the_features_of_a_build_are_those_of_the_program() {
    let manifest = read("app/Cargo.toml");
    let (_, features) = manifest.split_once("[features]\n").unwrap();
    let (features, _) = features.split_once("\n[").unwrap();
    let features: BTreeMap<&str, &str> = features
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .collect();
    let within = |feature: &str, name: &str| features[feature].contains(&format!("\"{name}\""));
    let mut listed = BTreeSet::new();
    for row in rows(&read("docs/platforms.md"), "| feature |") {
        let name = row[0].trim_matches('`');
        assert!(features.contains_key(name), "docs/platforms.md: there is no feature {name}");
        assert_eq!(row[2] == "✓", within("default", name), "{name}, default");
        assert_eq!(row[3] == "✓", within("full", name), "{name}, full");
        listed.insert(name.to_owned());
    }
    for name in features.keys().filter(|name| !["default", "full"].contains(*name)) {
        assert!(listed.contains(*name), "docs/platforms.md does not list the feature {name}");
    }
}

/// Files below a folder with this extension.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != "node_modules" && name != "tests" {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
}

/// Words that begin with `SPARSESCOPE_`.
fn variables(text: &str) -> BTreeSet<String> {
    let word = |rest: &str| -> String {
        rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect()
    };
    text.split("SPARSESCOPE_").skip(1).map(word).filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_environment_variable_of_the_program_is_documented_and_no_other() {
    let mut sources = Vec::new();
    for folder in ["app", "core", "cuda-native", "web/src"] {
        files(&Path::new(ROOT).join(folder), "rs", &mut sources);
    }
    let read_by: BTreeSet<String> = sources
        .iter()
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            between(&text, "\"SPARSESCOPE_", "\"")
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .collect();
    assert!(read_by.contains("GPU") && read_by.contains("WEB"), "{read_by:?}");
    // Set when the program is built, or for a test of the allocator.
    let inner = ["FLAGS", "PROFILE", "REVISION", "RUSTC", "TARGET", "TEST_ALLOCATE"];
    let table = rows(&read("docs/commands.md"), "| variable |");
    let listed: BTreeSet<String> = table.iter().flat_map(|row| variables(&row[0])).collect();
    for name in read_by.iter().filter(|name| !inner.contains(&name.as_str())) {
        assert!(listed.contains(name), "docs/commands.md does not list SPARSESCOPE_{name}");
    }
    for name in &listed {
        assert!(read_by.contains(name), "nothing reads SPARSESCOPE_{name} of docs/commands.md");
    }
}

#[test]
fn the_exit_codes_are_documented() {
    let outcome = read("app/src/cli/outcome.rs");
    let table = rows(&read("docs/commands.md"), "| code |");
    let listed: BTreeSet<String> = table.iter().map(|row| row[0].clone()).collect();
    let arms = between(&outcome, "Outcome::", "\n").into_iter();
    let of_outcome: BTreeSet<String> = arms
        .filter_map(|arm| arm.split_once(" => "))
        .map(|(_, code)| code.trim_end_matches(',').to_owned())
        .filter(|code| code.parse::<u8>().is_ok())
        .collect();
    assert!(of_outcome.len() >= 4, "{of_outcome:?}");
    // 2, of wrong usage, is no outcome of a command.
    assert!(of_outcome.iter().all(|code| listed.contains(code)), "{of_outcome:?}, {listed:?}");
    assert_eq!(listed.len(), of_outcome.len() + 1, "{listed:?}");
}
