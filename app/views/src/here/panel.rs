//! The panel that measures in the page: its state between frames, and its requests to the page.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use egui::{Panel, Ui};
use sparsescope_core::experiment::Interruptions;
use sparsescope_core::record::Operation;
use sparsescope_figures::model::STAND_IN_SUFFIX;

use super::form::{self, Pressed, Shown};
use super::gpu::GpuSeen;
use super::host::Host;
use super::measure::measure;
use super::wanted::{Subject, Wanted};
use super::work::{Measured, Outcome, Work};
use crate::shell::App;

/// Approximate interval between frames of the panel during a measurement: drawing takes time from the only
/// thread and from the GPU being measured.
const BETWEEN_FRAMES: Duration = Duration::from_secs(1);

/// The same while it is being stopped, when the user is waiting.
const WHILE_STOPPING: Duration = Duration::from_millis(40);

/// A request to the page.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Keep a bundle of this name for as long as the page is open.
    Keep(String, Arc<Vec<u8>>),
    /// Open the results of the H100.
    Compare,
    /// Save a bundle of this name.
    Save(String, Arc<Vec<u8>>),
    /// Save the page with this bundle as one file.
    SaveHtml(String, Arc<Vec<u8>>),
}

/// Measuring in the page.
pub struct HerePanel {
    host: Rc<dyn Host>,
    /// Whether the panel is shown.
    pub open: bool,
    /// Whether the page has the H100's results to compare with.
    pub has_example: bool,
    /// Whether the page can be saved as one file.
    pub has_html: bool,
    wanted: Wanted,
    gpu: Rc<RefCell<GpuSeen>>,
    work: Option<Arc<Work>>,
    measured: Option<Measured>,
    asks: Vec<Ask>,
}

impl HerePanel {
    /// A hidden panel. The GPU is first requested when it is shown.
    pub fn new(host: Rc<dyn Host>) -> Self {
        let (wanted, gpu) = Default::default();
        let (open, has_example, has_html) = Default::default();
        let (work, measured, asks) = (None, None, Vec::new());
        Self { host, open, has_example, has_html, wanted, gpu, work, measured, asks }
    }

    /// Shows or hides the panel.
    pub fn toggle(&mut self, app: &App) {
        self.open = !self.open;
        if !self.open {
            return;
        }
        let selected = app.state().matrix.as_deref();
        if self.work.is_none()
            && let Some(key) = selected
            && Subject::selected(app.model(), key).is_ok()
        {
            self.wanted.entry = None;
        }
    }

    /// Whether a measurement is running.
    pub fn is_measuring(&self) -> bool {
        self.work.is_some()
    }

    /// Reports that the page is hidden: the current sample is repeated.
    pub fn interrupt(&self) {
        if let Some(work) = &self.work {
            work.interruptions.tell();
        }
    }

