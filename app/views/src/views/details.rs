//! Everything about the selected run, whichever view it was selected in.

use egui::{Grid, Label, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use sparsescope_core::dense::Flagged;
use sparsescope_core::record::{Costs, Solve};
use sparsescope_figures::figure::{Axis, Figure, Mark};
use sparsescope_figures::model::{Model, RunOf, bytes, count, seconds, significant, small};
use sparsescope_figures::state::{Filter, ViewState};
use sparsescope_figures::theme::format_color;

use super::view::kept;
use crate::paint::Paint;

/// The selected run, if there is one.
pub(crate) fn selected<'a>(model: &'a Model, state: &ViewState) -> Option<RunOf<'a>> {
    model.run(state.run?)
}

/// Draws the details of the selected run; the × in its corner clears the selection.
pub(crate) fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let Some(run) = selected(model, state) else { return };
    ui.horizontal(|ui| {
        let close = ui.small_button("×");
        close.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Close the run's details"));
        if close.clicked() {
            state.run = None;
        }
        ui.add(Label::new(RichText::new(&run.run.kernel).strong()).truncate());
    });
    ScrollArea::vertical().auto_shrink([false, true]).show(ui, |ui| {
        ui.label(run.name());
        if let (Some(rate), Some(metric)) = (run.rate(), run.metric()) {
            let words = format!("{} {}", significant(rate), metric.unit);
            ui.label(RichText::new(words).strong().size(20.0));
        }
        ui.label(run.why());
        ui.add_space(6.0);
        samples(ui, &run, state);
        let from = (model.revision(), run.index);
        let flagged = kept(ui, "details: flagged", from, || run.flagged());
        let mut facts = facts(&run);
        facts.extend(
            flagged.as_ref().as_ref().map(|flagged| ("Not positive definite", words_of(flagged))),
        );
        Grid::new("details").num_columns(2).spacing([12.0, 4.0]).striped(true).show(ui, |ui| {
            for (name, value) in &facts {
                ui.weak(*name);
                ui.add(Label::new(value).wrap());
                ui.end_row();
            }
        });
        ui.add_space(6.0);
        links(ui, model, &run, state);
    });
}

