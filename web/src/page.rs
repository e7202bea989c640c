//! The page's functions for the viewer, which `page/page.js` provides. None of them calls the viewer back
//! before it returns.

use eframe::wasm_bindgen;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(js_namespace = ["sparsescope", "page"])]
extern "C" {
    /// A frame was drawn and is about to be shown.
    pub(crate) fn frame();

    /// The state of the views has changed. With `step`, the change is one that the browser's Back should
    /// undo.
    pub(crate) fn shows(fragment: &str, step: bool);

    /// Saves a file for the user.
    pub(crate) fn save(name: &str, bytes: &[u8]);

    /// Saves an SVG for the user as a PNG of this many pixels, which says its size on paper if it has one.
    #[wasm_bindgen(js_name = saveAsPng)]
    pub(crate) fn save_as_png(name: &str, svg: &[u8], width: u32, height: u32, on_paper: bool);

    /// Lets the user choose files to open.
    pub(crate) fn choose();

    /// Shows the start page.
    pub(crate) fn home();

    /// Fetches the example of this name, and shows its runs of this operation.
    #[wasm_bindgen(js_name = openExample)]
    pub(crate) fn open_example(which: &str, operation: &str);

    /// Copies a link to the current state; `files` are the open files.
    #[wasm_bindgen(js_name = copyLink)]
    pub(crate) fn copy_link(fragment: &str, files: Vec<String>);

    /// Completes once input and drawing have had their turn.
    pub(crate) async fn turn();

    /// Completes once the page is visible.
    pub(crate) async fn seen();

    /// Whether the page is hidden.
    #[wasm_bindgen(js_name = isHidden)]
    pub(crate) fn is_hidden() -> bool;

    /// The browser and its version.
    pub(crate) fn browser() -> String;

    /// The current time in UTC, in whole seconds.
    pub(crate) fn now() -> String;

    /// Why there is no WebGPU, in a sentence; empty if there is.
    #[wasm_bindgen(js_name = whyNoGpu)]
    pub(crate) fn why_no_gpu() -> String;

    /// The WebGPU device opened last, as JSON: `{vendor, architecture, description, fallback, subgroups}`.
    pub(crate) fn gpu() -> String;

    /// Keeps the results for as long as the page is open.
    pub(crate) fn keep(name: &str, bytes: &[u8]);

    /// Saves the page with a bundle as one file for the user.
    #[wasm_bindgen(js_name = saveHtml)]
    pub(crate) fn save_html(name: &str, bytes: &[u8]);

    /// Saves the page with a lesson as one file for the user; `file` is the file it was opened from, if any.
    #[wasm_bindgen(js_name = saveLesson)]
    pub(crate) fn save_lesson(id: &str, file: Option<String>);

    /// The program has failed.
    pub(crate) fn failed(message: &str);
}
