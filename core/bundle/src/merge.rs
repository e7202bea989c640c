//! Merges several bundles: a plan that was split over machines or days.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::json::value_of;
use crate::{Bundle, BundleError, MatrixFolder, SubjectFolder};
use sparsescope_matrix::order;
use sparsescope_record::{Environment, Producer, Run, RunKey, Source, is_safe_id, printable};

/// Keys and names that an error lists.
const EXAMPLES: usize = 5;

/// What to do with a run, or another entry, that two bundles contain with different contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// Merges nothing; the error names them.
    Refuse,
    /// Keeps the one from the last bundle. Of runs whose checks ended differently, keeps the last
    /// of those that ended worst, so that no right result hides a wrong one.
    PreferLast,
}

/// Merges bundles in order. Matrices with the same identity and source become one. Environments
/// stay separate, each run keeping its own, unless they are identical. Identical runs are kept
/// once. The result is complete if all inputs are; it has a plan or a shard only if all inputs have
/// the same.
pub fn merge(
    bundles: &[Bundle],
    conflicts: Conflicts,
    producer: Producer,
    created: String,
) -> Result<Bundle, BundleError> {
    let mut merged = Bundle::new(producer, created);
    let mut runs: Vec<Run> = Vec::new();
    let mut known = Known::default();
    for bundle in bundles {
        let environments = take_environments(&mut merged, &mut known, bundle)?;
        let mut subjects = take_matrices(&mut merged, &mut known, bundle);
        subjects.extend(take_subjects(&mut merged, &mut known, bundle));
        for run in &bundle.runs {
            let mut run = run.clone();
            rename(&mut run.environment, &environments);
            rename(&mut run.matrix, &subjects);
            runs.push(run);
        }
    }
    tell_texts_apart(&mut runs);
    merged.runs = settle_runs(&merged, runs, conflicts)?;
    merged.others = settle_others(bundles, conflicts)?;
    merged.label = joined_labels(bundles);
    merged.complete = bundles.iter().all(|bundle| bundle.complete);
    let shard = bundles.first().and_then(|bundle| bundle.shard);
    merged.shard = shard.filter(|_| bundles.iter().all(|bundle| bundle.shard == shard));
    let plan = bundles.first().and_then(|bundle| bundle.plan.clone());
    merged.plan = plan.filter(|plan| bundles.iter().all(|b| b.plan.as_ref() == Some(plan)));
    merged.check()?;
    Ok(merged)
}

fn rename(id: &mut String, names: &BTreeMap<String, String>) {
    if let Some(name) = names.get(id) {
        id.clone_from(name);
    }
}

/// The id itself, or the id with a number suffix, that is not taken yet: on many systems, ids that
/// differ only in case would be the same folder.
fn free_id(id: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2u64..).map(|k| {
        let number = format!("-{k}");
        // Ids are ASCII and have a maximum length.
        let kept: String = id.chars().take(80 - number.len()).collect();
        kept + &number
    });
    let free = std::iter::once(id.to_owned()).chain(numbered).find(|id| !taken(id));
    free.filter(|id| is_safe_id(id)).unwrap_or_else(|| id.to_owned())
}

/// Index of what the merged bundle holds so far: bundles may have thousands of matrices.
#[derive(Default)]
struct Known {
    /// Ids of environments by their full content, and the ids in lower case.
    environments: HashMap<String, String>,
    environment_ids: HashSet<String>,
    /// Ids of subjects by identity, and the ids in lower case.
    subjects: HashMap<(String, Source), String>,
    subject_ids: HashSet<String>,
    /// Positions of the matrices by id, and of other subjects by folder and identity.
    matrices: HashMap<String, usize>,
    others: HashMap<(String, String, Source), usize>,
}

/// Takes the id, with a number suffix if it is already taken.
fn take_id(taken: &mut HashSet<String>, id: &str) -> String {
    let id = free_id(id, |id| taken.contains(&id.to_ascii_lowercase()));
    taken.insert(id.to_ascii_lowercase());
    id
}

/// Adds the bundle's environments; returns a map from old to new ids.
fn take_environments(
    merged: &mut Bundle,
    known: &mut Known,
    bundle: &Bundle,
) -> Result<BTreeMap<String, String>, BundleError> {
    let mut names = BTreeMap::new();
    for environment in &bundle.environments {
        let nameless = Environment { id: String::new(), ..environment.clone() };
        let all = value_of("an environment", &nameless)?.to_string();
        let id = match known.environments.get(&all) {
            Some(id) => id.clone(),
            None => {
                let id = take_id(&mut known.environment_ids, &environment.id);
                merged.environments.push(Environment { id: id.clone(), ..nameless });
                known.environments.insert(all, id.clone());
                id
            }
        };
        names.insert(environment.id.clone(), id);
    }
    Ok(names)
}

