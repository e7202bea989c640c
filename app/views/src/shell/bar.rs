//! The bar at the top: what can be opened, the side panel, views, actions of the window or the page, back and
//! redo, size and theme; in a menu where space is short.

use egui::{Align, Button, Key, Layout, RichText, Role, Ui, WidgetInfo};
use sparsescope_figures::state::{Theme, ViewState, ZOOM};

use super::action::{Action, CPU_EXAMPLE, GPU_EXAMPLE, HOME, SAVE_LESSON, SOLVE_EXAMPLE};
use super::icon::{Icon, button};
use super::{dock, keys};
use crate::style;

/// Minimum width for the side panel next to the views, in points; below it, the panel covers them.
pub(super) const WITH_SIDE: f32 = 640.0;
/// Below this width, the side panel is folded until the user opens it.
const FOLDS: f32 = 900.0;
/// Minimum width for Back and Redo; below it, they are in the menu.
const WITH_STEPS: f32 = 345.0;
/// Minimum width for all buttons.
const WHOLE: f32 = 900.0;

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
    /// Redo what was undone last.
    pub(super) redo: bool,
    /// The list of keys is open.
    pub(super) lists_keys: bool,
}

/// What the bar depends on besides the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// A lesson fills the window.
    pub(super) teaches: bool,
    /// The side panel is shown.
    pub(super) side: bool,
    pub(super) can_go_back: bool,
    pub(super) can_redo: bool,
    /// The start page is shown, which has a filled button of its own.
    pub(super) starts: bool,
    /// Only the example of a GPU is open.
    pub(super) has_gpu_example: bool,
}

/// How much of the bar fits next to the title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// Everything.
    Much,
    /// Size and theme; the rest in a menu.
    Some,
    /// A menu, Back and Redo.
    Little,
    /// A menu.
    Least,
}

impl Bar {
    /// The actions that are possible: a lesson is saved only while it is shown.
    pub(super) fn possible(&self, has_lesson: bool) -> Vec<Action> {
        let possible = |action: &&Action| has_lesson || **action != SAVE_LESSON;
        self.actions.iter().filter(possible).copied().collect()
    }

    /// Whether the side panel is shown, at this width and if `any` bundles or matrices are open.
    pub(super) fn side_shown(&self, width: f32, any: bool) -> bool {
        self.shows_side.unwrap_or(width >= FOLDS && any)
    }

    pub(super) fn show(&mut self, ui: &mut Ui, state: &mut ViewState, now: Now) {
        let room = match ui.available_width() {
            width if width < WITH_STEPS => Room::Least,
            width if width < WITH_SIDE => Room::Little,
            width if width < WHOLE => Room::Some,
            _ => Room::Much,
        };
        ui.add_space(4.0);
        style::button_lines(ui);
        ui.horizontal(|ui| {
            style::without_frames(ui);
            self.line(ui, state, now, room);
        });
        ui.add_space(4.0);
    }

