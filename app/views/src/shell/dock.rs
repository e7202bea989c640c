//! The centre: views in groups of tabs that can be dragged, split and resized. The arrangement is the state's
//! [`Arrangement`]; the tree of tiles is rebuilt from it whenever the two differ, and read back when the
//! pointer is released, so that a drag is one undo step.

use egui::{Button, Color32, Id, Rect, Response, Role, Sense, Stroke, Ui, Visuals, WidgetInfo};
use egui_tiles::{
    Behavior, SimplificationOptions, TabState, Tabs, TileId, Tiles, Tree, UiResponse,
};
use sparsescope_figures::arrangement::{Arrangement, Part};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::{VIEWS, View, current};

use super::icon::{Icon, button};
use super::pane::{self, Saved};
use super::tabs::{self, Bar, Look, TAB_BAR};
use super::tiles::{insert, read};
use super::{borders, keys};
use crate::style;

/// The ids of all views, in order.
pub(super) fn all() -> Vec<&'static str> {
    VIEWS.iter().map(|view| view.id).collect()
}

fn focus(state: &ViewState) -> &'static str {
    current(state).map_or("", |view| view.id)
}

/// Makes the state's arrangement drawable, with its view in front; `before` was in front until now.
pub(super) fn settle(state: &mut ViewState, before: &str) {
    let all = all();
    let from = if all.contains(&before) { before } else { focus(state) };
    state.arrangement = state.arrangement.follow(&all, from, focus(state));
}

/// Whether the two differ only in which of the visible views has the keyboard focus.
pub(super) fn only_focus_moved(before: &ViewState, after: &ViewState) -> bool {
    let part = |state: &ViewState| state.arrangement.part(&all(), focus(state));
    let same = ViewState {
        view: before.view.clone(),
        arrangement: before.arrangement.clone(),
        ..after.clone()
    };
    before.view != after.view && same == *before && part(before) == part(after)
}

/// A request from the corner of a group.
enum Wish {
    Split { view: &'static str, down: bool },
    Join { view: &'static str },
}

/// The tree of tiles and the arrangement that it was made from.
pub(super) struct Dock {
    tree: Tree<&'static View>,
    shown: Part,
}

impl std::fmt::Debug for Dock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dock").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Dock {
    fn of(part: Part) -> Self {
        let mut tiles = Tiles::default();
        let root = insert(&mut tiles, &part);
        Self { tree: Tree::new(egui::Id::unique("views"), root, tiles), shown: part }
    }

    /// Draws the views as the state arranges them; requested files go into `saved`.
    pub(super) fn show(
        dock: &mut Option<Self>,
        ui: &mut Ui,
        model: &Model,
        state: &mut ViewState,
        saved: &mut Saved,
    ) {
        let all = all();
        let wanted = state.arrangement.part(&all, focus(state));
        let mut now = match dock.take() {
            Some(dock) if dock.shown == wanted => dock,
            _ => Self::of(wanted),
        };
        let groups = now.shown.groups().len();
        let focus_before = focus(state);
        let mut panes = Panes {
            model,
            state,
            saved,
            focus: focus_before,
            clip: ui.clip_rect(),
            groups,
            bar: Bar::default(),
            wish: None,
            pressed: None,
        };
        now.tree.ui(&mut panes, ui);
        let Panes { wish, pressed, .. } = panes;
        borders::show(ui, &mut now.tree);

        if let Some(view) = pressed.filter(|_| state.view == focus_before) {
            state.view = view.into();
        }
        match wish {
            Some(Wish::Split { view, down }) => {
                settle(state, focus_before);
                state.arrangement = state.arrangement.split(&all, focus(state), view, down);
            }
            Some(Wish::Join { view }) => {
                settle(state, focus_before);
                state.arrangement = state.arrangement.join(&all, focus(state), view);
            }
            None if !ui.input(|input| input.pointer.any_down()) => now.read_back(state),
            None => {}
        }
        *dock = Some(now);
    }

    /// Copies into the state what was dragged or clicked in the tree.
    fn read_back(&self, state: &mut ViewState) {
        let shown_before: Vec<&str> = self.shown.groups().iter().map(|g| g.shown()).collect();
        let root = self.tree.root().and_then(|root| read(&self.tree.tiles, root, &shown_before));
        let Some(part) = root.filter(|part| *part != self.shown) else { return };
        let shown: Vec<&str> = part.groups().iter().map(|group| group.shown()).collect();
        let come = shown.iter().find(|view| !shown_before.contains(view));
        let stays = shown.iter().find(|view| **view == state.view);
        if let Some(view) = come.or(stays).or(shown.first()) {
            state.view = (*view).to_owned();
        }
        state.arrangement = Arrangement::of(part, &all(), focus(state));
    }
}

/// Draws tiles as views.
struct Panes<'a> {
    model: &'a Model,
    state: &'a mut ViewState,
    saved: &'a mut Saved,
    focus: &'static str,
    /// What is seen of the centre: the tiles have a clip rectangle of their own.
    clip: Rect,
    groups: usize,
    /// The tabs being drawn.
    bar: Bar,
    wish: Option<Wish>,
    pressed: Option<&'static str>,
}

