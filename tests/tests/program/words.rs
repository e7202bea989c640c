//! Words that only this project used stay out of what people read: pages, lessons, the web page, and the strings and
//! comments of the sources.

use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What not to write, and what to write instead.
const WORDS: [(&str, &str); 45] = [
    ("processor", "CPU, core or thread"),
    ("processors", "CPUs, cores or threads"),
    ("entries a row", "nonzeros per row"),
    ("entry a row", "nonzero per row"),
    ("nonzeros a row", "nonzeros per row"),
    ("rows a hack", "rows per hack"),
    ("slots an entry", "slots per nonzero"),
    ("slot an entry", "slot per nonzero"),
    ("time an entry", "time per nonzero"),
    ("bytes an entry", "bytes per nonzero"),
    ("bytes a product", "bytes per SpMV"),
    ("threads a block", "threads per block"),
    ("threads a row", "threads per row"),
    ("a thread a row", "a thread per row"),
    ("a warp a row", "a warp per row"),
    ("a block a system", "a block per system"),
    ("samples a run", "samples per run"),
    ("flops a byte", "flops per byte"),
    ("time a sweep", "time per sweep"),
    ("one a line", "one per line"),
    ("one a lane", "one per lane"),
    ("a launch of nothing", "an empty kernel launch"),
    ("launching nothing", "an empty kernel launch"),
    ("kept points", "skyline points"),
    ("points that are kept", "skyline points"),
    ("those that no other dominates", "the Pareto front"),
    ("anew", "again"),
    ("once more", "again"),
    ("all the same", "still, anyway"),
    ("in the mean", "on average"),
    ("alike", "the same"),
    ("set-up", "setup (noun), set up (verb)"),
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("tells of", "reports"),
    ("tell of", "report"),
    ("told of", "reported"),
    ("tells its", "reports its"),
    ("what was asked", "what was requested"),
    ("without being asked", "automatically"),
    ("needed are", "it needs"),
    ("beside one another", "side by side"),
    ("in their stead", "instead"),
    ("passes the gate", "passes the check"),
    ("a sweep of the plan", "a plan"),
];

/// Where such a word is right: a name, or a word of a file.
const RIGHT: [&str; 10] = [
    "devicefailure::alike",
    "xeon(r) processor",
    "epyc processor",
    "96-core processor",
    "logical processor",
    "device or split or processor",
    "device, processor",
    "--set-up processor",
    "the processor's fastest",
    "\"set-up",
];

/// Files whose words are not ours, and this one.
const LEFT_OUT: [&str; 4] = ["words.rs", "Hack-LICENCE.txt", "package-lock.json", "notices.rs"];

/// Text that people read, in lower case with single spaces, and the line of each byte.
#[derive(Default)]
struct Prose {
    text: String,
    lines: Vec<usize>,
}

impl Prose {
    fn push(&mut self, letter: char, line: usize) {
        let letter = if letter.is_whitespace() { ' ' } else { letter };
        if letter == ' ' && self.text.ends_with(' ') {
            return;
        }
        self.text.extend(letter.to_lowercase());
        self.lines.resize(self.text.len(), line);
    }

    /// All of a text.
    fn whole(text: &str) -> Self {
        let mut prose = Self::default();
        for (number, line) in text.lines().enumerate() {
            line.trim_start()
                .chars()
                .chain([' '])
                .for_each(|letter| prose.push(letter, number + 1));
        }
        prose
    }

    /// The comments and strings of code in Rust, CUDA or WGSL. What is between them becomes a line feed, so that no
    /// phrase spans it.
    fn of_code(code: &str) -> Self {
        let mut prose = Self::default();
        let letters: Vec<char> = code.chars().collect();
        let at = |k: usize| letters.get(k).copied().unwrap_or_default();
        let (mut k, mut line) = (0, 1);
        while k < letters.len() {
            let from = k;
            match at(k) {
                '/' if at(k + 1) == '/' => {
                    k += letters[k..].iter().take_while(|c| "/!".contains(**c)).count();
                    while k < letters.len() && at(k) != '\n' {
                        prose.push(at(k), line);
                        k += 1;
                    }
                }
                // A character; anything else that begins like one is a lifetime.
                '\'' if at(k + 1) == '\\' => {
                    k += 3;
                    k += letters[k.min(letters.len())..].iter().take_while(|c| **c != '\'').count()
                        + 1;
                }
                '\'' if at(k + 2) == '\'' => k += 3,
                'r' if !is_word(at(k.wrapping_sub(1))) && matches!(at(k + 1), '"' | '#') => {
                    let marks = letters[k + 1..].iter().take_while(|c| **c == '#').count();
                    k += 1 + marks;
                    if at(k) == '"' {
                        k += 1;
                        let is_end =
                            |k: usize| at(k) == '"' && (1..=marks).all(|m| at(k + m) == '#');
                        while k < letters.len() && !is_end(k) {
                            prose.push(at(k), line + newlines(&letters[from..k]));
                            k += 1;
                        }
                        k += 1 + marks;
                    }
                }
                '"' => {
                    k += 1;
                    prose.push('"', line);
                    while k < letters.len() && at(k) != '"' {
                        let is_escape = at(k) == '\\';
                        let letter = if is_escape { ' ' } else { at(k) };
                        prose.push(letter, line + newlines(&letters[from..k]));
                        k += 1 + usize::from(is_escape);
                    }
                    prose.push('"', line);
                    k += 1;
                }
                letter if letter.is_whitespace() => {
                    prose.push(' ', line);
                    k += 1;
                }
                _ => {
                    if !prose.text.ends_with('\n') {
                        prose.text.push('\n');
                        prose.lines.push(line);
                    }
                    k += 1;
                }
            }
            k = k.min(letters.len());
            line += newlines(&letters[from..k]);
        }
        prose
    }

