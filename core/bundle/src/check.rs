//! Checks of what must hold between a bundle's documents, run before writing and after reading.

use std::collections::HashSet;

use crate::{Bundle, BundleError, MatrixFolder, SubjectFolder};
use sparsescope_matrix::order;
use sparsescope_record::{
    Choice, Distributed, Energy, Environment, HISTORIES, MOST_AMOUNT, MOST_SECONDS, MatrixRecord,
    Operation, Run, Shard, Solve, Subject, Verdict, is_safe_entry, is_safe_id, matrix_entry,
    printable, subject_entry,
};

/// Entries that the bundle itself writes.
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const ENVIRONMENT: &str = "environment.json";
pub(super) const RUNS: &str = "runs.json";
pub(super) const RESULTS: &str = "results.csv";
pub(super) const PLAN: &str = "plan.json";
pub(super) const MATRIX: &str = "matrix.json";
pub(super) const SUBJECT: &str = "subject.json";

/// Formats `runs[3] (cpu/csr/nnz on cant-2fca02e9)`, as errors name a run.
pub(super) fn run_name(index: usize, run: &Run) -> String {
    format!("runs[{index}] ({} on {})", printable(&run.kernel), printable(&run.matrix))
}

impl Bundle {
    /// Checks that ids are safe, unique and known where they are used; that times and figures are
    /// finite, not negative, no larger than anything measurable, and agree with the samples; and
    /// that no timing lacks a passed check.
    pub(super) fn check(&self) -> Result<(), BundleError> {
        check_created(&self.created)?;
        if let Some(Shard { part, of }) = self.shard {
            Shard::new(part.into(), of.into())
                .map_err(|problem| inconsistent("`shard` of the bundle", problem))?;
        }
        self.check_contents()
    }

    /// Like [`check`](Self::check), but skips the bundle's creation time and shard.
    pub(super) fn check_contents(&self) -> Result<(), BundleError> {
        self.check_from(0)
    }

    /// Like [`check_contents`](Self::check_contents), but skips the first `checked` runs, which
    /// were checked before.
    pub(super) fn check_from(&self, checked: usize) -> Result<(), BundleError> {
        let environments = self.environments.iter().map(|e| e.id.as_str());
        self.check_texts(checked)?;
        let environments = unique_ids("environments", environments)?;
        let subjects = unique_ids("matrices", self.all_subjects().map(Subject::id))?;
        self.environments.iter().try_for_each(check_environment)?;
        self.matrices.iter().try_for_each(check_matrix)?;
        self.subjects.iter().try_for_each(check_subject)?;
        let nnz = self.matrices.iter().map(|m| (m.record.id.as_str(), m.record.statistics.nnz));
        let nnz = order::map(nnz);
        for (index, run) in self.runs.iter().enumerate().skip(checked) {
            let unknown = |what, id: &str| BundleError::UnknownReference {
                whose: run_name(index, run),
                what,
                id: printable(id),
            };
            if !subjects.contains(&run.matrix) {
                return Err(unknown("matrix", &run.matrix));
            }
            if !environments.contains(&run.environment) {
                return Err(unknown("environment", &run.environment));
            }
            check_run(&run_name(index, run), run, nnz.get(run.matrix.as_str()).copied())?;
        }
        self.check_lists(checked)?;
        self.check_histories()?;
        self.others.keys().try_for_each(|name| check_other(name))
    }
}

impl Bundle {
    /// A history is stored under its run's key, so no two runs of one key may have one.
    fn check_histories(&self) -> Result<(), BundleError> {
        let mut digests = HashSet::new();
        let subjects = self.subjects_by_id();
        for (index, run) in self.runs.iter().enumerate().filter(|(_, run)| run.history.is_some()) {
            let subject = subjects.get(run.matrix.as_str());
            let digest = subject.map(|&subject| run.key(subject).digest());
            if digest.is_none_or(|digest| !digests.insert(digest)) {
                let problem = "has a history, but another run with the same key has one too";
                return Err(inconsistent(run_name(index, run), problem));
            }
        }
        Ok(())
    }
}

