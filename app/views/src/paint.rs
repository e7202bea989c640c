//! Draws a figure on screen.

use egui::accesskit::Action;
use egui::epaint::TextShape;
use egui::{
    Align2, Color32, EventFilter, FontId, Id, Key, Modifiers, Painter, Pos2, Rect, Response, Role,
    Sense, Stroke, StrokeKind, Ui, UiBuilder, Vec2, WidgetInfo, pos2, vec2,
};
use sparsescope_figures::figure::{Anchor, Figure, Head, Hit, Shape};

use crate::style;

/// With more hits than this, not each becomes a widget, except for [`show_all`].
const MANY: usize = 400;
/// Width of the outline of a mark.
const OUTLINE: f32 = 1.5;
/// Outline of the hit that has the focus or is under the pointer.
const AROUND: f32 = 2.0;
/// The arrow keys and their directions.
const ARROWS: [(Key, Vec2); 4] = [
    (Key::ArrowLeft, vec2(-1.0, 0.0)),
    (Key::ArrowRight, vec2(1.0, 0.0)),
    (Key::ArrowUp, vec2(0.0, -1.0)),
    (Key::ArrowDown, vec2(0.0, 1.0)),
];

/// How the pointer or keyboard interacted with a figure.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) clicked: Option<Hit>,
    /// The hit under the pointer or with the focus.
    pub(crate) pointed: Option<Hit>,
}

/// Draws figures with egui.
pub(crate) trait Paint {
    /// Paints the figure at the cursor of `ui`, makes its hits interactive, and returns the one that was
    /// clicked.
    fn show(&self, ui: &mut Ui, name: &str) -> Option<Hit> {
        self.show_and_tell(ui, name).clicked
    }

    /// The same, and also returns the hit under the pointer.
    fn show_and_tell(&self, ui: &mut Ui, name: &str) -> Answer;

    /// Paints the shapes, without images, with the figure's upper left corner here.
    fn paint(&self, painter: &Painter, corner: Pos2);
}

impl Paint for Figure {
    fn show_and_tell(&self, ui: &mut Ui, name: &str) -> Answer {
        show_with(self, ui, name, |painter, corner| self.paint(painter, corner))
    }

    fn paint(&self, painter: &Painter, corner: Pos2) {
        paint_shapes(self.shapes.iter(), painter, corner);
    }
}

/// Shows a figure with every hit as a widget that can be clicked, however many there are; returns the one that was.
pub(crate) fn show_all(figure: &Figure, ui: &mut Ui, name: &str) -> Option<Hit> {
    show_hits(figure, ui, name, true, |painter, corner| figure.paint(painter, corner)).clicked
}

/// Shows a figure whose shapes `draw` paints.
pub(crate) fn show_with(
    figure: &Figure,
    ui: &mut Ui,
    name: &str,
    draw: impl FnOnce(&Painter, Pos2),
) -> Answer {
    show_hits(figure, ui, name, false, draw)
}

fn show_hits(
    figure: &Figure,
    ui: &mut Ui,
    name: &str,
    all: bool,
    draw: impl FnOnce(&Painter, Pos2),
) -> Answer {
    let (space, response) = ui.allocate_exact_size(figure.size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
    if !figure.message.is_empty() {
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_description(figure.message.as_str());
        });
    }
    let painter = ui.painter_at(space);
    painter.rect_filled(space, 0.0, figure.paper);
    draw(&painter, space.min);
    paint_head(figure, &painter, space.min);
    // For screen readers the hits are a group beside the picture, whose content they would not read.
    let group = UiBuilder::new().max_rect(space).accessibility_role(Role::Group);
    let mut group = ui.new_child(group);
    group.set_clip_rect(below_head(figure, painter.clip_rect(), space.min));
    interact(&group, figure, space.min, response.id, all)
}

/// Paints shapes that are seen.
pub(crate) fn paint_shapes<'s>(
    shapes: impl Iterator<Item = &'s Shape>,
    painter: &Painter,
    corner: Pos2,
) {
    let window = painter.clip_rect().translate(-corner.to_vec2());
    let seen = shapes.filter(|shape| reach(shape).intersects(window));
    seen.for_each(|shape| paint(shape, painter, corner));
}

