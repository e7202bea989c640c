//! One matrix: its statistics, its row lengths, its size in each format.

use emath::{pos2, vec2};
use sparsescope_core::bundle::is_known_by_name;
use sparsescope_core::record::{MatrixRecord, Subject};

use super::provenance::provenance;
use super::ranking;
use super::view::{View, subject};
use crate::figure::{Anchor, Axis, Figure, area, elided, text_width};
use crate::model::{
    Model, RunOf, bytes, count, display_name, matrix_key, seconds, significant, subject_key,
};
use crate::state::{Filter, ViewState};
use crate::theme::{BODY, Ink, SMALL, format_color};

pub const VIEW: View = View {
    id: "matrix",
    name: "Matrix",
    sentence: "Structure of the selected matrix, and its size in each format.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty: crate::views::view::never,
};

const TYPE: f32 = SMALL;

/// Bars are at least this long; where their texts leave less, the texts are below.
const SHORTEST: f32 = 140.0;

/// What tells it from other matrices, in one line.
pub fn headline(record: &MatrixRecord) -> String {
    let of = &record.statistics;
    let size = format!("{} × {}", count(of.rows), count(of.cols));
    let mut parts = vec![size, format!("{} nonzeros", count(of.nnz))];
    if !is_known_by_name(record) {
        let [min, max] = [of.row.min, of.row.max].map(count);
        parts.push(format!("{min} to {max} per row, mean {}", significant(of.row.mean)));
        let bandwidth = of.lower_bandwidth.max(of.upper_bandwidth);
        parts.push(format!("bandwidth {}", count(bandwidth)));
        let is_whole = |share: Option<f64>| share.is_some_and(|share| share >= 1.0);
        parts.extend(of.structural_symmetry.map(|share| {
            let words = match (is_whole(of.numerical_symmetry), is_whole(Some(share))) {
                (true, _) => "symmetric",
                (false, true) => "symmetric structure",
                (false, false) => "not symmetric",
            };
            words.to_owned()
        }));
    }
    parts.join(" · ")
}

