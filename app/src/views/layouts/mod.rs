//! Memory layouts: where each format keeps every entry of a small matrix, slot by slot, and what a
//! kernel reads of it in each step.

mod arrays;
mod board;
mod numbers;
mod panel;
mod subject;
mod threads;
mod walk;

#[cfg(test)]
mod tests;

use std::slice::from_ref;
use std::sync::Arc;

use egui::{
    ComboBox, DragValue, Key, Modifiers, Pos2, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};
use sparsescope_core::matrix::{Csr, HACK_SIZES};

use self::arrays::Panel;
use self::board::{Board, NAMES, Owner, Pen, Spot, TYPE};
pub(crate) use self::numbers::check;
use self::subject::{Subject, title};
use self::walk::{Kept, Machine, Walk, plural};
use super::{View, nothing};
use crate::figure::{Figure, Provenance};
use crate::model::{Model, slots};
use crate::state::layouts::{MOST, MOST_THREADS};
use crate::state::{Example, LayoutsState, Small, ViewState};
use crate::theme::format_color;

pub(super) const VIEW: View = View {
    id: "layouts",
    name: "Layouts",
    sentence: "Where each format keeps every entry of a small matrix. Click an entry to find it everywhere.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// Between the picture of the matrix and the arrays.
const MARGIN: f32 = 28.0;
/// Least width of the arrays beside the picture; narrower, they go below it.
const BESIDE: f32 = 460.0;
/// The same for a kernel in a lesson.
const BESIDE_IN_LESSON: f32 = 330.0;
/// Least width of a kernel that is followed beside another.
const COLUMN: f32 = 400.0;
/// The same in a lesson, where the picture of the matrix makes way for the second of two.
const COLUMN_IN_LESSON: f32 = 290.0;
/// Less room for requests in words, and they are left out.
const WORDS: f32 = 320.0;
/// Width of a cell in a lesson, where arrays are short and their numbers small.
const CELL_IN_LESSON: f32 = 23.0;

/// Width of a lesson's text beside the board, as a share of all.
const TEXT: f32 = 0.36;
/// Scales at which a lesson's board is drawn, until all of it can be seen.
const SCALES: [f32; 9] = [1.4, 1.2, 1.1, 1.0, 0.9, 0.8, 0.7, 0.62, 0.56];

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    if state.layouts.lesson.is_none() {
        panel::menu(ui, model, state);
    }
    let layouts = &mut state.layouts;
    ui.label("Matrix");
    let shown = match &layouts.small {
        Small::Example(example) => title(*example),
        Small::Selected => "Selected matrix",
        Small::Drawn(_) => "Drawn by hand",
    };
    let combo = ComboBox::from_id_salt("small").selected_text(shown).width(210.0);
    let combo = combo.show_ui(ui, |ui| {
        for example in [Example::Five, Example::Four] {
            ui.selectable_value(&mut layouts.small, Small::Example(example), title(example));
        }
        ui.selectable_value(&mut layouts.small, Small::Selected, "Selected matrix");
    });
    let name = format!("Matrix: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));

    ui.label("Hack size");
    let mut place = HACK_SIZES.iter().position(|hack| *hack as u32 == layouts.hack).unwrap_or(0);
    let drag = DragValue::new(&mut place).range(0..=HACK_SIZES.len() - 1).speed(0.05);
    let drag = drag.custom_formatter(|place, _| {
        HACK_SIZES.get(place as usize).copied().unwrap_or(4).to_string()
    });
    let field = ui.add(drag).on_hover_text("Rows of a hack of HLL");
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Hack size"));
    layouts.hack = HACK_SIZES.get(place).map_or(layouts.hack, |hack| *hack as u32);

    ui.label("Sort by length in");
    let mut sigma = layouts.sigma;
    let drag = DragValue::new(&mut sigma).range(1..=64).speed(0.1);
    let drag = drag.custom_formatter(|rows, _| match rows as u32 {
        1 => "no rows".into(),
        rows => format!("{rows} rows"),
    });
    let field = ui.add(drag).on_hover_text("σ: HLL sorts rows by length inside windows of so many");
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Sorting window"));
    layouts.sigma = sigma;

    let part = Subject::of(model, state).ok();
    let layouts = &mut state.layouts;
    if let Some(subject) = &part
        && let Some((rows, cols)) = subject.part_of
    {
        ui.label("From row");
        let mut from = (subject.from.0 as u32, subject.from.1 as u32);
        let last = |n: usize| n.saturating_sub(MOST) as u32;
        let row = ui.add(DragValue::new(&mut from.0).range(0..=last(rows)));
        row.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "First row"));
        ui.label("column");
        let col = ui.add(DragValue::new(&mut from.1).range(0..=last(cols)));
        col.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "First column"));
        layouts.from = from;
    }
    if let Some(subject) = &part {
        sides(ui, subject, layouts);
    }
    if layouts.walk.is_empty() {
        formats_menu(ui, layouts);
    }
    ui.end_row();
    follow(ui, part, layouts);
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

