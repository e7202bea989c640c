//! Tables as text to paste into a document.

use sparsescope_core::bundle::spreadsheet_cell;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table of GitHub's Markdown.
    Markdown,
    /// A `tabular` environment that needs no package.
    Latex,
    /// Values separated by tabs, which spreadsheets take from the clipboard.
    Tsv,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Latex, Self::Tsv];

    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Latex => "LaTeX",
            Self::Tsv => "TSV",
        }
    }

    /// Writes a table whose first line is its header. Columns of numbers are aligned to the right.
    pub fn write(self, lines: &[Vec<String>]) -> String {
        let Some((header, body)) = lines.split_first() else { return String::new() };
        let numeric: Vec<bool> = (0..header.len()).map(|column| is_numeric(body, column)).collect();
        let line = |cells: &Vec<String>| self.line(cells, header.len());
        let rows: String = body.iter().map(line).collect();
        let header = line(header);
        match self {
            Self::Markdown => {
                let rule = |right: &bool| if *right { " ---: |" } else { " --- |" };
                let rules: String = numeric.iter().map(rule).collect();
                format!("{header}|{rules}\n{rows}")
            }
            Self::Latex => {
                let columns: String =
                    numeric.iter().map(|right| if *right { 'r' } else { 'l' }).collect();
                format!(
                    "\\begin{{tabular}}{{{columns}}}\n\\hline\n{header}\\hline\n{rows}\\hline\n\
                     \\end{{tabular}}\n"
                )
            }
            Self::Tsv => header + &rows,
        }
    }

    /// A line of this many cells.
    fn line(self, cells: &[String], width: usize) -> String {
        let cells = cells.iter().map(String::as_str).chain(std::iter::repeat("")).take(width);
        let cells: Vec<String> = cells.map(|cell| self.cell(cell)).collect();
        match self {
            Self::Markdown => format!("| {} |\n", cells.join(" | ")),
            Self::Latex => format!("{} \\\\\n", cells.join(" & ")),
            Self::Tsv => cells.join("\t") + "\n",
        }
    }

    /// The text of a cell on one line, without the characters that mean something in this form.
    fn cell(self, text: &str) -> String {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match self {
            Self::Markdown => text.chars().map(markdown).collect(),
            Self::Latex => text.chars().map(latex).collect(),
            Self::Tsv => spreadsheet_cell(&text).into_owned(),
        }
    }
}

fn markdown(letter: char) -> String {
    match letter {
        '\\' | '|' | '*' | '_' | '`' | '<' | '&' | '[' | '~' => format!("\\{letter}"),
        _ => letter.to_string(),
    }
}

fn latex(letter: char) -> String {
    match letter {
        '\\' => "\\textbackslash{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '<' => "\\textless{}".into(),
        '>' => "\\textgreater{}".into(),
        '|' => "\\textbar{}".into(),
        // After a line break, these would be its arguments.
        '[' | '*' => format!("{{{letter}}}"),
        '{' | '}' | '$' | '&' | '#' | '_' | '%' => format!("\\{letter}"),
        _ => letter.to_string(),
    }
}

/// Whether a column has numbers only, and at least one.
fn is_numeric(body: &[Vec<String>], column: usize) -> bool {
    let cells = || body.iter().filter_map(|line| line.get(column)).filter(|cell| !cell.is_empty());
    cells().next().is_some() && cells().all(|cell| cell.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<Vec<String>> {
        let lines = [["kernel", "GFLOPS"], ["a_b|c", "1.5"], ["50 % & *x*", ""], ["=1\tx", "-2"]];
        lines.iter().map(|line| line.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn markdown_keeps_its_columns_whatever_the_cells_contain() {
        let expected = "| kernel | GFLOPS |\n| --- | ---: |\n| a\\_b\\|c | 1.5 |\n\
                        | 50 % \\& \\*x\\* |  |\n| =1 x | -2 |\n";
        assert_eq!(Form::Markdown.write(&table()), expected);
    }

    #[test]
    fn latex_escapes_what_it_would_interpret() {
        let expected = "\\begin{tabular}{lr}\n\\hline\nkernel & GFLOPS \\\\\n\\hline\n\
                        a\\_b\\textbar{}c & 1.5 \\\\\n50 \\% \\& {*}x{*} &  \\\\\n=1 x & -2 \\\\\n\
                        \\hline\n\\end{tabular}\n";
        assert_eq!(Form::Latex.write(&table()), expected);
        let hostile = vec![vec!["{$#^~\\}".to_owned()]];
        let text = Form::Latex.write(&hostile);
        let cell = r"\{\$\#\textasciicircum{}\textasciitilde{}\textbackslash{}\}";
        assert!(text.contains(&format!("\n{cell} ")), "{text}");
    }

    #[test]
    fn what_is_pasted_into_a_spreadsheet_is_no_formula() {
        let text = Form::Tsv.write(&table());
        assert_eq!(text, "kernel\tGFLOPS\na_b|c\t1.5\n50 % & *x*\t\n'=1 x\t-2\n");
    }

    #[test]
    fn short_lines_are_filled_and_no_table_is_no_text() {
        let cells = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let lines: Vec<Vec<String>> = vec![cells(&["a", "b"]), cells(&["1"])];
        assert_eq!(Form::Tsv.write(&lines), "a\tb\n1\t\n");
        for form in Form::ALL {
            assert_eq!(form.write(&[]), "");
        }
    }
}
