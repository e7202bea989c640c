//! The desktop's file dialogs. They run on their own thread, one at a time, so that the window keeps drawing;
//! on a desktop without them the caller does without.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use sparsescope_views::shell::Export;

/// The purpose of a dialog.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// Bundles and matrices to open.
    Open,
    /// Matrices to measure.
    Matrices,
    /// The folder for a measurement's bundle.
    Folder(PathBuf),
    /// The path for a file that the user requested.
    Save(Export),
}

/// The result of a dialog: the chosen paths, none if it was cancelled.
pub(crate) struct Chosen {
    pub(crate) purpose: Purpose,
    pub(crate) paths: Vec<PathBuf>,
}

/// The open dialog, if any.
#[derive(Default)]
pub(crate) struct Dialogs(Option<Receiver<Chosen>>);

impl Dialogs {
    /// Whether a dialog is open.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Opens a dialog over the window, which is redrawn when the dialog closes.
    pub(crate) fn open(
        &mut self,
        purpose: Purpose,
        window: &eframe::Frame,
        context: &egui::Context,
    ) {
        let dialog = rfd::FileDialog::new().set_parent(window);
        let (sender, receiver) = channel();
        let context = context.clone();
        let wait = move || {
            let paths = show(dialog, &purpose);
            // A closed window needs no answer.
            let _ = sender.send(Chosen { purpose, paths });
            context.request_repaint();
        };
        if cfg!(target_os = "macos") {
            wait(); // Dialogs belong to the main thread there.
        } else {
            std::thread::spawn(wait);
        }
        self.0 = Some(receiver);
    }

    /// Returns the choice, once.
    pub(crate) fn take(&mut self) -> Option<Chosen> {
        let result = self.0.as_ref()?.try_recv();
        if !matches!(result, Err(TryRecvError::Empty)) {
            self.0 = None;
        }
        result.ok()
    }
}

fn show(dialog: rfd::FileDialog, purpose: &Purpose) -> Vec<PathBuf> {
    const MATRICES: [&str; 10] =
        ["mtx", "gz", "tgz", "txt", "graph", "tsv", "csv", "edges", "el", "mat"];
    match purpose {
        Purpose::Open => {
            let dialog = dialog.set_title("Open bundles, matrices or lessons");
            let dialog = dialog.add_filter(
                "Bundles, matrices, lessons",
                &[&["zip", "json"][..], &MATRICES[..]].concat(),
            );
            dialog.add_filter("All files", &["*"]).pick_files().unwrap_or_default()
        }
        Purpose::Matrices => {
            let dialog = dialog.set_title("Matrices to measure").add_filter("Matrices", &MATRICES);
            dialog.add_filter("All files", &["*"]).pick_files().unwrap_or_default()
        }
        Purpose::Folder(folder) => {
            let dialog = dialog.set_title("Results folder").set_directory(folder);
            dialog.pick_folder().into_iter().collect()
        }
        Purpose::Save(export) => {
            let dialog = dialog.set_title("Save as").set_file_name(&export.name);
            dialog.save_file().into_iter().collect()
        }
    }
}

/// Whether this desktop has file dialogs. On X11 and Wayland they come from the desktop portal or Zenity;
/// without either, a dialog would look as if the user had cancelled it.
pub(crate) fn available() -> bool {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return true;
    }
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let runtime_bus = variable("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("bus"));
    let bus = variable("DBUS_SESSION_BUS_ADDRESS").is_some()
        || runtime_bus.is_some_and(|bus| bus.exists());
    let data = variable("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let portal = "dbus-1/services/org.freedesktop.portal.Desktop.service";
    let has_portal = std::env::split_paths(&data).any(|folder| folder.join(portal).is_file());
    let path = variable("PATH").unwrap_or_default();
    let has_zenity = std::env::split_paths(&path).any(|folder| folder.join("zenity").is_file());
    (bus && has_portal) || has_zenity
}