impl Panes<'_> {
    fn view(tiles: &Tiles<&'static View>, id: TileId) -> Option<&'static View> {
        tiles.get_pane(&id).copied()
    }

    /// The buttons in the corner of a group with this number of tabs, with this view in front.
    fn corner(&mut self, ui: &mut Ui, view: &'static View, tabs: usize) {
        if self.groups > 1 {
            let name = format!("Join {} with the other views", view.name);
            if button(ui, Icon::Cross, &name).on_hover_text(&name).clicked() {
                self.wish = Some(Wish::Join { view: view.id });
            }
        }
        if tabs > 1 && !style::is_phone(ui.ctx()) {
            let halves = [(true, "below", Icon::Below), (false, "to the right", Icon::Right)];
            for (down, whither, icon) in halves {
                let name = format!("Move {} {whither}", view.name);
                if button(ui, icon, &name).on_hover_text(&name).clicked() {
                    self.wish = Some(Wish::Split { view: view.id, down });
                }
            }
        }
    }
}

/// The tooltip of a view's tab.
fn hint(ui: &Ui, view: &View, empty: bool) -> String {
    let sentence = match empty {
        true => format!("{} It has nothing to show for the selection.", view.sentence),
        false => view.sentence.to_owned(),
    };
    let place = VIEWS.iter().position(|other| other.id == view.id);
    match place.and_then(keys::of_view) {
        Some(key) => keys::hint(ui, &sentence, &format!("key {key}; drag to arrange")),
        None => sentence,
    }
}

impl Behavior<&'static View> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, view: &mut &'static View) -> UiResponse {
        let rect = ui.max_rect();
        ui.shrink_clip_rect(self.clip);
        let has_focus = self.focus == view.id;
        let pressed =
            ui.input(|input| input.pointer.any_pressed()) && ui.rect_contains_pointer(rect);
        if pressed && !has_focus {
            self.pressed = Some(view.id);
        }
        let purpose = pane::Purpose::Work(self.groups);
        let mut draw =
            |ui: &mut Ui| pane::show(ui, view, self.model, self.state, self.saved, purpose);
        if has_focus {
            draw(ui)
        } else {
            without_keys(ui, draw)
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, view: &&'static View) -> egui::WidgetText {
        view.name.into()
    }

    fn tab_title_for_tile(&mut self, tiles: &Tiles<&'static View>, id: TileId) -> egui::WidgetText {
        let part = read(tiles, id, &[]);
        let views = part.iter().flat_map(Part::views);
        let name = |id: &str| VIEWS.iter().find(|view| view.id == id).map(|view| view.name);
        views.filter_map(name).collect::<Vec<_>>().join(", ").into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<&'static View>,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        state: &TabState,
    ) -> Response {
        let Some(view) = Self::view(tiles, tile) else {
            let name = self.tab_title_for_tile(tiles, tile);
            let look = Look { name: name.text(), state, focused: false, empty: false };
            return self.bar.tab(ui, id, tile, &look, Sense::click());
        };
        let (name, focused) = (view.name, view.id == self.focus);
        let empty = (view.is_empty)(self.model, self.state);
        let look = Look { name, state, focused, empty };
        let tab = self.bar.tab(ui, id, tile, &look, Sense::click_and_drag());
        if tab.clicked() {
            self.pressed = Some(view.id);
        }
        tab.on_hover_text(hint(ui, view, empty))
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<&'static View>,
        ui: &mut Ui,
        id: TileId,
        tabs: &Tabs,
        offset: &mut f32,
    ) {
        ui.spacing_mut().item_spacing.x = 2.0;
        // The tabs must not spring back to an offset from before there was an arrow.
        ui.spacing_mut().scroll.kinetic.rubber_band = false;
        if let Some(view) = tabs.active.and_then(|id| Self::view(tiles, id)) {
            ui.add_space(4.0);
            self.corner(ui, view, tabs.children.len());
        }
        self.bar = Bar::of(ui, tabs, |tile| Self::view(tiles, tile));
        self.bar.scroll_to_active(ui, id, tabs, offset);
    }

