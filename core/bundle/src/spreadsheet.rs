//! Text for spreadsheet cells: content from a file must not be executed there.

use std::borrow::Cow;

/// The text of a cell, with an apostrophe prepended if a spreadsheet would take it for a formula: a
/// matrix or a device may have any name. Numbers are unchanged.
///
/// ```
/// use sparsescope_bundle::spreadsheet_cell;
/// assert_eq!(spreadsheet_cell("=HYPERLINK(A1)"), "'=HYPERLINK(A1)");
/// assert_eq!(spreadsheet_cell("-1.5e-3"), "-1.5e-3");
/// ```
pub fn spreadsheet_cell(text: &str) -> Cow<'_, str> {
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    match begins_formula && text.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_spreadsheet_would_compute_is_marked() {
        for formula in
            ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=cmd|' /C calc'!A0"]
        {
            assert_eq!(spreadsheet_cell(formula), format!("'{formula}"));
        }
        for plain in ["", "cant", "1-2", "-3", "+4.5e6", "a=b", "'=1", "cpu/csr/serial"] {
            assert_eq!(spreadsheet_cell(plain), plain);
        }
    }
}
