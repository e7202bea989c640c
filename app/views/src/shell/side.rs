//! The side panel: bundles, filters, matrices.

use std::collections::BTreeSet;

use egui::{
    Align2, Button, CollapsingHeader, ComboBox, FontId, Frame, Id, Key, Label, Margin, Rect,
    RichText, Role, ScrollArea, Sense, StrokeKind, TextEdit, Ui, WidgetInfo, pos2, vec2,
};
use sparsescope_core::record::{Source, Subject};
use sparsescope_figures::figure::elided;
use sparsescope_figures::model::{
    Model, OpenBundle, STAND_IN, count, origin_name, origin_source, plural, subject_key,
    subject_name,
};
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::theme::{BODY, SMALL, SPACE, blend};
use sparsescope_figures::views::view::subject;

use super::bar::WITH_SIDE;
use crate::{style, thumbs};

/// Height of a line of the list of matrices, and on a phone.
const LINE: f32 = 40.0;
const LINE_OF_PHONE: f32 = 44.0;

/// The filters whose names need a definition.
const VARIATION: &str = "Row variation";
const BANDWIDTH: &str = "Bandwidth";
const VECTORS: &str = "Columns of X";

/// Edge of the picture of a matrix's structure.
const TILE: f32 = 30.0;

pub(super) fn show(ui: &mut Ui, model: &mut Model, state: &mut ViewState, focus_search: &mut bool) {
    style::button_lines(ui);
    ui.add_space(8.0);
    bundles(ui, model);
    ui.add_space(8.0);
    filters(ui, model, state);
    ui.add_space(8.0);
    search(ui, &mut state.filter.search, focus_search);
    matrices(ui, model, state);
}

fn title(ui: &Ui, text: &str) -> RichText {
    RichText::new(text).font(style::strong(ui.ctx(), BODY))
}

fn bundles(ui: &mut Ui, model: &mut Model) {
    ui.label(title(ui, "Bundles"));
    let (mut closed, mut renamed) = (None, None);
    for (index, open) in model.bundles().iter().enumerate() {
        ui.horizontal(|ui| {
            let close = style::quiet_button(ui, "×");
            let name = format!("Close {}", open.label());
            close.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.as_str()));
            if close.on_hover_text(&name).clicked() {
                closed = Some(index);
            }
            renamed = label(ui, open).map(|label| (index, label)).or(renamed.take());
        });
        if !open.bundle.runs.is_empty() && open.machine != open.label() {
            below(ui, &open.machine);
        }
        match (open.is_unfinished(), open.bundle.complete) {
            (true, _) => below(ui, "being measured …"),
            (_, false) => below(ui, "incomplete"),
            (_, true) => {}
        }
    }
    if let Some((index, label)) = renamed {
        model.rename(index, &label);
    }
    if let Some(index) = closed {
        model.close(index);
    }
    ui.weak(match style::is_phone(ui.ctx()) {
        true => "Open more to compare.",
        false => "Drop more here to compare.",
    });
}

/// A line below the name of a bundle.
fn below(ui: &mut Ui, text: &str) {
    let margin = Margin { left: 32, ..Margin::ZERO };
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.add(Label::new(RichText::new(text).size(SMALL).weak()).truncate());
    });
}

/// The name of a bundle, editable after a click; returns the new name once it is typed.
fn label(ui: &mut Ui, open: &OpenBundle) -> Option<String> {
    // Text being typed stays local and is not part of links.
    let id = Id::unique(("label", &open.sha256));
    let Some(mut text) = ui.data(|data| data.get_temp::<String>(id)) else {
        let created = match open.bundle.created.as_str() {
            "" => String::new(),
            created => format!(", created {created}"),
        };
        let runs = plural(open.bundle.runs.len() as u64, "run");
        let hover = format!("{}, {}, {runs}{created}. Click to rename", open.file, open.machine);
        // Clickable, but in the normal text colour.
        let name = RichText::new(open.label()).color(ui.visuals().text_color());
        let name = Label::new(name).truncate().sense(Sense::click());
        let name = ui.add(name).on_hover_text(hover);
        let info = format!("Rename {}", open.label());
        name.widget_info(|| WidgetInfo::labeled(Role::Button, true, info.as_str()));
        if name.clicked() {
            ui.data_mut(|data| data.insert_temp(id, open.label().to_owned()));
        }
        return None;
    };
    let field = ui.add(TextEdit::singleline(&mut text).char_limit(80));
    let info = format!("Name of {}", open.label());
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, info.as_str()));
    if field.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(id));
        let is_given_up = ui.input(|input| input.key_pressed(Key::Escape));
        return (!is_given_up).then_some(text);
    }
    if !field.has_focus() {
        field.request_focus();
    }
    ui.data_mut(|data| data.insert_temp(id, text));
    None
}

