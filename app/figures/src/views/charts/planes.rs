//! One number of a run against another: row lengths, caches, the roofline.

use sparsescope_core::record::{Run, RunKey};

use super::best::best;
use super::looks::format_of_run;
use super::plot::{Data, Guide, Plot, Point, Scale, kernel};
use super::sizes::padding_bytes;
use crate::model::{RunOf, bytes};

/// The fastest run of each format on each matrix.
fn by_format<'a>(data: &Data<'a>) -> Vec<(String, RunOf<'a>)> {
    let best = best(&data.runs, &|run| Some((0, format_of_run(run.run).to_owned())));
    best.into_iter().map(|((.., (_, format)), run)| (format, run)).collect()
}

/// Position of smaller deviations, since a logarithmic axis has no zero.
const LEAST: f64 = 0.1;

pub(super) fn deviation<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let title = "average deviation of row lengths, % of the mean";
    let mut plot = Plot::plane(Scale::new(title, log), data.rate_axis(""));
    for (format, run) in by_format(data) {
        let (Some(matrix), Some(rate)) = (run.matrix(), run.rate()) else { continue };
        let x = matrix.statistics.row.percent_average_deviation;
        let x = if log { x.max(LEAST) } else { x };
        plot.add(0, &format, Some(run.bundle), Point::of(&run, x, rate));
    }
    if log {
        plot.note = format!("Deviations below {LEAST} % are drawn at {LEAST} %.");
    }
    plot
}

pub(super) fn hot_cold<'a>(data: &Data<'a>) -> Plot<'a> {
    let axis = |caches: &str| {
        let rate = data.rate_axis("");
        Scale { title: format!("{} with {caches} caches", rate.title).into(), ..rate }
    };
    let mut plot = Plot::plane(axis("warm"), axis("flushed"));
    let all = data.model.runs(&data.state.filter);
    let fastest = |hot| {
        best(&all, &|run| {
            (run.ranks() && run.run.hot == hot).then_some(())?;
            // Two runs form a pair if all other settings are equal.
            let key = RunKey { hot: false, ..run.run.key(run.subject) };
            Some((0, format!("{}\n{}", kernel(run), key.digest())))
        })
    };
    let mut cold = fastest(false);
    let mut pairs: Vec<(String, RunOf<'a>, RunOf<'a>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for (place, warm) in fastest(true) {
        let Some(flushed) = cold.remove(&place) else { continue };
        let (_, matrix, bundle, _) = place;
        let (at, name) = (format!("{matrix} {bundle}"), kernel(&warm));
        let pair = *places.entry((at, name.clone())).or_insert(pairs.len());
        match pairs.get_mut(pair) {
            Some((_, best, its)) if warm.beats(best) => (*best, *its) = (warm, flushed),
            Some(_) => {}
            None => pairs.push((name, warm, flushed)),
        }
    }
    let mut ends: Option<[f64; 2]> = None;
    for (name, warm, flushed) in pairs {
        let (Some(x), Some(y)) = (warm.rate(), flushed.rate()) else { continue };
        let [low, high] = ends.unwrap_or([x, x]);
        ends = Some([low.min(x).min(y), high.max(x).max(y)]);
        plot.add(0, &name, Some(warm.bundle), Point::of(&warm, x, y));
    }
    if let Some([low, high]) = ends {
        plot.guides.push(Guide { ends: [[low, low], [high, high]], name: "equal".into() });
    }
    plot
}

/// The measured bandwidths of a run's device.
fn roofs(run: &RunOf<'_>) -> Vec<(&'static str, f64)> {
    let Some(environment) = run.bundle.bundle.environment(&run.run.environment) else {
        return Vec::new();
    };
    let Run { backend, device, .. } = run.run;
    if backend == "cpu" {
        let most = environment.bandwidth.iter().max_by_key(|bandwidth| bandwidth.threads);
        return most.map_or_else(Vec::new, |b| vec![("copy", b.copy), ("triad", b.triad)]);
    }
    let gpu = environment.gpus.iter().find(|gpu| gpu.model == *device);
    gpu.and_then(|gpu| gpu.copy).map(|copy| ("copy", copy)).into_iter().collect()
}

