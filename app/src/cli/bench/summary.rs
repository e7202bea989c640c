//! What `bench` prints around its answer: the plan, the table of runs, how they ended and the details.

use std::collections::BTreeMap;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::{Configuration, MOST_UNTIL, Settings, SourceError};
use sparsescope_core::kernel::DeviceKind;
use sparsescope_core::kernel::parameters::{RANKS, VECTORS};
use sparsescope_core::record::{
    Distributed, Energy, Precision, Predicted, RankShare, Run, Shard, Source, Subject, Until,
    and_vectors,
};
use sparsescope_figures::model::balance;

use super::checks::ended;
use super::share::Share;
use crate::cli::table::{
    self, DASH, Kind, capitalised, count, counted, fitted_rows, joules, render, seconds,
    three_digits, wrapped,
};

/// The unit of the rate by which runs of this operation are compared.
fn unit(bundle: &Bundle) -> &str {
    bundle.runs.iter().find_map(|run| Some(run.metric.as_ref()?.unit.as_str())).unwrap_or("rate")
}

/// One line per run in this room, the subject named on its first line.
pub(super) fn table(bundle: &Bundle, room: Option<usize>) -> String {
    let cold_too = bundle.runs.iter().any(|run| !run.hot);
    let precisions = bundle.runs.iter().any(|run| run.precision != "f64");
    let subject =
        if bundle.matrices.is_empty() { ["subject", "size"] } else { ["matrix", "nonzeros"] };
    let mut headings = vec![
        (Kind::Name, subject[0]),
        (Kind::Number, subject[1]),
        (Kind::Name, "kernel"),
        (Kind::Number, "threads"),
        (Kind::Number, "median"),
        (Kind::Spare, unit(bundle)),
        (Kind::Spare, "GB/s"),
        (Kind::Spare, "% of copy"),
        (Kind::Number, "speed-up"),
    ];
    let has_energy = bundle.runs.iter().any(|run| run.energy.is_some());
    if has_energy {
        headings.extend([(Kind::Number, "energy"), (Kind::Spare, "GFLOPS/W")]);
    }
    let has_errors = bundle.runs.iter().any(|run| run.check.rounding.is_some());
    if has_errors {
        headings.extend([(Kind::Spare, "max error"), (Kind::Spare, "norm error")]);
    }
    headings.push((Kind::Word, "check"));
    let mut rows = Vec::new();
    let mut previous = None;
    for run in &bundle.runs {
        let (mut name, mut nnz) = (String::new(), String::new());
        if previous != Some(&run.matrix) {
            if previous.is_some() {
                rows.push(Vec::new());
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
        let energy = has_energy.then(|| {
            [
                run.energy.as_ref().map_or_else(dash, |energy| joules(energy.joules)),
                run.gflops_per_watt().map_or_else(dash, three_digits),
            ]
        });
        let more = [energy, has_errors.then(|| rounding(run))];
        let cells = [name, nnz, kernel, threads].into_iter().chain(figures(run));
        rows.push(cells.chain(more.into_iter().flatten().flatten()).chain([check]).collect());
    }
    fitted_rows(&headings, &rows, room)
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
pub(super) fn workers(run: &Run) -> String {
    match (run.is_on_cpu(), run.block) {
        (true, _) => run.threads.to_string(),
        (_, Some(block)) => format!("{block}/block"),
        (_, None) => dash(),
    }
}

fn dash() -> String {
    DASH.to_owned()
}

/// Median, rate, GB/s, percentage of copy bandwidth and speed-up; a dash for each value that a run lacks.
fn figures(run: &Run) -> [String; 5] {
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

/// The largest error and that of the norm against the result in f64; dashes for runs that lack them.
fn rounding(run: &Run) -> [String; 2] {
    let of = |error: f64| format!("{error:.1e}");
    run.check.rounding.map_or_else(|| [dash(), dash()], |found| [found.max, found.norm].map(of))
}

/// How the checks ended, and the bandwidth that rates relate to, in this room. Without `all`, only the most frequent
/// reasons of skipped runs.
pub(super) fn closing(bundle: &Bundle, all: bool, room: Option<usize>) -> String {
    let ended = ended(bundle, all, room);
    [ended, bandwidth(bundle, room), energy(bundle, room), unsettled(bundle, room)].concat()
}

/// The run with the least energy on each subject and for each number of vectors, the spread and the idle power, and why
/// other runs have no energy; empty if none was requested.
fn energy(bundle: &Bundle, room: Option<usize>) -> String {
    let mut text = String::new();
    let measured = || bundle.runs.iter().filter_map(|run| Some((run.energy.as_ref()?, run)));
    for subject in bundle.all_subjects() {
        let ranked = measured().filter(|(_, run)| run.matrix == subject.id() && run.ranks());
        let mut least: BTreeMap<Option<u32>, (&Energy, &Run)> = BTreeMap::new();
        for (energy, run) in ranked {
            let best = least.entry(run.vectors()).or_insert((energy, run));
            if energy.joules < best.0.joules {
                *best = (energy, run);
            }
        }
        for (energy, run) in least.into_values() {
            let rate = run.gflops_per_watt();
            let rate =
                rate.map_or_else(String::new, |rate| format!(", {} GFLOPS/W", three_digits(rate)));
            let words = format!("{}, {}{rate}.", named(bundle, run), joules(energy.joules));
            text += &wrapped("Least energy: ", &words, "  ", room);
        }
    }
    let spread = measured().map(|(energy, _)| energy.spread()).max_by(f64::total_cmp);
    if let (Some(spread), Some((first, _))) = (spread, measured().next()) {
        let (spread, idle) = (percent(spread), three_digits(first.idle_watts));
        let words = format!(
            "the windows of a run differ from their mean by up to {spread}; the idle GPU took {idle} W, which is included."
        );
        text += &wrapped("Energy: ", &words, "  ", room);
    }
    let mut reasons = BTreeMap::<&str, usize>::new();
    for reason in bundle.runs.iter().filter_map(|run| run.no_energy.as_deref()) {
        *reasons.entry(reason).or_default() += 1;
    }
    for (reason, runs) in reasons {
        let runs = counted(runs, "run", "runs");
        text += &wrapped("No energy: ", &format!("{runs}: {reason}."), "  ", room);
    }
    text
}

/// The measured copy bandwidth of the first machine; empty if no run relates to it.
fn bandwidth(bundle: &Bundle, room: Option<usize>) -> String {
    let related = |run: &Run| run.figures.as_ref().is_some_and(|of| of.pct_copy.is_some());
    let Some(machine) = bundle.environments.first() else { return String::new() };
    if !bundle.runs.iter().any(|run| run.costs.minimal_bytes > 0 && related(run)) {
        return String::new();
    }
    let mut rates: Vec<String> = Vec::new();
    for of in &machine.bandwidth {
        let threads = counted(of.threads as usize, "thread", "threads");
        rates.push(format!("{} GB/s with {threads}", three_digits(of.copy / 1e9)));
    }
    for gpu in &machine.gpus {
        let rate =
            gpu.copy.map(|copy| format!("{} GB/s on {}", three_digits(copy / 1e9), gpu.model));
        rates.extend(rate);
    }
    wrapped("Copy bandwidth: ", &format!("{}.", rates.join(", ")), "  ", room)
}

/// What `--verbose` adds: what kernels chose that pick another, how ranks shared the work, and the worst
/// predictions.
pub(super) fn details(bundle: &Bundle, room: Option<usize>) -> String {
    [chosen(bundle, room), shares(bundle, room), predicted(bundle, room)].concat()
}

/// A table of what each run of a kernel chose that picks another: the gain, the cost, and what pays for it.
fn chosen(bundle: &Bundle, room: Option<usize>) -> String {
    let headings = [
        (Kind::Name, "chose on"),
        (Kind::Name, "kernel"),
        (Kind::Number, "threads"),
        (Kind::Name, "ran"),
        (Kind::Number, "speed-up"),
        (Kind::Number, "setup"),
        (Kind::Number, "pays off after"),
    ];
    let mut rows = Vec::new();
    for run in &bundle.runs {
        let Some(choice) = &run.costs.choice else { continue };
        let asked = run.asked.iter().map(|(name, value)| format!(" {name}={value}"));
        let pays = run
            .costs
            .break_even
            .map_or_else(dash, |products| format!("{} SpMVs", count(products.max(0.0) as u64)));
        let [.., speedup] = figures(run);
        rows.push(vec![
            bundle.subject(&run.matrix).map_or("", Subject::name).to_owned(),
            run.kernel.clone() + &asked.collect::<String>(),
            workers(run),
            choice.words(),
            speedup,
            seconds(choice.seconds()),
            pays,
        ]);
    }
    match rows.is_empty() {
        true => String::new(),
        false => format!("\n{}", fitted_rows(&headings, &rows, room)),
    }
}

/// A sentence per run on how its ranks shared the work.
fn shares(bundle: &Bundle, room: Option<usize>) -> String {
    let shared = bundle.runs.iter().filter_map(|run| Some((run, run.distributed.as_ref()?)));
    let lines: Vec<String> = shared
        .map(|(run, shared)| {
            wrapped("", &format!("{} with {}", named(bundle, run), told(shared)), "  ", room)
        })
        .collect();
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.concat()) }
}

/// `4 ranks of 1 thread: the largest has 1.01 times the mean nonzeros, …`, and their times where these were measured.
fn told(shared: &Distributed) -> String {
    let (ranks, threads) = (shared.ranks.len(), shared.threads);
    let of = |s: fn(&RankShare) -> f64| seconds(shared.ranks.iter().map(s).fold(0.0, f64::max));
    let each = if shared.reductions.is_some() { "iteration" } else { "SpMV" };
    let with = match (shared.transport.as_str(), threads) {
        ("nccl", _) => "of 1 GPU".to_owned(),
        (_, 1) => "of 1 thread".to_owned(),
        _ => format!("of {threads} threads"),
    };
    let did = match shared.ranks.iter().any(|rank| rank.computing_s > 0.0) {
        true => {
            let (computing, waiting) = (of(|rank| rank.computing_s), of(|rank| rank.waiting_s));
            format!(", up to {computing} computing and {waiting} waiting")
        }
        false => String::new(),
    };
    format!(
        "{} {with}: {}, {} bytes in {} messages per {each}{did}",
        counted(ranks, "rank", "ranks"),
        balance(shared),
        shared.bytes(),
        shared.messages(),
    )
}

/// A sentence on the run with the fewest useful bytes by prediction, and one on the least balanced run; empty
/// if all are good or nothing is predicted.
fn predicted(bundle: &Bundle, room: Option<usize>) -> String {
    let of = |value: fn(&Predicted) -> Option<f64>| {
        let runs = bundle.runs.iter();
        runs.filter_map(move |run| Some((value(run.costs.predicted.as_ref()?)?, run)))
    };
    let named = |run: &Run| named(bundle, run);
    let mut text = String::new();
    let least = of(Predicted::efficiency).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((share, run)) = least.filter(|(share, _)| *share < 0.8) {
        let (share, run) = (share * 100.0, named(run));
        let words = format!("{share:.0} % of the bytes that {run} moves are useful.");
        text += &wrapped("Predicted: ", &words, "  ", room);
    }
    let parallel = of(|predicted| predicted.imbalance).filter(|(_, run)| run.threads > 1);
    let most = parallel.max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((most, run)) = most.filter(|(most, _)| *most > 1.2) {
        let (most, threads, run) = (three_digits(most), run.threads, named(run));
        let words =
            format!("with {threads} threads, one thread of {run} has {most} times the mean work.");
        text += &wrapped("Predicted: ", &words, "  ", room);
    }
    text
}

/// A fraction as a percentage.
fn percent(share: f64) -> String {
    format!("{} %", three_digits(share * 100.0))
}

/// How many runs with a target for the median's interval stopped before they reached it; empty if none did.
fn unsettled(bundle: &Bundle, room: Option<usize>) -> String {
    let goals = || bundle.runs.iter().filter_map(|run| Some((run.until?, run)));
    let unsettled: Vec<_> = goals().filter(|(until, _)| !until.met).collect();
    let reached = |(until, _): &&(Until, &Run)| until.reached.unwrap_or(f64::INFINITY);
    let Some((until, run)) = unsettled.iter().max_by(|a, b| reached(a).total_cmp(&reached(b)))
    else {
        return String::new();
    };
    let least = match until.reached {
        Some(reached) => format!("known to within {}", percent(reached)),
        None => "which has too few samples for an interval".to_owned(),
    };
    let text = format!(
        "{} of {} stopped before the median was known to within {}, after {} or {MOST_UNTIL} samples; the \
         least certain is {}, {least}.",
        unsettled.len(),
        counted(goals().count(), "run", "runs"),
        percent(until.asked),
        seconds(until.at_most_s),
        named(bundle, run),
    );
    wrapped("", &text, "  ", room)
}

/// Names a run by its kernel and what it ran on.
fn named(bundle: &Bundle, run: &Run) -> String {
    let subject = bundle.subject(&run.matrix).map_or("", Subject::name);
    format!("{} on {subject}{}", run.kernel, and_vectors(run.vectors()))
}

/// Threads of a configuration, as the table of runs shows them, with k and the operator of its product.
fn planned(c: &Configuration) -> String {
    let workers = match (c.kernel.device, c.block) {
        (DeviceKind::Cpu | DeviceKind::Ranks, _) => c.threads.to_string(),
        (DeviceKind::Cuda | DeviceKind::Wgpu, Some(block)) => format!("{block}/block"),
        (DeviceKind::Cuda | DeviceKind::Wgpu, None) => "-".to_owned(),
        (DeviceKind::Nccl, _) => {
            format!("{} GPUs", c.parameters.get(&RANKS))
        }
    };
    let takes_vectors = c.kernel.allowed(VECTORS.id()).is_some();
    let columns = takes_vectors.then(|| format!(" k={}", c.parameters.get(&VECTORS)));
    let computed = c.kernel.computed(&c.parameters).into_iter();
    let product =
        columns.into_iter().chain(computed.map(|(name, value)| format!(" {name}={value}")));
    let workers = workers + &product.collect::<String>();
    match c.precision {
        Precision::F64 => workers,
        precision => format!("{workers} ({})", precision.as_str()),
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
            format!(": {rows} x {cols}, {about}{} nonzeros", count(extent.entries))
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
    let executions = settings.runs + settings.warmup;
    let caches = if settings.cold { ", hot and cold" } else { "" };
    let runs = counted(share.runs(), "run", "runs");
    let warmup = counted(settings.warmup, "warm-up execution", "warm-up executions");
    text += &match settings.until {
        None => format!(
            "{runs} of {} after {warmup}{caches}: {} in total.\n",
            counted(settings.runs, "sample", "samples"),
            counted(share.runs() * executions, "execution", "executions"),
        ),
        Some(goal) => format!(
            "{runs} of 10 to {} samples, until the median is known to within {}, after {warmup}{caches}.\nSampling \
             takes up to {} per run, {} in total.\n",
            settings.runs,
            percent(goal.share),
            seconds(goal.at_most_s),
            seconds(goal.at_most_s * share.runs() as f64),
        ),
    };
    if settings.energy {
        text += "Energy is measured apart, for about 8 s per run of a CUDA kernel.\n";
    }
    text += &format!("The bundle takes up to {} before compression.\n", megabytes(bytes));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Check, Choice, Energy, Producer, Verdict};
    use sparsescope_figures::model::solved;

    use super::*;

    #[test]
    fn runs_that_ended_before_their_medians_were_known_are_counted_and_the_worst_is_named() {
        let producer = Producer { name: "test".into(), version: String::new(), revision: None };
        let mut bundle = Bundle::new(producer, String::new());
        assert_eq!(unsettled(&bundle, None), "");
        let run = |kernel: &str, reached, met| Run {
            kernel: kernel.into(),
            until: Some(Until { asked: 0.01, reached, met, at_most_s: 10.0 }),
            ..Run::default()
        };
        bundle.runs.push(run("a", Some(0.004), true));
        assert_eq!(unsettled(&bundle, None), "");
        bundle.runs.extend([run("b", Some(0.05), false), run("c", Some(0.02), false)]);
        let expected = "2 of 3 runs stopped before the median was known to within 1.00 %, after 10.0 s or 1000 \
                        samples; the least certain is b on , known to within 5.00 %.";
        let joined = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(joined(unsettled(&bundle, None)), expected);
        bundle.runs.push(run("d", None, false));
        let worst = joined(unsettled(&bundle, None));
        assert!(worst.ends_with("d on , which has too few samples for an interval."), "{worst}");
    }

    #[test]
    fn the_least_energy_and_the_reasons_of_missing_ones_are_named() {
        let mut runs = solved::planted();
        runs.truncate(1);
        let mut other = runs[0].clone();
        other.kernel = "cpu/pcg/threads".into();
        runs.push(other);
        let model = solved::model(runs);
        let mut bundle = Bundle::clone(&model.bundles()[0].bundle);
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = closing(&bundle, false, None) + &table(&bundle, None);
        assert!(!text.to_lowercase().contains("energy"), "{text}");
        let energy = |joules, idle_watts| {
            let windows = vec![0.98 * joules, 1.02 * joules];
            Some(Energy { joules, windows, idle_watts, ..Energy::default() })
        };
        (bundle.runs[0].energy, bundle.runs[1].energy) = (energy(2.5, 70.0), energy(0.004, 70.0));
        let text = joined(&closing(&bundle, false, None));
        assert!(text.contains("Least energy: cpu/pcg/threads on m, 4.00 mJ"), "{text}");
        assert!(text.contains("by up to 2.00 %; the idle GPU took 70.0 W"), "{text}");
        assert!(table(&bundle, None).contains("4.00 mJ"), "{}", table(&bundle, None));
        bundle.runs[1].energy = None;
        bundle.runs[1].no_energy = Some("this GPU has no counter".into());
        let text = joined(&closing(&bundle, false, None));
        assert!(text.contains("Least energy: cpu/pcg/serial on m, 2.50 J"), "{text}");
        assert!(text.contains("No energy: 1 run: this GPU has no counter."), "{text}");
    }

    #[test]
    fn solves_that_do_not_rank_are_counted_with_their_reasons() {
        let mut runs = solved::planted();
        let mut undecided = runs[0].clone();
        (undecided.samples, undecided.figures, undecided.metric) = (Vec::new(), None, None);
        let reason = Some("rounding alone".to_owned());
        undecided.check =
            Check { verdict: Verdict::Refused, undecided: true, reason, ..Check::default() };
        runs.push(undecided);
        let model = solved::model(runs);
        let bundle = &model.bundles()[0].bundle;
        assert!(table(bundle, None).contains("limited by rounding"));
        let text = closing(bundle, false, None);
        let counts = "4 runs on 1 matrix: 3 passed the check (1 limited by rounding, not ranked), 1 \
                      undecided.";
        assert!(text.contains(counts), "{text}");
        for lines in [
            "Limited by rounding, not ranked:\n  1 x cpu/pcg/threads on m: the relative residual",
            "Undecided:\n  1 x cpu/pcg/serial on m: rounding alone\n",
        ] {
            assert!(text.contains(lines), "{text}");
        }
    }

    #[test]
    fn details_say_what_was_chosen_what_it_gains_and_when_it_pays_off() {
        let mut runs = solved::planted();
        runs.truncate(1);
        let model = solved::model(runs);
        let mut bundle = Bundle::clone(&model.bundles()[0].bundle);
        assert_eq!(details(&bundle, None), "");
        bundle.runs[0].costs.choice = Some(Choice {
            kernel: "cpu/hll/simd".into(),
            params: [("hack_size".into(), "8".into())].into(),
            trial_s: 9e-3,
            ..Choice::default()
        });
        bundle.runs[0].costs.break_even = Some(251.4);
        let text = details(&bundle, None);
        let line: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
        let expected = "m cpu/pcg/serial 1 cpu/hll/simd, hack_size=8 - 9.00 ms 251 SpMVs";
        assert_eq!(line.join(" "), expected);
        bundle.runs[0].kernel = "k".repeat(99);
        let text = details(&bundle, Some(80));
        assert!(text.contains("kk…kk") && text.contains(" pays off after\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        bundle.runs[0].kernel = "cpu/pcg/serial".into();
        let predicted =
            Predicted { line_bytes: Some(10), useful_bytes: Some(1), ..Predicted::default() };
        bundle.runs[0].costs.predicted = Some(predicted);
        let text = details(&bundle, Some(40));
        let (_, sentence) =
            text.split_once("Predicted: 10 % of the bytes that\n  ").expect("two lines");
        assert_eq!(sentence, "cpu/pcg/serial on m moves are useful.\n");
    }
}
