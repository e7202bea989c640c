//! What the page does for the viewer: functions that `page/page.js` provides. None of them calls
//! the viewer back before it returns.

use eframe::wasm_bindgen;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(js_namespace = ["sparsescope", "page"])]
extern "C" {
    /// A frame was drawn and is about to be shown.
    pub(crate) fn frame();

    /// What the views show has changed. With `step`, so much that the browser's Back should come
    /// back to what was shown before.
    pub(crate) fn shows(fragment: &str, step: bool);

    /// Gives the user a file.
    pub(crate) fn save(name: &str, bytes: &[u8]);

    /// Gives the user an SVG as PNG.
    #[wasm_bindgen(js_name = saveAsPng)]
    pub(crate) fn save_as_png(name: &str, svg: &[u8]);

    /// Lets the user choose files to open.
    pub(crate) fn choose();

    /// Fetches an example, by what its address is called among the data of the page's script, and shows its
    /// runs of this operation.
    #[wasm_bindgen(js_name = openExample)]
    pub(crate) fn open_example(which: &str, operation: &str);

    /// Copies a link to what is shown; `files` are those that are open.
    #[wasm_bindgen(js_name = copyLink)]
    pub(crate) fn copy_link(fragment: &str, files: Vec<String>);

    /// Ends once input and drawing have had their turn.
    pub(crate) async fn turn();

    /// Ends once somebody sees the page.
    pub(crate) async fn seen();

    /// Whether nobody sees the page.
    #[wasm_bindgen(js_name = isHidden)]
    pub(crate) fn is_hidden() -> bool;

    /// The browser and its version.
    pub(crate) fn browser() -> String;

    /// Now, in UTC and whole seconds.
    pub(crate) fn now() -> String;

    /// Why there is no WebGPU, in a sentence; nothing where there is.
    #[wasm_bindgen(js_name = whyNoGpu)]
    pub(crate) fn why_no_gpu() -> String;

    /// The WebGPU device that was opened last, as JSON: `{vendor, architecture, description, fallback,
    /// subgroups}`.
    pub(crate) fn gpu() -> String;

    /// Keeps what was measured for as long as the page is open.
    pub(crate) fn keep(name: &str, bytes: &[u8]);

    /// Gives the user the page with a bundle as one file.
    #[wasm_bindgen(js_name = saveHtml)]
    pub(crate) fn save_html(name: &str, bytes: &[u8]);

    /// The program cannot go on.
    pub(crate) fn failed(message: &str);
}
