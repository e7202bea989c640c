//! How far each kernel brings the residual down, by steps and by time: symmetric sweeps, and the iterations
//! of solvers with each preconditioner.

use sparsescope_core::record::{History, Operation, Run, Series, Solve};

use super::plot::{Data, Form, Guide, Plot, Point, Scale, best, kernel};
use super::solves::Names;
use crate::model::{RunOf, seconds, significant, small, subject_key};
use crate::views::view::subject;

const RESIDUAL: &str = "relative residual";
/// On a logarithmic axis residuals of 0 are drawn here.
const ZERO: f64 = 1e-18;
/// Of a line with more values the least and the greatest of each so many are drawn.
const MOST: usize = 400;
/// Lines with more values have marks at their ends only.
const MARKED: usize = 40;
/// Solves whose residuals differ by less than this share go the same way: sums in another order.
const ALIKE: f64 = 0.01;
const TRUE: &str = "true residual |b − Ax| / |b| at the end";

/// The series of this name and step of what a run told.
pub(super) fn told<'a>(run: &'a Run, step: &str, name: &str) -> Option<&'a Series> {
    let History { step: usual, series } = run.history.as_ref()?;
    let is_asked = |of: &&Series| of.name == name && of.step.as_ref().unwrap_or(usual) == step;
    series.iter().find(is_asked)
}

/// What a step is in the runs that are shown: in files, and in words.
fn step(data: &Data<'_>) -> [&'static str; 2] {
    match data.operation() {
        Some(Operation::Solve) => ["iteration", "iterations"],
        _ => ["sweep", "symmetric sweeps"],
    }
}

/// A run with its residuals.
type Told<'a> = (RunOf<'a>, &'a Series);

/// The fastest run of each kernel, with each preconditioner, on what is selected that told its residuals, in
/// each bundle.
fn of_selected<'a>(data: &Data<'a>, runs: &[RunOf<'a>], names: Names) -> Vec<Told<'a>> {
    let wanted = subject(data.model, data.state).map(subject_key);
    let [step, _] = step(data);
    let residuals =
        |run: &RunOf<'a>| told(run.run, step, RESIDUAL).filter(|series| !series.values.is_empty());
    let class = |run: &RunOf<'a>| {
        residuals(run)?;
        (Some(run.key()) == wanted).then(|| names.class(run))
    };
    let found = best(runs, &class).into_values();
    found.filter_map(|run| Some((run, residuals(&run)?))).collect()
}

fn plane<'a>(data: &Data<'a>, x: Scale) -> Plot<'a> {
    let mut plot = Plot::plane(x, Scale::new(format!("{RESIDUAL} |b − Ax| / |b|"), true));
    plot.subject = subject(data.model, data.state);
    plot
}

/// A residual as it is drawn; `zeros` counts those that no logarithmic axis has a place for.
fn drawn(value: f64, zeros: &mut usize) -> f64 {
    *zeros += usize::from(value < ZERO);
    value.max(ZERO)
}

fn zeros_note(zeros: usize) -> String {
    match zeros {
        0 => String::new(),
        zeros => format!("{zeros} residuals below {ZERO:e} are drawn at {ZERO:e}."),
    }
}

/// Whether two runs go the same way.
fn same_way((one, series): Told<'_>, (other, others): Told<'_>) -> bool {
    let (a, b) = (&series.values, &others.values);
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= ALIKE * a.abs();
    one.bundle.series == other.bundle.series
        && match one.solved() {
            None => series == others,
            Some(_) => {
                one.method() == other.method()
                    && one.system() == other.system()
                    && series.every == others.every
                    && a.len() == b.len()
                    && a.iter().zip(b).all(near)
            }
        }
}

/// Kernels with the same residuals in a bundle go the same way: they have one line together.
pub(super) fn by_steps<'a>(data: &Data<'a>) -> Plot<'a> {
    let [_, words] = step(data);
    let mut plot = plane(data, Scale::new(words, false));
    // What gave up has no time, but has come some way.
    let mut runs = data.runs.clone();
    let gave_up = |run: &RunOf<'_>| run.solved().is_some_and(|solve| !solve.converged);
    let all = data.model.runs(&data.state.filter).into_iter();
    runs.extend(all.filter(|run| gave_up(run) && run.run.hot != data.state.charts.cold));
    let names = Names::of(&runs);
    let mut ways: Vec<(Told<'a>, Vec<String>)> = Vec::new();
    for own in of_selected(data, &runs, names) {
        let name = kernel(&own.0);
        match ways.iter_mut().find(|(way, _)| same_way(*way, own)) {
            // The reference names the way, where it went it.
            Some((way, names)) if name.starts_with(data.reference()) => {
                *way = own;
                names.insert(0, name);
            }
            Some((_, names)) => names.push(name),
            None => ways.push((own, vec![name])),
        }
    }
    let mut zeros = 0;
    for ((run, series), kernels) in ways {
        let (order, mut name) = names.class(&run);
        let others: Vec<&str> = kernels.iter().skip(1).map(|id| last_of(id)).collect();
        if !others.is_empty() {
            name += &format!(" (and {})", others.join(", "));
        }
        for (k, value) in thinned(&series.values, MOST) {
            let steps = k as f64 * f64::from(series.every);
            let point = Point::of(&run, steps, drawn(value, &mut zeros));
            plot.add(order, &name, Some(run.bundle), point);
        }
        let at = run.solved().map_or(0, |solve| solve.iterations) as f64;
        add_end(&mut plot, &run, at, &mut zeros);
    }
    finish(&mut plot);
    plot.note = zeros_note(zeros);
    plot
}

/// What tells a kernel from others of its operation, without its precision.
fn last_of(name: &str) -> &str {
    let id = name.split(' ').next().unwrap_or(name);
    id.rsplit('/').next().unwrap_or(id)
}

