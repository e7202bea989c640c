//! How far each kernel reduces the residual, by steps and by time: symmetric sweeps, and the
//! iterations of solvers with each preconditioner.

use sparsescope_core::kernel::KernelName;
use sparsescope_core::record::{Series, Solve};

use super::best::best;
use super::plot::{Data, Form, Guide, Plot, Point, Scale, kernel};
use super::solves::{Names, few};
use super::told::{thinned, time, told};
use crate::model::{RunOf, seconds, significant, small, subject_key};
use crate::operation::{Steps, presentation};
use crate::views::view::subject;

const RESIDUAL: &str = "relative residual";
/// Position of residuals of 0 on a logarithmic axis.
const ZERO: f64 = 1e-18;
/// Longer lines are thinned to the minimum and maximum of intervals, at most this many values.
const MOST: usize = 400;
/// Lines with more values have marks only at their ends.
const MARKED: usize = 40;
/// Solves whose residuals differ by less than this fraction count as equal: they sum in another
/// order.
const ALIKE: f64 = 0.01;
const TRUE: &str = "final true residual |b − Ax| / |b|";

/// The steps of the runs shown.
fn steps(data: &Data<'_>) -> &'static Steps {
    presentation(&data.state.filter.operation).steps
}

/// A run with its residuals.
type Curve<'a> = (RunOf<'a>, &'a Series);

/// The runs on what is selected.
fn of_subject<'a>(data: &Data<'a>, mut runs: Vec<RunOf<'a>>) -> Vec<RunOf<'a>> {
    let wanted = subject(data.model, data.state).map(subject_key);
    runs.retain(|run| Some(run.key()) == wanted);
    runs
}

/// The fastest run with recorded residuals of each kernel, with each preconditioner, in each
/// bundle.
fn curves<'a>(data: &Data<'a>, runs: &[RunOf<'a>], names: Names) -> Vec<Curve<'a>> {
    let step = steps(data).one;
    let residuals =
        |run: &RunOf<'a>| told(run.run, step, RESIDUAL).filter(|series| !series.values.is_empty());
    let class = |run: &RunOf<'a>| residuals(run).map(|_| names.class(run));
    let found = best(runs, &class).into_values();
    found.filter_map(|run| Some((run, residuals(&run)?))).collect()
}

fn plane<'a>(data: &Data<'a>, x: Scale) -> Plot<'a> {
    let mut plot = Plot::plane(x, Scale::new(format!("{RESIDUAL} |b − Ax| / |b|"), true).lower());
    plot.subject = subject(data.model, data.state);
    plot
}

/// A residual to draw; `zeros` counts those that a logarithmic axis cannot show.
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

/// Returns whether two runs have the same residuals.
fn same_way((one, series): Curve<'_>, (other, others): Curve<'_>) -> bool {
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

/// The runs on the selected subject, and solves that have residuals but no time: those that gave up,
/// and those that nobody timed. They are omitted if another run with the same residuals has a time.
fn with_untimed<'a>(data: &Data<'a>) -> Vec<RunOf<'a>> {
    let mut runs = of_subject(data, data.runs.clone());
    let way = |run: &RunOf<'a>| {
        let system = ["b", "x0"].map(|name| run.param(name));
        (run.bundle.series, kernel(run), run.method(), system)
    };
    let timed =
        sparsescope_core::order::set(runs.iter().filter(|run| run.solved().is_some()).map(way));
    let mut untimed = of_subject(data, data.model.runs(&data.state.filter));
    untimed.retain(|run| {
        let has_ended = run.solved().is_some_and(|solve| !solve.converged || run.run.ranks());
        let is_untimed = run.rate().is_none() && !timed.contains(&way(run));
        has_ended && is_untimed && run.run.hot != data.state.charts.cold
    });
    runs.extend(untimed);
    runs
}

