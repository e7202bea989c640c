//! The native window around [`App`].

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use sparsescope_core::bundle::Limits;
use sparsescope_core::io::{IoError, Overwrite, write_atomically};

use crate::shell::{App, Export};
use crate::state::ViewState;

/// What a first start shows.
const EXAMPLE: &[u8] = include_bytes!("../example/mini.zip");

/// Opens the window with these bundles, or with an example, showing what the fragment `state`
/// says; returns when it is closed.
pub(crate) fn run(files: &[PathBuf], state: Option<&str>) -> anyhow::Result<()> {
    if let Some(reason) = no_display() {
        bail!("the window cannot be opened: {reason}");
    }
    let mut app = App::new();
    if let Some(text) = state {
        let state = ViewState::from_fragment(text);
        app = App::at(state.with_context(|| format!("`{text}`: expected `v1;key=value;...`"))?);
    }
    if files.is_empty() {
        app.open_bytes("example", EXAMPLE);
    }
    for file in files {
        open(&mut app, file);
    }
    let viewport = egui::ViewportBuilder::default()
        .with_title("Sparsescope")
        .with_app_id("sparsescope")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([720.0, 480.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let window = Window { app };
    eframe::run_native("Sparsescope", options, Box::new(|_| Ok(Box::new(window))))
        .map_err(|error| anyhow!("the window cannot be opened: {error}"))
}

struct Window {
    app: App,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        self.app.ui(ui);
        for export in self.app.take_exports() {
            let sentence = match save(&export) {
                Ok(path) => format!("Saved {}.", path.display()),
                Err(error) => format!("{} was not saved: {error:#}.", export.name),
            };
            self.app.notify(sentence);
            ui.ctx().request_repaint();
        }
    }
}

fn open(app: &mut App, path: &Path) {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    match read(path) {
        Ok(bytes) => app.open_bytes(&name, &bytes),
        Err(error) => app.notify(format!("{} was not opened: {error:#}.", path.display())),
    }
}

/// The bytes of a file that is not larger than any bundle may be.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let (most, bytes) = (Limits::default().zip_bytes, path.metadata()?.len());
    if bytes > most {
        bail!("it has {bytes} bytes, and a bundle at most {most}");
    }
    Ok(std::fs::read(path)?)
}

/// Writes into the working directory, under the first numbered name that is free.
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
        write_atomically(&path, Overwrite::Never, |out| {
            out.write_all(&export.bytes).map_err(|error| IoError::System { doing: "write", error })
        })?;
        return Ok(path);
    }
    Err(anyhow!("every numbered name is taken"))
}

/// Why no window can appear here, where the environment tells: said before anything is loaded.
fn no_display() -> Option<&'static str> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let unix = cfg!(all(unix, not(target_os = "macos")));
    (unix && !set("DISPLAY") && !set("WAYLAND_DISPLAY")).then_some(
        "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); `sparsescope --help` \
         lists what works without one",
    )
}
