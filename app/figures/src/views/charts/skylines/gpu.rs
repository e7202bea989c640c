//! The speed-up of a GPU over the CPU on the same points, the cost of transferring them, and where
//! the GPU counts skyline points.

use std::collections::BTreeMap;

use sparsescope_core::kernel::KernelName;

use super::times::geometric_mean;
use crate::model::{RunOf, Total, seconds, significant};
use crate::views::charts::best::{bases, best};
use crate::views::charts::plot::{Data, Guide, Plot, Point, Scale};

const FASTEST: &str = "the fastest CPU kernel";

/// The baseline of GPU kernels: the best CPU kernel, or a given one.
pub(super) fn baselines(data: &Data<'_>) -> Vec<String> {
    let all = data.model.values(&data.state.filter.operation).kernels.iter();
    let on_cpu = all.filter(|id| KernelName::of(id).is_on_cpu()).cloned();
    std::iter::once(FASTEST.to_owned()).chain(on_cpu).collect()
}

fn equal(plot: &mut Plot<'_>) {
    plot.guides.push(Guide { ends: [[1.0, 0.0], [1.0, 0.0]], name: "equal".into() });
}

/// Median seconds; every run drawn has one.
fn median(run: &RunOf<'_>) -> Option<f64> {
    run.figures().map(|figures| figures.median_s)
}

/// Seconds for reading or generating the points.
fn reading(run: &RunOf<'_>) -> Option<f64> {
    match run.subject {
        sparsescope_core::record::Subject::Other(record) => record.read_seconds,
        sparsescope_core::record::Subject::Matrix(_) => None,
    }
}

pub(super) fn gain<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&baselines(data));
    let mut plot = Plot::rows(Scale::new(format!("speed-up over {chosen}"), data.state.log));
    let class = |run: &RunOf<'a>| match run.run.is_on_cpu() {
        true => (chosen == FASTEST || run.run.kernel == chosen).then(|| (0, String::new())),
        false => Some((1, run.run.kernel_and_precision())),
    };
    let best = best(&data.runs, &class);
    let on_cpu = bases(&best);
    let mut lacking = 0;
    for ((_, subject, bundle, (order, name)), run) in &best {
        let on_cpu = on_cpu.get(&(subject.as_str(), *bundle));
        let Some(base) = on_cpu.filter(|_| *order == 1) else { continue };
        let (Some(base_s), Some(own_s)) = (median(base), median(run)) else { continue };
        let mut point = Point::of(run, base_s / own_s, plot.row(|| run.name(), subject));
        let (kernel, setting) = (&base.run.kernel, base.setting());
        point.text = format!("{kernel} ({setting}) takes {}.", seconds(base_s));
        match run.total() {
            Some(total) => {
                let whole_s = total.whole_s();
                point.range = Some([base_s / own_s, base_s / whole_s]);
                let times = significant(base_s / whole_s);
                point.text += &format!(" Total {}: {times} times as fast", seconds(whole_s));
                if let Some(read_s) = reading(run) {
                    let times = significant((base_s + read_s) / (whole_s + read_s));
                    point.text +=
                        &format!(", {times} times including reading the points on both sides");
                }
                point.text += ".";
            }
            None => lacking += 1,
        }
        plot.add(0, name, Some(run.bundle), point);
    }
    if !plot.is_empty() {
        plot.note =
            "Full marks: kernel only; hollow marks: with transposing, transfer and allocation."
                .into();
    }
    if lacking > 0 {
        plot.note += &format!(" {lacking} runs do not record these.");
    }
    equal(&mut plot);
    plot
}

pub(super) fn transfer<'a>(data: &Data<'a>) -> Plot<'a> {
    let title = "% of total time: transfer (full), with allocation (hollow)";
    let mut plot = Plot::rows(Scale::new(title, false));
    let class =
        |run: &RunOf<'a>| (!run.run.is_on_cpu()).then(|| (0, run.run.kernel_and_precision()));
    for ((_, subject, _, (_, name)), run) in best(&data.runs, &class) {
        let Some(total) = run.total() else { continue };
        let Total { kernel_s, arrange_s, transfer_s, allocate_s } = total;
        let share = |part_s: f64| 100.0 * part_s / total.whole_s();
        let row = plot.row(|| run.name(), &subject);
        let mut point = Point::of(&run, share(transfer_s), row);
        point.range = Some([share(transfer_s), share(total.around_s())]);
        let [kernel, arrange, transfer, allocate] =
            [kernel_s, arrange_s, transfer_s, allocate_s].map(seconds);
        point.text = format!(
            "Kernel {kernel}, transposing {arrange}, transfer {transfer}, allocation {allocate}."
        );
        plot.add(0, &name, Some(run.bundle), point);
    }
    plot
}

/// Seconds of a run until the host knows the number of skyline points: counting on the host is part
/// of the copy back.
fn counted(run: &RunOf<'_>) -> Option<f64> {
    Some(median(run)? + run.run.costs.download_s?)
}

/// On each set the block size at which a kernel that counts on the device is fastest, among those
/// that were also run with counting on the host.
pub(super) fn counting<'a>(data: &Data<'a>) -> Plot<'a> {
    let mut plot =
        Plot::rows(Scale::new("time counting on the host / on the device", data.state.log));
    // By subject, bundle, kernel and block: on the device, on the host.
    type Pair<'a> = [Option<RunOf<'a>>; 2];
    let mut pairs: BTreeMap<(String, usize, String, Option<u32>), Pair<'a>> = BTreeMap::new();
    for run in &data.runs {
        let Some(place) = run.run.params.get("counting") else { continue };
        let (kernel, block) = (run.run.kernel_and_precision(), run.run.block);
        let pair = pairs.entry((run.key(), run.bundle.series, kernel, block)).or_default();
        if let Some(of) = pair.get_mut(usize::from(place == "host")) {
            *of = Some(*run);
        }
    }
    let whole = pairs.values().filter_map(|pair| match pair {
        [Some(device), Some(host)] => Some((*device, *host)),
        _ => None,
    });
    let whole: Vec<_> = whole.collect();
    let class = |run: &RunOf<'a>| Some((0, run.run.kernel_and_precision()));
    let devices: Vec<RunOf<'a>> = whole.iter().map(|(device, _)| *device).collect();
    let mut ratios = Vec::new();
    for ((_, subject, _, (_, name)), device) in best(&devices, &class) {
        let Some((_, host)) = whole.iter().find(|(of, _)| of.index == device.index) else {
            continue;
        };
        let (Some(on_device), Some(on_host)) = (counted(&device), counted(host)) else { continue };
        let row = plot.row(|| device.name(), &subject);
        let mut point = Point::of(&device, on_host / on_device, row);
        let [on_device, on_host] = [on_device, on_host].map(seconds);
        point.text = format!(
            "Kernel and copy back: {on_device} counting on the device, {on_host} on the host."
        );
        ratios.push(point.at[0]);
        plot.add(0, &name, Some(device.bundle), point);
    }
    if let Some(mean) = geometric_mean(&ratios) {
        plot.note = format!("Above 1, counting on the device is faster; geometric mean {mean}.");
    }
    equal(&mut plot);
    plot
}