/// The choice of an operation if there are several, the filters that are set, and all of them, folded.
fn filters(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let filter = &mut state.filter;
    let operations = model.operations();
    if operations.len() > 1 || operations.first().is_some_and(|only| *only != filter.operation) {
        operation(ui, filter, &operations);
    }
    let values = model.values(&filter.operation);
    if values.vectors.len() > 1 || filter.vectors.is_some() {
        vectors(ui, model, filter, &values.vectors);
    }
    CollapsingHeader::new(title(ui, "Filters")).id_salt("filters").show_unindented(ui, |ui| {
        choice(ui, "Nonzeros", &mut filter.nnz_class, &values.classes);
        choice(ui, VARIATION, &mut filter.variance, &values.variances);
        choice(ui, BANDWIDTH, &mut filter.band, &values.bands);
        choice(ui, "Kernel", &mut filter.kernel, &values.kernels);
        choice(ui, "Backend", &mut filter.backend, &values.backends);
        origin(ui, &mut filter.origin, &values.origins);
    });
    chips(ui, filter);
}

/// A button for each filter that is set, which removes it, and one that removes all.
fn chips(ui: &mut Ui, filter: &mut Filter) {
    let search = filter.search.clone();
    let clear = Filter { search, ..Filter::all_of(&filter.operation) };
    if *filter == clear {
        return;
    }
    let of = [
        ("Nonzeros", &mut filter.nnz_class),
        (VARIATION, &mut filter.variance),
        (BANDWIDTH, &mut filter.band),
        ("Kernel", &mut filter.kernel),
        ("Backend", &mut filter.backend),
        ("Origin", &mut filter.origin),
    ];
    for (name, value) in of.into_iter().filter(|(_, value)| !value.is_empty()) {
        let shown = if name == "Origin" { origin_name(value) } else { value.as_str() }.to_owned();
        let chip = ui.add(Button::new(format!("{shown}  ×")).truncate());
        let hint = format!("Remove the filter {name}: {shown}");
        chip.widget_info(|| WidgetInfo::labeled(Role::Button, true, hint.as_str()));
        if chip.on_hover_text(&hint).clicked() {
            value.clear();
        }
    }
    if style::quiet_button(ui, "Clear").on_hover_text("Remove all filters").clicked() {
        *filter = clear;
    }
}

fn search(ui: &mut Ui, text: &mut String, focus: &mut bool) {
    let hint = match ui.input(|input| input.has_touch_screen()) {
        true => "Search matrices",
        false => "Search matrices  ( / )",
    };
    let search = TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY);
    let search = search.align(Align2::LEFT_CENTER);
    let search = ui.add(search);
    search.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Search matrices"));
    if std::mem::take(focus) {
        search.request_focus();
    }
}

/// The choice of an operation.
fn operation(ui: &mut Ui, filter: &mut Filter, operations: &[&str]) {
    let mut chosen = filter.operation.clone();
    combo(ui, "Operation", &chosen.clone(), |ui| {
        for word in operations {
            ui.selectable_value(&mut chosen, (*word).to_owned(), *word);
        }
    });
    if chosen != filter.operation {
        // The other operation has different kernels and classes.
        let search = std::mem::take(&mut filter.search);
        *filter = Filter { search, ..Filter::all_of(&chosen) };
    }
}

/// The choice of one of the values, or all.
fn choice(ui: &mut Ui, name: &str, chosen: &mut String, values: &BTreeSet<String>) {
    let shown = if chosen.is_empty() { "all" } else { chosen.as_str() }.to_owned();
    combo(ui, name, &shown, |ui| {
        ui.selectable_value(chosen, String::new(), "all");
        for value in values {
            ui.selectable_value(chosen, value.clone(), value);
        }
    });
}

/// The choice of an origin, by its name.
fn origin(ui: &mut Ui, chosen: &mut String, values: &BTreeSet<String>) {
    let shown = if chosen.is_empty() { "all" } else { origin_name(chosen) }.to_owned();
    combo(ui, "Origin", &shown, |ui| {
        ui.selectable_value(chosen, String::new(), "all");
        for word in values {
            let value = ui.selectable_value(chosen, word.clone(), origin_name(word));
            if let Some(source) = origin_source(word) {
                value.on_hover_text(source);
            }
        }
    });
}

