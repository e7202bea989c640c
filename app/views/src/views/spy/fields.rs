//! Fields of the settings.

use egui::{ComboBox, DragValue, Role, Ui, WidgetInfo};

/// A choice of one of `all`.
pub(in crate::views) fn choose<T: Copy + PartialEq>(
    ui: &mut Ui,
    what: &str,
    chosen: &mut T,
    all: &[T],
    name: fn(T) -> &'static str,
) {
    ui.label(what);
    let shown = name(*chosen);
    let combo = ComboBox::from_id_salt(what).selected_text(shown).show_ui(ui, |ui| {
        for choice in all {
            ui.selectable_value(chosen, *choice, name(*choice));
        }
    });
    let label = format!("{what}: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
}

/// The same for pairs of a word and a name.
pub(super) fn choose_of(ui: &mut Ui, what: &str, chosen: &mut String, all: &[(String, String)]) {
    let mut index = all.iter().position(|(id, _)| id == chosen).unwrap_or(0);
    let name = |index: usize| all.get(index).map_or("", |(_, name)| name);
    ui.label(what);
    let combo = ComboBox::from_id_salt(what).show_index(ui, &mut index, all.len(), name);
    let label = format!("{what}: {}", name(index));
    combo.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
    *chosen = all.get(index).map_or_else(String::new, |(id, _)| id.clone());
}

/// A number field where 0 means none.
pub(in crate::views) fn number(ui: &mut Ui, what: &str, none: &str, number: &mut u32, most: u32) {
    ui.label(what);
    let none = none.to_owned();
    let drag = DragValue::new(number)
        .range(0..=most)
        .speed(0.2)
        .custom_formatter(move |n, _| if n < 1.0 { none.clone() } else { format!("{n:.0}") });
    let field = ui.add(drag);
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, what));
}
