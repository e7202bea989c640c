//! The frame around the views: bundles and matrices at the left, tabs above, keyboard, dropped
//! files. The same in the window and in the page; what only one of them can do (saving a file,
//! fetching one) is left to it through [`App::take_exports`] and [`App::open_bytes`].

mod keys;
mod side;
#[cfg(test)]
mod tests;

use egui::{CentralPanel, Frame, Margin, Panel, RichText, Ui};

use crate::model::Model;
use crate::state::{History, Theme, ViewState, ZOOM};
use crate::views::{VIEWS, View, current};

/// A file that the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Suggested name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// The whole interface.
#[derive(Debug, Default)]
pub struct App {
    model: Model,
    state: ViewState,
    history: History,
    notices: Vec<String>,
    exports: Vec<Export>,
    look: Option<(Theme, f32)>,
    focus_search: bool,
    back: bool,
    /// Whether files can be chosen here, and whether the user asked for that.
    opening: Option<bool>,
}

impl App {
    /// An interface without bundles.
    pub fn new() -> Self {
        Self::default()
    }

    /// An interface without bundles that shows what a link says from the start on: there is nothing
    /// to go back to.
    pub fn at(state: ViewState) -> Self {
        Self { state, ..Self::default() }
    }

    /// Shows a button to choose files with, for [`take_open_request`](Self::take_open_request).
    pub fn offer_opening(&mut self) {
        self.opening.get_or_insert(false);
    }

    /// Whether the user asked to choose files since the last call.
    pub fn take_open_request(&mut self) -> bool {
        self.opening.as_mut().is_some_and(std::mem::take)
    }

    /// Opens a bundle under a name; what is wrong with it is said in the interface.
    pub fn open_bytes(&mut self, name: &str, bytes: &[u8]) {
        if let Err(error) = self.model.open(name, bytes) {
            self.notify(format!("{name} was not opened: {error}."));
        }
    }

    /// Says something, in one sentence, until it is dismissed.
    pub fn notify(&mut self, sentence: String) {
        if !self.notices.contains(&sentence) {
            self.notices.push(sentence);
        }
    }

    /// What the views show.
    pub fn state(&self) -> &ViewState {
        &self.state
    }

    /// Shows something else, e.g. what a link says. The user can go back.
    pub fn set_state(&mut self, state: ViewState) {
        self.history.record(&self.state, &state);
        self.state = state;
    }

    /// The opened bundles.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Files that the user asked for since the last call.
    pub fn take_exports(&mut self) -> Vec<Export> {
        std::mem::take(&mut self.exports)
    }

    /// Draws one frame.
    pub fn ui(&mut self, ui: &mut Ui) {
        let look = (self.state.theme, self.state.zoom);
        if self.look != Some(look) {
            look.0.apply(ui.ctx(), look.1);
            self.look = Some(look);
        }
        self.open_dropped(ui);
        let before = self.state.clone();
        self.back |= keys::back(ui);
        self.frame(ui);
        if std::mem::take(&mut self.back) {
            self.state = self.history.back().unwrap_or(before.clone());
        } else {
            self.history.record(&before, &self.state);
        }
        if self.state != before {
            ui.ctx().request_repaint();
        }
    }

    fn frame(&mut self, ui: &mut Ui) {
        keys::views(ui, &mut self.state);
        self.focus_search |= keys::search(ui);
        Panel::top("top").show(ui, |ui| self.top(ui));
        if !self.notices.is_empty() {
            Panel::top("notices").show(ui, |ui| self.show_notices(ui));
        }
        Panel::left("side").default_size(250.0).size_range(200.0..=420.0).show(ui, |ui| {
            side::show(ui, &mut self.model, &mut self.state, &mut self.focus_search);
        });
        let margin = Margin { left: 16, right: 16, top: 12, bottom: 12 };
        let frame = Frame::central_panel(ui.style()).inner_margin(margin);
        CentralPanel::default().frame(frame).show(ui, |ui| self.center(ui));
    }

