//! Number of solves after which the setup of a preconditioner pays off.

use super::{Names, few};
use crate::model::{RunOf, seconds, subject_key};
use crate::views::charts::best::best;
use crate::views::charts::plot::{Data, Plot, Point, Scale, kernel};
use crate::views::view::subject;

/// Baseline preconditioners, by their word in files and in the chooser.
const BASES: [(&str, &str); 3] = [
    ("jacobi", "against Jacobi"),
    ("none", "against no preconditioner"),
    ("symgs", "against SymGS"),
];
const WHOLE: &str = "including the whole setup";
const KEPT: &str = "reusing the pattern";

pub(super) fn bases(_: &Data<'_>) -> Vec<String> {
    BASES.map(|(_, name)| name.to_owned()).to_vec()
}

/// Solves after which a setup that takes `more_s` longer pays off, if each solve is `gain_s`
/// shorter.
fn solves(more_s: f64, gain_s: f64) -> f64 {
    if gain_s > 0.0 { (more_s / gain_s).ceil().max(1.0) } else { f64::INFINITY }
}

/// One row per preconditioner on the selected subject: compared with another one, with the same
/// kernel and system.
pub(super) fn break_even<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&bases(data));
    let word = BASES.iter().find(|(_, name)| *name == chosen).map_or("", |(word, _)| word);
    let title = format!("solves until the setup pays off {chosen}");
    let mut plot =
        Plot::rows(Scale { never: "never", ..Scale::new(title, data.state.log).lower() });
    plot.subject = subject(data.model, data.state);
    let wanted = plot.subject.map(subject_key);
    let is_selected = |run: &&RunOf<'a>| Some(run.key()) == wanted;
    let (runs, note) = few(data.runs.iter().filter(is_selected).copied().collect());
    plot.note = note;
    let is_base = |run: &RunOf<'_>| run.param("precond") == Some(word);
    let names = Names::of(&runs);
    // The best of each class is the one with the shortest solves: a setup pays off over many of
    // them.
    let class = |run: &RunOf<'a>| run.solved().map(|_| names.class(run));
    let best = best(&runs, &class);
    let place = |run: &RunOf<'a>| (run.bundle.series, kernel(run), run.system());
    let bases = best.values().filter(|run| is_base(run)).map(|run| (place(run), *run));
    let bases = sparsescope_core::order::map(bases);
    for ((.., (_, name)), run) in best.iter().filter(|(_, run)| !is_base(run)) {
        let Some(base) = bases.get(&place(run)) else { continue };
        let times = |run: &RunOf<'_>| Some((run.set_up_s()?, run.solve_s()?));
        let (Some((set_up_s, own_s)), Some((base_set_up_s, base_s))) = (times(run), times(base))
        else {
            continue;
        };
        let (more_s, gain_s) = (set_up_s - base_set_up_s, base_s - own_s);
        let row = plot.row(|| name.clone(), name);
        let told = format!(
            "Setup {} and {} per solve, against {} and {}.",
            seconds(set_up_s),
            seconds(own_s),
            seconds(base_set_up_s),
            seconds(base_s)
        );
        let mut add = |order: usize, series: &str, more_s: f64, text: String| {
            let point = Point::of(run, solves(more_s, gain_s), row);
            plot.add(order, series, Some(run.bundle), Point { text, ..point });
        };
        if let Some(symbolic_s) = run.symbolic_s().filter(|_| gain_s > 0.0) {
            let saved = format!("{told} The pattern takes {} of the setup.", seconds(symbolic_s));
            add(1, KEPT, more_s - symbolic_s, saved);
        }
        add(0, WHOLE, more_s, told);
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
        let slower = solves(-1.0, -1.0);
        assert_eq!(slower, f64::INFINITY, "what is slower in each solve loses in the end");
    }
}
