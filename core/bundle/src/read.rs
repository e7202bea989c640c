//! Reads a bundle from bytes, on any system and in the web page.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::archive::Archive;
use super::check::{ENVIRONMENT, MANIFEST, MATRIX, PLAN, RESULTS, RUNS, SUBJECT};
use super::json::parse;
use crate::{Bundle, BundleError, Limits, MatrixFolder, SubjectFolder};
use sparsescope_matrix::matrix::sha256;
use sparsescope_matrix::pace::{Pace, at_once};
use sparsescope_record::{
    Environments, HISTORIES, Manifest, MatrixRecord, Run, Runs, SCHEMA, SubjectRecord,
    history_entry, is_safe_id, matrix_entry, printable, subject_entry,
};

/// The part that is read before anything else is trusted.
#[derive(Deserialize)]
struct Version {
    schema: Major,
}

#[derive(Deserialize)]
struct Major {
    major: u32,
}

/// Fails if `document`, named `entry`, follows a schema that this program would misread.
pub(super) fn check_version(entry: &str, document: &[u8]) -> Result<(), BundleError> {
    let Version { schema: Major { major } } = parse(entry, document)?;
    if major > SCHEMA.major { Err(BundleError::NewerMajor { major }) } else { Ok(()) }
}

impl Bundle {
    /// Reads a bundle from any source. Checks sizes before decompressing, every entry against its
    /// checksum, every reference, and every figure against the samples it is derived from. Unknown
    /// fields are ignored; unknown entries are kept in [`others`](Self::others).
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, BundleError> {
        at_once(Self::read_at(bytes, limits, Pace::AtOnce))
    }

    /// The same as [`read`](Self::read) in steps, one per poll: an entry, or a check of all runs.
    pub async fn read_in_steps(bytes: &[u8], limits: &Limits) -> Result<Self, BundleError> {
        Self::read_at(bytes, limits, Pace::InSteps).await
    }

    async fn read_at(bytes: &[u8], limits: &Limits, pace: Pace) -> Result<Self, BundleError> {
        let mut archive = Archive::open(bytes, limits)?;
        check_version(MANIFEST, &archive.manifest)?;
        archive.check(limits)?;
        let manifest: Manifest = parse(MANIFEST, &archive.manifest)?;
        limits.check("the bundle", manifest.runs, "runs", limits.runs)?;
        let mut contents = archive.contents_at(pace).await?;
        check_entries(&manifest, &contents, pace).await?;

        take(&mut contents, RESULTS)?; // regenerated from the runs
        let environments: Environments = parse(ENVIRONMENT, &take(&mut contents, ENVIRONMENT)?)?;
        let runs: Runs = parse(RUNS, &take(&mut contents, RUNS)?)?;
        pace.rest().await;
        let plan = contents.remove(PLAN).map(|plan| parse(PLAN, &plan)).transpose()?;
        let matrices = take_matrices(&manifest.matrices, &mut contents)?;
        let (subjects, more) = take_subjects(&mut contents)?;
        if runs.runs.len() as u64 != manifest.runs {
            let problem =
                format!("declares {} runs, but `{RUNS}` has {}", manifest.runs, runs.runs.len());
            return Err(BundleError::Inconsistent { whose: format!("`{MANIFEST}`"), problem });
        }
        let runs = runs.runs.into_iter().chain(more).collect::<Vec<_>>();
        limits.check("the bundle", runs.len() as u64, "runs", limits.runs)?;
        let mut bundle = Self {
            producer: manifest.producer,
            created: manifest.created,
            label: manifest.label,
            complete: manifest.complete,
            shard: manifest.shard,
            plan,
            environments: environments.environments,
            matrices,
            subjects,
            runs,
            others: contents,
        };
        bundle.take_histories(pace).await?;
        bundle.rate_old_runs();
        pace.rest().await;
        bundle.check()?;
        Ok(bundle)
    }

    /// Moves histories from the other entries to their runs. Those without a run stay there, so
    /// that the check reports them.
    async fn take_histories(&mut self, pace: Pace) -> Result<(), BundleError> {
        if !self.others.keys().any(|name| name.starts_with(HISTORIES)) {
            return Ok(());
        }
        let names: Vec<Option<String>> = {
            let subjects = self.subjects_by_id();
            let named = |run: &Run| {
                let subject = *subjects.get(run.matrix.as_str())?;
                Some(history_entry(&run.key(subject).digest()))
            };
            self.runs.iter().map(named).collect()
        };
        for (run, name) in self.runs.iter_mut().zip(names) {
            if let Some((name, content)) = name.and_then(|name| self.others.remove_entry(&name)) {
                run.history = Some(parse(&name, &content)?);
                pace.rest().await;
            }
        }
        Ok(())
    }
}

