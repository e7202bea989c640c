//! What `bench` prints: the plan, the table of runs, and where to look further.

use std::collections::BTreeMap;
use std::path::Path;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::{Configuration, Settings, SubjectSource};
use sparsescope_core::kernel::{DeviceKind, reference};
use sparsescope_core::matrix::Extent;
use sparsescope_core::record::{Operation, Precision, Predicted, Run, Source, Subject, Verdict};

use crate::cli::table::{self, count, counted, render, seconds, three_digits};

/// The unit of the runs' rate, by which their operation is compared.
fn unit(bundle: &Bundle) -> &str {
    bundle.runs.iter().find_map(|run| Some(run.metric.as_ref()?.unit.as_str())).unwrap_or("rate")
}

/// One line a run, the subject named on its first line.
pub(super) fn table(bundle: &Bundle) -> String {
    let cold_too = bundle.runs.iter().any(|run| !run.hot);
    let precisions = bundle.runs.iter().any(|run| run.precision != "f64");
    let subject = if bundle.matrices.is_empty() { ["subject", "size"] } else { ["matrix", "nnz"] };
    let figures_of = ["kernel", "threads", "median", unit(bundle), "GB/s", "% of copy", "speed-up"];
    let headings: Vec<&str> = subject.into_iter().chain(figures_of).chain(["check"]).collect();
    let mut list = table::table(&headings, &[1, 3, 4, 5, 6, 7, 8]);
    let mut previous = None;
    for run in &bundle.runs {
        let (mut name, mut nnz) = (String::new(), String::new());
        if previous != Some(&run.matrix) {
            if previous.is_some() {
                list.add_row([""]);
            }
            if let Some(subject) = bundle.subject(&run.matrix) {
                let mark = if subject.source() == Source::StandIn { " (stand-in)" } else { "" };
                name = format!("{}{mark}", subject.name());
                nnz = size(subject);
            }
        }
        previous = Some(&run.matrix);
        let temperature = match (cold_too, run.hot) {
            (false, _) => "",
            (true, true) => " hot",
            (true, false) => " cold",
        };
        let precision = if precisions { format!(" {}", run.precision) } else { String::new() };
        let asked: Vec<String> =
            run.asked.iter().map(|(parameter, value)| format!(" {parameter}={value}")).collect();
        let kernel = format!("{}{precision}{}{temperature}", run.kernel, asked.concat());
        let threads = workers(run);
        let check = run.check.verdict.as_str().to_owned();
        let cells = [name, nnz, kernel, threads].into_iter().chain(figures(run)).chain([check]);
        list.add_row(cells);
    }
    render(&list)
}

/// Entries of a matrix; the sizes of another subject.
fn size(subject: Subject<'_>) -> String {
    match subject {
        Subject::Matrix(record) => count(record.statistics.nnz),
        Subject::Other(record) => {
            let sizes: Vec<String> = record
                .sizes
                .iter()
                .map(|(name, size)| format!("{} {name}", count(*size)))
                .collect();
            sizes.join(", ")
        }
    }
}

/// Threads of the processor, or those of a block on a GPU.
fn workers(run: &Run) -> String {
    match (run.backend.as_str(), run.block) {
        ("cpu", _) => run.threads.to_string(),
        (_, Some(block)) => format!("{block}/block"),
        (_, None) => "-".to_owned(),
    }
}

/// Median, rate, GB/s, share of copy and speed-up; dashes for what a run does not have.
fn figures(run: &Run) -> [String; 5] {
    let dash = || "-".to_owned();
    let Some(f) = &run.figures else { return [dash(), dash(), dash(), dash(), dash()] };
    [
        seconds(f.median_s),
        run.metric.as_ref().map_or_else(dash, |metric| three_digits(metric.value)),
        three_digits(f.gbs),
        f.pct_copy.map_or_else(dash, |share| format!("{share:.0}")),
        f.speedup.map_or_else(dash, |s| format!("{}x", three_digits(s))),
    ]
}