/// Makes hits interactive: the Tab key reaches one of them, and arrow keys move among them. With more than [`MANY`],
/// not each becomes a widget, and what selects nothing cannot be clicked, unless `all` do and can.
fn interact(ui: &Ui, figure: &Figure, corner: Pos2, id: Id, all: bool) -> Answer {
    let mut answer = Answer::default();
    let most = if all { usize::MAX } else { MANY };
    let hits: Vec<(usize, &Hit)> = figure.hits.iter().enumerate().collect();
    let stop = stop_of(ui, id, &hits);
    // Thousands of widgets would take longer than a frame; then only the uppermost hit under the pointer,
    // the one that the Tab key reaches and those next to it become widgets.
    let pointer = ui.ctx().pointer_hover_pos().filter(|at| ui.clip_rect().contains(*at));
    let pointer = pointer.map(|at| at - corner.to_vec2());
    let is_there = |hit: &Hit| pointer.is_some_and(|at| hit.rect.contains(at));
    let pointed = hits.iter().rev().find(|(_, hit)| is_there(hit)).map(|(index, _)| *index);
    let near = match hits.iter().find(|(index, _)| hits.len() > most && stop == Some(*index)) {
        Some((_, from)) => ARROWS.map(|(_, way)| next_of(from.rect.center(), way, &hits)),
        None => [None; 4],
    };
    let is_shown = |index: usize| {
        let index = Some(index);
        hits.len() <= most || stop == index || pointed == index || near.contains(&index)
    };
    let head = figure.head.as_ref().map_or(0.0, |head| head.y[1] - head.y[0]);
    for (index, hit) in hits.iter().filter(|(index, _)| is_shown(*index)) {
        let (role, mut sense) = match all || hit.selects() {
            true => (Role::Button, Sense::CLICK),
            false => (Role::Note, Sense::HOVER),
        };
        sense.set(Sense::FOCUSABLE, stop == Some(*index));
        let rect = hit.rect.translate(corner.to_vec2());
        let place = ui.interact(rect, id.with(index), sense);
        place.widget_info(|| WidgetInfo::labeled(role, true, &hit.text));
        ui.ctx().accesskit_node_builder(place.id, |node| node.add_action(Action::Focus));
        // Also while a screen reader's elements have the page's focus.
        let has_focus = ui.memory(|memory| memory.has_focus(place.id));
        if place.hovered() || has_focus {
            let outline = Stroke::new(AROUND, ui.visuals().hyperlink_color);
            ui.painter().rect_stroke(rect.expand(1.0), 2.0, outline, StrokeKind::Middle);
            answer.pointed = Some((*hit).clone());
        }
        if has_focus {
            ui.data_mut(|data| data.insert_temp(id, *index));
            keep_arrows(ui, &place, head);
        }
        if place.on_hover_text(&hit.text).clicked() {
            answer.clicked = Some((*hit).clone());
        }
    }
    answer
}

/// The hit that the Tab key reaches: the one that a screen reader or an arrow key moves the focus to, the
/// focused one, the one that was focused last, or the first one.
fn stop_of(ui: &Ui, id: Id, hits: &[(usize, &Hit)]) -> Option<usize> {
    let focused = ui.memory(|memory| memory.focused());
    let now = focused.and_then(|of| hits.iter().find(|(index, _)| of == id.with(index)));
    let asked = ui.input(|input| {
        let is_asked =
            |index: &usize| input.has_accesskit_action_request(id.with(index), Action::Focus);
        hits.iter().find(|(index, _)| is_asked(index)).map(|(index, _)| *index)
    });
    let moved = asked.or_else(|| {
        let (_, from) = now?;
        next_of(from.rect.center(), pressed_arrow(ui)?, hits)
    });
    if let Some(index) = moved {
        ui.memory_mut(|memory| memory.request_focus(id.with(index)));
        return Some(index);
    }
    let last: Option<usize> = ui.data(|data| data.get_temp(id));
    let is_there = |last: &usize| hits.iter().any(|(index, _)| index == last);
    let first = || hits.first().map(|(index, _)| *index);
    now.map(|(index, _)| *index).or(last.filter(is_there)).or_else(first)
}

/// The direction of a pressed arrow key.
fn pressed_arrow(ui: &Ui) -> Option<Vec2> {
    let is_pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    ARROWS.into_iter().find(|(key, _)| is_pressed(*key)).map(|(_, way)| way)
}

/// Keeps the arrow keys of a focused hit, which has to be visible below the head.
fn keep_arrows(ui: &Ui, place: &Response, head: f32) {
    if place.gained_focus() {
        ui.scroll_to_rect(place.rect.expand2(vec2(0.0, head)), None);
    }
    let filter =
        EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(place.id, filter));
}

