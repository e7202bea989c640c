//! Tables for the terminal.

use comfy_table::{CellAlignment, presets};

use super::terminal::{Color, colored, one_line};

/// Most characters of a line of prose.
pub(super) const WIDTH: usize = 100;

/// Characters of a line of prose in a terminal with fewer.
const NARROWEST: usize = 40;

/// Least characters to which a name is shortened.
const LEAST: usize = 8;

/// A table whose cells are single lines, whatever text they hold.
pub(super) struct Table(comfy_table::Table);

impl Table {
    /// Adds a row.
    pub(super) fn add_row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0.add_row(cells.into_iter().map(|cell| one_line(cell.as_ref()).into_owned()));
    }
}

/// A table with these headings; the columns in `right` hold numbers.
pub(super) fn table(headings: &[&str], right: &[usize]) -> Table {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings.iter().map(|heading| one_line(heading).into_owned()));
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    Table(table)
}

/// The lines of a table without trailing blanks, each with a line end.
pub(super) fn render(table: &Table) -> String {
    let lines = table.0.to_string();
    lines.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What a column of a [`fitted`] table holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers, which are never shortened.
    Number,
    /// Words, which are never shortened.
    Word,
    /// Numbers that are left out where the table would be too wide, the last column first.
    Spare,
    /// Names, shortened in the middle where the table would be too wide.
    Name,
    /// Names that stand out.
    Best,
}

/// A column of a [`fitted`] table.
pub(super) struct Column {
    /// The heading, then a cell per row.
    lines: Vec<String>,
    kind: Kind,
    /// Characters of the longest line.
    longest: usize,
    /// Characters of the longest line if names are shortened; the heading never is.
    least: usize,
}

impl Column {
    /// The text is made a single line each.
    pub(super) fn new(kind: Kind, title: &str, cells: impl IntoIterator<Item = String>) -> Self {
        let lines = std::iter::once(title.to_owned()).chain(cells);
        let lines: Vec<String> = lines.map(|line| one_line(&line).into_owned()).collect();
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let least = match kind {
            Kind::Number | Kind::Word | Kind::Spare => longest,
            Kind::Name | Kind::Best => longest.min(LEAST.max(title.chars().count())),
        };
        Self { lines, kind, longest, least }
    }

    /// Whether a row has something in it.
    pub(super) fn has_cells(&self) -> bool {
        self.lines.iter().skip(1).any(|cell| cell != DASH)
    }
}

/// The content of a cell that has none.
pub(super) const DASH: &str = "-";

