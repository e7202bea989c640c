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
use std::sync::Arc;

use egui::{
    Align, Area, CentralPanel, Frame, Id, Key, Layout, Order, Panel, Rect, RichText, Ui, UiBuilder,
};
use sparsescope_core::bundle::{Bundle, is_known_by_name};
use sparsescope_core::experiment::{LoadedMatrix, ReadMatrix};
use sparsescope_core::io::{IoError, Progress, read_named_matrix};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::matrix_name;
use sparsescope_figures::landing::Door;
use sparsescope_figures::lesson::{Lesson, is_lesson};
use sparsescope_figures::model::{Model, RunOf, matrix_key};
use sparsescope_figures::picture::Picture;
use sparsescope_figures::state::{Filter, History, Theme, ViewState};
use sparsescope_figures::theme::{BODY, SPACE};
use sparsescope_figures::views::{VIEWS, View, current, needs_no_bundle, read_lesson, teaches};

use crate::style;
use crate::views::details;
pub(crate) use action::button as action_button;
pub use action::{
    Action, COPY_LINK, CPU_EXAMPLE, GPU_EXAMPLE, HOME, RUN_HERE, SAVE_LESSON, SOLVE_EXAMPLE,
};
use bar::{Bar, Now, WITH_SIDE};
use dock::Dock;
pub use export::{Export, Raster};
pub use file::File;
use file::is_matrix;
pub use link::copied;
use notices::Notices;
use opening::Openings;
pub use opening::{Reading, SHOWN_AFTER};
use pane::Saved;

/// Height of the bar above a presented view.
const LINE: f32 = 40.0;

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

