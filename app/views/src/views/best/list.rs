//! The list on screen.

use egui::{
    Align, Color32, EventFilter, Id, Key, Label, Layout, Modifiers, Rect, Response, RichText, Role,
    ScrollArea, Sense, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use sparsescope_figures::figure::{Figure, area, text_width};
use sparsescope_figures::model::{Model, significant};
use sparsescope_figures::state::{RankBy, ViewState};
use sparsescope_figures::theme::{BODY, SPACE, blend};
use sparsescope_figures::views::best::board::{Board, Row};
use sparsescope_figures::views::best::list::{
    Columns, ROW, about, axis, lines, marks, percent, point, ticks, times, titles,
};
use sparsescope_figures::views::best::{rows, unit};
use sparsescope_figures::views::charts::Looks;

use crate::paint::Paint;
use crate::style;

/// Rows narrower than this have no strip, and the numbers below the names.
const WIDE: f32 = 720.0;

pub(super) fn show(ui: &mut Ui, board: &Board, model: &Model, state: &mut ViewState) {
    let width = ui.available_width() - ui.spacing().scroll.bar_width - 4.0;
    let columns = Columns::of(width);
    let wide = width >= WIDE;
    if wide {
        header(ui, board, &columns, state);
    }
    let looks = Looks::of(model, &state.filter.operation);
    let ink = state.theme.ink();
    let (rows, title) = (rows::lines(board, state), rows::title_of_folded(board, state));
    let area = ScrollArea::vertical().auto_shrink(false).animated(false);
    // On a phone a row has the height of what a finger touches.
    let height = (ROW - ui.spacing().item_spacing.y).max(ui.spacing().interact_size.y);
    area.show_rows(ui, height, rows.len(), |ui, seen| {
        for (index, row) in seen.clone().zip(rows.get(seen).unwrap_or_default()) {
            let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
            let name = match row {
                Some(row) => format!("Best on {}: {}", row.name, row.kernel),
                None => title.clone(),
            };
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
            arrows(ui, &response, index, rows.len());
            if response.clicked() {
                match row {
                    Some(row) => {
                        state.run = Some(row.run);
                        state.matrix = Some(row.key.clone());
                    }
                    None => state.best.unfolded = !state.best.unfolded,
                }
            }
            let run = row.and_then(|row| row.runs.iter().find(|r| state.run == Some(r.run)));
            let chosen = run.is_some();
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
            if response.has_focus() {
                let ring = style::focus_ring(ink.accent);
                ui.painter().rect_stroke(rect, 2.0, ring, StrokeKind::Inside);
            }
            let Some(row) = row else {
                put(ui, rect, false, RichText::new(&title).color(ink.accent));
                response.on_hover_text(&title);
                continue;
            };
            if !wide {
                narrow(ui, rect, row, board);
                continue;
            }
            cells(ui, rect, row, board, &columns);
            strip(ui, rect, row, board, &columns, &looks, state);
        }
    });
}

/// Moves the focus from a row to the one above or below it, which has to be visible.
fn arrows(ui: &Ui, row: &Response, index: usize, rows: usize) {
    let wanted = Id::unique("best: the row that gets the focus");
    if ui.data(|data| data.get_temp(wanted)) == Some(index) {
        ui.data_mut(|data| data.remove::<usize>(wanted));
        row.request_focus();
    }
    if !row.has_focus() {
        return;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(row.id, filter));
    let line = row.rect.height() + ui.spacing().item_spacing.y;
    for (key, by, down) in [(Key::ArrowUp, -1, -line), (Key::ArrowDown, 1, line)] {
        let next = index.checked_add_signed(by).filter(|next| *next < rows);
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key))
            && let Some(next) = next
        {
            // It may not be drawn before it is visible.
            ui.scroll_to_rect(row.rect.translate(vec2(0.0, down)), None);
            ui.data_mut(|data| data.insert_temp(wanted, next));
            ui.ctx().request_repaint();
        }
    }
}

/// The headings, which sort, and the axis of the strips.
fn header(ui: &mut Ui, board: &Board, columns: &Columns, state: &mut ViewState) {
    let (line, _) = ui.allocate_exact_size(vec2(ui.available_width(), 30.0), Sense::hover());
    let by_energy = board.ranking.by == RankBy::Energy;
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
        // A screen reader reads more than fits in the column.
        let name = format!("Sort by {}", if id == "rate" { board.rate.as_str() } else { title });
        let explain = match id {
            "lead" if by_energy => {
                "Energy of the second kernel, divided by that of the first".to_owned()
            }
            "over" if by_energy => {
                "Energy of the baseline, divided by that of the winner".to_owned()
            }
            "lead" => "Speed-up over the second-fastest kernel".to_owned(),
            "over" => format!("Speed-up {}", board.over),
            "pct_copy" => "Percentage of the measured copy bandwidth".to_owned(),
            _ => name.clone(),
        };
        ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout), |ui| {
            let text = RichText::new(title).strong();
            let arrow = RichText::new(arrow).family(egui::FontFamily::Monospace);
            let button = ui.add(egui::Button::new((text, arrow)).frame(false).truncate());
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
            if button.on_hover_text(explain).clicked() {
                state.best.down = !sorted || !state.best.down;
                state.best.by = id.into();
            }
        });
    }
    let mut figure = Figure::new(line.size(), Color32::TRANSPARENT);
    ticks(&mut figure, board, columns, &state.theme.ink());
    figure.paint(ui.painter(), line.min);
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

/// The numbers in a line, and the reason below.
fn cells(ui: &mut Ui, rect: Rect, row: &Row, board: &Board, columns: &Columns) {
    let half = rect.top() + rect.height() * 0.54;
    let at = |[from, to]: [f32; 2]| area(rect.left() + from, rect.top(), rect.left() + to, half);
    put(ui, at(columns.matrix), false, RichText::new(board.name_of(row)).strong());
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

/// On a narrow screen: the name and the rate, below them the kernel and its lead.
fn narrow(ui: &mut Ui, rect: Rect, row: &Row, board: &Board) {
    let half = rect.top() + rect.height() * 0.52;
    let value = format!("{} {}", significant(row.rate), unit(board));
    let lead = format!("lead {}", times(row.lead));
    // The name and the kernel have what the numbers leave.
    let split = rect.right() - 6.0 - text_width(&value, BODY).max(text_width(&lead, BODY)) - SPACE;
    let line = |top: f32, bottom: f32| {
        let left = area(rect.left() + 6.0, top, split, bottom);
        (left, area(split, top, rect.right() - 6.0, bottom))
    };
    let (name, rate) = line(rect.top(), half);
    put(ui, name, false, RichText::new(board.name_of(row)).strong());
    put(ui, rate, true, RichText::new(value).strong());
    let (kernel, below) = line(half, rect.bottom());
    put(ui, kernel, false, RichText::new(board.short_title(&row.title)).weak());
    put(ui, below, true, RichText::new(lead).weak());
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
    // The Tab key stops at rows, and screen readers once at the marks of each.
    let group = UiBuilder::new().max_rect(rect).accessibility_role(Role::Group);
    let group = ui.new_child(group);
    for (index, (x, rival, ..)) in marks(row, &axis, looks, &ink).into_iter().enumerate() {
        let place = Rect::from_center_size(pos2(rect.left() + x, middle), vec2(9.0, rect.height()));
        let id = ui.scope_id().with((row.run, index));
        let response = group.interact(place, id, Sense::CLICK);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &rival.words));
        if response.on_hover_text(&rival.words).clicked() {
            state.run = Some(rival.run);
            state.matrix = Some(row.key.clone());
        }
    }
}