/// Which kernels are followed, and the step.
fn follow(ui: &mut Ui, subject: Option<Subject>, layouts: &mut LayoutsState) {
    let choose = |ui: &mut Ui, what: &str, none: &str, id: &mut String| {
        ui.label(what);
        let shown = if id.is_empty() { none } else { id.as_str() }.to_owned();
        let combo = ComboBox::from_id_salt(what).selected_text(&shown).width(170.0);
        let combo = combo.show_ui(ui, |ui| {
            ui.selectable_value(id, String::new(), none);
            for kernel in walk::kernels() {
                ui.selectable_value(id, kernel.id.into(), kernel.id).on_hover_text(kernel.summary);
            }
        });
        let name = format!("{what}: {shown}");
        combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    };
    let before = layouts.walk.clone();
    choose(ui, "Follow", "no kernel", &mut layouts.walk);
    if layouts.walk.is_empty() {
        layouts.beside.clear();
        return;
    }
    if before != layouts.walk {
        layouts.step = 0;
    }
    choose(ui, "beside", "none", &mut layouts.beside);
    if layouts.walk.starts_with("cpu/") || layouts.beside.starts_with("cpu/") {
        ui.label("Threads");
        let field = ui.add(DragValue::new(&mut layouts.threads).range(1..=MOST_THREADS).speed(0.1));
        field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Threads"));
    }
    if layouts.lesson.is_none() {
        let a = subject.map(|subject| Arc::new(subject.a));
        let walks = a.map(|a| walks(Some(ui.ctx()), &a, layouts)).unwrap_or_default();
        steps(ui, layouts, most(&walks));
    }
}

/// The kernels that are followed.
fn walks(context: Option<&egui::Context>, a: &Arc<Csr<f64>>, layouts: &LayoutsState) -> Vec<Kept> {
    let ids = [&layouts.walk, &layouts.beside].into_iter().filter(|id| !id.is_empty());
    ids.map(|id| match context {
        Some(context) => Walk::kept(context, a, layouts, id),
        None => Walk::of(a, layouts, id).map(Arc::new),
    })
    .collect()
}

/// Steps of the longest.
fn most(walks: &[Kept]) -> u32 {
    walks.iter().flatten().map(|walk| walk.len()).max().unwrap_or(1).max(1) as u32
}

/// The step of the kernels that are followed.
fn steps(ui: &mut Ui, layouts: &mut LayoutsState, most: u32) {
    let typing = ui.ctx().memory(|memory| memory.focused().is_some());
    let pressed =
        |ui: &mut Ui, key| !typing && ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let lesson = layouts.lesson.is_some();
    if lesson {
        ui.weak(format!("Kernel step {} of {most}", layouts.step + 1));
    }
    let button = |ui: &mut Ui, name: &'static str, sign: &str, may: bool| {
        let button = egui::Button::new(if lesson { sign } else { name });
        let button = ui.add_enabled(may, button).on_hover_text("Arrow keys step");
        button.widget_info(|| WidgetInfo::labeled(Role::Button, may, name));
        button
    };
    let back = button(ui, "Back a step", "‹", layouts.step > 0);
    let on = button(ui, "Next step", "›", layouts.step + 1 < most);
    if (back.clicked() || pressed(ui, Key::ArrowLeft)) && layouts.step > 0 {
        layouts.step -= 1;
    }
    if (on.clicked() || pressed(ui, Key::ArrowRight)) && layouts.step + 1 < most {
        layouts.step += 1;
    }
    layouts.step = layouts.step.min(most - 1);
    if !lesson {
        ui.weak(format!("{} of {most}; arrow keys step", layouts.step + 1));
    }
}

