//! The settings, and the list or the figure.

use std::sync::Arc;

use egui::{Button, ComboBox, Label, Popup, RichText, Role, Sense, Ui, WidgetInfo};
use sparsescope_figures::figure::text_width;
use sparsescope_figures::model::Model;
use sparsescope_figures::state::{Form, ViewState};
use sparsescope_figures::theme::{SMALL, TITLE};
use sparsescope_figures::views::best::baseline::baselines;
use sparsescope_figures::views::best::board::Board;
use sparsescope_figures::views::best::view::{
    about, automatic, form, has_bundles, has_pairs, may_have_sizes,
};
use sparsescope_figures::views::best::{headline, reasons};

use super::{drawn, list, ranking};
use crate::style;
use crate::views::view::{Screen, kept, no_runs, nothing};

pub(in crate::views) const SCREEN: Screen = Screen { settings, more: Some(more), show };

fn board(ui: &Ui, model: &Model, state: &ViewState) -> Arc<Board> {
    let from = (model.revision(), state.filter.clone(), state.best.clone());
    kept(ui, "best", from, || Board::of(model, state))
}

/// The form that suits what is open: on a phone the list instead of the heat map.
fn suited(ui: &Ui, board: &Board, state: &ViewState) -> Form {
    match automatic(board, state) {
        Form::Heat if style::is_phone(ui.ctx()) => Form::List,
        form => form,
    }
}

/// The form that is shown: the one that was chosen if it can be shown.
fn shown_form(ui: &Ui, board: &Board, state: &ViewState) -> Form {
    match form(board, state) {
        chosen if chosen == state.best.form => chosen,
        _ => suited(ui, board, state),
    }
}

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let board = board(ui, model, state);
    let now = shown_form(ui, &board, state);
    let mut offered = vec![Form::Heat, Form::List];
    if has_bundles(&board) {
        offered.insert(0, Form::Compare);
    }
    if has_pairs(&board) {
        offered.insert(0, Form::Pair);
    }
    if !offered.contains(&now) {
        offered.insert(0, now);
    }
    choose(ui, &offered, &board, state);
    if has_baseline(now) && !style::is_phone(ui.ctx()) {
        choose_baseline(ui, &board, model, state);
    }
}

/// Whether a form compares the winners with a baseline.
fn has_baseline(form: Form) -> bool {
    !matches!(form, Form::Compare | Form::Pair)
}

