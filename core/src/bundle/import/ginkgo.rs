//! Results of Ginkgo's SpMV benchmark as a bundle, so that what was published can be drawn beside
//! what was measured here. `docs/ginkgo.md` says what is taken over and what is not.
//!
//! The files have one entry a matrix. Its size is in the entry or in its `problem`, and `spmv` has
//! a case a format. Times are nanoseconds until the end of 2020 and seconds since.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::bundle::{Bundle, BundleError, Limits, MatrixFolder};
use crate::matrix::{RowLengths, Statistics, nnz_class, sha256};
use crate::record::{
    Check, Costs, Cpu, Environment, Figures, Gpu, MatrixRecord, Operation, Producer, Run, Source,
    Verdict, Work, matrix_id, printable,
};

/// Name of the program in kernel ids, and of whom runs are by.
const GINKGO: &str = "Ginkgo";

/// Largest recorded relative error with which a time is taken over: several thousand roundings.
const TOLERANCE: [(&str, f64); 2] = [("f64", 1e-12), ("f32", 1e-5)];

/// Without a number of repetitions the unit of a time is not known. No product took 100 s, and none
/// of Ginkgo's takes less than 100 ns.
const LEAST_NANOSECONDS: f64 = 100.0;

/// What the files do not say.
const UNKNOWN: &str = "not recorded";

/// Whether a matrix is known by its name and size only: its values were never seen, and its
/// identity is made of these.
pub fn is_known_by_name(record: &MatrixRecord) -> bool {
    let of = &record.statistics;
    record.sha256 == identity_by_name(&record.name, [of.rows, of.cols, of.nnz])
}

/// Stands for the identity of a matrix of which no more is known. No canonical CSR begins like
/// this text.
fn identity_by_name(name: &str, [rows, cols, nnz]: [u64; 3]) -> String {
    sha256(format!("known by name only: {name}, {rows} x {cols}, {nnz} entries").as_bytes())
}

impl Bundle {
    /// Reads a bundle, or results of Ginkgo's benchmark as one: JSON begins with a bracket and a
    /// zip does not. `file` may be a path of Ginkgo's published data, which names device and
    /// executor in its folders; `created` is when it is read.
    pub fn read_any(
        file: &str,
        bytes: &[u8],
        created: String,
        limits: &Limits,
    ) -> Result<Self, BundleError> {
        match bytes.trim_ascii_start().first() {
            Some(b'[' | b'{') => from_ginkgo(file, bytes, created, limits),
            _ => Self::read(bytes, limits),
        }
    }

    /// Matrices that are known by name only become those of equal name, rows, columns and entries
    /// among `known`, if there is a real one. Returns how many were recognised.
    pub fn recognise<'a>(
        &mut self,
        known: impl Iterator<Item = &'a MatrixRecord> + Clone,
    ) -> usize {
        let mut recognised = 0;
        for MatrixFolder { record, .. } in &mut self.matrices {
            if record.source != Source::Real || !is_known_by_name(record) {
                continue;
            }
            let key = |record: &MatrixRecord| {
                let of = &record.statistics;
                (record.name.clone(), of.rows, of.cols, of.nnz)
            };
            let is_it = |other: &&MatrixRecord| {
                other.source == Source::Real
                    && other.reordered.is_none()
                    && !is_known_by_name(other)
                    && key(other) == key(record)
            };
            if let Some(other) = known.clone().find(is_it) {
                *record = MatrixRecord { id: record.id.clone(), ..other.clone() };
                recognised += 1;
            }
        }
        recognised
    }
}

