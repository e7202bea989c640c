//! Results of Google Benchmark (`--benchmark_format=json`): repetitions of a name are the samples
//! of one run; aggregates are ignored.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::program::{Program, UNKNOWN};
use super::told::{Pair, Times, Told, take_over};
use crate::{Bundle, BundleError, Limits};
use sparsescope_record::{Cache, Cpu, Environment, printable};

/// Fields of an entry that are not user counters.
const FIELDS: &[&str] = &[
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "aggregate_name",
    "aggregate_unit",
];

/// Parts of a name that say how the library measured.
const MEASURING: &[&str] = &[
    "iterations",
    "repeats",
    "min_time",
    "min_warmup_time",
    "real_time",
    "process_time",
    "manual_time",
    "threads",
];

/// Suffixes of the names of aggregates, in files from before `run_type`.
const AGGREGATES: &[&str] = &["_mean", "_median", "_stddev", "_cv"];

/// Suffixes of matrix file names.
const MATRIX_FILES: &[&str] = &[".mtx", ".mtx.gz", ".tar.gz"];

pub(super) fn read(bytes: &[u8], created: String, limits: &Limits) -> Result<Bundle, BundleError> {
    let refused = |detail: String| Program::Google.refused(detail);
    let file: Value = serde_json::from_slice(&without_infinities(bytes))
        .map_err(|error| refused(error.to_string()))?;
    let Some(entries) = file.get("benchmarks").and_then(Value::as_array) else {
        return Err(refused("`benchmarks` is not a list".into()));
    };
    limits.check("the file", entries.len() as u64, "benchmarks", limits.entries)?;
    let context = file.get("context").unwrap_or(&Value::Null);
    let environment = environment(context);
    let device = environment.cpu.model.clone();
    let version = context.get("library_version").and_then(Value::as_str).unwrap_or(UNKNOWN);
    let mut bundle = Program::Google.bundle(&printable(version), created);
    bundle.environments.push(environment);

    let mut families: Vec<Family<'_>> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, entry) in entries.iter().enumerate() {
        let at = |what: &str| refused(format!("`benchmarks[{number}]` {what}"));
        let entry = entry.as_object().ok_or_else(|| at("is not an object"))?;
        let name = text(entry, "name").ok_or_else(|| at("has no `name`"))?;
        if entry.contains_key("big_o") || entry.contains_key("rms") {
            continue; // The growth of the times of several runs.
        }
        let (base, is_aggregate) = aggregate(entry, name);
        let name = text(entry, "run_name").unwrap_or(base);
        let place = *places.entry(name).or_insert(families.len());
        if place == families.len() {
            families.push(Family { name, first: entry, samples: Ok(Vec::new()) });
        }
        let Some(family) = families.get_mut(place) else { continue };
        if !is_aggregate {
            if family.samples.as_ref().is_ok_and(Vec::is_empty) {
                family.first = entry;
            }
            let sample = sample(entry).map_err(|why| at(&why))?;
            family.take(sample);
        }
    }
    let told: Vec<Told> = families.iter().map(|family| family.told(&device)).collect();
    take_over(bundle, Program::Google, &told, bytes, limits)
}

fn text<'a>(entry: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    entry.get(key)?.as_str()
}

/// The name of an entry's run, and whether the entry is only an aggregate of it.
fn aggregate<'a>(entry: &Map<String, Value>, name: &'a str) -> (&'a str, bool) {
    match text(entry, "run_type") {
        Some(kind) => (name, kind == "aggregate"),
        None => {
            let base = AGGREGATES.iter().find_map(|ending| name.strip_suffix(ending));
            (base.unwrap_or(name), base.is_some())
        }
    }
}

/// Seconds per execution, or why it was not timed. The outer error is text that follows the entry
/// in a message.
fn sample(entry: &Map<String, Value>) -> Result<Result<f64, String>, String> {
    let flag = |key: &str| entry.get(key) == Some(&Value::Bool(true));
    let message =
        |key: &str| text(entry, key).map_or_else(|| "no reason given".to_owned(), printable);
    if flag("error_occurred") {
        return Ok(Err(format!("the benchmark ended with an error: {}", message("error_message"))));
    }
    if flag("skipped") {
        return Ok(Err(format!("the benchmark was skipped: {}", message("skip_message"))));
    }
    let unit = match text(entry, "time_unit").unwrap_or("ns") {
        "ns" => 1e9,
        "us" => 1e6,
        "ms" => 1e3,
        "s" => 1.0,
        other => {
            let other = printable(other);
            return Err(format!("has the time unit `{other}`, expected ns, us, ms or s"));
        }
    };
    let time = entry.get("real_time").and_then(Value::as_f64).filter(|time| *time > 0.0);
    Ok(time.map(|time| time / unit).ok_or_else(|| "the file has no positive time for it".into()))
}

/// The entries with one name.
struct Family<'a> {
    name: &'a str,
    /// The first repetition; an aggregate if there is none.
    first: &'a Map<String, Value>,
    /// Seconds of each repetition, or why they are invalid.
    samples: Result<Vec<f64>, String>,
}