/// The choice of a number of columns of X, or all: then it names the one that is compared.
fn vectors(ui: &mut Ui, model: &Model, filter: &mut Filter, values: &BTreeSet<u32>) {
    let shown = match (filter.vectors, model.of_one_product(filter).vectors) {
        (None, None) => "all".to_owned(),
        (None, Some(k)) => format!("all (comparing k = {k})"),
        (Some(k), _) => k.to_string(),
    };
    combo(ui, VECTORS, &shown, |ui| {
        ui.selectable_value(&mut filter.vectors, None, "all");
        for k in values {
            ui.selectable_value(&mut filter.vectors, Some(*k), k.to_string());
        }
    });
}

/// What a filter goes by, where its name does not say it.
fn definition(name: &str) -> &'static str {
    match name {
        VARIATION => "Standard deviation of the row lengths, divided by their mean",
        BANDWIDTH => {
            "Largest distance of a nonzero from the diagonal, in percent of the larger dimension"
        }
        VECTORS => {
            "Columns of X (k). With \"all\", kernels are compared at the k of most bundles, and of those of most runs"
        }
        _ => "",
    }
}

/// A name and a combo box.
fn combo(ui: &mut Ui, name: &str, shown: &str, offer: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        let size = egui::vec2(92.0, ui.spacing().interact_size.y);
        let left = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(size, left, |ui| {
            ui.set_min_width(size.x);
            let label = ui.label(name);
            if !definition(name).is_empty() {
                label.on_hover_text(definition(name));
            }
        });
        let combo = ComboBox::from_id_salt(name)
            .selected_text(shown)
            .width(ui.available_width())
            .truncate()
            .show_ui(ui, offer);
        combo.response.widget_info(|| {
            WidgetInfo::labeled(Role::ComboBox, true, format!("Filter by {name}: {shown}"))
        });
    });
}

