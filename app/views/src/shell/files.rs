//! Opening bundles, matrices and lessons.

use std::sync::Arc;

use egui::Ui;
use sparsescope_core::bundle::{Bundle, is_known_by_name};
use sparsescope_core::experiment::{LoadedMatrix, ReadMatrix};
use sparsescope_core::io::file_forms::is_matrix;
use sparsescope_core::io::{IoError, Progress, read_named_matrix};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::matrix_name;
use sparsescope_figures::lesson::{Lesson, is_lesson};
use sparsescope_figures::model::{matrix_key, plural};
use sparsescope_figures::picture::Picture;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::views::read_lesson;

use super::file::File;
use super::{App, opening};

impl App {
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
        // It may hold the run that the link names, for which another was shown.
        self.state.run = self.model.run_of_key(&self.state.run_key).or(self.state.run);
        self.choose_operation();
        self.tell_imported(name);
        if let Err(error) = opened {
            self.notify(format!("Could not open {name}: {error}."));
        }
    }

    /// The first bundle opened determines the operation whose runs are shown, unless a link did.
    pub(super) fn choose_operation(&mut self) {
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
            "{name}: {} imported from {by}, not checked by Sparsescope; {} of {} matrices \
             match open ones by name, rows, columns and nonzeros.",
            plural(runs.len() as u64, "run"),
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
    pub(super) fn go_on_opening(&mut self) {
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

    /// A browser delivers files asynchronously: the page reads them and calls
    /// [`open_bytes`](Self::open_bytes) itself.
    #[cfg(target_family = "wasm")]
    pub(super) fn open_dropped(&mut self, _: &Ui) {}

    #[cfg(not(target_family = "wasm"))]
    pub(super) fn open_dropped(&mut self, ui: &Ui) {
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
