//! The view of the charts: a chooser, the figure, and the same as a table and as SVG.

use egui::{ComboBox, DragValue, Role, ScrollArea, Ui, WidgetInfo};
use sparsescope_core::record::Source;

use super::list::{current, offered};
use super::plot::{Data, Looks, Plot};
use super::{compare, draw, sheet};
use crate::figure::{Anchor, Figure, Provenance};
use crate::model::{Model, OpenBundle};
use crate::state::ViewState;
use crate::state::charts::TAU;
use crate::views::provenance::provenance;
use crate::views::view::{View, kept, nothing};

pub(in crate::views) const VIEW: View = View {
    id: "chart",
    name: "Charts",
    sentence: "What was measured, as charts; a click on a point selects its run.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// Wider figures are not drawn in files.
const SAVED: f32 = 900.0;

/// Why there is nothing to draw.
fn why(data: &Data<'_>) -> &'static str {
    let chart = current(data.state);
    let others = || data.model.runs(&data.state.filter).iter().any(|run| run.rate().is_some());
    match data.state.charts.cold {
        _ if chart.id == "compare" || !data.runs.is_empty() || !others() => chart.nothing,
        true => "All runs with a time that pass the filters were made with warm caches.",
        false => "All runs with a time that pass the filters were made with flushed caches.",
    }
}

/// The numbers of the current chart, and all that they come to in words.
pub(super) fn plot<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = (current(data.state).data)(data);
    let changed = compare::note(data);
    if !changed.is_empty() {
        plot.note = format!("{changed}{}", plot.note);
    }
    plot
}

/// Stand-ins are among the matrices drawn, or among those that a mean is over.
fn holds_stand_ins(data: &Data<'_>, plot: &Plot<'_>) -> bool {
    let any = data.runs.iter().any(|run| run.subject.source() == Source::StandIn);
    plot.points()
        .any(|(.., point)| point.subject.map_or(any, |subject| subject.source() == Source::StandIn))
}

/// A box to choose from (word in a link, name) pairs.
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

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let chart = current(state);
    let charts: Vec<_> = offered(state).map(|c| (c.id.to_owned(), c.name.to_owned())).collect();
    let mut next = state.charts.clone();
    choose(ui, "Chart", &mut next.chart, &charts);
    let data = Data { model, state, runs: Vec::new() };
    if let Some(choices) = chart.of {
        let same = |name: String| (name.clone(), name);
        choose(ui, "Of", &mut next.of, &choices(&data).into_iter().map(same).collect::<Vec<_>>());
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
    if next.cold || model.values(&state.filter.operation).flushed {
        ui.checkbox(&mut next.cold, "Flushed caches");
    }
    state.charts = next;
    if !["speedup", "efficiency", "roofline", "profile"].contains(&chart.id) {
        ui.checkbox(&mut state.log, "Logarithmic axis");
    }
}

/// The figure as last drawn.
struct Drawn {
    figure: Result<Figure, &'static str>,
    note: String,
}

fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let chart = current(state);
    // Drawing thousands of points anew for every picture would take its time.
    let width = (ui.available_width() - 12.0).max(420.0);
    let from = (model.revision(), state.to_fragment(), [width, ui.available_height()]);
    let room = ui.available_height() - 12.0;
    let drawn = kept(ui, "chart", from, || {
        let data = Data::of(model, state);
        let plot = plot(&data);
        let mut note = format!("{} {}", chart.sentence, plot.note);
        if holds_stand_ins(&data, &plot) {
            note += " Stand-ins are generated matrices in place of real ones.";
        }
        let lines = (note.chars().count() as f32 * 7.0 / width).ceil();
        let room = room - 22.0 * lines;
        let looks = Looks::of(model, &state.filter.operation);
        let figure = if plot.is_empty() {
            Err(why(&data))
        } else {
            Ok(draw::figure(&plot, &looks, state, width, Some(room)))
        };
        Drawn { figure, note }
    });
    ui.label(&drawn.note);
    let figure = match &drawn.figure {
        Ok(figure) => figure,
        Err(why) => return nothing(ui, why),
    };
    let clicked = ScrollArea::both()
        .auto_shrink(false)
        .show(ui, |ui| figure.show(ui, &format!("Figure: {}", chart.name)));
    if let Some(hit) = clicked.inner.filter(|hit| !hit.matrix.is_empty()) {
        state.matrix = Some(hit.matrix);
        match hit.run {
            Some(run) => state.run = Some(run),
            None => state.view = "matrix".into(),
        }
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    plot(&Data::of(model, state)).table()
}

pub(super) fn svg(model: &Model, state: &ViewState) -> String {
    let data = Data::of(model, state);
    let plot = plot(&data);
    let mut from = provenance(model, &data.runs);
    if from.sources.is_empty() {
        let named = |open: &OpenBundle| format!("{}: {:.12}", open.label(), open.sha256);
        from = Provenance { sources: model.bundles().iter().map(named).collect(), ..from };
    }
    from.stand_in = holds_stand_ins(&data, &plot);
    let chart = current(state);
    let mut figure =
        draw::figure(&plot, &Looks::of(model, &state.filter.operation), state, SAVED, None);
    if plot.is_empty() {
        let ink = state.theme.ink();
        let lines = sheet::wrap(&format!("{} {}", why(&data), plot.note), SAVED - 32.0);
        figure = Figure::new(egui::vec2(SAVED, 40.0 + 20.0 * lines.len() as f32), ink.paper);
        for (index, line) in lines.iter().enumerate() {
            let at = egui::pos2(16.0, 30.0 + 20.0 * index as f32);
            figure.text(at, Anchor::Start, sheet::TYPE, ink.text, line);
        }
    }
    figure.to_svg(chart.sentence, &from)
}
