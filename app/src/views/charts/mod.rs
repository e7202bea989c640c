//! The charts: each is a function that gives numbers ([`plot`]), which are drawn as rows or as a
//! plane and written as a table, and a line in [`CHARTS`].

mod compare;
mod costs;
mod draw;
mod matrices;
mod plane;
mod planes;
mod plot;
mod rows;
mod settings;
mod sizes;
mod spread;
#[cfg(test)]
mod tests;

use egui::{ComboBox, DragValue, Role, ScrollArea, Ui, WidgetInfo};
use sparsescope_core::record::{MatrixRecord, Source};

use super::{View, kept, nothing, provenance};
use crate::figure::{Anchor, Figure, Provenance};
use crate::model::Model;
use crate::state::ViewState;
use crate::state::charts::TAU;
use plot::{Data, Looks, Plot};

pub(super) const VIEW: View = View {
    id: "chart",
    name: "Charts",
    sentence: "What was measured, as charts; a click on a point goes to its matrix.",
    settings,
    show,
    table,
    svg: Some(svg),
};

/// One chart.
struct Chart {
    /// Word in a link.
    id: &'static str,
    name: &'static str,
    /// What it shows, in one sentence.
    sentence: &'static str,
    /// Why there is nothing to draw, when there is nothing.
    nothing: &'static str,
    data: for<'a> fn(&Data<'a>) -> Plot<'a>,
    /// What it can be about, if it offers a choice.
    of: Option<fn(&Data<'_>) -> Vec<String>>,
}

/// Wider figures are not drawn in files.
const SAVED: f32 = 900.0;

const NO_THREADS: &str =
    "No opened bundle has runs that pass the filters with several thread counts.";
const NO_BLOCKS: &str = "No opened bundle has runs that pass the filters with several block sizes.";
const NO_RUNS: &str = "No run with a time passes the filters.";
const NO_SERIAL: &str = "No run that passes the filters has a time of cpu/csr/serial on its matrix to be compared with.";

