//! The view of the charts: a chooser, the figure, and the same as a table and as SVG.

use egui::{Button, ComboBox, DragValue, Id, Role, ScrollArea, Ui, WidgetInfo};
use sparsescope_core::record::Source;

use super::chart::{Chart, Group};
use super::draw::{self, For};
use super::list::{current, offered};
use super::looks::Looks;
use super::plot::{Data, Plot};
use super::{compare, sheet};
use crate::figure::{Anchor, Figure, Hit, Provenance};
use crate::model::{Model, OpenBundle, subject_name};
use crate::state::ViewState;
use crate::state::charts::{ChartState, TAU};
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

/// Narrower ones are not drawn on the screen.
const LEAST: f32 = 320.0;

/// Why there is nothing to draw.
fn why(chart: &Chart, data: &Data<'_>) -> &'static str {
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
    plot.isolate(&data.state.charts.only);
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

/// The chooser of charts, in groups; those that have nothing to draw are grey and say why.
fn choose_chart(ui: &mut Ui, model: &Model, state: &ViewState, chosen: &mut String) {
    let now = current(state);
    let combo = ComboBox::from_id_salt("Chart").selected_text(now.name).height(620.0);
    let combo = combo.show_ui(ui, |ui| {
        let about = ViewState { charts: ChartState::default(), ..state.clone() };
        let from = (model.revision(), state.charts.cold, about.to_fragment());
        let empty = kept(ui, "charts without data", from, || {
            let data = Data::of(model, state);
            let reason = |chart: &Chart| (chart.data)(&data).is_empty().then(|| why(chart, &data));
            offered(state).map(|chart| (chart.id, reason(chart))).collect::<Vec<_>>()
        });
        for group in Group::ALL {
            let mut of_group = offered(state).filter(|chart| chart.group == group).peekable();
            if of_group.peek().is_some() {
                ui.weak(group.name());
            }
            for chart in of_group {
                let reason = empty.iter().find(|(id, _)| *id == chart.id).and_then(|(_, why)| *why);
                let choice = Button::selectable(chart.id == now.id, chart.name);
                let choice = ui.add_enabled(reason.is_none(), choice);
                let choice = choice.on_hover_text(chart.sentence);
                if choice.on_disabled_hover_text(reason.unwrap_or_default()).clicked() {
                    chosen.clear();
                    chosen.push_str(chart.id);
                }
            }
        }
    });
    let name = format!("Chart: {}", now.name);
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
}

fn settings(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let chart = current(state);
    let mut next = state.charts.clone();
    choose_chart(ui, model, state, &mut next.chart);
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
    if !["speedup", "efficiency", "roofline", "profile", "set-up-and-solve"].contains(&chart.id) {
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
    let width = (ui.available_width() - 12.0).max(LEAST);
    let bright_id = Id::unique("the series pointed at");
    let bright: Option<String> = ui.data(|data| data.get_temp(bright_id)).unwrap_or_default();
    let size = [width, ui.available_height()];
    let from = (model.revision(), state.to_fragment(), size, bright.clone());
    let room = ui.available_height() - 12.0;
    let drawn = kept(ui, "chart", from, || {
        let data = Data::of(model, state);
        let plot = plot(&data);
        let mut note = format!("{} {}", chart.sentence, plot.note);
        if let Some(subject) = plot.subject {
            note = format!("{}: {note}", subject_name(subject));
        }
        if holds_stand_ins(&data, &plot) {
            note += " Stand-ins are generated matrices in place of real ones.";
        }
        let lines = (note.chars().count() as f32 * 7.0 / width).ceil();
        let room = room - 22.0 * lines;
        let looks = Looks::of(model, &state.filter.operation);
        let figure = if plot.is_empty() {
            Err(why(chart, &data))
        } else {
            let whom = For::Screen(room, bright.as_deref());
            Ok(draw::figure(&plot, &looks, state, width, whom))
        };
        Drawn { figure, note }
    });
    ui.label(&drawn.note);
    let figure = match &drawn.figure {
        Ok(figure) => figure,
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
        // An entry of the legend.
        Some(Hit { series: Some(name), .. }) => {
            let only = &mut state.charts.only;
            *only = if *only == name { String::new() } else { name };
        }
        _ => {}
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    plot(&Data::of(model, state)).table()
}

pub(super) fn svg(model: &Model, state: &ViewState) -> String {
    picture(model, state).0
}

/// The same where there is anything to draw.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn drawn(model: &Model, state: &ViewState) -> Option<String> {
    let (svg, is_empty) = picture(model, state);
    (!is_empty).then_some(svg)
}

/// The figure as SVG, and whether it is empty.
fn picture(model: &Model, state: &ViewState) -> (String, bool) {
    let chart = current(state);
    let data = Data::of(model, state);
    let plot = plot(&data);
    let mut from = provenance(model, &data.runs);
    if from.sources.is_empty() {
        let named = |open: &OpenBundle| format!("{}: {:.12}", open.label(), open.sha256);
        from = Provenance { sources: model.bundles().iter().map(named).collect(), ..from };
    }
    from.stand_in = holds_stand_ins(&data, &plot);
    let looks = Looks::of(model, &state.filter.operation);
    let of = plot.subject.map(|subject| format!(": {}", subject_name(subject)));
    let heading = format!("{}{}", chart.name, of.unwrap_or_default());
    let mut figure = draw::figure(&plot, &looks, state, SAVED, For::File(&heading));
    if plot.is_empty() {
        let ink = state.theme.ink();
        let lines = sheet::wrap(&format!("{} {}", why(chart, &data), plot.note), SAVED - 32.0);
        figure = Figure::new(egui::vec2(SAVED, 40.0 + 20.0 * lines.len() as f32), ink.paper);
        for (index, line) in lines.iter().enumerate() {
            let at = egui::pos2(16.0, 30.0 + 20.0 * index as f32);
            figure.text(at, Anchor::Start, sheet::TYPE, ink.text, line);
        }
    }
    (figure.to_svg(chart.sentence, &from), plot.is_empty())
}
