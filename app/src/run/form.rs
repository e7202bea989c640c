//! The form for choosing what to measure.

use std::collections::BTreeSet;
use std::path::Path;

use egui::{
    Button, Checkbox, Color32, ComboBox, Label, RichText, Role, ScrollArea, TextEdit, Ui,
    WidgetInfo,
};
use sparsescope_core::generate::suites;

use super::request::{self, Precisions, RUNS, Request, command_line};

/// State of the form besides the request.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// The matrix being typed, and its error.
    entry: String,
    wrong: Option<String>,
    /// Families of kernels that are unfolded.
    unfolded: BTreeSet<&'static str>,
    /// The folder being typed.
    folder: Option<String>,
}

/// A file dialog that the window should open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Matrix files.
    Matrices,
    /// The results folder.
    Folder,
}

/// What was pressed.
#[derive(Debug, Default)]
pub(super) struct Pressed {
    pub(super) ask: Option<Ask>,
    pub(super) start: bool,
    pub(super) close: bool,
}

impl Form {
    /// Shows an error below the input for matrices.
    pub(super) fn complain(&mut self, sentence: String) {
        self.wrong = Some(sentence);
    }

    pub(super) fn show(&mut self, ui: &mut Ui, request: &mut Request, busy: bool) -> Pressed {
        let mut pressed = Pressed::default();
        ui.spacing_mut().interact_size.y = 24.0;
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            ui.heading("Run benchmarks");
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let close = ui.button("×");
                let name = "Close the run panel";
                close.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
                pressed.close = close.on_hover_text("Close the run panel (R)").clicked();
            });
        });
        ui.separator();
        let output = request.folder.join("sparsescope-DATE-TIME.zip");
        let arguments = request.arguments(&output);
        // Below the rest, always visible.
        egui::Panel::bottom("start").show_separator_line(true).show(ui, |ui| {
            ui.add_space(6.0);
            pressed.start = start(ui, &arguments, busy);
            ui.add_space(6.0);
        });
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            self.matrices(ui, request, &mut pressed);
            self.kernels(ui, request);
            settings(ui, request);
            self.results(ui, request, &mut pressed);
            command(ui, &arguments);
        });
        pressed
    }

    fn matrices(&mut self, ui: &mut Ui, request: &mut Request, pressed: &mut Pressed) {
        section(ui, "Matrices");
        ui.horizontal(|ui| {
            ui.label("Suite");
            let shown = request.suite.unwrap_or("none");
            let combo = ComboBox::from_id_salt("suite").selected_text(shown).show_ui(ui, |ui| {
                ui.selectable_value(&mut request.suite, None, "none");
                for suite in suites() {
                    ui.selectable_value(&mut request.suite, Some(suite.name), suite.name)
                        .on_hover_text(suite.what);
                }
            });
            let name = format!("Suite: {shown}");
            combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name.as_str()));
            let files = ui.button("Add files…");
            if files.on_hover_text("Matrix files; you can also drop them here").clicked() {
                pressed.ask = Some(Ask::Matrices);
            }
        });
        let mut removed = None;
        for (index, matrix) in request.matrices.iter().enumerate() {
            ui.horizontal(|ui| {
                let remove = ui.small_button("×");
                let name = format!("Remove {matrix}");
                remove.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
                if remove.on_hover_text(&name).clicked() {
                    removed = Some(index);
                }
                ui.add(Label::new(short(matrix)).truncate()).on_hover_text(matrix);
            });
        }
        if let Some(index) = removed {
            request.matrices.remove(index);
        }
        ui.horizontal(|ui| {
            let width = ui.available_width() - 58.0;
            let hint = "FILE.mtx or gen:stencil27?n=40";
            let field = TextEdit::singleline(&mut self.entry).hint_text(hint).desired_width(width);
            let field = ui.add(field);
            field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Matrix to add"));
            let entered =
                field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            let add = ui.add_enabled(!self.entry.trim().is_empty(), Button::new("Add"));
            if add.clicked() || entered {
                self.wrong = request.add(&self.entry).err();
                if self.wrong.is_none() {
                    self.entry.clear();
                }
            }
        });
        if let Some(wrong) = &self.wrong {
            problem(ui, wrong);
        }
    }

    fn kernels(&mut self, ui: &mut Ui, request: &mut Request) {
        section(ui, "Kernels");
        ui.horizontal(|ui| {
            ui.label("Pattern");
            let hint = "e.g. cpu/csr/*, cpu/*/serial";
            let field = TextEdit::singleline(&mut request.pattern).hint_text(hint);
            let field = ui.add(field.desired_width(ui.available_width()));
            field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Kernel pattern"));
        });
        let by_pattern = !request.pattern.trim().is_empty();
        let selected = match request.selected() {
            Ok(selected) => selected,
            Err(wrong) => {
                problem(ui, &format!("{wrong}."));
                BTreeSet::new()
            }
        };
        for family in request.families() {
            let members: Vec<_> =
                request.offered().filter(|k| request::family(k) == family).collect();
            let ticked = members.iter().filter(|kernel| selected.contains(kernel.id)).count();
            ui.horizontal(|ui| {
                let mut all = ticked == members.len();
                let some = ticked > 0 && !all;
                let tick = Checkbox::new(&mut all, family).indeterminate(some);
                if ui.add_enabled(!by_pattern, tick).changed() {
                    for kernel in &members {
                        set(&mut request.kernels, kernel.id, all);
                    }
                }
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let unfolded = self.unfolded.contains(family);
                    let text = format!("{ticked} of {}", members.len());
                    let count = ui.selectable_label(unfolded, text.as_str());
                    let name = format!("Kernels of {family}: {text}");
                    count.widget_info(|| {
                        WidgetInfo::selected(Role::Button, true, unfolded, name.as_str())
                    });
                    if count.on_hover_text("Choose individually").clicked() {
                        set(&mut self.unfolded, family, !unfolded);
                    }
                });
            });
            if !self.unfolded.contains(family) {
                continue;
            }
            ui.indent(family, |ui| {
                for kernel in members {
                    let mut on = selected.contains(kernel.id);
                    let tick = ui.add_enabled(!by_pattern, Checkbox::new(&mut on, kernel.id));
                    if tick.on_hover_text(kernel.summary).changed() {
                        set(&mut request.kernels, kernel.id, on);
                    }
                }
            });
        }
        if let Some(absence) = &request.no_gpu {
            ui.add(Label::new(RichText::new(format!("No GPU: {absence}.")).weak()).wrap());
        }
    }

    fn results(&mut self, ui: &mut Ui, request: &mut Request, pressed: &mut Pressed) {
        section(ui, "Results");
        ui.horizontal(|ui| {
            ui.label("Folder");
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let choose = ui.button("Choose…");
                choose.widget_info(|| {
                    WidgetInfo::labeled(Role::Button, true, "Choose the results folder")
                });
                if choose.clicked() {
                    self.folder = None;
                    pressed.ask = Some(Ask::Folder);
                }
                let mut text = match &self.folder {
                    Some(typed) => typed.clone(),
                    None => request.folder.display().to_string(),
                };
                let field = TextEdit::singleline(&mut text).desired_width(ui.available_width());
                let field = ui.add(field);
                field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Results folder"));
                if field.changed() {
                    request.folder = text.as_str().into();
                    self.folder = Some(text);
                }
                field.on_hover_text(request.folder.display().to_string());
            });
        });
        if !request.folder.is_dir() {
            problem(ui, "No such folder.");
        }
    }
}

