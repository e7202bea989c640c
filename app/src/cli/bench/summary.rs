//! What `bench` prints: the plan, the table of runs, and where to look further.

use std::collections::BTreeMap;
use std::path::Path;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::{Configuration, MOST_UNTIL, Settings, SourceError};
use sparsescope_core::kernel::{DeviceKind, Parameter, reference};
use sparsescope_core::record::{
    Operation, Precision, Predicted, Run, Shard, Source, Subject, Until, Verdict,
};

use super::next;
use super::share::Share;
use crate::cli::choice;
use crate::cli::table::{self, count, counted, render, seconds, three_digits};

/// The unit of the rate by which runs of this operation are compared.
fn unit(bundle: &Bundle) -> &str {
    bundle.runs.iter().find_map(|run| Some(run.metric.as_ref()?.unit.as_str())).unwrap_or("rate")
}

/// One line per run, the subject named on its first line.
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
        let kernel = format!("{}{precision}{}{temperature}", run.kernel_as_run(), asked.concat());
        let threads = workers(run);
        let check = run.check.as_str().to_owned();
        let cells = [name, nnz, kernel, threads].into_iter().chain(figures(run)).chain([check]);
        list.add_row(cells);
    }
    render(&list)
}

/// Nonzeros of a matrix; the sizes of another subject.
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

/// CPU threads, or threads per block on a GPU.
fn workers(run: &Run) -> String {
    match (run.backend.as_str(), run.block) {
        ("cpu", _) => run.threads.to_string(),
        (_, Some(block)) => format!("{block}/block"),
        (_, None) => "-".to_owned(),
    }
}

/// Median, rate, GB/s, percentage of copy bandwidth and speed-up; a dash for each value that a run lacks.
fn figures(run: &Run) -> [String; 5] {
    let dash = || "-".to_owned();
    let Some(f) = &run.figures else { return [dash(), dash(), dash(), dash(), dash()] };
    // Not every operation has a minimum of bytes to move.
    let moves = run.costs.minimal_bytes > 0;
    [
        seconds(f.median_s),
        run.metric.as_ref().map_or_else(dash, |metric| three_digits(metric.value)),
        if moves { three_digits(f.gbs) } else { dash() },
        f.pct_copy.filter(|_| moves).map_or_else(dash, |share| format!("{share:.0}")),
        f.speedup.map_or_else(dash, |s| format!("{}x", three_digits(s))),
    ]
}

/// The fastest run on each matrix.
pub(super) fn fastest(bundle: &Bundle) -> String {
    let headings = ["fastest on", "kernel", "threads", unit(bundle), "% of copy", "speed-up"];
    let mut list = table::table(&headings, &[2, 3, 4, 5]);
    for subject in bundle.all_subjects() {
        let is_it = |run: &&Run| run.matrix == subject.id() && run.hot && run.ranks();
        let runs = bundle.runs.iter().filter(is_it);
        let timed = runs.filter_map(|run| run.figures.as_ref().map(|f| (f.median_s, run)));
        if let Some((_, run)) = timed.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let [_, rate, _, share, speedup] = figures(run);
            let (name, threads) = (subject.name().to_owned(), workers(run));
            list.add_row([name, run.kernel_and_precision(), threads, rate, share, speedup]);
        }
    }
    format!("\n{}", render(&list))
}

