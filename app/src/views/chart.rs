//! GFLOPS of every kernel on every matrix: one line of marks a matrix.

use std::collections::BTreeMap;

use egui::{Color32, Pos2, Rect, ScrollArea, Ui, pos2, vec2};

use super::{View, nothing, provenance};
use crate::figure::{Anchor, Axis, Figure, Hit, Mark, area, text_width};
use crate::model::{Model, RunOf, display_name, matrix_key, seconds, significant};
use crate::state::ViewState;
use crate::theme::format_color;

pub(super) const VIEW: View = View {
    id: "chart",
    name: "Kernels by matrix",
    sentence: "How fast each kernel is on each matrix, at its best thread count or block size.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// Least and largest height of a bundle's band in the row of a matrix, in points; what a file has.
const BAND: std::ops::RangeInclusive<f32> = 46.0..=80.0;
const SAVED_BAND: f32 = 56.0;
/// Lanes of a band.
const LANES: f32 = 5.1;
/// Marks that would hide one another move up or down, in this order, in units of a lane.
const DODGE: [f32; 5] = [0.0, -1.0, 1.0, -2.0, 2.0];
const LEGEND_ROW: f32 = 22.0;
const TYPE: f32 = 13.0;
const RADIUS: f32 = 4.8;

fn settings(ui: &mut Ui, _: &Model, state: &mut ViewState) {
    ui.checkbox(&mut state.log, "Logarithmic axis");
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let best = model.best(&state.filter);
    if best.is_empty() {
        return nothing(ui, "No run with a time passes the filters.");
    }
    let width = (ui.available_width() - 12.0).max(420.0);
    let figure = figure(&best, state, width, Some(ui.available_height() - 12.0));
    let clicked = ScrollArea::both()
        .auto_shrink(false)
        .show(ui, |ui| figure.show(ui, "Chart: GFLOPS of every kernel on every matrix"));
    if let Some(matrix) = clicked.inner {
        state.matrix = Some(matrix);
        state.view = "matrix".into();
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["matrix", "source", "kernel", "bundle", "device", "threads", "block", "gflops"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    for run in model.best(&state.filter) {
        lines.push(vec![
            run.record.name.clone(),
            run.record.source.as_str().into(),
            run.run.kernel.clone(),
            run.bundle.label().into(),
            run.run.device.clone(),
            run.run.threads.to_string(),
            run.run.block.map(|block| block.to_string()).unwrap_or_default(),
            run.gflops().map(|gflops| gflops.to_string()).unwrap_or_default(),
        ]);
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let best = model.best(&state.filter);
    figure(&best, state, 900.0, None).to_svg(VIEW.sentence, &provenance(model, &best))
}

/// Colour by format, form by the kernel's place among those of its format; every second
/// bundle is hollow.
fn marks<'a>(runs: &[RunOf<'a>]) -> BTreeMap<&'a str, (Color32, Mark)> {
    let mut marks = BTreeMap::new();
    for run in runs {
        marks.insert(run.run.kernel.as_str(), (Color32::GRAY, Mark::Circle));
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (kernel, mark) in &mut marks {
        let format = kernel.split('/').nth(1).unwrap_or_default();
        let place = seen.entry(format).or_default();
        let form = Mark::ALL.into_iter().cycle().nth(*place).unwrap_or(Mark::Circle);
        *mark = (format_color(format), form);
        *place += 1;
    }
    marks
}

/// The runs of a matrix are one row; each bundle has a band in it. Bands fill `room` in height where
/// they can.
fn figure(runs: &[RunOf<'_>], state: &ViewState, width: f32, room: Option<f32>) -> Figure {
    let ink = state.theme.ink();
    let marks = marks(runs);
    let mut bundles: Vec<(usize, &str)> =
        runs.iter().map(|run| (run.bundle.series, run.bundle.label())).collect();
    bundles.sort_unstable();
    bundles.dedup();
    let mut rows: Vec<(String, String, u64)> = Vec::new();
    for run in runs {
        let key = matrix_key(run.record);
        if rows.iter().all(|(known, ..)| *known != key) {
            rows.push((key, display_name(run.record), run.record.statistics.nnz));
        }
    }
    rows.sort_by_key(|(_, _, nnz)| *nnz);

    let longest = rows.iter().map(|(_, name, _)| text_width(name, TYPE)).fold(60.0, f32::max);
    let (left, right) = (longest.min(width * 0.35) + 24.0, width - 24.0);
    let legend = legend(&marks, &bundles, width);
    let top = legend.height + 12.0;
    let bands = bundles.len().max(1) as f32;
    let foot = 48.0;
    let band_height = room.map_or(SAVED_BAND, |room| {
        let each = (room - top - foot) / (bands * rows.len().max(1) as f32);
        each.clamp(*BAND.start(), *BAND.end())
    });
    let lane = band_height / LANES;
    let row_height = band_height * bands;
    let bottom = top + row_height * rows.len() as f32;
    let mut figure = Figure::new(vec2(width, bottom + foot), ink.paper);
    legend.draw(&mut figure, ink.text, ink.paper);

    let values = runs.iter().filter_map(RunOf::gflops);
    let axis = Axis::new(values, state.log, left + 10.0, right - 10.0);
    for index in (0..rows.len()).step_by(2) {
        let y = top + row_height * index as f32;
        figure.rect(area(left, y, right, y + row_height), mix(ink.grid, ink.paper));
    }
    for tick in axis.ticks() {
        let x = axis.place(tick);
        figure.line(pos2(x, top), pos2(x, bottom + 5.0), 1.0, ink.grid);
        let label = tick_label(tick);
        figure.text(pos2(x, bottom + 15.0), Anchor::Middle, TYPE, ink.weak, &label);
    }
    figure.line(pos2(left, bottom), pos2(right, bottom), 1.0, ink.weak);
    let title = if state.log { "GFLOPS (logarithmic)" } else { "GFLOPS" };
    let middle = (left + right) * 0.5;
    figure.text(pos2(middle, bottom + 35.0), Anchor::Middle, TYPE, ink.text, title);

    for (index, (key, name, _)) in rows.iter().enumerate() {
        let center = top + row_height * (index as f32 + 0.5);
        figure.text(pos2(left - 10.0, center), Anchor::End, TYPE, ink.text, name);
        let mut placed: Vec<Pos2> = Vec::new();
        for run in runs.iter().filter(|run| matrix_key(run.record) == *key) {
            let (Some(gflops), Some((color, mark))) =
                (run.gflops(), marks.get(run.run.kernel.as_str()))
            else {
                continue;
            };
            let band = bundles.iter().position(|(series, _)| *series == run.bundle.series);
            let band = band.unwrap_or_default();
            let middle = center + band_height * (band as f32 - (bands - 1.0) * 0.5);
            let at = free(&placed, pos2(axis.place(gflops), middle), lane);
            placed.push(at);
            let hollow = band % 2 == 1;
            let (fill, outline) = if hollow { (ink.paper, *color) } else { (*color, ink.paper) };
            figure.mark(at, *mark, RADIUS, fill, outline);
            let text = tooltip(run, name, gflops);
            let rect = Rect::from_center_size(at, vec2(lane, lane));
            figure.hits.push(Hit { rect, text, matrix: key.clone() });
        }
    }
    figure
}

/// The place nearest to `wanted` where no other mark is; `wanted` itself when all are taken.
fn free(placed: &[Pos2], wanted: Pos2, lane: f32) -> Pos2 {
    let places = DODGE.map(|lanes| wanted + vec2(0.0, lanes * lane));
    let is_free = |place: &Pos2| placed.iter().all(|other| other.distance(*place) > lane - 0.5);
    places.into_iter().find(is_free).unwrap_or(wanted)
}

/// A third of the one colour, the rest of the other.
fn mix(one: Color32, other: Color32) -> Color32 {
    let channel = |a: u8, b: u8| ((u16::from(a) + 2 * u16::from(b)) / 3) as u8;
    Color32::from_rgb(
        channel(one.r(), other.r()),
        channel(one.g(), other.g()),
        channel(one.b(), other.b()),
    )
}

/// A tick's value without the zeros that three digits would bring.
fn tick_label(tick: f64) -> String {
    let text = significant(tick);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

fn tooltip(run: &RunOf<'_>, name: &str, gflops: f64) -> String {
    let median = run.run.figures.as_ref().map(|figures| seconds(figures.median_s));
    format!(
        "{} on {name}: {} GFLOPS, {} thread{}, median {} ({}). {}",
        run.run.kernel,
        significant(gflops),
        run.run.threads,
        if run.run.threads == 1 { "" } else { "s" },
        median.unwrap_or_default(),
        run.bundle.label(),
        run.why()
    )
}

/// Which mark means what, in as many columns as fit.
struct Legend {
    entries: Vec<(Pos2, String, Color32, Mark, bool)>,
    height: f32,
}

fn legend(
    marks: &BTreeMap<&str, (Color32, Mark)>,
    bundles: &[(usize, &str)],
    width: f32,
) -> Legend {
    let mut items: Vec<(String, Color32, Mark, bool)> = marks
        .iter()
        .map(|(kernel, (color, mark))| ((*kernel).to_owned(), *color, *mark, false))
        .collect();
    if bundles.len() > 1 {
        for (lane, (_, label)) in bundles.iter().enumerate() {
            let text = format!("band {}: {label}", lane + 1);
            items.push((text, Color32::GRAY, Mark::Circle, lane % 2 == 1));
        }
    }
    let longest = items.iter().map(|item| text_width(&item.0, TYPE)).fold(0.0, f32::max);
    let column = longest + 36.0;
    let columns = ((width / column) as usize).max(1);
    let entries: Vec<_> = items
        .into_iter()
        .enumerate()
        .map(|(index, (text, color, mark, hollow))| {
            let x = 16.0 + (index % columns) as f32 * column;
            let y = 14.0 + (index / columns) as f32 * LEGEND_ROW;
            (pos2(x, y), text, color, mark, hollow)
        })
        .collect();
    let height = entries.last().map_or(0.0, |entry| entry.0.y + LEGEND_ROW * 0.5);
    Legend { entries, height }
}

impl Legend {
    fn draw(self, figure: &mut Figure, text: Color32, paper: Color32) {
        for (at, label, color, mark, hollow) in self.entries {
            let fill = if hollow { paper } else { color };
            figure.mark(at, mark, RADIUS, fill, color);
            figure.text(at + vec2(14.0, 0.0), Anchor::Start, TYPE, text, &label);
        }
    }
}
