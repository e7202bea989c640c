//! The frame around the views: bundles and matrices on the left, the views in the centre, keyboard, dropped
//! files. The same in the window and in the page; what only one of them can do (saving a file, fetching one)
//! is left to it through [`App::take_exports`] and [`App::open_bytes`].

mod action;
mod bar;
mod borders;
#[cfg(test)]
mod chrome_tests;
#[cfg(test)]
mod details_tests;
mod dock;
#[cfg(test)]
mod dock_tests;
mod export;
mod export_menu;
mod file;
mod files;
mod frame;
#[cfg(test)]
mod frame_tests;
mod hint;
mod home;
mod icon;
mod keys;
#[cfg(not(target_family = "wasm"))]
mod landing;
mod link;
#[cfg(test)]
pub(crate) mod nameless;
mod nothing;
mod notices;
mod opening;
mod pane;
#[cfg(test)]
mod share_tests;
mod side;
#[cfg(test)]
mod still_tests;
mod tabs;
#[cfg(test)]
mod tests;
mod tiles;

use std::collections::BTreeMap;

use egui::Ui;
use sparsescope_figures::landing::Door;
use sparsescope_figures::model::{Model, RunOf};
use sparsescope_figures::state::{Filter, History, LAYOUTS, Theme, ViewState};
use sparsescope_figures::views::VIEWS;

use crate::style;
pub use action::{
    Action, COPY_LINK, CPU_EXAMPLE, GPU_EXAMPLE, HOME, RUN_HERE, SAVE_LESSON, SOLVE_EXAMPLE,
};
pub(crate) use action::{button as action_button, is_alone};
use bar::Bar;
use dock::Dock;
pub use export::{Export, Raster};
pub use file::File;
pub use link::copied;
use notices::Notices;
use opening::Openings;
pub use opening::{Reading, SHOWN_AFTER};
use pane::Saved;

/// The whole user interface.
#[derive(Debug, Default)]
pub struct App {
    model: Model,
    state: ViewState,
    history: History,
    notices: Notices,
    openings: Openings,
    saved: Saved,
    dock: Option<Dock>,
    look: Option<(Theme, f32, bool)>,
    focus_search: bool,
    bar: Bar,
    /// The operation shown was chosen, by a link or by the first bundle.
    operation_chosen: bool,
    /// The fragment of the last link that was followed.
    link: String,
    /// The names of the files of opened lessons, by their ids.
    lesson_files: BTreeMap<String, String>,
    /// Another page shows the view alone.
    is_embedded: bool,
    /// The hash of the open example, which the next one replaces.
    example: Option<String>,
    /// The start page is shown instead of the views.
    home: bool,
    #[cfg(not(target_family = "wasm"))]
    start: Option<landing::Start>,
    /// What was chosen on the start page.
    chosen: Option<Door>,
}

impl App {
    /// A user interface without bundles.
    pub fn new() -> Self {
        Self::default()
    }

    /// A user interface without bundles that starts in the state of a link: Back has nothing to go to.
    pub fn at(state: ViewState) -> Self {
        Self { state, operation_chosen: true, ..Self::default() }
    }

    /// Follows a link: shows the state of its fragment, and reports what in it is unknown here. An empty
    /// fragment shows the default state.
    pub fn follow(&mut self, fragment: &str) {
        let fragment = fragment.trim_start_matches('#');
        self.link = fragment.to_owned();
        let Some(state) = self.linked() else {
            if !fragment.is_empty() {
                let version = fragment.split(';').next().unwrap_or_default();
                self.notify(format!(
                    "The link begins with `{version}`, expected `v1`: the default view is shown instead."
                ));
            }
            return self.set_state(ViewState::default());
        };
        if let Some(part) = ViewState::not_understood(fragment) {
            self.notify(format!("The link contains `{part}`, which is unknown here."));
        } else if !VIEWS.iter().any(|view| view.id == state.view) {
            self.notify(format!("The link names a view `{}` that does not exist.", state.view));
        }
        self.set_state(state);
    }

    /// The same as the initial state: Back has nothing to go to.
    pub fn follow_first(&mut self, fragment: &str) {
        self.follow(fragment);
        self.history = History::default();
    }

    /// The state of the link. If it names a step of a lesson, that step sets the state, and the link's other
    /// parts override it. `view=layouts` does not: links to lessons of other views say it, too.
    fn linked(&self) -> Option<ViewState> {
        let state = ViewState::from_fragment(&self.link)?;
        let of = state.layouts.lesson.as_ref();
        let lesson = of.and_then(|(id, page)| Some((self.model.lessons.get(id)?, *page)));
        let Some((lesson, page)) = lesson else { return Some(state) };
        let mut shown = ViewState::default();
        lesson.show(page, state.layouts.told, &mut shown);
        let view = shown.view.clone();
        let mut shown = shown.with_fragment(&self.link)?;
        if shown.view == LAYOUTS {
            shown.view = view;
        }
        Some(shown)
    }

    /// Shows from now on only the view, or the lesson, without anything around it.
    pub fn embed(&mut self) {
        self.is_embedded = true;
    }

    /// Offers these actions; [`take_asked`](Self::take_asked) returns those requested.
    pub fn offer(&mut self, actions: &[Action]) {
        self.bar.actions = actions.to_vec();
    }

