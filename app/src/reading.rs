//! Matrices that the window reads, one after the other on their own thread, so that the window keeps drawing,
//! shows progress and can stop the reading.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use egui::{Panel, Ui};
use sparsescope_core::experiment::{
    LoadedMatrix, MatrixSource, SourceError, SubjectSource, tell_apart,
};
use sparsescope_core::io::{Progress, ReadOptions};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_figures::picture::Picture;
use sparsescope_views::shell::{self, App, SHOWN_AFTER};

/// The matrix being read, those before it and those waiting.
#[derive(Default)]
pub(crate) struct Reading {
    /// The files whose reading began, the current one last.
    begun: Vec<PathBuf>,
    waiting: VecDeque<PathBuf>,
    current: Option<Current>,
}

struct Current {
    path: PathBuf,
    started: Instant,
    /// Size of the file in bytes.
    total: u64,
    shared: Arc<Shared>,
    result: Receiver<Result<Read, SourceError>>,
}

#[derive(Default)]
struct Shared {
    /// Bytes processed.
    done: AtomicU64,
    cancel: AtomicBool,
}

/// A matrix that was read, with its picture.
struct Read {
    matrix: LoadedMatrix,
    picture: Picture,
}

impl Reading {
    /// Queues this file.
    pub(crate) fn add(&mut self, path: &Path) {
        self.waiting.push_back(path.to_owned());
    }

    /// Gives what was read to `app`, starts the next, and shows progress.
    pub(crate) fn ui(&mut self, ui: &mut Ui, app: &mut App) {
        if let Some(current) = &self.current {
            match current.result.try_recv() {
                Err(TryRecvError::Empty) => {}
                end => {
                    finish(app, &current.path, end.ok());
                    self.current = None;
                }
            }
        }
        if self.current.is_none()
            && let Some(path) = self.waiting.pop_front()
        {
            let source = named(&path, &self.begun, &self.waiting);
            self.begun.push(path.clone());
            self.current = Some(Current::start(path, source, ui.ctx().clone()));
        }
        let Some(current) = &self.current else { return };
        ui.ctx().request_repaint_after(Duration::from_millis(100));
        if current.started.elapsed() < SHOWN_AFTER {
            return;
        }
        let waiting = self.waiting.len();
        let (name, path) = (file_name(&current.path), current.path.to_string_lossy());
        let done = current.shared.done.load(Ordering::Relaxed);
        let state = shell::Reading { name: &name, path: &path, done, total: current.total };
        let stopped = Panel::bottom("reading").show(ui, |ui| state.bar(ui, waiting)).inner;
        if stopped {
            current.shared.cancel.store(true, Ordering::Relaxed);
            self.waiting.clear();
        }
    }
}

impl Current {
    fn start(path: PathBuf, source: MatrixSource, context: egui::Context) -> Self {
        let shared = Arc::new(Shared::default());
        let (sender, result) = channel();
        let total = path.metadata().map_or(0, |meta| meta.len());
        let current = Self { path, started: Instant::now(), total, shared, result };
        let shared = current.shared.clone();
        std::thread::spawn(move || {
            // A closed window needs no matrix.
            let _ = sender.send(read(&source, &shared));
            context.request_repaint();
        });
        current
    }
}

/// The file as a source. As in `bench`, its name has folders if another file of this window has the same name.
fn named(path: &Path, begun: &[PathBuf], waiting: &VecDeque<PathBuf>) -> MatrixSource {
    let matrix = |path: &Path| MatrixSource::File(path.to_owned().into(), ReadOptions::default());
    let others = begun.iter().chain(waiting).map(PathBuf::as_path);
    let all = std::iter::once(path).chain(others);
    let mut sources: Vec<SubjectSource> = all.map(matrix).map(SubjectSource::Matrix).collect();
    tell_apart(&mut sources);
    match sources.into_iter().next() {
        Some(SubjectSource::Matrix(source)) => source,
        _ => matrix(path),
    }
}

fn read(source: &MatrixSource, shared: &Shared) -> Result<Read, SourceError> {
    let progress = Progress::none().counting(&shared.done);
    let matrix = source.load(MemoryLimit::of_machine(), progress, &shared.cancel)?;
    let picture = Picture::of(&matrix.values);
    Ok(Read { matrix, picture })
}

/// Shows the matrix, or reports why there is none. A missing result means that the thread died.
fn finish(app: &mut App, path: &Path, result: Option<Result<Read, SourceError>>) {
    let name = file_name(path);
    match result {
        Some(Ok(Read { matrix, picture })) => app.add_matrix(&name, matrix, picture),
        Some(Err(error)) if error.is_cancelled() => {}
        Some(Err(error)) => app.notify(format!("Could not open {name}: {error}.")),
        None => app.notify(format!("Could not open {name}: its reader failed.")),
    }
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_told_apart_by_their_folders() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<VecDeque<_>>();
        let name = |path: &str, begun: &[&str], waiting: &[&str]| {
            let begun = Vec::from(paths(begun));
            named(Path::new(path), &begun, &paths(waiting)).name()
        };
        assert_eq!(name("a/A.mtx", &[], &["b/B.mtx"]), "A");
        assert_eq!(name("a/A.mtx", &[], &["b/A.mtx"]), "a/A");
        assert_eq!(name("b/A.mtx", &["a/A.mtx"], &[]), "b/A");
        // The same file again.
        assert_eq!(name("a/A.mtx", &["a/A.mtx"], &[]), "A");
    }
}
