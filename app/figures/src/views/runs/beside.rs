//! Runs side by side: their facts line by line, with those that differ marked.

use std::collections::HashMap;

use super::facts::{Group, groups};
use crate::model::{RunOf, seconds, significant};

/// A fact of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The group of the fact.
    pub group: &'static str,
    pub name: &'static str,
    /// One value per run; empty where the fact is not known.
    pub values: Vec<String>,
    /// Not all values are the same.
    pub differs: bool,
}

/// The facts of these runs, in the order of their groups.
pub fn compared(runs: &[RunOf<'_>]) -> Vec<Compared> {
    let mut lines = heads(runs);
    // The place of a line by its group, its name, and which of several of that name it is.
    let mut places = HashMap::new();
    for (column, run) in runs.iter().enumerate() {
        let mut seen = HashMap::new();
        for Group { title, facts } in groups(run, None) {
            for fact in facts {
                let nth = seen.entry((title, fact.name)).and_modify(|nth| *nth += 1).or_insert(0);
                let place = *places.entry((title, fact.name, *nth)).or_insert(lines.len());
                if place == lines.len() {
                    lines.push(line(title, fact.name, vec![String::new(); runs.len()]));
                }
                let line = lines.get_mut(place).and_then(|line| line.values.get_mut(column));
                if let Some(value) = line {
                    *value = fact.value;
                }
            }
        }
    }
    let order = ["", "Setting", "Time", "Solve", "Check", "Costs", "Choice", "Prediction"];
    let place = |line: &Compared| order.iter().position(|title| *title == line.group);
    sparsescope_core::order::sort_by(&mut lines, |a, b| place(a).cmp(&place(b)));
    for line in &mut lines {
        line.differs = line.values.windows(2).any(|pair| pair.first() != pair.last());
    }
    lines
}

fn line(group: &'static str, name: &'static str, values: Vec<String>) -> Compared {
    Compared { group, name, values, differs: false }
}

/// Kernel, subject and rate.
fn heads(runs: &[RunOf<'_>]) -> Vec<Compared> {
    let rate = |run: &RunOf<'_>| match run.metric() {
        Some(metric) => format!("{} {}", significant(metric.value), metric.unit),
        None => run.verdict().to_owned(),
    };
    let median = |run: &RunOf<'_>| {
        run.figures().map(|figures| seconds(figures.median_s)).unwrap_or_default()
    };
    vec![
        line("", "Kernel", runs.iter().map(|run| run.run.kernel.clone()).collect()),
        line("", "Input", runs.iter().map(RunOf::name).collect()),
        line("", "Rate", runs.iter().map(rate).collect()),
        line("", "Time", runs.iter().map(median).collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::tests;

    #[test]
    fn values_that_differ_are_marked_and_unknown_ones_are_empty() {
        let (one, statistics, environment) = tests::run("cuda/csr/thread-per-row");
        let mut other = one.clone();
        other.kernel = "cuda/hll/compact".into();
        other.origin.push("paper:000".into());
        other.costs.upload_s = Some(2e-3);
        other.samples = vec![2e-3; 3];
        let model = tests::model(vec![one, other], statistics, environment);
        let runs = [0, 1].map(|number| model.run(number).unwrap());
        let lines = compared(&runs);
        let find = |name: &str| {
            let line = lines.iter().find(|line| line.name == name).unwrap();
            (line.values.iter().map(String::as_str).collect::<Vec<_>>(), line.differs)
        };
        let kernels = vec!["cuda/csr/thread-per-row", "cuda/hll/compact"];
        assert_eq!(find("Kernel"), (kernels, true));
        assert_eq!(find("Device"), (vec!["GPU", "GPU"], false));
        assert_eq!(find("Time"), (vec!["1 ms", "2 ms"], true));
        assert_eq!(find("Upload"), (vec!["", "2 ms"], true));
        let origins: Vec<_> = lines.iter().filter(|line| line.name == "Origin").collect();
        assert_eq!(origins[0].values, ["Sparsescope", "Sparsescope"]);
        assert_eq!(origins[1].values, ["", "CSR/HLL report (Martorelli, Cortese)"]);
        assert_eq!([origins[0].differs, origins[1].differs], [false, true]);
        // Facts of one group stay together.
        let groups = lines.iter().map(|line| line.group).collect::<Vec<_>>();
        let mut once = groups.clone();
        once.dedup();
        assert_eq!(once, ["", "Setting", "Time", "Check", "Costs"]);
    }
}