fn set(these: &mut BTreeSet<&'static str>, one: &'static str, member: bool) {
    if member {
        these.insert(one);
    } else {
        these.remove(one);
    }
}

/// The file name of a file; anything else as it is.
fn short(matrix: &str) -> &str {
    if matrix.starts_with("gen:") || matrix.starts_with("suite:") {
        return matrix;
    }
    Path::new(matrix).file_name().and_then(|name| name.to_str()).unwrap_or(matrix)
}

fn section(ui: &mut Ui, title: &str) {
    ui.add_space(6.0);
    ui.strong(title);
}

/// An error to fix, shown not by colour alone.
fn problem(ui: &mut Ui, sentence: &str) {
    let dark = ui.visuals().dark_mode;
    let color = if dark { Color32::from_rgb(255, 170, 130) } else { Color32::from_rgb(160, 50, 0) };
    ui.add(Label::new(RichText::new(sentence).color(color)).wrap());
}

fn settings(ui: &mut Ui, request: &mut Request) {
    section(ui, "Settings");
    egui::Grid::new("settings").num_columns(2).spacing([12.0, 6.0]).show(ui, |ui| {
        ui.label("Threads");
        let field = TextEdit::singleline(&mut request.threads).hint_text("1, 2, 4, … all");
        let field = ui.add(field.desired_width(150.0));
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Threads"));
        field.on_hover_text("Thread counts of parallel kernels, separated by commas");
        ui.end_row();
        if request.no_gpu.is_none() {
            ui.label("Threads per block");
            let field = TextEdit::singleline(&mut request.blocks).hint_text("32, 64, 96, 128, 160");
            let field = ui.add(field.desired_width(150.0));
            field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Threads per block"));
            field.on_hover_text("Block sizes of GPU kernels, separated by commas");
            ui.end_row();
        }
        ui.label("Values");
        ui.horizontal(|ui| {
            let offered = [
                (Precisions::Double, "f64", "Double precision"),
                (Precisions::Single, "f32", "Single precision: the matrix and x are rounded"),
                (Precisions::Both, "both", "Each kernel in double and in single precision"),
            ];
            for (precisions, name, hover) in offered {
                ui.radio_value(&mut request.precisions, precisions, name).on_hover_text(hover);
            }
        });
        ui.end_row();
        ui.label("Samples per run");
        let runs = ui.add(egui::DragValue::new(&mut request.runs).range(RUNS).speed(0.2));
        runs.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Samples per run"));
        ui.end_row();
        ui.label("Caches");
        ui.horizontal(|ui| {
            let hover = "SpMVs run back to back; data that fits stays in the caches";
            ui.radio_value(&mut request.cold, false, "Warm").on_hover_text(hover);
            let hover = "Repeat each run with the caches flushed before every SpMV";
            ui.radio_value(&mut request.cold, true, "Warm and flushed").on_hover_text(hover);
        });
        ui.end_row();
    });
}

