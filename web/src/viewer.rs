//! The interface as an eframe application, and its functions for the page.

use eframe::wasm_bindgen;
use eframe::web_sys::HtmlCanvasElement;
use egui::accesskit::{self, ActionData, ActionRequest, NodeId, TreeId};
use egui::{Event, LayerId, Memory, RawInput, Ui};
use sparsescope_core::bundle::Limits;
use sparsescope_core::record::Operation;
use sparsescope_figures::figure::set_resolution;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::ViewState;
use sparsescope_figures::written::{svg_of, table_of};
use sparsescope_views::shell::{
    Action, App, COPY_LINK, CPU_EXAMPLE, File, GPU_EXAMPLE, HOME, RUN_HERE, Raster, SAVE_LESSON,
    SOLVE_EXAMPLE,
};
use sparsescope_views::views::spy::gpu::webgl;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::widgets::Widgets;
use crate::{fonts, here, page};

const OPEN: Action =
    Action { name: "Open…", hint: "Open bundles, matrices or lessons", key: egui::Key::O };

/// The running interface, for the page's script.
#[wasm_bindgen]
pub struct Viewer {
    runner: eframe::WebRunner,
}

/// A file that was read, to be opened.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ReadFile(File);

/// The eframe application.
struct Window {
    app: App,
    context: egui::Context,
    /// The state last passed to the page.
    shown: ViewState,
    /// Requests of assistive technology since the last frame.
    requests: Vec<ActionRequest>,
    /// Nothing is drawn yet.
    waits: bool,
}

