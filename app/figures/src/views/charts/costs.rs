//! The cost of preparation, and when it pays off.

use super::best::best;
use super::plot::{Data, Plot, Point, Scale, kernel};
use crate::model::{RunOf, seconds};

/// One row per subject, and for each kernel a value of its fastest run. The reference itself and
/// runs without a known preparation time are left out.
fn of_best<'a>(data: &Data<'a>, x: Scale, value: fn(&RunOf<'_>, f64) -> f64) -> Plot<'a> {
    let mut plot = Plot::rows(x);
    let reference = data.reference();
    let class = |run: &RunOf<'a>| (run.run.kernel != reference).then(|| (0, kernel(run)));
    for ((_, subject, _, (_, name)), run) in best(&data.runs, &class) {
        let figures = run.run.figures.as_ref();
        let serial = figures.and_then(|figures| Some(figures.speedup? * figures.median_s));
        let Some(serial) = serial else { continue };
        let row = plot.row(|| run.name(), &subject);
        let costs = &run.run.costs;
        let [conversion, plan] = [costs.conversion_s, costs.plan_s].map(seconds);
        let text = format!("Conversion {conversion}, planning {plan}.");
        let point = Point { text, ..Point::of(&run, value(&run, serial), row) };
        plot.add(0, &name, Some(run.bundle), point);
    }
    plot
}

pub(super) fn conversion<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = format!("conversion and planning, in {} of {}", data.words(), data.reference());
    let x = Scale::new(title, data.state.log).lower();
    of_best(data, x, |run, serial| (run.run.costs.conversion_s + run.run.costs.plan_s) / serial)
}

pub(super) fn break_even<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = format!("{} until conversion and planning pay off", data.words());
    let x = Scale { never: "never", ..Scale::new(title, data.state.log).lower() };
    of_best(data, x, |run, _| run.run.costs.break_even.unwrap_or(f64::INFINITY))
}