    /// Every word that should be another: its line, it, and the other.
    fn wrong(&self) -> Vec<(usize, &'static str, &'static str)> {
        let mut text = self.text.clone();
        for right in RIGHT {
            text = text.replace(right, &"\n".repeat(right.len()));
        }
        let mut found = Vec::new();
        for (word, other) in WORDS {
            for (place, _) in text.match_indices(word) {
                let before = text[..place].chars().next_back().unwrap_or(' ');
                let mut after = text[place + word.len()..].chars();
                let after = after.next().unwrap_or(' ');
                let is_part = is_word(before) || is_word(after) || before == '-' || after == '-';
                // A word of a link, a file or an option, or a variable that is formatted.
                let is_name = after == '='
                    || (before == '{' && "}:".contains(after))
                    || ("`\"'".contains(before) && before == after);
                if !is_part && !is_name {
                    found.push((self.lines[place], word, other));
                }
            }
        }
        found.sort_unstable();
        found
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn newlines(letters: &[char]) -> usize {
    letters.iter().filter(|letter| **letter == '\n').count()
}

/// The files below a folder that people read, in order.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let skipped = ["target", "node_modules", "dist", "corpus", "fonts", "golden", "snapshots"];
        if path.is_dir() {
            if !skipped.contains(&name.as_str()) && !name.starts_with('.') {
                files(&path, found);
            }
        } else if !LEFT_OUT.contains(&name.as_str()) {
            found.push(path);
        }
    }
}

#[test]
fn nobody_reads_words_that_only_this_project_used() {
    let mut all = Vec::new();
    files(Path::new(ROOT), &mut all);
    let (mut wrong, mut read) = (Vec::new(), 0);
    for path in all {
        let shown = path.strip_prefix(ROOT).unwrap().display().to_string();
        let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let is_lesson = kind == "json" && shown.contains("lessons");
        let is_code = ["rs", "cu", "cuh", "wgsl"].contains(&kind.as_str());
        let is_text = ["md", "html", "js", "mjs", "sh", "py", "cff"].contains(&kind.as_str());
        if !(is_lesson || is_code || is_text) {
            continue;
        }
        read += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        let prose = if is_code { Prose::of_code(&text) } else { Prose::whole(&text) };
        let found = prose.wrong();
        wrong.extend(
            found.iter().map(|(line, word, other)| format!("{shown}:{line}: {word} → {other}")),
        );
    }
    assert!(read > 500, "{read} files");
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_word_is_found_in_comments_and_strings_and_nowhere_else() {
    let found = |code: &str| -> Vec<(usize, &str)> {
        Prose::of_code(code).wrong().into_iter().map(|(line, word, _)| (line, word)).collect()
    };
    assert_eq!(found("// It is set-up\n"), [(1, "set-up")]);
    assert_eq!(found("/// A launch of\n    /// nothing.\nfn f() {}"), [(1, "a launch of nothing")]);
    assert_eq!(
        found("let a = \"x\";\nlet b = \"Anew, and \\\n    once more\";"),
        [(2, "anew"), (3, "once more")]
    );
    assert_eq!(
        found("let a = r#\"\"quoted\" anew\"#; // once more"),
        [(1, "anew"), (1, "once more")]
    );
    assert_eq!(found("let a = ('\"', '\\''); let alike: &'a str = anew; // fine"), []);
    assert_eq!(found("// `processor`, alike=true, multiprocessor, Xeon(R) Processor"), []);
    assert_eq!(found("f(\"processor\", \"set\", \"up\"); // once\nmore();"), []);
    let text = Prose::whole("One\nlaunch, all\n  the same.");
    assert_eq!(text.wrong(), [(2, "all the same", "still, anyway")]);
}
