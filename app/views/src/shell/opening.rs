//! Matrices opened in steps between frames, one after the other: the page has one thread and keeps drawing.
//! Small ones are opened at once.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use egui::{Align, Button, Label, Layout, Panel, ProgressBar, Ui};
use sparsescope_core::experiment::{LoadedMatrix, ReadMatrix};
use sparsescope_core::io::{IoError, Progress, read_named_matrix_in_steps};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::matrix_name;
use sparsescope_figures::picture::Picture;
use web_time::Instant;

/// Maximum size of a file that is opened at once.
pub(super) const AT_ONCE: usize = 1 << 18;
/// Time that a frame spends on opening.
const IN_A_FRAME: Duration = Duration::from_millis(20);
/// Work shorter than this needs no progress bar.
pub const SHOWN_AFTER: Duration = Duration::from_millis(300);

/// A matrix that was read, with its picture.
pub(super) type Opened = (LoadedMatrix, Picture);
type Work = Pin<Box<dyn Future<Output = Result<Opened, IoError>>>>;

/// The matrix being opened and those waiting.
#[derive(Default)]
pub(super) struct Openings(VecDeque<Opening>);

struct Opening {
    name: String,
    /// Size of the file in bytes.
    total: u64,
    /// Bytes processed.
    done: Arc<AtomicU64>,
    started: Option<Instant>,
    work: Work,
}

impl fmt::Debug for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|opening| &opening.name)).finish()
    }
}

impl Openings {
    /// Queues a file.
    pub(super) fn add(&mut self, name: &str, bytes: Vec<u8>) {
        let done = Arc::new(AtomicU64::new(0));
        self.0.push_back(Opening {
            name: name.to_owned(),
            total: bytes.len() as u64,
            work: Box::pin(work(name.to_owned(), bytes, done.clone())),
            done,
            started: None,
        });
    }

    /// Whether a file of this name is among them.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|opening| opening.name == name)
    }

    /// Continues for a part of a frame; returns a file's name and its result once it is done.
    pub(super) fn go_on(&mut self) -> Option<(String, Result<Opened, IoError>)> {
        let opening = self.0.front_mut()?;
        let start = Instant::now();
        opening.started.get_or_insert(start);
        let mut context = Context::from_waker(Waker::noop());
        while start.elapsed() < IN_A_FRAME {
            if let Poll::Ready(result) = opening.work.as_mut().poll(&mut context) {
                return self.0.pop_front().map(|opening| (opening.name, result));
            }
        }
        None
    }

    /// Shows the progress and lets the user stop it; a stopped file is forgotten.
    pub(super) fn show(&mut self, ui: &mut Ui) {
        let Some(opening) = self.0.front() else { return };
        ui.ctx().request_repaint();
        if opening.started.is_none_or(|started| started.elapsed() < SHOWN_AFTER) {
            return;
        }
        let (name, done) = (opening.name.as_str(), opening.done.load(Ordering::Relaxed));
        let state = Reading { name, path: name, done, total: opening.total };
        let waiting = self.0.len() - 1;
        let stopped = Panel::bottom("opening").show(ui, |ui| state.bar(ui, waiting)).inner;
        if stopped {
            self.0.clear();
        }
    }
}

/// Everything from the bytes of a file to what is shown of it.
async fn work(name: String, bytes: Vec<u8>, done: Arc<AtomicU64>) -> Result<Opened, IoError> {
    let start = Instant::now();
    let progress = Progress::none().counting(&done);
    let limit = MemoryLimit::of_machine();
    let file = read_named_matrix_in_steps(&name, &bytes, limit, progress).await?;
    drop(bytes);
    let read = ReadMatrix::new(file, start.elapsed().as_secs_f64());
    let matrix = LoadedMatrix::describe_in_steps(matrix_name(&name).to_owned(), read).await;
    let picture = Picture::in_steps(&matrix.values).await;
    Ok((matrix, picture))
}

/// The progress of reading a file.
pub struct Reading<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its path.
    pub path: &'a str,
    /// Bytes processed.
    pub done: u64,
    /// Size of the file in bytes.
    pub total: u64,
}