    /// The requests to the page since the last call.
    pub fn take_asks(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.asks)
    }

    /// Takes over results and draws the panel. Call it before the app draws the rest.
    pub fn ui(&mut self, ui: &mut Ui, app: &mut App) {
        self.follow(app);
        if let Some(work) = &self.work {
            let stops = work.is_cancelled();
            ui.ctx().request_repaint_after(if stops { WHILE_STOPPING } else { BETWEEN_FRAMES });
        }
        if !self.open || app.state().present {
            return;
        }
        self.ask_for_gpu(ui.ctx());
        let selected = app.state().matrix.as_deref();
        let subject = self.wanted.subject(app.model(), selected);
        // The H100's results are of SpMV.
        let is_spmv = self.measured.as_ref().is_some_and(|m| m.operation == Operation::Spmv);
        let shown = Shown {
            gpu: &self.gpu.borrow().clone(),
            selected: selected.map(|key| (key, app.model())),
            subject: subject.as_ref().map_err(String::as_str),
            work: self.work.as_deref(),
            measured: self.measured.as_ref(),
            offers: [self.has_example && is_spmv, self.has_html],
        };
        let pressed = if ui.available_width() < form::NARROW {
            let most = ui.available_height() * 0.62;
            let panel = Panel::bottom("here below").default_size(most).max_size(most);
            panel.show(ui, |ui| form::show(ui, &mut self.wanted, &shown)).inner
        } else {
            let panel = Panel::right("here").default_size(318.0).size_range(300.0..=460.0);
            panel.show(ui, |ui| form::show(ui, &mut self.wanted, &shown)).inner
        };
        match (pressed, subject) {
            (Some(Pressed::Start), Ok(subject)) => {
                let work = Work::new();
                self.work = Some(Arc::clone(&work));
                let host = Rc::clone(&self.host);
                let mut wanted = self.wanted.clone();
                if matches!(*self.gpu.borrow(), GpuSeen::None(_)) {
                    wanted.leave_gpu();
                }
                self.host.spawn(Box::pin(measure(host, wanted, subject, work)));
            }
            (Some(pressed), _) => self.press(pressed),
            (None, _) => {}
        }
    }

    fn press(&mut self, pressed: Pressed) {
        match (pressed, &self.work, &self.measured) {
            (Pressed::Close, ..) => self.open = false,
            (Pressed::Cancel, Some(work), _) => work.stop(),
            (Pressed::Compare, ..) => self.asks.push(Ask::Compare),
            (Pressed::Save, _, Some(measured)) => {
                self.asks.push(Ask::Save(measured.file.clone(), Arc::clone(&measured.bytes)));
            }
            (Pressed::SaveHtml, _, Some(measured)) => {
                self.asks.push(Ask::SaveHtml(measured.file.clone(), Arc::clone(&measured.bytes)));
            }
            _ => {}
        }
    }

    /// Opens the results and reports how the measurement ended.
    fn follow(&mut self, app: &mut App) {
        let Some(work) = &self.work else { return };
        if work.is_cancelled() {
            work.stop(); // so that it checks whether its time is over
        }
        let Some(outcome) = work.outcome() else { return };
        let time = work.started.elapsed().as_secs();
        let time = format!("{}:{:02}", time / 60, time % 60);
        self.work = None;
        let measured = match outcome {
            Outcome::Measured(measured) => measured,
            Outcome::Nothing(why) => return app.notify(why),
        };
        app.open_finished(&measured.file, &measured.bytes);
        self.asks.push(Ask::Keep(measured.file.clone(), Arc::clone(&measured.bytes)));
        show_runs(app, &measured);
        if measured.was_lost {
            app.notify(
                "The GPU was lost during the measurement and reopened. The run in progress was \
                 repeated."
                    .to_owned(),
            );
        }
        let runs = match measured.runs {
            [1, 0] => "1 run".to_owned(),
            [with, 0] => format!("{with} runs"),
            [with, without] => format!("{with} runs, and {without} without a time,"),
        };
        let name = &measured.name;
        match measured.is_cut {
            true => app.notify(format!("Stopped after {runs} on {name} in {time}.")),
            false => app.confirm(format!("Measured {runs} on {name} in {time}.")),
        }
        self.measured = Some(measured);
    }

    /// Requests the GPU, once.
    fn ask_for_gpu(&self, context: &egui::Context) {
        if !matches!(*self.gpu.borrow(), GpuSeen::Unasked) {
            return;
        }
        *self.gpu.borrow_mut() = GpuSeen::Asked;
        let (gpu, context) = (Rc::clone(&self.gpu), context.clone());
        let opened = self.host.open_gpu(Interruptions::default());
        self.host.spawn(Box::pin(async move {
            let seen = match opened.await {
                Ok(backend) => GpuSeen::of(&backend),
                Err(why) => GpuSeen::None(why),
            };
            *gpu.borrow_mut() = seen;
            context.request_repaint();
        }));
    }
}

/// Shows all kernels on the measured matrix, next to those of other bundles.
fn show_runs(app: &mut App, measured: &Measured) {
    let mut state = app.state().clone();
    state.view = "chart".to_owned();
    state.charts.chart = "kernels".to_owned();
    state.charts.only.clear();
    state.matrix = Some(measured.key.clone());
    state.filter = sparsescope_figures::state::Filter {
        operation: measured.operation.as_str().to_owned(),
        search: measured.name.trim_end_matches(STAND_IN_SUFFIX).to_owned(),
        ..sparsescope_figures::state::Filter::everything()
    };
    app.set_state(state);
}
