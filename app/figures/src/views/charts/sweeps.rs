//! Symmetric sweeps: their time against the number of rows that can be computed in parallel, and
//! passes over all rows.

use sparsescope_core::symgs::Mode;

use super::best::best;
use super::plot::{Data, Form, Guide, Plot, Point, Scale, kernel};
use super::told::{thinned, time, told};
use crate::model::{RunOf, significant, subject_key};
use crate::views::view::subject;

/// The quantities that times are drawn against.
const AGAINST: [&str; 3] =
    ["time against mean level width", "time against levels", "time per level against mean width"];

pub(super) fn against(_: &Data<'_>) -> Vec<String> {
    AGAINST.map(str::to_owned).to_vec()
}

/// A mark for the fastest run of each kernel on each matrix whose levels are in its bundle.
pub(super) fn parallelism<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&against(data));
    let [_, by_levels, a_level] = AGAINST.map(|name| name == chosen);
    let width = "mean level width, both sweeps: rows that can run in parallel";
    let x = if by_levels { "levels, both sweeps: steps that must run in order" } else { width };
    let y = if a_level { "nanoseconds per level" } else { "microseconds per symmetric sweep" };
    let log = data.state.log;
    let mut plot = Plot::plane(Scale::new(x, log), Scale::new(y, log).lower());
    // The modes are different operators: only one of them is drawn.
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
            "{} rows, {} levels in both sweeps, {} colours.",
            depth.rows, depth.levels, depth.colors
        );
        plot.add(0, &name, Some(run.bundle), point);
    }
    if !by_levels && !plot.is_empty() {
        let most = plot.points().map(|(_, _, point)| point.at[1]).fold(0.0, f64::max);
        let least = plot.points().map(|(_, _, point)| point.at[1]).fold(most, f64::min);
        let ends = [[32.0, least], [32.0, most]];
        plot.guides.push(Guide { ends, name: "32 rows: one warp".into() });
    }
    plot
}

/// More passes are thinned to the minimum and maximum of intervals, at most this many values.
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
                    "Over all passes, {} of {} blocks had work.",
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