/// What the winners are compared with.
fn choose_baseline(ui: &mut Ui, board: &Board, model: &Model, state: &mut ViewState) {
    let offered = baselines(model, state);
    let found = offered.iter().find(|(word, _)| *word == board.baseline);
    let shown = found.map_or("", |(_, name)| name.as_str());
    ui.label("Compare with");
    let combo = ComboBox::from_id_salt("over").selected_text(shown).width(170.0);
    let combo = combo.show_ui(ui, |ui| {
        for (word, name) in &offered {
            if ui.selectable_label(*word == board.baseline, name).clicked() {
                state.best.over.clone_from(word);
            }
        }
    });
    let name = format!("Compare with: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

/// The other forms, on a phone what the winners are compared with, and what is folded.
fn more(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let board = board(ui, model, state);
    let now = shown_form(ui, &board, state);
    let mut others = vec![Form::Bars, Form::Rates, Form::Sizes];
    others.retain(|form| *form != now && (*form != Form::Sizes || may_have_sizes(state)));
    choose(ui, &others, &board, state);
    if has_baseline(now) && style::is_phone(ui.ctx()) {
        choose_baseline(ui, &board, model, state);
    }
    ui.checkbox(&mut state.best.unfolded, "Show launch-bound rows")
        .on_hover_text("An empty kernel launch takes at least half of their best median time");
    ranking::choose(ui, model, state);
}

fn choose(ui: &mut Ui, offered: &[Form], board: &Board, state: &mut ViewState) {
    let (now, suited) = (shown_form(ui, board, state), suited(ui, board, state));
    let least = style::least_size(ui.ctx());
    for wanted in offered {
        let button = Button::selectable(now == *wanted, wanted.name()).min_size(least);
        if ui.add(button).clicked() {
            state.best.form = if suited == *wanted { Form::Auto } else { *wanted };
        }
    }
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let board = board(ui, model, state);
    if board.rows.is_empty() {
        return match model.count(&state.filter) {
            0 => no_runs(ui, model, state),
            _ => nothing(ui, &reasons::nothing(model, state)),
        };
    }
    let now = shown_form(ui, &board, state);
    if now == Form::List {
        let title = RichText::new(headline::headline(&board)).font(style::strong(ui.ctx(), TITLE));
        ui.add(Label::new(title).wrap());
        let text = about(now, &board, state.best.unfolded);
        let line = Label::new(RichText::new(&text).size(SMALL).weak()).truncate();
        if text_width(&text, SMALL) <= ui.available_width() {
            ui.add(line);
        } else {
            // What is cut is in its tooltip, and for those who have no pointer behind a click.
            let line = ui.add(line.selectable(false).sense(Sense::click()));
            let popup = Popup::from_toggle_button_response(&line);
            popup.show(|ui| ranking::sentence(ui, &text));
        }
        list::show(ui, &board, model, state);
    } else {
        drawn::show(ui, now, &board, model, state);
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Toggled;
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::shell::App;

    /// The GPU example in a window of this size.
    fn shown(link: &str, size: [f32; 2]) -> Harness<'static, App> {
        let mut app = App::new();
        app.open_bytes("gpu.zip", include_bytes!("../../../../example/gpu.zip"));
        app.follow(link);
        let mut harness = Harness::builder()
            .with_size(size)
            .with_max_steps(200)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        harness.run();
        harness
    }

    #[test]
    fn a_phone_shows_the_list_from_the_largest_on_and_the_control_says_so() {
        let mut harness = shown("v1;view=best;as=auto", [390.0, 844.0]);
        let is_lit = |harness: &Harness<'_, App>, name: &str| {
            harness.get_by_label(name).accesskit_node().toggled() == Some(Toggled::True)
        };
        assert!(is_lit(&harness, "List") && !is_lit(&harness, "Heat map"));
        assert!(harness.get_by_label("List").rect().width() >= 44.0, "wide enough for a finger");
        let middle = |name: &str| harness.get_by_label(name).rect().center().y;
        let apart = (middle("List") - middle("More")).abs();
        assert!(apart < 4.0, "where they fit, all controls are in a line: {apart}");
        let first = harness.get_all_by_label_contains("Best on ").next().unwrap();
        let first = first.accesskit_node().label().unwrap();
        assert!(first.starts_with("Best on Cube_Coup_dt0"), "{first}");
        let baseline = "Compare with: the best vendor kernel";
        assert!(harness.query_by_label(baseline).is_none(), "there is no room for it");
        let about = |harness: &Harness<'_, App>| {
            let all = harness.get_all_by_label_contains("every result checked");
            all.map(|label| label.rect().height()).collect::<Vec<f32>>()
        };
        let lines = about(&harness);
        assert!(lines.len() == 1 && lines[0] < 2.0 * SMALL, "one line: {lines:?}");
        harness.get_by_label("More").click();
        harness.run();
        harness.get_by_label(baseline);
        harness.get_by_label("More").click();
        harness.run();
        harness.get_by_label("Heat map").click();
        harness.run();
        assert!(is_lit(&harness, "Heat map") && !is_lit(&harness, "List"));
        assert_eq!(harness.state().state().best.form, Form::Heat);
    }

    #[test]
    fn a_tap_on_what_the_headline_holds_for_shows_all_of_it_where_there_are_no_controls() {
        for form in ["list", "heat"] {
            let mut harness = shown(&format!("v1;view=best;as={form}"), [390.0, 844.0]);
            harness.state_mut().embed();
            harness.run();
            let words = "every result checked";
            let count =
                |harness: &Harness<'_, App>| harness.query_all_by_label_contains(words).count();
            assert_eq!(count(&harness), 1, "{form}: one line, which is cut");
            harness.get_by_label_contains(words).click();
            harness.run();
            assert!(Popup::is_any_open(&harness.ctx) && count(&harness) == 2, "{form}");
        }
    }

    #[test]
    fn the_tab_key_goes_from_row_to_row_of_the_list() {
        let mut harness = shown("v1;view=best;as=list", [1280.0, 800.0]);
        harness.get_all_by_label_contains("Best on ").next().unwrap().focus();
        harness.run();
        harness.key_press(egui::Key::Tab);
        harness.run();
        let rows = harness.get_all_by_label_contains("Best on ");
        let focused: Vec<bool> = rows.map(|row| row.is_focused()).take(3).collect();
        assert_eq!(focused, [false, true, false]);
    }

    #[test]
    fn the_list_folds_what_is_bound_by_launching_at_its_end() {
        let mut harness = shown("v1;view=best;as=list", [1280.0, 1400.0]);
        let rows =
            |harness: &Harness<'_, App>| harness.get_all_by_label_contains("Best on ").count();
        assert_eq!(rows(&harness), 16);
        let show = "Show 14 launch-bound matrices";
        harness.get_all_by_label_contains(show).next().unwrap().click();
        harness.run();
        assert!(harness.state().state().best.unfolded && rows(&harness) > 16);
        assert!(harness.query_all_by_label_contains("Hide 14 launch-bound matrices").count() > 0);
    }
}