/// Drawing by hand: begins with what is shown; rows and columns.
fn sides(ui: &mut Ui, subject: &Subject, layouts: &mut LayoutsState) {
    let mut drawing = matches!(layouts.small, Small::Drawn(_));
    let hover = "Click cells to add and remove entries; rows and columns as you like";
    if ui.checkbox(&mut drawing, "Draw").on_hover_text(hover).changed() {
        layouts.pick = None;
        layouts.small = match drawing {
            true => Small::Drawn(subject.pattern()),
            false => Small::Example(Example::Five),
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
            *pattern = crate::state::Pattern::empty(rows, cols);
        }
    }
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let subject = Subject::of(model, state);
    let a = subject.as_ref().ok().map(|subject| Arc::new(subject.a.clone()));
    let walks = a.map(|a| walks(Some(ui.ctx()), &a, &state.layouts)).unwrap_or_default();
    let id = state.layouts.lesson.as_ref().map(|(id, _)| id.clone());
    let lesson = id.as_ref().and_then(|id| model.lessons.get(id)).cloned();
    if let Some(lesson) = lesson {
        let selected = subject.as_ref().ok().filter(|_| state.layouts.small == Small::Selected);
        let steps = (!walks.is_empty()).then(|| most(&walks));
        let full = ui.available_rect_before_wrap();
        let (text, rest) = full.split_left_right_at_fraction(TEXT);
        let beside = |rect| egui::UiBuilder::new().max_rect(rect);
        ui.scope_builder(beside(text.with_max_x(text.right() - 12.0)), |ui| {
            panel::show(ui, &lesson, selected.map(|subject| &subject.a), state, steps);
        });
        ui.scope_builder(beside(rest), |ui| drawn(ui, subject, state, &walks, &SCALES));
        return;
    }
    if let Some(id) = id {
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("The lesson `{id}` is not open: drop its file here."));
            if ui.button("Leave").clicked() {
                state.layouts.lesson = None;
            }
        });
    }
    drawn(ui, subject, state, &walks, &[1.0]);
}

/// The board, at the largest of these scales at which all of it can be seen.
fn drawn(
    ui: &mut Ui,
    subject: Result<Subject, String>,
    state: &mut ViewState,
    walks: &[Kept],
    scales: &[f32],
) {
    let subject = match subject {
        Ok(subject) => subject,
        Err(why) => return nothing(ui, &why),
    };
    let space = ui.available_size() - vec2(14.0, 0.0);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let mut boards = scales.iter().map(|&scale| {
            let width = if scales.len() > 1 { space.x / scale } else { space.x.max(380.0) };
            board(&subject, state, walks, width, scale)
        });
        let fits = |(figure, _): &(Figure, _)| figure.size.x <= space.x && figure.size.y <= space.y;
        let found = boards.by_ref().find(fits);
        let smallest = scales.last().copied().unwrap_or(1.0);
        let width = (space.x / smallest).max(380.0);
        let (figure, spots) =
            found.unwrap_or_else(|| board(&subject, state, walks, width, smallest));
        let corner = ui.cursor().min;
        figure.show(ui, &format!("Memory layouts of {}", subject.title));
        for (index, spot) in spots.iter().enumerate() {
            let id = ui.scope_id().with(("spot", index));
            let place = ui.interact(spot.rect.translate(corner.to_vec2()), id, Sense::click());
            place.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spot.name));
            if place.has_focus() {
                let stroke = egui::Stroke::new(2.0, ui.visuals().hyperlink_color);
                ui.painter().rect_stroke(place.rect, 0.0, stroke, egui::StrokeKind::Outside);
            }
            if place.on_hover_text(&spot.name).clicked() {
                click(spot, &mut state.layouts);
            }
        }
    });
}