/// Left end of the roofline: fewer flops per byte occur only if almost everything is padding.
const LEAST_INTENSITY: f64 = 0.02;

pub(super) fn roofline<'a>(data: &Data<'a>) -> Plot<'a> {
    let x = Scale::new("flops per byte (minimum traffic)", true);
    let x = Scale { least: Some(LEAST_INTENSITY), ..x };
    let mut plot = Plot::plane(x, Scale::new("GFLOPS", true));
    let mut found: Vec<(RunOf<'_>, &str, f64)> = Vec::new();
    let mut span = [f64::INFINITY, 0.0_f64];
    for (format, run) in by_format(data) {
        let (Some(matrix), Some(gflops)) = (run.matrix(), run.rate()) else { continue };
        let flops = 2.0 * matrix.statistics.nnz as f64;
        let moved = run.run.costs.minimal_bytes;
        let padding = padding_bytes(&run).unwrap_or(0).min(moved);
        let (useful, whole) = (flops / (moved - padding) as f64, flops / moved as f64);
        if !(useful.is_finite() && whole > 0.0) {
            continue;
        }
        let mut point = Point::of(&run, useful, gflops);
        if padding > 0 {
            point.range = Some([useful, whole]);
            point.text = format!("Includes {} of padding.", bytes(padding));
        }
        span = [span[0].min(whole.max(LEAST_INTENSITY)), span[1].max(useful)];
        plot.add(0, &format, Some(run.bundle), point);
        for (name, bandwidth) in roofs(&run) {
            // Parts of a sweep measure the bandwidths of their machine again.
            let is_it = |(other, of, _): &(RunOf<'_>, &str, f64)| {
                *of == name
                    && run.bundle.series == other.bundle.series
                    && run.is_on_machine_of(other)
            };
            let place = found.iter().position(is_it);
            match place.and_then(|place| found.get_mut(place)) {
                Some((.., most)) => *most = most.max(bandwidth),
                None => found.push((run, name, bandwidth)),
            }
        }
    }
    crate::order::sort_by(&mut found, |a, b| b.2.total_cmp(&a.2));
    for (run, name, bandwidth) in found {
        let ends = span.map(|x| [x, x * bandwidth / 1e9]);
        let name = format!("{name} {}/s, {}", bytes(bandwidth as u64), run.bundle.label());
        plot.guides.push(Guide { ends, name });
    }
    plot
}

#[cfg(test)]
mod tests {
    use sparsescope_core::bundle::Bundle;

    use super::*;
    use crate::model::Model;
    use crate::state::ViewState;
    use crate::why::tests;

    #[test]
    fn parts_of_a_sweep_on_one_machine_have_one_roof() {
        let (run, statistics, mut environment) = tests::run("cuda/csr/adaptive");
        environment.cpu.model = "CPU".into();
        let of = |format: &str, id: &str| Run {
            kernel: format!("cuda/{format}/thread-per-row"),
            environment: id.into(),
            ..run.clone()
        };
        let parts = [("csr", "here"), ("ell", "b"), ("hll", "c")];
        let runs = parts.map(|(format, id)| of(format, id)).to_vec();
        let whole = tests::model(runs, statistics, environment.clone());
        let mut bundle = Bundle::clone(&whole.bundles()[0].bundle);
        for (id, copy) in [("b", 42e9), ("c", 41e9)] {
            let mut part = environment.clone();
            part.id = id.into();
            part.gpus[0].copy = Some(copy);
            bundle.environments.push(part);
        }
        let mut model = Model::default();
        model.show_unfinished("b.zip", bundle);
        let state = ViewState::default();
        let plot = roofline(&Data::of(&model, &state));
        let names: Vec<&str> = plot.guides.iter().map(|guide| guide.name.as_str()).collect();
        assert_eq!(names, ["copy 42 GB/s, b.zip"]);
    }
}
