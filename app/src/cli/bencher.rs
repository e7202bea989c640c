//! `sparsescope export --bencher`: the times of a bundle in the Bencher Metric Format (bencher.dev).

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{Run, RunKey};
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
    let mut all: Vec<(String, RunKey<'_>, Value)> = Vec::new();
    for run in bundle.runs.iter().filter(|run| run.ranks()) {
        let (Some(&subject), Some(figures)) = (subjects.get(run.matrix.as_str()), &run.figures)
        else {
            continue;
        };
        let mut latency = Map::from_iter([("value".to_owned(), json!(figures.median_s * 1e9))]);
        if let Some((low, high)) = median_interval(&run.samples) {
            latency.insert("lower_value".to_owned(), json!(low * 1e9));
            latency.insert("upper_value".to_owned(), json!(high * 1e9));
        }
        let key = run.key(subject);
        // The text of a user kernel does not count: it is what changes.
        let words = RunKey { text: None, ..key }.words(subject.name());
        let name = format!("{words}, {}", place(bundle, run));
        all.push((name, key, json!({ "latency": latency })));
    }
    let mut times: HashMap<String, usize> = HashMap::new();
    for (name, ..) in &all {
        *times.entry(name.clone()).or_default() += 1;
    }
    let mut metrics = Map::new();
    for (mut name, key, metric) in all {
        // Two matrices may have one name, two texts one kernel.
        if times.get(&name).is_some_and(|&times| times > 1) {
            name += &format!(", {}", key.digest().get(..8).unwrap_or_default());
        }
        // A bundle may repeat a run: the first counts.
        metrics.entry(name).or_insert(metric);
    }
    Value::Object(metrics)
}

/// The device of a run, unless that is the CPU, and the first machine of its kind in the bundle.
fn place(bundle: &Bundle, run: &Run) -> String {
    let Some(own) = bundle.environment(&run.environment) else { return run.device.clone() };
    let mut all = bundle.environments.iter();
    let machine = all.find(|other| other.is_same_kind(own, &run.device)).unwrap_or(own);
    match run.device == own.cpu.model {
        true => machine.id.clone(),
        false => format!("{}, {}", run.device, machine.id),
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::bundle::Limits;
    use sparsescope_core::record::Environment;

    use super::*;

    #[test]
    fn runs_on_two_machines_and_on_two_matrices_of_one_name_have_names_of_their_own() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/cpu.zip");
        let mut bundle = Bundle::open(&example, &Limits::default()).unwrap();
        let first = bundle.environments[0].clone();
        let second = Environment { id: "second".to_owned(), ..first.clone() };
        let at = |bundle: &Bundle, machine: &Environment| -> Vec<Run> {
            let runs = bundle.runs.iter().cloned();
            runs.map(|run| Run { environment: machine.id.clone(), ..run }).collect()
        };
        bundle.runs = at(&bundle, &first);
        bundle.environments = vec![first, second.clone()];
        let count = |bundle: &Bundle| metrics(bundle).as_object().unwrap().len();
        let alone = count(&bundle);
        assert!(alone > 0);
        // A second part on the same machine changes no name.
        let again = Bundle { runs: at(&bundle, &second), ..bundle.clone() };
        assert_eq!(metrics(&again), metrics(&bundle));
        bundle.environments[1].cpu.logical += 1;
        bundle.runs.extend(again.runs);
        assert_eq!(count(&bundle), 2 * alone);
        // All matrices have one name.
        bundle.matrices.iter_mut().for_each(|matrix| matrix.record.name = "one".to_owned());
        assert_eq!(count(&bundle), 2 * alone);
    }
}