/// Reasons of runs that do not rank, the outcome, and how to view the result.
pub(super) fn closing(bundle: &Bundle, output: &Path, incomplete: Option<&str>) -> String {
    let mut text = String::new();
    let mut reasons: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    let unranked = |run: &&Run| run.check.badness() > 0 || run.check.reason.is_some();
    for run in bundle.runs.iter().filter(unranked) {
        let matrix = bundle.subject(&run.matrix).map_or("", Subject::name);
        let reason = run.check.reason.as_deref().unwrap_or("no reason given");
        let kernels = reasons.entry((matrix, run.check.as_str(), reason)).or_default();
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
    let undecided = bundle.runs.iter().filter(|run| run.check.undecided).count();
    let limited = bundle.runs.iter().filter(|run| run.check.limited_by_rounding).count();
    let not_run = bundle.runs.len() - passed - failed - undecided;
    let limited = match limited {
        0 => String::new(),
        limited => format!(" ({limited} of them limited by rounding, not ranked)"),
    };
    let undecided_words = match undecided {
        0 => String::new(),
        undecided => format!("{undecided} undecided, "),
    };
    text += &format!(
        "\n{} on {}: {passed} passed the check{limited}, {failed} failed, {undecided_words}{not_run} not \
         run.\n",
        counted(bundle.runs.len(), "run", "runs"),
        match bundle.subjects.len() {
            0 => counted(bundle.matrices.len(), "matrix", "matrices"),
            _ => counted(bundle.all_subjects().count(), "subject", "subjects"),
        },
    );
    text += &relative_to(bundle);
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
    text += &chosen(bundle);
    text += &unsettled(bundle);
    text += &predicted(bundle);
    let path = output.display();
    if let Some(why) = incomplete {
        text += &format!(
            "{why}; the bundle is marked incomplete, and `sparsescope bench --resume {path}` goes on.\n"
        );
    }
    text += &format!("\nBundle: {path}\n");
    text += &next::steps(output, next::Here::found());
    text
}

/// What speed-ups are relative to; empty if nothing ran.
fn relative_to(bundle: &Bundle) -> String {
    let Some(first) = bundle.runs.first() else { return String::new() };
    let reference = reference(Operation::of(&first.operation).unwrap_or(Operation::Spmv)).id;
    if !bundle.runs.iter().any(|run| run.kernel == reference) {
        return format!(
            "No speed-up: {reference}, which it is relative to, was not among the kernels.\n"
        );
    }
    let what = if bundle.subjects.is_empty() { "matrix" } else { "subject" };
    format!("Speed-up is relative to {reference} on the same {what}.\n")
}

/// One line for each run of a kernel that chose another: what, why, the cost and the break-even point.
fn chosen(bundle: &Bundle) -> String {
    let with_choice = |run: &Run| Some((run.costs.choice.clone()?, run.clone()));
    let mut text = String::new();
    for (choice, run) in bundle.runs.iter().filter_map(with_choice) {
        let subject = bundle.subject(&run.matrix).map_or("", Subject::name);
        let threads = counted(run.threads as usize, "thread", "threads");
        let paid = match run.costs.break_even {
            Some(products) => {
                format!(" It has paid after {} products.", count(products.max(0.0) as u64))
            }
            None => String::new(),
        };
        let sentence = choice::sentence(&run.kernel, &choice);
        text += &format!("On {subject} with {threads} {sentence}{paid}\n");
    }
    text
}

/// One line on the run with the fewest useful bytes by prediction, and one on the least balanced run; empty
/// if all are good or nothing is predicted.
fn predicted(bundle: &Bundle) -> String {
    let of = |value: fn(&Predicted) -> Option<f64>| {
        let runs = bundle.runs.iter();
        runs.filter_map(move |run| Some((value(run.costs.predicted.as_ref()?)?, run)))
    };
    let named = |run: &Run| named(bundle, run);
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

/// A fraction as a percentage.
fn percent(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

/// How many runs with a target for the median's interval stopped before they reached it; empty if none did.
fn unsettled(bundle: &Bundle) -> String {
    let goals = || bundle.runs.iter().filter_map(|run| Some((run.until?, run)));
    let unsettled: Vec<_> = goals().filter(|(until, _)| !until.met).collect();
    let reached = |(until, _): &&(Until, &Run)| until.reached.unwrap_or(f64::INFINITY);
    let Some((until, run)) = unsettled.iter().max_by(|a, b| reached(a).total_cmp(&reached(b)))
    else {
        return String::new();
    };
    let least = match until.reached {
        Some(reached) => format!("known to {}", percent(reached)),
        None => "which has too few samples to say".to_owned(),
    };
    format!(
        "{} of {} ended before the median was known to {}, after {} or {MOST_UNTIL} samples; the least \
         certain is {}, {least}.\n",
        unsettled.len(),
        counted(goals().count(), "run", "runs"),
        percent(until.asked),
        seconds(until.at_most_s),
        named(bundle, run),
    )
}

/// Names a run by its kernel and what it ran on.
fn named(bundle: &Bundle, run: &Run) -> String {
    let subject = bundle.subject(&run.matrix).map_or("", Subject::name);
    format!("{} on {subject}", run.kernel)
}

/// Threads of a configuration, as the table of runs shows them.
fn planned(c: &Configuration) -> String {
    let workers = match (c.kernel.device, c.block) {
        (DeviceKind::Cpu, _) => c.threads.to_string(),
        (DeviceKind::Cuda | DeviceKind::Wgpu, Some(block)) => format!("{block}/block"),
        (DeviceKind::Cuda | DeviceKind::Wgpu, None) => "-".to_owned(),
        (DeviceKind::Nccl, _) => {
            format!("{} GPUs", c.parameters.get(Parameter::Ranks).unwrap_or_default())
        }
    };
    match c.precision {
        Precision::F64 => workers,
        Precision::F32 => format!("{workers} (f32)"),
    }
}

/// A file size in megabytes.
fn megabytes(bytes: u64) -> String {
    format!("{} MB", three_digits(bytes as f64 / 1e6))
}

/// Prints what would run here; fails if a subject cannot be had.
pub(super) fn plan(
    share: &Share<'_>,
    shard: Option<Shard>,
    configurations: &[Configuration],
    settings: &Settings,
    bytes: u64,
) -> Result<String, SourceError> {
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
    let matrices = counted(share.len(), "matrix", "matrices");
    let mut text = match shard {
        Some(shard) => format!("{}, {matrices}:\n", capitalised(&shard.to_string())),
        None => format!("{matrices}:\n"),
    };
    for task in share.tasks() {
        let probed = match task.probed {
            Ok(probed) => probed,
            // Probed again for the error itself.
            Err(_) => &task.source.probe()?,
        };
        let size = probed.extent.map_or_else(String::new, |extent| {
            let about = if extent.estimated { "about " } else { "" };
            let (rows, cols) = (count(extent.rows), count(extent.cols));
            format!(": {rows} x {cols}, {about}{} entries", count(extent.entries))
        });
        text += &format!("  {} ({}){size}\n", task.source.name(), task.source);
        let (here, all) = (task.configurations.len(), share.planned());
        if here < all {
            let mut ids: Vec<&str> = task.configurations.iter().map(|c| c.kernel.id).collect();
            ids.dedup();
            text += &format!("    {here} of {all} runs: {}\n", ids.join(", "));
        }
    }
    text += &format!("\n{}\n", render(&list));
    let products = settings.runs + settings.warmup;
    let caches = if settings.cold { ", hot and cold" } else { "" };
    let runs = share.runs();
    let (samples, warmup) = (settings.runs, settings.warmup);
    text += &match settings.until {
        None => format!(
            "{runs} runs of {samples} samples after {warmup} products to warm up{caches}: {} samples \
             in all.\n",
            runs * products,
        ),
        Some(goal) => format!(
            "{runs} runs until the median is known to {}, after {warmup} products to warm up{caches}: \
             10 to {samples} samples each, as many as that needs. Sampling takes up to {} a run, {} in \
             all.\n",
            percent(goal.share),
            seconds(goal.at_most_s),
            seconds(goal.at_most_s * runs as f64),
        ),
    };
    text +=
        &format!("They take up to {} in the bundle before it is compressed.\n", megabytes(bytes));
    Ok(text)
}

/// Capitalises the first letter.
fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Check, Producer};
    use sparsescope_figures::model::solved;

    use super::*;

    #[test]
    fn runs_that_ended_before_their_medians_were_known_are_counted_and_the_worst_is_named() {
        let producer = Producer { name: "test".into(), version: String::new(), revision: None };
        let mut bundle = Bundle::new(producer, String::new());
        assert_eq!(unsettled(&bundle), "");
        let run = |kernel: &str, reached, met| Run {
            kernel: kernel.into(),
            until: Some(Until { asked: 0.01, reached, met, at_most_s: 10.0 }),
            ..Run::default()
        };
        bundle.runs.push(run("a", Some(0.004), true));
        assert_eq!(unsettled(&bundle), "");
        bundle.runs.extend([run("b", Some(0.05), false), run("c", Some(0.02), false)]);
        let expected = "2 of 3 runs ended before the median was known to 1.00 %, after 10.0 s or 1000 \
                        samples; the least certain is b on , known to 5.00 %.\n";
        assert_eq!(unsettled(&bundle), expected);
        bundle.runs.push(run("d", None, false));
        assert!(unsettled(&bundle).ends_with("d on , which has too few samples to say.\n"));
    }

    #[test]
    fn solves_that_do_not_rank_are_told_and_are_the_fastest_nowhere() {
        let mut runs = solved::planted();
        let mut undecided = runs[0].clone();
        (undecided.samples, undecided.figures, undecided.metric) = (Vec::new(), None, None);
        let reason = Some("rounding alone".to_owned());
        undecided.check =
            Check { verdict: Verdict::Refused, undecided: true, reason, ..Check::default() };
        runs.push(undecided);
        let model = solved::model(runs);
        let bundle = &model.bundles()[0].bundle;
        let fastest = fastest(bundle);
        assert!(
            fastest.contains(solved::SERIAL) && !fastest.contains(solved::THREADS),
            "{fastest}"
        );
        assert!(!fastest.contains("vendor/"), "{fastest}");
        assert!(table(bundle).contains("limited by rounding"));
        let text = closing(bundle, Path::new("b.zip"), None);
        let counts = "4 runs on 1 matrix: 3 passed the check (1 of them limited by rounding, not ranked), 0 \
                      failed, 1 undecided, 0 not run.";
        assert!(text.contains(counts), "{text}");
        for line in
            ["limited by rounding: m, cpu/pcg/threads: the", "undecided: m, cpu/pcg/serial: "]
        {
            assert!(text.contains(line), "{text}");
        }
    }
}