/// The closest hit in a direction; what lies aside of it is farther.
fn next_of(from: Pos2, way: Vec2, hits: &[(usize, &Hit)]) -> Option<usize> {
    let far = |(index, hit): &(usize, &Hit)| {
        let by = hit.rect.center() - from;
        let (along, aside) = (by.dot(way), by.dot(way.rot90()).abs());
        (along > 0.5).then_some((along + 2.0 * aside, *index))
    };
    hits.iter()
        .filter_map(far)
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, index)| index)
}

/// Where a shape may be drawn; the length of a text is not known before it is laid out.
fn reach(shape: &Shape) -> Rect {
    const ALL: std::ops::RangeInclusive<f32> = f32::NEG_INFINITY..=f32::INFINITY;
    match shape {
        Shape::Rect { rect, .. } | Shape::Image { rect, .. } => *rect,
        Shape::Line { points, width, .. } => Rect::from_points(points).expand(*width),
        Shape::Polygon { points, .. } => Rect::from_points(points).expand(OUTLINE),
        Shape::Circle { center, radius, .. } => {
            Rect::from_center_size(*center, Vec2::splat(2.0 * (radius + OUTLINE)))
        }
        Shape::Text { pos, size, .. } => Rect::from_x_y_ranges(ALL, pos.y - size..=pos.y + size),
        Shape::Turned { .. } => Rect::EVERYTHING,
    }
}

/// The part that stays visible when it would be scrolled out of view, and how far it is moved down for that.
fn moved_head(figure: &Figure, clip: Rect, corner: Pos2) -> Option<(&Head, f32)> {
    let head = figure.head.as_ref()?;
    let [top, bottom] = head.y;
    let by = clip.top() - (corner.y + top);
    (by > 0.0 && by + bottom <= figure.size.y).then_some((head, by))
}

/// The part of an area that the figure's head does not cover.
pub(crate) fn below_head(figure: &Figure, area: Rect, corner: Pos2) -> Rect {
    match moved_head(figure, area, corner) {
        Some((head, by)) => area.with_min_y((corner.y + head.y[1] + by).min(area.bottom())),
        None => area,
    }
}

/// Paints the head where it was moved to, over what is there.
fn paint_head(figure: &Figure, painter: &Painter, corner: Pos2) {
    let Some((head, by)) = moved_head(figure, painter.clip_rect(), corner) else { return };
    let [top, bottom] = head.y;
    let left = pos2(corner.x, corner.y + top + by);
    let behind = Rect::from_min_size(left, vec2(figure.size.x, bottom - top));
    painter.rect_filled(behind, 0.0, figure.paper);
    for shape in figure.shapes.get(head.shapes.clone()).unwrap_or_default() {
        paint(shape, painter, corner + vec2(0.0, by));
    }
}

fn paint(shape: &Shape, painter: &Painter, corner: Pos2) {
    let at = |point: Pos2| corner + point.to_vec2();
    match shape {
        Shape::Rect { rect, fill } => {
            painter.rect_filled(rect.translate(corner.to_vec2()), 0.0, *fill);
        }
        Shape::Line { points, width, color } => {
            painter.line(points.iter().map(|p| at(*p)).collect(), Stroke::new(*width, *color));
        }
        Shape::Polygon { points, fill, stroke } => {
            let points: Vec<Pos2> = points.iter().map(|p| at(*p)).collect();
            polygon(painter, points, *fill, *stroke);
        }
        Shape::Circle { center, radius, fill, stroke } => {
            if fill.is_opaque() {
                // Two discs are two textured quads; an outline has hundreds of corners.
                painter.circle_filled(at(*center), radius + OUTLINE, *stroke);
                painter.circle_filled(at(*center), *radius, *fill);
            } else {
                painter.circle(at(*center), *radius, *fill, Stroke::new(OUTLINE, *stroke));
            }
        }
        Shape::Image { .. } => {}
        Shape::Text { pos, anchor, size, color, strong, text } => {
            let align = match anchor {
                Anchor::Start => Align2::LEFT_CENTER,
                Anchor::Middle => Align2::CENTER_CENTER,
                Anchor::End => Align2::RIGHT_CENTER,
            };
            let font = match strong {
                true => style::strong(painter.ctx(), *size),
                false => FontId::proportional(*size),
            };
            painter.text(at(*pos), align, text, font, *color);
        }
        Shape::Turned { pos, angle, size, color, text } => {
            let font = FontId::proportional(*size);
            let galley = painter.layout_no_wrap(text.clone(), font, *color);
            let corner = at(*pos) - vec2(0.0, galley.size().y * 0.5);
            let text = TextShape::new(corner, galley, *color);
            painter.add(text.with_angle_and_anchor(*angle, Align2::LEFT_CENTER));
        }
    }
}

