//! Results of Ginkgo's SpMV benchmark.
//!
//! The files have one entry per matrix, or one per matrix and format. The matrix's size is in the
//! entry, in its `problem` or in its `operator`. `spmv` is an object with one case per format, a
//! list of cases with their format in `variant`, or the single case of an entry with a `format`.
//! Times are in nanoseconds until the end of 2020 and in seconds since.

use std::collections::BTreeMap;

use serde_json::Value;

use super::by_name::Named;
use super::program::{Program, UNKNOWN};
use super::run::{Judgement, judged, not_run, tolerated, word};
use crate::{Bundle, BundleError, Limits, MatrixFolder};
use sparsescope_matrix::matrix::{RowLengths, Statistics};
use sparsescope_record::{
    Check, Costs, Cpu, Environment, Gpu, MatrixRecord, Run, matrix_name, printable,
};

/// Without a number of repetitions the unit of a time is unknown. No SpMV took 100 s, and none of
/// Ginkgo's takes less than 100 ns.
const LEAST_NANOSECONDS: f64 = 100.0;

/// A matrix of the file and its first case for each format.
struct Group<'a> {
    record: MatrixRecord,
    cases: BTreeMap<String, &'a Value>,
}

/// Reads the file at `file`. Published files have the device and executor in their folder names.
pub(super) fn read(
    file: &str,
    bytes: &[u8],
    created: String,
    limits: &Limits,
) -> Result<Bundle, BundleError> {
    let entries = match serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))? {
        Value::Array(entries) => entries,
        entry => vec![entry],
    };
    limits.check("the file", entries.len() as u64, "entries", limits.entries)?;
    let place = Place::of(file);
    let mut bundle = Program::Ginkgo.bundle(UNKNOWN, created);
    bundle.environments.push(place.environment());
    for Group { record, cases } in groups(&entries)? {
        let precision = Precision::of(&cases, &record.statistics).ok_or_else(|| {
            let name = &record.name;
            refused(format!("the matrix {name} is complex: only real matrices are supported"))
        })?;
        let run =
            |(format, case): (&String, &&Value)| run(&place, &record, format, case, &precision);
        bundle.runs.extend(cases.iter().map(run));
        bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
        limits.check("the file", bundle.runs.len() as u64, "runs", limits.runs)?;
    }
    match bundle.runs.is_empty() {
        true => Err(refused("no entry has `spmv` results for a format".into())),
        false => Ok(bundle),
    }
}

fn refused(detail: String) -> BundleError {
    Program::Ginkgo.refused(detail)
}

/// The matrices of the entries without duplicates, in file order.
fn groups(entries: &[Value]) -> Result<Vec<Group<'_>>, BundleError> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (number, entry) in entries.iter().enumerate() {
        let told = |why: String| refused(format!("entry {} {why}", number + 1));
        for (order, format, case) in cases(entry) {
            let record = matrix(entry, order).map_err(told)?;
            let place = *places.entry(record.sha256.clone()).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Group { record, cases: BTreeMap::new() });
            }
            if let Some(group) = groups.get_mut(place) {
                group.cases.entry(format.to_owned()).or_insert(case);
            }
        }
    }
    Ok(groups)
}

/// The cases of an entry: the matrix reordering, the format and the results. The benchmark's input
/// has no results yet, so it has no cases.
fn cases(entry: &Value) -> Vec<(Option<&str>, &str, &Value)> {
    fn text<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
        of.get(key)?.as_str()
    }
    let order = text(entry, "reordered").or(text(entry, "reorder"));
    match (entry.get("spmv"), text(entry, "format")) {
        (Some(case @ Value::Object(results)), Some(format)) => match results.is_empty() {
            true => Vec::new(),
            false => vec![(order, format, case)],
        },
        (Some(Value::Object(cases)), None) => {
            cases.iter().map(|(format, case)| (order, format.as_str(), case)).collect()
        }
        (Some(Value::Array(cases)), _) => {
            let told = |case| {
                let variant = Value::get(case, "variant")?;
                Some((text(variant, "reorder").or(order), text(variant, "format")?, case))
            };
            cases.iter().filter_map(told).collect()
        }
        _ => Vec::new(),
    }
}

/// Where it ran, as far as the folder names of the published data show:
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
            id: Program::Ginkgo.id().into(),
            cpu: Cpu { model: cpu.into(), architecture: UNKNOWN.into(), ..Cpu::default() },
            os: UNKNOWN.into(),
            gpus: if is_gpu { vec![gpu] } else { Vec::new() },
            ..Environment::default()
        }
    }
}