    fn tab_bar_left_ui(&mut self, _: &Tiles<&'static View>, ui: &mut Ui, _: TileId, _: &Tabs) {
        ui.add_space(tabs::LEFT);
    }

    fn tab_bar_height(&self, style: &egui::Style) -> f32 {
        TAB_BAR.max(style.spacing.interact_size.y)
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        3.0
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    /// Ctrl+Tab belongs to the browser.
    fn cycle_tabs_with_keyboard(&self) -> bool {
        false
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> Color32 {
        visuals.panel_fill
    }

    /// Borders have names and keys here, so they are drawn separately.
    fn is_container_resizable(&self, _: &Tiles<&'static View>, _: TileId) -> bool {
        false
    }

    /// Only single tabs can be dragged.
    fn is_tile_draggable(&self, tiles: &Tiles<&'static View>, id: TileId) -> bool {
        Self::view(tiles, id).is_some()
    }

    fn resize_stroke(&self, style: &egui::Style, _: egui_tiles::ResizeState) -> Stroke {
        Stroke::new(1.0, style.visuals.widgets.noninteractive.bg_stroke.color)
    }

    fn drag_preview_color(&self, visuals: &Visuals) -> Color32 {
        visuals.selection.stroke.color.gamma_multiply(0.2)
    }
}

/// Draws a pane that does not have the focus: it sees no key events unless a widget has it.
fn without_keys(ui: &mut Ui, draw: impl FnOnce(&mut Ui)) {
    if ui.memory(|memory| memory.focused().is_some()) {
        return draw(ui);
    }
    let is_key = |event: &egui::Event| matches!(event, egui::Event::Key { .. });
    let all = ui.input_mut(|input| {
        let others = input.events.iter().filter(|event| !is_key(event)).cloned().collect();
        std::mem::replace(&mut input.events, others)
    });
    draw(ui);
    ui.input_mut(|input| input.events = all);
}

/// The menu that brings any view to the front and arranges views without dragging.
pub(super) fn menu(ui: &mut Ui, state: &mut ViewState) {
    let menu = ui.menu_button("Views", |ui| {
        ui.set_min_width(210.0);
        for (index, view) in VIEWS.iter().enumerate() {
            let chosen = focus(state) == view.id;
            let button = Button::selectable(chosen, view.name);
            let button = button.shortcut_text(keys::of_view(index).unwrap_or_default());
            let button = ui.add(button).on_hover_text(view.sentence);
            let name = format!("Show {}", view.name);
            button.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, name.as_str()));
            if button.clicked() {
                state.view = view.id.into();
                ui.close();
            }
        }
        ui.separator();
        arrange(ui, state);
    });
    menu.response.on_hover_text("Show a view, split the space or reset the layout");
}

fn arrange(ui: &mut Ui, state: &mut ViewState) {
    let (all, view) = (all(), focus(state));
    let halves = [("Split right", false), ("Split down", true)];
    let changed =
        halves.map(|(name, down)| (name, state.arrangement.split(&all, view, view, down)));
    let joined = ("Join with the others", state.arrangement.join(&all, view, view));
    let reset = ("Reset layout", Arrangement::default());
    for (name, arrangement) in changed.into_iter().chain([joined, reset]) {
        let differs = arrangement != state.arrangement;
        if ui.add_enabled(differs, Button::new(name).frame_when_inactive(false)).clicked() {
            state.arrangement = arrangement;
            ui.close();
        }
    }
}
