//! The raw times of one matrix, and how often a kernel is close to the best.

use std::collections::BTreeMap;

use sparsescope_core::record::Operation;

use super::best::best;
use super::plot::{Data, Form, Guide, Plot, Point, Scale, kernel};
use crate::model::{RunOf, significant, subject_key};
use crate::views::view::subject;

pub(super) fn samples<'a>(data: &Data<'a>) -> Plot<'a> {
    let word = data.operation().map_or("run", Operation::word);
    let mut plot =
        Plot::rows(Scale::new(format!("microseconds per {word}"), data.state.log).lower());
    plot.form = Form::Boxes;
    plot.subject = subject(data.model, data.state);
    let wanted = plot.subject.map(subject_key);
    let class = |run: &RunOf<'a>| (Some(run.key()) == wanted).then(|| (0, kernel(run)));
    for ((.., (_, name)), run) in best(&data.runs, &class) {
        let Some(figures) = run.run.figures.as_ref() else { continue };
        let row = plot.row(|| name.clone(), &name);
        let micro = |seconds: f64| seconds * 1e6;
        let mut point = Point::of(&run, micro(figures.median_s), row);
        point.range = Some([micro(figures.q1_s), micro(figures.q3_s)]);
        point.text = format!(
            "{} samples; the box spans the first to the third quartile.",
            run.run.samples.len()
        );
        plot.add(0, &name, Some(run.bundle), point);
        for sample in &run.run.samples {
            plot.add(0, &name, Some(run.bundle), Point::of(&run, micro(*sample), row));
        }
    }
    plot
}

/// The profile ends at this τ, unless a larger one is set.
const FAR: f64 = 10.0;

/// Dolan and Moré, Benchmarking optimization software with performance profiles, 2002: the fraction
/// of matrices on which a kernel takes at most τ times as long as the best of its bundle. A matrix
/// for which a kernel has no time counts against it.
pub(super) fn profile<'a>(data: &Data<'a>) -> Plot<'a> {
    let x = Scale::new("τ: time relative to the best kernel", true);
    let mut plot = Plot::plane(x, Scale::new("matrices within τ, %", false));
    plot.form = Form::Steps;
    let best = best(&data.runs, &|run| Some((0, kernel(run))));
    let mut top: BTreeMap<(usize, String), RunOf<'a>> = BTreeMap::new();
    for ((_, subject, bundle, _), run) in &best {
        let top = top.entry((*bundle, subject.clone())).or_insert(*run);
        if run.beats(top) {
            *top = *run;
        }
    }
    let mut ratios: BTreeMap<(String, usize), (RunOf<'a>, Vec<f64>)> = BTreeMap::new();
    let mut most = data.state.charts.tau;
    for ((_, subject, bundle, (_, name)), run) in best {
        let ratio = top.get(&(bundle, subject)).and_then(|top| top.gain_over(&run));
        let Some(ratio) = ratio else { continue };
        let (_, of) = ratios.entry((name, bundle)).or_insert((run, Vec::new()));
        of.push(ratio);
        most = most.max(ratio);
    }
    let tau = data.state.charts.tau;
    // Kernels that are far slower just count as slow; other charts show by how much.
    let most = most.min(tau.max(FAR));
    plot.x.most = Some(most);
    for ((name, bundle), (run, mut ratios)) in ratios {
        let matrices = top.keys().filter(|(of, _)| *of == bundle).count();
        ratios.sort_unstable_by(f64::total_cmp);
        let within = |tau: f64| ratios.partition_point(|ratio| *ratio <= tau);
        let mut ends = ratios.clone();
        ends.extend([1.0, tau, most]);
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        ends.retain(|end| *end <= most);
        for end in ends {
            let count = within(end);
            let mut point =
                Point { at: [end, 100.0 * count as f64 / matrices as f64], ..Point::default() };
            if end == tau {
                point.label = count.to_string();
                point.text = format!("{count} of {matrices} matrices.");
            }
            plot.add(0, &name, Some(run.bundle), point);
        }
    }
    let name = format!("τ = {}", significant(tau));
    plot.guides.push(Guide { ends: [[tau, 0.0], [tau, 100.0]], name });
    plot
}
