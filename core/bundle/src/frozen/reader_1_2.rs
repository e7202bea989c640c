//! How readers of schema 1.2 check a bundle: their checks as they were, so that bundles written now
//! still open there. The document types, the zip layout and the arithmetic of figures have not
//! changed for what 1.2 knows; its JSON Schema, frozen beside this file, says which fields it must
//! find. Do not update this file.

use std::collections::{BTreeMap, HashSet};

use crate::archive::Archive;
use crate::json::parse;
use crate::{BundleError, Limits, MatrixFolder};
use sparsescope_matrix::matrix::sha256;
use sparsescope_record::{
    Environment, Environments, Manifest, MatrixRecord, Run, Runs, Verdict, is_safe_entry,
    is_safe_id, matrix_entry, printable,
};

/// Entries that the bundle itself writes.
const MANIFEST: &str = "manifest.json";
const ENVIRONMENT: &str = "environment.json";
const RUNS: &str = "runs.json";
const RESULTS: &str = "results.csv";
const PLAN: &str = "plan.json";
const MATRIX: &str = "matrix.json";

/// Formats `runs[3] (cpu/csr/nnz on cant-2fca02e9)`, as errors name a run.
fn run_name(index: usize, run: &Run) -> String {
    format!("runs[{index}] ({} on {})", printable(&run.kernel), printable(&run.matrix))
}

/// A bundle as 1.2 reads it.
struct Bundle {
    created: String,
    environments: Vec<Environment>,
    matrices: Vec<MatrixFolder>,
    runs: Vec<Run>,
    others: BTreeMap<String, Vec<u8>>,
}

/// Reads and checks a bundle as 1.2 does.
pub(crate) fn read(bytes: &[u8]) -> Result<(), BundleError> {
    let limits = Limits::default();
    let mut archive = Archive::open(bytes, &limits)?;
    archive.check(&limits)?;
    let manifest: Manifest = parse(MANIFEST, &archive.manifest)?;
    let mut contents = archive.contents()?;
    for (entry, content) in &contents {
        let info = manifest.entries.get(entry).expect("an entry that the manifest lists");
        assert_eq!((info.bytes, &info.sha256), (content.len() as u64, &sha256(content)), "{entry}");
    }
    assert_eq!(manifest.entries.len(), contents.len());
    let mut take = |entry: &str| contents.remove(entry).expect("an entry that is always there");
    take(RESULTS);
    let environments: Environments = parse(ENVIRONMENT, &take(ENVIRONMENT))?;
    let runs: Runs = parse(RUNS, &take(RUNS))?;
    contents.remove(PLAN);
    let mut matrices = Vec::new();
    for id in &manifest.matrices {
        let within = format!("matrices/{id}/");
        let inside = |name: &String| name.starts_with(&within);
        let names: Vec<String> = contents.keys().filter(|name| inside(name)).cloned().collect();
        let mut files: BTreeMap<String, Vec<u8>> = names
            .iter()
            .filter_map(|name| {
                Some((name.strip_prefix(&within)?.to_owned(), contents.remove(name)?))
            })
            .collect();
        let record = files.remove(MATRIX).expect("each matrix has its record");
        let record: MatrixRecord = parse(MATRIX, &record)?;
        assert_eq!(record.id, *id);
        matrices.push(MatrixFolder { record, files });
    }
    assert_eq!(runs.runs.len() as u64, manifest.runs, "they count the runs of runs.json");
    let (created, environments) = (manifest.created, environments.environments);
    Bundle { created, environments, matrices, runs: runs.runs, others: contents }.check()
}