/// Every chart, in the order offered.
const CHARTS: [Chart; 22] = [
    Chart {
        id: "kernels",
        name: "Kernels by matrix",
        sentence: "How fast each kernel is on each matrix, at its best thread count or block size.",
        nothing: NO_RUNS,
        data: matrices::kernels,
        of: None,
    },
    Chart {
        id: "format",
        name: "Kernels of a format",
        sentence: "How fast the kernels of one format are on each matrix.",
        nothing: "No run with a time of a kernel of this format passes the filters.",
        data: matrices::of_format,
        of: Some(matrices::formats),
    },
    Chart {
        id: "serial",
        name: "Serial kernels",
        sentence: "How fast one thread is on each matrix with each format.",
        nothing: "No run of a serial kernel passes the filters.",
        data: matrices::serial,
        of: None,
    },
    Chart {
        id: "csr-hll",
        name: "Best CSR and best HLL",
        sentence: "The fastest CSR kernel against the fastest HLL kernel on each matrix.",
        nothing: "No run of a CSR or HLL kernel passes the filters.",
        data: matrices::csr_hll,
        of: None,
    },
    Chart {
        id: "parallel",
        name: "Best parallel and serial",
        sentence: "The fastest CPU kernel with several threads against cpu/csr/serial on each matrix.",
        nothing: NO_RUNS,
        data: matrices::parallel,
        of: None,
    },
    Chart {
        id: "four",
        name: "Serial, parallel, scalar, vector",
        sentence: "CSR four ways on each matrix: one thread, several, a GPU thread a row, a warp a row.",
        nothing: NO_RUNS,
        data: matrices::four,
        of: None,
    },
    Chart {
        id: "threads",
        name: "Threads",
        sentence: "Mean GFLOPS of each CPU kernel over the matrices that it ran on with all thread counts.",
        nothing: NO_THREADS,
        data: settings::by_threads,
        of: None,
    },
    Chart {
        id: "csr-hll-threads",
        name: "CSR and HLL by threads",
        sentence: "Mean GFLOPS of the fastest parallel CSR and HLL kernels against threads.",
        nothing: NO_THREADS,
        data: settings::csr_hll_by_threads,
        of: None,
    },
    Chart {
        id: "matrix-threads",
        name: "One matrix by threads",
        sentence: "CSR and ELLPACK kernels on the selected matrix against threads.",
        nothing: "No opened bundle has CSR or ELLPACK runs of the selected matrix with several thread counts.",
        data: settings::one_matrix,
        of: None,
    },
    Chart {
        id: "speedup",
        name: "Speed-up",
        sentence: "Mean speed-up of a kernel over cpu/csr/serial against threads, by number of entries.",
        nothing: NO_THREADS,
        data: settings::speedup,
        of: Some(settings::parallel_kernels),
    },
    Chart {
        id: "efficiency",
        name: "Efficiency",
        sentence: "Mean speed-up of a kernel over its threads, by number of entries.",
        nothing: NO_THREADS,
        data: settings::efficiency,
        of: Some(settings::parallel_kernels),
    },
    Chart {
        id: "blocks",
        name: "Threads a block",
        sentence: "Mean GFLOPS of each GPU kernel against the size of its blocks.",
        nothing: NO_BLOCKS,
        data: settings::by_block,
        of: None,
    },
    Chart {
        id: "best-block",
        name: "Best block size",
        sentence: "Each GPU kernel at its best block size (beside the mark), by the mean over the matrices and by the peak.",
        nothing: NO_BLOCKS,
        data: settings::best_block,
        of: None,
    },
    Chart {
        id: "deviation",
        name: "Row lengths",
        sentence: "GFLOPS of the fastest kernel of each format against how uneven the rows of a matrix are.",
        nothing: NO_RUNS,
        data: planes::deviation,
        of: None,
    },
    Chart {
        id: "roofline",
        name: "Roofline",
        sentence: "The fastest kernel of each format under the measured bandwidth; small hollow marks count the bytes of padding too.",
        nothing: NO_RUNS,
        data: planes::roofline,
        of: None,
    },
    Chart {
        id: "profile",
        name: "Performance profile",
        sentence: "On how many of a bundle's matrices a kernel takes at most τ times as long as the best (Dolan and Moré).",
        nothing: NO_RUNS,
        data: spread::profile,
        of: None,
    },
    Chart {
        id: "samples",
        name: "Raw times",
        sentence: "Every time that was measured on the selected matrix, with median and quartiles, at each kernel's best setting.",
        nothing: "No run with a time on the selected matrix passes the filters.",
        data: spread::samples,
        of: None,
    },
    Chart {
        id: "bytes",
        name: "Bytes and padding",
        sentence: "Bytes an entry in each format, without padding (full) and with it (hollow).",
        nothing: "No matrix with entries passes the filters.",
        data: sizes::bytes_of_formats,
        of: None,
    },
    Chart {
        id: "hot-cold",
        name: "Warm and flushed caches",
        sentence: "GFLOPS of each kernel on each matrix with warm caches against those with flushed ones.",
        nothing: "No opened bundle has a run that passes the filters both with warm and with flushed caches.",
        data: planes::hot_cold,
        of: None,
    },
    Chart {
        id: "conversion",
        name: "Conversion",
        sentence: "What conversion from CSR and planning cost, counted in products of cpu/csr/serial.",
        nothing: NO_SERIAL,
        data: costs::conversion,
        of: None,
    },
    Chart {
        id: "break-even",
        name: "Break-even",
        sentence: "After how many products conversion and plan have paid against cpu/csr/serial.",
        nothing: NO_SERIAL,
        data: costs::break_even,
        of: None,
    },
    Chart {
        id: "compare",
        name: "Changes between bundles",
        sentence: "How many times as long each run takes as in the baseline, with 95 % intervals: left of 1 is faster, hollow is unclear.",
        nothing: "No timed run that passes the filters is in two opened bundles.",
        data: compare::compare,
        of: None,
    },
];

/// The chart that the state names; the first where it names none that exists.
fn current(state: &ViewState) -> &'static Chart {
    let [first, ..] = &CHARTS;
    CHARTS.iter().find(|chart| chart.id == state.charts.chart).unwrap_or(first)
}

/// The words for all charts.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn ids() -> impl Iterator<Item = &'static str> + Clone {
    CHARTS.iter().map(|chart| chart.id)
}

impl<'a> Data<'a> {
    fn of(model: &'a Model, state: &'a ViewState) -> Self {
        let mut runs = model.runs(&state.filter);
        runs.retain(|run| run.gflops().is_some() && run.run.hot != state.charts.cold);
        Self { model, state, runs }
    }
}

