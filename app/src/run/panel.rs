//! The panel that starts measurements, and the bar that shows a running one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use egui::{Button, Label, Panel, ProgressBar, Role, Ui, WidgetInfo};
use sparsescope_views::shell::App;

use super::form::{Ask, Form};
use super::{Ending, Measurement, Request};

/// Minimum interval between frames while a measurement runs, so as not to disturb it.
pub(crate) const BETWEEN_FRAMES: Duration = Duration::from_millis(500);

/// Measuring from the window.
#[derive(Debug)]
pub struct RunPanel {
    /// What to measure.
    pub request: Request,
    /// Whether the form is shown.
    pub open: bool,
    executable: PathBuf,
    form: Form,
    measurement: Option<Measurement>,
    ask: Option<Ask>,
    closing: Closing,
}

/// Whether the window closes while a measurement runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Closing {
    #[default]
    No,
    /// The user is asked.
    Asked,
    /// Once the measurement has stopped.
    Soon,
    /// Immediately.
    Now,
}

impl RunPanel {
    /// A panel that measures with this program.
    pub fn new(executable: PathBuf) -> Self {
        Self {
            request: Request::default(),
            open: false,
            executable,
            form: Form::default(),
            measurement: None,
            ask: None,
            closing: Closing::No,
        }
    }

    /// Whether a measurement is running.
    pub fn is_measuring(&self) -> bool {
        self.measurement.is_some()
    }

    /// Returns the dialog that the user asked for, once.
    pub fn take_ask(&mut self) -> Option<Ask> {
        self.ask.take()
    }

    /// Adds matrix files; errors are shown in the form.
    pub fn add_files(&mut self, files: &[PathBuf]) {
        for file in files {
            let added = match file.to_str() {
                Some(text) => self.request.add(text),
                None => Err(format!("{}: the name is not Unicode", file.display())),
            };
            if let Err(error) = added {
                self.form.complain(error);
            }
        }
    }

    /// Asks before a measurement is lost; returns whether the window may close now.
    pub fn may_close(&mut self) -> bool {
        if self.measurement.is_some() && self.closing != Closing::Soon {
            self.closing = Closing::Asked;
        }
        self.measurement.is_none()
    }

    /// Whether the window should close, because the measurement it waited for has ended.
    pub fn closes(&self) -> bool {
        self.closing == Closing::Now
    }

    /// Follows the measurement and draws the bar and the form. Call it before the app draws the rest.
    pub fn ui(&mut self, ui: &mut Ui, app: &mut App) {
        self.follow(app);
        if let Some(measurement) = &mut self.measurement {
            Panel::bottom("measuring").show(ui, |ui| bar(ui, measurement));
            ui.ctx().request_repaint_after(BETWEEN_FRAMES);
        }
        self.ask_to_close(ui);
        if !self.open {
            return;
        }
        let panel = Panel::right("run").default_size(340.0).size_range(300.0..=460.0);
        let busy = self.is_measuring();
        let pressed = panel.show(ui, |ui| self.form.show(ui, &mut self.request, busy)).inner;
        self.ask = pressed.ask.or(self.ask);
        if pressed.close {
            self.open = false;
        }
        if pressed.start {
            self.start(app);
        }
    }

    fn start(&mut self, app: &mut App) {
        let output = self.request.output();
        let started = self.request.arguments(&output).and_then(|arguments| {
            Measurement::start(&self.executable, &arguments, &output)
                .map_err(|error| format!("Could not start {}: {error}.", self.executable.display()))
        });
        match started {
            Ok(measurement) => self.measurement = Some(measurement),
            Err(sentence) => app.notify(sentence),
        }
    }

