//! The list: one row per matrix with the winner, its rate, its lead, a strip of all competitors on
//! a common scale, and an explanation of its speed.

use ecolor::Color32;
use emath::{pos2, vec2};

use super::bars::unit;
use super::board::{Board, NO_PAIRS, Rival, Row};
use super::headline::capitalised;
use super::rows::in_order;
use crate::figure::{Anchor, Axis, Figure, Mark, shortened};
use crate::model::{Model, significant};
use crate::state::{Form, RankBy, ViewState};
use crate::theme::{Ink, blend};
use crate::views::charts::Looks;

const TYPE: f32 = 14.0;
/// Height of a row: a line of numbers, and a line of explanation.
pub const ROW: f32 = 44.0;
const RADIUS: f32 = 4.5;

/// Horizontal positions of a row's columns, from its left end.
pub struct Columns {
    pub matrix: [f32; 2],
    pub kernel: [f32; 2],
    pub rate: [f32; 2],
    pub copy: [f32; 2],
    pub lead: [f32; 2],
    pub over: [f32; 2],
    strip: [f32; 2],
}

impl Columns {
    pub fn of(width: f32) -> Self {
        let numbers = 74.0;
        let names = (width - 4.0 * numbers - 24.0) / 10.0;
        let matrix = [8.0, 8.0 + names * 2.6];
        let kernel = [matrix[1] + 10.0, matrix[1] + names * 4.2];
        let mut at = kernel[1];
        let mut number = || {
            at += numbers;
            [at - numbers + 6.0, at]
        };
        let (rate, copy, lead, over) = (number(), number(), number(), number());
        Self { matrix, kernel, rate, copy, lead, over, strip: [over[1] + 18.0, width - 12.0] }
    }
}

/// Titles of the columns with the id that sorts by them, and whether they hold numbers.
pub fn titles<'a>(columns: &Columns, board: &'a Board) -> [(&'a str, &'a str, [f32; 2], bool); 6] {
    let kernel = match board.ranking.by {
        RankBy::Rate => "Fastest kernel",
        RankBy::Energy => "Least energy",
    };
    [
        ("matrix", board.what, columns.matrix, false),
        ("kernel", kernel, columns.kernel, false),
        ("rate", unit(board), columns.rate, true),
        ("pct_copy", "% of copy", columns.copy, true),
        ("lead", "Lead", columns.lead, true),
        ("over", &board.versus, columns.over, true),
    ]
}

pub fn times(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{}×", significant(value)))
}

pub fn percent(value: Option<f64>) -> String {
    value.map_or("–".into(), |share| format!("{share:.0} %"))
}

pub fn axis(board: &Board, columns: &Columns) -> Axis {
    let [from, to] = columns.strip;
    Axis::new(board.span.into_iter(), true, from + RADIUS, to - RADIUS)
}

/// A power of ten without trailing zeros.
fn decade(tick: f64) -> String {
    let exponent = tick.log10().round() as i32;
    match exponent {
        -3..=4 => format!("{:.*}", usize::try_from(-exponent).unwrap_or(0), tick),
        _ => format!("1e{exponent}"),
    }
}

fn is_decade(tick: f64) -> bool {
    (tick.log10() - tick.log10().round()).abs() < 1e-9
}

/// The winner's setting, and its device and bundle where there are several.
pub fn about(row: &Row, board: &Board) -> String {
    let device = board.devices.then_some(row.device.as_str());
    let bundle = board.bundles.then_some(row.bundle.as_str());
    let bundle = bundle.filter(|bundle| Some(*bundle) != device);
    let setting = Some(row.setting.as_str()).filter(|setting| !setting.is_empty());
    let parts = [setting, device, bundle];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Positions and looks of a row's marks: the winner last, so that it is on top.
pub fn marks<'a>(
    row: &'a Row,
    axis: &Axis,
    looks: &Looks,
    ink: &Ink,
) -> Vec<(f32, &'a Rival, Color32, Mark)> {
    let mark = |rival: &'a Rival| {
        let (color, mark) = looks.find(&rival.kernel, 0, ink);
        (axis.place(rival.rate), rival, color, mark)
    };
    row.runs.iter().rev().map(mark).collect()
}

