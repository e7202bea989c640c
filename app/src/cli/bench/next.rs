//! What to do with a bundle next, as far as this machine and build allow it.

use std::path::Path;

use crate::cli::html;
use crate::display;

/// Ways to show a bundle here.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// There is a display for a window.
    display: bool,
    /// This build has a window.
    window: bool,
    /// Cargo runs the program, so it can be built with a window.
    sources: bool,
    /// The web page is built, so bundles can be embedded in it.
    page: bool,
}

impl Here {
    /// Looks at this machine and this build.
    pub(super) fn found() -> Self {
        Self {
            display: display::is_there(),
            window: cfg!(feature = "gui"),
            sources: std::env::var_os("CARGO").is_some(),
            page: html::is_possible(),
        }
    }
}

/// The commands that show the bundle at `path`, the one that shows most first. Its report, or its runs as CSV, may
/// be written already.
pub(super) fn steps(path: &Path, here: Here, has_report: bool, has_csv: bool) -> String {
    let bundle = word(path);
    let mut steps = Vec::new();
    match (here.display, here.window, here.sources) {
        (true, true, _) => steps.push(format!("`sparsescope {bundle}` opens the viewer")),
        (true, false, true) => {
            steps.push(format!("`cargo window {bundle}` builds the viewer and opens it"));
        }
        _ => {}
    }
    if here.page {
        let html = word(&path.with_extension("viewer.html"));
        steps.push(format!(
            "`sparsescope export {bundle} --html {html}` writes the viewer as one file"
        ));
    } else if !has_report {
        let html = word(&path.with_extension("html"));
        steps.push(format!("`sparsescope export {bundle} --report {html}` writes a report"));
    }
    if !has_csv {
        steps.push(format!("`sparsescope export {bundle} --csv runs.csv` writes all runs as CSV"));
    }
    match steps.is_empty() {
        true => String::new(),
        false => format!("Next:   {}\n", steps.join("\n        ")),
    }
}

/// Quotes a path so that a shell takes it for one word that is not an option.
pub(super) fn word(path: &Path) -> String {
    let text = path.display().to_string();
    quoted(if text.starts_with('-') { format!("./{text}") } else { text })
}

/// A word as a command line takes it.
pub(super) fn quoted(text: String) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-+:@,%=~".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(display: bool, window: bool, page: bool) -> String {
        let here = Here { display, window, sources: true, page };
        let text = steps(Path::new("out/b.zip"), here, false, false);
        assert!(text.contains("`sparsescope export out/b.zip --csv runs.csv`"), "{text}");
        assert!(page || !text.contains("--html"), "{text}");
        assert!(text.lines().count() <= 3, "{text}");
        let opens = text.contains("`sparsescope out/b.zip`");
        assert_eq!((opens, text.contains("cargo window")), (display && window, display && !window));
        text.lines().next().unwrap().to_owned()
    }

    #[test]
    fn the_first_step_is_the_one_that_shows_most_here() {
        let report = "Next:   `sparsescope export out/b.zip --report out/b.html` writes a report";
        assert_eq!(first(false, true, false), report);
        let installed = Here { display: true, window: false, sources: false, page: false };
        assert!(steps(Path::new("out/b.zip"), installed, false, false).starts_with(report));
        let csv = "Next:   `sparsescope export out/b.zip --csv runs.csv` writes all runs as CSV\n";
        assert_eq!(steps(Path::new("out/b.zip"), installed, true, false), csv);
        assert_eq!(steps(Path::new("out/b.zip"), installed, true, true), "");
        let html = "Next:   `sparsescope export out/b.zip --html out/b.viewer.html` writes the viewer as \
                    one file";
        assert_eq!(first(false, false, true), html);
        let window = "Next:   `sparsescope out/b.zip` opens the viewer";
        assert_eq!([false, true].map(|page| first(true, true, page)), [window, window]);
        let built = "Next:   `cargo window out/b.zip` builds the viewer and opens it";
        assert_eq!([false, true].map(|page| first(true, false, page)), [built, built]);
    }

    #[test]
    #[cfg(not(windows))]
    fn paths_are_one_word_of_a_shell() {
        let words = ["a b.zip", "it's.zip", "-o.zip", "é/b.zip"].map(|path| word(Path::new(path)));
        assert_eq!(words, ["'a b.zip'", r"'it'\''s.zip'", "./-o.zip", "é/b.zip"]);
    }
}
