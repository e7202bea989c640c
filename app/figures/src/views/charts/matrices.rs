//! Charts with one row per matrix: the speed of kernels on it.

use sparsescope_core::record::Run;

use super::best::{Class, bases, best};
use super::looks::{USER, format_of, format_of_run};
use super::plot::{Data, Guide, Plot, Point, Scale, kernel};
use super::settings::block_kernels;
use crate::model::RunOf;

/// The best run of each subject, bundle and class; runs without a class are left out.
fn by_class<'a>(data: &Data<'a>, class: Class<'_, 'a>) -> Plot<'a> {
    let mut plot = Plot::rows(data.rate_axis(""));
    for ((_, subject, _, (order, name)), run) in best(&data.runs, class) {
        let row = plot.row(|| run.name(), &subject);
        let Some(rate) = run.rate() else { continue };
        plot.add(order, &name, Some(run.bundle), Point::of(&run, rate, row));
    }
    plot
}

pub(super) fn kernels<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| Some((0, kernel(run))))
}

/// Formats with several kernels.
pub(super) fn formats(data: &Data<'_>) -> Vec<String> {
    let all = data
        .model
        .values(&data.state.filter.operation)
        .kernels
        .iter()
        .map(|kernel| format_of(kernel).to_owned())
        .filter(|format| format != USER);
    let mut formats: Vec<String> = all.collect();
    let place = |format: &str| crate::theme::family_place(format).unwrap_or(99);
    crate::order::sort_by(&mut formats, |a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    formats.dedup();
    formats
}

pub(super) fn of_format<'a>(data: &Data<'a>) -> Plot<'a> {
    let format = data.chosen(&formats(data));
    by_class(data, &|run| (format_of_run(run.run) == format).then(|| (0, kernel(run))))
}

pub(super) fn serial<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| run.run.kernel.ends_with("/serial").then(|| (0, kernel(run))))
}

pub(super) fn csr_hll<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| {
        let format = format_of_run(run.run);
        ["csr", "hll"].contains(&format).then(|| (0, format.to_owned()))
    })
}

pub(super) const SERIAL: &str = "cpu/csr/serial";

fn is_parallel(run: &Run) -> bool {
    run.backend == "cpu" && run.threads > 1
}

pub(super) fn parallel<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| match run.run {
        run if run.kernel == SERIAL => Some((0, SERIAL.into())),
        run => is_parallel(run).then(|| (1, "parallel".into())),
    })
}

pub(super) fn four<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| match run.run.kernel.as_str() {
        SERIAL => Some((0, SERIAL.into())),
        id @ "cuda/csr/thread-per-row" => Some((2, id.into())),
        id @ "cuda/csr/vector-mining" => Some((3, id.into())),
        id => (is_parallel(run.run) && format_of(id) == "csr").then(|| (1, "parallel CSR".into())),
    })
}

/// ELLPACK with one thread, the baseline of the others.
const SERIAL_ELL: &str = "cpu/ell/serial";

/// Speed-ups over serial ELLPACK, as in figure 8 of paper 002.
pub(super) fn ell_four<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let mut plot = Plot::rows(Scale::new(format!("speed-up over {SERIAL_ELL}"), log));
    let class = |run: &RunOf<'a>| match run.run.kernel.as_str() {
        SERIAL_ELL => Some((0, SERIAL_ELL.to_owned())),
        _ => (format_of_run(run.run) == "ell" && (run.run.backend != "cpu" || run.run.threads > 1))
            .then(|| (1, kernel(run))),
    };
    let best = best(&data.runs, &class);
    let serial = bases(&best);
    for ((_, subject, bundle, (order, name)), run) in &best {
        let serial = serial.get(&(subject.as_str(), *bundle));
        let Some(gain) = serial.and_then(|serial| run.gain_over(serial)) else { continue };
        let row = plot.row(|| run.name(), subject);
        plot.add(*order, name, Some(run.bundle), Point::of(run, gain, row));
    }
    // One thread by itself is no comparison.
    if plot.series.keys().all(|(order, ..)| *order == 0) {
        plot.series.clear();
    }
    plot.guides.push(Guide { ends: [[1.0, 0.0], [1.0, 0.0]], name: "equal".into() });
    plot
}

/// One GPU kernel on each matrix, one series per block size, as in section 9.3 of paper 000.
pub(super) fn blocks<'a>(data: &Data<'a>) -> Plot<'a> {
    let chosen = data.chosen(&block_kernels(data));
    by_class(data, &|run| {
        let block = run.run.block.filter(|_| run.run.kernel == chosen)?;
        Some((usize::try_from(block).unwrap_or(usize::MAX), format!("blocks of {block}")))
    })
}
