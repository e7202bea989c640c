//! The form of the panel: the GPU, the matrix, the kernels, and the results.

use egui::{
    Align, Button, Checkbox, Color32, ComboBox, DragValue, FontId, Label, Layout, ProgressBar,
    RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo, vec2,
};
use sparsescope_core::kernel::DeviceKind;
use sparsescope_core::record::Operation;
use sparsescope_figures::model::{Model, count, significant};
use sparsescope_figures::theme::BODY;

use super::gpu::GpuSeen;
use super::live::{Rates, words_of};
use super::wanted::{COLUMNS, OPERATIONS, SAMPLES, Subject, Wanted, kernels_here, offered};
use super::work::{Measured, Work};
use crate::style;

/// In windows narrower than this, the panel is below the views.
pub(super) const NARROW: f32 = 700.0;

/// Kernels in the ranking during a measurement.
const FASTEST: usize = 8;

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    Start,
    Cancel,
    Close,
    Compare,
    Save,
    SaveHtml,
}

/// The data that the form shows.
pub(super) struct Shown<'a> {
    pub(super) gpu: &'a GpuSeen,
    /// The selected matrix, by its key.
    pub(super) selected: Option<(&'a str, &'a Model)>,
    /// The requested matrix, or why there is none.
    pub(super) subject: Result<&'a Subject, &'a str>,
    pub(super) work: Option<&'a Work>,
    pub(super) measured: Option<&'a Measured>,
    /// Whether there is something to compare with, and whether the page can be saved.
    pub(super) offers: [bool; 2],
}

pub(super) fn show(ui: &mut Ui, wanted: &mut Wanted, shown: &Shown<'_>) -> Option<Pressed> {
    let mut pressed = None;
    let height = ui.spacing().interact_size.y.max(26.0);
    ui.spacing_mut().interact_size.y = height;
    ui.spacing_mut().item_spacing.y = 5.0;
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.heading("Run here");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let least = style::least_size(ui.ctx());
            let close = ui.add(Button::new("×").min_size(least));
            let name = "Close the Run here panel";
            close.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
            if close.on_hover_text("Close the panel (R)").clicked() {
                pressed = Some(Pressed::Close);
            }
        });
    });
    ui.separator();
    // Below the rest, always visible.
    egui::Panel::bottom("here start").show_separator_line(true).show(ui, |ui| {
        ui.add_space(6.0);
        pressed = pressed.or(match shown.work {
            Some(work) => progress(ui, work),
            None => start(ui, wanted, shown),
        });
        ui.add_space(6.0);
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        if let Some(work) = shown.work {
            ranking(ui, &work.far().rates);
        }
        if let Some(measured) = shown.measured {
            pressed = pressed.or(results(ui, measured, shown.offers));
        }
        ui.add_enabled_ui(shown.work.is_none(), |ui| {
            device(ui, shown.gpu);
            matrix(ui, wanted, shown);
            samples(ui, wanted);
            operation(ui, wanted);
            kernels(ui, wanted, shown.gpu);
        });
    });
    pressed
}

fn section(ui: &mut Ui, title: &str) {
    ui.add_space(8.0);
    ui.strong(title);
}

fn wrapped(ui: &mut Ui, text: impl Into<RichText>) {
    ui.add(Label::new(text.into()).wrap());
}

/// An error or a note, shown not by colour alone.
fn problem(ui: &mut Ui, sentence: &str) {
    let dark = ui.visuals().dark_mode;
    let color = if dark { Color32::from_rgb(255, 170, 130) } else { Color32::from_rgb(160, 50, 0) };
    wrapped(ui, RichText::new(sentence).color(color));
}

fn device(ui: &mut Ui, gpu: &GpuSeen) {
    section(ui, "This machine's GPU");
    match gpu {
        GpuSeen::Unasked | GpuSeen::Asked => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.weak("waiting for the browser");
            });
        }
        GpuSeen::None(why) => problem(ui, why),
        GpuSeen::There { model, is_software, .. } => {
            wrapped(ui, RichText::new(model));
            if *is_software {
                problem(ui, "This GPU is emulated by the CPU: you are measuring the CPU.");
            }
        }
    }
}

