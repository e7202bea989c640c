//! The start page and the examples, which replace each other.

use egui::{CentralPanel, Ui};
use sparsescope_core::record::Operation;
use sparsescope_figures::landing::Door;
#[cfg(not(target_family = "wasm"))]
use sparsescope_figures::landing::Landing;
use sparsescope_figures::model::OpenBundle;

#[cfg(not(target_family = "wasm"))]
use super::landing::Start;
use super::{App, Bar, nothing};

impl App {
    /// Follows a link of the start page: theme and size stay as they are.
    pub fn leave_home(&mut self, link: &str) {
        let (theme, zoom) = (self.state.theme, self.state.zoom);
        self.home = false;
        self.follow(link);
        if !link.contains("operation=") {
            // That of what is open, or is opened now.
            self.operation_chosen = false;
            self.choose_operation();
        }
        (self.state.theme, self.state.zoom) = (theme, zoom);
    }

    /// Uses a start page of these words and pictures, each with its name and its SVG in light and dark.
    #[cfg(not(target_family = "wasm"))]
    pub fn set_landing(&mut self, words: Landing, pictures: &[(&'static str, [&'static str; 2])]) {
        self.start = Some(Start::new(words, pictures));
    }

    /// Shows the start page, or the views again.
    #[cfg(not(target_family = "wasm"))]
    pub fn toggle_home(&mut self) {
        self.home = !self.home && self.start.is_some();
    }

    /// What was chosen on the start page since the last call.
    pub fn take_chosen(&mut self) -> Option<Door> {
        self.chosen.take()
    }

    /// Opens an example, as `open` does, in place of the one that is open, and shows runs of `operation`, its
    /// topic, unless a link says what to show.
    pub fn open_example(&mut self, operation: Option<Operation>, open: impl FnOnce(&mut Self)) {
        let selected = self.state.matrix.clone().filter(|key| self.model.subject(key).is_some());
        let replaced = self.example.take();
        self.keep_run(|app| {
            let is_it = |open: &OpenBundle| replaced.as_ref() == Some(&open.sha256);
            if let Some(index) = app.model.bundles().iter().position(is_it) {
                app.model.close(index);
                app.history.forget_numbers();
            }
            let others = app.model.bundles().len();
            open(app);
            if app.model.bundles().len() > others {
                app.example = app.model.name_by_machine();
            }
        });
        let mut state = self.state.clone();
        if selected.is_some_and(|key| self.model.subject(&key).is_none()) {
            state.matrix = None; // it was in the other example
        }
        if let Some(operation) = operation {
            operation.as_str().clone_into(&mut state.filter.operation);
        }
        self.operation_chosen = true;
        self.change_state(state);
    }

    /// Whether only the example of a GPU is open, which its button opens.
    pub(super) fn has_gpu_example(&self) -> bool {
        let is_it =
            |of: &OpenBundle| of.file == "gpu.zip" && self.example.as_ref() == Some(&of.sha256);
        matches!(self.model.bundles(), [only] if is_it(only))
    }

    /// The start page; in the page, which has its own, what to open.
    pub(super) fn start_page(&mut self, ui: &mut Ui) {
        let Bar { actions, asked, .. } = &mut self.bar;
        CentralPanel::default().show(ui, |ui| {
            #[cfg(not(target_family = "wasm"))]
            if let Some(start) = &mut self.start {
                let chosen = start.show(ui, actions, &self.model, &self.state, asked);
                self.chosen = chosen.or(self.chosen.take());
                return;
            }
            nothing::show(ui, actions, asked);
        });
    }
}
