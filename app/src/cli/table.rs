//! Tables for the terminal.

use comfy_table::{CellAlignment, presets};

use super::terminal::one_line;

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

/// A duration with three significant digits and its unit.
pub(super) fn seconds(s: f64) -> String {
    let (value, unit) = match s {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    format!("{} {unit}", three_digits(value))
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