/// The subjects other than matrices, in the order of their folders, with the files and the runs in
/// those folders.
fn take_subjects(
    contents: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(Vec<SubjectFolder>, Vec<Run>), BundleError> {
    let is_subject = |name: &&String| {
        subject_entry(name).is_some_and(|(_, id, file)| file == SUBJECT && is_safe_id(id))
    };
    let entries: Vec<String> = contents.keys().filter(is_subject).cloned().collect();
    let (mut subjects, mut all) = (Vec::new(), Vec::new());
    for entry in entries {
        let Some((folder, id, _)) = subject_entry(&entry) else { continue };
        let record: SubjectRecord = parse(&entry, &take(contents, &entry)?)?;
        if record.id != id {
            let problem = format!(
                "has the id `{}`, which is not the name of its folder",
                printable(&record.id)
            );
            return Err(BundleError::Inconsistent { whose: format!("`{entry}`"), problem });
        }
        let runs = format!("{folder}/{id}/{RUNS}");
        let runs: Runs = match contents.remove(&runs) {
            Some(content) => parse(&runs, &content)?,
            None => Runs::default(),
        };
        if let Some(other) = runs.runs.iter().find(|run| run.matrix != id) {
            let problem =
                format!("has a run on `{}`, which is another subject", printable(&other.matrix));
            let whose = format!("`{folder}/{id}/{RUNS}`");
            return Err(BundleError::Inconsistent { whose, problem });
        }
        all.extend(runs.runs);
        let within = format!("{folder}/{id}/");
        let names: Vec<String> =
            contents.keys().filter(|name| name.starts_with(&within)).cloned().collect();
        let mut files = BTreeMap::new();
        for name in names {
            if let (Some(file), Some(content)) =
                (name.strip_prefix(&within), contents.remove(&name))
            {
                files.insert(file.to_owned(), content);
            }
        }
        subjects.push(SubjectFolder { folder: folder.to_owned(), record, files });
    }
    Ok((subjects, all))
}

/// Checks that the entries and their contents are those listed in the manifest.
async fn check_entries(
    manifest: &Manifest,
    contents: &BTreeMap<String, Vec<u8>>,
    pace: Pace,
) -> Result<(), BundleError> {
    for (entry, content) in contents {
        let info = manifest
            .entries
            .get(entry)
            .ok_or_else(|| BundleError::UnlistedEntry { entry: entry.clone() })?;
        if info.bytes != content.len() as u64 || info.sha256 != sha256(content) {
            return Err(BundleError::Hash { entry: entry.clone() });
        }
        pace.rest().await;
    }
    match manifest.entries.keys().find(|entry| !contents.contains_key(*entry)) {
        Some(entry) => Err(BundleError::MissingEntry { entry: printable(entry) }),
        None => Ok(()),
    }
}

fn take(contents: &mut BTreeMap<String, Vec<u8>>, entry: &str) -> Result<Vec<u8>, BundleError> {
    contents.remove(entry).ok_or_else(|| BundleError::MissingEntry { entry: entry.into() })
}

/// The matrices in manifest order, each with the files of its folder.
fn take_matrices(
    ids: &[String],
    contents: &mut BTreeMap<String, Vec<u8>>,
) -> Result<Vec<MatrixFolder>, BundleError> {
    let mut files: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    let in_folders: Vec<String> =
        contents.keys().filter(|name| matrix_entry(name).is_some()).cloned().collect();
    for name in in_folders {
        if let (Some((id, file)), Some(content)) = (matrix_entry(&name), contents.remove(&name)) {
            files.entry(id.into()).or_default().insert(file.into(), content);
        }
    }
    let mut matrices = Vec::new();
    for id in ids {
        if !is_safe_id(id) {
            return Err(BundleError::UnsafeId { whose: "matrices", id: printable(id) });
        }
        let entry = format!("matrices/{id}/{MATRIX}");
        let mut files = files.remove(id).unwrap_or_default();
        let record = take(&mut files, MATRIX)
            .map_err(|_| BundleError::MissingEntry { entry: entry.clone() })?;
        let record: MatrixRecord = parse(&entry, &record)?;
        if record.id != *id {
            let problem = format!(
                "has the id `{}`, which is not the name of its folder",
                printable(&record.id)
            );
            return Err(BundleError::Inconsistent { whose: format!("`{entry}`"), problem });
        }
        matrices.push(MatrixFolder { record, files });
    }
    match files.into_keys().next() {
        Some(id) => Err(BundleError::Inconsistent {
            whose: format!("folder `matrices/{id}`"),
            problem: format!("belongs to no matrix listed in `{MANIFEST}`"),
        }),
        None => Ok(matrices),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::sample;

    #[test]
    fn a_bundle_comes_back_equal_and_is_written_the_same_again() {
        let bundle = sample::with_points();
        let bytes = bundle.to_bytes().unwrap();
        let back = Bundle::read(&bytes, &Limits::default()).unwrap();
        assert_eq!(back, bundle);
        assert_eq!(back.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn a_bundle_read_in_steps_is_the_one_that_is_read_at_once() {
        let limits = Limits::default();
        let bytes = sample::with_points().to_bytes().unwrap();
        let entries = Archive::open(&bytes, &limits).unwrap().manifest;
        let entries = parse::<Manifest>(MANIFEST, &entries).unwrap().entries.len();
        let mut work = pin!(Bundle::read_in_steps(&bytes, &limits));
        let mut context = Context::from_waker(Waker::noop());
        let mut steps = 1;
        let read = loop {
            match work.as_mut().poll(&mut context) {
                Poll::Ready(read) => break read,
                Poll::Pending => steps += 1,
            }
        };
        assert_eq!(read.unwrap(), sample::with_points());
        assert!(entries > 3 && steps > 2 * entries, "{steps} steps for {entries} entries");
    }

    #[test]
    fn an_empty_bundle_comes_back() {
        let producer = sample::bundle().producer;
        let bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
        let back = Bundle::read(&bundle.to_bytes().unwrap(), &Limits::default()).unwrap();
        assert_eq!(back, bundle);
    }
}