    fn top(&mut self, ui: &mut Ui) {
        let wide = ui.available_width() > 820.0;
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            ui.label(RichText::new("Sparsescope").strong().size(17.0));
            ui.add_space(12.0);
            for (number, view) in VIEWS.iter().enumerate() {
                let front = current(&self.state).is_some_and(|current| current.id == view.id);
                let tab = ui.selectable_label(front, view.name);
                if tab.on_hover_text(format!("{} (key {})", view.sentence, number + 1)).clicked() {
                    self.state.view = view.id.into();
                }
            }
            if let Some(asked) = &mut self.opening {
                let button = ui.button("Open…").on_hover_text("Choose result bundles to open");
                *asked |= button.clicked();
            }
            if wide {
                self.look_settings(ui);
            }
        });
        if !wide {
            ui.horizontal(|ui| self.look_settings(ui));
        }
        ui.add_space(4.0);
    }

    /// Back, zoom and theme, at the right end of the line.
    fn look_settings(&mut self, ui: &mut Ui) {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            for theme in Theme::ALL.into_iter().rev() {
                let chosen = self.state.theme == theme;
                if ui.selectable_label(chosen, theme.name()).clicked() {
                    self.state.theme = theme;
                }
            }
            ui.weak("Theme");
            ui.add_space(8.0);
            self.zoom(ui);
            let back = ui.add_enabled(!self.history.is_empty(), egui::Button::new("Back"));
            if back.on_hover_text("Undo the last change of view (Ctrl+Z, Alt+Left)").clicked() {
                self.back = true;
            }
        });
    }

    fn zoom(&mut self, ui: &mut Ui) {
        for (text, name, factor) in [("+", "Larger", 1.1), ("−", "Smaller", 1.0 / 1.1)] {
            let button = ui.button(text);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
            if button.on_hover_text(name).clicked() {
                self.state.zoom = (self.state.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
            }
        }
    }

    fn show_notices(&mut self, ui: &mut Ui) {
        let mut dismissed = None;
        for (index, notice) in self.notices.iter().enumerate() {
            ui.horizontal_wrapped(|ui| {
                ui.label(notice);
                if ui.button("Dismiss").clicked() {
                    dismissed = Some(index);
                }
            });
        }
        if let Some(index) = dismissed {
            self.notices.remove(index);
        }
    }

    fn center(&mut self, ui: &mut Ui) {
        let Some(view) = current(&self.state) else { return };
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(view.sentence).size(15.0));
        });
        ui.horizontal(|ui| {
            (view.settings)(ui, &self.model, &mut self.state);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.export(ui, view);
            });
        });
        ui.separator();
        if self.model.bundles.is_empty() {
            ui.add_space(ui.available_height() * 0.3);
            ui.vertical_centered(|ui| {
                ui.heading("Drop a result bundle here");
                ui.weak("`sparsescope bench` writes one: a .zip with everything it measured.");
            });
            return;
        }
        ui.push_id(view.id, |ui| (view.show)(ui, &self.model, &mut self.state));
    }

    fn export(&mut self, ui: &mut Ui, view: &View) {
        let name = |extension| format!("sparsescope-{}.{extension}", view.id);
        if ui.button("Save CSV").on_hover_text("What is drawn, as a table").clicked() {
            match csv_text(&(view.table)(&self.model, &self.state)) {
                Ok(bytes) => self.exports.push(Export { name: name("csv"), bytes }),
                Err(error) => self.notify(format!("The table could not be written: {error}.")),
            }
        }
        if let Some(svg) = view.svg
            && ui.button("Save SVG").on_hover_text("The figure, for a paper").clicked()
        {
            let bytes = svg(&self.model, &self.state).into_bytes();
            self.exports.push(Export { name: name("svg"), bytes });
        }
    }

    /// A browser hands files out only later: the page reads them and calls
    /// [`open_bytes`](Self::open_bytes) itself.
    #[cfg(target_family = "wasm")]
    fn open_dropped(&mut self, _: &Ui) {}

    #[cfg(not(target_family = "wasm"))]
    fn open_dropped(&mut self, ui: &Ui) {
        for file in ui.input(|input| input.raw.dropped_files.clone()) {
            let name = file.path().file_name().unwrap_or(file.path().as_os_str());
            let name = name.to_string_lossy();
            match file.bytes() {
                Ok(bytes) => self.open_bytes(&name, &bytes),
                Err(error) => self.notify(format!("{name} was not opened: {error}.")),
            }
        }
    }
}

fn csv_text(lines: &[Vec<String>]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}
