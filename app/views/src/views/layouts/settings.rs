//! The settings of the view: the matrix, the formats, the kernels that are followed.

use std::sync::Arc;

use egui::{ComboBox, DragValue, Role, Ui, WidgetInfo};
use sparsescope_core::kernel::KernelName;
use sparsescope_core::matrix::HACK_SIZES;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::layouts::{MOST, MOST_THREADS};
use sparsescope_figures::state::{Example, LayoutsState, Pattern, Small, ViewState};
use sparsescope_figures::views::layouts::subject::{Subject, title};
use sparsescope_figures::views::layouts::walk::{self, most, walks};
use sparsescope_figures::views::layouts::{arrays, is_framed};

use super::kept::kept;
use super::panel;
use super::stepper::stepper;

pub(super) fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let framed = is_framed(state);
    if state.layouts.lesson.is_none() && !framed {
        panel::menu(ui, model, state);
    }
    // What a step needs comes first: the line may not fit.
    let subject = Subject::of(model, state).ok();
    let layouts = &mut state.layouts;
    follow(ui, subject, layouts, framed);
    ui.label("Matrix");
    let shown = match &layouts.small {
        Small::Example(example) => title(*example),
        Small::Selected => "Selected matrix",
        Small::Drawn(_) => "Drawn by hand",
    };
    let combo = ComboBox::from_id_salt("small").selected_text(shown);
    let combo = combo.show_ui(ui, |ui| {
        for example in [Example::Eight, Example::Five, Example::Four] {
            ui.selectable_value(&mut layouts.small, Small::Example(example), title(example));
        }
        ui.selectable_value(&mut layouts.small, Small::Selected, "Selected matrix");
    });
    let name = format!("Matrix: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

pub(super) fn more(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let part = Subject::of(model, state).ok();
    let layouts = &mut state.layouts;
    ui.horizontal(|ui| hacks(ui, layouts));
    ui.horizontal(|ui| window(ui, layouts));
    if let Some(subject) = &part {
        if let Some(whole) = subject.part_of {
            ui.horizontal(|ui| first(ui, subject.from, whole, layouts));
        }
        ui.horizontal(|ui| sides(ui, subject, layouts));
    }
    if layouts.walk.is_empty() {
        formats_menu(ui, layouts);
    } else {
        ui.horizontal_wrapped(|ui| beside(ui, layouts));
    }
}

/// Rows per hack.
fn hacks(ui: &mut Ui, layouts: &mut LayoutsState) {
    ui.label("Hack size");
    let mut place = HACK_SIZES.iter().position(|hack| *hack as u32 == layouts.hack).unwrap_or(0);
    let drag = DragValue::new(&mut place).range(0..=HACK_SIZES.len() - 1).speed(0.05);
    let drag = drag.custom_formatter(|place, _| {
        HACK_SIZES.get(place as usize).copied().unwrap_or(4).to_string()
    });
    let field = ui.add(drag).on_hover_text("Rows per hack of HLL");
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Hack size"));
    layouts.hack = HACK_SIZES.get(place).map_or(layouts.hack, |hack| *hack as u32);
}

/// Rows per window of sorted rows.
fn window(ui: &mut Ui, layouts: &mut LayoutsState) {
    ui.label("Sorting window σ");
    let drag = DragValue::new(&mut layouts.sigma).range(1..=64).speed(0.1);
    let drag = drag.custom_formatter(|rows, _| match rows as u32 {
        1 => "none".into(),
        rows => format!("{rows} rows"),
    });
    let field =
        ui.add(drag).on_hover_text("σ: HLL sorts rows by length within windows of this many rows");
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Sorting window"));
}

/// First row and column of a part of a larger matrix.
fn first(
    ui: &mut Ui,
    from: (usize, usize),
    (rows, cols): (usize, usize),
    layouts: &mut LayoutsState,
) {
    ui.label("From row");
    let mut from = (from.0 as u32, from.1 as u32);
    let last = |n: usize| n.saturating_sub(MOST) as u32;
    let row = ui.add(DragValue::new(&mut from.0).range(0..=last(rows)));
    row.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "First row"));
    ui.label("column");
    let col = ui.add(DragValue::new(&mut from.1).range(0..=last(cols)));
    col.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "First column"));
    layouts.from = from;
}

