//! The kernels on one subject, the fastest first.

use egui::{Align, Grid, Label, Layout, Response, RichText, Ui, vec2};
use sparsescope_figures::model::{Model, RunOf, metric_title, seconds, significant};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::theme::SPACE;

use super::details::swatch;
use crate::style;

/// Lines shown until the user asks for all.
const FEW: usize = 6;

/// Areas narrower than this show only the kernel and its rate.
const NARROW: f32 = 480.0;

/// The kernels in a table; a click on one selects its run.
pub(super) fn show(ui: &mut Ui, model: &Model, state: &mut ViewState, key: &str) {
    let Some(standing) = model.standing_of(&state.filter, key) else {
        if let Some(k) = model.of_one_product(&state.filter).vectors {
            ui.weak(format!("No run with k = {k} ranks on this matrix."));
        }
        return;
    };
    let Some(metric) = standing.winner().and_then(RunOf::metric) else { return };
    let several = model.bundles().len() > 1;
    let shown = if state.all_kernels { standing.runs.len() } else { FEW };
    let narrow = ui.available_width() < NARROW;
    let mut clicked = None;
    let mut grid = Grid::new("ranking").striped(true).spacing([18.0, 4.0]).min_col_width(0.0);
    if !narrow {
        grid = grid.num_columns(6); // the last one takes what is left
    }
    grid.show(ui, |ui| {
        style::button_lines(ui);
        ui.label("");
        ui.weak("Kernel");
        numbers(ui, narrow, [&metric_title(metric), "of the best", "Median"], true);
        if !narrow {
            ui.weak(if several { "Bundle and setting" } else { "Setting" });
        }
        ui.end_row();
        for (place, run) in standing.runs.iter().take(shown).enumerate() {
            let chosen = state.run == Some(run.index);
            right(ui, format!("{}.", place + 1).into());
            let kernel = name(ui, run, chosen).on_hover_text(run.why());
            let rate = run.rate().map(significant).unwrap_or_default();
            let share = standing.share(run).map(|share| format!("{:.0} %", share * 100.0));
            let median = run.figures().map(|figures| seconds(figures.median_s));
            let (share, median) = (share.unwrap_or_default(), median.unwrap_or_default());
            numbers(ui, narrow, [&rate, &share, &median], false);
            if !narrow {
                let words = match several {
                    true => run.with_setting(run.bundle.label(), ": "),
                    false => run.setting(),
                };
                ui.add(Label::new(words).truncate());
            }
            ui.end_row();
            if kernel.clicked() {
                clicked = Some((run.index, run.link_key()));
            }
        }
    });
    if standing.runs.len() > FEW {
        let words = match state.all_kernels {
            true => "Show only the best".to_owned(),
            false => format!("Show all {} kernels", standing.runs.len()),
        };
        state.all_kernels ^= ui.button(words).clicked();
    }
    if let Some((run, key)) = clicked {
        state.select_run(run, key, false);
    }
    ui.add_space(SPACE);
}

/// The columns of numbers, only the first one in narrow areas.
fn numbers(ui: &mut Ui, narrow: bool, texts: [&str; 3], weak: bool) {
    for text in texts.into_iter().take(if narrow { 1 } else { 3 }) {
        let text = RichText::new(text);
        right(ui, if weak { text.weak() } else { text });
    }
}

/// A text at the right side of its column.
fn right(ui: &mut Ui, text: RichText) {
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| ui.label(text));
}

/// The kernel's name beside the colour of its format.
fn name(ui: &mut Ui, run: &RunOf<'_>, chosen: bool) -> Response {
    let show = |ui: &mut Ui| {
        swatch(ui, run.run.format());
        ui.selectable_label(chosen, run.run.kernel_and_precision())
    };
    ui.horizontal(show).inner
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::shell::App;

    #[test]
    fn the_names_of_kernels_are_level_with_their_places() {
        let mut app = App::new();
        app.open_bytes("cpu.zip", include_bytes!("../../../example/cpu.zip"));
        app.follow("v1;view=matrix");
        let mut harness = Harness::builder()
            .with_size([1280.0, 800.0])
            .with_max_steps(200)
            .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
        harness.run();
        let names: Vec<f32> = harness
            .get_all_by_label_contains("cpu/")
            .take(FEW)
            .map(|name| name.rect().center().y)
            .collect();
        assert_eq!(names.len(), FEW);
        for (name, place) in names.into_iter().zip(1..) {
            let place = harness.get_by_label(&format!("{place}.")).rect().center().y;
            assert!((name - place).abs() < 1.0, "{name} {place}");
        }
    }
}