/// The matrix of an entry, reordered by `order`, or what is missing.
fn matrix(entry: &Value, order: Option<&str>) -> Result<MatrixRecord, String> {
    let nothing = Value::Null;
    let problem = entry.get("problem").unwrap_or(&nothing);
    let operator = entry.get("operator").unwrap_or(&nothing);
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let stencil = operator.get("stencil").unwrap_or(&nothing);
    let size = |keys: &[&str]| {
        let of = |key: &&str| {
            let places = [problem, operator, stencil, entry];
            places.into_iter().find_map(|place| place.get(*key))?.as_u64()
        };
        keys.iter().find_map(of)
    };
    let stencil = text(entry, "stencil").or_else(|| text(stencil, "kind"));
    let group = text(problem, "group").unwrap_or_default();
    let file = text(entry, "filename").or_else(|| text(operator, "filename")).unwrap_or_default();
    let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = match (&stencil, text(problem, "name")) {
        (_, Some(name)) => name,
        (Some(stencil), None) => format!("stencil {stencil} {}", size(&["size"]).unwrap_or(0)),
        (None, None) => matrix_name(file).to_owned(),
    };
    let mut name = printable(&name);
    // A reordered matrix is a different matrix.
    if let Some(order) = order.filter(|order| *order != "natural") {
        name = format!("{name} ({})", printable(order));
    }
    let rows = size(&["rows", "num_rows", "size"]);
    let nnz = size(&["nonzeros", "nnz", "num_nonzeros"]);
    let (Some(rows), Some(nnz)) = (rows, nnz) else {
        return Err(format!("({name}) does not give the rows and nonzeros of its matrix"));
    };
    let cols = size(&["cols", "columns", "num_cols"]).unwrap_or(rows);
    if name.is_empty() {
        return Err("names no matrix: expected `filename`, or `name` in `problem`".into());
    }
    let generated = stencil.is_some() || group == "Generated";
    let named = Named {
        size: [rows, cols, nnz],
        generator: generated.then(|| format!("{}: {name}", Program::Ginkgo.name())),
        is_real: problem.get("real") == Some(&Value::Bool(true)),
        row: rows_of(problem.get("row_distribution").unwrap_or(&nothing)),
        name,
    };
    named.record()
}

/// Row lengths, as far as they are recorded.
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

/// Precision of the values. It is not recorded but follows from the bytes of COO or CSR.
struct Precision {
    name: &'static str,
    value_bytes: u64,
    is_assumed: bool,
}

impl Precision {
    /// Returns `None` for complex values.
    fn of(cases: &BTreeMap<String, &Value>, of: &Statistics) -> Option<Self> {
        let bytes = |format: &str| cases.get(format)?.get("storage")?.as_u64();
        // COO has two 32-bit indices per nonzero, CSR one plus the row offsets.
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

    let mut params = sparsescope_matrix::order::map([("time".to_owned(), "averaged".to_owned())]);
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
    let run = Run {
        matrix: record.id.clone(),
        operation: "spmv".into(),
        kernel: format!("vendor/ginkgo/{}", word(format)),
        origin: vec!["vendor".into()],
        backend: place.backend.clone(),
        device: place.device.clone(),
        environment: Program::Ginkgo.id().into(),
        threads: u32::from(place.backend != "omp"),
        hot: true,
        precision: precision.name.into(),
        params,
        check: Check { rel_err, by: Some(Program::Ginkgo.name().into()), ..Check::default() },
        samples: time.filter(|time| *time > 0.0).into_iter().collect(),
        repetitions: repetitions.and_then(|count| u32::try_from(count).ok()).unwrap_or(0),
        costs: Costs { format_bytes: storage, minimal_bytes, ..Costs::default() },
        ..Run::default()
    };
    judged(run, of.nnz, judgement(case, rel_err, precision.name))
}

/// Whether the time is valid, or why not.
fn judgement(case: &Value, rel_err: Option<f64>, precision: &str) -> Judgement {
    if case.get("completed") == Some(&Value::Bool(false)) || case.get("error").is_some() {
        let error = case.get("error").and_then(Value::as_str).map(printable);
        return not_run(error.map_or_else(
            || "Ginkgo did not complete it and recorded no error".into(),
            |error| format!("Ginkgo did not complete it: {error}"),
        ));
    }
    match rel_err {
        Some(error) => tolerated(Program::Ginkgo.name(), error, precision),
        None => not_run("its result was not checked: the file records no error"),
    }
}

#[cfg(test)]
#[path = "ginkgo_tests.rs"]
mod tests;