/// Minimum width of the views for a run's details on the right; below it they are below the views.
const WITH_DETAILS: f32 = 1500.0;
/// Maximum width at which the details cover the lower part of the views.
const SHEET: f32 = 420.0;

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
    /// parts override it.
    fn linked(&self) -> Option<ViewState> {
        let state = ViewState::from_fragment(&self.link)?;
        let of = state.layouts.lesson.as_ref();
        let lesson = of.and_then(|(id, page)| Some((self.model.lessons.get(id)?, *page)));
        let Some((lesson, page)) = lesson else { return Some(state) };
        let mut shown = ViewState::default();
        lesson.show(page, state.layouts.told, &mut shown);
        shown.with_fragment(&self.link)
    }

    /// Opens a bundle, or a matrix in a format that [`read_named_matrix`] knows, under a name; errors are
    /// shown in the interface. A large matrix is opened over the following frames.
    pub fn open_bytes(&mut self, name: &str, bytes: impl AsRef<[u8]> + Into<Vec<u8>>) {
        self.home = false;
        let few = bytes.as_ref();
        match is_matrix(name, few) && few.len() > opening::AT_ONCE {
            true => self.openings.add(name, bytes.into()),
            false => self.open_now(name, few),
        }
    }

    /// Opens a file that was read before; errors are shown in the interface.
    pub fn open_file(&mut self, name: &str, file: File) {
        match file {
            File::Bytes(bytes) => self.open_bytes(name, bytes),
            File::Bundle(sha256, read) => {
                self.home = false;
                let opened = read.map(|bundle| self.model.add_bundle(name, *bundle, sha256));
                self.opened(name, opened.map_err(|error| error.to_string()));
            }
        }
    }

    /// Whether a file of this name is open, or will be.
    pub fn has_file(&self, name: &str) -> bool {
        self.model.bundles().iter().any(|open| open.file == name)
            || self.lesson_files.values().any(|file| file == name)
            || self.openings.has(name)
    }

    fn open_now(&mut self, name: &str, bytes: &[u8]) {
        let opened = if is_matrix(name, bytes) {
            self.open_matrix(name, bytes).map_err(|error| error.to_string())
        } else if is_lesson(name, bytes) {
            self.open_lesson(name, bytes)
        } else {
            self.model.open(name, bytes).map_err(|error| error.to_string())
        };
        self.opened(name, opened);
    }

    fn opened(&mut self, name: &str, opened: Result<(), String>) {
        self.choose_operation();
        self.tell_imported(name);
        if let Err(error) = opened {
            self.notify(format!("Could not open {name}: {error}."));
        }
    }

    /// The first bundle opened determines the operation whose runs are shown, unless a link did.
    fn choose_operation(&mut self) {
        if !self.operation_chosen
            && let Some(word) = self.model.main_operation()
        {
            self.state.filter.operation = word.to_owned();
            self.operation_chosen = true;
        }
    }

    /// Opens a lesson at its first step, or at the step of a link that names it.
    fn open_lesson(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let lesson = read_lesson(bytes)?;
        self.lesson_files.insert(lesson.id.clone(), name.to_owned());
        let named = self.state.layouts.lesson.as_ref();
        let is_linked = named.is_some_and(|(id, _)| *id == lesson.id);
        if !is_linked {
            let mut state = self.state.clone();
            lesson.show(0, false, &mut state);
            self.change_state(state);
        }
        self.model.lessons.add(lesson);
        // The link came before its lesson.
        let linked = ViewState::from_fragment(&self.link);
        let is_as_linked =
            linked.is_some_and(|link| link.to_fragment() == self.state.to_fragment());
        if is_linked
            && is_as_linked
            && let Some(state) = self.linked()
        {
            self.change_state(state);
        }
        Ok(())
    }

    /// The id of the lesson shown, if it is open here.
    pub fn lesson(&self) -> Option<&str> {
        let (id, _) = self.state.layouts.lesson.as_ref()?;
        self.model.lessons.get(id).map(|lesson| lesson.id.as_str())
    }

    /// The name of the file that the lesson shown was opened from.
    pub fn lesson_file(&self) -> Option<&str> {
        self.lesson_files.get(self.lesson()?).map(String::as_str)
    }

    /// Shows from now on only the view, or the lesson, without anything around it.
    pub fn embed(&mut self) {
        self.is_embedded = true;
    }

    /// Offers the lessons of a JSON list without opening one of them.
    ///
    /// # Errors
    /// If the list or a lesson is invalid; the error is a sentence.
    pub fn add_lessons(&mut self, list: &str) -> Result<(), String> {
        let list: Vec<serde_json::Value> =
            serde_json::from_str(list).map_err(|error| error.to_string())?;
        for lesson in &list {
            self.model.lessons.add(Lesson::from_json(lesson)?);
        }
        Ok(())
    }

    /// Reports who measured imported runs, and which matrices were recognised.
    fn tell_imported(&mut self, name: &str) {
        let Some(open) = self.model.bundles().last().filter(|open| open.file == name) else {
            return;
        };
        let left_out: Vec<String> =
            open.bundle.left_out().map(|sentence| format!("{name}: {sentence}.")).collect();
        let runs = &open.bundle.runs;
        let by = runs.iter().find_map(|run| run.check.by.as_ref());
        // The matrices of a merged bundle were recognised by the merge.
        let Some(by) = by.filter(|_| runs.iter().all(|run| run.check.by.is_some())) else { return };
        let matrices = &open.bundle.matrices;
        let by_name = matrices.iter().filter(|matrix| is_known_by_name(&matrix.record)).count();
        let imported = format!(
            "{name}: {} runs imported from {by}, not checked by Sparsescope; {} of {} matrices \
             match open ones by name, rows, columns and nonzeros.",
            runs.len(),
            matrices.len() - by_name,
            matrices.len()
        );
        self.notify(imported);
        left_out.into_iter().for_each(|sentence| self.notify(sentence));
    }

    fn open_matrix(&mut self, name: &str, bytes: &[u8]) -> Result<(), IoError> {
        let start = web_time::Instant::now();
        let file = read_named_matrix(name, bytes, MemoryLimit::of_machine(), Progress::none())?;
        let read = ReadMatrix::new(file, start.elapsed().as_secs_f64());
        let matrix = LoadedMatrix::describe(matrix_name(name).to_owned(), read);
        let picture = Picture::of(&matrix.values);
        self.add_matrix(name, matrix, picture);
        Ok(())
    }

    /// Continues opening the current matrix, and shows it once it is open.
    fn go_on_opening(&mut self) {
        match self.openings.go_on() {
            Some((name, Ok((matrix, picture)))) => {
                self.add_matrix(&name, matrix, picture);
                self.choose_operation();
            }
            None => {}
            Some((name, Err(error))) => self.notify(format!("Could not open {name}: {error}.")),
        }
    }

    /// Adds a matrix that was read from a file of this name, with its picture, and shows it.
    pub fn add_matrix(&mut self, name: &str, matrix: LoadedMatrix, picture: Picture) {
        self.home = false;
        for warning in &matrix.warnings {
            self.notify(format!("{name}: {warning}."));
        }
        let key = matrix_key(&matrix.record);
        self.model.add_matrix(name, matrix.record, Arc::new(picture));
        let view = if self.state.view == "matrix" { "matrix" } else { "spy" };
        self.change_state(ViewState { matrix: Some(key), view: view.into(), ..self.state.clone() });
    }

    /// Offers these actions; [`take_asked`](Self::take_asked) returns those requested.
    pub fn offer(&mut self, actions: &[Action]) {
        self.bar.actions = actions.to_vec();
    }

    /// The actions requested since the last call.
    pub fn take_asked(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.bar.asked)
    }

    /// Shows the results so far of the bundle that will be opened as `name`.
    pub fn show_unfinished(&mut self, name: &str, bundle: Bundle) {
        self.keep_run(|app| app.model.show_unfinished(name, bundle));
        self.choose_operation();
    }

    /// Opens the finished bundle in place of its earlier results.
    pub fn open_finished(&mut self, name: &str, bytes: &[u8]) {
        self.keep_run(|app| app.open_bytes(name, bytes));
    }

    /// Removes the unfinished bundle of this name.
    pub fn forget_unfinished(&mut self, name: &str) {
        self.keep_run(|app| app.model.forget_unfinished(name));
    }

    /// Runs are selected by number, which `change` may reassign: keeps the same run selected, also if its
    /// bundle is finished and so has another hash.
    fn keep_run(&mut self, change: impl FnOnce(&mut Self)) {
        let key = |run: &RunOf<'_>| run.run.key(run.subject).digest();
        let revision = self.model.revision();
        let selected = self.state.run.and_then(|number| self.model.run(number));
        let before = selected.map(|run| (run.bundle.series, run.run.kernel.clone(), key(&run)));
        change(self);
        if self.model.revision() == revision {
            return; // each run kept its number
        }
        self.history.forget_numbers();
        if before.is_none() {
            return; // a key, or a number in a link, may belong to a bundle that is opened later
        }
        let number = before.and_then(|(series, kernel, before)| {
            let runs = self.model.runs(&Filter::everything());
            let of_kernel =
                |run: &&RunOf<'_>| run.bundle.series == series && run.run.kernel == kernel;
            runs.iter().filter(of_kernel).find(|run| key(run) == before).map(|run| run.index)
        });
        self.state.run = number;
        if number.is_none() {
            self.state.run_key.clear();
        }
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

    fn frame(&mut self, ui: &mut Ui) {
        keys::views(ui, &mut self.state);
        self.focus_search |= keys::search(ui);
        let possible = self.bar.possible(self.lesson().is_some());
        self.bar.asked.extend(keys::actions(ui, &possible));
        self.state.present ^= keys::pressed(ui, Key::P);
        if keys::pressed(ui, Key::B) {
            self.bar.shows_side = Some(!self.side_shown(ui.available_width()));
        }
        self.bar.lists_keys ^= keys::pressed(ui, keys::LIST);
        keys::list(ui.ctx(), &possible, &mut self.bar.lists_keys);
        if self.focus_search && !self.state.present {
            self.bar.shows_side = Some(true); // the field is there
        }
        if self.state.present
            && let Some(view) = current(&self.state)
        {
            return self.present(ui, view);
        }
        // A class needs the space.
        let teaches =
            current(&self.state).is_some_and(|view| teaches(view, &self.model, &self.state));
        let width = ui.available_width();
        let now = Now {
            teaches,
            side: self.side_shown(width),
            can_go_back: !self.history.is_empty(),
            can_redo: self.history.can_go_forward(),
            starts: self.starts(),
        };
        Panel::top("top").show(ui, |ui| self.bar.show(ui, &mut self.state, now));
        self.messages(ui);
        let side = |app: &mut Self, ui: &mut Ui| {
            app.keep_run(|app| {
                side::show(ui, &mut app.model, &mut app.state, &mut app.focus_search);
            });
        };
        if self.side_shown(width) && width < WITH_SIDE {
            let before = (self.state.matrix.clone(), self.state.view.clone());
            CentralPanel::default().show(ui, |ui| side(self, ui));
            if before != (self.state.matrix.clone(), self.state.view.clone()) {
                self.bar.shows_side = Some(false); // to show what was chosen
            }
            return;
        } else if self.side_shown(width) && !teaches && !self.home {
            let panel = Panel::left("side").default_size(250.0).size_range(200.0..=420.0);
            panel.show(ui, |ui| side(self, ui));
        }
        // The last bundle may have been closed in the panel.
        if self.starts() {
            return self.start_page(ui);
        }
        let detailed = !teaches && details::is_shown(&self.model, &self.state);
        let whole = ui.available_rect_before_wrap();
        let in_sheet = whole.width() < SHEET;
        if detailed && !in_sheet {
            self.details(ui);
        }
        let frame = Frame::central_panel(ui.style()).inner_margin(0);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            Dock::show(&mut self.dock, ui, &self.model, &mut self.state, &mut self.saved);
        });
        if detailed && in_sheet {
            self.sheet(ui, whole);
        }
        for failure in std::mem::take(&mut self.saved.failures) {
            self.notify(failure);
        }
        for copied in std::mem::take(&mut self.saved.copied) {
            self.confirm(copied);
        }
    }

    /// Whether the start page is shown.
    fn starts(&self) -> bool {
        let empty = self.model.bundles().is_empty()
            && current(&self.state).is_none_or(|view| !needs_no_bundle(view, &self.state));
        empty || self.home
    }

    /// Whether the side panel is shown at this width.
    fn side_shown(&self, width: f32) -> bool {
        self.bar.side_shown(width, !self.model.bundles().is_empty())
    }

    fn messages(&mut self, ui: &mut Ui) {
        self.notices.show(ui);
        self.openings.show(ui);
        self.tell_missing(ui);
    }

    /// The view in front, below one bar: its name, its settings, the way out of the presentation.
    fn present(&mut self, ui: &mut Ui, view: &'static View) {
        // The content takes the panel's full height, which must not depend on the last frame.
        let line = ui.spacing().interact_size.y.max(LINE);
        Panel::top("presents").exact_size(line).show(ui, |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                style::without_frames(ui);
                let hint = keys::hint(ui, "Back to all views", "P");
                if ui.button("End presentation").on_hover_text(hint).clicked() {
                    self.state.present = false;
                }
                bar::zoom(ui, &mut self.state);
                let teaches = teaches(view, &self.model, &self.state);
                if !teaches {
                    pane::more(ui, view, &self.model, &mut self.state, false);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.label(RichText::new(view.name).font(style::strong(ui.ctx(), BODY)));
                    ui.add_space(SPACE);
                    if !teaches {
                        pane::settings(ui, view, &self.model, &mut self.state);
                    }
                });
            });
        });
        self.for_audience(ui, view);
    }

    /// The view in front alone, for a page around this one.
    fn alone(&mut self, ui: &mut Ui) {
        if let Some(view) = current(&self.state) {
            self.for_audience(ui, view);
        }
    }

    fn for_audience(&mut self, ui: &mut Ui, view: &View) {
        self.messages(ui);
        let frame = Frame::central_panel(ui.style()).inner_margin(0);
        CentralPanel::default().frame(frame).show(ui, |ui| {
            let purpose = pane::Purpose::Audience;
            pane::show(ui, view, &self.model, &mut self.state, &mut self.saved, purpose);
        });
    }

    /// The details of the selected run: on the right if there is much space, else below.
    fn details(&mut self, ui: &mut Ui) {
        let (model, state) = (&self.model, &mut self.state);
        let frame = Frame::side_top_panel(ui.style()).inner_margin(12);
        if ui.available_width() >= WITH_DETAILS {
            let panel = Panel::right("details").default_size(380.0).size_range(300.0..=640.0);
            panel.frame(frame).show(ui, |ui| details::show(ui, model, state));
        } else {
            let most = ui.available_height() * 0.5;
            let panel = Panel::bottom("details below").default_size(most * 0.8).max_size(most);
            panel.frame(frame).resizable(true).show(ui, |ui| details::show(ui, model, state));
        }
    }

    /// The details of the selected run over the lower part of this area.
    fn sheet(&mut self, ui: &Ui, area: Rect) {
        const MARGIN: f32 = 12.0;
        let mut rect = area;
        rect.min.y += area.height() * 0.45;
        let (model, state) = (&self.model, &mut self.state);
        let line = ui.visuals().widgets.noninteractive.bg_stroke;
        let sheet = Area::new(Id::unique("details sheet")).order(Order::Middle).fade_in(false);
        sheet.fixed_pos(rect.min).show(ui.ctx(), |ui| {
            ui.painter().rect_filled(rect, 0.0, ui.visuals().panel_fill);
            ui.painter().hline(rect.x_range(), rect.top(), line);
            ui.expand_to_include_rect(rect); // nothing below it takes its clicks
            let inner = UiBuilder::new().max_rect(rect.shrink(MARGIN));
            ui.scope_builder(inner, |ui| details::show(ui, model, state));
        });
    }

    /// Reports that the selected subject is not open here.
    fn tell_missing(&mut self, ui: &mut Ui) {
        let is_open = |key: &String| self.model.subject(key).is_some();
        if self.model.bundles().is_empty() || self.state.matrix.as_ref().is_none_or(is_open) {
            return;
        }
        Panel::top("missing").show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.label("The matrix in this link is not open here: drop its file or its bundle.");
                if ui.button("Show another").clicked() {
                    self.state.matrix = None;
                }
            });
        });
    }

    /// A browser delivers files asynchronously: the page reads them and calls
    /// [`open_bytes`](Self::open_bytes) itself.
    #[cfg(target_family = "wasm")]
    fn open_dropped(&mut self, _: &Ui) {}

    #[cfg(not(target_family = "wasm"))]
    fn open_dropped(&mut self, ui: &Ui) {
        for file in ui.input(|input| input.raw.dropped_files.clone()) {
            let name = file.path().file_name().unwrap_or(file.path().as_os_str());
            let name = name.to_string_lossy();
            match file.bytes() {
                Ok(bytes) => self.open_bytes(&name, bytes),
                Err(error) => self.notify(format!("Could not open {name}: {error}.")),
            }
        }
    }
}