#[wasm_bindgen]
impl Viewer {
    /// Draws on `canvas` the state of an address's fragment. `examples` says whether the page has examples,
    /// `home` whether it has a start page, `embedded` whether another page shows only the view; `lessons` is a
    /// JSON list of lessons.
    ///
    /// # Errors
    /// A sentence, if nothing can be drawn.
    pub async fn start(
        canvas: HtmlCanvasElement,
        fragment: String,
        examples: bool,
        home: bool,
        embedded: bool,
        lessons: String,
    ) -> Result<Viewer, JsValue> {
        std::panic::set_hook(Box::new(|panic| page::failed(&panic.to_string())));
        let runner = eframe::WebRunner::new();
        let create: eframe::AppCreator<'static> = Box::new(move |creation| {
            creation.egui_ctx.set_fonts(fonts::definitions());
            creation.egui_ctx.add_plugin(Widgets::default());
            creation.egui_ctx.enable_accesskit();
            let mut app = App::new();
            if let Err(error) = app.add_lessons(&lessons) {
                app.notify(format!("The page's lessons cannot be read: {error}."));
            }
            if !fragment.is_empty() {
                app.follow_first(&fragment);
            }
            let state = app.state().clone();
            let of_examples: &[Action] = match examples {
                true => &[CPU_EXAMPLE, GPU_EXAMPLE, SOLVE_EXAMPLE, SAVE_LESSON],
                false => &[],
            };
            let of_home: &[Action] = if home { &[HOME] } else { &[] };
            if embedded {
                app.embed();
            } else {
                let always = [OPEN, RUN_HERE];
                app.offer(&[&always[..], of_home, of_examples, &[COPY_LINK][..]].concat());
            }
            {
                let panel = here::panel();
                let mut panel = panel.borrow_mut();
                (panel.has_example, panel.has_html) = (examples, examples);
            }
            if let Some(gl) = &creation.gl {
                webgl::install(&creation.egui_ctx, gl);
            }
            let context = creation.egui_ctx.clone();
            let requests = Vec::new();
            Ok(Box::new(Window { app, context, shown: state, requests, waits: false }))
        });
        runner.start(canvas, eframe::WebOptions::default(), create).await?;
        Ok(Self { runner })
    }

    /// Whether to draw nothing, while something else covers the canvas and files are still to be opened.
    pub fn wait(&self, waits: bool) {
        self.with(|window| window.waits = waits);
    }

    /// Reads a file for [`open`](Self::open), and lets the page draw meanwhile.
    pub async fn read(name: String, bytes: Vec<u8>) -> ReadFile {
        ReadFile(File::read(&name, bytes, page::turn).await)
    }

    /// Opens a file; errors are shown in the interface.
    pub fn open(&self, name: &str, file: ReadFile) {
        self.with(|window| window.app.open_file(name, file.0));
    }

    /// Opens an example in place of the one before, and shows its runs of this operation; with an empty one,
    /// what is shown stays.
    #[wasm_bindgen(js_name = openExample)]
    pub fn open_example(&self, name: &str, file: ReadFile, operation: &str) {
        let operation = Operation::of(operation);
        let open = |app: &mut App| app.open_file(name, file.0);
        self.with(|window| window.app.open_example(operation, open));
    }

    /// Whether a file of this name is open, or will be.
    pub fn has(&self, name: &str) -> bool {
        self.runner.app_mut::<Window>().is_some_and(|window| window.app.has_file(name))
    }

    /// Shows a message in the interface.
    pub fn say(&self, sentence: String) {
        self.with(|window| window.app.notify(sentence));
    }

    /// Reports that a link to the page at this address was copied, which leaves out these files.
    pub fn copied(&self, address: &str, left_out: Vec<String>) {
        self.say(sparsescope_views::shell::copied(address, &left_out));
    }

    /// Shows the state of an address's fragment; without one, the default state.
    pub fn show(&self, fragment: &str) {
        self.with(|window| {
            window.app.follow(fragment);
            window.shown = window.app.state().clone();
        });
    }

    /// Shows what a link of the start page names; returns the fragment of the address for it.
    #[wasm_bindgen(js_name = leaveHome)]
    pub fn leave_home(&self, link: &str) -> String {
        let fragment = self.with(|window| {
            window.app.leave_home(link);
            window.shown = window.app.state().clone();
            window.shown.to_fragment()
        });
        fragment.unwrap_or_default()
    }

    /// Opens the panel that measures.
    pub fn measure(&self) {
        let panel = here::panel();
        self.with(|window| {
            let mut panel = panel.borrow_mut();
            if !panel.open {
                panel.toggle(&window.app);
            }
        });
    }

    /// The widgets of the last frame, as JSON: a list of `{id, role, name, value, rect, …}` in reading order.
    /// Draws nothing.
    pub fn widgets(&self) -> String {
        let tree = self.runner.app_mut::<Window>().and_then(|window| {
            let widgets = window.context.plugin_opt::<Widgets>()?;
            let tree = widgets.lock().to_json(window.context.zoom_factor());
            Some(tree)
        });
        tree.unwrap_or_else(|| "[]".into())
    }

    /// Acts on a widget as a user would: `click`, `focus` or `set`, which takes a value. Ids are those of
    /// [`widgets`](Self::widgets).
    pub fn act(&self, id: &str, action: &str, value: Option<String>) {
        let action = match action {
            "click" => accesskit::Action::Click,
            "focus" => accesskit::Action::Focus,
            "set" => accesskit::Action::SetValue,
            _ => return,
        };
        let Ok(id) = id.parse() else { return };
        self.with(|window| {
            window.requests.push(ActionRequest {
                action,
                target_tree: TreeId::ROOT,
                target_node: NodeId(id),
                data: value.map(|value| ActionData::Value(value.into())),
            });
        });
    }

    /// Whether the Tab key would start over behind the last widget, or with `back`, as Shift+Tab, before the first
    /// one. Then no widget has the focus any more.
    pub fn exits(&self, back: bool) -> bool {
        let exits = self.with(|window| {
            let focused = window.context.memory(Memory::focused);
            let exits = window.context.viewport(|viewport| {
                let widgets = viewport.prev_pass.widgets.get_layer(LayerId::background());
                let stops = widgets.filter(|widget| widget.enabled && widget.sense.is_focusable());
                let mut stops = stops.map(|widget| widget.id);
                match back {
                    true => focused.is_none() || stops.next() == focused,
                    false => stops.last() == focused,
                }
            });
            if exits {
                window.context.memory_mut(Memory::stop_text_input);
            }
            exits
        });
        exits.unwrap_or_default()
    }

    /// Names of the open files: bundles, and that of the lesson shown.
    pub fn files(&self) -> Vec<String> {
        self.with(|window| window.files()).unwrap_or_default()
    }

    /// Reports that the page is hidden.
    pub fn hidden(&self) {
        here::panel().borrow().interrupt();
    }

    /// Ends the interface after its canvas lost its graphics context. A measurement continues.
    pub fn stop(&self) {
        self.runner.destroy();
    }

    /// Draws another frame soon, e.g. to take a picture of it.
    pub fn redraw(&self) {
        self.with(|_| ());
    }

    /// What a link shows, as the CSV that Save and `export --table` write. The current state and its cached
    /// results stay unchanged.
    ///
    /// # Errors
    /// A sentence, if there is no table.
    pub fn table(&self, link: &str) -> Result<String, JsValue> {
        self.written(|model| table_of(model, link))
    }

    /// The same as SVG, for views that are figures.
    ///
    /// # Errors
    /// A sentence, if there is no figure.
    pub fn svg(&self, link: &str) -> Result<String, JsValue> {
        self.written(|model| svg_of(model, link))
    }

    /// A PNG with a size on paper, which it says now.
    #[wasm_bindgen(js_name = onPaper)]
    pub fn on_paper(mut png: Vec<u8>) -> Vec<u8> {
        set_resolution(&mut png);
        png
    }

    /// Maximum size of a bundle file.
    pub fn most_bytes() -> f64 {
        Limits::default().zip_bytes as f64 // a JavaScript number
    }

    fn written(
        &self,
        write: impl FnOnce(&Model) -> Result<String, String>,
    ) -> Result<String, JsValue> {
        let Some(window) = self.runner.app_mut::<Window>() else {
            return Err("the viewer has failed".into());
        };
        write(window.app.model()).map_err(JsValue::from)
    }

    /// Applies a function to the window, which is then redrawn. Returns nothing after a failure.
    fn with<R>(&self, act: impl FnOnce(&mut Window) -> R) -> Option<R> {
        let mut window = self.runner.app_mut::<Window>()?;
        let done = act(&mut window);
        window.context.request_repaint();
        Some(done)
    }
}

