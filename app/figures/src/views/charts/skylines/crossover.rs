//! The number of points from which a GPU is faster than the CPU in total.

use std::collections::BTreeMap;

use sparsescope_core::kernel::{Origin, Version, kernels};
use sparsescope_core::record::Operation;

use super::sets::{Set, Varies, chosen};
use super::times::{lone, lone_words};
use crate::model::{RunOf, significant};
use crate::views::charts::best::best;
use crate::views::charts::plot::{Data, Form, Plot, Point, Scale};

/// Where a time falls below another for good.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crossing {
    /// Below it already at the fewest points measured.
    Before(u64),
    /// At `points` points, between two measured numbers.
    At { points: f64, between: [u64; 2] },
    /// Not below it at the most points measured.
    Beyond(u64),
}

/// Finds the crossing of two times from their ratios by number of points, ascending. Interpolates
/// with a power law, a straight line on logarithmic axes.
fn crossing(ratios: &[(u64, f64)]) -> Option<Crossing> {
    let (first, last) = (ratios.first()?, ratios.last()?);
    let Some(place) = ratios.iter().rposition(|(_, ratio)| *ratio >= 1.0) else {
        return Some(Crossing::Before(first.0));
    };
    let (Some(&(low, above)), Some(&(high, below))) = (ratios.get(place), ratios.get(place + 1))
    else {
        return Some(Crossing::Beyond(last.0));
    };
    let share = above.ln() / (above.ln() - below.ln());
    let [from, to] = [low, high].map(|points| (points as f64).ln());
    Some(Crossing::At { points: (from + share * (to - from)).exp(), between: [low, high] })
}

fn sentence(own: &str, other: &str, ratios: &[(u64, f64)]) -> String {
    let Some(crossing) = crossing(ratios) else { return String::new() };
    let what = match crossing {
        Crossing::Before(points) => {
            format!("beats {other} from N = {points}, the smallest measured")
        }
        Crossing::At { points, between: [low, high] } => format!(
            "beats {other} from N ≈ {} (interpolated between the measured {low} and {high})",
            significant(points)
        ),
        Crossing::Beyond(points) => {
            format!("does not beat {other} up to N = {points}, the largest measured")
        }
    };
    format!("In total time, {own} {what}. ")
}

/// The minimum total of some runs at each number of points.
fn least(
    totals: &[(u64, RunOf<'_>, f64)],
    is_its: impl Fn(&RunOf<'_>) -> bool,
) -> BTreeMap<u64, f64> {
    let mut least = BTreeMap::new();
    for (points, _, total_s) in totals.iter().filter(|(_, run, _)| is_its(run)) {
        let found = least.entry(*points).or_insert(*total_s);
        *found = found.min(*total_s);
    }
    least
}

fn ratios(own: &BTreeMap<u64, f64>, other: &BTreeMap<u64, f64>) -> Vec<(u64, f64)> {
    own.iter().filter_map(|(points, own_s)| Some((*points, own_s / other.get(points)?))).collect()
}

/// The final version of the report for CPUs.
fn final_version() -> &'static str {
    let mut all = kernels(Operation::Skyline).iter();
    all.find(|kernel| kernel.version == Some(Version::Final)).map_or("", |kernel| kernel.id)
}

/// Totals of each kernel at its best setting, the CPU's first.
pub(super) fn crossover<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let mut plot =
        Plot::plane(Scale::new("points", log), Scale::new("total milliseconds", log).lower());
    plot.form = Form::Lines;
    let Some(family) = chosen(data, Varies::Points) else { return plot };
    let is_on_cpu = |run: &RunOf<'_>| run.run.is_on_cpu();
    let class = |run: &RunOf<'a>| {
        let order = usize::from(!is_on_cpu(run));
        family.holds(run).then(|| (order, run.run.kernel_and_precision()))
    };
    let mut totals: BTreeMap<usize, Vec<(u64, RunOf<'a>, f64)>> = BTreeMap::new();
    let mut found = Vec::new();
    for ((.., bundle, (order, name)), run) in best(&data.runs, &class) {
        let (Some(set), Some(total)) = (Set::of(run.subject), run.total()) else { continue };
        totals.entry(bundle).or_default().push((set.points, run, total.whole_s()));
        found.push((set.points, order, name, run, total.whole_s()));
    }
    plot.note = format!("{}. ", family.name);
    // With one side only there is no crossing.
    if !found.iter().any(|(_, order, ..)| *order == 0)
        || !found.iter().any(|(_, order, ..)| *order == 1)
    {
        return plot;
    }
    sparsescope_core::order::sort_by(&mut found, |a, b| a.0.cmp(&b.0));
    for (points, order, name, run, whole_s) in found {
        plot.add(order, &name, Some(run.bundle), Point::of(&run, points as f64, whole_s * 1e3));
    }
    let lone = lone(&plot);
    for (bundle, of) in &mut totals {
        of.retain(|(_, run, _)| !lone.contains(&(run.run.kernel_and_precision(), *bundle)));
        let (cpu, gpu) = (least(of, is_on_cpu), least(of, |run| !is_on_cpu(run)));
        plot.note +=
            &sentence("the fastest GPU kernel", "the fastest CPU kernel", &ratios(&gpu, &cpu));
        let is_papers = |run: &RunOf<'_>| {
            let paper = Origin::Paper004.as_str();
            !is_on_cpu(run) && run.run.origin.iter().any(|of| of == paper)
        };
        let last = final_version();
        let (cpu, gpu) = (least(of, |run| run.run.kernel == last), least(of, is_papers));
        plot.note +=
            &sentence("the skyline report's fastest GPU kernel", last, &ratios(&gpu, &cpu));
    }
    if let Some(words) = lone_words(lone.iter().map(|(name, _)| name.as_str()), "points") {
        plot.note += &format!("{words} ");
    }
    plot.note += "Totals include transposing, transfer and allocation, but not reading the points.";
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossing_lies_where_two_power_laws_meet_and_is_the_last_one() {
        // 1000 / N: 1 at 1000, which is between 500 and 4000.
        let law = |points: u64| (points, 1000.0 / points as f64);
        let found = crossing(&[500, 4000, 8000].map(law)).unwrap();
        let Crossing::At { points, between } = found else { panic!("{found:?}") };
        assert!((points / 1000.0 - 1.0).abs() < 1e-12 && between == [500, 4000]);
        // Below, above again, and then below for good.
        let again = [(1, 2.0), (2, 0.5), (4, 4.0), (16, 0.25)];
        let Some(Crossing::At { points, between }) = crossing(&again) else { panic!() };
        assert!((points - 8.0).abs() < 1e-12 && between == [4, 16]);
        assert_eq!(crossing(&[(5, 0.5), (6, 0.9)]), Some(Crossing::Before(5)));
        assert_eq!(crossing(&[(5, 0.5), (6, 1.0)]), Some(Crossing::Beyond(6)));
        assert_eq!(crossing(&[]), None);
    }
}
