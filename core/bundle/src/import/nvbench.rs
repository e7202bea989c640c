//! Results of nvbench (`--json`): each state of a benchmark has up to two times, the mean of
//! executions with flushed caches and the mean of back-to-back executions.

use serde_json::Value;

use super::program::{Program, UNKNOWN};
use super::told::{Pair, Times, Told, take_over};
use crate::{Bundle, BundleError, Limits};
use sparsescope_record::{Cpu, Environment, Gpu, printable};

/// Where a mean time and its number of executions are stored: the prefix of their tags, the tag of
/// the mean, the backend, and whether caches are warm.
const TIMES: [(&str, &str, &str, bool); 3] = [
    ("nv/cold", "time/gpu/mean", "cuda", false),
    ("nv/batch", "time/gpu/mean", "cuda", true),
    ("nv/cpu_only", "time/cpu/mean", "cpu", true),
];

pub(super) fn read(bytes: &[u8], created: String, limits: &Limits) -> Result<Bundle, BundleError> {
    let refused = |detail: String| Program::Nvbench.refused(detail);
    let file: Value = serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))?;
    let Some(benchmarks) = file.get("benchmarks").and_then(Value::as_array) else {
        return Err(refused("`benchmarks` is not a list".into()));
    };
    let devices = list(&file, "devices");
    let version = file.pointer("/meta/version/nvbench/string").and_then(Value::as_str);
    let mut bundle = Program::Nvbench.bundle(&printable(version.unwrap_or(UNKNOWN)), created);
    let names = devices.iter().filter_map(|device| text(device, "name")).map(printable);
    bundle.environments.push(Environment {
        id: Program::Nvbench.id().into(),
        cpu: Cpu { model: UNKNOWN.into(), architecture: UNKNOWN.into(), ..Cpu::default() },
        os: UNKNOWN.into(),
        gpus: names.map(|model| Gpu { model, ..Gpu::default() }).collect(),
        ..Environment::default()
    });

    let mut told = Vec::new();
    for (number, benchmark) in benchmarks.iter().enumerate() {
        let name = text(benchmark, "name")
            .ok_or_else(|| refused(format!("`benchmarks[{number}]` has no `name`")))?;
        let states = benchmark.get("states").and_then(Value::as_array).ok_or_else(|| {
            refused(format!("`benchmarks[{number}]` ({}) has no `states` list", printable(name)))
        })?;
        told.extend(states.iter().map(|state| of_state(name, state, devices)));
        limits.check("the file", told.len() as u64, "states", limits.entries)?;
    }
    take_over(bundle, Program::Nvbench, &told, bytes, limits)
}

/// A list in an object; empty if there is none.
fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    of.get(key)?.as_str()
}

/// The text of a value; numbers are stored as strings, or as plain numbers in older files.
fn value(of: &Value) -> Option<String> {
    match of.get("value")? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The value of a summary.
fn summary_value(summary: &Value) -> Option<String> {
    list(summary, "data").iter().find(|data| text(data, "name") == Some("value")).and_then(value)
}

fn of_state(benchmark: &str, state: &Value, devices: &[Value]) -> Told {
    let pair = |axis: &Value| Some((text(axis, "name")?.to_owned(), value(axis)?));
    let axes: Vec<Pair> = list(state, "axis_values").iter().filter_map(pair).collect();
    let summaries = list(state, "summaries");
    // Counts that the benchmark adds are identified by their column heading. Other counts of
    // nvbench are bytes, even if called rows.
    let is_own = |of: &&Value| {
        let tag = text(of, "tag").unwrap_or_default();
        tag.starts_with("nv/element_count/") || !tag.starts_with("nv/")
    };
    let own = summaries.iter().filter(is_own);
    let counter = |of: &Value| {
        let name = text(of, "name").or_else(|| text(of, "tag"))?;
        Some((name.to_owned(), summary_value(of)?))
    };
    let number = |tag: &str| {
        let summary = summaries.iter().find(|of| text(of, "tag") == Some(tag))?;
        summary_value(summary)?.parse::<f64>().ok().filter(|value| *value >= 0.0)
    };
    let device = state.get("device").filter(|id| id.is_u64());
    let device = devices.iter().find(|of| device.is_some() && of.get("id") == device);
    let device = device.and_then(|of| text(of, "name")).map_or(UNKNOWN.into(), printable);
    let mut times: Vec<Times> = Vec::new();
    for (begin, mean, backend, hot) in TIMES {
        if let Some(mean) = number(&format!("{begin}/{mean}")) {
            let count = number(&format!("{begin}/sample_size")).unwrap_or(0.0);
            let repetitions = count.min(f64::from(u32::MAX)) as u32;
            times.push(Times { backend, hot, samples: Ok(vec![mean]), repetitions });
        }
    }
    let is_skipped = state.get("is_skipped") == Some(&Value::Bool(true));
    if is_skipped || times.is_empty() {
        let why = match (is_skipped, text(state, "skip_reason")) {
            (true, Some(why)) => format!("nvbench skipped it: {}", printable(why)),
            (true, None) => "nvbench skipped it and gave no reason".into(),
            (false, _) => "the file has no mean time for it".into(),
        };
        times = vec![Times { backend: "cuda", hot: false, samples: Err(why), repetitions: 0 }];
    }
    let setting = text(state, "name").or_else(|| text(state, "description")).unwrap_or_default();
    Told {
        name: format!("{benchmark} {setting}").trim_end().to_owned(),
        kernel: benchmark.to_owned(),
        matrix: None,
        axes,
        counters: own.filter_map(counter).collect(),
        device,
        threads: 1,
        times,
    }
}

#[cfg(test)]
#[path = "nvbench_tests.rs"]
mod tests;