/// A table of at most `room` characters per line, as far as names can be shortened and columns left out; without a
/// limit it is whole.
pub(super) fn fitted(columns: &[Column], colors: bool, room: Option<usize>) -> String {
    // Two blanks follow each column but the last.
    let room = room.map_or(usize::MAX, |room| room + 2);
    let mut columns: Vec<&Column> = columns.iter().collect();
    while columns.iter().map(|column| column.least + 2).sum::<usize>() > room {
        let Some(spare) = columns.iter().rposition(|column| column.kind == Kind::Spare) else {
            break;
        };
        columns.remove(spare);
    }
    let mut widths: Vec<usize> = columns.iter().map(|column| column.longest).collect();
    while widths.iter().map(|width| width + 2).sum::<usize>() > room {
        let names = widths.iter_mut().zip(&columns);
        let names = names.filter(|(width, of)| **width > of.least);
        match names.max_by_key(|(width, _)| **width) {
            Some((width, _)) => *width -= 1,
            None => break,
        }
    }
    let rows = columns.first().map_or(0, |column| column.lines.len());
    let mut text = String::new();
    for row in 0..rows {
        let cells = columns.iter().zip(&widths).map(|(column, &width)| {
            let cell = column.lines.get(row).map_or("", String::as_str);
            let cell = elided(cell, width);
            let blank = " ".repeat(width.saturating_sub(cell.chars().count()));
            match column.kind {
                Kind::Number | Kind::Spare => blank + &cell,
                Kind::Best if colors && row > 0 && cell != DASH => {
                    colored(&cell, Color::Green) + &blank
                }
                Kind::Name | Kind::Word | Kind::Best => cell + &blank,
            }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// The same for cells by row, without colours; a row may have fewer cells than there are headings.
pub(super) fn fitted_rows(
    headings: &[(Kind, &str)],
    rows: &[Vec<String>],
    room: Option<usize>,
) -> String {
    let columns = headings.iter().enumerate().map(|(k, &(kind, title))| {
        let cells = rows.iter().map(|row| row.get(k).cloned().unwrap_or_default());
        Column::new(kind, title, cells)
    });
    fitted(&columns.collect::<Vec<_>>(), false, room)
}

/// Shortens text in the middle to at most `most` characters.
fn elided(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// Text in lines of at most [`WIDTH`] characters, fewer in a terminal with less `room`; `start` comes before the first,
/// `indent` before the others.
pub(super) fn wrapped(start: &str, text: &str, indent: &str, room: Option<usize>) -> String {
    let most = room.map_or(WIDTH, |room| room.clamp(NARROWEST, WIDTH));
    let mut lines = String::new();
    let (mut line, mut is_new) = (start.to_owned(), true);
    for word in text.split_whitespace() {
        if !is_new && line.chars().count() + 1 + word.chars().count() > most {
            lines += &line;
            lines.push('\n');
            (line, is_new) = (indent.to_owned(), true);
        }
        if !is_new {
            line.push(' ');
        }
        line += word;
        is_new = false;
    }
    lines + &line + "\n"
}

/// A duration with three significant digits and its unit.
pub(super) fn seconds(s: f64) -> String {
    small_unit(s, "s")
}

/// An energy with three significant digits, e.g. `1.25 mJ`.
pub(super) fn joules(energy: f64) -> String {
    small_unit(energy, "J")
}

fn small_unit(value: f64, unit: &str) -> String {
    let (value, prefix) = match value {
        v if v >= 1.0 => (v, ""),
        v if v >= 1e-3 => (v * 1e3, "m"),
        v if v >= 1e-6 => (v * 1e6, "u"),
        v => (v * 1e9, "n"),
    };
    format!("{} {prefix}{unit}", three_digits(value))
}

/// A positive number with three significant digits, without exponent, with at most nine decimals.
pub(super) fn three_digits(value: f64) -> String {
    // The exponent of the leading digit after rounding to three digits.
    let power = format!("{value:.2e}").split_once('e').and_then(|(_, p)| p.parse::<i32>().ok());
    let decimals = (2 - power.unwrap_or(0)).clamp(0, 9) as usize;
    let decimals = if value == 0.0 { 0 } else { decimals };
    format!("{value:.decimals$}")
}

/// `1 matrix`, `2 matrices`.
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n as u64), if n == 1 { one } else { many })
}

/// Capitalises the first letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// A count with digits in groups of three: `1 234 567`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_too_wide_shortens_its_longest_names_in_the_middle() {
        let long = "a".repeat(60) + &"z".repeat(60);
        let columns = [
            Column::new(Kind::Name, "matrix", [long, "b".to_owned()]),
            Column::new(Kind::Best, "fastest", ["csr/simd".to_owned(), DASH.to_owned()]),
            Column::new(Kind::Number, "median", ["1.00 ms".to_owned(), DASH.to_owned()]),
        ];
        let plain = fitted(&columns, false, Some(80));
        let lines: Vec<&str> = plain.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{plain}");
        assert!(lines[1].contains("aa…zz") && lines[1].ends_with("  csr/simd  1.00 ms"), "{plain}");
        assert!(lines[0].ends_with("fastest    median"), "{plain}");
        let colored = fitted(&columns, true, Some(80));
        assert_eq!(colored.replace("\u{1b}[1;32m", "").replace("\u{1b}[0m", ""), plain);
        assert_eq!(colored.matches("\u{1b}[1;32mcsr/simd\u{1b}[0m").count(), 1);
        // 120 letters, 8 and 7, with two spaces between columns.
        let whole = fitted(&columns, false, None);
        assert!(!whole.contains('…') && fitted(&columns, false, Some(139)) == whole, "{whole}");
        assert!(fitted(&columns, false, Some(138)).contains('…'));
        let word =
            Column::new(Kind::Word, "check", ["limited by rounding".to_owned(), String::new()]);
        let [name, ..] = columns;
        let text = fitted(&[name, word], false, Some(40));
        assert!(text.lines().nth(1).unwrap().ends_with("  limited by rounding"), "{text}");
    }

    #[test]
    fn a_narrow_table_keeps_its_headings_and_leaves_out_what_follows_from_the_rest() {
        let of = |kind, title: &str, width| Column::new(kind, title, ["x".repeat(width)]);
        // As wide as in the README.
        let columns = [
            of(Kind::Name, "matrix", 12),
            of(Kind::Number, "nnz", 6),
            of(Kind::Best, "fastest", 11),
            of(Kind::Number, "threads", 1),
            of(Kind::Number, "median", 6),
            of(Kind::Spare, "GFLOPS", 4),
            of(Kind::Spare, "% of copy", 3),
            of(Kind::Number, "speed-up", 5),
            of(Kind::Name, "runner-up", 11),
            of(Kind::Number, "behind", 6),
        ];
        let headings = |room: usize, left_out: &[&str]| {
            let text = fitted(&columns, false, Some(room));
            assert!(text.lines().all(|line| line.chars().count() <= room), "{text}");
            let titles = columns.iter().map(|column| column.lines[0].as_str());
            let titles: Vec<&str> = titles.filter(|title| !left_out.contains(title)).collect();
            let heading: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
            assert_eq!(heading.join(" "), titles.join(" "));
            text
        };
        assert!(!headings(100, &[]).contains('…'));
        assert!(headings(99, &[]).contains('…'));
        headings(91, &[]);
        headings(90, &["% of copy"]);
        headings(80, &["% of copy"]);
        headings(79, &["% of copy", "GFLOPS"]);
    }

    #[test]
    fn cells_of_rows_are_in_their_columns_and_a_row_without_cells_is_an_empty_line() {
        let headings = [(Kind::Name, "matrix"), (Kind::Number, "median"), (Kind::Name, "check")];
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["a", "1.00 ms", "pass"]), Vec::new(), row(["", "-", "fail"])];
        let text = fitted_rows(&headings, &rows, None);
        let lines =
            ["matrix   median  check", "a       1.00 ms  pass", "", "              -  fail"];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn long_text_is_broken_between_words() {
        let words = ["word"; 50].join(" ");
        let rooms = [(None, 100), (Some(80), 80), (Some(9), 40), (Some(300), 100)];
        for (room, most) in rooms {
            let text = wrapped("Start: ", &words, "  ", room);
            let longest = text.lines().map(str::len).max().unwrap();
            assert!((most - 4..=most).contains(&longest), "{text}");
            let joined: Vec<&str> = text.split_whitespace().skip(1).collect();
            assert_eq!(joined.join(" "), words);
        }
        assert_eq!(wrapped("a ", "b", "", None), "a b\n");
    }

    #[test]
    fn numbers_are_short_and_keep_three_digits() {
        assert_eq!(seconds(1.2345), "1.23 s");
        assert_eq!(seconds(0.045678), "45.7 ms");
        assert_eq!(seconds(123.4e-6), "123 us");
        assert_eq!(seconds(5e-9), "5.00 ns");
        let shown = [99.96, 9.996, 0.0021, 0.0, 123456.0].map(three_digits);
        assert_eq!(shown, ["100", "10.0", "0.00210", "0", "123456"]);
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1 234 567"]);
    }
}
