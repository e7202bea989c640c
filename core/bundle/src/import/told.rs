//! Runs as read from a benchmark library's file, and their conversion to a bundle.

use std::collections::{BTreeMap, BTreeSet};

use super::by_name::Named;
use super::program::Program;
use super::refusals::{LeftOut, Reason};
use super::run::{Judgement, judged, not_run, tolerated, word};
use crate::{Bundle, BundleError, Limits, MatrixFolder};
use sparsescope_matrix::order;
use sparsescope_record::{Check, MatrixRecord, Run, matrix_name, printable};

/// Names, without case and punctuation, under which files record what is known about the matrix.
const MATRIX: &[&str] = &["matrix", "matrixname", "matrixfile", "matrixpath", "mtx", "filename"];
const ROWS: &[&str] = &["rows", "numrows", "nrows"];
const COLUMNS: &[&str] = &["cols", "columns", "numcols", "numcolumns", "ncols"];
const NONZEROS: &[&str] = &["nnz", "nonzeros", "numnonzeros", "entries"];
/// Names of the relative error of the result.
const ERROR: &[&str] = &["relerr", "maxrelativenorm2"];

/// Name parts that denote other operations on sparse matrices.
const OTHER_OPERATIONS: &[&str] = &[
    "spmm",
    "spgemm",
    "spgeam",
    "sddmm",
    "spsv",
    "spsm",
    "sptrsv",
    "sptrsm",
    "trsv",
    "symgs",
    "transpose",
    "convert",
    "solve",
];

/// Words for precisions; an empty precision is one that a bundle does not support.
const PRECISIONS: &[(&str, &[&str])] = &[
    ("f64", &["f64", "fp64", "float64", "double"]),
    ("f32", &["f32", "fp32", "float32", "float", "single"]),
    ("", &["f16", "fp16", "half", "bf16", "f8", "c64", "c32", "i8", "i16", "i32", "i64"]),
];

/// A name and a value.
pub(super) type Pair = (String, String);

/// One measurement of a file.
#[derive(Default)]
pub(super) struct Told {
    /// Its name in the file.
    pub(super) name: String,
    /// The part of the name that names its kernel.
    pub(super) kernel: String,
    /// Its matrix, if the name contains it.
    pub(super) matrix: Option<String>,
    /// The varied settings; those without another meaning become parameters.
    pub(super) axes: Vec<Pair>,
    /// Other recorded values.
    pub(super) counters: Vec<Pair>,
    pub(super) device: String,
    pub(super) threads: u32,
    /// Its times, one run each.
    pub(super) times: Vec<Times>,
}

/// Times of a measurement.
pub(super) struct Times {
    pub(super) backend: &'static str,
    /// Not measured after a flush of the caches.
    pub(super) hot: bool,
    /// Seconds per SpMV, or why there are none.
    pub(super) samples: Result<Vec<f64>, String>,
    /// SpMVs behind each sample.
    pub(super) repetitions: u32,
}

/// Fills `bundle`, whose only environment is `environment`, with the measurements of `program` in
/// `file`.
///
/// # Errors
/// Nothing can be imported, or there is more than `limits` allow.
pub(super) fn take_over(
    mut bundle: Bundle,
    program: Program,
    told: &[Told],
    file: &[u8],
    limits: &Limits,
) -> Result<Bundle, BundleError> {
    let environment = bundle.environments.first().map_or_else(String::new, |of| of.id.clone());
    let mut left_out = LeftOut::default();
    let mut matrices = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for one in told {
        let taken = record(program, one).and_then(|record| {
            let setting = Setting::of(one)?;
            if one.times.is_empty() { Err(Reason::Aggregates) } else { Ok((record, setting)) }
        });
        let (record, setting) = match taken {
            Ok(taken) => taken,
            Err(reason) => {
                left_out.add(reason, &one.name);
                continue;
            }
        };
        for times in &one.times {
            let run = run(program, one, times, &record, &setting, &environment);
            let place = (run.backend.clone(), run.device.clone(), run.threads, run.hot);
            let what = (run.matrix.clone(), run.kernel.clone(), run.precision.clone());
            match keys.insert((what, place, run.params.clone())) {
                true => bundle.runs.push(run),
                false => left_out.add(Reason::Twice, &one.name),
            }
        }
        limits.check("the file", bundle.runs.len() as u64, "runs", limits.runs)?;
        if matrices.insert(record.sha256.clone()) {
            bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
        }
    }
    if bundle.runs.is_empty() {
        let why = left_out.sentence(told.len());
        return Err(program.refused(why.unwrap_or_else(|| "it contains no measurements".into())));
    }
    left_out.keep(told.len(), file, &mut bundle);
    Ok(bundle)
}