fn from_ginkgo(
    file: &str,
    bytes: &[u8],
    created: String,
    limits: &Limits,
) -> Result<Bundle, BundleError> {
    limits.check("the file", bytes.len() as u64, "bytes", limits.document_bytes)?;
    let entries = match serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))? {
        Value::Array(entries) => entries,
        entry => vec![entry],
    };
    limits.check("the file", entries.len() as u64, "entries", limits.entries)?;
    let place = Place::of(file);
    let producer = Producer { name: GINKGO.into(), version: UNKNOWN.into(), revision: None };
    let mut bundle = Bundle::new(producer, created);
    bundle.complete = true;
    bundle.environments.push(place.environment());
    let mut seen = BTreeSet::new();
    for (number, entry) in entries.iter().enumerate() {
        // The benchmark's input, which has no results yet, is such a list too.
        let Some(cases) = entry.get("spmv").and_then(Value::as_object) else { continue };
        let record = matrix(entry).map_err(|why| refused(format!("entry {} {why}", number + 1)))?;
        add(&mut bundle, &mut seen, &place, record, cases)?;
        limits.check("the file", bundle.runs.len() as u64, "runs", limits.runs)?;
    }
    match bundle.runs.is_empty() {
        true => Err(refused("no entry has an object `spmv` with a case a format".into())),
        false => Ok(bundle),
    }
}

fn refused(detail: String) -> BundleError {
    BundleError::Ginkgo { detail }
}

/// Where it ran, as far as the folders of the published data tell:
/// `…/V100_SXM2/cuda/SuiteSparse/…/name.json`.
struct Place {
    device: String,
    backend: String,
}

impl Place {
    fn of(file: &str) -> Self {
        let parts: Vec<&str> = file.split(['/', '\\']).collect();
        let executors = ["cuda", "hip", "dpcpp", "omp", "reference"];
        let found = parts.windows(2).rev().find_map(|pair| match pair {
            [device, executor] if executors.contains(executor) => Some((*device, *executor)),
            _ => None,
        });
        let (device, executor) = found.unwrap_or((UNKNOWN, "unknown"));
        let backend = if executor == "reference" { "cpu" } else { executor };
        Self { device: printable(device), backend: backend.into() }
    }

    fn environment(&self) -> Environment {
        let is_gpu = !matches!(self.backend.as_str(), "cpu" | "omp");
        let cpu = if is_gpu { UNKNOWN } else { &self.device };
        let gpu = Gpu { model: self.device.clone(), ..Gpu::default() };
        Environment {
            id: "ginkgo".into(),
            cpu: Cpu { model: cpu.into(), architecture: UNKNOWN.into(), ..Cpu::default() },
            os: UNKNOWN.into(),
            gpus: if is_gpu { vec![gpu] } else { Vec::new() },
            ..Environment::default()
        }
    }
}

/// The matrix of an entry, or what is missing.
fn matrix(entry: &Value) -> Result<MatrixRecord, String> {
    let nothing = Value::Null;
    let problem = entry.get("problem").unwrap_or(&nothing);
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let size = |keys: &[&str]| {
        let of = |key: &&str| problem.get(*key).or_else(|| entry.get(*key))?.as_u64();
        keys.iter().find_map(of)
    };
    let stencil = text(entry, "stencil");
    let group = text(problem, "group").unwrap_or_default();
    let file = text(entry, "filename").unwrap_or_default();
    let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = match (&stencil, text(problem, "name")) {
        (_, Some(name)) => name,
        (Some(stencil), None) => format!("stencil {stencil} {}", size(&["size"]).unwrap_or(0)),
        (None, None) => crate::record::matrix_name(file).to_owned(),
    };
    let mut name = printable(&name);
    // Numbered anew it is another matrix.
    if let Some(order) = text(entry, "reordered").filter(|order| order != "natural") {
        name = format!("{name} ({})", printable(&order));
    }
    let rows = size(&["rows", "num_rows", "size"]);
    let nnz = size(&["nonzeros", "nnz", "num_nonzeros"]);
    let (Some(rows), Some(nnz)) = (rows, nnz) else {
        return Err(format!("({name}) does not say how many rows and nonzeros its matrix has"));
    };
    let cols = size(&["cols", "columns", "num_cols"]).unwrap_or(rows);
    if name.is_empty() {
        return Err("names no matrix: it has no `filename` and no `name` in `problem`".into());
    }
    if u128::from(nnz) > u128::from(rows) * u128::from(cols) {
        return Err(format!("({name}) has {nnz} nonzeros in {rows} rows and {cols} columns"));
    }
    let generated = stencil.is_some() || group == "Generated";
    let sha256 = identity_by_name(&name, [rows, cols, nnz]);
    Ok(MatrixRecord {
        id: matrix_id(&name, &sha256),
        source: if generated { Source::Generated } else { Source::Real },
        generator: generated.then(|| format!("{GINKGO}: {name}")),
        reordered: None,
        field: if problem.get("real") == Some(&Value::Bool(true)) { "real" } else { UNKNOWN }
            .into(),
        symmetry: UNKNOWN.into(),
        read_seconds: 0.0,
        statistics: Statistics {
            rows,
            cols,
            nnz,
            density: if nnz == 0 { 0.0 } else { nnz as f64 / rows as f64 / cols as f64 },
            nnz_class: nnz_class(nnz).into(),
            row: rows_of(problem.get("row_distribution").unwrap_or(&nothing)),
            ..Statistics::default()
        },
        sha256,
        name,
    })
}

