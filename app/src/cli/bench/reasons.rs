//! Why runs have no time, or do not rank. Reasons that differ only in their numbers count as one.

use std::collections::{BTreeMap, BTreeSet};

use sparsescope_core::bundle::Bundle;
use sparsescope_core::order;
use sparsescope_core::record::Run;

/// Runs with one reason.
#[derive(Default)]
pub(super) struct Group<'b> {
    pub(super) runs: usize,
    kernels: BTreeSet<&'b str>,
    subjects: BTreeSet<&'b str>,
    /// The words of the reason; a number with its least and its largest value.
    words: Vec<[&'b str; 2]>,
}

/// The runs that `wanted` picks by their reasons, the most frequent first.
pub(super) fn grouped<'b>(bundle: &'b Bundle, wanted: impl Fn(&Run) -> bool) -> Vec<Group<'b>> {
    let subjects = bundle.subjects_by_id();
    let mut groups: BTreeMap<String, Group<'b>> = BTreeMap::new();
    for run in bundle.runs.iter().filter(|run| wanted(run)) {
        let reason = run.reason().unwrap_or("no reason given");
        let words: Vec<&str> = reason.split_whitespace().collect();
        let group = groups.entry(without_numbers(&words)).or_default();
        if group.words.is_empty() {
            group.words = words.iter().map(|word| [*word; 2]).collect();
        }
        for ([least, most], word) in group.words.iter_mut().zip(words) {
            if number(word) < number(least) {
                *least = word;
            }
            if number(word) > number(most) {
                *most = word;
            }
        }
        group.runs += 1;
        group.kernels.insert(&run.kernel);
        let subject = subjects.get(run.matrix.as_str());
        group.subjects.insert(subject.map_or("", |subject| subject.name()));
    }
    let mut groups: Vec<Group<'_>> = groups.into_values().collect();
    order::sort_by(&mut groups, |a, b| b.runs.cmp(&a.runs));
    groups
}

/// The reason without its numbers. Names keep their digits: `f32:f64` is not `f16:f32`.
fn without_numbers(words: &[&str]) -> String {
    let rest = |word: &&str| match number(word) {
        Some(_) => word.replace(|c: char| c.is_ascii_digit() || c == '.', ""),
        None => (*word).to_owned(),
    };
    words.iter().map(rest).collect::<Vec<_>>().join(" ")
}

/// The value of a word that is a number with punctuation, but no letters, around it.
fn number(word: &str) -> Option<f64> {
    let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
    let (before, after) = word.split_once(digits)?;
    let is_name = before.chars().chain(after.chars()).any(char::is_alphabetic);
    digits.parse::<f64>().ok().filter(|_| !is_name)
}

impl Group<'_> {
    /// Kernels, subjects and the reason: `cpu/dia/rows on 2 matrices: DIA would be 3 to 7 % full`.
    pub(super) fn words(&self, subjects: &str) -> String {
        let named = |names: &BTreeSet<&str>, most: usize, many: &str| match names.len() {
            n if n > most => format!("{n} {many}"),
            _ => names.iter().copied().collect::<Vec<_>>().join(" and "),
        };
        let range = |[least, most]: &[&str; 2]| match least == most {
            true => (*least).to_owned(),
            false => {
                let least = least.trim_end_matches(|c: char| !c.is_ascii_digit());
                format!("{least} to {}", most.trim_start_matches(|c: char| !c.is_ascii_digit()))
            }
        };
        let reason: Vec<String> = self.words.iter().map(range).collect();
        format!(
            "{} on {}: {}",
            named(&self.kernels, 3, "kernels"),
            named(&self.subjects, 1, subjects),
            reason.join(" ")
        )
    }
}

#[cfg(test)]
mod tests {
    use sparsescope_core::record::{Check, Producer};

    use super::*;

    #[test]
    fn reasons_that_differ_in_numbers_are_one_with_a_range() {
        let producer = Producer { name: "test".into(), version: String::new(), revision: None };
        let mut bundle = Bundle::new(producer, String::new());
        let run = |kernel: &str, reason: &str| Run {
            kernel: kernel.into(),
            check: Check { reason: Some(reason.into()), ..Check::default() },
            ..Run::default()
        };
        bundle.runs.extend([
            run("a", "no such library"),
            run("b", "it needs 20 bytes (0.5 GB), more than 7"),
            run("c", "it needs 100 bytes (12.5 GB), more than 7"),
            run("b", "it needs 3 bytes (9 GB), more than 7"),
            run("d", "does not support f32"),
            run("d", "does not support f16:f32"),
            run("e", "does not support f32:f64"),
            run("d", "does not support f32:f64"),
        ]);
        let groups = grouped(&bundle, |_| true);
        let words: Vec<(usize, String)> =
            groups.iter().map(|group| (group.runs, group.words("matrices"))).collect();
        let expected = [
            (3, "b and c on : it needs 3 to 100 bytes (0.5 to 12.5 GB), more than 7"),
            (2, "d and e on : does not support f32:f64"),
            (1, "d on : does not support f16:f32"),
            (1, "d on : does not support f32"),
            (1, "a on : no such library"),
        ];
        assert_eq!(words, expected.map(|(runs, words)| (runs, words.to_owned())));
        assert!(grouped(&bundle, |run| run.kernel == "f").is_empty());
    }
}