/// The true residual of a solve, beside the last one of its recurrence.
fn add_end<'a>(plot: &mut Plot<'a>, run: &RunOf<'a>, at: f64, zeros: &mut usize) {
    let Some(Solve { ended, residual, true_residual: Some(residual_of_x), .. }) = run.solved()
    else {
        return;
    };
    let mut point = Point::of(run, at, drawn(*residual_of_x, zeros));
    let of_recurrence = residual.map_or_else(|| "–".into(), small);
    point.text = format!(
        "{}: {ended}; the recurrence ended at {of_recurrence}, and x gives {}.",
        run.method(),
        small(*residual_of_x)
    );
    plot.add(usize::MAX, TRUE, Some(run.bundle), point);
}

/// Chooses the form, and draws what was asked for.
fn finish(plot: &mut Plot<'_>) {
    let longest = plot.series.values().map(|series| series.points.len()).max().unwrap_or(0);
    let is_solve =
        plot.points().any(|(_, _, point)| point.run.is_some_and(|r| r.solved().is_some()));
    plot.form = if is_solve || longest > MARKED { Form::Curves } else { Form::Lines };
    let mut asked: Vec<f64> = plot
        .points()
        .filter_map(|(_, _, point)| Some(point.run?.solved()?.tolerance))
        .filter(|tolerance| *tolerance > 0.0)
        .collect();
    asked.sort_unstable_by(f64::total_cmp);
    asked.dedup();
    let at = || plot.points().map(|(_, _, point)| point.at[0]);
    let (least, most) = (at().fold(f64::INFINITY, f64::min), at().fold(0.0, f64::max));
    let guide = |tolerance: f64| Guide {
        ends: [[least, tolerance], [most, tolerance]],
        name: format!("asked for: {tolerance:e}"),
    };
    plot.guides = asked.into_iter().map(guide).collect();
}

pub(super) fn by_time<'a>(data: &Data<'a>) -> Plot<'a> {
    let is_solve = data.operation() == Some(Operation::Solve);
    let [_, words] = step(data);
    let title = match is_solve {
        true => "milliseconds: set-up, then iterations × mean time of one",
        false => "milliseconds of sweeps (sweeps × median time)",
    };
    let mut plot = plane(data, Scale::new(title, data.state.log));
    let names = Names::of(&data.runs);
    let (mut zeros, mut first) = (0, None);
    for (run, series) in of_selected(data, &data.runs, names) {
        let Some(time_s) = run.iteration_s().or_else(|| super::sweeps::time(&run)) else {
            continue;
        };
        let (order, name) = names.class(&run);
        let set_up_s = run.set_up_s().unwrap_or(0.0);
        let place = |steps: f64| (set_up_s + steps * time_s) * 1e3;
        for (k, value) in thinned(&series.values, MOST) {
            let steps = k as f64 * f64::from(series.every);
            if k == 0 {
                first = first.or(Some(value));
                // No logarithmic axis has a place for what takes no time.
                if data.state.log && (!is_solve || place(0.0) <= 0.0) {
                    continue;
                }
            }
            let mut point = Point::of(&run, place(steps), drawn(value, &mut zeros));
            let costs = &run.run.costs;
            let once = costs.plan_s + costs.conversion_s + costs.permute_s.unwrap_or(0.0);
            let once_s = run.set_up_s().unwrap_or(once);
            point.text = format!("{steps} {words}; set-up once {}.", seconds(once_s));
            plot.add(order, &name, Some(run.bundle), point);
        }
        let iterations = run.solved().map_or(0, |solve| solve.iterations);
        add_end(&mut plot, &run, place(iterations as f64), &mut zeros);
    }
    finish(&mut plot);
    let zeros = zeros_note(zeros);
    plot.note = if is_solve {
        format!(
            "A line begins where its set-up has ended; each of its iterations counts with their mean time. {zeros}"
        )
    } else {
        let begin = first.filter(|_| data.state.log).map(significant);
        let begin = begin.map_or_else(String::new, |first| format!("All begin at {first}. "));
        format!("{begin}What getting ready costs once is not counted. {zeros}")
    };
    plot
}

/// Each value with its place; of many, the least and the greatest of each so many.
pub(super) fn thinned(values: &[f64], most: usize) -> Vec<(usize, f64)> {
    let each = values.len().div_ceil(most / 2).max(1);
    if values.len() <= most {
        return values.iter().copied().enumerate().collect();
    }
    let mut found = Vec::new();
    for (chunk, of) in values.chunks(each).enumerate() {
        let place = |(k, value): (usize, &f64)| (chunk * each + k, *value);
        let by = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        let (least, most) = (
            of.iter().enumerate().map(place).min_by(by),
            of.iter().enumerate().map(place).max_by(by),
        );
        let (Some(least), Some(most)) = (least, most) else { continue };
        found.push(if least.0 <= most.0 { least } else { most });
        if least.0 != most.0 {
            found.push(if least.0 <= most.0 { most } else { least });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_values_keep_their_places_and_every_peak_and_dip() {
        let values: Vec<f64> = (0..5000).map(|k| f64::from((k * 37) % 1001)).collect();
        let thin = thinned(&values, 400);
        assert!(thin.len() <= 402 && thin.is_sorted_by(|a, b| a.0 < b.0), "{}", thin.len());
        assert!(thin.iter().all(|(place, value)| values[*place] == *value));
        let extreme = |of: &mut dyn Iterator<Item = f64>| {
            of.fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(v), m.max(v)))
        };
        assert_eq!(extreme(&mut thin.iter().map(|at| at.1)), extreme(&mut values.iter().copied()));
        assert_eq!(thinned(&values[..3], 400).len(), 3);
    }
}