/// Adds the bundle's matrices; returns a map from old to new ids.
fn take_matrices(
    merged: &mut Bundle,
    known: &mut Known,
    bundle: &Bundle,
) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for folder in &bundle.matrices {
        let record = &folder.record;
        let identity = (record.sha256.clone(), record.source);
        let id = match known.subjects.get(&identity) {
            Some(id) => id.clone(),
            None => {
                let id = take_id(&mut known.subject_ids, &record.id);
                let mut folder = MatrixFolder { files: BTreeMap::new(), ..folder.clone() };
                folder.record.id.clone_from(&id);
                known.matrices.insert(id.clone(), merged.matrices.len());
                known.subjects.insert(identity, id.clone());
                merged.matrices.push(folder);
                id
            }
        };
        // One bundle may have the picture and another the whole matrix: both describe the matrix.
        let place = known.matrices.get(&id);
        if let Some(kept) = place.and_then(|place| merged.matrices.get_mut(*place)) {
            add_files(&mut kept.files, &folder.files);
        }
        names.insert(record.id.clone(), id);
    }
    names
}

/// Adds the bundle's other subjects; returns a map from old to new ids.
fn take_subjects(
    merged: &mut Bundle,
    known: &mut Known,
    bundle: &Bundle,
) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for folder in &bundle.subjects {
        let record = &folder.record;
        let identity = (folder.folder.clone(), record.sha256.clone(), record.source);
        let place = known.others.get(&identity).copied().unwrap_or_else(|| {
            let id = take_id(&mut known.subject_ids, &record.id);
            let mut folder = SubjectFolder { files: BTreeMap::new(), ..folder.clone() };
            folder.record.id.clone_from(&id);
            let place = merged.subjects.len();
            known.subjects.entry((record.sha256.clone(), record.source)).or_insert(id);
            known.others.insert(identity, place);
            merged.subjects.push(folder);
            place
        });
        // A measurement that was interrupted may lack the picture.
        if let Some(kept) = merged.subjects.get_mut(place) {
            add_files(&mut kept.files, &folder.files);
            names.insert(record.id.clone(), kept.record.id.clone());
        }
    }
    names
}

/// Files of one kind belong together, such as `spy.json` and `spy.bin`: they are copied only if
/// there are none of that kind yet.
fn add_files(kept: &mut BTreeMap<String, Vec<u8>>, files: &BTreeMap<String, Vec<u8>>) {
    fn kind(name: &str) -> &str {
        name.split(['.', '/']).next().unwrap_or(name)
    }
    let there = order::set(kept.keys().map(|name| kind(name).to_owned()));
    for (name, content) in files.iter().filter(|(name, _)| !there.contains(kind(name))) {
        kept.insert(name.clone(), content.clone());
    }
}

/// User kernels with the same id but different sources are different kernels: all but the first get
/// their own ids, with the first digits of the source's digest after the file name.
fn tell_texts_apart(runs: &mut [Run]) {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for run in runs {
        let Some(source) = &run.source else { continue };
        let is_other = |id: &str| texts.get(id).is_some_and(|text| *text != source.sha256);
        if is_other(&run.kernel) {
            let (file, function) = run.kernel.rsplit_once('/').unwrap_or((&run.kernel, ""));
            run.kernel = format!("{file}-{}/{function}", source.short_sha256());
        }
        texts.entry(run.kernel.clone()).or_insert_with(|| source.sha256.clone());
    }
}

/// Keeps one run per key, sorted by subject and otherwise in the order in which they came.
fn settle_runs(
    merged: &Bundle,
    runs: Vec<Run>,
    conflicts: Conflicts,
) -> Result<Vec<Run>, BundleError> {
    let places: HashMap<&str, usize> =
        merged.all_subjects().enumerate().map(|(k, subject)| (subject.id(), k)).collect();
    let subjects = merged.subjects_by_id();
    let mut chosen: HashMap<RunKey<'_>, usize> = HashMap::new();
    let mut order: Vec<(usize, usize)> = Vec::new();
    let mut clashes = Vec::new();
    for (k, run) in runs.iter().enumerate() {
        let Some(&subject) = subjects.get(run.matrix.as_str()) else { continue };
        let key = run.key(subject);
        match chosen.get(&key).and_then(|place| order.get_mut(*place)) {
            None => {
                chosen.insert(key, order.len());
                let place = places.get(run.matrix.as_str()).copied().unwrap_or_default();
                order.push((place, k));
            }
            Some((_, earlier)) => {
                let first = runs.get(*earlier);
                if first != Some(run) {
                    clashes.push(key.words(subject.name()));
                }
                if !first.is_some_and(|first| hides(run, first)) {
                    *earlier = k;
                }
            }
        }
    }
    if conflicts == Conflicts::Refuse && !clashes.is_empty() {
        return Err(conflict("runs", clashes));
    }
    order::sort_by(&mut order, |a, b| a.0.cmp(&b.0));
    let mut runs: Vec<Option<Run>> = runs.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|(_, k)| runs.get_mut(k)?.take()).collect())
}

