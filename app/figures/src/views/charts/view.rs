//! The charts view: a chooser, the figure, and the same as a table and as SVG.

use sparsescope_core::record::Source;

use super::chart::Chart;
use super::draw::{self, For};
use super::list::current;
use super::looks::Looks;
use super::plot::{Data, Plot};
use super::{compare, sheet};
use crate::figure::{Anchor, Figure, Provenance};
use crate::model::{Model, OpenBundle, subject_name};
use crate::state::ViewState;
use crate::views::provenance::provenance;
use crate::views::view::View;

pub(in crate::views) const VIEW: View = View {
    id: "chart",
    name: "Charts",
    sentence: "Charts of the measurements. Click a point to select its run.",
    table,
    svg: Some(svg),
    of_operation: false,
    is_empty: crate::views::view::never,
};

/// Width of saved figures, if none is wanted.
const SAVED: f32 = 900.0;

/// Why there is nothing to draw.
pub fn why(chart: &Chart, data: &Data<'_>) -> &'static str {
    let cold = data.state.charts.cold;
    let others = || {
        let mut timed = data.model.runs(&data.state.filter);
        timed.retain(|run| run.rate().is_some());
        !timed.is_empty() && timed.iter().all(|run| run.run.hot == cold)
    };
    match cold {
        _ if chart.id == "compare" || !data.runs.is_empty() || !others() => chart.nothing,
        true => "All matching runs with a time used warm caches.",
        false => "All matching runs with a time used flushed caches.",
    }
}

/// The numbers of the current chart, and their summary in words.
pub fn plot<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = (current(data.state).data)(data);
    plot.isolate(&data.state.charts.only);
    let changed = compare::note(data);
    if !changed.is_empty() {
        plot.note = format!("{changed}{}", plot.note);
    }
    // These draw other things than the runs.
    let draws_runs = !["bytes", "compare"].contains(&current(data.state).id);
    if let Some(k) = data.vectors().filter(|_| draws_runs) {
        plot.note = format!("SpMM with k = {k}. {}", plot.note);
    }
    if plot.stands_in() {
        let all = "All matrices are stand-ins: generated, in place of real ones.";
        plot.note = format!("{} {all}", plot.note.trim()).trim_start().to_owned();
    }
    plot
}

/// Returns whether stand-ins are among the matrices drawn or averaged.
pub fn holds_stand_ins(data: &Data<'_>, plot: &Plot<'_>) -> bool {
    let any = data.runs.iter().any(|run| run.subject.source() == Source::StandIn);
    plot.points()
        .any(|(.., point)| point.subject.map_or(any, |subject| subject.source() == Source::StandIn))
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    plot(&Data::of(model, state)).table()
}

pub(super) fn svg(model: &Model, state: &ViewState) -> String {
    picture(model, state).0
}

/// The figure as SVG if there is anything to draw.
pub fn drawn(model: &Model, state: &ViewState) -> Option<String> {
    let (svg, is_empty) = picture(model, state);
    (!is_empty).then_some(svg)
}

/// The figure as SVG, and whether it is empty.
fn picture(model: &Model, state: &ViewState) -> (String, bool) {
    let chart = current(state);
    let width = state.charts.width.unwrap_or(SAVED);
    let data = Data::of(model, state);
    let plot = plot(&data);
    let mut from = provenance(model, &[&data.runs[..], &plot.rivals[..]].concat());
    if from.sources.is_empty() {
        let named = |open: &OpenBundle| format!("{}: {:.12}", open.label(), open.sha256);
        let files = model.bundles().iter().filter(|open| !open.is_unfinished());
        from = Provenance { sources: files.map(named).collect(), ..from };
    }
    from.stand_in = holds_stand_ins(&data, &plot);
    let looks = Looks::of(model, &state.filter.operation);
    let of = plot.subject.map(|subject| format!(": {}", subject_name(subject)));
    let heading = format!("{}{}", chart.name, of.unwrap_or_default());
    let mut figure = draw::figure(&plot, &looks, state, width, For::File(&heading));
    if plot.is_empty() {
        let ink = state.theme.ink();
        let lines = sheet::wrap(&format!("{} {}", why(chart, &data), plot.note), width - 32.0);
        figure = Figure::new(emath::vec2(width, 40.0 + 20.0 * lines.len() as f32), ink.paper);
        for (index, line) in lines.iter().enumerate() {
            let at = emath::pos2(16.0, 30.0 + 20.0 * index as f32);
            figure.text(at, Anchor::Start, sheet::TYPE, ink.text, line);
        }
    }
    (figure.to_svg(chart.sentence, &from), plot.is_empty())
}
