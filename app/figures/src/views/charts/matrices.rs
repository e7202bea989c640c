//! Charts with one row per matrix: the speed of kernels on it.

use sparsescope_core::kernel::{
    self, DeviceKind, Format, GridMapping, KernelDescriptor, KernelName, Mapping, Origin,
    USER_FAMILY, reference,
};
use sparsescope_core::record::{Operation, Run};

use super::best::{Class, bases, best};
use super::looks::{format_of, format_of_run};
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
        .filter(|format| format != USER_FAMILY);
    let mut formats: Vec<String> = all.collect();
    let place = |format: &str| crate::theme::family_place(format).unwrap_or(99);
    sparsescope_core::order::sort_by(&mut formats, |a, b| {
        place(a).cmp(&place(b)).then_with(|| a.cmp(b))
    });
    formats.dedup();
    formats
}

pub(super) fn of_format<'a>(data: &Data<'a>) -> Plot<'a> {
    let format = data.chosen(&formats(data));
    by_class(data, &|run| (format_of_run(run.run) == format).then(|| (0, kernel(run))))
}

pub(super) fn serial<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| KernelName::of(&run.run.kernel).is_serial().then(|| (0, kernel(run))))
}

pub(super) fn csr_hll<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| {
        let format = format_of_run(run.run);
        ["csr", "hll"].contains(&format).then(|| (0, format.to_owned()))
    })
}

fn is_parallel(run: &Run) -> bool {
    run.is_on_cpu() && run.threads > 1
}

/// The class of the reference.
fn reference_of(run: &Run) -> Option<(usize, String)> {
    let id = reference(Operation::Spmv).id;
    (run.kernel == id).then(|| (0, id.into()))
}

pub(super) fn parallel<'a>(data: &Data<'a>) -> Plot<'a> {
    by_class(data, &|run| {
        let parallel = || is_parallel(run.run).then(|| (1, "parallel".into()));
        reference_of(run.run).or_else(parallel)
    })
}

/// The reference, all other CSR kernels on CPUs, and paper 002's two for GPUs.
pub(super) fn four<'a>(data: &Data<'a>) -> Plot<'a> {
    let on_gpu = |run: &Run| {
        let kernel = kernel::kernel(&run.kernel)?;
        let is_it = kernel.device == DeviceKind::Cuda
            && kernel.format() == Some(Format::Csr)
            && kernel.origin.contains(&Origin::Paper002);
        let is_first = kernel.mapping == Mapping::Grid(GridMapping::ThreadPerRow);
        is_it.then(|| (if is_first { 2 } else { 3 }, kernel.id.to_owned()))
    };
    by_class(data, &|run| {
        let run = run.run;
        let parallel = || {
            let is_it = is_parallel(run) && format_of(&run.kernel) == "csr";
            is_it.then(|| (1, "parallel CSR".into()))
        };
        reference_of(run).or_else(|| on_gpu(run)).or_else(parallel)
    })
}

/// ELLPACK with one thread, the baseline of the others.
fn serial_ell() -> &'static str {
    let mut all = kernel::kernels(Operation::Spmv).iter();
    let is_it = |k: &&KernelDescriptor| {
        matches!(k.format(), Some(Format::Ell(_))) && k.mapping == Mapping::Serial
    };
    all.find(is_it).map_or("", |k| k.id)
}

/// Speed-ups over serial ELLPACK, as in figure 8 of paper 002.
pub(super) fn ell_four<'a>(data: &Data<'a>) -> Plot<'a> {
    let log = data.state.log;
    let one_thread = serial_ell();
    let mut plot = Plot::rows(Scale::new(format!("speed-up over {one_thread}"), log));
    let class = |run: &RunOf<'a>| match run.run.kernel.as_str() {
        id if id == one_thread => Some((0, id.to_owned())),
        _ => (format_of_run(run.run) == "ell" && (!run.run.is_on_cpu() || run.run.threads > 1))
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
