//! What changed between two bundles: runs with the same key side by side, each with the ratio of
//! its median times and its uncertainty.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sparsescope_matrix::parallel::*;

use crate::Bundle;
use sparsescope_matrix::order;
use sparsescope_matrix::samples::{CONFIDENCE, Change, Ratio, RatioEstimate, geometric_mean};
use sparsescope_record::{Environment, Run, RunKey, Subject, Verdict, printable};

/// Bandwidths and frequencies within this factor count as equal.
const SAME_BANDWIDTH: f64 = 1.1;

/// Two bundles side by side; `before` and `after` follow the order in which they were given.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Runs with valid times in both bundles ([`Run::ranks`]), in the order of the first.
    pub runs: Vec<ComparedRun<'a>>,
    /// Runs in both bundles whose checks ended differently.
    pub verdicts: Vec<VerdictChange<'a>>,
    /// Runs in both bundles with the same outcome and without times to compare.
    pub untimed: usize,
    /// Runs only in the first bundle.
    pub only_before: Vec<(&'a Run, RunKey<'a>)>,
    /// Runs only in the second bundle.
    pub only_after: Vec<(&'a Run, RunKey<'a>)>,
    /// Geometric mean over [`runs`](Self::runs) of after over before.
    pub geometric_mean: Option<Ratio>,
    /// What makes the comparison less than fair, one sentence each.
    pub warnings: Vec<String>,
}

/// A run timed in both bundles.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// The run in the first bundle.
    pub before: &'a Run,
    /// The run in the second bundle.
    pub after: &'a Run,
    /// Its subject as described in the first bundle.
    pub subject: Subject<'a>,
    /// The key that both runs share.
    pub key: RunKey<'a>,
    /// Median after over median before.
    pub ratio: Ratio,
}

/// A run whose check ended differently.
#[derive(Clone, Copy, Debug)]
pub struct VerdictChange<'a> {
    /// The run in the first bundle.
    pub before: &'a Run,
    /// The run in the second bundle.
    pub after: &'a Run,
    /// The key that both runs share.
    pub key: RunKey<'a>,
    /// Its subject as described in the first bundle.
    pub subject: Subject<'a>,
}

impl VerdictChange<'_> {
    /// How the check ended in the first bundle and in the second: [`Check::as_str`](sparsescope_record::Check::as_str).
    pub fn verdicts(&self) -> [&'static str; 2] {
        [self.before, self.after].map(|run| run.check.as_str())
    }

    /// Whether the result was right before and now is wrong, no longer known to be right, or limited by rounding.
    pub fn is_regression(&self) -> bool {
        let [before, after] = [self.before, self.after].map(|run| &run.check);
        before.verdict == Verdict::Pass && after.was_run() && after.badness() > before.badness()
    }
}

/// Runs by key, and how many are hidden by an earlier run with the same key.
type Keyed<'a> = (HashMap<RunKey<'a>, &'a Run>, usize);