/// Points at an entry, or changes what is drawn by hand.
fn click(spot: &Spot, layouts: &mut LayoutsState) {
    let in_picture = spot.name.starts_with("Entry ") || matches!(spot.owner, Owner::Nothing(..));
    let at = match spot.owner {
        Owner::Entry(i, j) | Owner::Nothing(i, j) => Some((i, j)),
        _ => None,
    };
    if let (Small::Drawn(pattern), Some((i, j)), true) = (&mut layouts.small, at, in_picture) {
        pattern.toggle(i, j);
        layouts.pick = pattern.has(i, j).then_some((i as u32, j as u32));
        return;
    }
    if let Some((i, j)) = spot.owner.entry() {
        let pick = Some((i as u32, j as u32));
        layouts.pick = if layouts.pick == pick { None } else { pick };
    }
}

/// The matrix, and beside or below it each format's arrays or the kernels that are followed.
fn board(
    subject: &Subject,
    state: &ViewState,
    walks: &[Kept],
    width: f32,
    scale: f32,
) -> (Figure, Vec<Spot>) {
    let (a, ink) = (&Arc::new(subject.a.clone()), state.theme.ink());
    let pick = state.layouts.pick.map(|(i, j)| (i as usize, j as usize));
    let walk = walks.first().and_then(|walk| walk.as_ref().ok()).cloned();
    let mut board = Board::new(Pen { ink, pick, walk }, ink.paper);
    let value = |i: usize, j: usize| {
        let (col, val) = a.row(i);
        Some(val.get(col.binary_search(&(j as u32)).ok()?)?.to_string())
    };
    let mut y = 4.0;
    let lesson = state.layouts.lesson.is_some();
    let panels = if walks.is_empty() { arrays::panels(a, &state.layouts) } else { Vec::new() };
    if lesson {
        board.cell.x = CELL_IN_LESSON;
    }
    if let (true, [one, other]) = (lesson, &panels[..]) {
        let (half, nnz) = (width * 0.5, a.nnz());
        let left = formats(&mut board, nnz, from_ref(one), pos2(0.0, y), half - MARGIN * 0.5);
        let right = formats(&mut board, nnz, from_ref(other), pos2(half, y), width);
        return board.finish(vec2(width, left.max(right)), scale);
    }
    if lesson && walks.len() > 1 {
        let bottom = kernels(&mut board, &state.layouts, walks, pos2(0.0, y), width);
        return board.finish(vec2(width, bottom), scale);
    }
    if !lesson {
        y += board.line(pos2(0.0, y), TYPE + 2.0, false, &subject.title);
    }
    let entries = format!("{} × {}, {} entries", a.rows(), a.cols(), a.nnz());
    y += board.line(pos2(0.0, y), TYPE, true, &entries);
    let dense = board.dense((a.rows(), a.cols()), subject.from, pos2(0.0, y), value);
    let least = if lesson && !walks.is_empty() { BESIDE_IN_LESSON } else { BESIDE };
    let beside = width - dense.x - MARGIN > least;
    let (left, top) =
        if beside { (dense.x + MARGIN, 4.0) } else { (0.0, y + dense.y + MARGIN * 0.5) };
    let origin = pos2(left, top);
    let bottom = if walks.is_empty() {
        formats(&mut board, a.nnz(), &panels, origin, width)
    } else {
        kernels(&mut board, &state.layouts, walks, origin, width)
    };
    let least = left + NAMES + 200.0;
    board.finish(vec2(width.max(least), bottom.max(y + dense.y) + 8.0), scale)
}

/// Each format's arrays below one another; where they end.
fn formats(board: &mut Board, nnz: usize, panels: &[Panel], at: Pos2, width: f32) -> f32 {
    let mut top = at.y;
    for panel in panels {
        board.swatch(pos2(at.x, top + 2.0), format_color(&panel.id));
        let words = match &panel.arrays {
            Ok((_, size)) => format!(
                "{}: {} B, {} for {} entries ({} an entry)",
                panel.name,
                size.bytes,
                plural(size.slots, "slot"),
                nnz,
                slots(size.padding)
            ),
            Err(why) => format!("{}: {why}", panel.name),
        };
        let within = width - at.x - 18.0;
        top += board.line_within(pos2(at.x + 18.0, top), false, &words, within) + 4.0;
        for strip in panel.arrays.iter().flat_map(|(strips, _)| strips) {
            let corner = pos2(at.x + 18.0, top);
            top += board.strip(strip, &panel.name, corner, width - corner.x);
        }
        top += 10.0;
    }
    top
}

