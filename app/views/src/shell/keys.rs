//! The keyboard: what each key does, and the window that lists all of them.

use egui::{
    Align2, Context, Frame, Grid, Key, Modifiers, RichText, Role, ScrollArea, Ui, WidgetInfo,
    Window,
};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::{BODY, SPACE, TITLE};
use sparsescope_figures::views::VIEWS;

use super::action::Action;
pub(super) use super::hint::hint;
use crate::style;

/// The keys of the first views.
const NUMBERS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];
/// The key of this list.
pub(super) const LIST: Key = Key::Questionmark;
pub(super) const BACK: &str = "Ctrl+Z or Alt+Left";
pub(super) const REDO: &str = "Ctrl+Shift+Z, Ctrl+Y or Alt+Right";

/// The keys in what is shown, by topic.
const INSIDE: [(&str, &[(&str, &str)]); 4] = [
    ("Tables", &[("Up, Down", "Select a run"), ("Enter", "Open its matrix")]),
    ("Figures", &[("Arrows", "Move among the marks"), ("Enter", "Select what a mark shows")]),
    (
        "Structure",
        &[("Arrows", "Move"), ("+, −", "Zoom in and out"), ("0", "Show the whole matrix")],
    ),
    (
        "Steps and lessons",
        &[
            ("Left, Right", "Previous and next step"),
            ("Home, End", "First and last step"),
            ("Space", "Play; in a lesson, show the answer"),
            ("Page Up, Page Down", "Previous and next step of a lesson"),
        ],
    ),
];

/// Whether keys go to a text field.
fn typing(ui: &Ui) -> bool {
    ui.ctx().text_edit_focused()
}

/// The key of a view, by its place among all.
pub(super) fn of_view(place: usize) -> Option<&'static str> {
    NUMBERS.get(place).map(|key| key.name())
}

/// Whether to go back, and whether to redo what that undid.
pub(super) fn back_and_redo(ui: &Ui) -> (bool, bool) {
    if typing(ui) {
        return (false, false);
    }
    ui.input_mut(|input| {
        // Ctrl+Shift+Z also counts as Ctrl+Z.
        let redo = input.consume_key(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z)
            || input.consume_key(Modifiers::COMMAND, Key::Y)
            || input.consume_key(Modifiers::ALT, Key::ArrowRight);
        let back = input.consume_key(Modifiers::COMMAND, Key::Z)
            || input.consume_key(Modifiers::ALT, Key::ArrowLeft);
        (back, redo)
    })
}

/// Whether to focus the search field.
pub(super) fn search(ui: &Ui) -> bool {
    !typing(ui) && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Slash))
}

/// Whether a letter key was pressed outside text fields.
pub(super) fn pressed(ui: &Ui, key: Key) -> bool {
    !typing(ui) && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key))
}

/// The actions whose keys were pressed.
pub(super) fn actions(ui: &Ui, offered: &[Action]) -> Vec<Action> {
    if typing(ui) {
        return Vec::new();
    }
    let pressed =
        |action: &&Action| ui.input_mut(|input| input.consume_key(Modifiers::NONE, action.key));
    offered.iter().filter(pressed).copied().collect()
}

/// Lets number keys select the view.
pub(super) fn views(ui: &Ui, state: &mut ViewState) {
    if typing(ui) {
        return;
    }
    for (key, view) in NUMBERS.into_iter().zip(VIEWS) {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            state.view = view.id.into();
        }
    }
}

/// The popup that lists the keys, until it is closed; it scrolls where the screen is low.
pub(super) fn list(context: &Context, actions: &[Action], open: &mut bool) {
    if *open && context.input(|input| input.key_pressed(Key::Escape)) {
        *open = false;
    }
    if !*open {
        return;
    }
    let room = context.content_rect().height() - 8.0 * SPACE;
    let window = Window::new("Keys").title_bar(false).resizable(false);
    let window = window.frame(Frame::popup(&context.global_style()).inner_margin(2.0 * SPACE));
    let window = window.default_height(room).max_height(room);
    window.anchor(Align2::CENTER_CENTER, [0.0, 0.0]).show(context, |ui| {
        ui.horizontal(|ui| {
            let close = style::quiet_button(ui, "×");
            close.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Close the keys"));
            *open = !close.clicked();
            ui.label(RichText::new("All keys").font(style::strong(ui.ctx(), TITLE)));
        });
        style::show_scroll_bars(ui);
        ScrollArea::vertical().show(ui, |ui| {
            ui.horizontal_top(|ui| sections(ui, actions));
        });
    });
}

/// All keys in two columns.
fn sections(ui: &mut Ui, actions: &[Action]) {
    ui.vertical(|ui| {
        let views = VIEWS.iter().zip(NUMBERS).map(|(view, key)| (key.name(), view.name));
        section(ui, "Views", views);
        let all = [
            (BACK, "Back"),
            (REDO, "Redo"),
            ("/", "Search matrices"),
            ("B", "Side panel"),
            ("P", "Present the view"),
            ("?", "This list"),
        ];
        section(ui, "Everywhere", all.into_iter());
    });
    ui.add_space(24.0);
    ui.vertical(|ui| {
        let actions = actions.iter().map(|action| (action.key.name(), action.name));
        section(ui, "Actions", actions);
        for (topic, keys) in INSIDE {
            section(ui, topic, keys.iter().copied());
        }
    });
}

/// A title, then keys and what they do in two columns.
fn section<'a>(ui: &mut Ui, title: &str, keys: impl Iterator<Item = (&'a str, &'a str)>) {
    ui.label(RichText::new(title).font(style::strong(ui.ctx(), BODY)));
    Grid::new(title).num_columns(2).spacing([16.0, 4.0]).show(ui, |ui| {
        for (key, effect) in keys {
            ui.label(key);
            ui.weak(effect);
            ui.end_row();
        }
    });
    ui.add_space(8.0);
}