fn matrix(ui: &mut Ui, wanted: &mut Wanted, shown: &Shown<'_>) {
    section(ui, "Matrix");
    let selected = shown.selected.and_then(|(key, model)| {
        let record = model.matrix(key)?;
        Some(format!("selected: {}", sparsescope_figures::model::display_name(record)))
    });
    let text = match (wanted.entry, &selected) {
        (Some(name), _) => name.to_owned(),
        (None, Some(selected)) => selected.clone(),
        (None, None) => "none selected".to_owned(),
    };
    let is_typed = !wanted.typed.trim().is_empty();
    ui.add_enabled_ui(!is_typed, |ui| {
        let width = ui.available_width() - 8.0;
        let combo =
            ComboBox::from_id_salt("here matrix").width(width).selected_text(&text).height(380.0);
        let combo = combo.show_ui(ui, |ui| {
            if let Some(selected) = selected {
                ui.selectable_value(&mut wanted.entry, None, selected);
            }
            for entry in offered() {
                let text = match entry.wanted {
                    Some(of) => format!("{}: {} nonzeros", entry.name, count(of.nnz)),
                    None => format!("{}: {}", entry.name, entry.what),
                };
                ui.selectable_value(&mut wanted.entry, Some(entry.name), text)
                    .on_hover_text(entry.what);
            }
        });
        let name = format!("Matrix to measure: {text}");
        combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name.as_str()));
    });
    ui.horizontal(|ui| {
        ui.label("or generate");
        let field = TextEdit::singleline(&mut wanted.typed).hint_text("gen:stencil27?n=40");
        let field = ui.add(field.desired_width(ui.available_width() - 8.0));
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Generator"));
        field.on_hover_text("A generator recipe, as for `sparsescope generate`");
    });
    match shown.subject {
        Err(why) => problem(ui, why),
        Ok(Subject::Made(..)) if wanted.entry.is_some() && !is_typed => {
            wrapped(
                ui,
                RichText::new("Generated here from the recipe that the other machines used.")
                    .weak(),
            );
        }
        Ok(_) => {}
    }
}

fn kernels(ui: &mut Ui, wanted: &mut Wanted, gpu: &GpuSeen) {
    for (device, title, what) in [
        (DeviceKind::Wgpu, "GPU kernels", "in f32"),
        (DeviceKind::Cpu, "CPU kernels", "WebAssembly, one thread"),
    ] {
        section(ui, title);
        ui.weak(what);
        let here = kernels_here(wanted.operation);
        for kernel in here.filter(|kernel| kernel.device == device) {
            let why = match (gpu, device) {
                (GpuSeen::There { missing, .. }, DeviceKind::Wgpu) => {
                    missing.iter().find(|(id, _)| *id == kernel.id).map(|(_, why)| why.as_str())
                }
                (GpuSeen::None(why), DeviceKind::Wgpu) => Some(why.as_str()),
                _ => None,
            };
            let mut on = wanted.kernels.contains(kernel.id) && why.is_none();
            let tick = ui.add_enabled(why.is_none(), Checkbox::new(&mut on, kernel.id));
            let tick = tick.on_hover_text(kernel.summary);
            if let Some(why) = why {
                tick.on_disabled_hover_text(why);
            } else if tick.changed() {
                match on {
                    true => wanted.kernels.insert(kernel.id),
                    false => wanted.kernels.remove(kernel.id),
                };
            }
        }
    }
}

fn samples(ui: &mut Ui, wanted: &mut Wanted) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label("Samples per run");
        let samples = ui.add(DragValue::new(&mut wanted.samples).range(SAMPLES).speed(0.2));
        samples.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Samples per run"));
    });
}

fn operation(ui: &mut Ui, wanted: &mut Wanted) {
    section(ui, "Operation");
    ui.horizontal(|ui| {
        for operation in OPERATIONS {
            ui.selectable_value(&mut wanted.operation, operation, operation.word())
                .on_hover_text(operation.about());
        }
    });
    if wanted.operation == Operation::Spmm {
        ui.horizontal_wrapped(|ui| {
            ui.label("Columns of X");
            for k in COLUMNS {
                let choice = ui.selectable_value(&mut wanted.columns, k, k.to_string());
                let (chosen, name) = (wanted.columns == k, format!("{k} columns of X"));
                choice.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, &name));
            }
        });
    }
}