/// A name without case and punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Told {
    /// The value under one of these names; axes come first.
    fn find(&self, names: &[&str]) -> Option<&str> {
        let mut pairs = self.axes.iter().chain(&self.counters);
        pairs.find(|(name, _)| names.contains(&plain(name).as_str())).map(|(_, value)| &**value)
    }

    /// The value as a number.
    fn number(&self, names: &[&str]) -> Option<f64> {
        self.find(names)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The value as a count of at least 1.
    fn count(&self, names: &[&str]) -> Option<u64> {
        const MOST: f64 = 9_007_199_254_740_992.0;
        let number = self.number(names)?;
        ((1.0..=MOST).contains(&number) && number.fract() == 0.0).then_some(number as u64)
    }
}

/// The matrix of a measurement: by name with as much of the size as is recorded, or by rows,
/// columns and nonzeros alone.
fn record(program: Program, told: &Told) -> Result<MatrixRecord, Reason> {
    let size = [ROWS, COLUMNS, NONZEROS].map(|names| told.count(names));
    let path = told.find(MATRIX).or(told.matrix.as_deref()).unwrap_or_default();
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = printable(matrix_name(file));
    let named = match (name.is_empty(), size) {
        (false, size) => {
            Named { name, size: size.map(Option::unwrap_or_default), ..Named::default() }
        }
        (true, [Some(rows), Some(cols), Some(nnz)]) => {
            let name = format!("{rows} x {cols} with {nnz}");
            let generator = Some(format!("{}: {name}", program.name()));
            Named { name, size: [rows, cols, nnz], generator, ..Named::default() }
        }
        (true, _) => return Err(Reason::Matrix),
    };
    named.record().map_err(|_| Reason::Size)
}

/// The settings of a measurement for which a run has its own fields.
struct Setting {
    precision: &'static str,
    params: BTreeMap<String, String>,
}

impl Setting {
    fn of(told: &Told) -> Result<Self, Reason> {
        let name = plain(&told.kernel);
        let is_product = name.contains("spmv");
        if !is_product && OTHER_OPERATIONS.iter().any(|other| name.contains(other)) {
            return Err(Reason::Operation);
        }
        let words = told.kernel.split(|c: char| !c.is_ascii_alphanumeric());
        let values = told.axes.iter().map(|(_, value)| value.as_str());
        let precision = values.chain(words).find_map(precision_of);
        if precision == Some("") {
            return Err(Reason::Precision);
        }
        let is_known = |(name, value): &&Pair| {
            let name = plain(name);
            [MATRIX, ROWS, COLUMNS, NONZEROS, ERROR].iter().any(|of| of.contains(&name.as_str()))
                || precision_of(value).is_some()
        };
        let others = told.axes.iter().filter(|pair| !is_known(pair));
        let mut params =
            order::map(others.map(|(name, value)| (printable(name), printable(value))));
        let mut remark = |what: &str, how: &str| params.insert(what.into(), how.into());
        if !is_product {
            remark("operation", "assumed");
        }
        if precision.is_none() {
            remark("precision", "assumed");
        }
        if told.number(ERROR).is_none() {
            remark("check", "none");
        }
        Ok(Self { precision: precision.unwrap_or("f64"), params })
    }
}

/// The precision that a word names; empty if a bundle does not support it.
fn precision_of(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let named = PRECISIONS.iter().find(|(_, words)| words.contains(&word.as_str()));
    named.map(|(precision, _)| *precision)
}

fn run(
    program: Program,
    told: &Told,
    times: &Times,
    record: &MatrixRecord,
    setting: &Setting,
    environment: &str,
) -> Run {
    let mut params = setting.params.clone();
    if times.samples.as_ref().is_ok_and(|samples| samples.len() == 1) {
        params.insert("time".into(), "averaged".into());
    }
    let by = program.name();
    let rel_err = told.number(ERROR).filter(|error| *error >= 0.0);
    let run = Run {
        matrix: record.id.clone(),
        operation: "spmv".into(),
        kernel: format!("vendor/{}/{}", program.id(), kernel_word(&told.kernel)),
        origin: vec!["vendor".into()],
        backend: times.backend.into(),
        device: told.device.clone(),
        environment: environment.into(),
        threads: told.threads,
        hot: times.hot,
        precision: setting.precision.into(),
        params,
        check: Check { rel_err, by: Some(by.into()), ..Check::default() },
        samples: times.samples.clone().unwrap_or_default(),
        repetitions: times.repetitions,
        ..Run::default()
    };
    judged(run, record.statistics.nnz, judgement(by, times, rel_err, setting.precision))
}

/// Whether the times are valid: the program is trusted unless it recorded too large an error.
fn judgement(by: &str, times: &Times, rel_err: Option<f64>, precision: &str) -> Judgement {
    match (&times.samples, rel_err) {
        (Err(reason), _) => not_run(reason.clone()),
        (Ok(_), Some(error)) => tolerated(by, error, precision),
        (Ok(_), None) => Ok(()),
    }
}

/// A name as part of a kernel id, without surrounding underscores.
fn kernel_word(name: &str) -> String {
    match word(name).trim_matches('_') {
        "" => "unnamed".into(),
        word => word.to_owned(),
    }
}
