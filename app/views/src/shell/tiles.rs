//! Converts an arrangement of views to a tree of tiles, and back after dragging.

use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles};
use sparsescope_figures::arrangement::{Group, Part};
use sparsescope_figures::views::{VIEWS, View};

/// Inserts a part into the tiles.
pub(super) fn insert(tiles: &mut Tiles<&'static View>, part: &Part) -> TileId {
    match part {
        Part::Group(group) => {
            let known = |id: &String| VIEWS.iter().find(|view| view.id == id);
            let children: Vec<TileId> =
                group.views.iter().filter_map(known).map(|view| tiles.insert_pane(view)).collect();
            let mut tabs = Tabs::new(children);
            tabs.active = tabs.children.get(group.front).or(tabs.children.first()).copied();
            tiles.insert_container(tabs)
        }
        Part::Split { down, parts } => {
            let children: Vec<TileId> = parts.iter().map(|(_, part)| insert(tiles, part)).collect();
            let dir = if *down { LinearDir::Vertical } else { LinearDir::Horizontal };
            let mut linear = Linear::new(dir, children.clone());
            for (child, (share, _)) in children.into_iter().zip(parts) {
                linear.shares.set_share(child, f32::from(*share));
            }
            tiles.insert_container(linear)
        }
    }
}

/// The arrangement below a tile; `shown` were in front of their groups until now.
pub(super) fn read(tiles: &Tiles<&'static View>, id: TileId, shown: &[&str]) -> Option<Part> {
    match tiles.get(id)? {
        Tile::Pane(view) => Some(Part::Group(Group { views: vec![view.id.into()], front: 0 })),
        Tile::Container(Container::Linear(linear)) => {
            let part = |child: &TileId| Some((linear.shares[*child], read(tiles, *child, shown)?));
            let parts = linear.children.iter().filter_map(part).collect();
            Part::split_of(linear.dir == LinearDir::Vertical, parts)
        }
        Tile::Container(container) => {
            let read = |child: &TileId| Some((*child, read(tiles, *child, shown)?));
            let (ids, parts): (Vec<_>, Vec<_>) = container.children().filter_map(read).unzip();
            let active = match container {
                Container::Tabs(tabs) => tabs.active,
                _ => None,
            };
            let front = ids.iter().position(|id| Some(*id) == active).unwrap_or_default();
            tabs_of(parts, front, shown)
        }
    }
}

/// One group of tabs from these. A view dropped on half of another is in a split among them: the split then
/// replaces the whole group, whose other tabs stay with that other view.
fn tabs_of(mut parts: Vec<Part>, front: usize, shown: &[&str]) -> Option<Part> {
    let in_front = parts.get(front)?.groups().first()?.shown().to_owned();
    let split = parts.iter().position(|part| matches!(part, Part::Split { .. }));
    let names = |parts: &[Part]| -> Vec<String> {
        parts.iter().flat_map(Part::views).map(str::to_owned).collect()
    };
    let Some(place) = split else {
        let views = names(&parts);
        let front = views.iter().position(|view| *view == in_front)?;
        return Some(Part::Group(Group { views, front }));
    };
    let after = names(parts.get(place + 1..)?);
    parts.truncate(place + 1);
    let mut split = parts.pop()?;
    let stayed = split.views().into_iter().find(|view| shown.contains(view)).map(str::to_owned);
    let group = match stayed {
        Some(view) => split.group_of(&view)?,
        None => split.first_group(),
    };
    let seen = if front == place { group.shown().to_owned() } else { in_front };
    group.views.splice(0..0, names(&parts));
    group.views.extend(after);
    group.front = group.views.iter().position(|view| *view == seen)?;
    Some(split)
}
