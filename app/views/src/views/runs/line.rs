//! The lines of the table of runs.

use egui::{
    Align, EventFilter, Id, Label, Layout, Rect, Response, RichText, Role, Stroke, StrokeKind, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};
use egui_extras::TableRow;
use sparsescope_figures::figure::{elided, shortened, text_width};
use sparsescope_figures::model::{Model, RunOf, count, marked_stand_in, significant, subject_size};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, SPACE};
use sparsescope_figures::views::runs::columns::{Column, at_point};
use sparsescope_figures::views::runs::view::Line;

use super::chosen::{Move, adds, focused_cell, is_chosen, select};
use crate::style::strong;
use crate::thumbs;
use crate::views::details::swatch;

/// Height of the title of a group.
pub(super) const GROUP: f32 = 44.0;
/// Size of a thumbnail.
const THUMB: f32 = 28.0;

/// The columns of the table.
pub(super) struct Table<'a> {
    pub(super) columns: Vec<&'static Column>,
    pub(super) widths: Vec<f32>,
    /// Width of the numbers' digits before the decimal point.
    pub(super) before: Vec<f32>,
    /// Unit of the rates.
    pub(super) rate: &'a str,
    /// Whether smaller rates are better.
    pub(super) less: bool,
}

/// The heading of a column.
pub(super) fn title<'a>(column: &Column, rate: &'a str) -> &'a str {
    if column.id == "gflops" { rate } else { column.title }
}

pub(super) fn show_line(
    row: TableRow<'_, '_>,
    model: &Model,
    line: Line,
    table: &Table<'_>,
    view: Rect,
    moved: Move,
    state: &mut ViewState,
) {
    match line {
        Line::Group { first, best } => {
            let [first, best] = [Some(first), best].map(|number| model.run(number?));
            if let Some(first) = first {
                show_group(row, model, (&first, best.as_ref()), table, view, state);
            }
        }
        Line::Run(number) => {
            if let Some(run) = model.run(number) {
                show_run(row, model, &run, table, moved, state);
            }
        }
    }
}

fn show_run(
    mut row: TableRow<'_, '_>,
    model: &Model,
    run: &RunOf<'_>,
    table: &Table<'_>,
    moved: Move,
    state: &mut ViewState,
) {
    row.set_selected(is_chosen(model, run, state));
    let mut clip = Rect::NOTHING;
    let mut focused = None;
    for (column, before) in table.columns.iter().zip(&table.before) {
        let (_, cell) = row.col(|ui| {
            clip = clip.union(ui.clip_rect());
            show_cell(ui, run, column, (*before, table.rate));
        });
        focused = focused.or(Some(cell.id).filter(|_| cell.has_focus()));
    }
    let response = row.response();
    let name = format!("Run of {} on {}", run.run.kernel, run.name());
    let selected = state.run == Some(run.index);
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, selected, name.as_str()));
    response.ctx.accesskit_node_builder(response.id, |node| node.set_row_index(row.index()));
    if moved == Move::Focused && state.run == Some(run.index) {
        response.request_focus();
        focused = Some(response.id);
    }
    if let Some(id) = focused {
        show_focus(&response, id, clip, state);
    }
    if response.clicked() {
        select(model, run, state, adds(&response));
    }
}

/// Outlines the row whose cell has the keyboard's focus, and takes the arrow keys.
fn show_focus(row: &Response, cell: Id, clip: Rect, state: &ViewState) {
    let arrows = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    row.ctx.memory_mut(|memory| memory.set_focus_lock_filter(cell, arrows));
    row.ctx.data_mut(|data| data.insert_temp(focused_cell(), cell));
    let stroke = Stroke::new(2.0, state.theme.ink().accent);
    let painter = row.ctx.layer_painter(row.layer_id).with_clip_rect(clip);
    painter.rect_stroke(row.rect, 0.0, stroke, StrokeKind::Inside);
}

