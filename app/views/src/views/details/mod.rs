//! Everything about the selected run, whichever view it was selected in, or about a few runs side by side.

mod beside;
mod facts;
mod links;
mod parts;

use egui::{RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};
use sparsescope_figures::figure::{Anchor, Axis, Figure, Mark};
use sparsescope_figures::model::{Model, RunOf, seconds, significant};
use sparsescope_figures::state::{Theme, ViewState};
use sparsescope_figures::theme::{SMALL, SPACE, TITLE};

pub(super) use parts::swatch;
use parts::{close, kernel};

use crate::paint::Paint;
use crate::style::strong;

/// Largest width of the line of samples.
const SAMPLES: f32 = 420.0;

/// Whether there are details to show.
pub(crate) fn is_shown(model: &Model, state: &ViewState) -> bool {
    !model.beside(state).is_empty()
}

/// Draws the details of the selected run, or of several; the × in the corner clears the selection.
pub(crate) fn show(ui: &mut Ui, model: &Model, state: &mut ViewState) {
    let runs = model.beside(state);
    let Some(run) = runs.last() else { return };
    if runs.len() > 1 {
        return beside::show(ui, model, &runs, state);
    }
    ui.horizontal(|ui| {
        close(ui, state);
        kernel(ui, run);
    });
    let id = "details of a run";
    ScrollArea::vertical().id_salt(id).auto_shrink([false, true]).show(ui, |ui| {
        ui.label(run.name());
        headline(ui, run);
        ui.label(run.why());
        ui.add_space(SPACE * 0.5);
        links::show(ui, model, run, state);
        samples(ui, run, state);
        ui.add_space(SPACE * 0.5);
        facts::show(ui, model, run);
        links::elsewhere(ui, model, run, state);
    });
}

/// The rate in large type, then the other numbers that most want to know.
fn headline(ui: &mut Ui, run: &RunOf<'_>) {
    let rate = match run.metric() {
        Some(metric) => format!("{} {}", significant(metric.value), metric.unit),
        None => run.verdict().to_owned(),
    };
    ui.horizontal_wrapped(|ui| {
        let font = strong(ui.ctx(), TITLE);
        ui.label(RichText::new(rate).font(font));
        let summary = summary(run);
        if !summary.is_empty() {
            ui.label(summary);
        }
    });
}

/// The median, unless it is the rate, with its quartiles, the share of the copy bandwidth and the speed-up.
fn summary(run: &RunOf<'_>) -> String {
    let Some(figures) = run.figures() else { return String::new() };
    let [median, q1, q3] = [figures.median_s, figures.q1_s, figures.q3_s].map(seconds);
    let mut words = vec![match run.metric().is_some_and(|metric| metric.unit == "ms") {
        true => format!("quartiles {q1} to {q3}"),
        false => format!("{median} ({q1} to {q3})"),
    }];
    words.extend(run.pct_copy().map(of_copy));
    words.extend(figures.speedup.map(|s| format!("{}× the serial reference", significant(s))));
    words.join(" · ")
}

fn of_copy(share: f64) -> String {
    if share < 1.0 { "less than 1 % of copy".into() } else { format!("{share:.0} % of copy") }
}

/// The times of samples on a line from zero, with the median marked and the time at each end.
fn strip(samples: &[f64], median: f64, width: f32, theme: Theme) -> Figure {
    let ink = theme.ink();
    let axis = Axis::new(samples.iter().copied(), false, 8.0, width - 8.0);
    let mut figure = Figure::new(vec2(width, 46.0), ink.paper);
    figure.line(pos2(0.0, 17.0), pos2(width, 17.0), 1.0, ink.grid);
    for sample in samples {
        let at = pos2(axis.place(*sample), 17.0);
        figure.mark(at, Mark::Circle, 2.5, ink.weak, ink.weak);
    }
    let median = axis.place(median);
    figure.line(pos2(median, 5.0), pos2(median, 29.0), 2.0, ink.text);
    let ticks = axis.ticks();
    for (tick, anchor) in [(ticks.first(), Anchor::Start), (ticks.last(), Anchor::End)] {
        let Some(tick) = tick else { continue };
        let words = if *tick > 0.0 { seconds(*tick) } else { "0".to_owned() };
        figure.text(pos2(axis.place(*tick), 38.0), anchor, SMALL, ink.weak, &words);
    }
    figure
}

/// The time of every sample.
fn samples(ui: &mut Ui, run: &RunOf<'_>, state: &ViewState) {
    let (Some(figures), true) = (run.figures(), run.run.samples.len() > 1) else { return };
    let width = ui.available_width().clamp(80.0, SAMPLES);
    let figure = strip(&run.run.samples, figures.median_s, width, state.theme);
    let (space, response) = ui.allocate_exact_size(figure.size, Sense::hover());
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

#[cfg(test)]
mod tests {
    use sparsescope_figures::figure::Shape;

    use super::*;

    #[test]
    fn the_line_of_samples_has_times_at_its_ends() {
        let figure = strip(&[1e-3, 2e-3], 1.5e-3, 400.0, Theme::Light);
        let texts = figure.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        assert!(matches!(texts[..], ["0", end] if end.ends_with(" ms")), "{texts:?}");
    }

    #[test]
    fn the_summary_has_what_the_bundle_records() {
        let mut model = Model::default();
        model.open("mini.zip", include_bytes!("../../../../example/cpu.zip")).unwrap();
        let all = sparsescope_figures::state::Filter::everything();
        let runs = model.runs(&all);
        let passed = runs.iter().find(|run| run.figures().is_some()).unwrap();
        let median = seconds(passed.figures().unwrap().median_s);
        assert!(summary(passed).starts_with(&format!("{median} (")), "{}", summary(passed));
        assert_eq!(summary(passed).contains("% of copy"), passed.pct_copy().is_some());
    }

    #[test]
    fn a_small_share_of_the_copy_is_not_written_as_nothing() {
        assert_eq!([0.005, 94.4].map(of_copy), ["less than 1 % of copy", "94 % of copy"]);
    }
}