    /// Passes new results to the app.
    fn follow(&mut self, app: &mut App) {
        let Some(measurement) = &mut self.measurement else { return };
        let name = file_name(measurement.output());
        match measurement.look() {
            Ok(news) => {
                if let Some(so_far) = news.so_far {
                    app.show_unfinished(&name, so_far);
                }
                if let Some(ending) = news.ending {
                    finish(app, &name, measurement, &ending);
                    self.measurement = None;
                }
            }
            Err(error) => {
                app.notify(format!("Cannot follow the measurement: {error}."));
                self.measurement = None;
            }
        }
        if self.measurement.is_none() && self.closing == Closing::Soon {
            self.closing = Closing::Now;
        }
    }

    fn ask_to_close(&mut self, ui: &Ui) {
        if self.closing != Closing::Asked {
            return;
        }
        let Some(measurement) = &mut self.measurement else {
            self.closing = Closing::No; // It ended meanwhile; the window stays open and shows it.
            return;
        };
        let modal = egui::Modal::new(egui::Id::unique("close while measuring"));
        let shown = modal.show(ui.ctx(), |ui| {
            ui.set_width(360.0);
            ui.heading("A measurement is running");
            ui.label("Closing the window stops it; results so far are saved.");
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                if ui.button("Keep measuring").clicked() {
                    self.closing = Closing::No;
                }
                if ui.button("Stop and close").clicked() {
                    measurement.stop();
                    self.closing = Closing::Soon;
                }
            });
        });
        if shown.should_close() && self.closing == Closing::Asked {
            self.closing = Closing::No;
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Opens the results and reports how the measurement ended.
fn finish(app: &mut App, name: &str, measurement: &Measurement, ending: &Ending) {
    let runs = match measurement.runs_done() {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let time = clock(measurement.elapsed());
    let Some(path) = &ending.bundle else {
        app.forget_unfinished(name);
        app.notify(match &ending.failure {
            Some(why) => format!("Nothing was measured: {why}."),
            None => "The measurement was stopped before its first run.".into(),
        });
        return;
    };
    match std::fs::read(path) {
        Ok(bytes) => app.open_finished(name, &bytes),
        Err(error) => app.notify(format!("Could not open {}: {error}.", path.display())),
    }
    let place = path.display();
    app.notify(match (&ending.failure, ending.stopped) {
        (Some(why), _) => format!("{runs} in {time}, saved in {place}, but {why}."),
        (None, true) => format!("Stopped after {runs} in {time}, saved in {place}."),
        (None, false) => format!("Measured {runs} in {time}, saved in {place}."),
    });
}

/// Minutes and seconds, with hours if there are any.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Progress, current work, time left, and the stop button.
fn bar(ui: &mut Ui, measurement: &mut Measurement) {
    let told = measurement.told().clone();
    let mut time = clock(measurement.elapsed());
    if let Some(left) = measurement.left() {
        time = format!("{time}, about {} left", clock(left));
    }
    let runs = match told.runs {
        0 => "starting".to_owned(),
        runs => format!("{} of {runs} runs", measurement.runs_done()),
    };
    ui.add_space(4.0);
    ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let (text, hover) = match measurement.is_stopping() {
                    false => ("Cancel", "Stop and save the results so far"),
                    true => ("Stop at once", "Stop without waiting for the running kernel"),
                };
                if ui.add(Button::new(text)).on_hover_text(hover).clicked() {
                    measurement.stop();
                }
                ui.label(&time);
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    let percent = format!("{:.0} %", told.share * 100.0);
                    let bar = ProgressBar::new(told.share as f32).desired_width(150.0);
                    let bar = ui.add(bar.text(percent.as_str()));
                    let name = format!("Measured: {percent}, {runs}");
                    bar.widget_info(|| {
                        WidgetInfo::labeled(Role::ProgressIndicator, true, name.as_str())
                    });
                    bar.on_hover_text("While measuring, the window redraws twice per second");
                    ui.label(&runs);
                    let what = if measurement.is_stopping() { "stopping …" } else { &told.what };
                    ui.add(Label::new(what).truncate()).on_hover_text(what);
                });
            });
        });
    });
    ui.add_space(4.0);
}
