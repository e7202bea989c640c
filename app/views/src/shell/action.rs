//! What only the window or only the page can do.

/// Something that only the window or only the page can do, offered as a button and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Text of the button.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub hint: &'static str,
    /// Its key.
    pub key: egui::Key,
}

/// Opens the example that was measured on processors, which a first start shows.
pub const CPU_EXAMPLE: Action = Action {
    name: "CPU example",
    hint: "Open what was measured on the processors of a small machine",
    key: egui::Key::E,
};

/// Opens the example that was measured on a GPU: a file of the page, a part of the window.
pub const GPU_EXAMPLE: Action = Action {
    name: "GPU example",
    hint: "Open what was measured on an NVIDIA H200",
    key: egui::Key::G,
};

/// Opens the example of solves, which is the tables of paper 003 measured anew on a GPU.
pub const SOLVE_EXAMPLE: Action = Action {
    name: "Solver example",
    hint: "Open conjugate gradients and dense systems as they were measured on an NVIDIA H200",
    key: egui::Key::S,
};

/// Copies a link to what is shown; the window copies what such a link ends with.
pub const COPY_LINK: Action =
    Action { name: "Copy link", hint: "Copy a link to what is shown now", key: egui::Key::L };

/// Measures kernels where the views are shown: the page's own form of what the window calls "Run".
pub const RUN_HERE: Action = Action {
    name: "Run here",
    hint: "Measure kernels on this machine's own GPU and in WebAssembly, and compare",
    key: egui::Key::R,
};
