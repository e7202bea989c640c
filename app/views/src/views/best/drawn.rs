//! The heat map and the other figures on screen: pictures of the matrices, and a cursor for the keyboard.

use egui::{
    EventFilter, Id, Key, Modifiers, Pos2, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind,
};
use egui::{Ui, UiBuilder, Vec2, WidgetInfo, vec2};
use sparsescope_figures::figure::{Figure, Hit};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Form, ViewState};
use sparsescope_figures::views::best::board::Board;
use sparsescope_figures::views::best::heat::{Drawn, FOLD};
use sparsescope_figures::views::best::view;

use crate::paint::Paint;
use crate::thumbs;
use crate::views::view::kept;

/// The keys that move the cursor.
const MOVES: [(Key, Vec2); 4] = [
    (Key::ArrowLeft, vec2(-1.0, 0.0)),
    (Key::ArrowRight, vec2(1.0, 0.0)),
    (Key::ArrowUp, vec2(0.0, -1.0)),
    (Key::ArrowDown, vec2(0.0, 1.0)),
];

pub(super) fn show(ui: &mut Ui, form: Form, board: &Board, model: &Model, state: &mut ViewState) {
    let width = ui.available_width() - ui.spacing().scroll.bar_width - 4.0;
    let shown = (state.filter.clone(), state.best.clone(), state.charts.clone());
    let chosen = (state.matrix.clone(), state.run, state.theme, state.log);
    let from = (model.revision(), shown, chosen, form, width);
    let drawn = kept(ui, "best: drawn", from, || view::figure(form, board, model, state, width));
    let area = ScrollArea::both().auto_shrink(false);
    let clicked = area.show(ui, |ui| {
        let corner = ui.cursor().min;
        let clicked = drawn.figure.show(ui, &view::headline(form, board));
        pictures(ui, &drawn, corner, model, state);
        cursor(ui, &drawn.figure, corner).or(clicked)
    });
    match clicked.inner {
        Some(hit) if hit.series.as_deref() == Some(FOLD) => {
            state.best.unfolded = !state.best.unfolded;
        }
        Some(hit) => {
            state.run = hit.run.or(state.run);
            state.matrix = Some(hit.matrix).filter(|key| !key.is_empty()).or(state.matrix.take());
        }
        None => {}
    }
}

/// The pictures of the matrices that are seen, below the head of the figure.
fn pictures(ui: &mut Ui, drawn: &Drawn, corner: Pos2, model: &Model, state: &ViewState) {
    let space = Rect::from_min_size(corner, drawn.figure.size);
    let mut inner = ui.new_child(UiBuilder::new().max_rect(space));
    let mut seen = ui.clip_rect();
    if let Some([top, bottom]) = drawn.figure.head.as_ref().map(|head| head.y) {
        let head = (corner.y + bottom).max(seen.top() + bottom - top);
        seen.set_top(head.min(seen.bottom()));
    }
    inner.set_clip_rect(seen);
    for (rect, key) in &drawn.thumbs {
        let rect = rect.translate(corner.to_vec2());
        if seen.intersects(rect) {
            thumbs::show(&mut inner, model, key, rect, state.theme);
        }
    }
}

/// While the figure has the focus, arrow keys move a cursor over its cells, and Enter selects one.
fn cursor(ui: &Ui, figure: &Figure, corner: Pos2) -> Option<Hit> {
    let cells: Vec<&Hit> = figure.hits.iter().filter(|hit| hit.run.is_some()).collect();
    let id: Id = ui.scope_id().with("cursor");
    let space = Rect::from_min_size(corner, figure.size);
    let response = ui.interact(space, id, Sense::focusable_noninteractive());
    let mut at: usize = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    at = at.min(cells.len().saturating_sub(1));
    let words = cells.get(at).map_or("", |hit| hit.text.as_str());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Cell: {words}")));
    if !response.has_focus() {
        return None;
    }
    let arrows =
        EventFilter { horizontal_arrows: true, vertical_arrows: true, ..Default::default() };
    ui.ctx().memory_mut(|memory| memory.set_focus_lock_filter(id, arrows));
    let mut moved = false;
    for (key, by) in MOVES {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            at = next(&cells, at, by).unwrap_or(at);
            moved = true;
        }
    }
    let hit = cells.get(at)?;
    let rect = hit.rect.translate(corner.to_vec2());
    let stroke = Stroke::new(3.0, ui.visuals().text_color());
    ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Outside);
    if moved {
        ui.data_mut(|data| data.insert_temp(id, at));
        // Below the head, which covers the top.
        let head = figure.head.as_ref().map_or(0.0, |head| head.y[1] - head.y[0]);
        ui.scroll_to_rect(rect.expand2(vec2(0.0, head)), None);
    }
    let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    entered.then(|| (*hit).clone())
}

/// The nearest cell in a direction, in the same row or column.
fn next(cells: &[&Hit], at: usize, by: Vec2) -> Option<usize> {
    let from = cells.get(at)?.rect;
    let steps = cells.iter().enumerate().filter_map(|(place, hit)| {
        let step = hit.rect.center() - from.center();
        let along = step.x * by.x + step.y * by.y;
        let beside = if by.x == 0.0 { step.x } else { step.y };
        (along > 1.0 && beside.abs() < 8.0).then_some((place, along))
    });
    steps.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2};

    use super::*;

    #[test]
    fn the_cursor_passes_over_cells_without_a_run_and_stops_at_the_edge() {
        let hit = |x: f32, y: f32| Hit {
            rect: Rect::from_center_size(pos2(x, y), vec2(40.0, 40.0)),
            text: String::new(),
            matrix: String::new(),
            run: Some(0),
            series: None,
        };
        // The middle of the first row has none.
        let hits = [hit(0.0, 0.0), hit(100.0, 0.0), hit(0.0, 50.0), hit(50.0, 50.0)];
        let cells: Vec<&Hit> = hits.iter().collect();
        let [left, right, up, down] = MOVES.map(|(_, by)| by);
        assert_eq!(next(&cells, 0, right), Some(1));
        assert_eq!(next(&cells, 0, down), Some(2));
        assert_eq!(next(&cells, 3, left), Some(2));
        assert_eq!((next(&cells, 3, up), next(&cells, 1, right)), (None, None));
    }
}
