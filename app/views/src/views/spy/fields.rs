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
    counted_from(ui, what, none, 1, number, most);
}

/// The same, where 1 is shown as `first`, 2 as the number after that, and so on.
pub(super) fn counted_from(
    ui: &mut Ui,
    what: &str,
    none: &str,
    first: u32,
    number: &mut u32,
    most: u32,
) {
    ui.label(what);
    let shift = f64::from(first) - 1.0;
    let drag = DragValue::new(number)
        .range(0..=most)
        .speed(0.2)
        .custom_formatter(|n, _| match n < 1.0 {
            true => none.to_owned(),
            false => format!("{:.0}", n + shift),
        })
        .custom_parser(|text| match text.trim() {
            text if text == none => Some(0.0),
            text => Some(text.parse::<f64>().ok()? - shift),
        });
    let field = ui.add(drag);
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, what));
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    #[test]
    fn the_word_for_no_number_can_be_typed() {
        let mut harness = Harness::builder()
            .with_max_steps(100)
            .build_ui_state(|ui, rank: &mut u32| counted_from(ui, "Rank", "none", 0, rank, 8), 3);
        for (typed, expected) in [("none", 0), ("5", 6), (" none ", 0), ("0", 1)] {
            harness.get_by_role_and_label(Role::SpinButton, "Rank").focus();
            harness.run();
            harness.get_by_role_and_label(Role::SpinButton, "Rank").type_text(typed);
            harness.run();
            harness.key_press(egui::Key::Enter);
            harness.run();
            assert_eq!(*harness.state(), expected, "after {typed:?}");
        }
    }
}
