//! How many solves a preconditioner takes until its set-up has paid.

use std::collections::BTreeMap;

use super::Names;
use crate::model::{RunOf, seconds};
use crate::views::charts::plot::{Data, Plot, Point, Scale, best, kernel};

/// Preconditioners that others are compared with, by their word in files and in the chooser.
const BASES: [(&str, &str); 3] = [
    ("jacobi", "against Jacobi"),
    ("none", "against no preconditioner"),
    ("symgs", "against SymGS"),
];

pub(super) fn bases(_: &Data<'_>) -> Vec<String> {
    BASES.map(|(_, name)| name.to_owned()).to_vec()
}

/// Solves after which a set-up that takes `more_s` longer has paid where each solve is `gain_s` shorter.
fn solves(more_s: f64, gain_s: f64) -> f64 {
    if gain_s > 0.0 { (more_s / gain_s).ceil().max(1.0) } else { f64::INFINITY }
}

/// Of each kernel with each preconditioner against the same kernel, on the same system, with another one.
pub(super) fn break_even<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&bases(data));
    let word = BASES.iter().find(|(_, name)| *name == chosen).map_or("", |(word, _)| word);
    let title = format!("solves until the set-up has paid {chosen}");
    let mut plot = Plot::rows(Scale { never: "never", ..Scale::new(title, data.state.log) });
    let is_base = |run: &RunOf<'_>| run.param("precond") == Some(word);
    let names = Names::of(&data.runs);
    // The best of each class is the one that takes least in one solve with its set-up kept.
    let class = |run: &RunOf<'a>| run.solved().map(|_| names.class(run));
    let best = best(&data.runs, &class);
    let place = |run: &RunOf<'a>| (run.key(), run.bundle.series, kernel(run), run.system());
    let bases: BTreeMap<_, RunOf<'a>> =
        best.values().filter(|run| is_base(run)).map(|run| (place(run), *run)).collect();
    let mut kept = false;
    for ((_, subject, _, (order, name)), run) in best.iter().filter(|(_, run)| !is_base(run)) {
        let Some(base) = bases.get(&place(run)) else { continue };
        let times = |run: &RunOf<'_>| Some((run.set_up_s()?, run.solve_s()?));
        let (Some((set_up_s, own_s)), Some((base_set_up_s, base_s))) = (times(run), times(base))
        else {
            continue;
        };
        let (more_s, gain_s) = (set_up_s - base_set_up_s, base_s - own_s);
        let row = plot.row(|| run.name(), subject);
        let mut point = Point::of(run, solves(more_s, gain_s), row);
        point.text = format!(
            "Set-up {} and {} a solve against {} and {}.",
            seconds(set_up_s),
            seconds(own_s),
            seconds(base_set_up_s),
            seconds(base_s)
        );
        if let Some(symbolic_s) = run.symbolic_s().filter(|_| point.at[0].is_finite()) {
            let with_pattern = solves(more_s - symbolic_s, gain_s);
            point.range = Some([point.at[0], with_pattern]);
            point.text += &format!(" With a pattern kept from before, {with_pattern}.");
            kept = true;
        }
        plot.add(*order, name, Some(run.bundle), point);
    }
    if kept {
        plot.note = "Full marks: with the whole set-up; hollow marks: where the pattern is kept and its values alone are computed anew.".into();
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_up_pays_after_whole_solves_at_the_earliest_in_the_first_and_perhaps_never() {
        assert_eq!(solves(10.0, 4.0), 3.0);
        assert_eq!(solves(8.0, 4.0), 2.0);
        assert_eq!(solves(-1.0, 4.0), 1.0);
        assert_eq!(solves(1.0, 0.0), f64::INFINITY);
        assert_eq!(
            solves(-1.0, -1.0),
            f64::INFINITY,
            "what is slower in each solve loses in the end"
        );
    }
}