impl Family<'_> {
    fn take(&mut self, sample: Result<f64, String>) {
        match (&mut self.samples, sample) {
            (Ok(samples), Ok(sample)) => samples.push(sample),
            (samples @ Ok(_), Err(why)) => *samples = Err(why),
            (Err(_), _) => {}
        }
    }

    fn told(&self, device: &str) -> Told {
        let name = Name::of(self.name);
        let count = |key: &str| {
            let count = self.first.get(key).and_then(Value::as_u64);
            count.and_then(|count| u32::try_from(count).ok())
        };
        let counters = self.first.iter().filter(|(key, _)| !FIELDS.contains(&key.as_str()));
        let label = text(self.first, "label").filter(|label| is_matrix_file(label));
        // Without repetitions there are only aggregates.
        let is_sampled = self.samples.as_ref().map_or(true, |samples| !samples.is_empty());
        let times = Times {
            backend: "cpu",
            hot: true,
            samples: self.samples.clone(),
            repetitions: count("iterations").unwrap_or(0),
        };
        Told {
            name: self.name.to_owned(),
            kernel: name.kernel,
            matrix: name.matrix.or(label.map(str::to_owned)),
            axes: name.axes,
            counters: counters.map(|(key, value)| (key.clone(), value.to_string())).collect(),
            device: device.to_owned(),
            threads: count("threads").unwrap_or(1),
            times: is_sampled.then_some(times).into_iter().collect(),
        }
    }
}

fn is_matrix_file(name: &str) -> bool {
    MATRIX_FILES.iter().any(|ending| name.ends_with(ending))
}

/// The parts of a name such as `spmv<double>/matrix:cant/block:4/threads:2`.
#[derive(Default)]
struct Name {
    kernel: String,
    axes: Vec<Pair>,
    matrix: Option<String>,
}

impl Name {
    fn of(name: &str) -> Self {
        let mut found = Self::default();
        let mut kernel: Vec<&str> = Vec::new();
        let mut parts: Vec<&str> = name.split('/').collect();
        if let Some(last) = parts.iter().position(|part| is_matrix_file(part)) {
            // A path starts at `key:` or, if absolute, at an empty part.
            let before = parts.get(..last).unwrap_or_default();
            let begin = before.iter().rposition(|part| part.is_empty() || part.ends_with(':'));
            let path: Vec<&str> = parts.drain(begin.unwrap_or(last)..=last).collect();
            let file = path.last().map(|file| file.rsplit(':').next().unwrap_or(file));
            found.matrix = file.map(str::to_owned);
        }
        for part in parts {
            let (key, value) = part.split_once(':').map_or((part, None), |(k, v)| (k, Some(v)));
            match value {
                _ if MEASURING.contains(&key) => {}
                // `::` is part of a C++ type.
                Some(value) if is_key(key) && !value.starts_with(':') => {
                    found.axes.push((key.into(), value.into()));
                }
                _ => kernel.push(part),
            }
        }
        found.kernel = kernel.join("_");
        found
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The recorded facts about the machine; its host name is not imported.
fn environment(context: &Value) -> Environment {
    let number = |of: &Value, key: &str| of.get(key).and_then(Value::as_u64);
    let small = |of: &Value, key: &str| number(of, key).and_then(|n| u32::try_from(n).ok());
    let cache = |cache: &Value| {
        let kind = cache.get("type").and_then(Value::as_str).unwrap_or(UNKNOWN);
        Some(Cache {
            level: small(cache, "level")?,
            kind: printable(kind).to_lowercase(),
            bytes: number(cache, "size")?,
            shared_by: small(cache, "num_sharing").filter(|shared| *shared > 0),
        })
    };
    let caches = context.get("caches").and_then(Value::as_array);
    let cpu = Cpu {
        model: UNKNOWN.into(),
        architecture: UNKNOWN.into(),
        logical: small(context, "num_cpus").unwrap_or(0),
        caches: caches.into_iter().flatten().filter_map(cache).collect(),
        ..Cpu::default()
    };
    Environment {
        id: Program::Google.id().into(),
        cpu,
        os: UNKNOWN.into(),
        ..Environment::default()
    }
}

/// The file with `null` for numbers that the library writes but JSON does not allow: `NaN` and
/// `Infinity`, with or without a sign.
fn without_infinities(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut in_string) = (bytes, false);
    while let [first, after @ ..] = rest {
        let skipped = match in_string {
            true => None,
            false => ["-Infinity", "-NaN", "Infinity", "NaN"]
                .iter()
                .find_map(|word| rest.strip_prefix(word.as_bytes())),
        };
        rest = match (skipped, first, after) {
            (Some(after), _, _) => {
                out.extend(b"null");
                after
            }
            (None, b'\\', [escaped, after @ ..]) if in_string => {
                out.extend([b'\\', *escaped]);
                after
            }
            _ => {
                in_string ^= *first == b'"';
                out.push(*first);
                after
            }
        };
    }
    out
}

#[cfg(test)]
#[path = "google_tests.rs"]
mod tests;