fn inconsistent(whose: impl Into<String>, problem: impl Into<String>) -> BundleError {
    BundleError::Inconsistent { whose: whose.into(), problem: problem.into() }
}

fn check_created(created: &str) -> Result<(), BundleError> {
    if is_utc_time(created) {
        return Ok(());
    }
    let problem = format!("is `{}`, expected an RFC 3339 time in UTC", printable(created));
    Err(inconsistent("`created` of the bundle", problem))
}

/// Returns the ids, which must differ in more than case: on many systems, folders that differ only
/// in case are the same folder.
fn unique_ids<'a>(
    whose: &'static str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<HashSet<String>, BundleError> {
    let (mut seen, mut known) = (HashSet::new(), HashSet::new());
    for id in ids {
        if !is_safe_id(id) {
            return Err(BundleError::UnsafeId { whose, id: printable(id) });
        }
        if !seen.insert(id.to_ascii_lowercase()) {
            return Err(BundleError::DuplicateId { whose, id: id.into() });
        }
        known.insert(id.to_owned());
    }
    Ok(known)
}

/// The result of a wrong kernel may be off by any amount.
const ANY: f64 = f64::MAX;

/// Names of numbers with their values, `None` if absent.
type Numbers<'a> = &'a [(&'a str, Option<f64>)];

fn check_numbers(whose: &str, most: f64, numbers: Numbers<'_>) -> Result<(), BundleError> {
    for &(field, number) in numbers {
        match number {
            Some(found) if !found.is_finite() => {
                return Err(BundleError::NotFinite { whose: whose.into(), field: field.into() });
            }
            Some(found) if found < 0.0 => {
                let whose = whose.into();
                return Err(BundleError::Negative { whose, field: field.into(), found });
            }
            Some(found) if found > most => {
                let whose = whose.into();
                return Err(BundleError::TooGreat { whose, field: field.into(), found, most });
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_environment(environment: &Environment) -> Result<(), BundleError> {
    let whose = format!("environment `{}`", environment.id);
    for bandwidth in &environment.bandwidth {
        let numbers = [
            ("bandwidth.copy", Some(bandwidth.copy)),
            ("bandwidth.triad", Some(bandwidth.triad)),
            ("bandwidth.read", Some(bandwidth.read)),
        ];
        check_numbers(&whose, MOST_AMOUNT, &numbers)?;
    }
    for gpu in &environment.gpus {
        check_numbers(&whose, MOST_AMOUNT, &[("gpus.copy", gpu.copy)])?;
    }
    let noise = &environment.noise;
    let load = [("noise.load_before", noise.load_before), ("noise.load_after", noise.load_after)];
    check_numbers(&whose, MOST_AMOUNT, &load)?;
    check_numbers(&whose, MOST_SECONDS, &[("noise.stolen_seconds", noise.stolen_seconds)])
}

fn check_matrix(matrix: &MatrixFolder) -> Result<(), BundleError> {
    let MatrixRecord { id, sha256, read_seconds, statistics, .. } = &matrix.record;
    let whose = format!("matrix `{id}`");
    check_identity(&whose, sha256)?;
    let row = &statistics.row;
    check_numbers(&whose, MOST_SECONDS, &[("read_seconds", Some(*read_seconds))])?;
    let numbers = [
        ("statistics.density", Some(statistics.density)),
        ("statistics.row.mean", Some(row.mean)),
        ("statistics.row.stddev", Some(row.stddev)),
        ("statistics.row.average_deviation", Some(row.average_deviation)),
        ("statistics.row.percent_average_deviation", Some(row.percent_average_deviation)),
        ("statistics.structural_symmetry", statistics.structural_symmetry),
        ("statistics.numerical_symmetry", statistics.numerical_symmetry),
    ];
    check_numbers(&whose, MOST_AMOUNT, &numbers)?;
    for format in &statistics.formats {
        let padding = ("statistics.formats.padding", Some(format.padding));
        check_numbers(&whose, MOST_AMOUNT, &[padding])?;
    }
    for name in matrix.files.keys() {
        if !is_safe_entry(name) {
            return Err(BundleError::UnsafeName { entry: printable(name) });
        }
        if name.eq_ignore_ascii_case(MATRIX) {
            return Err(inconsistent(whose, format!("has a second file named `{MATRIX}`")));
        }
    }
    Ok(())
}

fn check_subject(subject: &SubjectFolder) -> Result<(), BundleError> {
    let SubjectFolder { folder, record, files } = subject;
    let whose = format!("subject `{}`", record.id);
    if !is_safe_id(folder) || folder.eq_ignore_ascii_case("matrices") {
        let problem = format!("is in an invalid folder: `{}`", printable(folder));
        return Err(inconsistent(whose, problem));
    }
    check_identity(&whose, &record.sha256)?;
    check_numbers(&whose, MOST_SECONDS, &[("read_seconds", record.read_seconds)])?;
    for name in files.keys() {
        if !is_safe_entry(name) {
            return Err(BundleError::UnsafeName { entry: printable(name) });
        }
        if let Some(own) = [SUBJECT, RUNS].iter().find(|own| name.eq_ignore_ascii_case(own)) {
            return Err(inconsistent(whose, format!("has a second file named `{own}`")));
        }
    }
    Ok(())
}

fn check_identity(whose: &str, sha256: &str) -> Result<(), BundleError> {
    let is_digest = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    if sha256.len() == 64 && sha256.chars().all(is_digest) {
        return Ok(());
    }
    let problem = format!("has the identity `{}`, expected a SHA-256 digest", printable(sha256));
    Err(inconsistent(whose, problem))
}

/// `nnz` is the number of nonzeros of the run's matrix, if its subject is one.
fn check_run(whose: &str, run: &Run, nnz: Option<u64>) -> Result<(), BundleError> {
    for (k, &sample) in run.samples.iter().enumerate() {
        // The name is built only if the sample is wrong: there may be millions.
        if !(0.0..=MOST_SECONDS).contains(&sample) {
            check_numbers(whose, MOST_SECONDS, &[(&format!("samples[{k}]"), Some(sample))])?;
        }
    }
    for series in run.history.iter().flat_map(|history| &history.series) {
        if series.every == 0 {
            return Err(inconsistent(whose, "has a history with a step of 0"));
        }
        if series.values.iter().any(|value| !value.is_finite()) {
            let field = format!("history.{}", printable(&series.name));
            return Err(BundleError::NotFinite { whose: whose.into(), field });
        }
    }
    if let Some(solve) = &run.solve {
        check_solve(whose, solve)?;
    }
    if let Some(distributed) = &run.distributed {
        check_distributed(whose, distributed)?;
    }
    if let Some(energy) = &run.energy {
        check_energy(whose, energy)?;
        if run.samples.is_empty() {
            return Err(inconsistent(whose, "has an energy but no samples"));
        }
        if run.no_energy.is_some() {
            return Err(inconsistent(whose, "has both an energy and a reason for having none"));
        }
    }
    if let Some(source) = &run.source {
        check_identity(&format!("the kernel source of {whose}"), &source.sha256)?;
    }
    if let Some(choice) = &run.costs.choice {
        check_choice(whose, choice)?;
    }
    let (check, costs) = (&run.check, &run.costs);
    let predicted = costs.predicted.as_ref();
    let errors = [
        ("check.worst", check.worst),
        ("check.s_paper", check.s_paper),
        ("check.rel_err", check.rel_err),
        ("check.rounding.max", check.rounding.map(|rounding| rounding.max)),
        ("check.rounding.norm", check.rounding.map(|rounding| rounding.norm)),
        ("check.rounding.bound", check.rounding.map(|rounding| rounding.bound)),
    ];
    check_numbers(whose, ANY, &errors)?;
    if let Some(until) = run.until {
        let shares = [("until.asked", Some(until.asked)), ("until.reached", until.reached)];
        check_numbers(whose, MOST_AMOUNT, &shares)?;
        check_numbers(whose, MOST_SECONDS, &[("until.at_most_s", Some(until.at_most_s))])?;
        if until.met && until.reached.is_none_or(|reached| reached >= until.asked) {
            return Err(inconsistent(
                whose,
                "claims to have reached the requested precision but did not",
            ));
        }
    }
    let times = [
        ("costs.conversion_s", Some(costs.conversion_s)),
        ("costs.plan_s", Some(costs.plan_s)),
        ("costs.launch_s", costs.launch_s),
        ("costs.graph_s", costs.graph_s),
        ("costs.permute_s", costs.permute_s),
        ("costs.upload_s", costs.upload_s),
        ("costs.allocate_s", costs.allocate_s),
        ("costs.download_s", costs.download_s),
        ("costs.clock_s", costs.clock_s),
    ];
    check_numbers(whose, MOST_SECONDS, &times)?;
    let numbers = [
        ("costs.break_even", costs.break_even),
        ("costs.predicted.idle_share", predicted.and_then(|p| p.idle_share)),
        ("costs.predicted.imbalance", predicted.and_then(|p| p.imbalance)),
    ];
    check_numbers(whose, MOST_AMOUNT, &numbers)?;
    for launch in &costs.launches {
        let occupancy = ("costs.launches.occupancy", Some(launch.occupancy));
        check_numbers(whose, MOST_AMOUNT, &[occupancy])?;
        if launch.occupancy > 1.0 {
            return Err(inconsistent(whose, "has a launch with an occupancy above 1"));
        }
    }
    if predicted.is_some_and(|predicted| !predicted.is_possible()) {
        return Err(inconsistent(
            whose,
            "has an impossible prediction: a value is above its maximum",
        ));
    }
    let passed = check.verdict == Verdict::Pass;
    let timed = !run.samples.is_empty() || run.figures.is_some() || run.metric.is_some();
    if timed && !passed {
        return Err(inconsistent(whose, "has a timing although its check did not pass"));
    }
    if check.undecided && check.verdict != Verdict::Refused {
        return Err(inconsistent(whose, "is undecided although its check was not refused"));
    }
    if check.limited_by_rounding && !passed {
        return Err(inconsistent(whose, "is limited by rounding although its check did not pass"));
    }
    if check.rounding.is_some() && !passed {
        let problem = "has an error against f64 although its check did not pass";
        return Err(inconsistent(whose, problem));
    }
    if !passed && check.reason.is_none() {
        return Err(inconsistent(whose, "did not pass its check but gives no reason"));
    }
    let Some(figures) = &run.figures else {
        return match run.samples.is_empty() {
            true => Ok(()),
            false => Err(inconsistent(whose, "has samples but no figures")),
        };
    };
    let times = [
        ("figures.median_s", Some(figures.median_s)),
        ("figures.mean_s", Some(figures.mean_s)),
        ("figures.min_s", Some(figures.min_s)),
        ("figures.q1_s", Some(figures.q1_s)),
        ("figures.q3_s", Some(figures.q3_s)),
        ("figures.max_s", Some(figures.max_s)),
    ];
    check_numbers(whose, MOST_SECONDS, &times)?;
    let numbers = [
        ("figures.gflops", Some(figures.gflops)),
        ("figures.gbs", Some(figures.gbs)),
        ("figures.pct_copy", figures.pct_copy),
        ("figures.speedup", figures.speedup),
        ("figures.efficiency", figures.efficiency),
    ];
    check_numbers(whose, MOST_AMOUNT, &numbers)?;
    if run.samples.is_empty() {
        return Err(inconsistent(whose, "has figures but no samples"));
    }
    let operation = Operation::of(&run.operation);
    // Other operations record how much work they did.
    let flops = operation.zip(nnz).and_then(|(operation, nnz)| operation.flops(nnz));
    let flops = flops.map(|flops| flops as f64);
    if let Some((field, found, expected)) =
        figures.disagreement(&run.samples, flops, costs.minimal_bytes)
    {
        return Err(BundleError::Figures { whose: whose.into(), field, found, expected });
    }
    check_metric(whose, run, operation, figures.median_s)
}

fn check_choice(whose: &str, choice: &Choice) -> Result<(), BundleError> {
    for (field, seconds) in choice.times() {
        check_numbers(whose, MOST_SECONDS, &[(&format!("costs.choice.{field}"), Some(seconds))])?;
    }
    for tried in &choice.tried {
        let times = [
            ("costs.choice.tried.conversion_s", Some(tried.conversion_s)),
            ("costs.choice.tried.least_s", tried.least_s),
            ("costs.choice.tried.expected_s", tried.expected_s),
        ];
        check_numbers(whose, MOST_SECONDS, &times)?;
    }
    Ok(())
}

/// The energy must follow from its windows.
fn check_energy(whose: &str, energy: &Energy) -> Result<(), BundleError> {
    for &joules in &energy.windows {
        check_numbers(whose, MOST_AMOUNT, &[("energy.windows", Some(joules))])?;
    }
    let numbers = [
        ("energy.joules", Some(energy.joules)),
        ("energy.watts", Some(energy.watts)),
        ("energy.idle_watts", Some(energy.idle_watts)),
    ];
    check_numbers(whose, MOST_AMOUNT, &numbers)?;
    check_numbers(whose, MOST_SECONDS, &[("energy.seconds", Some(energy.seconds))])?;
    let Some(expected) = energy.mean() else {
        return Err(inconsistent(whose, "has an energy that was measured in no window"));
    };
    let found = energy.joules;
    match (found - expected).abs() <= 1e-9 * found.max(expected) {
        true => Ok(()),
        false => {
            let problem = format!("has an energy of {found} J, but its windows give {expected} J");
            Err(inconsistent(whose, problem))
        }
    }
}

fn check_distributed(whose: &str, distributed: &Distributed) -> Result<(), BundleError> {
    for (field, seconds) in distributed.times() {
        check_numbers(whose, MOST_SECONDS, &[(field, Some(seconds))])?;
    }
    for link in &distributed.links {
        let bandwidth = ("distributed.links.bandwidth", Some(link.bandwidth));
        check_numbers(whose, MOST_AMOUNT, &[bandwidth])?;
    }
    match distributed.problem() {
        None => Ok(()),
        Some(problem) => Err(inconsistent(whose, problem)),
    }
}

/// Residuals of solvers that did not converge may be arbitrarily large.
fn check_solve(whose: &str, solve: &Solve) -> Result<(), BundleError> {
    let norms = [("solve.tolerance", Some(solve.tolerance)), ("solve.b_norm", Some(solve.b_norm))];
    check_numbers(whose, ANY, &norms)?;
    check_numbers(whose, ANY, &solve.residuals())?;
    check_numbers(whose, MOST_SECONDS, &[("solve.setup_s", Some(solve.setup_s))])?;
    for phase in &solve.phases {
        check_numbers(whose, MOST_SECONDS, &[("solve.phases.seconds", Some(phase.seconds))])?;
    }
    let Some(spectrum) = &solve.spectrum else { return Ok(()) };
    check_numbers(whose, ANY, &[("solve.spectrum.condition", Some(spectrum.condition))])?;
    for (field, value) in [("smallest", spectrum.smallest), ("largest", spectrum.largest)] {
        if !value.is_finite() {
            let field = format!("solve.spectrum.{field}");
            return Err(BundleError::NotFinite { whose: whose.into(), field });
        }
    }
    Ok(())
}

/// The rate must follow from the work and the samples, if the operation is known here.
fn check_metric(
    whose: &str,
    run: &Run,
    operation: Option<Operation>,
    median_s: f64,
) -> Result<(), BundleError> {
    let Some(metric) = &run.metric else { return Ok(()) };
    check_numbers(whose, MOST_AMOUNT, &[("metric.value", Some(metric.value))])?;
    let (Some(operation), Some(work)) = (operation, &run.work) else { return Ok(()) };
    let expected = operation.metric(work, median_s);
    let (found, wanted) = (metric.value, expected.value);
    let is_near = (found - wanted).abs() <= 1e-9 * found.abs().max(wanted.abs());
    match is_near && (&metric.unit, metric.better) == (&expected.unit, expected.better) {
        true => Ok(()),
        false => Err(BundleError::Figures {
            whose: whose.into(),
            field: "metric.value",
            found,
            expected: wanted,
        }),
    }
}

/// An entry kept unchanged must not pass for one that the bundle writes.
fn check_other(name: &str) -> Result<(), BundleError> {
    if !is_safe_entry(name) {
        return Err(BundleError::UnsafeName { entry: printable(name) });
    }
    let own = [MANIFEST, ENVIRONMENT, RUNS, RESULTS, PLAN];
    if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(inconsistent(format!("entry `{name}`"), "has a reserved name"));
    }
    if name.get(..HISTORIES.len()).is_some_and(|start| start.eq_ignore_ascii_case(HISTORIES)) {
        let problem = "is the history of a run that is not in the bundle";
        return Err(inconsistent(format!("entry `{name}`"), problem));
    }
    if let Some((_, _, SUBJECT)) = subject_entry(name) {
        let problem = "describes a subject that is not in the bundle";
        return Err(inconsistent(format!("entry `{name}`"), problem));
    }
    if matrix_entry(name).is_some() {
        let problem = "is in the folder of a matrix that is not in the bundle";
        return Err(inconsistent(format!("entry `{name}`"), problem));
    }
    Ok(())
}
/// Whether a text is a time in UTC as in RFC 3339, e.g. `2026-01-31T12:00:00Z`, optionally with a
/// fraction of the seconds. Leap seconds are rejected: our clocks never report them.
fn is_utc_time(text: &str) -> bool {
    let Some((date, time)) = text.strip_suffix('Z').and_then(|text| text.split_once('T')) else {
        return false;
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let numbers = |text: &str, sign: char, widths: [usize; 3]| {
        let mut parts = text.split(sign);
        let mut next = |width: usize| {
            let part = parts.next().filter(|part| part.len() == width)?;
            part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u32>().ok())?
        };
        let found = [next(widths[0])?, next(widths[1])?, next(widths[2])?];
        parts.next().is_none().then_some(found)
    };
    let (Some([year, month, day]), Some([hour, minute, second])) =
        (numbers(date, '-', [4, 2, 2]), numbers(time, ':', [2, 2, 2]))
    else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let fraction =
        (1..=9).contains(&fraction.len()) && fraction.bytes().all(|b| b.is_ascii_digit());
    (1..=days).contains(&day) && hour < 24 && minute < 60 && second < 60 && fraction
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_utc_time;

    /// As jiff reads it, except leap seconds and spellings that RFC 3339 does not have.
    fn as_jiff_reads_it(text: &str) -> bool {
        text.parse::<jiff::Timestamp>().is_ok()
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "Z",
            "2026-01-31",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00+01:00",
            "2026-1-31T12:00:00Z",
            "2026-01-31 12:00:00Z",
            "2026-01-31T12:00Z",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00:00Z",
            "+026-01-31T12:00:00Z",
        ] {
            assert!(!is_utc_time(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn dates_and_times_are_those_of_the_calendar(
            text in "[0-8][0-9]{3}-(0[0-9]|1[0-3])-([0-2][0-9]|3[0-2])T([01][0-9]|2[0-4]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z"
        ) {
            prop_assert_eq!(is_utc_time(&text), as_jiff_reads_it(&text), "{}", text);
        }

        #[test]
        fn ends_of_february_are_known(year in 0u32..=9998, day in 27u32..=30) {
            let text = format!("{year:04}-02-{day}T00:00:00Z");
            prop_assert_eq!(is_utc_time(&text), as_jiff_reads_it(&text), "{}", text);
        }
    }
}
