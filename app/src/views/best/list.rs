//! The list: a row a matrix with the winner, its rate, its lead, a strip of all that compete on a
//! common scale, and why it is as fast as it is.

use egui::{Align, Color32, Label, Layout, Rect, RichText, Role, ScrollArea, Sense, Ui};
use egui::{UiBuilder, WidgetInfo, pos2, vec2};

use super::board::{Board, Rival, Row};
use crate::figure::{Anchor, Axis, Figure, Mark, area, elided};
use crate::model::{Model, significant};
use crate::state::ViewState;
use crate::theme::{Ink, blend};
use crate::views::charts::Looks;

const TYPE: f32 = 14.0;
/// Height of a row: a line of numbers, and a line that says why.
const ROW: f32 = 44.0;
/// Narrower rows have no strip, and the numbers below the names.
const WIDE: f32 = 720.0;
const RADIUS: f32 = 4.5;

/// Where the columns of a row begin and end, from its left end.
struct Columns {
    matrix: [f32; 2],
    kernel: [f32; 2],
    rate: [f32; 2],
    copy: [f32; 2],
    lead: [f32; 2],
    over: [f32; 2],
    strip: [f32; 2],
}

impl Columns {
    fn of(width: f32) -> Self {
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

/// Titles of the columns with the word that sorts by them, and whether numbers stand there.
fn titles<'a>(columns: &Columns, board: &'a Board) -> [(&'a str, &'a str, [f32; 2], bool); 6] {
    [
        ("matrix", board.what, columns.matrix, false),
        ("kernel", "Fastest kernel", columns.kernel, false),
        ("rate", &board.rate, columns.rate, true),
        ("pct_copy", "% of copy", columns.copy, true),
        ("lead", "Lead", columns.lead, true),
        ("over", &board.versus, columns.over, true),
    ]
}

fn times(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{}×", significant(value)))
}

fn percent(value: Option<f64>) -> String {
    value.map_or("–".into(), |share| format!("{share:.0} %"))
}

fn axis(board: &Board, columns: &Columns) -> Axis {
    let [from, to] = columns.strip;
    Axis::new(board.span.into_iter(), true, from + RADIUS, to - RADIUS)
}

pub(super) fn show(ui: &mut Ui, board: &Board, model: &Model, state: &mut ViewState) {
    let width = ui.available_width() - ui.spacing().scroll.bar_width - 4.0;
    let columns = Columns::of(width);
    let wide = width >= WIDE;
    if wide {
        header(ui, board, &columns, state);
    }
    let looks = Looks::of(model, &state.filter.operation);
    let ink = state.theme.ink();
    let area = ScrollArea::vertical().auto_shrink(false);
    area.show_rows(ui, ROW - ui.spacing().item_spacing.y, board.rows.len(), |ui, seen| {
        for (index, row) in seen.clone().zip(board.rows.get(seen).unwrap_or_default()) {
            let size = vec2(width, ROW - ui.spacing().item_spacing.y);
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            let name = format!("Best on {}: {}", row.name, row.kernel);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
            if response.clicked() {
                state.run = Some(row.run);
                state.matrix = Some(row.key.clone());
            }
            let chosen = state.run.is_some_and(|run| row.runs.iter().any(|r| r.run == run));
            let fill = if chosen {
                Some(ui.visuals().selection.bg_fill)
            } else if response.hovered() || response.has_focus() {
                Some(blend(ink.paper, ink.grid, 0.7))
            } else {
                (index % 2 == 1).then(|| ui.visuals().faint_bg_color)
            };
            if let Some(fill) = fill {
                ui.painter().rect_filled(rect, 2.0, fill);
            }
            if !wide {
                narrow(ui, rect, row, board);
                continue;
            }
            cells(ui, rect, row, board, &columns);
            strip(ui, rect, row, board, &columns, &looks, state);
        }
    });
}

/// The headings, which sort, and the scale of the strips.
fn header(ui: &mut Ui, board: &Board, columns: &Columns, state: &mut ViewState) {
    let (line, _) = ui.allocate_exact_size(vec2(ui.available_width(), 30.0), Sense::hover());
    for (id, title, [from, to], number) in titles(columns, board) {
        let rect = area(line.left() + from, line.top(), line.left() + to, line.bottom());
        let layout = match number {
            true => Layout::right_to_left(Align::Center),
            false => Layout::left_to_right(Align::Center),
        };
        let sorted = state.best.by == id;
        let arrow = match (sorted, state.best.down) {
            (false, _) => "",
            (true, true) => "▼",
            (true, false) => "▲",
        };
        let explain = match id {
            "lead" => "How many times as good as the second kernel".to_owned(),
            "over" => format!("How many times as good, {}", board.over),
            "pct_copy" => "Of the measured copy bandwidth".to_owned(),
            _ => format!("Sort by {title}"),
        };
        ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout), |ui| {
            let text = RichText::new(title).strong();
            let arrow = RichText::new(arrow).family(egui::FontFamily::Monospace);
            let button = ui.add(egui::Button::new((text, arrow)).frame(false).truncate());
            let name = format!("Sort by {title}");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
            if button.on_hover_text(explain).clicked() {
                state.best.down = !sorted || !state.best.down;
                state.best.by = id.into();
            }
        });
    }
    let axis = axis(board, columns);
    let ink = state.theme.ink();
    let painter = ui.painter();
    let mut last = f32::NEG_INFINITY;
    for tick in axis.ticks().into_iter().filter(|tick| is_decade(*tick)) {
        let x = line.left() + axis.place(tick);
        if x - last > 34.0 {
            let font = egui::FontId::proportional(12.0);
            let text = decade(tick);
            painter.text(
                pos2(x, line.center().y),
                egui::Align2::CENTER_CENTER,
                text,
                font,
                ink.weak,
            );
            last = x;
        }
    }
}