impl Bundle {
    /// Checks that ids are safe, unique and known where they are used; that times and figures are
    /// finite, not negative and agree with the samples; and that no timing lacks a passed check.
    fn check(&self) -> Result<(), BundleError> {
        check_created(&self.created)?;
        let environments = self.environments.iter().map(|e| e.id.as_str());
        let environments = unique_ids("environments", environments)?;
        let matrices = self.matrices.iter().map(|m| m.record.id.as_str());
        let matrices = unique_ids("matrices", matrices)?;
        self.environments.iter().try_for_each(check_environment)?;
        self.matrices.iter().try_for_each(check_matrix)?;
        let nnz: BTreeMap<&str, u64> =
            self.matrices.iter().map(|m| (m.record.id.as_str(), m.record.statistics.nnz)).collect();
        for (index, run) in self.runs.iter().enumerate() {
            let unknown = |what, id: &str| BundleError::UnknownReference {
                whose: run_name(index, run),
                what,
                id: printable(id),
            };
            if !matrices.contains(&run.matrix.to_ascii_lowercase()) {
                return Err(unknown("matrix", &run.matrix));
            }
            if !environments.contains(&run.environment.to_ascii_lowercase()) {
                return Err(unknown("environment", &run.environment));
            }
            let Some(&nnz) = nnz.get(run.matrix.as_str()) else {
                return Err(unknown("matrix", &run.matrix));
            };
            check_run(&run_name(index, run), run, nnz)?;
        }
        self.others.keys().try_for_each(|name| check_other(name))
    }
}

fn inconsistent(whose: impl Into<String>, problem: impl Into<String>) -> BundleError {
    BundleError::Inconsistent { whose: whose.into(), problem: problem.into() }
}

fn check_created(created: &str) -> Result<(), BundleError> {
    if is_utc_time(created) {
        return Ok(());
    }
    let problem = format!("is not an RFC 3339 time in UTC: `{}`", printable(created));
    Err(inconsistent("`created` of the bundle", problem))
}

/// The ids in lower case: on many systems, folders that differ only in case are the same folder.
fn unique_ids<'a>(
    whose: &'static str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<HashSet<String>, BundleError> {
    let mut seen = HashSet::new();
    for id in ids {
        if !is_safe_id(id) {
            return Err(BundleError::UnsafeId { whose, id: printable(id) });
        }
        if !seen.insert(id.to_ascii_lowercase()) {
            return Err(BundleError::DuplicateId { whose, id: id.into() });
        }
    }
    Ok(seen)
}

