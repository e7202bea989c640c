//! One matrix: its figures, how long its rows are, what each format makes of it.

use egui::{Grid, ScrollArea, Ui, pos2, vec2};
use sparsescope_core::bundle::{MatrixRecord, is_known_by_name};

use super::{View, nothing, provenance, selected};
use crate::figure::{Anchor, Axis, Figure, area, text_width};
use crate::model::{Model, bytes, count, display_name, seconds, significant};
use crate::state::{Filter, ViewState};
use crate::theme::{Ink, format_color};

pub(super) const VIEW: View = View {
    id: "matrix",
    name: "Matrix",
    sentence: "How the selected matrix is built, and how many bytes each format needs for it.",
    settings,
    show,
    table,
    svg: Some(svg),
};

const TYPE: f32 = 13.0;

fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    ui.checkbox(&mut state.log, "Logarithmic row counts");
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let Some(record) = selected(model, state) else {
        return nothing(ui, "No matrix passes the filters.");
    };
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.heading(display_name(record));
        if let Some(generator) = &record.generator {
            ui.weak(format!("{}: {generator}", record.source.as_str()));
        } else {
            ui.weak(record.source.as_str());
        }
        if is_known_by_name(record) {
            ui.weak("Imported: only name and size are known, perhaps row lengths; the rest is 0.");
        }
        ui.add_space(6.0);
        let facts = facts(record);
        let columns = match ui.available_width() {
            width if width > 760.0 => 3,
            width if width > 460.0 => 2,
            _ => 1,
        };
        Grid::new("facts").num_columns(columns * 2).striped(true).spacing([18.0, 6.0]).show(
            ui,
            |ui| {
                for line in facts.chunks(columns) {
                    for (name, value) in line {
                        ui.weak(*name);
                        ui.label(value);
                    }
                    ui.end_row();
                }
            },
        );
        ui.add_space(10.0);
        let width = (ui.available_width() - 12.0).max(420.0);
        let name = format!("Row lengths and formats of {}", display_name(record));
        figure(record, state, width).show(ui, &name);
    });
}

/// The figures in words.
fn facts(record: &MatrixRecord) -> Vec<(&'static str, String)> {
    let of = &record.statistics;
    let share = |share: Option<f64>| share.map_or("–".into(), percent);
    vec![
        ("Rows", count(of.rows)),
        ("Columns", count(of.cols)),
        ("Entries (nnz)", count(of.nnz)),
        ("Density", format!("{:.3e}", of.density)),
        ("Size class", of.nnz_class.clone()),
        ("Empty rows", count(of.row.empty)),
        ("Shortest row", count(of.row.min)),
        ("Median row", count(of.row.median)),
        ("Longest row", count(of.row.max)),
        ("Mean row", significant(of.row.mean)),
        ("Standard deviation", significant(of.row.stddev)),
        ("Average deviation", significant(of.row.average_deviation)),
        ("Lower bandwidth", count(of.lower_bandwidth)),
        ("Upper bandwidth", count(of.upper_bandwidth)),
        ("Diagonal entries", count(of.diagonal)),
        ("Structural symmetry", share(of.structural_symmetry)),
        ("Numerical symmetry", share(of.numerical_symmetry)),
        ("Time to read", seconds(record.read_seconds)),
    ]
}

fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let mut lines = vec![["matrix", "what", "of", "value"].map(str::to_owned).to_vec()];
    let Some(record) = selected(model, state) else { return lines };
    let mut line = |what: &str, of: String, value: String| {
        lines.push(vec![record.name.clone(), what.into(), of, value]);
    };
    for (index, rows) in record.statistics.row.histogram.iter().enumerate() {
        line("rows of length", bin(index), rows.to_string());
    }
    for size in &record.statistics.formats {
        line("bytes", size.format.clone(), size.bytes.to_string());
        line("slots an entry", size.format.clone(), size.padding.to_string());
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let Some(record) = selected(model, state) else {
        return Figure::new(vec2(1.0, 1.0), state.theme.ink().paper)
            .to_svg(VIEW.sentence, &crate::figure::Provenance::default());
    };
    let all = model.runs(&Filter::default());
    let runs: Vec<_> = all.into_iter().filter(|run| run.record.sha256 == record.sha256).collect();
    let title = format!("{}: row lengths and formats", display_name(record));
    figure(record, state, 900.0).to_svg(&title, &provenance(model, &runs))
}

