//! The eigenvalues of a preconditioned matrix, as estimated from the iterations.

use super::few;
use crate::model::{RunOf, significant, subject_key};
use crate::views::charts::best::best_by;
use crate::views::charts::plot::{Data, Form, Guide, Plot, Point, Scale};
use crate::views::charts::told::told;
use crate::views::view::subject;

/// With more Ritz values than this …
const MANY: usize = 400;
/// … those this close to each other are drawn once, as they are indistinguishable.
const NEAR: f64 = 1e-3;

/// Drops ascending values close to the last one kept; keeps the ends.
fn apart(values: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for (place, value) in values.iter().enumerate() {
        let is_end = place + 1 == values.len();
        let is_near = |last: &f64| value - last <= NEAR * value;
        if is_end || values.len() <= MANY || !kept.last().is_some_and(is_near) {
            kept.push(*value);
        }
    }
    kept
}

/// One row per preconditioner on the selected subject: the solve with the most steps, which has the
/// best estimate.
pub(super) fn spectrum<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = "Ritz values of the preconditioned matrix";
    let mut plot = Plot::rows(Scale::new(title, data.state.log));
    plot.form = Form::Strokes;
    plot.subject = subject(data.model, data.state);
    let wanted = plot.subject.map(subject_key);
    let is_told = |run: &&RunOf<'a>| {
        Some(run.key()) == wanted && run.solved().is_some_and(|solve| solve.spectrum.is_some())
    };
    let (runs, note) = few(data.runs.iter().filter(is_told).copied().collect());
    let class = |run: &RunOf<'a>| Some((run.method_order(), run.method()));
    let steps = |run: &RunOf<'a>| {
        run.solved().and_then(|solve| solve.spectrum).map_or(0, |spectrum| spectrum.steps)
    };
    let saw_more = |run: &RunOf<'a>, other: &RunOf<'a>| steps(run) > steps(other);
    let mut thinned = false;
    for ((.., (order, name)), run) in best_by(&runs, &class, saw_more) {
        let Some(spectrum) = run.solved().and_then(|solve| solve.spectrum) else { continue };
        let kappa = significant(spectrum.condition);
        let told = told(run.run, "value", "Ritz value").map(|series| series.values.clone());
        let mut values = told.unwrap_or_default();
        values.extend([spectrum.smallest, spectrum.largest]);
        values.retain(|value| *value > 0.0);
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let drawn = apart(&values);
        thinned |= drawn.len() < values.len();
        let row_name = format!("{name}: κ ≥ {kappa}, from {} steps", spectrum.steps);
        for value in drawn {
            let row = plot.row(|| row_name.clone(), &row_name);
            let mut point = Point::of(&run, value, row);
            point.text = format!("κ ≥ {kappa}, from {} steps.", spectrum.steps);
            plot.add(order, &name, Some(run.bundle), point);
        }
    }
    plot.guides.push(Guide { ends: [[1.0, 0.0], [1.0, 0.0]], name: "1".into() });
    plot.note = note
        + "Ritz values lie within the spectrum, so the true condition number may be larger; they do not show multiplicities.";
    if thinned {
        plot.note += &format!(" Values within a relative distance of {NEAR} are drawn once.");
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_values_the_ends_stay_and_neighbours_are_drawn_once() {
        let few: Vec<f64> = (0..400).map(|k| 1.0 + f64::from(k) * 1e-9).collect();
        assert_eq!(apart(&few), few);
        let many: Vec<f64> = (0..4001).map(|k| 1.0 + f64::from(k) * 1e-4).collect();
        let drawn = apart(&many);
        assert!(drawn.len() < 500 && drawn[0] == 1.0 && drawn.last() == many.last());
        // Every value is close to one that is drawn.
        let near = |value: &f64| drawn.iter().any(|d| (value - d).abs() <= 1.1 * NEAR * value);
        assert!(many.iter().all(near));
    }
}
