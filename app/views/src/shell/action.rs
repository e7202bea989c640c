//! What only the window or only the page can do.

use egui::{Context, Id, Role, Ui, WidgetInfo};

use super::keys;
use crate::style;

/// Something that only the window or only the page can do, offered as a button and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The button's text.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub hint: &'static str,
    /// Its key.
    pub key: egui::Key,
}

/// Shows the start page.
pub const HOME: Action = Action { name: "Home", hint: "Start page", key: egui::Key::H };

/// Opens the example measured on CPUs.
pub const CPU_EXAMPLE: Action = Action {
    name: "SpMV on Xeon",
    hint: "Open SpMV results from 16 cores of an Intel Xeon",
    key: egui::Key::E,
};

/// Opens the example measured on a GPU: a file of the page, built into the window.
pub const GPU_EXAMPLE: Action = Action {
    name: "SpMV on H100",
    hint: "Open SpMV results from an NVIDIA H100",
    key: egui::Key::G,
};

/// Opens the example of solves: the tables of paper 003 measured again on a GPU.
pub const SOLVE_EXAMPLE: Action = Action {
    name: "Solvers on H100",
    hint: "Open results for conjugate gradients and dense systems from an NVIDIA H100",
    key: egui::Key::S,
};

/// Copies a link to the current state; the window copies the link's fragment.
pub const COPY_LINK: Action =
    Action { name: "Copy link", hint: "Copy a link to this view", key: egui::Key::L };

/// Measures kernels in the page: its form of the window's "Run".
pub const RUN_HERE: Action = Action {
    name: "Run here",
    hint: "Measure kernels on this machine's GPU and in WebAssembly, and compare",
    key: egui::Key::R,
};

/// Saves the page and the lesson shown as one file; offered only while there is a lesson.
pub const SAVE_LESSON: Action = Action {
    name: "Save as HTML",
    hint: "Save the lesson and the viewer as one file that any browser opens without a network",
    key: egui::Key::F,
};

fn offered_id() -> Id {
    Id::unique("actions offered to views")
}

fn asked_id() -> Id {
    Id::unique("actions that views ask for")
}

fn alone_id() -> Id {
    Id::unique("whether the view is alone")
}

/// Says to the views that are drawn next whether another page shows them alone.
pub(super) fn set_alone(context: &Context, alone: bool) {
    context.data_mut(|data| data.insert_temp(alone_id(), alone));
}

/// Whether another page shows the view alone: without settings, and without a way to other views.
pub(crate) fn is_alone(ui: &Ui) -> bool {
    ui.ctx().data(|data| data.get_temp(alone_id())).unwrap_or_default()
}

/// Offers actions to the views that are drawn next.
pub(super) fn offer(context: &Context, actions: Vec<Action>) {
    context.data_mut(|data| data.insert_temp(offered_id(), actions));
}

/// The actions that views have asked for.
pub(super) fn take_asked(context: &Context) -> Vec<Action> {
    context.data_mut(|data| data.remove_temp(asked_id())).unwrap_or_default()
}

/// A button within a view for an action, if it is offered; `name` is for screen readers.
pub(crate) fn button(ui: &mut Ui, action: Action, name: &str) {
    let offered: Option<Vec<Action>> = ui.ctx().data(|data| data.get_temp(offered_id()));
    if offered.is_none_or(|offered| !offered.contains(&action)) {
        return;
    }
    let button = ui.add(style::quiet(action.name));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    let hint = keys::hint(ui, action.hint, action.key.name());
    if button.on_hover_text(hint).clicked() {
        ui.ctx().data_mut(|data| {
            data.get_temp_mut_or_default::<Vec<Action>>(asked_id()).push(action);
        });
    }
}