impl Window {
    /// The names of the open bundles and of the file of the lesson shown.
    fn files(&self) -> Vec<String> {
        let bundles = self.app.model().bundles().iter().map(|bundle| bundle.file.clone());
        bundles.chain(self.app.lesson_file().map(str::to_owned)).collect()
    }
}

impl eframe::App for Window {
    fn raw_input_hook(&mut self, _: &egui::Context, input: &mut RawInput) {
        input.events.extend(self.requests.drain(..).map(Event::AccessKitActionRequest));
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        if self.waits {
            return;
        }
        let panel = here::panel();
        panel.borrow_mut().ui(ui, &mut self.app);
        self.app.ui(ui);
        panel.borrow_mut().take_asks().iter().for_each(here::answer);
        for export in self.app.take_exports() {
            match export.raster {
                Some(Raster { size: [width, height], on_paper }) => {
                    page::save_as_png(&export.name, &export.bytes, width, height, on_paper);
                }
                None => page::save(&export.name, &export.bytes),
            }
        }
        for asked in self.app.take_asked() {
            match asked {
                RUN_HERE => panel.borrow_mut().toggle(&self.app),
                HOME => page::home(),
                CPU_EXAMPLE => page::open_example("cpu", Operation::Spmv.as_str()),
                GPU_EXAMPLE => page::open_example("gpu", Operation::Spmv.as_str()),
                SOLVE_EXAMPLE => page::open_example("solvers", Operation::Solve.as_str()),
                COPY_LINK => {
                    page::copy_link(&self.app.state().to_fragment(), self.files());
                }
                SAVE_LESSON => {
                    if let Some(id) = self.app.lesson() {
                        page::save_lesson(id, self.app.lesson_file().map(str::to_owned));
                    }
                }
                _ => page::choose(),
            }
        }
        let state = self.app.state();
        if *state != self.shown {
            page::shows(&state.to_fragment(), is_step(&self.shown, state));
            self.shown = state.clone();
        }
        page::frame();
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }
}

/// Whether the browser's Back should undo this change: another view, matrix, run or step of a lesson, but not
/// each letter of a search or each turn of the wheel.
fn is_step(before: &ViewState, after: &ViewState) -> bool {
    let place = |state: &ViewState| {
        (state.view.clone(), state.matrix.clone(), state.layouts.lesson.clone())
    };
    place(before) != place(after) || !before.is_on_run_of(after)
}
