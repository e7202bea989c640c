//! Symmetric sweeps: how far each order of the rows brings the residual down, by sweeps and by time,
//! how their time follows from how many rows can be computed at once, and passes over all rows.

use sparsescope_core::record::{History, Run, Series};
use sparsescope_core::symgs::Mode;

use super::plot::{Data, Form, Guide, Plot, Point, Scale, best, kernel};
use crate::model::{RunOf, seconds, significant, subject_key};
use crate::views::view::subject;

const RESIDUAL: &str = "relative residual";
/// On a logarithmic axis residuals of 0 are drawn here.
const ZERO: f64 = 1e-18;

/// The series of this name and step of what a run told.
fn told<'a>(run: &'a Run, step: &str, name: &str) -> Option<&'a Series> {
    let History { step: usual, series } = run.history.as_ref()?;
    let is_asked = |of: &&Series| of.name == name && of.step.as_ref().unwrap_or(usual) == step;
    series.iter().find(is_asked)
}

fn residuals<'a>(run: &RunOf<'a>) -> Option<&'a Series> {
    told(run.run, "sweep", RESIDUAL).filter(|series| !series.values.is_empty())
}

/// Median seconds of one symmetric sweep; an execution may be several.
fn time(run: &RunOf<'_>) -> Option<f64> {
    let median_s = run.run.figures.as_ref()?.median_s;
    let sweeps = run.run.work.map_or(1, |work| work.iterations.max(1));
    Some(median_s / sweeps as f64)
}

/// The fastest run of each kernel on what is selected that told its residuals, in each bundle.
fn of_selected<'a>(data: &Data<'a>) -> Vec<(String, RunOf<'a>)> {
    let wanted = subject(data.model, data.state).map(subject_key);
    let class = |run: &RunOf<'a>| {
        residuals(run)?;
        (Some(run.key()) == wanted).then(|| (0, kernel(run)))
    };
    let found = best(&data.runs, &class).into_iter();
    found.map(|((.., (_, name)), run)| (name, run)).collect()
}

fn plane<'a>(data: &Data<'a>, x: Scale) -> Plot<'a> {
    let mut plot = Plot::plane(x, Scale::new(format!("{RESIDUAL} |b − Ax| / |b|"), true));
    plot.form = Form::Lines;
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

/// Kernels with the same residuals in a bundle go the same way: they have one line together.
pub(super) fn convergence<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot = plane(data, Scale::new("symmetric sweeps", false));
    let mut ways: Vec<(RunOf<'a>, &'a Series, Vec<String>)> = Vec::new();
    for (name, run) in of_selected(data) {
        let Some(series) = residuals(&run) else { continue };
        let bundle = run.bundle.series;
        let same = |way: &&mut (RunOf<'a>, &Series, Vec<String>)| {
            way.0.bundle.series == bundle && way.1 == series
        };
        match ways.iter_mut().find(same) {
            // The reference names the way, where it went it.
            Some((of, _, names)) if name.starts_with(data.reference()) => {
                *of = run;
                names.insert(0, name);
            }
            Some((.., names)) => names.push(name),
            None => ways.push((run, series, vec![name])),
        }
    }
    let mut zeros = 0;
    for (run, series, names) in ways {
        let mut names = names.into_iter();
        let mut name = names.next().unwrap_or_default();
        let others: Vec<String> = names.map(|id| last_of(&id).to_owned()).collect();
        if !others.is_empty() {
            name += &format!(" (and {})", others.join(", "));
        }
        for (k, value) in series.values.iter().enumerate() {
            let sweeps = k as f64 * f64::from(series.every);
            let point = Point::of(&run, sweeps, drawn(*value, &mut zeros));
            plot.add(0, &name, Some(run.bundle), point);
        }
    }
    plot.note = zeros_note(zeros);
    plot
}

/// What tells a kernel from others of its operation, without its precision.
fn last_of(name: &str) -> &str {
    let id = name.split(' ').next().unwrap_or(name);
    id.rsplit('/').next().unwrap_or(id)
}

pub(super) fn convergence_by_time<'a>(data: &Data<'a>) -> Plot<'a> {
    let x = Scale::new("milliseconds of sweeps (sweeps × median time)", data.state.log);
    let mut plot = plane(data, x);
    let (mut zeros, mut first) = (0, None);
    for (name, run) in of_selected(data) {
        let (Some(series), Some(time_s)) = (residuals(&run), time(&run)) else { continue };
        for (k, value) in series.values.iter().enumerate() {
            let sweeps = k as f64 * f64::from(series.every);
            if k == 0 {
                first = first.or(Some(*value));
                if data.state.log {
                    continue;
                }
            }
            let mut point = Point::of(&run, sweeps * time_s * 1e3, drawn(*value, &mut zeros));
            let costs = &run.run.costs;
            let once = costs.plan_s + costs.conversion_s + costs.permute_s.unwrap_or(0.0);
            point.text = format!("{sweeps} sweeps; set-up once {}.", seconds(once));
            plot.add(0, &name, Some(run.bundle), point);
        }
    }
    let begin = first.filter(|_| data.state.log).map(significant);
    let begin = begin.map_or_else(String::new, |first| format!("All begin at {first}. "));
    plot.note =
        format!("{begin}What getting ready costs once is not counted. {}", zeros_note(zeros));
    plot
}

