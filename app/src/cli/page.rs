//! What pages without scripts have in common: their style, and tables.

use sparsescope_core::record::Cpu;

use super::markup::Html;
use super::table::counted;

/// The style of a page.
pub(super) const STYLE: &str = "
:root { color-scheme: light dark; --line: #d0d0d0; --weak: #5f5f5f; --link: #005a96; }
body { font: 15px/1.45 Helvetica, Arial, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.2rem; } a { color: var(--link); }
.weak { color: var(--weak); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.92em; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.55rem 0.2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; } td.long { white-space: normal; overflow-wrap: anywhere; min-width: 16rem; }
.number { text-align: right; }
figure { margin: 1.2rem 0; } figcaption { margin-bottom: 0.4rem; }
.chart svg { display: block; width: 100%; min-width: 44rem; height: auto; }
.matrix { border-top: 1px solid var(--line); padding-top: 0.8rem; margin-top: 1.2rem; }
.matrix h3 { margin: 0 0 0.4rem; }
.matrix .about { display: flex; flex-wrap: wrap; gap: 1rem; }
.matrix svg { background: #ffffff; border: 1px solid var(--line); }
@media (prefers-color-scheme: dark) {
  :root { --line: #4a4a4a; --weak: #a8a8a8; --link: #78bef5; }
  body { background: #181818; color: #ebebeb; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 9pt; color: #000000; background: #ffffff; }
  h2, h3 { break-after: avoid; } figure, .matrix, tr { break-inside: avoid; }
  .chart svg { min-width: 0; } .wide { overflow: visible; }
}
";

/// The content of a table cell; numbers are right-aligned.
pub(super) enum Cell {
    /// A word.
    Text(String),
    /// A number.
    Number(String),
    /// A sentence that may wrap.
    Long(String),
    /// A link to the subject with this number.
    Subject(usize, String),
    /// A drawing.
    Svg(String),
}

/// A CPU with its number of cores, if that is known.
pub(super) fn cpu_name(cpu: &Cpu) -> String {
    let cores = counted(cpu.logical as usize, "logical CPU", "logical CPUs");
    match (cpu.model.as_str(), cpu.logical) {
        (model, 0) => model.to_owned(),
        ("", _) => cores,
        (model, _) => format!("{model}, {cores}"),
    }
}

/// A table that scrolls if it is wider than the page.
pub(super) fn table(html: &mut Html, header: &[&str], lines: &[Vec<Cell>]) {
    const NUMBER: &[(&str, &str)] = &[("class", "number")];
    let first = lines.first();
    let is_number = |column: usize| {
        let cell = first.and_then(|line| line.get(column));
        cell.is_some_and(|cell| matches!(cell, Cell::Number(_)))
    };
    let cell = |html: &mut Html, cell: &Cell| match cell {
        Cell::Text(text) => html.of_text("td", &[], text),
        Cell::Number(text) => html.of_text("td", NUMBER, text),
        Cell::Long(text) => html.of_text("td", &[("class", "long")], text),
        Cell::Subject(number, text) => {
            let to = format!("#subject-{number}");
            html.element("td", &[], |html| html.of_text("a", &[("href", to.as_str())], text));
        }
        Cell::Svg(svg) => html.element("td", &[], |html| html.svg(svg)),
    };
    html.element("div", &[("class", "wide")], |html| {
        html.element("table", &[], |html| {
            html.element("tr", &[], |html| {
                for (column, name) in header.iter().enumerate() {
                    html.of_text("th", if is_number(column) { NUMBER } else { &[] }, name);
                }
            });
            for line in lines {
                html.element("tr", &[], |html| line.iter().for_each(|of| cell(html, of)));
            }
        });
    });
}