    fn line(&mut self, ui: &mut Ui, state: &mut ViewState, now: Now, room: Room) {
        let title = RichText::new("Sparsescope").strong().size(17.0);
        if self.actions.contains(&HOME) {
            let title = ui.add(Button::new(title).frame(false));
            if title.on_hover_text("Start page (H)").clicked() {
                self.asked.push(HOME);
            }
        } else {
            ui.label(title);
        }
        // A lesson needs the space; keys do the same as the buttons.
        let teaches = now.teaches && !matches!(room, Room::Little | Room::Least);
        if !teaches {
            let button = ui.add(Button::selectable(now.side, "Matrices"));
            let hint = keys::hint(ui, "Bundles, filters and matrices", "B");
            if button.on_hover_text(hint).clicked() {
                self.shows_side = Some(!now.side);
            }
        }
        match room {
            Room::Much => {
                dock::menu(ui, state);
                if !teaches {
                    self.offered(ui, now, false);
                    self.open(ui, now);
                }
            }
            Room::Some if teaches => dock::menu(ui, state),
            Room::Some => {
                ui.menu_button("Menu", |ui| self.menu(ui, state, now, false));
                self.open(ui, now);
            }
            Room::Little | Room::Least => {}
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if matches!(room, Room::Little | Room::Least) {
                ui.menu_button("Menu", |ui| {
                    self.menu(ui, state, now, true);
                    ui.separator();
                    if room == Room::Least {
                        ui.horizontal(|ui| self.steps(ui, now));
                    }
                    ui.horizontal(|ui| {
                        ui.weak("Size");
                        zoom(ui, state);
                    });
                    ui.weak("Theme");
                    ui.horizontal(|ui| themes(ui, state));
                });
            } else {
                self.looks(ui, state);
            }
            if room != Room::Least {
                self.steps(ui, now);
            }
        });
    }

    /// The list of keys, theme and size, from the right.
    fn looks(&mut self, ui: &mut Ui, state: &mut ViewState) {
        let list = ui.button("?");
        list.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Keys"));
        if list.on_hover_text("All keys (?)").clicked() {
            self.lists_keys ^= true;
        }
        let name = state.theme.name();
        let menu = ui.menu_button(name, |ui| themes(ui, state));
        let label = format!("Theme: {name}");
        menu.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        menu.response.on_hover_text("Colours and size of text");
        zoom(ui, state);
    }

    /// Back and Redo.
    fn steps(&mut self, ui: &mut Ui, now: Now) {
        let mut steps = [
            (Icon::Back, "Back", now.can_go_back, "Undo the last change of view", keys::BACK),
            (Icon::Redo, "Redo", now.can_redo, "Redo what Back undid", keys::REDO),
        ];
        if ui.layout().prefer_right_to_left() {
            steps.reverse();
        }
        for (icon, name, may, effect, key) in steps {
            let step = ui.add_enabled_ui(may, |ui| button(ui, icon, name)).inner;
            let clicked = step.on_hover_text(keys::hint(ui, effect, key)).clicked();
            match icon {
                Icon::Back => self.back |= clicked,
                _ => self.redo |= clicked,
            }
        }
    }

    /// The controls in the bar if there is space.
    fn menu(&mut self, ui: &mut Ui, state: &mut ViewState, now: Now, opens: bool) {
        ui.set_min_width(200.0);
        self.offered(ui, now, opens);
        dock::menu(ui, state);
    }

    /// The button that opens files.
    fn open(&mut self, ui: &mut Ui, now: Now) {
        let Some(action) = self.actions.iter().find(|action| opens_files(action)) else { return };
        let button = match now.starts {
            true => ui.button(action.name),
            false => style::filled_button(ui, action.name),
        };
        if button.on_hover_text(keys::hint(ui, action.hint, action.key.name())).clicked() {
            self.asked.push(*action);
        }
    }

    /// Buttons for the actions of the window or the page, with the one that opens files if `opens`. The title
    /// is the button of the start page, which has the other examples; a lesson's panel has the button that saves
    /// it.
    fn offered(&mut self, ui: &mut Ui, now: Now, opens: bool) {
        let elsewhere = [HOME, CPU_EXAMPLE, SOLVE_EXAMPLE, SAVE_LESSON];
        for action in self.actions.iter().filter(|action| !elsewhere.contains(action)) {
            if opens_files(action) && !opens {
                continue;
            }
            let hint = keys::hint(ui, action.hint, action.key.name());
            let is_open = *action == GPU_EXAMPLE && now.has_gpu_example;
            let button = ui.add_enabled(!is_open, Button::new(action.name));
            let button = button.on_disabled_hover_text("This example is open");
            if button.on_hover_text(hint).clicked() {
                self.asked.push(*action);
                ui.close();
            }
        }
    }
}

/// Whether an action opens files, in the window and in the page.
fn opens_files(action: &Action) -> bool {
    action.key == Key::O
}

/// The themes.
fn themes(ui: &mut Ui, state: &mut ViewState) {
    let least = style::least_size(ui.ctx());
    for theme in Theme::ALL {
        let button = Button::selectable(state.theme == theme, theme.name()).min_size(least);
        if ui.add(button).clicked() {
            state.theme = theme;
            ui.close();
        }
    }
}

/// Buttons that make everything larger or smaller.
pub(super) fn zoom(ui: &mut Ui, state: &mut ViewState) {
    let mut sizes = [("−", "Smaller", 1.0 / 1.1), ("+", "Larger", 1.1)];
    if ui.layout().prefer_right_to_left() {
        sizes.reverse();
    }
    let least = style::least_size(ui.ctx());
    for (text, name, factor) in sizes {
        let button = ui.add(Button::new(text).min_size(least));
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
        if button.on_hover_text(name).clicked() {
            state.zoom = (state.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
        }
    }
}
