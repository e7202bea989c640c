//! Time to solution by part: the phases of the setup, and the iterations.

use super::{Names, few};
use crate::model::{RunOf, seconds, significant, subject_key};
use crate::views::charts::best::best_by;
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale};
use crate::views::view::subject;

const WITH_SOLVE: &str = "setup and iterations";
const ALONE: &str = "setup only";

pub(super) fn shown(_: &Data<'_>) -> Vec<String> {
    [WITH_SOLVE, ALONE].map(str::to_owned).to_vec()
}

/// Phases of all preconditioners, in execution order.
const ORDER: [&str; 10] = [
    "diagonal",
    "levels",
    "rows",
    "prefilter",
    "pattern",
    "group",
    "values",
    "postfilter",
    "transpose",
    "format",
];
const ITERATIONS: &str = "iterations";
/// The rest of the setup outside its phases is not drawn below this fraction.
const LEAST: f64 = 0.005;

/// The parts of a run's time to solution in order, each with its index.
fn parts(run: &RunOf<'_>) -> Option<Vec<(usize, String, f64)>> {
    let solve = run.solved()?;
    let place = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    let mut parts: Vec<(usize, String, f64)> = Vec::new();
    for phase in &solve.phases {
        match parts.iter_mut().find(|(_, name, _)| *name == phase.name) {
            Some((.., seconds)) => *seconds += phase.seconds,
            None => parts.push((place(&phase.name), phase.name.clone(), phase.seconds)),
        }
    }
    let rest_s = solve.setup_s - solve.phases.iter().map(|phase| phase.seconds).sum::<f64>();
    if rest_s > LEAST * solve.setup_s {
        parts.push((ORDER.len() + 1, "rest of the setup".into(), rest_s));
    }
    let conversion_s = run.run.costs.conversion_s;
    if conversion_s > 0.0 {
        parts.push((ORDER.len() + 2, "conversion of A".into(), conversion_s));
    }
    parts.push((ORDER.len() + 3, ITERATIONS.into(), run.solve_s()?));
    Some(parts)
}

/// A bar for each preconditioner on the selected subject, at each kernel's best setting.
pub(super) fn phases<'a>(data: &Data<'a>) -> Plot<'a> {
    let is_whole = data.chosen(&shown(data)) == WITH_SOLVE;
    let title = if is_whole { "milliseconds to solution" } else { "milliseconds of setup" };
    let mut plot = Plot::rows(Scale::new(title, false));
    plot.form = Form::Bars;
    plot.subject = subject(data.model, data.state);
    let wanted = plot.subject.map(subject_key);
    let is_selected = |run: &&RunOf<'a>| Some(run.key()) == wanted;
    let (runs, note) = few(data.runs.iter().filter(is_selected).copied().collect());
    plot.note = note;
    let names = Names::of(&runs);
    let class = |run: &RunOf<'a>| Some(names.class(run));
    let mut least: Option<(f64, String)> = None;
    for ((.., (_, name)), run) in best_by(&runs, &class, RunOf::solves_before) {
        let Some(parts) = parts(&run) else { continue };
        let whole_s: f64 = parts.iter().map(|(.., seconds)| seconds).sum();
        if least.as_ref().is_none_or(|(least_s, _)| whole_s < *least_s) {
            least = Some((whole_s, name.clone()));
        }
        let iterations = run.solved().map_or(0, |solve| solve.iterations);
        let mut from = 0.0;
        for (order, part, seconds_s) in parts {
            if part == ITERATIONS && !is_whole {
                continue;
            }
            let row = plot.row(|| name.clone(), &name);
            let to = from + seconds_s * 1e3;
            let mut point = Point::of(&run, seconds_s * 1e3, row);
            point.range = Some([from, to]);
            point.text = format!(
                "{} % of {} with {iterations} iterations.",
                significant(seconds_s / whole_s * 100.0),
                seconds(whole_s)
            );
            plot.add(order, &part, Some(run.bundle), point);
            from = to;
        }
    }
    if let Some((whole_s, name)) = least.filter(|_| plot.rows.iter().flatten().count() > 1) {
        plot.note += &format!("Fastest to one solution: {name}, {}.", seconds(whole_s));
    }
    plot
}
