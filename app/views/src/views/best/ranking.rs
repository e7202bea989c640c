//! The choice of what winners are ranked by, and of the largest error of those that compete.

use egui::{ComboBox, DragValue, Label, RichText, Role, Ui, WidgetInfo};
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{RankBy, Ranking, ViewState};
use sparsescope_figures::views::best::reasons::NO_ENERGY;

/// Width of a sentence in the menu: the menu must not cover the button that closes it on a phone.
const WIDTH: f32 = 220.0;

pub(super) fn choose(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let has_energy = model.has_energy(&state.filter);
    let ranking = &mut state.best.ranking;
    ui.horizontal(|ui| {
        ui.label("Rank by");
        for &by in RankBy::ALL {
            let may = by == RankBy::Rate || has_energy;
            let choice = |ui: &mut Ui| ui.selectable_label(ranking.by == by, by.name());
            if ui.add_enabled_ui(may, choice).inner.clicked() {
                ranking.by = by;
            }
        }
    });
    if !has_energy {
        sentence(ui, NO_ENERGY);
    }
    ui.horizontal(|ui| max_error(ui, ranking));
}

/// A sentence in the menu.
pub(super) fn sentence(ui: &mut Ui, text: &str) {
    ui.scope(|ui| {
        ui.set_max_width(WIDTH);
        ui.add(Label::new(RichText::new(text).weak()).wrap());
    });
}

/// One of the limits that are offered, or one that is typed.
fn max_error(ui: &mut Ui, ranking: &mut Ranking) {
    ui.label("Relative error");
    let name = |most: Option<f64>| match most {
        None => "any, in f64".to_owned(),
        Some(most) => format!("at most {most:e}"),
    };
    let shown = name(ranking.max_error);
    let combo = ComboBox::from_id_salt("max error").selected_text(shown.as_str());
    let combo = combo.show_ui(ui, |ui| {
        for most in std::iter::once(None).chain(Ranking::ERRORS.map(Some)) {
            ui.selectable_value(&mut ranking.max_error, most, name(most));
        }
    });
    let label = format!("Relative error: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &label));
    if let Some(most) = &mut ranking.max_error {
        let drag = DragValue::new(most)
            .range(f64::MIN_POSITIVE..=f64::MAX)
            .speed(0.0)
            .custom_formatter(|error, _| format!("{error:e}"))
            .custom_parser(Ranking::limit);
        let field = ui.add(drag).on_hover_text("Type another limit");
        field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Largest relative error"));
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Toggled;
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::shell::App;

    /// The menu of the settings of Best over a bundle.
    fn menu(link: &str, bytes: &'static [u8]) -> Harness<'static, App> {
        let mut app = App::new();
        app.open_bytes("bundle.zip", bytes);
        app.follow(link);
        let mut harness = Harness::builder()
            .with_size([1280.0, 800.0])
            .with_max_steps(200)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        harness.run();
        harness.get_by_label("More").click();
        harness.run();
        harness
    }

    #[test]
    fn winners_are_ranked_by_energy_where_there_is_one() {
        let bytes = include_bytes!("../../../../../tests/golden/bundle-1.13-energy.zip");
        let mut harness = menu("v1;view=best;as=list", bytes);
        assert!(harness.query_by_label(NO_ENERGY).is_none());
        harness.get_by_label("Energy").click();
        harness.run();
        assert_eq!(harness.state().state().best.ranking.by, RankBy::Energy);
        let words = "By energy on 2 matrices, csr/warp-shuffle ";
        assert!(harness.query_all_by_label_contains(words).count() > 0);
    }

    #[test]
    fn without_energies_the_choice_is_dim_and_a_sentence_says_why() {
        let bytes = include_bytes!("../../../../example/gpu.zip");
        let harness = menu("v1;view=best;as=list;max-error=2.5e-7", bytes);
        harness.get_by_label(NO_ENERGY);
        assert!(harness.get_by_label("Energy").accesskit_node().is_disabled());
        let rate = harness.get_by_label("Rate").accesskit_node().toggled();
        assert_eq!(rate, Some(Toggled::True));
        harness.get_by_label("Relative error: at most 2.5e-7");
        harness.get_by_label("Largest relative error");
    }
}
