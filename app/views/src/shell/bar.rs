//! The bar at the top: what can be opened, the side panel, views, actions of the window or the page, back,
//! size and theme; in a menu where space is short.

use egui::{Align, Button, Layout, RichText, Ui};
use sparsescope_figures::state::{Theme, ViewState, ZOOM};

use super::action::{Action, CPU_EXAMPLE, HOME, SOLVE_EXAMPLE};
use super::dock;

/// Minimum width for the side panel next to the views, in points; below it, the panel covers them.
pub(super) const WITH_SIDE: f32 = 640.0;
/// Below this width, the side panel is folded until the user opens it.
const FOLDS: f32 = 900.0;
/// Minimum width for all buttons.
const WHOLE: f32 = 955.0;

/// The state and the requests of the bar.
#[derive(Debug, Default)]
pub(super) struct Bar {
    /// The actions of the window or the page.
    pub(super) actions: Vec<Action>,
    /// The requested actions.
    pub(super) asked: Vec<Action>,
    /// Whether the side panel is shown, as the user chose; by available space if not set.
    pub(super) shows_side: Option<bool>,
    /// Go back to the previous state.
    pub(super) back: bool,
}

/// What the bar depends on besides the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// A lesson fills the window.
    pub(super) teaches: bool,
    /// The side panel is shown.
    pub(super) side: bool,
    pub(super) can_go_back: bool,
}

/// How much of the bar fits next to the title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// Everything.
    Much,
    /// Size and theme; the rest in a menu.
    Some,
    /// A menu.
    Little,
}

impl Bar {
    /// Whether the side panel is shown, at this width and if `any` bundles or matrices are open.
    pub(super) fn side_shown(&self, width: f32, any: bool) -> bool {
        self.shows_side.unwrap_or(width >= FOLDS && any)
    }

    pub(super) fn show(&mut self, ui: &mut Ui, state: &mut ViewState, now: Now) {
        let room = match ui.available_width() {
            width if width < WITH_SIDE => Room::Little,
            width if width < WHOLE => Room::Some,
            _ => Room::Much,
        };
        ui.add_space(4.0);
        ui.horizontal(|ui| self.line(ui, state, now, room));
        ui.add_space(4.0);
    }

    fn line(&mut self, ui: &mut Ui, state: &mut ViewState, now: Now, room: Room) {
        let title = RichText::new("Sparsescope").strong().size(17.0);
        if self.actions.contains(&HOME) {
            let title = ui.add(Button::new(title).frame(false));
            if title.on_hover_text("Start page (key H)").clicked() {
                self.asked.push(HOME);
            }
        } else {
            ui.label(title);
        }
        // A lesson needs the space; keys do the same as the buttons.
        let teaches = now.teaches && room != Room::Little;
        if !teaches {
            let button = ui.add(Button::new("Matrices").selected(now.side));
            if button.on_hover_text("Bundles, filters and matrices (key B)").clicked() {
                self.shows_side = Some(!now.side);
            }
        }
        match room {
            Room::Much => {
                dock::menu(ui, state);
                if !teaches {
                    self.offered(ui);
                }
            }
            Room::Some if teaches => dock::menu(ui, state),
            Room::Some => drop(ui.menu_button("Menu", |ui| self.menu(ui, state))),
            Room::Little => {}
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if room == Room::Little {
                ui.menu_button("Menu", |ui| {
                    self.menu(ui, state);
                    ui.separator();
                    ui.horizontal(|ui| {
                        ui.weak("Size");
                        zoom(ui, state);
                    });
                    ui.weak("Theme");
                    ui.horizontal(|ui| themes(ui, state));
                });
            } else {
                themes(ui, state);
                ui.weak("Theme");
                ui.add_space(8.0);
                zoom(ui, state);
            }
            let back = ui.add_enabled(now.can_go_back, Button::new("Back"));
            if back.on_hover_text("Undo the last view change (Ctrl+Z, Alt+Left)").clicked() {
                self.back = true;
            }
        });
    }

    /// The controls in the bar if there is space.
    fn menu(&mut self, ui: &mut Ui, state: &mut ViewState) {
        ui.set_min_width(200.0);
        self.offered(ui);
        dock::menu(ui, state);
    }

    /// Buttons for the actions of the window or the page. The title is the button of the start page, which has
    /// the other examples.
    fn offered(&mut self, ui: &mut Ui) {
        let elsewhere = [HOME, CPU_EXAMPLE, SOLVE_EXAMPLE];
        for action in self.actions.iter().filter(|action| !elsewhere.contains(action)) {
            let hint = format!("{} (key {})", action.hint, action.key.name());
            if ui.button(action.name).on_hover_text(hint).clicked() {
                self.asked.push(*action);
                ui.close();
            }
        }
    }
}

/// The themes, in layout order.
fn themes(ui: &mut Ui, state: &mut ViewState) {
    let mut all = Theme::ALL;
    if ui.layout().prefer_right_to_left() {
        all.reverse();
    }
    for theme in all {
        if ui.selectable_label(state.theme == theme, theme.name()).clicked() {
            state.theme = theme;
        }
    }
}

/// Buttons that make everything larger or smaller.
pub(super) fn zoom(ui: &mut Ui, state: &mut ViewState) {
    let mut sizes = [("−", "Smaller", 1.0 / 1.1), ("+", "Larger", 1.1)];
    if ui.layout().prefer_right_to_left() {
        sizes.reverse();
    }
    for (text, name, factor) in sizes {
        let button = ui.button(text);
        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
        if button.on_hover_text(name).clicked() {
            state.zoom = (state.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
        }
    }
}
