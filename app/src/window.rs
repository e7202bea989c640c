//! The native window around [`App`]: opening and saving files, and measuring.

use std::collections::VecDeque;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, anyhow, bail};
use sparsescope_core::bundle::Limits;
use sparsescope_core::io::{Overwrite, file_forms, write_bytes};
use sparsescope_core::record::Operation;
use sparsescope_figures::landing::Landing;
use sparsescope_figures::state::ViewState;
use sparsescope_views::shell::{
    Action, App, COPY_LINK, CPU_EXAMPLE, Export, GPU_EXAMPLE, HOME, SOLVE_EXAMPLE,
};

use crate::cli::program;
use crate::dialog::{self, Chosen, Dialogs, Purpose};
use crate::reading::Reading;
use crate::run::{Ask, BETWEEN_FRAMES, RunPanel};

/// The examples by name.
const EXAMPLES: [(&str, &[u8]); 3] = [
    ("cpu", include_bytes!("../example/cpu.zip")),
    ("gpu", include_bytes!("../example/gpu.zip")),
    ("solvers", include_bytes!("../example/solvers.zip")),
];

/// The words of the start page.
const LANDING: &str = include_str!("../example/landing.json");

/// The picture of this name for light and dark themes.
macro_rules! picture {
    ($name:literal) => {
        (
            $name,
            [
                include_str!(concat!("../example/landing/", $name, "-light.svg")),
                include_str!(concat!("../example/landing/", $name, "-dark.svg")),
            ],
        )
    };
}

/// The pictures of the start page.
const PICTURES: [(&str, [&str; 2]); 3] =
    [picture!("wins"), picture!("structure"), picture!("layouts")];

/// Opens the window with these bundles, in the state that the fragment `state` gives; without both, with the
/// start page. Returns when it is closed.
pub(crate) fn run(files: &[PathBuf], state: Option<&str>) -> anyhow::Result<()> {
    if let Some(reason) = no_display() {
        bail!("cannot open the window: {reason}");
    }
    let mut app = App::new();
    if let Some(text) = state {
        let state = ViewState::from_fragment(text);
        app = App::at(state.with_context(|| format!("`{text}`: expected `v1;key=value;...`"))?);
    }
    app.set_landing(Landing::from_json(LANDING)?, &PICTURES);
    if files.is_empty() && state.is_none() {
        app.toggle_home();
    } else if files.iter().all(|file| has_extension(file, "json")) {
        // A lesson alone contains no runs.
        open_example(&mut app, "cpu", None);
    }
    let mut reading = Reading::default();
    for file in files {
        open(&mut app, &mut reading, file);
    }
    let viewport = egui::ViewportBuilder::default()
        .with_title("Sparsescope")
        .with_app_id("sparsescope")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([720.0, 480.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    app.offer(&[OPEN, RUN, HOME, CPU_EXAMPLE, GPU_EXAMPLE, SOLVE_EXAMPLE, COPY_LINK]);
    let program = program::file().context("cannot find the program's own file")?.to_owned();
    let window = Window {
        app,
        panel: RunPanel::new(program),
        reading,
        dialogs: Dialogs::default(),
        exports: VecDeque::new(),
        drawn: Instant::now(),
    };
    let create: eframe::AppCreator<'_> = Box::new(|context| {
        if let Some(state) = &context.wgpu_render_state {
            sparsescope_views::views::spy::gpu::native::install(&context.egui_ctx, state);
        }
        Ok(Box::new(window))
    });
    eframe::run_native("Sparsescope", options, create)
        .map_err(|error| anyhow!("cannot open the window: {error}"))
}

const OPEN: Action =
    Action { name: "Open…", hint: "Open bundles, matrices or lessons", key: egui::Key::O };
const RUN: Action = Action { name: "Run…", hint: "Measure kernels here", key: egui::Key::R };

struct Window {
    app: App,
    panel: RunPanel,
    reading: Reading,
    dialogs: Dialogs,
    /// Files waiting to be saved.
    exports: VecDeque<Export>,
    /// When the last frame began.
    drawn: Instant,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        if self.panel.is_measuring() {
            // Drawing must not disturb a measurement, whatever requests frames.
            std::thread::sleep(BETWEEN_FRAMES.saturating_sub(self.drawn.elapsed()));
        }
        self.drawn = Instant::now();
        if ui.input(|input| input.viewport().close_requested()) && !self.panel.may_close() {
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::CancelClose);
        }
        self.take_dropped(ui);
        self.panel.ui(ui, &mut self.app);
        self.reading.ui(ui, &mut self.app);
        self.app.ui(ui);
        if self.panel.closes() {
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::Close);
        }
        self.exports.extend(self.app.take_exports());
        for asked in self.app.take_asked() {
            match asked {
                RUN => self.panel.open = !self.panel.open,
                HOME => self.app.toggle_home(),
                CPU_EXAMPLE => open_example(&mut self.app, "cpu", Some(Operation::Spmv)),
                GPU_EXAMPLE => open_example(&mut self.app, "gpu", Some(Operation::Spmv)),
                SOLVE_EXAMPLE => open_example(&mut self.app, "solvers", Some(Operation::Solve)),
                COPY_LINK => {
                    let fragment = self.app.state().to_fragment();
                    self.app.notify(format!(
                        "Copied: --state '{fragment}' restores these views. For a link, append # and this text to the web viewer's address."
                    ));
                    ui.ctx().copy_text(fragment);
                }
                _ => self.ask(Purpose::Open, ui, frame),
            }
            ui.ctx().request_repaint();
        }
        if let Some(door) = self.app.take_chosen() {
            self.app.leave_home(&door.link);
            if let Some(example) = &door.example {
                open_example(&mut self.app, example, None);
            }
            ui.ctx().request_repaint();
        }
        match self.panel.take_ask() {
            Some(Ask::Matrices) => self.ask(Purpose::Matrices, ui, frame),
            Some(Ask::Folder) => {
                self.ask(Purpose::Folder(self.panel.request.folder.clone()), ui, frame);
            }
            None => {}
        }
        if let Some(chosen) = self.dialogs.take() {
            self.use_chosen(chosen);
            ui.ctx().request_repaint();
        }
        if !self.dialogs.is_open()
            && let Some(export) = self.exports.pop_front()
        {
            self.export(export, ui, frame);
        }
    }
}