/// Kernels with the same residuals in a bundle share one line.
pub(super) fn by_steps<'a>(data: &Data<'a>) -> Plot<'a> {
    let words = steps(data).several;
    let mut plot = plane(data, Scale::new(words, false));
    let (runs, note) = few(with_untimed(data));
    let mut names = Names::of(&runs);
    let mut ways: Vec<(Curve<'a>, Vec<String>)> = Vec::new();
    for own in curves(data, &runs, names) {
        let name = kernel(&own.0);
        match ways.iter_mut().find(|(way, _)| same_way(*way, own)) {
            // The reference gives the line its name if it is among the runs.
            Some((way, names)) if name.starts_with(data.reference()) => {
                *way = own;
                names.insert(0, name);
            }
            Some((_, names)) => names.push(name),
            None => ways.push((own, vec![name])),
        }
    }
    plot.note = note;
    // If every solver has the same residuals, lines need not name them.
    let solvers = ways.first().filter(|way| way.0.0.solved().is_some()).map(|way| way.1.clone());
    let solvers = solvers.filter(|all| ways.iter().all(|(_, kernels)| kernels == all));
    if let Some(all) = solvers.as_ref().filter(|all| all.len() > 1) {
        names = Names::of_kernel(&runs);
        plot.note += &format!("{} have the same residuals. ", all.join(" and "));
    }
    let mut zeros = 0;
    for ((run, series), kernels) in ways {
        let (order, mut name) = names.class(&run);
        let others: Vec<&str> = kernels.iter().skip(1).map(|id| last_of(id)).collect();
        if !others.is_empty() && solvers.is_none() {
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
    plot.note += &zeros_note(zeros);
    plot
}

/// What distinguishes a kernel from others of its operation, without its precision.
fn last_of(name: &str) -> &str {
    KernelName::of(name.split(' ').next().unwrap_or(name)).last()
}

/// The true residual of a solve, next to the last recurrence residual.
fn add_end<'a>(plot: &mut Plot<'a>, run: &RunOf<'a>, at: f64, zeros: &mut usize) {
    let Some(Solve { ended, residual, true_residual: Some(residual_of_x), .. }) = run.solved()
    else {
        return;
    };
    let mut point = Point::of(run, at, drawn(*residual_of_x, zeros));
    let of_recurrence = residual.map_or_else(|| "–".into(), small);
    point.text = format!(
        "{}: {ended}; recurrence residual {of_recurrence}, true residual {}.",
        run.method(),
        small(*residual_of_x)
    );
    plot.add(usize::MAX, TRUE, Some(run.bundle), point);
}

/// Chooses the form, and isolates the selected series.
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
        name: format!("tolerance: {tolerance:e}"),
    };
    plot.guides = asked.into_iter().map(guide).collect();
}

pub(super) fn by_time<'a>(data: &Data<'a>) -> Plot<'a> {
    let Steps { several: words, time: title, after_setup, .. } = *steps(data);
    let mut plot = plane(data, Scale::new(title, data.state.log));
    let (runs, others) = few(of_subject(data, data.runs.clone()));
    let names = Names::of(&runs);
    let (mut zeros, mut first) = (0, None);
    for (run, series) in curves(data, &runs, names) {
        let Some(time_s) = run.iteration_s().or_else(|| time(&run)) else {
            continue;
        };
        let (order, name) = names.class(&run);
        let set_up_s = run.set_up_s().unwrap_or(0.0);
        let place = |steps: f64| (set_up_s + steps * time_s) * 1e3;
        for (k, value) in thinned(&series.values, MOST) {
            let steps = k as f64 * f64::from(series.every);
            if k == 0 {
                first = first.or(Some(value));
                // A logarithmic axis cannot show zero time, and times close to zero would take much
                // of it.
                if data.state.log && (!after_setup || place(0.0) < 0.1 * place(1.0)) {
                    continue;
                }
            }
            let mut point = Point::of(&run, place(steps), drawn(value, &mut zeros));
            let costs = &run.run.costs;
            let once = costs.plan_s + costs.conversion_s + costs.permute_s.unwrap_or(0.0);
            let once_s = run.set_up_s().unwrap_or(once);
            point.text = format!("{steps} {words}; one-time setup {}.", seconds(once_s));
            plot.add(order, &name, Some(run.bundle), point);
        }
        let iterations = run.solved().map_or(0, |solve| solve.iterations);
        add_end(&mut plot, &run, place(iterations as f64), &mut zeros);
    }
    finish(&mut plot);
    let zeros = zeros_note(zeros);
    plot.note = if after_setup {
        format!(
            "A line starts at the end of its setup; each iteration takes the mean time. {others}{zeros}"
        )
    } else {
        let begin = first.filter(|_| data.state.log).map(significant);
        let begin = begin.map_or_else(String::new, |first| format!("All lines start at {first}. "));
        format!("{begin}One-time setup is not included. {zeros}")
    };
    plot
}