/// Against what times are drawn.
const AGAINST: [&str; 3] =
    ["time against mean level width", "time against levels", "time a level against mean width"];

pub(super) fn against(_: &Data<'_>) -> Vec<String> {
    AGAINST.map(str::to_owned).to_vec()
}

/// A mark for the fastest run of each kernel on each matrix whose levels its bundle holds.
pub(super) fn parallelism<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&against(data));
    let [_, by_levels, a_level] = AGAINST.map(|name| name == chosen);
    let width = "mean level width of both sweeps: rows that can be computed at once";
    let x =
        if by_levels { "levels of both sweeps: steps that must follow one another" } else { width };
    let y = if a_level { "nanoseconds a level" } else { "microseconds a symmetric sweep" };
    let log = data.state.log;
    let mut plot = Plot::plane(Scale::new(x, log), Scale::new(y, log));
    // The modes are two operators: one of them is drawn.
    let is_standard = |run: &RunOf<'a>| {
        run.run.params.get("mode").is_none_or(|mode| mode == Mode::Standard.as_str())
    };
    let any_standard = data.runs.iter().any(is_standard);
    let class = |run: &RunOf<'a>| (is_standard(run) || !any_standard).then(|| (0, kernel(run)));
    for ((.., (_, name)), run) in best(&data.runs, &class) {
        let Some(time_s) = time(&run) else { continue };
        let Some(depth) = data.model.depth(&run.key()) else { continue };
        let levels = depth.levels as f64;
        let width = 2.0 * depth.rows as f64 / levels;
        let x = if by_levels { levels } else { width };
        let y = if a_level { time_s * 1e9 / levels } else { time_s * 1e6 };
        let mut point = Point::of(&run, x, y);
        point.text = format!(
            "{} rows, {} levels of both sweeps, {} colours.",
            depth.rows, depth.levels, depth.colors
        );
        plot.add(0, &name, Some(run.bundle), point);
    }
    if !by_levels && !plot.is_empty() {
        let most = plot.points().map(|(_, _, point)| point.at[1]).fold(0.0, f64::max);
        let least = plot.points().map(|(_, _, point)| point.at[1]).fold(most, f64::min);
        let ends = [[32.0, least], [32.0, most]];
        plot.guides.push(Guide { ends, name: "32 rows: a warp".into() });
    }
    plot
}

/// More passes are drawn as the least and the most of each so many.
const MOST_PASSES: usize = 400;
const BLOCKS: [&str; 2] = ["blocks launched", "blocks with work"];

pub(super) fn passes<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let mut plot = Plot::plane(Scale::new("pass over all rows", false), Scale::new("blocks", log));
    plot.form = Form::Lines;
    plot.subject = subject(data.model, data.state);
    let wanted = plot.subject.map(subject_key);
    let class = |run: &RunOf<'a>| {
        told(run.run, "pass", BLOCKS[1])?;
        (Some(run.key()) == wanted).then(|| (0, kernel(run)))
    };
    let mut idle = 0;
    for ((.., (_, kernel)), run) in best(&data.runs, &class) {
        let sums = BLOCKS.map(|name| {
            let series = told(run.run, "pass", name);
            series.map_or(0.0, |series| series.values.iter().sum::<f64>())
        });
        for (order, name) in BLOCKS.into_iter().enumerate() {
            let Some(series) = told(run.run, "pass", name) else { continue };
            for (pass, blocks) in thinned(&series.values, MOST_PASSES) {
                if log && blocks <= 0.0 {
                    idle += 1;
                    continue;
                }
                let every = f64::from(series.every);
                let mut point = Point::of(&run, (pass + 1) as f64 * every, blocks);
                point.text = format!(
                    "In all passes {} blocks of {} had work.",
                    significant(sums[1]),
                    significant(sums[0])
                );
                plot.add(order, &format!("{name}, {kernel}"), Some(run.bundle), point);
            }
        }
        let share = sums[1] / sums[0] * 100.0;
        if share.is_finite() {
            let passes = told(run.run, "pass", BLOCKS[1]).map_or(0, |of| of.values.len());
            plot.note += &format!(
                "{kernel}: {passes} passes, {} % of the blocks had work. ",
                significant(share)
            );
        }
    }
    if idle > 0 {
        plot.note += &format!("{idle} passes without blocks are not drawn.");
    }
    plot
}

/// Each value with its place; of many, the least and the greatest of each so many.
fn thinned(values: &[f64], most: usize) -> Vec<(usize, f64)> {
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