impl Window {
    /// Opens a dialog, or says how to do without.
    fn ask(&mut self, purpose: Purpose, ui: &egui::Ui, frame: &eframe::Frame) {
        if dialog::available() {
            if !self.dialogs.is_open() {
                self.dialogs.open(purpose, frame, ui.ctx());
            }
            return;
        }
        let instead = match purpose {
            Purpose::Open => "drop files onto the window, or pass them on the command line",
            _ => "type the path instead",
        };
        self.app.notify(format!("This desktop has no file dialog: {instead}."));
    }

    fn use_chosen(&mut self, chosen: Chosen) {
        match chosen.purpose {
            Purpose::Open => self.open_all(&chosen.paths),
            Purpose::Matrices => self.panel.add_files(&chosen.paths),
            Purpose::Folder(_) => {
                if let Some(folder) = chosen.paths.into_iter().next() {
                    self.panel.request.folder = folder;
                }
            }
            Purpose::Save(export) => {
                if let Some(path) = chosen.paths.first() {
                    let saved = write(path, &export, Overwrite::Replace).map(|()| path.clone());
                    self.tell_saved(&export, saved);
                }
            }
        }
    }

    /// Writes a file to a path that the user chooses, or into the working directory.
    fn export(&mut self, export: Export, ui: &egui::Ui, frame: &eframe::Frame) {
        if dialog::available() {
            self.dialogs.open(Purpose::Save(export), frame, ui.ctx());
        } else {
            let saved = save(&export);
            self.tell_saved(&export, saved);
        }
        ui.ctx().request_repaint();
    }

    fn tell_saved(&mut self, export: &Export, saved: anyhow::Result<PathBuf>) {
        match saved {
            Ok(path) => self.app.confirm(format!("Saved {}.", path.display())),
            Err(error) => self.app.notify(format!("Could not save {}: {error:#}.", export.name)),
        }
    }

    /// Opens dropped files; while the run panel is open, matrices among them are added to it instead.
    fn take_dropped(&mut self, ui: &egui::Ui) {
        let dropped = ui.input_mut(|input| std::mem::take(&mut input.raw.dropped_files));
        let mut paths: Vec<_> = dropped.iter().map(|file| file.path().to_owned()).collect();
        if self.panel.open {
            let (others, matrices): (Vec<_>, Vec<_>) =
                paths.into_iter().partition(|path| is_read_at_once(path));
            self.panel.add_files(&matrices);
            paths = others;
        }
        self.open_all(&paths);
    }

    fn open_all(&mut self, paths: &[PathBuf]) {
        paths.iter().for_each(|path| open(&mut self.app, &mut self.reading, path));
    }
}

/// Opens the example of this name, if there is one, and shows its runs of this operation.
fn open_example(app: &mut App, name: &str, operation: Option<Operation>) {
    if let Some((_, bytes)) = EXAMPLES.iter().find(|(known, _)| *known == name) {
        app.open_example(operation, |app| app.open_bytes(&format!("{name}.zip"), *bytes));
    }
}

/// Opens a bundle or a lesson now; queues anything else as a matrix.
fn open(app: &mut App, reading: &mut Reading, path: &Path) {
    if !is_read_at_once(path) {
        return reading.add(path);
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    match read(path) {
        Ok(bytes) => app.open_bytes(&name, bytes),
        Err(error) => app.notify(format!("Could not open {}: {error:#}.", path.display())),
    }
}

/// Recognises bundles and lessons by name and first bytes, so that a damaged bundle is reported as a bundle.
fn is_read_at_once(path: &Path) -> bool {
    let mut start = Vec::new();
    // A folder, and what cannot be read, is decided by its name.
    let _ = std::fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    !file_forms::is_matrix(&name, &start)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

/// Reads a file that is not larger than any bundle may be.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let (most, bytes) = (Limits::default().zip_bytes, path.metadata()?.len());
    if bytes > most {
        bail!("it has {bytes} bytes, more than the limit of {most} for a bundle");
    }
    Ok(std::fs::read(path)?)
}

/// Writes into the working directory, under the first free numbered name.
fn save(export: &Export) -> anyhow::Result<PathBuf> {
    let (stem, extension) = export.name.rsplit_once('.').unwrap_or((&export.name, "txt"));
    let folder = std::env::current_dir().context("there is no working directory")?;
    for number in 1..10_000 {
        let path = folder.join(match number {
            1 => export.name.clone(),
            _ => format!("{stem}-{number}.{extension}"),
        });
        if path.symlink_metadata().is_ok() {
            continue;
        }
        write(&path, export, Overwrite::Never)?;
        return Ok(path);
    }
    Err(anyhow!("there is no free file name"))
}

fn write(path: &Path, export: &Export, overwrite: Overwrite) -> anyhow::Result<()> {
    Ok(write_bytes(path, overwrite, &export.bytes)?)
}

/// Why no window can open here, as far as the environment shows; checked before anything is loaded.
fn no_display() -> Option<&'static str> {
    (!crate::display::is_there()).then_some(
        "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); `sparsescope --help` \
         lists what works without one",
    )
}