impl<'a> Comparison<'a> {
    /// Compares two bundles run by run. The result depends only on them.
    pub fn of(before: &'a Bundle, after: &'a Bundle) -> Self {
        let ((first, first_hidden), (second, second_hidden)) = (keyed(before), keyed(after));
        let subjects = before.subjects_by_id();
        let mut pairs = Vec::new();
        let mut only_before = Vec::new();
        for run in &before.runs {
            let Some(&subject) = subjects.get(run.matrix.as_str()) else { continue };
            let key = run.key(subject);
            let is_first = first.get(&key).is_some_and(|first| std::ptr::eq(*first, run));
            match second.get(&key) {
                _ if !is_first => {}
                Some(after) => pairs.push((run, *after, subject, key)),
                None => only_before.push((run, key)),
            }
        }
        let of_after = after.subjects_by_id();
        let key = |run: &'a Run| Some((run, run.key(*of_after.get(run.matrix.as_str())?)));
        let keys = after.runs.iter().filter_map(key);
        let only_after = keys.filter(|(_, key)| !first.contains_key(key)).collect();

        let estimates: Vec<Option<RatioEstimate>> = pairs
            .par_iter()
            .enumerate()
            .map(|(k, (before, after, ..))| {
                let both_rank = before.ranks() && after.ranks();
                both_rank
                    .then(|| RatioEstimate::of(&before.samples, &after.samples, k as u64))
                    .flatten()
            })
            .collect();
        let mut runs = Vec::new();
        let mut verdicts = Vec::new();
        let mut untimed = 0;
        for (&(before, after, subject, key), estimate) in pairs.iter().zip(&estimates) {
            if let Some(estimate) = estimate {
                runs.push(ComparedRun { before, after, subject, key, ratio: estimate.ratio });
            } else if before.check.as_str() != after.check.as_str() {
                verdicts.push(VerdictChange { before, after, key, subject });
            } else {
                untimed += 1;
            }
        }
        let estimates: Vec<RatioEstimate> = estimates.into_iter().flatten().collect();
        let mut warnings = Vec::new();
        for (hidden, which) in [(first_hidden, "first"), (second_hidden, "second")] {
            if hidden > 0 {
                warnings.push(format!(
                    "{hidden} runs of the {which} bundle repeat an earlier run and were skipped"
                ));
            }
        }
        for flag in [(before.complete, "first"), (after.complete, "second")] {
            if let (false, which) = flag {
                warnings.push(format!("the {which} bundle is incomplete"));
            }
        }
        let matched = runs.iter().map(|run| (run.before, run.after));
        warnings.extend(environment_warnings(before, after, matched.clone()));
        warnings.extend(other_libraries(matched));
        warnings.extend(other_texts(before, after));
        if pairs.is_empty() {
            warnings.extend(nothing_in_common(before, after));
        }
        let geometric_mean = geometric_mean(&estimates);
        Self { runs, verdicts, untimed, only_before, only_after, geometric_mean, warnings }
    }

    /// Number of runs that changed in this way.
    pub fn count(&self, change: Change) -> usize {
        self.runs.iter().filter(|run| run.ratio.change() == change).count()
    }

    /// Number of runs that became faster and slower, and the mean change, one line each.
    pub fn summary(&self) -> String {
        let runs = match self.runs.len() {
            1 => "1 timed run is".to_owned(),
            n => format!("{n} timed runs are"),
        };
        let mut text = format!(
            "{runs} in both: {} faster, {} slower, {} unclear ({:.0} % confidence).\n",
            self.count(Change::Faster),
            self.count(Change::Slower),
            self.count(Change::Unclear),
            CONFIDENCE * 100.0
        );
        if let Some(mean) = self.geometric_mean {
            text += &format!("Geometric mean of after/before: {mean}.\n");
        }
        text
    }

    /// Runs that became slower by more than a factor of `limit`.
    pub fn slower_than(&self, limit: f64) -> impl Iterator<Item = &ComparedRun<'a>> {
        self.runs.iter().filter(move |run| run.ratio.exceeds(limit))
    }

    /// Runs whose check result is worse than before ([`VerdictChange::is_regression`]).
    pub fn wrong_now(&self) -> impl Iterator<Item = &VerdictChange<'a>> {
        self.verdicts.iter().filter(|change| change.is_regression())
    }
}

fn keyed(bundle: &Bundle) -> Keyed<'_> {
    let mut runs = HashMap::new();
    let mut hidden = 0;
    let subjects = bundle.subjects_by_id();
    for run in &bundle.runs {
        if let Some(key) = subjects.get(run.matrix.as_str()).map(|&subject| run.key(subject)) {
            // A timed run is more informative than one that was cut short or refused.
            match runs.entry(key) {
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(run);
                }
                std::collections::hash_map::Entry::Occupied(mut taken) => {
                    hidden += 1;
                    if taken.get().samples.is_empty() && !run.samples.is_empty() {
                        taken.insert(run);
                    }
                }
            }
        }
    }
    (runs, hidden)
}