/// Why there is nothing to draw.
fn why(data: &Data<'_>) -> &'static str {
    let chart = current(data.state);
    let others = || data.model.runs(&data.state.filter).iter().any(|run| run.gflops().is_some());
    match data.state.charts.cold {
        _ if chart.id == "compare" || !data.runs.is_empty() || !others() => chart.nothing,
        true => "All runs with a time that pass the filters were made with warm caches.",
        false => "All runs with a time that pass the filters were made with flushed caches.",
    }
}

/// What the chart is about: what the state names if it is offered, else the first that is.
fn chosen(data: &Data<'_>, offered: &[String]) -> String {
    let wanted = &data.state.charts.of;
    offered.iter().find(|name| *name == wanted).or(offered.first()).cloned().unwrap_or_default()
}

/// The numbers of the current chart, and all that they come to in words.
fn plot<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = (current(data.state).data)(data);
    let changed = compare::note(data);
    if !changed.is_empty() {
        plot.note = format!("{changed}{}", plot.note);
    }
    plot
}

/// Stand-ins are among the matrices drawn, or among those that a mean is over.
fn holds_stand_ins(data: &Data<'_>, plot: &Plot<'_>) -> bool {
    let any = data.runs.iter().any(|run| run.record.source == Source::StandIn);
    let of = |record: &MatrixRecord| record.source == Source::StandIn;
    plot.points().any(|(.., point)| point.record.map_or(any, of))
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
    let charts: Vec<_> = CHARTS.iter().map(|c| (c.id.to_owned(), c.name.to_owned())).collect();
    let mut next = state.charts.clone();
    choose(ui, "Chart", &mut next.chart, &charts);
    let data = Data { model, state, runs: Vec::new() };
    if let Some(offered) = chart.of {
        let same = |name: String| (name.clone(), name);
        choose(ui, "Of", &mut next.of, &offered(&data).into_iter().map(same).collect::<Vec<_>>());
    }
    if chart.id == "profile" {
        let name = ui.label("τ");
        let tau = DragValue::new(&mut next.tau).range(TAU).speed(0.02).max_decimals(2);
        ui.add(tau).labelled_by(name.id);
    }
    if model.bundles().iter().filter(|open| !open.bundle.runs.is_empty()).count() > 1 {
        ui.label("Baseline");
        let start =
            |open: &crate::model::OpenBundle| open.sha256.chars().take(12).collect::<String>();
        let all = model.bundles().iter().filter(|open| !open.bundle.runs.is_empty());
        let offered: Vec<_> = all.map(|open| (start(open), open.label().to_owned())).collect();
        choose(ui, "Baseline", &mut next.baseline, &offered);
    }
    if next.cold || model.values().flushed {
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
        let looks = Looks::of(model);
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
    if let Some(matrix) = clicked.inner.filter(|matrix| !matrix.is_empty()) {
        state.matrix = Some(matrix);
        state.view = "matrix".into();
    }
}

fn table(model: &Model, state: &ViewState) -> Vec<Vec<String>> {
    plot(&Data::of(model, state)).table()
}

fn svg(model: &Model, state: &ViewState) -> String {
    let data = Data::of(model, state);
    let plot = plot(&data);
    let mut from = provenance(model, &data.runs);
    if from.sources.is_empty() {
        let named =
            |open: &crate::model::OpenBundle| format!("{}: {:.12}", open.label(), open.sha256);
        from = Provenance { sources: model.bundles().iter().map(named).collect(), ..from };
    }
    from.stand_in = holds_stand_ins(&data, &plot);
    let chart = current(state);
    let mut figure = draw::figure(&plot, &Looks::of(model), state, SAVED, None);
    if plot.is_empty() {
        let ink = state.theme.ink();
        let lines = draw::wrap(&format!("{} {}", why(&data), plot.note), SAVED - 32.0);
        figure = Figure::new(egui::vec2(SAVED, 40.0 + 20.0 * lines.len() as f32), ink.paper);
        for (index, line) in lines.iter().enumerate() {
            let at = egui::pos2(16.0, 30.0 + 20.0 * index as f32);
            figure.text(at, Anchor::Start, draw::TYPE, ink.text, line);
        }
    }
    figure.to_svg(chart.sentence, &from)
}
