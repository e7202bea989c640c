//! Runs where space is short: two lines each, the rate in the second column.

use egui::{
    Align, ComboBox, Label, Layout, Rangef, Rect, Response, RichText, Role, ScrollArea, Sense,
    Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, vec2,
};
use sparsescope_figures::figure::shortened;
use sparsescope_figures::model::{Model, RunOf, seconds, significant};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::BODY;
use sparsescope_figures::views::runs::columns::Column;
use sparsescope_figures::views::runs::view::Line;

use super::chosen::{adds, into_view, is_chosen, select};
use super::line::{group, title};

/// Row height of a run.
const ROW: f32 = 42.0;
/// The first column's share of the width.
const FIRST: f32 = 0.66;

/// The choice of the order, since there are no headings.
pub(super) fn sorts(
    ui: &mut Ui,
    columns: &[&Column],
    rate: &str,
    less: bool,
    state: &mut ViewState,
) {
    let now = columns.iter().find(|column| column.id == state.sort);
    let shown = now.map_or("in the bundle's order", |column| title(column, rate));
    ui.horizontal(|ui| {
        let combo = ComboBox::from_id_salt("sort").selected_text(shown).show_ui(ui, |ui| {
            for column in columns {
                ui.selectable_value(&mut state.sort, column.id.to_owned(), title(column, rate));
            }
        });
        let name = format!("Sort by: {shown}");
        combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name.as_str()));
        let inverse = less && state.sort == "gflops";
        let first = if inverse { "Smallest first" } else { "Largest first" };
        ui.checkbox(&mut state.descending, first);
    });
}

/// Draws the lines; scrolls to a row, if given.
pub(super) fn show(
    ui: &mut Ui,
    model: &Model,
    all: &[Line],
    rate: &str,
    state: &mut ViewState,
    row: Option<usize>,
) {
    // On a phone a row has the height of what a finger touches.
    let height = (ROW - ui.spacing().item_spacing.y).max(ui.spacing().interact_size.y);
    let step = height + ui.spacing().item_spacing.y;
    // The last runs can be scrolled above what covers the list.
    let covered = ui.available_rect_before_wrap().bottom() - ui.clip_rect().bottom();
    let empty = (covered / step).ceil().max(0.0) as usize;
    let area = ScrollArea::vertical().auto_shrink(false).animated(false);
    area.show_rows(ui, height, all.len() + empty, |ui, seen| {
        if let Some(row) = row {
            let top = ui.max_rect().top() + (row as f32 - seen.start as f32) * step;
            into_view(ui, Rangef::new(top, top + height));
        }
        for line in all.iter().take(seen.end).skip(seen.start) {
            let size = vec2(ui.available_width(), height);
            match *line {
                Line::Group { first, best } => {
                    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
                    let Some(first) = model.run(first) else { continue };
                    let best = best.and_then(|number| model.run(number));
                    ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
                        group(ui, model, &first, best.as_ref(), state);
                    });
                }
                Line::Run(number) => {
                    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
                    let Some(run) = model.run(number) else { continue };
                    show_run(ui, rect, &response, (model, &run), rate, state);
                }
            }
        }
    });
}

fn show_run(
    ui: &mut Ui,
    rect: Rect,
    response: &Response,
    (model, run): (&Model, &RunOf<'_>),
    rate: &str,
    state: &mut ViewState,
) {
    let name = format!("Run of {} on {}", run.run.kernel, run.name());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
    if response.clicked() {
        select(model, run, state, adds(response));
    }
    if is_chosen(model, run, state) {
        ui.painter().rect_filled(rect, 2.0, ui.visuals().selection.bg_fill);
    }
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    if response.has_focus() {
        let stroke = Stroke::new(2.0, state.theme.ink().accent);
        ui.painter().rect_stroke(rect, 2.0, stroke, StrokeKind::Inside);
    }
    lines(ui, rect.shrink2(vec2(6.0, 2.0)), run, rate, state.grouped);
}

/// Matrix and rate; kernel with its settings, and time or verdict. The title of a group names the matrix.
fn lines(ui: &mut Ui, rect: Rect, run: &RunOf<'_>, rate: &str, grouped: bool) {
    let value = run.rate().map(|value| format!("{} {rate}", significant(value)));
    let median = run.run.figures.as_ref().map(|figures| seconds(figures.median_s));
    let kernel = run.run.kernel_as_run();
    let [upper, lower] = match grouped {
        true => [kernel, run.setting()],
        false => [run.name(), run.with_setting(&kernel, " · ")],
    };
    let texts = [
        [upper, value.unwrap_or_else(|| "–".into())],
        [lower, median.unwrap_or_else(|| run.verdict().into())],
    ];
    let (left, right) = rect.split_left_right_at_fraction(FIRST);
    for (line, texts) in [0.0, 0.5].into_iter().zip(texts) {
        let sides = [
            (left, Layout::left_to_right(Align::Center)),
            (right, Layout::right_to_left(Align::Center)),
        ];
        for ((side, layout), text) in sides.into_iter().zip(texts) {
            let half = Rect::from_min_size(
                side.min + vec2(0.0, line * side.height()),
                vec2(side.width(), side.height() * 0.5),
            );
            let text = RichText::new(shortened(&text, half.width(), BODY));
            let text = if line == 0.0 { text.strong() } else { text.weak() };
            let place = UiBuilder::new().max_rect(half).layout(layout);
            ui.scope_builder(place, |ui| ui.add(Label::new(text).selectable(false)));
        }
    }
}