/// The time of every sample on a line, with the median marked.
fn samples(ui: &mut Ui, run: &RunOf<'_>, state: &ViewState) {
    let (Some(figures), true) = (run.figures(), run.run.samples.len() > 1) else { return };
    let ink = state.theme.ink();
    let size = vec2(ui.available_width().max(80.0), 34.0);
    let (space, response) = ui.allocate_exact_size(size, Sense::hover());
    let axis = Axis::new(run.run.samples.iter().copied(), false, 8.0, size.x - 8.0);
    let mut figure = Figure::new(size, ink.paper);
    figure.line(pos2(0.0, 17.0), pos2(size.x, 17.0), 1.0, ink.grid);
    for sample in &run.run.samples {
        let at = pos2(axis.place(*sample), 17.0);
        figure.mark(at, Mark::Circle, 2.5, format_color("csr"), format_color("csr"));
    }
    let median = axis.place(figures.median_s);
    figure.line(pos2(median, 5.0), pos2(median, 29.0), 2.0, ink.text);
    figure.paint(ui.painter(), space.min);
    let words = format!(
        "{} samples, {} to {}; the line is the median",
        run.run.samples.len(),
        seconds(figures.min_s),
        seconds(figures.max_s)
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
    response.on_hover_text(words);
}

/// The systems that are not positive definite, as text.
fn words_of(flagged: &Flagged) -> String {
    const MOST: usize = 8;
    let (some, all) = (flagged.flagged, flagged.systems);
    let numbers: Vec<String> = flagged.numbers.iter().take(MOST).map(u64::to_string).collect();
    let more = if some > MOST as u64 { ", ..." } else { "" };
    match some {
        0 => format!("none of {all} systems"),
        _ => format!("{some} of {all} systems: {}{more} (0-based)", numbers.join(", ")),
    }
}

/// Names and values of the known facts.
fn facts(run: &RunOf<'_>) -> Vec<(&'static str, String)> {
    let of = run.run;
    let mut facts = vec![
        ("Setting", run.setting()),
        ("Caches", if of.hot { "warm".into() } else { "flushed before each sample".to_owned() }),
        ("Precision", of.precision.clone()),
        ("Device", of.device.clone()),
        ("Bundle", run.bundle.label().to_owned()),
    ];
    if let Some(source) = &of.source {
        let digits = source.short_sha256();
        facts.push(("Source", format!("{}, SHA-256 {digits}…", source.file)));
        facts.push(("", format!("{} over {}", source.mapping, source.family)));
        let is_there = run.bundle.bundle.source_text(source).is_some();
        let words =
            if is_there { "the text is in the bundle" } else { "the text is not in the bundle" };
        facts.push(("", words.to_owned()));
    }
    if let Some(figures) = run.figures() {
        let quartiles = format!("{} to {}", seconds(figures.q1_s), seconds(figures.q3_s));
        facts.push(("Median", format!("{} per {}", seconds(figures.median_s), run.word())));
        facts.push(("Quartiles", quartiles));
        facts.push(("Samples", format!("{}, each of {}", of.samples.len(), of.repetitions)));
        let bandwidth = |gbs: f64| ("Bandwidth", format!("at least {} GB/s", significant(gbs)));
        facts.extend(run.gbs().map(bandwidth));
        let percent = |share: f64| format!("{share:.0} % of the copy bandwidth");
        facts.extend(run.pct_copy().map(|share| ("", percent(share))));
        facts.extend(figures.speedup.map(|s| ("Speed-up", format!("{}×", significant(s)))));
    }
    facts.extend(run.solved().into_iter().flat_map(|of| solve(of, run.density())));
    facts.extend(check(run));
    facts.extend(choice(&of.costs));
    facts.extend(costs(&of.costs));
    if let Some(predicted) = &of.costs.predicted {
        let sectors = predicted.load_sectors.map(|n| format!("{} sectors loaded", count(n)));
        let useful = predicted.efficiency().map(|share| format!("{:.0} % useful", share * 100.0));
        let idle =
            predicted.idle_share.map(|share| format!("{:.0} % of lanes idle", share * 100.0));
        let lines = predicted.line_bytes.map(|n| format!("{} in cache lines", bytes(n)));
        let words: Vec<String> = [sectors, useful, idle, lines].into_iter().flatten().collect();
        facts.push(("Predicted", words.join(", ")));
    }
    for launch in &of.costs.launches {
        let words = format!(
            "{}: {} registers, {} of shared memory, occupancy {:.0} %",
            launch.function,
            launch.registers,
            bytes(launch.shared_bytes),
            launch.occupancy * 100.0
        );
        facts.push(("Launch", words));
    }
    facts
}

fn check(run: &RunOf<'_>) -> Vec<(&'static str, String)> {
    let check = &run.run.check;
    let mut facts = vec![("Check", run.verdict().to_owned())];
    if let Some(reason) = &check.reason {
        facts.push(("", reason.clone()));
    }
    let worst = |worst: f64| {
        let row = check.row.map(|row| format!(" (row {row})")).unwrap_or_default();
        let name = if run.matrix().is_some() { "Worst row" } else { "Worst system" };
        (name, format!("{} of its bound{row}", significant(worst)))
    };
    facts.extend(check.worst.map(worst));
    facts.extend(check.rel_err.map(|error| ("Relative error", small(error))));
    facts.extend(check.s_paper.map(|s| ("s of paper 000", small(s))));
    facts
}

fn solve(solve: &Solve, density: Option<f64>) -> Vec<(&'static str, String)> {
    let residual = |residual: Option<f64>| residual.map_or_else(|| "–".into(), small);
    let mut facts = vec![
        ("Outcome", solve.ended.clone()),
        ("Iterations", solve.iterations.to_string()),
        ("Residual", format!("{}, by the recurrence", residual(solve.residual))),
        ("", format!("{}, computed from x", residual(solve.true_residual))),
        ("Setup", seconds(solve.setup_s)),
    ];
    let phases =
        solve.phases.iter().map(|phase| format!("{} {}", phase.name, seconds(phase.seconds)));
    let phases: Vec<String> = phases.collect();
    facts.extend((!phases.is_empty()).then(|| ("", phases.join(", "))));
    facts.extend(solve.sizes.map(|sizes| {
        let [entries, systems, largest] = [sizes.factor, sizes.systems, sizes.largest].map(count);
        ("Factor", format!("{entries} nonzeros, {systems} dense systems of up to {largest} rows"))
    }));
    facts.extend(density.map(|density| ("nnz(G) / nnz(A)", significant(density))));
    facts.extend(solve.spectrum.map(|spectrum| {
        let kappa = significant(spectrum.condition);
        ("Condition", format!("κ ≥ {kappa}, from {} iterations", spectrum.steps))
    }));
    facts
}

/// The kernel it runs in its place, why, and the cost of finding it.
fn choice(costs: &Costs) -> Vec<(&'static str, String)> {
    let Some(choice) = &costs.choice else { return Vec::new() };
    let mut facts = vec![("Chosen kernel", choice.words()), ("", choice.why.clone())];
    let parts = choice.times().map(|(name, s)| {
        let name = match name {
            "statistics_s" => "statistics",
            "conversion_s" => "conversions",
            "plan_s" => "plans",
            _ => "trial",
        };
        format!("{name} {}", seconds(s))
    });
    facts.push(("Choosing", format!("{}: {}", seconds(choice.seconds()), parts.join(", "))));
    let products = costs.break_even.map(|products| count(products.max(0.0) as u64));
    facts.extend(products.map(|products| ("Pays off", format!("after {products} SpMVs"))));
    for tried in &choice.tried {
        let told = match (tried.least_s, &tried.left_out) {
            (Some(least), _) => {
                let expected = tried.expected_s.map(|s| format!(", expected {}", seconds(s)));
                let expected = expected.unwrap_or_default();
                format!("{}: {}{expected}", tried.words(), seconds(least))
            }
            (None, Some(why)) => format!("{}: not tried, {why}", tried.words()),
            (None, None) => continue,
        };
        facts.push(("Tried", told));
    }
    facts
}

fn costs(costs: &Costs) -> Vec<(&'static str, String)> {
    let known = [
        ("Conversion", Some(costs.conversion_s).filter(|s| *s > 0.0)),
        ("Plan", Some(costs.plan_s).filter(|s| *s > 0.0)),
        ("Upload", costs.upload_s),
        ("Allocation", costs.allocate_s),
        ("Download", costs.download_s),
        ("Empty launch", costs.launch_s),
        ("In a graph", costs.graph_s),
    ];
    let mut facts: Vec<(&str, String)> =
        known.into_iter().filter_map(|(name, s)| Some((name, seconds(s?)))).collect();
    if costs.format_bytes > 0 {
        facts.push(("Format", bytes(costs.format_bytes)));
    }
    facts
}

/// Links to related views.
fn links(ui: &mut Ui, model: &Model, run: &RunOf<'_>, state: &mut ViewState) {
    let key = run.key();
    ui.horizontal_wrapped(|ui| {
        let mut to = |name: &str, view: &str| {
            let button = ui.button(name);
            let words = format!("{name} of the selected run");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
            if button.clicked() {
                state.matrix = Some(key.clone());
                state.view = view.into();
            }
        };
        to("Matrix", "matrix");
        if run.matrix().is_some() {
            to("Structure", "spy");
            to("Layout", "layouts");
        }
        to("All runs", "runs");
    });
    let from = (model.revision(), run.index);
    let others = kept(ui, "details: others", from, || same_elsewhere(model, run));
    if others.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.strong("The same run in other bundles");
    for other in others.iter().filter_map(|number| model.run(*number)) {
        let both_rank = other.ranks() && run.ranks();
        let ratio = match other.gain_over(run).filter(|_| both_rank) {
            Some(gain) => format!(", {}× as fast", significant(gain)),
            None => String::new(),
        };
        let rate = other.rate().map_or_else(|| other.verdict().to_owned(), significant);
        if ui.button(format!("{}: {rate}{ratio}", other.bundle.label())).clicked() {
            state.run = Some(other.index);
        }
    }
}

/// Numbers of the runs in other bundles that differ only in device and times.
fn same_elsewhere(model: &Model, run: &RunOf<'_>) -> Vec<usize> {
    let of = |run: &RunOf<'_>| {
        let of = run.run;
        (of.threads, of.block, of.hot)
    };
    let is_same = |other: &RunOf<'_>| {
        other.bundle.series != run.bundle.series
            && other.run.kernel == run.run.kernel
            && of(other) == of(run)
            && other.run.precision == run.run.precision
            && other.setting() == run.setting()
            && other.key() == run.key()
    };
    let all = model.runs(&Filter::all_of(&run.run.operation));
    all.iter().filter(|other| is_same(other)).map(|other| other.index).collect()
}