fn show_cell(ui: &mut Ui, run: &RunOf<'_>, column: &Column, (before, rate): (f32, &str)) {
    let text = (column.cell)(run).text();
    if column.number {
        // The decimal points of a column are below one another.
        let space = before - text_width(at_point(&text).0, BODY);
        ui.add_space(space.max(0.0).round());
        let name = format!("{} {text}", title(column, rate));
        let label = ui.add(Label::new(text).selectable(false));
        // A screen reader does not see the heading above.
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, name.as_str()));
        return;
    }
    let whole = if column.id == "kernel" { run.run.kernel_as_run() } else { text.clone() };
    if column.id == "kernel" {
        swatch(ui, run.run.format());
    }
    // A little less than the room, or rounding would cut the end, too.
    let shown = fitted(&text, ui.available_width() - SPACE * 0.5);
    let is_whole = shown == whole;
    let label = ui.add(Label::new(shown).selectable(false).truncate());
    if !is_whole {
        label.on_hover_text(whole);
    }
}

/// The text in this width: a stand-in's name is cut only if it does not fit with a mark in place of the word.
fn fitted(text: &str, room: f32) -> String {
    match marked_stand_in(text) {
        Some(marked) if text_width(text, BODY) > room => shortened(&marked, room, BODY),
        _ => shortened(text, room, BODY),
    }
}

fn show_group(
    mut row: TableRow<'_, '_>,
    model: &Model,
    (first, best): (&RunOf<'_>, Option<&RunOf<'_>>),
    table: &Table<'_>,
    view: Rect,
    state: &ViewState,
) {
    row.set_hovered(false);
    for place in 0..table.columns.len() {
        row.col(|ui| {
            if place == 0 {
                let space = ui.spacing().item_spacing.x;
                let width = table.widths.iter().map(|width| width + space).sum::<f32>();
                let mut rect = ui.max_rect();
                rect.set_width(width);
                let seen = Rect::from_x_y_ranges(rect.x_range(), ui.clip_rect().y_range());
                let clip = seen.intersect(view);
                ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
                    ui.set_clip_rect(clip);
                    group(ui, model, first, best, state);
                });
            }
        });
    }
}

/// The title of a group in the whole area: thumbnail, name, size, fastest kernel.
pub(super) fn group(
    ui: &mut Ui,
    model: &Model,
    first: &RunOf<'_>,
    best: Option<&RunOf<'_>>,
    state: &ViewState,
) {
    let rect = ui.max_rect();
    let corner = pos2(rect.left(), rect.center().y - THUMB * 0.5);
    let thumb = Rect::from_min_size(corner, vec2(THUMB, THUMB));
    if first.matrix().is_some() {
        thumbs::show(ui, model, &first.key(), thumb, state.theme);
    }
    let mut words = rect;
    words.min.x = thumb.right() + SPACE;
    let layout = Layout::left_to_right(Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(words).layout(layout), |ui| {
        let name = first.name();
        let shown = elided(&name, words.width() * 0.4, BODY);
        let font = strong(ui.ctx(), BODY);
        let label = ui.add(Label::new(RichText::new(&shown).font(font)).selectable(false));
        if shown != name {
            label.on_hover_text(name);
        }
        let weak = RichText::new(told(first, best)).weak();
        ui.add(Label::new(weak).selectable(false).truncate());
    });
}

/// The number of columns of X, if there is one, the size of the subject and its fastest kernel.
fn told(first: &RunOf<'_>, best: Option<&RunOf<'_>>) -> String {
    let size = count(subject_size(first.subject));
    let size = if first.matrix().is_some() { format!("{size} nonzeros") } else { size };
    let k = first.run.vectors().map(|k| format!("k = {k} · ")).unwrap_or_default();
    let size = k + &size;
    let Some((run, metric)) = best.and_then(|run| Some((run, run.metric()?))) else { return size };
    format!("{size} · best {}, {} {}", run.run.kernel, significant(metric.value), metric.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_space_is_short_the_name_of_a_stand_in_is_cut_last() {
        let whole = "Cube_Coup_dt0 (stand-in)";
        let at = |shown: &str| fitted(whole, text_width(shown, BODY) + 0.1);
        assert_eq!(at(whole), whole);
        assert_eq!(at("Cube_Coup_dt0 (stand"), "Cube_Coup_dt0 *");
        assert_eq!(at("Cube_Coup_dt0 *"), "Cube_Coup_dt0 *");
        let cut = at("Cube_Coup_dt0");
        assert!(cut.contains('…') && cut.ends_with(" *"), "{cut}");
    }
}