/// Row lengths as far as they are told.
fn rows_of(told: &Value) -> RowLengths {
    let value = |key: &str| told.get(key).and_then(Value::as_f64).unwrap_or(0.0).max(0.0);
    let count = |key: &str| value(key).round() as u64;
    RowLengths {
        min: count("min"),
        q1: count("q1"),
        median: count("median"),
        q3: count("q3"),
        max: count("max"),
        mean: value("mean"),
        stddev: value("variance").sqrt(),
        ..RowLengths::default()
    }
}

/// Adds the matrix unless it is there, and its cases, of which the first of a format counts.
fn add(
    bundle: &mut Bundle,
    seen: &mut BTreeSet<(String, String)>,
    place: &Place,
    record: MatrixRecord,
    cases: &Map<String, Value>,
) -> Result<(), BundleError> {
    let precision = Precision::of(cases, &record.statistics).ok_or_else(|| {
        refused(format!("the values of {} are complex, and SpMV of these is another", record.name))
    })?;
    for (format, case) in cases {
        let run = run(place, &record, format, case, &precision);
        if seen.insert((record.sha256.clone(), run.kernel.clone())) {
            bundle.runs.push(run);
        }
    }
    if seen.insert((record.sha256.clone(), String::new())) {
        bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
    }
    Ok(())
}

/// Precision of the values, which is not recorded but follows from the bytes of COO or CSR.
struct Precision {
    name: &'static str,
    value_bytes: u64,
    is_assumed: bool,
}

impl Precision {
    /// `None` where values are complex.
    fn of(cases: &Map<String, Value>, of: &Statistics) -> Option<Self> {
        let bytes = |format: &str| cases.get(format)?.get("storage")?.as_u64();
        // COO has two 32-bit indices an entry, CSR one and the rows' offsets.
        let coo = bytes("coo").map(|bytes| bytes.saturating_sub(of.nnz.saturating_mul(8)));
        let offsets = of.rows.saturating_add(1).saturating_mul(4);
        let csr =
            || Some(bytes("csr")?.saturating_sub(offsets.saturating_add(of.nnz.saturating_mul(4))));
        let each = coo.or_else(csr).filter(|_| of.nnz > 0).map(|bytes| bytes / of.nnz);
        let (name, value_bytes) = match each {
            Some(4..=7) => ("f32", 4),
            Some(16..) if coo.is_some() => return None,
            _ => ("f64", 8),
        };
        Some(Self { name, value_bytes, is_assumed: each.is_none() })
    }
}

