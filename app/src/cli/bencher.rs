//! `sparsescope export --bencher`: the times of a bundle in the Bencher Metric Format (bencher.dev).

use std::path::Path;

use serde_json::{Map, Value, json};
use sparsescope_core::bundle::Bundle;
use sparsescope_core::order;
use sparsescope_core::samples::median_interval;

use super::output::{is_stdout, keep, print_json};

/// Writes the median of every run with times that rank, in nanoseconds, with its 95 % confidence interval.
pub(super) fn write(bundle: &Bundle, path: &Path, force: bool) -> anyhow::Result<()> {
    let metrics = metrics(bundle);
    if is_stdout(path) {
        return print_json(&metrics);
    }
    let text = serde_json::to_string_pretty(&metrics)? + "\n";
    keep(path, force, text.as_bytes())
}

fn metrics(bundle: &Bundle) -> Value {
    let subjects = bundle.subjects_by_id();
    let devices = order::set(bundle.runs.iter().map(|run| run.device.as_str()));
    let mut metrics = Map::new();
    for run in bundle.runs.iter().filter(|run| run.ranks()) {
        let (Some(&subject), Some(figures)) = (subjects.get(run.matrix.as_str()), &run.figures)
        else {
            continue;
        };
        let mut name = run.key(subject).words(subject.name());
        if devices.len() > 1 {
            name += &format!(", {}", run.device);
        }
        let mut latency = Map::from_iter([("value".to_owned(), json!(figures.median_s * 1e9))]);
        if let Some((low, high)) = median_interval(&run.samples) {
            latency.insert("lower_value".to_owned(), json!(low * 1e9));
            latency.insert("upper_value".to_owned(), json!(high * 1e9));
        }
        metrics.insert(name, json!({ "latency": latency }));
    }
    Value::Object(metrics)
}