/// A regular polygon with an outline. Two filled ones have half as many triangles as one with a stroke.
fn polygon(painter: &Painter, points: Vec<Pos2>, fill: Color32, stroke: Color32) {
    let middle = points.iter().fold(Vec2::ZERO, |sum, point| sum + point.to_vec2());
    let middle = (middle / points.len().max(1) as f32).to_pos2();
    let inner = match points.as_slice() {
        [one, other, ..] => one.lerp(*other, 0.5).distance(middle),
        _ => return,
    };
    if !fill.is_opaque() || inner <= OUTLINE {
        let stroke = Stroke::new(OUTLINE, stroke);
        painter.add(egui::Shape::convex_polygon(points, fill, stroke));
        return;
    }
    for (by, color) in [(OUTLINE * 0.5, stroke), (-OUTLINE * 0.5, fill)] {
        let scale = (inner + by) / inner;
        let points = points.iter().map(|point| middle + (*point - middle) * scale).collect();
        painter.add(egui::Shape::convex_polygon(points, color, Stroke::NONE));
    }
}

#[cfg(test)]
mod tests {
    use egui::{Context, RawInput};
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable};
    use sparsescope_figures::figure::{Mark, area};

    use super::*;

    /// The number of shapes painted of a figure through a window of this height.
    fn painted(figure: &Figure, height: f32) -> usize {
        let context = Context::default();
        let size = vec2(200.0, height);
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, size));
        let mut drawn = context.run_ui(RawInput { screen_rect, ..RawInput::default() }, |ui| {
            let painter = ui.painter().with_clip_rect(Rect::from_min_size(Pos2::ZERO, size));
            figure.paint(&painter, Pos2::ZERO);
        });
        drawn.textures_delta.clear();
        drawn.shapes.len()
    }

    #[test]
    fn shapes_outside_the_window_are_left_out() {
        let (black, white) = (Color32::BLACK, Color32::WHITE);
        let mut figure = Figure::new(vec2(200.0, 1000.0), white);
        for at in [10.0, 900.0] {
            figure.rect(area(5.0, at, 15.0, at + 10.0), black);
            figure.line(pos2(5.0, at), pos2(50.0, at), 1.0, black);
            figure.text(pos2(5.0, at), Anchor::Start, 12.0, black, "far away");
            figure.mark(pos2(60.0, at), Mark::Circle, 4.0, white, black);
            figure.mark(pos2(80.0, at), Mark::Square, 4.0, white, black);
        }
        let none = painted(&Figure::new(figure.size, white), 1000.0);
        // A mark is two filled shapes.
        assert_eq!(painted(&figure, 1000.0), none + 2 * (3 + 2 + 2));
        assert_eq!(painted(&figure, 100.0), none + 3 + 2 + 2);
    }

    /// Four hits in two rows, and what has been clicked.
    fn board(ui: &mut Ui, clicked: &mut String) {
        let mut figure = Figure::new(vec2(100.0, 100.0), Color32::WHITE);
        for (text, x, y) in [("a", 0.0, 0.0), ("b", 50.0, 0.0), ("c", 0.0, 50.0), ("d", 50.0, 50.0)]
        {
            let rect = area(x, y, x + 20.0, y + 20.0);
            let (text, matrix) = (text.to_owned(), "m".to_owned());
            figure.hits.push(Hit { rect, text, matrix, run: None, series: None });
        }
        drop(ui.button("before"));
        if let Some(hit) = figure.show(ui, "board") {
            *clicked = hit.text;
        }
        drop(ui.button("after"));
    }

    /// A figure scrolled by 40 points: its head covers the upper half of a cell. `many` hits far away make only the
    /// hit under the pointer a widget.
    fn scrolled(ui: &mut Ui, (many, top, pointed, clicked): &mut (bool, f32, bool, bool)) {
        *top = ui.cursor().top();
        let mut figure = Figure::new(vec2(100.0, 1000.0), Color32::WHITE);
        figure.head = Some(Head { shapes: 0..0, y: [0.0, 20.0] });
        let far = if *many { MANY } else { 0 };
        for y in (0..far).map(|_| 900.0).chain([50.0]) {
            let (text, matrix) = ("cell".to_owned(), "m".to_owned());
            let rect = area(0.0, y, 100.0, y + 20.0);
            figure.hits.push(Hit { rect, text, matrix, run: None, series: None });
        }
        let scroll = egui::ScrollArea::vertical().vertical_scroll_offset(40.0).max_height(200.0);
        let answer = scroll.show(ui, |ui| figure.show_and_tell(ui, "sheet")).inner;
        *pointed = answer.pointed.is_some();
        *clicked |= answer.clicked.is_some();
    }

    #[test]
    fn cells_under_the_head_do_not_react_to_the_pointer() {
        for many in [false, true] {
            let mut harness = Harness::new_ui_state(scrolled, (many, 0.0, false, false));
            harness.run_steps(2);
            // The cell reaches from 10 to 30 below the top of the area, and egui takes clicks 5 points beside it.
            for (below, reacts) in [(12.0, false), (25.0, true)] {
                let at = pos2(30.0, harness.state().1 + below);
                harness.hover_at(at);
                harness.run_steps(2);
                assert_eq!(harness.state().2, reacts, "{many} {below}");
                harness.drag_at(at);
                harness.run_steps(2);
                harness.drop_at(at);
                harness.run_steps(2);
                assert_eq!(harness.state().3, reacts, "{many} {below}");
            }
        }
    }

    #[test]
    fn the_tab_key_stops_once_at_a_figure_and_arrow_keys_move_inside() {
        let mut harness = Harness::new_ui_state(board, String::new());
        let mut press = |keys: &[Key]| {
            for key in keys {
                harness.key_press(*key);
                harness.run();
            }
            let nodes = ["before", "a", "b", "c", "d", "after"];
            nodes.into_iter().find(|name| harness.get_by_label(name).is_focused())
        };
        assert_eq!(press(&[Key::Tab, Key::Tab]), Some("a"));
        assert_eq!(press(&[Key::ArrowRight]), Some("b"));
        assert_eq!(press(&[Key::ArrowDown]), Some("d"));
        assert_eq!(press(&[Key::ArrowDown]), Some("d"));
        assert_eq!(press(&[Key::Tab]), Some("after"));
        harness.get_by_label("c").focus();
        harness.run();
        assert!(harness.get_by_label("c").is_focused());
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(harness.state(), "c");
    }

    #[test]
    fn a_hit_that_selects_nothing_is_a_note_that_the_keyboard_reaches() {
        let sheet = |ui: &mut Ui, clicked: &mut String| {
            let mut figure = Figure::new(vec2(100.0, 100.0), Color32::WHITE);
            for (text, matrix, y) in [("note", "", 0.0), ("cell", "m", 50.0)] {
                let rect = area(0.0, y, 20.0, y + 20.0);
                let (text, matrix) = (text.to_owned(), matrix.to_owned());
                figure.hits.push(Hit { rect, text, matrix, run: None, series: None });
            }
            if let Some(hit) = figure.show(ui, "sheet") {
                *clicked = hit.text;
            }
        };
        let mut harness = Harness::new_ui_state(sheet, String::new());
        for (name, role, clicked) in [("note", Role::Note, ""), ("cell", Role::Button, "cell")] {
            harness.get_by_label(name).focus();
            harness.run();
            let hit = harness.get_by_label(name);
            assert!(hit.is_focused() && hit.accesskit_node().role() == role, "{name}");
            harness.key_press(Key::Enter);
            harness.run();
            assert_eq!(harness.state(), clicked);
        }
    }

    #[test]
    fn the_keyboard_reaches_every_one_of_many_hits() {
        let table = |ui: &mut Ui, clicked: &mut String| {
            let mut figure = Figure::new(vec2(600.0, 600.0), Color32::WHITE);
            for k in 0..2 * MANY {
                let (row, column) = (k / 40, k % 40);
                let corner = pos2(column as f32 * 12.0, row as f32 * 12.0);
                let rect = Rect::from_min_size(corner, vec2(10.0, 10.0));
                let (text, matrix) = (format!("row {row}, column {column}"), "m".to_owned());
                figure.hits.push(Hit { rect, text, matrix, run: None, series: None });
            }
            if let Some(hit) = figure.show(ui, "table") {
                *clicked = hit.text;
            }
        };
        let mut harness = Harness::new_ui_state(table, String::new());
        for key in [Key::Tab, Key::ArrowDown, Key::ArrowRight, Key::ArrowRight, Key::Enter] {
            harness.key_press(key);
            harness.run();
        }
        assert!(harness.get_by_label("row 1, column 2").is_focused());
        assert_eq!(harness.state(), "row 1, column 2");
        // Screen readers find the hits that an arrow key leads to.
        for next in ["row 0, column 2", "row 2, column 2", "row 1, column 1", "row 1, column 3"] {
            harness.get_by_label(next);
        }
        assert!(harness.query_by_label("row 3, column 3").is_none());
    }
}