/// The start button, and why it is disabled.
fn start(ui: &mut Ui, wanted: &Wanted, shown: &Shown<'_>) -> Option<Pressed> {
    let has_gpu = !matches!(shown.gpu, GpuSeen::None(_));
    let here = kernels_here(wanted.operation);
    let ticked = here.filter(|kernel| wanted.kernels.contains(kernel.id));
    let runs = ticked.filter(|kernel| has_gpu || kernel.device == DeviceKind::Cpu).count();
    let reason = match (shown.gpu, shown.subject) {
        (GpuSeen::Unasked | GpuSeen::Asked, _) => Some("Waiting for the browser to provide a GPU."),
        (_, Err(_)) => Some("No matrix to measure."),
        _ if runs == 0 => Some("No kernel is selected."),
        _ => None,
    };
    if let Some(reason) = reason {
        ui.weak(reason);
    }
    let text = match shown.subject {
        Ok(subject) => format!("Start measuring {}", subject.name()),
        Err(_) => "Start measuring".to_owned(),
    };
    let button = Button::new(RichText::new(text).strong()).truncate().min_size(vec2(0.0, 34.0));
    let button = button.fill(ui.visuals().selection.bg_fill);
    let centered = Layout::top_down_justified(Align::Center);
    let clicked =
        ui.with_layout(centered, |ui| ui.add_enabled(reason.is_none(), button).clicked()).inner;
    clicked.then_some(Pressed::Start)
}

/// The progress, and the stop button.
fn progress(ui: &mut Ui, work: &Work) -> Option<Pressed> {
    let far = work.far();
    let seconds = work.started.elapsed().as_secs();
    ui.horizontal(|ui| {
        ui.label(format!("{}:{:02}", seconds / 60, seconds % 60));
        ui.add(Label::new(far.what.as_str()).truncate());
    });
    let percent = format!("{:.0} %", far.share * 100.0);
    let bar = ui.add(ProgressBar::new(far.share).text(percent));
    bar.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Measuring"));
    ui.weak(if far.is_stopping { "stopping".to_owned() } else { words_of(far.left) });
    let text = if far.is_stopping { "Stopping" } else { "Cancel" };
    let centered = Layout::top_down_justified(Align::Center);
    let button = Button::new(text).min_size(vec2(0.0, 30.0));
    let stops = ui.with_layout(centered, |ui| ui.add_enabled(!far.is_stopping, button)).inner;
    let stops = stops.on_hover_text("Stop and keep what has been measured").clicked();
    stops.then_some(Pressed::Cancel)
}

/// The kernels measured so far, the fastest first.
fn ranking(ui: &mut Ui, rates: &Rates) {
    let ranked = rates.ranked();
    let Some((_, rate)) = ranked.first() else { return };
    section(ui, &format!("Fastest so far, {}", rate.unit));
    for (place, (kernel, rate)) in ranked.iter().take(FASTEST).enumerate() {
        let font = match place {
            0 => style::strong(ui.ctx(), BODY),
            _ => FontId::proportional(BODY),
        };
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.label(RichText::new(significant(rate.value)).font(font.clone()));
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let words = RichText::new(format!("{}. {kernel}", place + 1)).font(font);
                    ui.add(Label::new(words).truncate());
                });
            });
        });
    }
}

/// The latest results, and what can be done with them.
fn results(ui: &mut Ui, measured: &Measured, [compare, html]: [bool; 2]) -> Option<Pressed> {
    let mut pressed = None;
    section(ui, "Measured");
    let [with, without] = measured.runs;
    let mut text = format!("{with} runs on {}", measured.name);
    if without > 0 {
        text.push_str(&format!("; {without} have no time: the Runs view shows why"));
    }
    wrapped(ui, RichText::new(text));
    ui.horizontal_wrapped(|ui| {
        let mut button = |ui: &mut Ui, text: &str, hint: &str, what| {
            if ui.button(text).on_hover_text(hint).clicked() {
                pressed = Some(what);
            }
        };
        if compare {
            let hint = "Open the results from an NVIDIA H100 and show both";
            button(ui, "Compare with the H100", hint, Pressed::Compare);
        }
        button(ui, "Save bundle", "A .zip file, as `sparsescope bench` writes it", Pressed::Save);
        if html {
            let hint = "One file with the viewer and the results, for any browser";
            button(ui, "Save as HTML", hint, Pressed::SaveHtml);
        }
    });
    pressed
}