/// A power of ten without the zeros that three digits would bring.
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

fn put(ui: &mut Ui, rect: Rect, number: bool, text: RichText) {
    let layout = match number {
        true => Layout::right_to_left(Align::Center),
        false => Layout::left_to_right(Align::Center),
    };
    ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout), |ui| {
        ui.add(Label::new(text).selectable(false).truncate());
    });
}

/// The numbers in a line, and below it why.
fn cells(ui: &mut Ui, rect: Rect, row: &Row, board: &Board, columns: &Columns) {
    let half = rect.top() + rect.height() * 0.54;
    let at = |[from, to]: [f32; 2]| area(rect.left() + from, rect.top(), rect.left() + to, half);
    put(ui, at(columns.matrix), false, RichText::new(&row.name).strong());
    put(ui, at(columns.kernel), false, RichText::new(&row.title).strong());
    put(ui, at(columns.rate), true, RichText::new(significant(row.rate)).strong());
    put(ui, at(columns.copy), true, RichText::new(percent(row.pct_copy)));
    put(ui, at(columns.lead), true, RichText::new(times(row.lead)));
    put(ui, at(columns.over), true, RichText::new(times(row.over)));
    let below = |[from, to]: [f32; 2]| {
        area(rect.left() + from, half - 3.0, rect.left() + to, rect.bottom())
    };
    let device = about(row, board);
    let small = |text: &str| RichText::new(text).size(12.0).weak();
    put(ui, below([columns.matrix[0], columns.matrix[1]]), false, small(&device));
    put(ui, below([columns.kernel[0], columns.over[1]]), false, small(&row.why));
}

/// The winner's setting, and its device where there are several.
fn about(row: &Row, board: &Board) -> String {
    let device = board.devices.then_some(row.device.as_str());
    let parts = [Some(row.setting.as_str()).filter(|setting| !setting.is_empty()), device];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// On a narrow screen: the name and the rate, below them the kernel and its lead.
fn narrow(ui: &mut Ui, rect: Rect, row: &Row, board: &Board) {
    let half = rect.top() + rect.height() * 0.52;
    let split = rect.left() + rect.width() * 0.62;
    let line = |top: f32, bottom: f32| {
        let left = area(rect.left() + 6.0, top, split, bottom);
        (left, area(split, top, rect.right() - 6.0, bottom))
    };
    let (name, rate) = line(rect.top(), half);
    let unit = board.rate.split([',', ' ']).next_back().unwrap_or_default();
    let unit = if board.rate.contains(' ') { "" } else { unit };
    put(ui, name, false, RichText::new(&row.name).strong());
    put(ui, rate, true, RichText::new(format!("{} {unit}", significant(row.rate))).strong());
    let (kernel, lead) = line(half, rect.bottom());
    put(ui, kernel, false, RichText::new(&row.title).size(13.0));
    let lead_words = format!("lead {}", times(row.lead));
    put(ui, lead, true, RichText::new(lead_words).size(13.0).weak());
}

/// Where the marks of a row stand, what they look like: the winner last, so that it lies on top.
fn marks<'a>(
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

fn strip(
    ui: &mut Ui,
    rect: Rect,
    row: &Row,
    board: &Board,
    columns: &Columns,
    looks: &Looks,
    state: &mut ViewState,
) {
    let ink = state.theme.ink();
    let axis = axis(board, columns);
    let middle = rect.center().y;
    let mut figure = Figure::new(rect.size(), Color32::TRANSPARENT);
    lines(&mut figure, &axis, columns, rect.height(), &ink);
    for (x, rival, color, mark) in marks(row, &axis, looks, &ink) {
        let at = pos2(x, middle - rect.top());
        point(&mut figure, at, color, mark, rival.run == row.run, &ink);
    }
    figure.paint(ui.painter(), rect.min);
    for (index, (x, rival, ..)) in marks(row, &axis, looks, &ink).into_iter().enumerate() {
        let place = Rect::from_center_size(pos2(rect.left() + x, middle), vec2(9.0, rect.height()));
        let id = ui.scope_id().with((row.run, index));
        let response = ui.interact(place, id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &rival.words));
        if response.on_hover_text(&rival.words).clicked() {
            state.run = Some(rival.run);
            state.matrix = Some(row.key.clone());
        }
    }
}

fn lines(figure: &mut Figure, axis: &Axis, columns: &Columns, height: f32, ink: &Ink) {
    for tick in axis.ticks().into_iter().filter(|tick| is_decade(*tick)) {
        let x = axis.place(tick);
        figure.line(pos2(x, 0.0), pos2(x, height), 1.0, ink.grid);
    }
    let [from, to] = columns.strip;
    figure.line(pos2(from, height * 0.5), pos2(to, height * 0.5), 1.0, ink.grid);
}

fn point(figure: &mut Figure, at: egui::Pos2, color: Color32, mark: Mark, wins: bool, ink: &Ink) {
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
        let text = elided(text, to - from, size);
        match number {
            true => figure.text(pos2(to, y), Anchor::End, size, color, &text),
            false => figure.text(pos2(from, y), Anchor::Start, size, color, &text),
        }
    };
    for (_, title, place, number) in titles(&columns, board) {
        text(&mut figure, place, 16.0, number, TYPE, ink.text, title);
    }
    for tick in axis.ticks().into_iter().filter(|tick| is_decade(*tick)) {
        let x = axis.place(tick);
        figure.text(pos2(x, 16.0), Anchor::Middle, 12.0, ink.weak, &decade(tick));
    }
    for row in &board.rows {
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
    figure
}