/// The fastest run on each matrix.
pub(super) fn fastest(bundle: &Bundle) -> String {
    let headings = ["fastest on", "kernel", "threads", unit(bundle), "% of copy", "speed-up"];
    let mut list = table::table(&headings, &[2, 3, 4, 5]);
    for subject in bundle.all_subjects() {
        let runs = bundle.runs.iter().filter(|run| run.matrix == subject.id() && run.hot);
        let timed = runs.filter_map(|run| run.figures.as_ref().map(|f| (f.median_s, run)));
        if let Some((_, run)) = timed.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let [_, rate, _, share, speedup] = figures(run);
            let (name, threads) = (subject.name().to_owned(), workers(run));
            list.add_row([name, run.kernel_and_precision(), threads, rate, share, speedup]);
        }
    }
    format!("\n{}", render(&list))
}

/// Reasons of runs without figures, the outcome, and how to look at the result.
pub(super) fn closing(bundle: &Bundle, output: &Path, incomplete: Option<&str>) -> String {
    let mut text = String::new();
    let mut reasons: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for run in bundle.runs.iter().filter(|run| run.check.verdict != Verdict::Pass) {
        let matrix = bundle.subject(&run.matrix).map_or("", Subject::name);
        let reason = run.check.reason.as_deref().unwrap_or("no reason given");
        let kernels = reasons.entry((matrix, run.check.verdict.as_str(), reason)).or_default();
        let kernel = run.kernel_and_precision();
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    for ((matrix, verdict, reason), kernels) in &reasons {
        let kernels = match kernels.len() {
            1..=3 => kernels.join(" and "),
            n => format!("{n} kernels"),
        };
        text += &format!("\n{verdict}: {matrix}, {kernels}: {reason}");
    }
    if !reasons.is_empty() {
        text.push('\n');
    }
    let of = |verdict: Verdict| bundle.runs.iter().filter(|r| r.check.verdict == verdict).count();
    let (passed, failed) = (of(Verdict::Pass), of(Verdict::Fail));
    let not_run = bundle.runs.len() - passed - failed;
    text += &format!(
        "\n{} on {}: {passed} passed the check, {failed} failed, {not_run} not run.\n",
        counted(bundle.runs.len(), "run", "runs"),
        match bundle.subjects.len() {
            0 => counted(bundle.matrices.len(), "matrix", "matrices"),
            _ => counted(bundle.all_subjects().count(), "subject", "subjects"),
        },
    );
    let of = bundle.runs.first().and_then(|run| Operation::of(&run.operation));
    let reference = reference(of.unwrap_or(Operation::Spmv)).id;
    if !bundle.runs.iter().any(|run| run.kernel == reference) {
        text += &format!(
            "No speed-up: {reference}, which it is relative to, was not among the kernels.\n"
        );
    } else {
        let what = if bundle.subjects.is_empty() { "matrix" } else { "subject" };
        text += &format!("Speed-up is relative to {reference} on the same {what}.\n");
    }
    if let Some(machine) = bundle.environments.first() {
        let rates: Vec<String> = machine
            .bandwidth
            .iter()
            .map(|b| {
                let threads = counted(b.threads as usize, "thread", "threads");
                format!("{} GB/s with {threads}", three_digits(b.copy / 1e9))
            })
            .collect();
        if !rates.is_empty() {
            let model = &machine.cpu.model;
            text += &format!("Copy bandwidth of this {model}: {}.\n", rates.join(", "));
        }
        for gpu in &machine.gpus {
            if let Some(copy) = gpu.copy {
                let rate = three_digits(copy / 1e9);
                text += &format!("Copy bandwidth of this {}: {rate} GB/s.\n", gpu.model);
            }
        }
    }
    text += &predicted(bundle);
    let path = output.display();
    if let Some(why) = incomplete {
        text += &format!(
            "{why}; the bundle is marked incomplete, and `sparsescope bench --resume {path}` goes on.\n"
        );
    }
    text += &format!("\nBundle: {path}\n");
    text +=
        &format!("Look at it: `sparsescope export {path} --csv runs.csv` writes a spreadsheet;\n");
    text += "the bundle is a zip with every raw sample (runs.json) and this machine (environment.json).\n";
    text
}

/// A line on the prediction that is least useful to its kernel, one on the least balanced; nothing
/// where all are good, or nothing is predicted.
fn predicted(bundle: &Bundle) -> String {
    let of = |value: fn(&Predicted) -> Option<f64>| {
        let runs = bundle.runs.iter();
        runs.filter_map(move |run| Some((value(run.costs.predicted.as_ref()?)?, run)))
    };
    let named = |run: &Run| {
        let matrix = bundle.matrix(&run.matrix).map_or("", |m| m.record.name.as_str());
        format!("{} on {matrix}", run.kernel)
    };
    let mut text = String::new();
    let least = of(Predicted::efficiency).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((share, run)) = least.filter(|(share, _)| *share < 0.8) {
        let (share, run) = (share * 100.0, named(run));
        text += &format!("Predicted: of the bytes that {run} moves, {share:.0} % are useful.\n");
    }
    let parallel = of(|predicted| predicted.imbalance).filter(|(_, run)| run.threads > 1);
    let most = parallel.max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((most, run)) = most.filter(|(most, _)| *most > 1.2) {
        let (most, threads, run) = (three_digits(most), run.threads, named(run));
        text += &format!(
            "Predicted: of {threads} threads of {run} one has {most} times the mean work.\n"
        );
    }
    text
}

/// Threads of a configuration, as the table of runs shows them.
fn planned(c: &Configuration) -> String {
    let workers = match (c.kernel.device, c.block) {
        (DeviceKind::Cpu, _) => c.threads.to_string(),
        (DeviceKind::Cuda, Some(block)) => format!("{block}/block"),
        (DeviceKind::Cuda, None) => "-".to_owned(),
    };
    match c.precision {
        Precision::F64 => workers,
        Precision::F32 => format!("{workers} (f32)"),
    }
}

/// A size of a file for people.
fn megabytes(bytes: u64) -> String {
    format!("{} MB", three_digits(bytes as f64 / 1e6))
}

/// What would be run.
pub(super) fn plan(
    sources: &[SubjectSource],
    extents: &[Option<Extent>],
    configurations: &[Configuration],
    settings: &Settings,
    bytes: u64,
) -> String {
    let mut kernels: Vec<(&str, Vec<String>)> = Vec::new();
    for c in configurations {
        match kernels.last_mut() {
            Some((id, workers)) if *id == c.kernel.id => workers.push(planned(c)),
            _ => kernels.push((c.kernel.id, vec![planned(c)])),
        }
    }
    let mut list = table::table(&["kernel", "threads"], &[]);
    for (id, mut threads) in kernels {
        threads.dedup();
        list.add_row([id, &threads.join(", ")]);
    }
    let mut text = format!("{}:\n", counted(sources.len(), "matrix", "matrices"));
    for (source, extent) in sources.iter().zip(extents) {
        let size = extent.map_or_else(String::new, |extent| {
            let about = if extent.estimated { "about " } else { "" };
            let (rows, cols) = (count(extent.rows), count(extent.cols));
            format!(": {rows} x {cols}, {about}{} entries", count(extent.entries))
        });
        text += &format!("  {} ({source}){size}\n", source.name());
    }
    text += &format!("\n{}\n", render(&list));
    let products = settings.runs + settings.warmup;
    let caches = if settings.cold { ", hot and cold" } else { "" };
    text += &format!(
        "{} runs of {} samples after {} products to warm up{caches}: {} samples in all.\n",
        sources.len() * configurations.len(),
        settings.runs,
        settings.warmup,
        sources.len() * configurations.len() * products,
    );
    text +=
        &format!("They take up to {} in the bundle before it is compressed.\n", megabytes(bytes));
    text
}