/// Names of numbers with their values, `None` if absent.
type Numbers<'a> = &'a [(&'a str, Option<f64>)];

fn check_numbers(whose: &str, numbers: Numbers<'_>) -> Result<(), BundleError> {
    for &(field, number) in numbers {
        match number {
            Some(found) if !found.is_finite() => {
                return Err(BundleError::NotFinite { whose: whose.into(), field: field.into() });
            }
            Some(found) if found < 0.0 => {
                let whose = whose.into();
                return Err(BundleError::Negative { whose, field: field.into(), found });
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
        check_numbers(&whose, &numbers)?;
    }
    for gpu in &environment.gpus {
        check_numbers(&whose, &[("gpus.copy", gpu.copy)])?;
    }
    let noise = &environment.noise;
    let numbers = [
        ("noise.load_before", noise.load_before),
        ("noise.load_after", noise.load_after),
        ("noise.stolen_seconds", noise.stolen_seconds),
    ];
    check_numbers(&whose, &numbers)
}

fn check_matrix(matrix: &MatrixFolder) -> Result<(), BundleError> {
    let MatrixRecord { id, sha256, read_seconds, statistics, .. } = &matrix.record;
    let whose = format!("matrix `{id}`");
    let is_digest = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    if sha256.len() != 64 || !sha256.chars().all(is_digest) {
        let problem =
            format!("has an identity that is not a SHA-256 digest: `{}`", printable(sha256));
        return Err(inconsistent(whose, problem));
    }
    let row = &statistics.row;
    let numbers = [
        ("read_seconds", Some(*read_seconds)),
        ("statistics.density", Some(statistics.density)),
        ("statistics.row.mean", Some(row.mean)),
        ("statistics.row.stddev", Some(row.stddev)),
        ("statistics.row.average_deviation", Some(row.average_deviation)),
        ("statistics.row.percent_average_deviation", Some(row.percent_average_deviation)),
        ("statistics.structural_symmetry", statistics.structural_symmetry),
        ("statistics.numerical_symmetry", statistics.numerical_symmetry),
    ];
    check_numbers(&whose, &numbers)?;
    for format in &statistics.formats {
        check_numbers(&whose, &[("statistics.formats.padding", Some(format.padding))])?;
    }
    for name in matrix.files.keys() {
        if !is_safe_entry(name) {
            return Err(BundleError::UnsafeName { entry: printable(name) });
        }
        if name.eq_ignore_ascii_case(MATRIX) {
            return Err(inconsistent(whose, format!("has a file named `{MATRIX}` beside its own")));
        }
    }
    Ok(())
}

fn check_run(whose: &str, run: &Run, nnz: u64) -> Result<(), BundleError> {
    for (k, &sample) in run.samples.iter().enumerate() {
        // The name is built only if the sample is wrong: there may be millions.
        if !sample.is_finite() || sample < 0.0 {
            check_numbers(whose, &[(&format!("samples[{k}]"), Some(sample))])?;
        }
    }
    let (check, costs) = (&run.check, &run.costs);
    let predicted = costs.predicted.as_ref();
    let numbers = [
        ("check.worst", check.worst),
        ("check.s_paper", check.s_paper),
        ("check.rel_err", check.rel_err),
        ("costs.conversion_s", Some(costs.conversion_s)),
        ("costs.plan_s", Some(costs.plan_s)),
        ("costs.break_even", costs.break_even),
        ("costs.launch_s", costs.launch_s),
        ("costs.graph_s", costs.graph_s),
        ("costs.predicted.idle_share", predicted.and_then(|p| p.idle_share)),
        ("costs.predicted.imbalance", predicted.and_then(|p| p.imbalance)),
    ];
    check_numbers(whose, &numbers)?;
    if predicted.is_some_and(|predicted| !predicted.is_possible()) {
        return Err(inconsistent(whose, "predicts more of something than there can be"));
    }
    let passed = check.verdict == Verdict::Pass;
    let timed = !run.samples.is_empty() || run.figures.is_some();
    if timed && !passed {
        return Err(inconsistent(whose, "has a timing although its check did not pass"));
    }
    if !passed && check.reason.is_none() {
        return Err(inconsistent(whose, "did not pass its check and gives no reason"));
    }
    let Some(figures) = &run.figures else {
        return match run.samples.is_empty() {
            true => Ok(()),
            false => Err(inconsistent(whose, "has samples and no figures")),
        };
    };
    let numbers = [
        ("figures.median_s", Some(figures.median_s)),
        ("figures.mean_s", Some(figures.mean_s)),
        ("figures.min_s", Some(figures.min_s)),
        ("figures.q1_s", Some(figures.q1_s)),
        ("figures.q3_s", Some(figures.q3_s)),
        ("figures.max_s", Some(figures.max_s)),
        ("figures.gflops", Some(figures.gflops)),
        ("figures.gbs", Some(figures.gbs)),
        ("figures.pct_copy", figures.pct_copy),
        ("figures.speedup", figures.speedup),
        ("figures.efficiency", figures.efficiency),
    ];
    check_numbers(whose, &numbers)?;
    if run.samples.is_empty() {
        return Err(inconsistent(whose, "has figures and no samples"));
    }
    // Other operations have their own count of floating-point operations.
    let flops = (run.operation == "spmv").then_some(2.0 * nnz as f64);
    match figures.disagreement(&run.samples, flops, costs.minimal_bytes) {
        Some((field, found, expected)) => {
            Err(BundleError::Figures { whose: whose.into(), field, found, expected })
        }
        None => Ok(()),
    }
}

/// An entry kept unchanged must not pass for one that the bundle writes.
fn check_other(name: &str) -> Result<(), BundleError> {
    if !is_safe_entry(name) {
        return Err(BundleError::UnsafeName { entry: printable(name) });
    }
    let own = [MANIFEST, ENVIRONMENT, RUNS, RESULTS, PLAN];
    if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(inconsistent(format!("entry `{name}`"), "has a name that the bundle uses"));
    }
    if matrix_entry(name).is_some() {
        let problem = "lies in the folder of a matrix that the bundle does not hold";
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
