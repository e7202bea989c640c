//! Terminal output. Names, reasons and errors hold text from files and arguments; control characters in
//! anything printed are made visible here, so that no text controls the terminal.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

use sparsescope_core::record::is_invisible;

/// Shadows the standard library's macro: text goes through [`say`]. Macro scope follows source order, so no
/// command can bypass it by mistake.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::terminal::say(&format!($($text)*)) };
}

/// Prints a line on standard error; nobody may be there to read it.
pub(in crate::cli) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(text));
}

/// Colours of text on standard output.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Color {
    /// For what is best.
    Green,
    /// For what is wrong.
    Red,
}

/// Whether standard output is a terminal that shows colours, and the user wants them.
pub(in crate::cli) fn has_colors() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    // Old consoles of Windows print escape sequences as they are.
    let shows = cfg!(not(windows)) || is_set("WT_SESSION") || is_set("TERM");
    std::io::stdout().is_terminal() && shows && !is_dumb && !is_set("NO_COLOR")
}

/// Characters per line of the terminal; none if standard output is a file or a pipe.
pub(in crate::cli) fn width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(width.into())
}

/// The text, bold and in this colour. It must hold no control characters.
pub(in crate::cli) fn colored(text: &str, color: Color) -> String {
    let code = match color {
        Color::Green => 32,
        Color::Red => 31,
    };
    format!("\u{1b}[1;{code}m{text}\u{1b}[0m")
}

/// Escapes invisible characters in text of several lines, except line ends and tabs.
pub(in crate::cli) fn visible(text: &str) -> Cow<'_, str> {
    let line_ends = |c| matches!(c, '\n' | '\t');
    escaped(text, |c| is_invisible(c) && !line_ends(c), |c| c.escape_unicode().collect())
}

/// Escapes invisible characters in a single line.
pub(in crate::cli) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_invisible, |c| c.escape_unicode().collect())
}

/// Escapes JSON without changing its meaning: outside strings, line ends are its only invisible characters.
pub(in crate::cli) fn visible_json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_invisible(c) && c != '\n', |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, wanted: impl Fn(char) -> bool, of: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.chars().any(&wanted) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match wanted(c) {
            true => shown.push_str(&of(c)),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left_and_other_text_stays() {
        let hostile = "a\u{1b}[31m\u{7}\u{7f}\u{9b}2J\r\u{202e}\u{2066}\u{feff}b\tc\nd";
        let shown = "a\\u{1b}[31m\\u{7}\\u{7f}\\u{9b}2J\\u{d}\\u{202e}\\u{2066}\\u{feff}b";
        assert_eq!(visible(hostile), format!("{shown}\tc\nd"));
        assert_eq!(one_line(hostile), format!("{shown}\\u{{9}}c\\u{{a}}d"));
        let plain = "naïve ☃ \u{1f600} 12 µs, é";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{1b}\u{202e}\u{7f}\n", 1] });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = visible_json(&text);
        assert!(!shown.chars().any(|c| is_invisible(c) && c != '\n'), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
