//! What to do with a bundle next, as far as it works here.

use std::path::Path;

use crate::cli::html;
use crate::display;

/// What shows a bundle here.
#[derive(Clone, Copy)]
pub(super) struct Here {
    /// This build has a window and there is a display for it.
    window: bool,
    /// The page is built, so that bundles can be put into it.
    page: bool,
}

impl Here {
    /// This machine and this build of the program.
    pub(super) fn found() -> Self {
        let window = cfg!(feature = "gui") && display::is_there();
        Self { window, page: html::is_possible() }
    }
}

/// The commands that show the bundle at `path`, from the one that shows most.
pub(super) fn steps(path: &Path, here: Here) -> String {
    let (bundle, html) = (word(path), word(&path.with_extension("html")));
    let mut steps = Vec::new();
    if here.window {
        steps.push(format!("`sparsescope {bundle}` opens it in a window"));
    }
    steps.push(match here.page {
        true => format!(
            "`sparsescope export {bundle} --html {html}` writes it with the viewer as one file for \
             any browser"
        ),
        false => format!(
            "`sparsescope export {bundle} --report {html}` writes one page to read and to print"
        ),
    });
    steps.push(format!("`sparsescope export {bundle} --csv runs.csv` writes a spreadsheet"));
    format!(
        "Look at it: {};\nthe bundle is a zip with every raw sample (runs.json) and this machine \
         (environment.json).\n",
        steps.join(";\n            ")
    )
}

/// A path as a shell takes it for one word that is no option.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
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

    fn first(window: bool, page: bool) -> String {
        let text = steps(Path::new("out/b.zip"), Here { window, page });
        assert!(text.contains("`sparsescope export out/b.zip --csv runs.csv`"), "{text}");
        assert!(page || !text.contains("--html"), "{text}");
        assert!(window || !text.contains("`sparsescope out/b.zip`"), "{text}");
        text.lines().next().unwrap().trim_end_matches(';').to_owned()
    }

    #[test]
    fn the_first_step_is_the_one_that_shows_most_here() {
        let report = "Look at it: `sparsescope export out/b.zip --report out/b.html` writes one page to \
                      read and to print";
        assert_eq!(first(false, false), report);
        let html = "Look at it: `sparsescope export out/b.zip --html out/b.html` writes it with the \
                    viewer as one file for any browser";
        assert_eq!(first(false, true), html);
        let window = "Look at it: `sparsescope out/b.zip` opens it in a window";
        assert_eq!([first(true, false), first(true, true)], [window, window]);
    }

    #[test]
    #[cfg(not(windows))]
    fn paths_are_one_word_of_a_shell() {
        let words = ["a b.zip", "it's.zip", "-o.zip", "é/b.zip"].map(|path| word(Path::new(path)));
        assert_eq!(words, ["'a b.zip'", r"'it'\''s.zip'", "./-o.zip", "é/b.zip"]);
    }
}