fn run(
    place: &Place,
    record: &MatrixRecord,
    format: &str,
    case: &Value,
    precision: &Precision,
) -> Run {
    let of = &record.statistics;
    let number = |key: &str| case.get(key).and_then(Value::as_f64);
    let storage = case.get("storage").and_then(Value::as_u64).unwrap_or(0);
    let vectors = of.rows.saturating_add(of.cols).saturating_mul(precision.value_bytes);
    let minimal_bytes = if storage == 0 { 0 } else { storage.saturating_add(vectors) };
    let repetitions = case.get("repetitions").and_then(Value::as_u64);

    let mut params = BTreeMap::from([("time".to_owned(), "averaged".to_owned())]);
    let mut remark = |what: &str, how: &str| params.insert(what.into(), how.into());
    let time = number("time").map(|time| {
        let is_nanoseconds = repetitions.is_none() && time >= LEAST_NANOSECONDS;
        if is_nanoseconds {
            remark("unit", "ns");
        }
        if is_nanoseconds { time / 1e9 } else { time }
    });
    if precision.is_assumed {
        remark("precision", "assumed");
    }

    let rel_err = number("max_relative_norm2").filter(|error| *error >= 0.0);
    let mut figures = time
        .filter(|time| *time > 0.0)
        .and_then(|time| Figures::from_samples(&[time], 2.0 * of.nnz as f64, minimal_bytes));
    let verdict = verdict(case, figures.is_some(), rel_err, precision.name);
    let (verdict, reason) = match verdict {
        Ok(()) => (Verdict::Pass, None),
        Err((verdict, reason)) => (verdict, Some(reason)),
    };
    figures = figures.filter(|_| verdict == Verdict::Pass);
    let work = Work { flops: record.statistics.nnz.saturating_mul(2), ..Work::default() };
    Run {
        matrix: record.id.clone(),
        operation: "spmv".into(),
        kernel: format!("vendor/ginkgo/{}", word(format)),
        origin: vec!["vendor".into()],
        backend: place.backend.clone(),
        device: place.device.clone(),
        environment: "ginkgo".into(),
        threads: u32::from(place.backend != "omp"),
        hot: true,
        precision: precision.name.into(),
        params,
        check: Check { verdict, reason, rel_err, by: Some(GINKGO.into()), ..Check::default() },
        samples: time.filter(|_| figures.is_some()).into_iter().collect(),
        repetitions: repetitions.and_then(|count| u32::try_from(count).ok()).unwrap_or(0),
        warmup: 0,
        costs: Costs { format_bytes: storage, minimal_bytes, ..Costs::default() },
        metric: figures.as_ref().map(|figures| Operation::Spmv.metric(&work, figures.median_s)),
        work: figures.is_some().then_some(work),
        figures,
        ..Run::default()
    }
}

/// Whether the time counts, or why not.
fn verdict(
    case: &Value,
    has_time: bool,
    rel_err: Option<f64>,
    precision: &str,
) -> Result<(), (Verdict, String)> {
    let not_run = |reason: String| Err((Verdict::Unsupported, reason));
    if case.get("completed") == Some(&Value::Bool(false)) || case.get("error").is_some() {
        let error = case.get("error").and_then(Value::as_str).map(printable);
        return not_run(error.map_or_else(
            || "Ginkgo did not complete it and recorded no error".into(),
            |error| format!("Ginkgo did not complete it: {error}"),
        ));
    }
    if !has_time {
        return not_run("the file has no positive time of it".into());
    }
    let Some(error) = rel_err else {
        return not_run(
            "the file records no error of its result, so that its time does not count".into(),
        );
    };
    let most = TOLERANCE.iter().find(|(name, _)| *name == precision).map_or(0.0, |(_, most)| *most);
    if error > most {
        let reason = format!("Ginkgo recorded a relative error of {error:e}, more than {most:e}");
        return Err((Verdict::Fail, reason));
    }
    Ok(())
}

/// A format's name as the part of a kernel id.
fn word(format: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format.chars().take(48).map(safe).collect()
}

#[cfg(test)]
#[path = "ginkgo_tests.rs"]
mod tests;