/// The title and the numbers of the axis of the strips.
pub fn ticks(figure: &mut Figure, board: &Board, columns: &Columns, ink: &Ink) {
    let [from, to] = columns.strip;
    let title = shortened(&format!("each kernel, {}", unit(board)), to - from, 12.0);
    figure.text(pos2((from + to) * 0.5, 7.0), Anchor::Middle, 12.0, ink.weak, &title);
    let axis = axis(board, columns);
    let mut last = f32::NEG_INFINITY;
    for tick in axis.ticks().into_iter().filter(|tick| is_decade(*tick)) {
        let x = axis.place(tick);
        if x - last > 34.0 {
            figure.text(pos2(x, 22.0), Anchor::Middle, 12.0, ink.weak, &decade(tick));
            last = x;
        }
    }
}

pub fn lines(figure: &mut Figure, axis: &Axis, columns: &Columns, height: f32, ink: &Ink) {
    for tick in axis.ticks().into_iter().filter(|tick| is_decade(*tick)) {
        let x = axis.place(tick);
        figure.line(pos2(x, 0.0), pos2(x, height), 1.0, ink.grid);
    }
    let [from, to] = columns.strip;
    figure.line(pos2(from, height * 0.5), pos2(to, height * 0.5), 1.0, ink.grid);
}

pub fn point(
    figure: &mut Figure,
    at: emath::Pos2,
    color: Color32,
    mark: Mark,
    wins: bool,
    ink: &Ink,
) {
    if wins {
        figure.mark(at, mark, RADIUS * 1.5, color, ink.text);
    } else {
        figure.mark(at, mark, RADIUS, blend(color, ink.paper, 0.25), ink.paper);
    }
}

/// The same as a figure for files.
pub(super) fn figure(board: &Board, model: &Model, state: &ViewState, width: f32) -> Figure {
    let ink = state.theme.ink();
    let looks = Looks::of(model, &state.filter.operation);
    let columns = Columns::of(width);
    let axis = axis(board, &columns);
    let mut figure = Figure::new(vec2(width, 30.0), ink.paper);
    let text = |figure: &mut Figure, [from, to]: [f32; 2], y, number, size, color, text: &str| {
        let text = shortened(text, to - from, size);
        match number {
            true => figure.text(pos2(to, y), Anchor::End, size, color, &text),
            false => figure.text(pos2(from, y), Anchor::Start, size, color, &text),
        }
    };
    for (_, title, place, number) in titles(&columns, board) {
        text(&mut figure, place, 16.0, number, TYPE, ink.text, title);
    }
    ticks(&mut figure, board, &columns, &ink);
    for row in board.parts().into_iter().flat_map(|rows| in_order(rows, state)) {
        let mut part = Figure::new(vec2(width, ROW), ink.paper);
        lines(&mut part, &axis, &columns, ROW, &ink);
        let (y, below) = (15.0, 34.0);
        text(&mut part, columns.matrix, y, false, TYPE, ink.text, &row.name);
        text(&mut part, columns.kernel, y, false, TYPE, ink.text, &row.title);
        text(&mut part, columns.rate, y, true, TYPE, ink.text, &significant(row.rate));
        text(&mut part, columns.copy, y, true, TYPE, ink.text, &percent(row.pct_copy));
        text(&mut part, columns.lead, y, true, TYPE, ink.text, &times(row.lead));
        text(&mut part, columns.over, y, true, TYPE, ink.text, &times(row.over));
        let device = about(row, board);
        text(&mut part, columns.matrix, below, false, 12.0, ink.weak, &device);
        let sentence = [columns.kernel[0], columns.over[1]];
        text(&mut part, sentence, below, false, 12.0, ink.weak, &row.why);
        for (x, rival, color, mark) in marks(row, &axis, &looks, &ink) {
            point(&mut part, pos2(x, ROW * 0.5), color, mark, rival.run == row.run, &ink);
        }
        figure.put_below(part);
    }
    if state.best.form == Form::Pair {
        let sentence = format!("{}.", capitalised(NO_PAIRS));
        let at = pos2(columns.matrix[0], figure.size.y + 15.0);
        figure.text(at, Anchor::Start, TYPE, ink.text, &sentence);
        figure.size.y += 30.0;
    }
    figure
}
