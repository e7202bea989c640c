//! Deviations of results from the reference, for each checked run, whether it passed or not.

use sparsescope_core::record::{Check, Verdict};

use super::plot::{Data, Form, Plot, Point, Scale, kernel};
use super::settings::threads;
use crate::model::RunOf;

/// An error measure and its description.
struct Measure {
    name: &'static str,
    of: fn(&Check) -> Option<f64>,
}

const MEASURES: [Measure; 3] = [
    Measure { name: "worst row, error / bound", of: |check| check.worst },
    Measure { name: "relative error |z − y| / |y|", of: |check| check.rel_err },
    Measure { name: "s (CSR/HLL report)", of: |check| check.s_paper },
];

/// The quantities that errors are drawn against.
const AGAINST: [&str; 3] = ["kernel", "threads", "threads per block"];

/// Position of an error of 0 on a logarithmic axis.
pub(super) const ZERO: f64 = 1e-18;

/// Every measure against kernels, threads and blocks.
pub(super) fn measures(_: &Data<'_>) -> Vec<String> {
    let all = AGAINST.iter().flat_map(|against| MEASURES.iter().map(move |m| words(m, against)));
    all.collect()
}

fn words(measure: &Measure, against: &str) -> String {
    format!("{} by {against}", measure.name)
}

pub(super) fn errors<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&measures(data));
    let all = AGAINST.iter().flat_map(|against| MEASURES.iter().map(move |m| (m, *against)));
    let found = all.clone().find(|(measure, against)| words(measure, against) == chosen);
    let Some((measure, against)) = found else { return Plot::rows(Scale::default()) };
    let log = data.state.log;
    let axis = Scale::new(measure.name, log).lower();
    let mut plot = match against {
        "kernel" => Plot::rows(axis),
        setting => Plot::plane(Scale::new(setting, true), axis),
    };
    let (mut zeros, mut empty) = (0, 0);
    let runs = data.model.comparable(&data.state.filter);
    for run in runs.iter().filter(|run| run.run.hot != data.state.charts.cold) {
        let Some(error) = (measure.of)(&run.run.check) else { continue };
        // A run that passed without a time computed nothing: its error of 0 was not measured.
        if run.run.check.verdict == Verdict::Pass && run.run.figures.is_none() {
            empty += 1;
            continue;
        }
        let at = if log && error < ZERO { ZERO } else { error };
        let name = kernel(run);
        let point = match against {
            "kernel" => Point::of(run, at, plot.row(|| name.clone(), &name)),
            setting => match setting_of(run, setting) {
                Some(x) => Point::of(run, x, at),
                None => continue,
            },
        };
        zeros += usize::from(at > error);
        plot.add(0, &name, Some(run.bundle), point);
    }
    if plot.rows.is_none() {
        plot.form = Form::Marks;
        plot.tick_x_at_points();
    }
    let had = if empty == 1 { "1 run had".to_owned() } else { format!("{empty} runs had") };
    let notes = [
        (zeros, drawn_at_zero(zeros)),
        (empty, format!("{had} nothing to compute, so no error is drawn.")),
    ];
    let notes: Vec<String> = notes.into_iter().filter(|(n, _)| *n > 0).map(|(_, it)| it).collect();
    plot.note = notes.join(" ");
    plot
}

/// The remark on this many errors that a logarithmic axis cannot show.
pub(super) fn drawn_at_zero(errors: usize) -> String {
    match errors {
        1 => format!("1 error below {ZERO:e} is drawn at {ZERO:e}."),
        n => format!("{n} errors below {ZERO:e} are drawn at {ZERO:e}."),
    }
}

fn setting_of(run: &RunOf<'_>, setting: &str) -> Option<f64> {
    match setting {
        "threads" => threads(run.run).map(f64::from),
        _ => run.run.block.map(f64::from),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bundle, drawn, model_of, state};
    use super::super::view::plot;
    use super::*;

    #[test]
    fn a_run_that_had_nothing_to_compute_has_no_error() {
        let mut bundle = bundle("a", 1.0);
        let is_emptied = |run: &&mut sparsescope_core::record::Run| {
            run.kernel == "cpu/csr/nnz" && run.threads == 1
        };
        for run in bundle.runs.iter_mut().filter(is_emptied) {
            run.samples.clear();
            (run.figures, run.check.worst) = (None, Some(0.0));
        }
        let model = model_of(bundle);
        let mut state = state("errors;kernel=cpu/csr/nnz");
        state.charts.of = "worst row, error / bound by kernel".into();
        let errors = drawn(&model, &state);
        assert_eq!(errors.len(), 6, "of three matrices two thread counts");
        assert!(errors.iter().all(|(.., error)| *error >= 0.25), "{errors:?}");
        let note = plot(&Data::of(&model, &state)).note;
        assert_eq!(note, "3 runs had nothing to compute, so no error is drawn.");
    }
}