/// The kernels that are followed, one or two, side by side where there is room; where they end.
fn kernels(board: &mut Board, layouts: &LayoutsState, walks: &[Kept], at: Pos2, width: f32) -> f32 {
    let ids = [&layouts.walk, &layouts.beside].into_iter().filter(|id| !id.is_empty());
    let half = (width - at.x) * 0.5;
    let least = if layouts.lesson.is_some() { COLUMN_IN_LESSON } else { COLUMN };
    let apart = walks.len() > 1 && half >= least;
    let mut bottom = at.y;
    for (number, (id, walk)) in ids.zip(walks).enumerate() {
        let (corner, room) = match apart {
            true => (pos2(at.x + half * number as f32, at.y), half - MARGIN * 0.5),
            false => (pos2(at.x, bottom), width - at.x),
        };
        let end = match walk {
            Ok(walk) => followed(board, walk, id, layouts.step, corner, room),
            Err(why) => corner.y + board.line(corner, TYPE, false, &format!("{id}: {why}")),
        };
        bottom = bottom.max(end);
    }
    bottom
}

/// One kernel that is followed; where it ends.
fn followed(board: &mut Board, walk: &Arc<Walk>, id: &str, step: u32, at: Pos2, width: f32) -> f32 {
    let (left, mut top) = (at.x + 18.0, at.y);
    board.pen.walk = Some(walk.clone());
    board.swatch(pos2(at.x, top + 2.0), format_color(walk.spec.name()));
    let reads = format!("{id}, reads {}", arrays::name(&walk.spec));
    top += board.line_within(pos2(left, top), false, &reads, width - 18.0);
    let moment = walk.moment(step);
    let lines = if width < WORDS { 1 } else { moment.words.len() };
    for (number, line) in moment.words.iter().take(lines).enumerate() {
        top += board.line_within(pos2(left, top), number > 0, line, width - 18.0);
    }
    top += 8.0;
    let mut cells = Vec::new();
    for strip in &walk.strips {
        let first = board.spots.len();
        top += board.strip(strip, id, pos2(left, top), width - 18.0);
        let drawn = board.spots.iter().skip(first).enumerate();
        cells.extend(drawn.map(|(index, spot)| (strip.array, index as u64, spot.rect)));
    }
    let who = if matches!(walk.machine, Machine::Threads(_)) { "T" } else { "" };
    board.step(&moment, who, &cells);
    top + 4.0 + totals(board, walk, step, pos2(left, top), width - 18.0) + 14.0
}

/// What it adds up to; the height taken.
fn totals(board: &mut Board, walk: &Walk, step: u32, at: Pos2, width: f32) -> f32 {
    let (title, lines) = walk.totals(step);
    let mut top = board.line_within(at, false, &title, width);
    for (number, line) in lines.iter().enumerate() {
        let mut height = 0.0;
        for (column, text) in line.iter().enumerate() {
            let x = at.x + column as f32 * (width / line.len() as f32).min(84.0);
            let within = width / line.len() as f32 - 4.0;
            height = board.line_within(pos2(x, at.y + top), number == 0, text, within);
        }
        top += height;
    }
    top
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    let header = ["format", "array", "index", "value", "belongs to"];
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    let Ok(subject) = Subject::of(model, state) else { return lines };
    for panel in arrays::panels(&Arc::new(subject.a.clone()), &state.layouts) {
        for strip in panel.arrays.iter().flat_map(|(strips, _)| strips) {
            for (index, cell) in strip.cells.iter().enumerate() {
                let (index, owner) = (index.to_string(), cell.owner.words());
                let line = [&panel.id, &strip.name, &index, &cell.text, &owner];
                lines.push(line.map(String::clone).to_vec());
            }
        }
    }
    lines
}

fn svg(model: &Model, state: &ViewState) -> String {
    let Ok(subject) = Subject::of(model, state) else {
        return Figure::new(vec2(1.0, 1.0), state.theme.ink().paper)
            .to_svg(VIEW.sentence, &Provenance::default());
    };
    let walks = walks(None, &Arc::new(subject.a.clone()), &state.layouts);
    let (figure, _) = board(&subject, state, &walks, 1000.0, 1.0);
    figure.to_svg(&format!("Memory layouts of {}", subject.title), &Provenance::default())
}