/// The statistics as text, and how long it took to read, unless it was never in a file.
pub fn facts(record: &MatrixRecord) -> Vec<(&'static str, String)> {
    let of = &record.statistics;
    let share = |share: Option<f64>| share.map_or("–".into(), percent);
    let read = (record.read_seconds > 0.0).then(|| seconds(record.read_seconds));
    let mut facts = vec![
        ("Rows", count(of.rows)),
        ("Columns", count(of.cols)),
        ("Nonzeros (nnz)", count(of.nnz)),
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
        ("Diagonal nonzeros", count(of.diagonal)),
        ("Structural symmetry", share(of.structural_symmetry)),
        ("Numerical symmetry", share(of.numerical_symmetry)),
    ];
    facts.extend(read.map(|read| ("Time to read", read)));
    facts
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "<0.1 %".into(),
        percent => format!("{} %", significant(percent)),
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let mut lines = vec![["matrix", "what", "of", "value"].map(str::to_owned).to_vec()];
    let Some(of) = subject(model, state) else { return lines };
    let mut line = |what: &str, kernel: String, value: String| {
        lines.push(vec![of.name().to_owned(), what.into(), kernel, value]);
    };
    for run in ranking::ranked(model, state, &subject_key(of)) {
        if let Some(metric) = run.metric() {
            let kernel = run.with_setting(&run.run.kernel_as_run(), ", ");
            let kernel = format!("{kernel} ({})", run.bundle.label());
            line(&metric.unit, kernel, metric.value.to_string());
        }
    }
    let record = match of {
        Subject::Matrix(record) => record,
        Subject::Other(record) => {
            record
                .sizes
                .iter()
                .for_each(|(name, size)| line(name, String::new(), size.to_string()));
            return lines;
        }
    };
    for (index, rows) in record.statistics.row.histogram.iter().enumerate() {
        line("rows of length", bin(index), rows.to_string());
    }
    for size in &record.statistics.formats {
        line("bytes", size.format.clone(), size.bytes.to_string());
        line("slots per nonzero", size.format.clone(), size.padding.to_string());
    }
    for run in model.predicted(&matrix_key(record)) {
        let Some(predicted) = &run.run.costs.predicted else { continue };
        let mut of_kernel = |what: &str, value: Option<String>| {
            if let Some(value) = value {
                line(&format!("predicted {what}"), run.run.kernel.clone(), value);
            }
        };
        let whole = |number: Option<u64>| number.map(|number| number.to_string());
        of_kernel("load sectors", whole(predicted.load_sectors));
        of_kernel("store sectors", whole(predicted.store_sectors));
        of_kernel("bytes moved", whole(predicted.moved_bytes()));
        of_kernel("bytes useful", whole(predicted.useful_bytes));
        of_kernel("idle share of lanes", predicted.idle_share.map(|share| share.to_string()));
        of_kernel("imbalance", predicted.imbalance.map(|most| most.to_string()));
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let Some(Subject::Matrix(record)) = subject(model, state) else {
        return Figure::new(vec2(1.0, 1.0), state.theme.ink().paper)
            .to_svg(VIEW.sentence, &crate::figure::Provenance::default());
    };
    let all = model.runs(&Filter::everything());
    let key = matrix_key(record);
    let runs: Vec<_> = all.into_iter().filter(|run| run.key() == key).collect();
    let title = format!("{}: row lengths and formats", display_name(record));
    figure(record, &model.predicted(&matrix_key(record)), state, 900.0)
        .to_svg(&title, &provenance(model, &runs))
}

/// Label of the row lengths that a bin of the histogram counts.
fn bin(index: usize) -> String {
    let from = |index: usize| 1_u64 << index.min(62);
    match index {
        0 => "0".into(),
        1 => "1".into(),
        _ => format!("{}–{}", from(index - 1), from(index) - 1),
    }
}

/// Histogram at the top, then bars of the formats, then bars of the predictions.
pub fn figure(
    record: &MatrixRecord,
    predicted: &[RunOf<'_>],
    state: &ViewState,
    width: f32,
) -> Figure {
    let ink = state.theme.ink();
    let mut figure = Figure::new(vec2(width, 0.0), ink.paper);
    let bottom = histogram(&mut figure, record, state.log, ink);
    figure.size.y = formats(&mut figure, record, bottom + 24.0, ink);
    if !predicted.is_empty() {
        let top = figure.size.y + 24.0;
        figure.size.y = kernels(&mut figure, predicted, top, ink);
    }
    figure
}

/// Rows by length; returns the bottom.
fn histogram(figure: &mut Figure, record: &MatrixRecord, log: bool, ink: Ink) -> f32 {
    let bins = &record.statistics.row.histogram;
    let (left, right, top, bottom) = (64.0, figure.size.x - 24.0, 34.0, 194.0);
    let title = "Rows by length (bins double in width)";
    figure.strong(pos2(8.0, 14.0), Anchor::Start, BODY, ink.text, title);
    // A logarithmic bar of one row starts at half a row.
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

/// A bar of bytes.
struct Bar<'a> {
    name: &'a str,
    format: &'a str,
    bytes: u64,
    /// The fraction that is filled; the rest is hollow.
    used: f64,
    text: String,
}

/// Bytes of each format, with padding hollow; returns the bottom.
fn formats(figure: &mut Figure, record: &MatrixRecord, top: f32, ink: Ink) -> f32 {
    let bars = record.statistics.formats.iter().map(|size| {
        let padding = match size.padding {
            none if none <= 1.0 => "no padding".to_owned(),
            some => format!("{} slots per nonzero", significant(some)),
        };
        let (used, text) =
            (1.0 / size.padding.max(1.0), format!("{}, {padding}", bytes(size.bytes)));
        Bar { name: &size.format, format: &size.format, bytes: size.bytes, used, text }
    });
    let title = "Bytes in each format (hollow: padding)";
    let bars: Vec<Bar<'_>> = bars.collect();
    draw_bars(figure, title, &bars, top, ink)
}

/// Bytes that each kernel is predicted to move, with bytes that it does not request hollow; returns
/// the bottom.
fn kernels(figure: &mut Figure, runs: &[RunOf<'_>], top: f32, ink: Ink) -> f32 {
    let bars = runs.iter().filter_map(|run| {
        let predicted = run.run.costs.predicted.as_ref()?;
        let moved = predicted.moved_bytes()?;
        let mut text = bytes(moved);
        let useful = predicted.efficiency();
        let parallel = predicted.imbalance.filter(|most| run.run.threads > 1 && *most > 1.005);
        let facts = [
            predicted.load_sectors.map(|sectors| format!("{} sectors", count(sectors))),
            useful.map(|share| format!("{} useful", percent(share))),
            predicted.idle_share.map(|share| format!("{} idle", percent(share))),
            parallel.map(|most| format!("largest part {} times the mean", significant(most))),
        ];
        facts.into_iter().flatten().for_each(|fact| text += &format!(", {fact}"));
        let format = run.run.format();
        Some(Bar { name: &run.run.kernel, format, bytes: moved, used: useful.unwrap_or(1.0), text })
    });
    let bars: Vec<Bar<'_>> = bars.collect();
    let title = match bars.iter().any(|bar| bar.used < 1.0) {
        true => "Predicted bytes moved (hollow: unused)",
        false => "Predicted bytes moved",
    };
    draw_bars(figure, title, &bars, top, ink)
}

/// Draws bars with their texts; returns the bottom.
fn draw_bars(figure: &mut Figure, title: &str, bars: &[Bar<'_>], top: f32, ink: Ink) -> f32 {
    figure.strong(pos2(8.0, top), Anchor::Start, BODY, ink.text, title);
    // A huge format must not squeeze the others: bars end at eight times the smallest.
    let smallest = bars.iter().map(|bar| bar.bytes).min().unwrap_or(1).max(1);
    let full = bars.iter().map(|bar| bar.bytes).max().unwrap_or(1).clamp(1, smallest * 8);
    let text = |bar: &Bar<'_>| match bar.bytes > full {
        true => format!("{} (bar cut off)", bar.text),
        false => bar.text.clone(),
    };
    let names = bars.iter().map(|bar| text_width(bar.name, TYPE));
    let left = names.fold(48.0, f32::max) + 16.0;
    let texts = bars.iter().map(|bar| text_width(&text(bar), TYPE));
    let room = texts.fold(48.0, f32::max) + 16.0;
    let below = figure.size.x - left - room < SHORTEST;
    let (row, room) = if below { (44.0, 8.0) } else { (26.0, room) };
    let right = (figure.size.x - room).max(left + 40.0);
    let mut y = top + 24.0;
    for bar in bars {
        let length = (right - left) * (bar.bytes.min(full) as f32 / full as f32);
        let used = length * bar.used as f32;
        figure.text(pos2(left - 8.0, y), Anchor::End, TYPE, ink.text, bar.name);
        figure.rect(area(left, y - 8.0, left + length, y + 8.0), format_color(bar.format));
        if length - used > 2.0 {
            let hollow = area(left + used, y - 6.5, left + length - 1.5, y + 6.5);
            figure.rect(hollow, ink.paper);
        }
        let at = if below { pos2(8.0, y + 18.0) } else { pos2(left + length + 8.0, y) };
        let shown = elided(&text(bar), figure.size.x - at.x, TYPE);
        figure.text(at, Anchor::Start, TYPE, ink.weak, &shown);
        y += row;
    }
    y
}

#[cfg(test)]
mod tests {
    use sparsescope_core::matrix::Statistics;
    use sparsescope_core::record::Predicted;

    use super::*;
    use crate::figure::{Shape, strong_width};
    use crate::why::tests;

    #[test]
    fn the_headline_says_what_is_known_of_the_matrix() {
        let (run, mut statistics, environment) = tests::run("cpu/csr/nnz");
        let headline = |statistics: &Statistics| {
            let model = tests::model(vec![run.clone()], statistics.clone(), environment.clone());
            super::headline(model.largest(&Filter::everything()).unwrap())
        };
        let start = "100 k × 100 k · 800 k nonzeros · 0 to 20 per row, mean 8 · bandwidth 7";
        statistics.upper_bandwidth = 7;
        assert_eq!(headline(&statistics), start, "symmetry is of square matrices");
        statistics.structural_symmetry = Some(1.0);
        statistics.numerical_symmetry = Some(0.5);
        assert_eq!(headline(&statistics), format!("{start} · symmetric structure"));
        statistics.numerical_symmetry = Some(1.0);
        assert_eq!(headline(&statistics), format!("{start} · symmetric"));
        statistics.structural_symmetry = Some(0.9);
        statistics.numerical_symmetry = None;
        assert_eq!(headline(&statistics), format!("{start} · not symmetric"));
    }

    #[test]
    fn a_matrix_that_was_never_in_a_file_has_no_time_to_read() {
        let (run, statistics, environment) = tests::run("cpu/csr/nnz");
        let model = tests::model(vec![run], statistics, environment);
        let record = model.largest(&Filter::everything()).unwrap();
        let has_time =
            |record: &MatrixRecord| facts(record).iter().any(|(name, _)| *name == "Time to read");
        assert!(has_time(record));
        assert!(!has_time(&MatrixRecord { read_seconds: 0.0, ..record.clone() }));
    }

    #[test]
    fn a_narrow_figure_has_the_texts_of_bars_below_them_and_cuts_none() {
        let mut model = Model::default();
        model.open("cpu.zip", include_bytes!("../../../example/cpu.zip")).unwrap();
        let state = ViewState::default();
        let record = model.largest(&Filter::everything()).unwrap();
        for width in [366.0, 900.0] {
            for shape in figure(record, &[], &state, width).shapes {
                let Shape::Text { pos, anchor: Anchor::Start, size, strong, text, .. } = shape
                else {
                    continue;
                };
                let long = if strong { strong_width(&text, size) } else { text_width(&text, size) };
                assert!(!text.contains('…') && pos.x + long <= width, "{width}: {text}");
            }
        }
    }

    #[test]
    fn predictions_of_the_fastest_run_of_a_kernel_are_bars() {
        let predicted =
            |line_bytes| Predicted { line_bytes: Some(line_bytes), ..Predicted::default() };
        let (slow, statistics, environment) = tests::run("cpu/csr/nnz");
        let mut runs = vec![slow.clone(), slow.clone(), slow];
        runs[0].costs.predicted = Some(predicted(64_000_000));
        runs[1].costs.predicted = Some(predicted(32_000_000));
        runs[1].samples = vec![5e-4; 3];
        runs[2].kernel = "vendor/cusparse/coo".into();
        let model = tests::model(runs, statistics, environment);
        let state = ViewState::default();
        let Some(Subject::Matrix(record)) = subject(&model, &state) else { panic!() };
        let found = model.predicted(&matrix_key(record));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].predicted_bytes(), Some(32e6));
        let figure = figure(record, &found, &state, 900.0);
        let says = |wanted: &str| {
            figure.shapes.iter().any(|s| matches!(s, Shape::Text { text, .. } if text == wanted))
        };
        assert!(says("cpu/csr/nnz") && says("32 MB"));
        let lines = table(&model, &state);
        let line = ["m", "predicted bytes moved", "cpu/csr/nnz", "32000000"].map(str::to_owned);
        assert!(lines.contains(&line.to_vec()), "{lines:?}");
    }
}