impl Reading<'_> {
    /// Shows the progress and how many files are `waiting`; returns whether to stop.
    pub fn bar(&self, ui: &mut Ui, waiting: usize) -> bool {
        let share = (self.done as f32 / self.total.max(1) as f32).min(1.0);
        let name = self.name;
        let what = match (share < 1.0, waiting) {
            (false, _) => format!("counting the nonzeros of {name}"),
            (true, 0) => format!("reading {name}"),
            (true, more) => format!("reading {name}; {more} more to read"),
        };
        let row = |ui: &mut Ui| {
            let hover = "Stop reading and keep what is open";
            let stopped = ui.add(Button::new("Cancel")).on_hover_text(hover).clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let percent = format!("{:.0} %", share * 100.0);
                ui.add(ProgressBar::new(share).desired_width(150.0).text(percent));
                ui.add(Label::new(&what).truncate()).on_hover_text(self.path);
            });
            stopped
        };
        ui.add_space(4.0);
        let layout = Layout::right_to_left(Align::Center);
        let stopped = ui.horizontal(|ui| ui.with_layout(layout, row).inner).inner;
        ui.add_space(4.0);
        stopped
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable;

    use super::*;

    /// A band matrix of width 3, as a file of some hundred kilobytes.
    fn band(rows: usize) -> Vec<u8> {
        let mut text = format!(
            "%%MatrixMarket matrix coordinate real general\n{rows} {rows} {}\n",
            3 * rows - 2
        );
        for i in 1..=rows {
            for j in i.saturating_sub(1).max(1)..=rows.min(i + 1) {
                text.push_str(&format!("{i} {j} {}.5\n", i % 7));
            }
        }
        text.into_bytes()
    }

    fn to_the_end(openings: &mut Openings) -> (String, Result<Opened, IoError>) {
        std::iter::repeat_with(|| openings.go_on()).find_map(|end| end).unwrap()
    }

    #[test]
    fn a_matrix_opened_in_steps_is_the_one_that_is_opened_at_once() {
        let bytes = band(120_000);
        let mut openings = Openings::default();
        openings.add("band.mtx", bytes.clone());
        openings.add("small.mtx", band(3));
        assert!(openings.has("small.mtx"));
        let (name, opened) = to_the_end(&mut openings);
        assert!(!openings.has("band.mtx"));
        let (matrix, picture) = opened.unwrap();
        let limit = MemoryLimit::unlimited();
        let file = sparsescope_core::io::read_matrix(&bytes, limit, Progress::none()).unwrap();
        let at_once = LoadedMatrix::describe("band".into(), ReadMatrix::new(file, 0.0));
        assert_eq!((name.as_str(), matrix.record.statistics.nnz), ("band.mtx", 359_998));
        assert_eq!(matrix.record.sha256, at_once.record.sha256);
        assert_eq!(matrix.record.statistics, at_once.record.statistics);
        assert_eq!(picture.pyramid, Picture::of(&at_once.values).pyramid);
        assert_eq!(picture.profile, Picture::of(&at_once.values).profile);
        assert_eq!(to_the_end(&mut openings).1.unwrap().0.record.statistics.nnz, 7);
    }

    #[test]
    fn an_error_in_an_archive_names_the_file_and_its_line() {
        let wrong =
            include_bytes!("../../../../core/matrix/src/io/unpack/samples/wrong.zip").to_vec();
        let mut openings = Openings::default();
        openings.add("a.zip", wrong);
        let error = to_the_end(&mut openings).1.err().unwrap().to_string();
        assert!(error.starts_with("member West/West.mtx, line 3: expected "), "{error}");
    }

    #[test]
    fn no_step_reads_much_of_a_file() {
        let bytes = band(120_000);
        let done = Arc::new(AtomicU64::new(0));
        let mut work = Box::pin(work("band.mtx".into(), bytes.clone(), done.clone()));
        let mut context = Context::from_waker(Waker::noop());
        let mut before = 0;
        for _ in 0..5 {
            assert!(work.as_mut().poll(&mut context).is_pending());
            let done = done.load(Ordering::Relaxed);
            assert!(done - before < bytes.len() as u64 / 10, "{done}");
            before = done;
        }
        assert!(before > 0);
    }

    #[test]
    fn cancel_forgets_all_that_is_not_open_yet_at_whatever_step_it_is() {
        let mut openings = Openings::default();
        for name in ["band.mtx", "next.mtx"] {
            openings.add(name, band(120_000));
        }
        let long_ago = Instant::now().checked_sub(SHOWN_AFTER * 2);
        openings.0.front_mut().unwrap().started = long_ago;
        let mut harness = egui_kittest::Harness::new_ui_state(
            |ui, openings: &mut Openings| openings.show(ui),
            openings,
        );
        harness.step();
        harness.get_by_label_contains("1 more to read");
        harness.get_by_label("Cancel").click();
        harness.step();
        assert!(harness.state_mut().go_on().is_none() && harness.state().0.is_empty());
    }
}