/// Row lengths that a bin of the histogram counts.
fn bin(index: usize) -> String {
    let from = |index: usize| 1_u64 << index.min(62);
    match index {
        0 => "0".into(),
        1 => "1".into(),
        _ => format!("{}–{}", from(index - 1), from(index) - 1),
    }
}

/// Histogram above, bars of the formats below.
fn figure(record: &MatrixRecord, state: &ViewState, width: f32) -> Figure {
    let ink = state.theme.ink();
    let mut figure = Figure::new(vec2(width, 0.0), ink.paper);
    let bottom = histogram(&mut figure, record, state.log, ink);
    figure.size.y = formats(&mut figure, record, bottom + 24.0, ink);
    figure
}

/// Rows by length; returns the lowest y taken.
fn histogram(figure: &mut Figure, record: &MatrixRecord, log: bool, ink: Ink) -> f32 {
    let bins = &record.statistics.row.histogram;
    let (left, right, top, bottom) = (64.0, figure.size.x - 24.0, 34.0, 194.0);
    let title = "Rows by number of entries (bins double in width)";
    figure.text(pos2(8.0, 14.0), Anchor::Start, TYPE + 1.0, ink.text, title);
    // Half a row is where a logarithmic bar of one row can begin.
    let values = bins.iter().map(|rows| *rows as f64).filter(|rows| *rows > 0.0);
    let values = values.chain(log.then_some(0.8));
    let axis = Axis::new(values, log, bottom, top);
    for tick in axis.ticks().into_iter().filter(|tick| !log || tick.log10().fract() == 0.0) {
        let y = axis.place(tick);
        figure.line(pos2(left, y), pos2(right, y), 1.0, ink.grid);
        figure.text(pos2(left - 8.0, y), Anchor::End, TYPE, ink.weak, &count(tick as u64));
    }
    let step = (right - left) / bins.len().max(1) as f32;
    let mut labelled = f32::NEG_INFINITY;
    for (index, rows) in bins.iter().enumerate() {
        let x = left + step * index as f32;
        if *rows > 0 {
            let bar = area(x + step * 0.1, axis.place(*rows as f64), x + step * 0.9, bottom);
            figure.rect(bar, format_color("csr"));
        }
        let (middle, label) = (x + step * 0.5, bin(index));
        let half = text_width(&label, TYPE) * 0.5;
        if middle - half > labelled {
            figure.text(pos2(middle, bottom + 14.0), Anchor::Middle, TYPE, ink.weak, &label);
            labelled = middle + half + 6.0;
        }
    }
    figure.line(pos2(left, bottom), pos2(right, bottom), 1.0, ink.weak);
    bottom + 28.0
}

/// Bytes of each format, its padding the hollow part; returns the lowest y taken.
fn formats(figure: &mut Figure, record: &MatrixRecord, top: f32, ink: Ink) -> f32 {
    const ROW: f32 = 26.0;
    let sizes = &record.statistics.formats;
    let title = "Bytes of each format; the hollow part of a bar is padding";
    figure.text(pos2(8.0, top), Anchor::Start, TYPE + 1.0, ink.text, title);
    let names = sizes.iter().map(|size| text_width(&size.format, TYPE));
    let (left, right) = (names.fold(48.0, f32::max) + 16.0, figure.size.x - 210.0);
    // A format that explodes must not squeeze the others: bars end at eight times the smallest.
    let smallest = sizes.iter().map(|size| size.bytes).min().unwrap_or(1).max(1);
    let full = sizes.iter().map(|size| size.bytes).max().unwrap_or(1).min(smallest * 8);
    let mut y = top + 24.0;
    for size in sizes {
        let color = format_color(&size.format);
        let length = (right - left) * (size.bytes.min(full) as f32 / full as f32);
        let used = length / size.padding.max(1.0) as f32;
        figure.text(pos2(left - 8.0, y), Anchor::End, TYPE, ink.text, &size.format);
        figure.rect(area(left, y - 8.0, left + length, y + 8.0), color);
        if length - used > 2.0 {
            let hollow = area(left + used, y - 6.5, left + length - 1.5, y + 6.5);
            figure.rect(hollow, ink.paper);
        }
        let cut = if size.bytes > full { " (bar cut)" } else { "" };
        let padding = match size.padding {
            none if none <= 1.0 => "no padding".to_owned(),
            some => format!("{} slots an entry", significant(some)),
        };
        let text = format!("{}, {padding}{cut}", bytes(size.bytes));
        figure.text(pos2(left + length + 8.0, y), Anchor::Start, TYPE, ink.weak, &text);
        y += ROW;
    }
    y
}