fn matrices(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let matrices = model.matrices(&state.filter).into_iter();
    let matrices = matrices.map(|matrix| (matrix.key, Subject::Matrix(matrix.record)));
    let others = model.others(&state.filter);
    let (name, order) = match others.is_empty() {
        true => ("Matrices", "by nonzeros"),
        false => ("Matrices and other inputs", "by size"),
    };
    // Subjects of this operation's runs come first, and the largest of each kind.
    let others = others.into_iter().rev();
    let subjects: Vec<(&str, Subject<'_>)> = others.chain(matrices.rev()).collect();
    ui.horizontal(|ui| {
        ui.label(title(ui, name));
        ui.weak(format!("{} {order}", subjects.len()));
    });
    let is_phone = ui.ctx().content_rect().width() < WITH_SIDE;
    let line = if is_phone { LINE_OF_PHONE } else { LINE };
    ui.spacing_mut().item_spacing.y = 0.0;
    let subject = subject(model, state).map(subject_key).unwrap_or_default();
    let height = ui.available_height();
    let mut scroll = ScrollArea::vertical().auto_shrink(false);
    if let Some(place) = subjects.iter().position(|(key, _)| *key == subject) {
        let seen: Seen = ui.data(|data| data.get_temp(Seen::id())).unwrap_or_default();
        if let Some(offset) = seen.scroll_to(&subject, place as f32 * line, line, height) {
            scroll = scroll.vertical_scroll_offset(offset);
        }
    }
    let drawn = scroll.show_rows(ui, line, subjects.len(), |ui, seen| {
        let layout = egui::Layout::top_down_justified(egui::Align::Min);
        ui.with_layout(layout, |ui| {
            items(ui, model, subjects.get(seen).unwrap_or_default(), line, state);
        });
    });
    let seen = Seen { subject, offset: drawn.state.clamped_offset().y, height };
    ui.data_mut(|data| data.insert_temp(Seen::id(), seen));
}

/// What the last frame showed of the list.
#[derive(Clone, Default)]
struct Seen {
    /// The subject that the views showed.
    subject: String,
    offset: f32,
    height: f32,
}

impl Seen {
    fn id() -> Id {
        Id::unique("what is seen of the list of matrices")
    }

    /// Whether the line from `top` was seen as a whole, in a list of this height.
    fn has(&self, top: f32, line: f32, height: f32) -> bool {
        self.offset <= top && top + line <= self.offset + height
    }

    /// Where to scroll so that the selected line, from `top`, is seen: only if another subject was selected
    /// or the list became lower.
    fn scroll_to(&self, subject: &str, top: f32, line: f32, height: f32) -> Option<f32> {
        let should = subject != self.subject || self.has(top, line, self.height);
        let middle = top + line * 0.5;
        (should && !self.has(top, line, height)).then(|| (middle - height * 0.5).max(0.0))
    }
}

/// The visible ones, each in a line of this height.
fn items(
    ui: &mut Ui,
    model: &Model,
    subjects: &[(&str, Subject<'_>)],
    line: f32,
    state: &mut ViewState,
) {
    let shown = subject(model, state).map(subject_key);
    let mut is_explained = false;
    for &(key, subject) in subjects {
        let chosen = shown.as_deref() == Some(key);
        let name = subject_name(subject);
        let is_matrix = matches!(subject, Subject::Matrix(_));
        let kind = if is_matrix { "Matrix" } else { "Subject" };
        let (rect, item) = ui.allocate_exact_size(vec2(ui.available_width(), line), Sense::click());
        item.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{kind} {name}")));
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let ink = state.theme.ink();
        let fill = match chosen {
            true => Some(ui.visuals().selection.bg_fill),
            false => item.hovered().then(|| blend(ink.paper, ink.grid, 0.5)),
        };
        if let Some(fill) = fill {
            ui.painter().rect_filled(rect, 4.0, fill);
        }
        if item.has_focus() {
            let stroke = ui.visuals().selection.stroke;
            ui.painter().rect_stroke(rect, 4.0, stroke, StrokeKind::Inside);
        }
        let mut words = rect.shrink2(vec2(SPACE, 0.0));
        let middle = pos2(words.left() + TILE * 0.5, rect.center().y);
        let tile = Rect::from_center_size(middle, vec2(TILE, TILE));
        thumbs::show(ui, model, key, tile, state.theme);
        words.min.x = tile.right() + SPACE;
        let is_cut = write(ui, words, &name, subject, chosen, state);
        let item = match subject.source() {
            Source::StandIn => {
                let item = item.on_hover_text(format!("{name}. {STAND_IN}"));
                // A screen reader reads the first of these sentences, not one after each name.
                if std::mem::replace(&mut is_explained, true) {
                    ui.ctx().accesskit_node_builder(item.id, |node| node.clear_description());
                }
                item
            }
            _ if is_cut => item.on_hover_text(&name),
            _ => item,
        };
        if item.clicked() {
            state.matrix = Some(key.to_owned());
            // From the structure view, show the structure of the next matrix.
            if state.view != "spy" || !is_matrix {
                state.view = "matrix".into();
            }
        }
    }
}

/// The name and, below it, the size; returns whether the name is cut.
fn write(
    ui: &Ui,
    rect: Rect,
    name: &str,
    subject: Subject<'_>,
    chosen: bool,
    state: &ViewState,
) -> bool {
    let ink = state.theme.ink();
    // Semibold letters are up to a tenth wider.
    let (font, width) = match chosen {
        true => (style::strong(ui.ctx(), BODY), rect.width() * 0.9),
        false => (FontId::proportional(BODY), rect.width()),
    };
    let shown = elided(name, width, BODY);
    let at = |below: f32| pos2(rect.left(), rect.center().y + below);
    ui.painter().text(at(-1.0), Align2::LEFT_BOTTOM, &shown, font, ink.text);
    let small = FontId::proportional(SMALL);
    ui.painter().text(at(1.0), Align2::LEFT_TOP, size_of(subject), small, ink.weak);
    shown != name
}

/// Its size in words: the nonzeros of a matrix, the largest size of other subjects.
fn size_of(subject: Subject<'_>) -> String {
    match subject {
        Subject::Matrix(record) => format!("{} nonzeros", count(record.statistics.nnz)),
        Subject::Other(record) => {
            let largest = record.sizes.iter().max_by_key(|(_, size)| **size);
            largest.map(|(name, size)| format!("{} {name}", count(*size))).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_scrolls_to_a_new_subject_and_to_one_that_a_lower_list_would_cut() {
        let seen = Seen { subject: "a".into(), offset: 0.0, height: 400.0 };
        assert_eq!(seen.scroll_to("a", 360.0, 40.0, 400.0), None, "seen");
        assert_eq!(seen.scroll_to("b", 380.0, 40.0, 400.0), Some(200.0), "half below");
        assert_eq!(seen.scroll_to("a", 360.0, 40.0, 390.0), Some(185.0), "the list became lower");
        assert_eq!(seen.scroll_to("a", 800.0, 40.0, 400.0), None, "scrolled away by the user");
    }

    #[test]
    fn the_size_of_a_matrix_is_its_nonzeros_and_others_name_theirs() {
        let mut model = Model::default();
        model.open("b.zip", include_bytes!("../../../../tests/golden/bundle-1.3.zip")).unwrap();
        let filter = Filter::everything();
        let matrices = model.matrices(&filter);
        let grid = matrices.iter().find(|matrix| matrix.record.name == "poisson2d?n=6").unwrap();
        assert_eq!(size_of(Subject::Matrix(grid.record)), "156 nonzeros");
        let others = model.others(&filter);
        let vector = others.iter().find(|(_, of)| of.name() == "vector?n=1000").unwrap();
        assert_eq!(size_of(vector.1), "1 k elements");
    }
}
