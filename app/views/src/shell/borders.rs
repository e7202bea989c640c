//! The borders between views: dragged, moved by arrow keys, evened out by a double click.

use egui::{CursorIcon, EventFilter, Key, Rect, Role, Sense, Stroke, Ui, WidgetInfo};
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};
use sparsescope_figures::views::View;

/// Minimum size of a pane.
const LEAST: f32 = 180.0;
/// Distance from its line at which a border can be grabbed.
const REACH: f32 = 4.0;
/// Distance that a press of an arrow key moves a border.
const STEP: f32 = 24.0;

/// Lets the user move the borders between tiles. Call it after the tiles have been drawn.
pub(super) fn show(ui: &Ui, tree: &mut Tree<&'static View>) {
    let splits: Vec<(TileId, Linear)> = tree
        .tiles
        .iter()
        .filter_map(|(id, tile)| match tile {
            Tile::Container(Container::Linear(linear)) => Some((*id, linear.clone())),
            _ => None,
        })
        .collect();
    for (id, split) in splits {
        for (first, second) in split.children.iter().zip(split.children.iter().skip(1)) {
            let Some(shares) = border(ui, &tree.tiles, &split, *first, *second) else { continue };
            if let Some(Tile::Container(Container::Linear(linear))) = tree.tiles.get_mut(id) {
                linear.shares.set_share(*first, shares.0);
                linear.shares.set_share(*second, shares.1);
            }
        }
    }
}

/// Draws one border; returns the new shares of its neighbours if it was moved.
fn border(
    ui: &Ui,
    tiles: &Tiles<&'static View>,
    split: &Linear,
    first: TileId,
    second: TileId,
) -> Option<(f32, f32)> {
    let (one, other) = (tiles.rect(first)?, tiles.rect(second)?);
    let beside = split.dir == LinearDir::Horizontal;
    let (from, to, at) = match beside {
        true => (one.left(), other.right(), (one.right() + other.left()) * 0.5),
        false => (one.top(), other.bottom(), (one.bottom() + other.top()) * 0.5),
    };
    let line = match beside {
        true => Rect::from_x_y_ranges(at..=at, one.y_range()),
        false => Rect::from_x_y_ranges(one.x_range(), at..=at),
    };
    let reach = if beside { egui::vec2(REACH, 0.0) } else { egui::vec2(0.0, REACH) };
    let id = ui.scope_id().with(("border", first, second));
    let border = ui.interact(line.expand2(reach), id, Sense::click_and_drag());
    let name = format!("Border between {} and {}", names(tiles, first), names(tiles, second));
    border.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, name.as_str()));

    let (cursor, before, after) = match beside {
        true => (CursorIcon::ResizeHorizontal, Key::ArrowLeft, Key::ArrowRight),
        false => (CursorIcon::ResizeVertical, Key::ArrowUp, Key::ArrowDown),
    };
    let width = if border.dragged() || border.has_focus() { 3.0 } else { 2.0 };
    if border.hovered() || border.dragged() || border.has_focus() {
        ui.ctx().set_cursor_icon(cursor);
        let stroke = Stroke::new(width, ui.visuals().selection.stroke.color);
        ui.painter().line_segment([line.min, line.max], stroke);
    }

    let (one_share, other_share) = (split.shares[first], split.shares[second]);
    let both = one_share + other_share;
    if border.double_clicked() {
        return Some((both * 0.5, both * 0.5));
    }
    let wanted = if border.dragged() {
        let pointer = border.interact_pointer_pos()?;
        if beside { pointer.x } else { pointer.y }
    } else if border.has_focus() {
        let arrows = EventFilter {
            horizontal_arrows: beside,
            vertical_arrows: !beside,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, arrows));
        let presses = |key: Key| ui.input(|input| input.num_presses(key)) as f32;
        at + STEP * (presses(after) - presses(before))
    } else {
        return None;
    };
    let least = LEAST.min((to - from) * 0.5);
    let share = (wanted.clamp(from + least, to - least) - from) / (to - from);
    let moved = (wanted - at).abs() > 0.5;
    moved.then_some((both * share, both * (1.0 - share)))
}

/// The views below a tile.
fn names(tiles: &Tiles<&'static View>, id: TileId) -> String {
    match tiles.get(id) {
        Some(Tile::Pane(view)) => view.name.to_owned(),
        Some(Tile::Container(container)) => {
            let names = container.children().map(|child| names(tiles, *child));
            names.collect::<Vec<_>>().join(", ")
        }
        None => String::new(),
    }
}
