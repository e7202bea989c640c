//! What only the window or only the page can do.

/// Something that only the window or only the page can do, offered as a button and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The button's text.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub hint: &'static str,
    /// Its key.
    pub key: egui::Key,
}

/// Shows the start page.
pub const HOME: Action = Action { name: "Home", hint: "Start page", key: egui::Key::H };

/// Opens the example measured on CPUs.
pub const CPU_EXAMPLE: Action = Action {
    name: "CPU example",
    hint: "Open results from the CPU of a small machine",
    key: egui::Key::E,
};

/// Opens the example measured on a GPU: a file of the page, built into the window.
pub const GPU_EXAMPLE: Action =
    Action { name: "GPU example", hint: "Open results from an NVIDIA H200", key: egui::Key::G };

/// Opens the example of solves: the tables of paper 003 measured again on a GPU.
pub const SOLVE_EXAMPLE: Action = Action {
    name: "Solver example",
    hint: "Open results for conjugate gradients and dense systems from an NVIDIA H200",
    key: egui::Key::S,
};

/// Copies a link to the current state; the window copies the link's fragment.
pub const COPY_LINK: Action =
    Action { name: "Copy link", hint: "Copy a link to this view", key: egui::Key::L };

/// Measures kernels in the page: its form of the window's "Run".
pub const RUN_HERE: Action = Action {
    name: "Run here",
    hint: "Measure kernels on this machine's GPU and in WebAssembly, and compare",
    key: egui::Key::R,
};