fn command(ui: &mut Ui, arguments: &Result<Vec<String>, String>) {
    section(ui, "Command line");
    let Ok(arguments) = arguments else {
        ui.weak("Nothing to run yet.");
        return;
    };
    let line = command_line(arguments);
    egui::Frame::group(ui.style()).fill(ui.visuals().faint_bg_color).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.add(Label::new(RichText::new(&line).monospace().size(12.5)).wrap());
    });
    if ui.button("Copy command").clicked() {
        ui.ctx().copy_text(line);
    }
}

/// The start button, and why it is disabled.
fn start(ui: &mut Ui, arguments: &Result<Vec<String>, String>, busy: bool) -> bool {
    let reason = match (busy, arguments) {
        (true, _) => Some("A measurement is running."),
        (_, Err(reason)) => Some(reason.as_str()),
        _ => None,
    };
    if let Some(reason) = reason {
        ui.weak(reason);
    }
    let text = RichText::new("Start measuring").strong();
    let button = Button::new(text).min_size(egui::vec2(0.0, 32.0));
    let button = button.fill(ui.visuals().selection.bg_fill);
    let centered = egui::Layout::top_down_justified(egui::Align::Center);
    ui.with_layout(centered, |ui| ui.add_enabled(reason.is_none(), button).clicked()).inner
}