    /// The actions requested since the last call.
    pub fn take_asked(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.bar.asked)
    }

    /// Runs are selected by number, which `change` may reassign: keeps the same run selected, also if its
    /// bundle is finished and so has another hash.
    fn keep_run(&mut self, change: impl FnOnce(&mut Self)) {
        let key = |run: &RunOf<'_>| run.run.key(run.subject).digest();
        let revision = self.model.revision();
        let selected = self.state.run.and_then(|number| self.model.run(number));
        let word = &self.state.run_key;
        let stands_in = selected.is_some_and(|run| !word.is_empty() && run.link_key() != *word);
        let before = selected.map(|run| (run.bundle.series, run.run.kernel.clone(), key(&run)));
        self.history.settle_numbers(|state| self.model.settle_run(state));
        change(self);
        if self.model.revision() == revision {
            return; // each run kept its number
        }
        self.history.forget_numbers();
        if before.is_none() {
            return; // a key, or a number in a link, may belong to a bundle that is opened later
        }
        if stands_in {
            self.state.run = self.model.run_of_key(&self.state.run_key);
            return; // its key names a run of a bundle that was not open
        }
        let number = before.and_then(|(series, kernel, before)| {
            let runs = self.model.runs(&Filter::everything());
            let of_kernel =
                |run: &&RunOf<'_>| run.bundle.series == series && run.run.kernel == kernel;
            runs.iter().filter(of_kernel).find(|run| key(run) == before).map(|run| run.index)
        });
        let run = number.and_then(|number| self.model.run(number));
        self.state.run_key = run.map(|run| run.link_key()).unwrap_or_default();
        self.state.run = number;
    }

    /// Shows a message of one sentence until it is dismissed.
    pub fn notify(&mut self, sentence: String) {
        self.notices.tell(sentence, false);
    }

    /// Confirms that something was done, for a moment.
    pub fn confirm(&mut self, sentence: String) {
        self.notices.tell(sentence, true);
    }

    /// What the views show.
    pub fn state(&self) -> &ViewState {
        &self.state
    }

    /// Shows another state, e.g. that of a link. The user can go back.
    pub fn set_state(&mut self, state: ViewState) {
        self.operation_chosen = true;
        self.change_state(state);
    }

    fn change_state(&mut self, state: ViewState) {
        self.history.record(&self.state, &state);
        self.history.settle();
        self.state = state;
    }

    /// The open bundles.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The files that the user requested since the last call.
    pub fn take_exports(&mut self) -> Vec<Export> {
        std::mem::take(&mut self.saved.exports)
    }

    /// Draws one frame.
    pub fn ui(&mut self, ui: &mut Ui) {
        let look = (self.state.theme, self.state.zoom, style::is_phone(ui.ctx()));
        if self.look != Some(look) {
            style::apply(look.0, ui.ctx(), look.1, look.2);
            self.look = Some(look);
        }
        self.open_dropped(ui);
        self.go_on_opening();
        let in_front = self.state.view.clone();
        dock::settle(&mut self.state, &in_front);
        self.model.settle_run(&mut self.state);
        let mut before = self.state.clone();
        let open = self.model.bundles().len();
        let (back, redo) = keys::back_and_redo(ui);
        self.bar.back |= back;
        self.bar.redo |= redo;
        let possible = self.bar.possible(self.lesson().is_some());
        action::offer(ui.ctx(), possible);
        action::set_alone(ui.ctx(), self.is_embedded);
        match self.is_embedded {
            true => self.alone(ui),
            false => self.frame(ui),
        }
        self.bar.asked.extend(action::take_asked(ui.ctx()));
        if self.state.run.is_none() && self.state.run_key == before.run_key && before.run.is_some()
        {
            self.state.run_key.clear(); // a view cleared the selection
        }
        self.model.settle_run(&mut self.state);
        if self.model.bundles().len() < open {
            // The numbers now belong to other runs; closing is not undone.
            before.run = self.state.run;
            before.run_key.clone_from(&self.state.run_key);
        }
        if self.state.matrix != before.matrix && self.state.spy.at == before.spy.at {
            self.state.spy.at = None; // it was a part of the other matrix
        }
        if self.state.matrix != before.matrix && self.state.skyline == before.skyline {
            self.state.skyline.leave_selected();
        }
        if self.state.matrix != before.matrix && self.state.fsai == before.fsai {
            self.state.fsai.leave_selected();
        }
        dock::settle(&mut self.state, &before.view);
        let back = std::mem::take(&mut self.bar.back);
        let redo = std::mem::take(&mut self.bar.redo);
        if back {
            self.state = self.history.back(&before).unwrap_or(before.clone());
        } else if redo {
            self.state = self.history.forward(&before).unwrap_or(before.clone());
        } else if !dock::only_focus_moved(&before, &self.state) {
            self.history.record(&before, &self.state);
        }
        let shown = |state: &ViewState| {
            (state.view.clone(), state.matrix.clone(), state.layouts.lesson.clone())
        };
        let asked = self.bar.asked.iter().any(|action| *action != HOME);
        if shown(&self.state) != shown(&before) || asked {
            self.home = false; // something else was chosen
        }
        if self.state != before {
            ui.ctx().request_repaint();
        }
    }
}