/// Why no run could be matched.
fn nothing_in_common(before: &Bundle, after: &Bundle) -> Option<String> {
    let devices = |bundle: &Bundle| {
        let devices = order::set(bundle.runs.iter().map(|run| run.device.as_str()));
        devices.into_iter().map(printable).collect::<Vec<_>>().join(", ")
    };
    let identities = |bundle: &Bundle| {
        order::set(bundle.all_subjects().map(|subject| subject.sha256().to_owned()))
    };
    let (first, second) = (devices(before), devices(after));
    if before.runs.is_empty() || after.runs.is_empty() {
        Some("one of the bundles has no runs".to_owned())
    } else if identities(before).is_disjoint(&identities(after)) {
        Some("the bundles have no matrices in common".to_owned())
    } else if first != second {
        Some(format!(
            "the bundles have no runs in common: the first was measured on {first}, the second on {second}"
        ))
    } else {
        Some("the bundles have no runs in common".to_owned())
    }
}

/// What differs between the environments of matched runs, without duplicates.
fn environment_warnings<'a>(
    before: &Bundle,
    after: &Bundle,
    matched: impl Iterator<Item = (&'a Run, &'a Run)>,
) -> Vec<String> {
    let pairs = order::set(matched.map(|(b, a)| (b.environment.as_str(), a.environment.as_str())));
    let (mut warnings, mut known) = (Vec::new(), BTreeSet::new());
    for (first, second) in pairs {
        let (Some(first), Some(second)) = (before.environment(first), after.environment(second))
        else {
            continue;
        };
        for warning in differences(first, second) {
            if known.insert(warning.clone()) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

/// Differing library versions in runs from before 1.3, which stored the version themselves.
fn other_libraries<'a>(matched: impl Iterator<Item = (&'a Run, &'a Run)>) -> Vec<String> {
    let version = |run: &'a Run| run.params.get("cusparse").map(String::as_str);
    let pairs = matched
        .filter_map(|(before, after)| Some((version(before)?, version(after)?)))
        .filter(|(before, after)| before != after);
    order::set(pairs)
        .into_iter()
        .map(|(before, after)| {
            let (before, after) = (printable(before), printable(after));
            format!("the cuSPARSE version differs: {before} before, {after} after")
        })
        .collect()
}

/// User kernels with the same id but different source in the two bundles: their runs are not
/// compared.
fn other_texts(before: &Bundle, after: &Bundle) -> Vec<String> {
    fn texts(bundle: &Bundle) -> BTreeSet<(&str, &str)> {
        let of_users = bundle.runs.iter().filter_map(|run| Some((run, run.source.as_ref()?)));
        order::set(of_users.map(|(run, source)| (run.kernel.as_str(), source.short_sha256())))
    }
    let (first, second) = (texts(before), texts(after));
    // For a kernel with several other sources, the first.
    let mut others: BTreeMap<&str, &str> = BTreeMap::new();
    for (kernel, text) in second.difference(&first) {
        others.entry(kernel).or_insert(text);
    }
    let changed = first.difference(&second).filter_map(|(kernel, text)| {
        let other = others.get(kernel)?;
        let kernel = printable(kernel);
        Some(format!("the source of {kernel} differs: SHA-256 {text}… before, {other}… after"))
    });
    changed.collect()
}

/// Differences between two environments that may affect times.
fn differences(first: &Environment, second: &Environment) -> Vec<String> {
    let (first_facts, second_facts) = (facts(first), facts(second));
    let mut found = Vec::new();
    let names = order::set(first_facts.keys().chain(second_facts.keys()).map(String::as_str));
    for name in names {
        let of = |facts: &BTreeMap<String, String>| {
            facts.get(name).filter(|v| !v.is_empty()).map_or("none".to_owned(), |v| printable(v))
        };
        let (one, other) = (of(&first_facts), of(&second_facts));
        if one != other {
            let name = printable(name);
            found.push(format!("the {name} differs: {one} before, {other} after"));
        }
    }
    for one in &first.bandwidth {
        let other = second.bandwidth.iter().find(|other| other.threads == one.threads);
        let Some(other) = other.filter(|other| other.copy > 0.0 && one.copy > 0.0) else {
            continue;
        };
        let factor = other.copy / one.copy;
        if !(1.0 / SAME_BANDWIDTH..=SAME_BANDWIDTH).contains(&factor) {
            found.push(format!(
                "the copy bandwidth at {} threads differs: {:.1} GB/s before, {:.1} GB/s after",
                one.threads,
                one.copy / 1e9,
                other.copy / 1e9
            ));
        }
    }
    found
}

/// The facts about a machine, a system and a build, by name.
fn facts(environment: &Environment) -> BTreeMap<String, String> {
    let Environment { cpu, build, .. } = environment;
    let mut facts = order::map([
        ("CPU".to_owned(), cpu.model.clone()),
        ("number of logical CPUs".to_owned(), cpu.logical.to_string()),
        ("frequency governor".to_owned(), cpu.governor.clone().unwrap_or_default()),
        ("operating system".to_owned(), environment.os.clone()),
        ("compiler".to_owned(), build.rustc.clone()),
        ("target".to_owned(), build.target.clone()),
        ("build profile".to_owned(), build.profile.clone()),
        ("set of build flags".to_owned(), build.flags.clone()),
        ("thread binding".to_owned(), environment.threads_bound.to_string()),
    ]);
    for (name, version) in &environment.libraries {
        facts.insert(format!("{name} version"), version.clone());
    }
    for (k, gpu) in environment.gpus.iter().enumerate() {
        facts.insert(format!("model of GPU {k}"), gpu.model.clone());
        for (name, value) in gpu.details.iter().filter(|(name, _)| is_version(name)) {
            facts.insert(format!("{name} of GPU {k}"), value.clone());
        }
    }
    facts
}

/// Clocks and temperatures always differ; drivers and libraries should not.
fn is_version(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["driver", "version", "cuda", "cusparse", "library"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sparsescope_record::Figures;

    /// The sample bundle with these times for its first run.
    fn timed(samples: &[f64]) -> Bundle {
        let mut bundle = sample::bundle();
        let run = &mut bundle.runs[0];
        run.samples = samples.to_vec();
        run.figures = Figures::from_samples(samples, 20.0, 184);
        bundle
    }

    fn around(time: f64) -> Vec<f64> {
        (0..20).map(|k| time * (1.0 + f64::from(k % 5) * 1e-3)).collect()
    }

    #[test]
    fn each_run_is_matched_by_its_key_and_the_change_is_found() {
        let (before, mut after) = (timed(&around(1e-3)), timed(&around(2e-3)));
        // A different order and different ids are still the same runs.
        after.runs.reverse();
        after.matrices[0].record.id = "other".into();
        for run in after.runs.iter_mut().filter(|run| run.matrix.starts_with("five")) {
            run.matrix = "other".into();
        }
        let found = Comparison::of(&before, &after);
        assert_eq!((found.runs.len(), found.untimed, found.verdicts.len()), (3, 3, 0));
        assert!(found.only_before.is_empty() && found.only_after.is_empty());
        let first = found.runs[0];
        assert_eq!((first.key.kernel, first.subject.name()), ("cpu/csr/serial", "five"));
        assert!((first.ratio.value - 2.0).abs() < 1e-9);
        assert_eq!(first.ratio.change(), Change::Slower);
        // Two samples each: unclear.
        assert_eq!(
            [Change::Slower, Change::Faster, Change::Unclear].map(|c| found.count(c)),
            [1, 0, 2]
        );
        // 2, 1 and 1.
        assert!((found.geometric_mean.unwrap().value - 2f64.cbrt()).abs() < 1e-9);
        assert_eq!((found.slower_than(1.9).count(), found.slower_than(2.1).count()), (1, 0));
        let back = Comparison::of(&after, &before);
        assert_eq!(back.count(Change::Faster), 1);
        assert_eq!(back.slower_than(1.0).count(), 0);
    }

    #[test]
    fn a_bundle_has_not_changed_against_itself() {
        let bundle = timed(&around(1e-3));
        let found = Comparison::of(&bundle, &bundle);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        assert!(found.runs.iter().all(|run| run.ratio.value == 1.0));
        assert_eq!(found.geometric_mean.unwrap().value, 1.0);
    }

    #[test]
    fn missing_runs_and_changed_verdicts_are_told() {
        let (before, mut after) = (timed(&around(1e-3)), timed(&around(1e-3)));
        after.runs.remove(1);
        after.runs[0].check.verdict = Verdict::Fail;
        after.runs[0].check.reason = Some("row 3 differs".into());
        after.runs[0].samples.clear();
        after.runs[0].figures = None;
        let found = Comparison::of(&before, &after);
        let missing: Vec<&str> = found.only_before.iter().map(|(_, key)| key.kernel).collect();
        assert_eq!(missing, ["cpu/csr/nnz"]);
        assert_eq!((found.only_after.len(), found.verdicts.len()), (0, 1));
        assert_eq!(found.wrong_now().count(), 1);
        let back = Comparison::of(&after, &before);
        assert_eq!((back.only_after.len(), back.wrong_now().count()), (1, 0));
    }

    #[test]
    fn what_is_limited_by_rounding_or_undecided_is_not_compared_and_worse_than_what_was() {
        let passed = timed(&around(1e-3));
        let mut limited = timed(&around(1e-6));
        limited.runs[0].check.limited_by_rounding = true;
        let mut undecided = passed.clone();
        let run = &mut undecided.runs[0];
        (run.samples, run.figures, run.metric) = (Vec::new(), None, None);
        run.check = sparsescope_record::Check {
            verdict: Verdict::Refused,
            undecided: true,
            reason: Some("undecided".into()),
            ..Default::default()
        };
        let of = |before: &Bundle, after: &Bundle| {
            let found = Comparison::of(before, after);
            assert!(found.runs.iter().all(|run| run.key.kernel != "cpu/csr/serial"));
            (found.count(Change::Faster), found.verdicts.len(), found.wrong_now().count())
        };
        // A thousand times faster, but not reported as such.
        assert_eq!(of(&passed, &limited), (0, 1, 1));
        assert_eq!([of(&passed, &undecided), of(&limited, &undecided)], [(0, 1, 1); 2]);
        assert_eq!([of(&limited, &passed), of(&undecided, &passed)], [(0, 1, 0); 2]);
        assert_eq!(of(&limited, &limited), (0, 0, 0));
    }

    #[test]
    fn runs_of_a_users_kernel_with_another_text_are_not_compared_and_it_is_told() {
        let [before, after] = ["first", "second"].map(sample::with_user_kernel);
        let found = Comparison::of(&before, &after);
        let kernels = |runs: &[(&Run, RunKey<'_>)]| -> Vec<String> {
            runs.iter().map(|(_, key)| key.words("m")).collect()
        };
        let [one, other] = [&before, &after].map(|bundle| {
            let source = bundle.runs.iter().find_map(|run| run.source.as_ref());
            source.unwrap().short_sha256().to_owned()
        });
        let words = kernels(&found.only_before);
        assert!(words[0].starts_with(&format!("user/my/sum ({one}…) on m")), "{words:?}");
        assert_eq!((words.len(), found.only_after.len()), (1, 1));
        let sentence =
            format!("the source of user/my/sum differs: SHA-256 {one}… before, {other}… after");
        assert!(found.warnings.contains(&sentence), "{:?}", found.warnings);
        assert!(Comparison::of(&before, &before).warnings.is_empty());
    }

    #[test]
    fn other_machines_and_builds_are_told() {
        let (before, mut after) = (timed(&around(1e-3)), timed(&around(1e-3)));
        after.environments[0].build.profile = "debug".into();
        after.environments[0].bandwidth[0].copy = 5e9;
        after.environments[0].noise.load_before = Some(99.0);
        let found = Comparison::of(&before, &after);
        assert_eq!(
            found.warnings,
            [
                "the build profile differs: release before, debug after",
                "the copy bandwidth at 4 threads differs: 10.0 GB/s before, 5.0 GB/s after"
            ]
        );
        for run in &mut after.runs {
            run.device.push_str(" II");
        }
        let found = Comparison::of(&before, &after);
        assert_eq!((found.runs.len(), found.only_before.len()), (0, 6));
        assert!(
            found.warnings[0].starts_with("the bundles have no runs in common: the first was ")
        );
        assert_eq!(found.geometric_mean, None);
    }

    #[test]
    fn a_run_given_twice_counts_once() {
        let (before, mut after) = (timed(&around(1e-3)), timed(&around(1e-3)));
        after.runs.push(after.runs[0].clone());
        let found = Comparison::of(&before, &after);
        assert_eq!(found.runs.len(), 3);
        assert_eq!(
            found.warnings,
            ["1 runs of the second bundle repeat an earlier run and were skipped"]
        );
    }
}
