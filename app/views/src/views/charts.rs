//! The choice of a chart, and the figure.

mod chooser;

use egui::{Button, ComboBox, DragValue, Id, Role, ScrollArea, Ui, WidgetInfo};
use sparsescope_figures::figure::Hit;
use sparsescope_figures::model::{Model, subject_name};
use sparsescope_figures::state::ViewState;
use sparsescope_figures::state::charts::TAU;
use sparsescope_figures::views::charts::draw::{self, For};
use sparsescope_figures::views::charts::isolated::picked;
use sparsescope_figures::views::charts::list::current;
use sparsescope_figures::views::charts::looks::Looks;
use sparsescope_figures::views::charts::plot::Data;
use sparsescope_figures::views::charts::view::{holds_stand_ins, plot, why};

use crate::meshed::Meshed;
use crate::paint::Paint;
use crate::views::view::{Screen, kept, no_runs, nothing};

pub(super) const SCREEN: Screen = Screen { settings, more: Some(more), show };

/// Minimum width of a figure on screen.
const LEAST: f32 = 320.0;

/// A combo box of pairs (word in a link, name).
fn choose(ui: &mut Ui, what: &str, value: &mut String, offered: &[(String, String)]) {
    let found = offered.iter().find(|(id, _)| id == value).or(offered.first());
    let Some((now, shown)) = found.cloned() else { return };
    let combo = ComboBox::from_id_salt(what).selected_text(&shown).height(420.0);
    let combo = combo.show_ui(ui, |ui| {
        for (id, name) in offered {
            if ui.selectable_label(*id == now, name).clicked() {
                value.clone_from(id);
            }
        }
    });
    let name = format!("{what}: {shown}");
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

/// The current chart's name: a button that opens the page of all charts.
fn choose_chart(ui: &mut Ui, state: &ViewState) {
    let open = chooser::is_open(ui, state);
    let button = Button::new(format!("Chart: {}", current(state).name)).selected(open);
    if ui.add(button).on_hover_text("Choose a chart").clicked() {
        chooser::set_open(ui, state, !open);
    }
}

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let chart = current(state);
    let mut next = state.charts.clone();
    choose_chart(ui, state);
    let data = Data { model, state, runs: Vec::new() };
    if let Some(choices) = chart.of {
        let offered = choices(&data);
        let chosen = data.chosen(&offered);
        let mut of = chosen.clone();
        let same = |name: String| (name.clone(), name);
        choose(ui, "Of", &mut of, &offered.into_iter().map(same).collect::<Vec<_>>());
        if of != chosen {
            next.of = of;
        }
    }
    if chart.id == "profile" {
        let name = ui.label("τ");
        let tau = DragValue::new(&mut next.tau).range(TAU).speed(0.02).max_decimals(2);
        ui.add(tau).labelled_by(name.id);
    }
    if model.bundles().iter().filter(|open| !open.bundle.runs.is_empty()).count() > 1 {
        ui.label("Baseline");
        let all = model.bundles().iter().filter(|open| !open.bundle.runs.is_empty());
        let offered: Vec<_> = all.map(|open| (open.word(), open.label().to_owned())).collect();
        choose(ui, "Baseline", &mut next.baseline, &offered);
    }
    state.charts = next;
}

/// What is chosen less often.
fn more(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let chart = current(state);
    if state.charts.cold || model.values(&state.filter.operation).flushed {
        ui.checkbox(&mut state.charts.cold, "Flushed caches");
    }
    if !["speedup", "efficiency", "roofline", "profile", "set-up-and-solve"].contains(&chart.id) {
        ui.checkbox(&mut state.log, "Logarithmic axis");
    }
}

/// The figure as last drawn.
struct Drawn {
    figure: Result<Meshed, &'static str>,
    note: String,
}

/// Those that say something, in one line.
fn sentences(all: [&str; 3]) -> String {
    all.into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join(" ")
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    if chooser::is_open(ui, state) {
        return chooser::show(ui, model, state);
    }
    let chart = current(state);
    // Redrawing thousands of points in every frame would take too long.
    let width = (ui.available_width() - 12.0).max(LEAST);
    let bright_id = Id::unique("the series pointed at");
    let bright: Option<String> = ui.data(|data| data.get_temp(bright_id)).unwrap_or_default();
    let size = [width, ui.available_height()];
    let from = (model.revision(), state.to_fragment(), size, bright.clone());
    let room = ui.available_height() - 12.0;
    let drawn = kept(ui, "chart", from, || {
        let data = Data::of(model, state);
        let plot = plot(&data);
        let stand_ins = match holds_stand_ins(&data, &plot) && !plot.stands_in() {
            true => "Stand-ins are generated matrices that replace real ones.",
            false => "",
        };
        let mut note = sentences([chart.sentence, plot.note.trim(), stand_ins]);
        if let Some(subject) = plot.subject {
            note = format!("{}: {note}", subject_name(subject));
        }
        let lines = (note.chars().count() as f32 * 7.0 / width).ceil();
        let room = room - 22.0 * lines;
        let looks = Looks::of(model, &state.filter.operation);
        let figure = if plot.is_empty() {
            Err(why(chart, &data))
        } else {
            let whom = For::Screen(room, bright.as_deref());
            Ok(Meshed::from(draw::figure(&plot, &looks, state, width, whom)))
        };
        Drawn { figure, note }
    });
    ui.label(&drawn.note);
    let figure = match &drawn.figure {
        Ok(figure) => figure,
        Err(_) if model.count(&state.filter) == 0 => return no_runs(ui, model, state),
        Err(why) => return nothing(ui, why),
    };
    let answer = ScrollArea::both()
        .auto_shrink(false)
        .show(ui, |ui| figure.show_and_tell(ui, &format!("Figure: {}", chart.name)))
        .inner;
    let pointed = answer.pointed.and_then(|hit| hit.series);
    if pointed != bright {
        ui.data_mut(|data| data.insert_temp(bright_id, pointed));
        ui.ctx().request_repaint();
    }
    match answer.clicked {
        Some(hit) if !hit.matrix.is_empty() => {
            state.matrix = Some(hit.matrix);
            match hit.run {
                Some(run) => state.run = Some(run),
                None => state.view = "matrix".into(),
            }
        }
        // An item of the legend; with Shift it is added to the others that are shown.
        Some(Hit { series: Some(name), .. }) => {
            let names: Vec<&str> =
                figure.figure.hits.iter().filter_map(|hit| hit.series.as_deref()).collect();
            let adds = ui.input(|input| input.modifiers.shift);
            state.charts.only = picked(&state.charts.only, &names, &name, adds);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_sentences_there_is_one_space() {
        assert_eq!(sentences(["One.", "", "Three."]), "One. Three.");
    }
}