/// Whether a run would hide that the same run, measured elsewhere, ended worse. A run that could
/// not be executed hides nothing.
fn hides(run: &Run, other: &Run) -> bool {
    let both_ran = run.check.was_run() && other.check.was_run();
    both_ran && run.check.badness() < other.check.badness()
}

fn conflict(what: &'static str, mut examples: Vec<String>) -> BundleError {
    let found = examples.len();
    examples.truncate(EXAMPLES);
    BundleError::Conflict { found, what, examples }
}

fn settle_others(
    bundles: &[Bundle],
    conflicts: Conflicts,
) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
    let mut others: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut clashes = Vec::new();
    for (name, content) in bundles.iter().flat_map(|bundle| &bundle.others) {
        let earlier = others.insert(name.clone(), content.clone());
        if earlier.is_some_and(|earlier| earlier != *content) {
            clashes.push(format!("`{}`", printable(name)));
        }
    }
    match conflicts {
        Conflicts::Refuse if !clashes.is_empty() => Err(conflict("entries", clashes)),
        _ => Ok(others),
    }
}

/// All labels without duplicates, in order.
fn joined_labels(bundles: &[Bundle]) -> Option<String> {
    let mut labels: Vec<&str> = Vec::new();
    for label in bundles.iter().filter_map(|bundle| bundle.label.as_deref()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    (!labels.is_empty()).then(|| labels.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, sample};
    use sparsescope_record::{Check, Verdict};

    fn merged(bundles: &[Bundle], conflicts: Conflicts) -> Result<Bundle, BundleError> {
        let producer = sample::bundle().producer;
        merge(bundles, conflicts, producer, "2026-02-01T12:00:00Z".into())
    }

    /// The sample's runs for which `keep` holds, measured elsewhere.
    fn part(keep: fn(&Run) -> bool, load: f64) -> Bundle {
        let mut bundle = sample::bundle();
        bundle.runs.retain(keep);
        bundle.environments[0].noise.load_before = Some(load);
        bundle
    }

    #[test]
    fn parts_of_a_sweep_become_the_whole_and_environments_stay_apart() {
        let csr = part(|run| run.kernel.contains("/csr/"), 1.0);
        let mut rest = part(|run| !run.kernel.contains("/csr/"), 2.0);
        rest.label = Some("another machine".into());
        rest.complete = false;
        let whole = merged(&[csr, rest], Conflicts::Refuse).unwrap();
        assert_eq!((whole.runs.len(), whole.matrices.len()), (6, 2));
        // `b` is identical in both, `a` is not.
        let ids: Vec<&str> = whole.environments.iter().map(|e| e.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "a-2"]);
        for run in &whole.runs {
            let load = whole.environment(&run.environment).unwrap().noise.load_before;
            let expected = match (run.environment.as_str(), run.kernel.contains("/csr/")) {
                ("b", _) => None,
                (_, true) => Some(1.0),
                (_, false) => Some(2.0),
            };
            assert_eq!(load, expected, "{}", run.kernel);
        }
        assert!(!whole.complete);
        assert_eq!(whole.label.as_deref(), Some("the \"big\" machine + another machine"));
        // Sorted by matrix, as readers of a table expect.
        let matrices: Vec<&str> = whole.runs.iter().map(|run| run.matrix.as_str()).collect();
        assert!(matrices.is_sorted_by_key(|id| id.starts_with("cant")), "{matrices:?}");
        let bytes = whole.to_bytes().unwrap();
        assert_eq!(Bundle::read(&bytes, &Limits::default()).unwrap(), whole);
    }

    #[test]
    fn a_bundle_merged_with_itself_is_itself() {
        let bundle = sample::bundle();
        let twice = merged(&[bundle.clone(), bundle.clone()], Conflicts::Refuse).unwrap();
        assert_eq!(twice.environments, bundle.environments);
        assert_eq!(twice.matrices, bundle.matrices);
        assert_eq!((twice.plan, twice.others), (bundle.plan, bundle.others));
        assert_eq!(twice.runs.len(), bundle.runs.len());
        assert!(bundle.runs.iter().all(|run| twice.runs.contains(run)));
    }

    #[test]
    fn the_levels_of_one_bundle_stand_beside_the_picture_of_another() {
        let with = |files: &[(&str, u8)]| {
            let mut bundle = sample::bundle();
            let files = files.iter().map(|&(name, byte)| (name.to_owned(), vec![byte]));
            bundle.matrices[0].files = files.collect();
            bundle
        };
        let seen = with(&[("spy.bin", 1), ("spy.json", 1)]);
        let swept = with(&[("levels.bin", 2), ("levels.json", 2), ("spy.bin", 2)]);
        let files = |bundles: [&Bundle; 2]| {
            let merged = merged(&bundles.map(Bundle::clone), Conflicts::Refuse).unwrap();
            merged.matrices[0].files.clone()
        };
        let of = |files: &[(&str, u8)]| with(files).matrices[0].files.clone();
        // Half of one picture never joins the other half of another.
        let both = of(&[("levels.bin", 2), ("levels.json", 2), ("spy.bin", 1), ("spy.json", 1)]);
        assert_eq!(files([&seen, &swept]), both);
        assert_eq!(files([&swept, &seen]), swept.matrices[0].files);
    }

    #[test]
    fn the_picture_of_points_is_taken_from_whichever_bundle_has_one() {
        let whole = sample::with_points();
        let mut begun = whole.clone();
        begun.subjects[0].files.clear();
        for bundles in [[whole.clone(), begun.clone()], [begun, whole.clone()]] {
            let merged = merged(&bundles, Conflicts::Refuse).unwrap();
            assert_eq!(merged.subjects, whole.subjects);
        }
    }

    #[test]
    fn a_run_measured_twice_is_refused_by_name_or_the_last_one_counts() {
        let first = sample::bundle();
        let mut second = part(|run| run.kernel == "cpu/csr/nnz", 9.0);
        second.runs[0].check.worst = Some(0.5);
        let error = merged(&[first.clone(), second.clone()], Conflicts::Refuse).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1 runs differ between the bundles, including cpu/csr/nnz on five, 4 threads"
        );
        let of = |bundle: &Bundle| {
            let run = bundle.runs.iter().find(|run| run.kernel == "cpu/csr/nnz").unwrap();
            (run.check.worst, run.environment.clone())
        };
        let last = merged(&[first.clone(), second.clone()], Conflicts::PreferLast).unwrap();
        assert_eq!((last.runs.len(), of(&last)), (6, (Some(0.5), "a-2".into())));
        let last = merged(&[second, first], Conflicts::PreferLast).unwrap();
        assert_eq!(of(&last), (Some(0.25), "a-2".into()));
    }

    #[test]
    fn of_a_run_that_ended_differently_the_worst_counts_whichever_came_last() {
        let ended = |verdict, undecided, limited_by_rounding| {
            let mut bundle = part(|run| run.kernel == "cpu/csr/nnz", 9.0);
            let run = &mut bundle.runs[0];
            let reason = Some("it ended so".into());
            run.check =
                Check { verdict, undecided, limited_by_rounding, reason, ..Check::default() };
            if verdict != Verdict::Pass {
                (run.samples, run.figures, run.metric) = (Vec::new(), None, None);
            }
            bundle
        };
        let worst_first = [
            ended(Verdict::Fail, false, false),
            ended(Verdict::Refused, true, false),
            ended(Verdict::Pass, false, true),
            ended(Verdict::Pass, false, false),
            ended(Verdict::Refused, false, false),
        ];
        for (k, worse) in worst_first.iter().enumerate().take(4) {
            for better in &worst_first[k..4] {
                for bundles in [[worse, better], [better, worse]] {
                    let found = merged(&bundles.map(Bundle::clone), Conflicts::PreferLast).unwrap();
                    assert_eq!(found.runs[0].check, worse.runs[0].check);
                }
            }
        }
        // What one machine could not run says nothing about another.
        let [_, _, _, passed, refused] = worst_first;
        let found = merged(&[refused, passed.clone()], Conflicts::PreferLast).unwrap();
        assert_eq!(found.runs[0].check, passed.runs[0].check);
    }

    #[test]
    fn a_users_kernels_of_one_id_and_other_texts_keep_apart_under_ids_of_their_own() {
        let [first, second] = ["first", "second"].map(sample::with_user_kernel);
        let whole = merged(&[first.clone(), second.clone()], Conflicts::Refuse).unwrap();
        assert_eq!(whole.runs.len(), 7);
        let of = |bundle: &Bundle, text: &str| {
            let sha256 = sample::kernel_source(text).sha256;
            let is_it = |run: &&Run| run.source.as_ref().is_some_and(|s| s.sha256 == sha256);
            let runs: Vec<&Run> = bundle.runs.iter().filter(is_it).collect();
            let [run] = runs[..] else { panic!("{} runs", runs.len()) };
            let source = run.source.as_ref().unwrap();
            assert_eq!(bundle.source_text(source), Some(text));
            run.kernel.clone()
        };
        let sha256 = sample::kernel_source("second").sha256;
        let digits: String = sha256.chars().take(8).collect();
        assert_eq!(of(&whole, "first"), "user/my/sum");
        assert_eq!(of(&whole, "second"), format!("user/my-{digits}/sum"));
        // An existing kernel is found again, and one source is one kernel.
        let again = merged(&[whole.clone(), second], Conflicts::Refuse).unwrap();
        assert_eq!(again.runs, whole.runs);
        let twice = merged(&[first.clone(), first.clone()], Conflicts::Refuse).unwrap();
        assert_eq!(of(&twice, "first"), "user/my/sum");
    }

    #[test]
    fn a_history_goes_where_its_run_goes() {
        let with = |residuals: &[f64], worst: f64| {
            let mut bundle = part(|run| run.kernel == "cpu/csr/nnz", 1.0);
            bundle.runs[0].check.worst = Some(worst);
            bundle.runs[0].history = Some(sample::history(residuals));
            bundle
        };
        let (slow, quick, bare) = (with(&[1.0, 0.5, 0.1], 0.25), with(&[1.0, 0.1], 0.5), {
            let mut bare = with(&[], 0.75);
            bare.runs[0].history = None;
            bare
        });
        let last = |bundles: [&Bundle; 2]| {
            let merged = merged(&bundles.map(Bundle::clone), Conflicts::PreferLast).unwrap();
            let bytes = merged.to_bytes().unwrap();
            assert_eq!(Bundle::read(&bytes, &Limits::default()).unwrap(), merged);
            merged.runs[0].clone()
        };
        assert_eq!(last([&slow, &quick]), quick.runs[0]);
        assert_eq!(last([&quick, &slow]), slow.runs[0]);
        assert_eq!(last([&slow, &bare]).history, None);
        // A run with a different history is a different run; identical runs are merged.
        let mut other = slow.clone();
        other.runs[0].history = Some(sample::history(&[1.0]));
        let error = merged(&[slow.clone(), other], Conflicts::Refuse).unwrap_err().to_string();
        assert!(error.starts_with("1 runs differ"), "{error}");
        assert_eq!(
            merged(&[slow.clone(), slow.clone()], Conflicts::Refuse).unwrap().runs,
            slow.runs
        );
    }

    #[test]
    fn matrices_of_one_id_and_different_content_keep_apart() {
        let first = sample::bundle();
        let mut second = sample::bundle();
        second.matrices[0].record.sha256 = "0".repeat(64);
        let whole = merged(&[first, second], Conflicts::Refuse).unwrap();
        let ids: Vec<&str> = whole.matrices.iter().map(|m| m.record.id.as_str()).collect();
        assert_eq!(ids, ["five-2fca02e9", "cant-2fca02e9", "five-2fca02e9-2"]);
        // Four runs on the other `five`, two on the same `cant`.
        assert_eq!(whole.runs.len(), 6 + 4);
    }

    #[test]
    fn other_entries_clash_by_name() {
        let first = sample::bundle();
        let mut second = sample::bundle();
        second.others.insert("solvers/cg.json".into(), b"[]".to_vec());
        let error = merged(&[first.clone(), second.clone()], Conflicts::Refuse).unwrap_err();
        assert!(
            error.to_string().contains("entries differ")
                && error.to_string().contains("`solvers/cg.json`")
        );
        let last = merged(&[first, second], Conflicts::PreferLast).unwrap();
        assert_eq!(last.others["solvers/cg.json"], b"[]");
    }

    #[test]
    fn ids_get_a_number_that_is_free_and_short_enough() {
        let taken = ["a".to_owned(), "A-2".to_owned(), "x".repeat(80)];
        let free = |id: &str| free_id(id, |id| taken.iter().any(|t| t.eq_ignore_ascii_case(id)));
        assert_eq!((free("a").as_str(), free("b").as_str()), ("a-3", "b"));
        assert_eq!(free(&"x".repeat(80)), format!("{}-2", "x".repeat(78)));
    }
}
