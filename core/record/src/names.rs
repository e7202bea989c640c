//! Names inside a bundle: which are safe as file names on every system, and how untrusted text is shown in a
//! message.

/// Maximum length of the id of a matrix or environment, in bytes.
const ID_BYTES: usize = 80;

/// Maximum length of a matrix's name within its id.
const KEPT_NAME: usize = 48;

/// Maximum length of the reason of a verdict, in bytes: bundles with longer ones are refused.
pub const MOST_REASON_BYTES: usize = 64 << 10;

/// Maximum number of characters of untrusted text in a message.
const SHOWN: usize = 120;

fn is_safe_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Whether an id has only letters, digits, `.`, `_` and `-`, does not start with `.`, and has at most 80
/// characters: a valid folder name on every system.
pub fn is_safe_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= ID_BYTES && !id.starts_with('.') && id.chars().all(is_safe_char)
}

/// Whether a name consists of relative, `/`-separated parts of safe characters, none of them empty, `.` or
/// `..`.
pub fn is_safe_entry(name: &str) -> bool {
    name.split('/').all(|part| !matches!(part, "" | "." | "..") && part.chars().all(is_safe_char))
}

/// Folder of the step-by-step histories of runs.
pub const HISTORIES: &str = "histories/";

/// Name of the entry with the history of the run whose key has this digest.
pub fn history_entry(digest: &str) -> String {
    format!("{HISTORIES}{digest}.json")
}

/// Id and file name of an entry `matrices/<id>/<file>`.
pub fn matrix_entry(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("matrices/")?.split_once('/')
}

/// Folder, id and file name of an entry `<folder>/<id>/<file>` outside `matrices/`.
pub fn subject_entry(name: &str) -> Option<(&str, &str, &str)> {
    let (folder, rest) = name.split_once('/').filter(|(folder, _)| *folder != "matrices")?;
    let (id, file) = rest.split_once('/')?;
    Some((folder, id, file))
}

/// Returns a safe id for a matrix: its name with other characters replaced by `_`, then `-` and the first
/// eight digits of its identity, so that matrices with the same name have different ids.
///
/// ```
/// use sparsescope_record::matrix_id;
/// assert_eq!(matrix_id("gen:poisson2d?n=64", "2fca02e9f435"), "gen_poisson2d_n_64-2fca02e9");
/// ```
pub fn matrix_id(name: &str, sha256: &str) -> String {
    let safe: String =
        name.chars().map(|c| if is_safe_char(c) { c } else { '_' }).take(KEPT_NAME).collect();
    let safe = match safe.trim_start_matches('.') {
        "" => "matrix",
        rest => rest,
    };
    let digits: String = sha256.chars().filter(char::is_ascii_hexdigit).take(8).collect();
    format!("{safe}-{digits}")
}

/// Returns the name of a matrix from its file name: without `.mtx`, `.tar`, `.tgz`, and the endings of
/// compressed files, such as `.gz`.
pub fn matrix_name(file: &str) -> &str {
    let compressed = [".gz", ".bz2", ".xz", ".zst", ".zip"];
    let name = compressed.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file);
    let endings = [".mtx", ".tar", ".tgz"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Whether a character affects its display instead of being shown: control characters, and marks that hide or
/// reverse the text after them.
pub fn is_invisible(c: char) -> bool {
    let hidden = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || hidden
}

/// Formats untrusted text for a message: control characters escaped, shortened to one readable line.
pub fn printable(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .flat_map(|c| {
            let escaped = is_invisible(c);
            let literal = (!escaped).then_some(c);
            escaped.then(|| c.escape_unicode()).into_iter().flatten().chain(literal)
        })
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_named_without_the_endings_of_its_file() {
        for file in [
            "cant",
            "cant.mtx",
            "cant.mtx.gz",
            "cant.mtx.zst",
            "cant.tar.xz",
            "cant.tgz",
            "cant.zip",
            "cant.mtx.zip",
        ] {
            assert_eq!(matrix_name(file), "cant", "{file}");
        }
    }

    #[test]
    fn ids_made_from_any_name_are_safe() {
        let sha = "2fca02e9f43587c2f5f8f764b859df50168797067783790bd23833c9c0ff470d";
        for name in ["cant", "", "..", ".hidden", "../../etc/passwd", "naïve ☃", "a\\b:c*"] {
            let id = matrix_id(name, sha);
            assert!(is_safe_id(&id), "{name:?} became {id:?}");
            assert!(id.ends_with("-2fca02e9"));
        }
        assert!(is_safe_id(&matrix_id(&"x".repeat(1000), sha)));
        assert_eq!(matrix_id("cant", sha), "cant-2fca02e9");
    }

    #[test]
    fn entry_names_that_leave_the_folder_are_not_safe() {
        for name in ["runs.json", "matrices/a-1/spy/0_0.png"] {
            assert!(is_safe_entry(name), "{name}");
        }
        for name in
            ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\\b", "C:x", "a\0b", "é"]
        {
            assert!(!is_safe_entry(name), "{name:?}");
        }
    }

    #[test]
    fn untrusted_text_stays_on_one_short_line() {
        assert_eq!(printable("a\nb\u{1b}[31m"), "a\\u{a}b\\u{1b}[31m");
        assert_eq!(printable("\u{202e}gpj"), "\\u{202e}gpj");
        assert_eq!(printable(&"x".repeat(500)).chars().count(), SHOWN + 1);
    }
}