/// Which formats are shown.
fn formats_menu(ui: &mut Ui, layouts: &mut LayoutsState) {
    ui.menu_button("Formats", |ui| {
        let specs = arrays::specs(layouts);
        let words = specs.iter().map(|spec| spec.name().trim_end_matches("-sigma"));
        let shown = |word: &str, formats: &str| formats.split(',').any(|part| part == word);
        let all = layouts.formats.is_empty();
        let mut left = Vec::new();
        for (word, spec) in words.clone().zip(&specs) {
            let mut on = all || shown(word, &layouts.formats);
            ui.checkbox(&mut on, arrays::name(spec));
            left.extend(on.then_some(word));
        }
        let every = left.len() == specs.len() || left.is_empty();
        layouts.formats = if every { String::new() } else { left.join(",") };
    });
}

/// The choice of a kernel.
fn choose(ui: &mut Ui, what: &str, none: &str, id: &mut String) {
    ui.label(what);
    let shown = if id.is_empty() { none.to_owned() } else { walk::title(id) };
    let combo = ComboBox::from_id_salt(what).selected_text(&shown).width(170.0);
    let combo = combo.show_ui(ui, |ui| {
        ui.selectable_value(id, String::new(), none);
        for (offered, does) in walk::offered() {
            let title = walk::title(&offered);
            ui.selectable_value(id, offered, title).on_hover_text(does);
        }
    });
    let name = format!("{what}: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

/// The choice of the kernel to follow, and the step.
fn follow(ui: &mut Ui, subject: Option<Subject>, layouts: &mut LayoutsState, framed: bool) {
    let before = layouts.walk.clone();
    choose(ui, "Follow", "no kernel", &mut layouts.walk);
    if layouts.walk.is_empty() {
        layouts.beside.clear();
        return;
    }
    if before != layouts.walk {
        layouts.step = 0;
    }
    if layouts.lesson.is_none() && !framed {
        let a = subject.map(|subject| Arc::new(subject.a));
        let walks = a
            .map(|a| walks(&a, layouts, |a, layouts, id| kept(ui.ctx(), a, layouts, id)))
            .unwrap_or_default();
        stepper(ui, layouts, most(&walks));
    }
}

/// The second kernel, and the thread count of CPU kernels.
fn beside(ui: &mut Ui, layouts: &mut LayoutsState) {
    choose(ui, "Compare with", "none", &mut layouts.beside);
    if [&layouts.walk, &layouts.beside].into_iter().any(|id| KernelName::of(id).is_on_cpu()) {
        ui.label("Threads");
        let field = ui.add(DragValue::new(&mut layouts.threads).range(1..=MOST_THREADS).speed(0.1));
        field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Threads"));
    }
}

/// Drawing by hand, starting with the current matrix: rows and columns.
fn sides(ui: &mut Ui, subject: &Subject, layouts: &mut LayoutsState) {
    let mut drawing = matches!(layouts.small, Small::Drawn(_));
    let hover = "Click cells to add and remove nonzeros, and set the number of rows and columns";
    if ui.checkbox(&mut drawing, "Draw").on_hover_text(hover).changed() {
        layouts.pick = None;
        layouts.small = match drawing {
            true => Small::Drawn(subject.pattern()),
            false => Small::Example(Example::Eight),
        };
    }
    if let Small::Drawn(pattern) = &mut layouts.small {
        let (mut rows, mut cols) = (pattern.rows(), pattern.cols());
        let side = |ui: &mut Ui, name: &str, n: &mut usize| {
            let field = ui.add(DragValue::new(n).range(1..=MOST).speed(0.1).suffix(name));
            field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, name.trim()));
        };
        side(ui, " rows", &mut rows);
        side(ui, " columns", &mut cols);
        if (rows, cols) != (pattern.rows(), pattern.cols()) {
            *pattern = pattern.resized(rows, cols);
        }
        if ui.button("Clear").clicked() {
            *pattern = Pattern::empty(rows, cols);
        }
    }
}
