//! Writes a bundle: the same content gives the same bytes on every system.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Cursor, Write};

use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use super::archive::Archive;
use super::check::{ENVIRONMENT, MANIFEST, MATRIX, PLAN, RESULTS, RUNS, SUBJECT, run_name};
use super::json::{compact, pretty, value_of};
use crate::{Bundle, BundleError, Limits, SubjectFolder};
use sparsescope_matrix::matrix::sha256;
use sparsescope_matrix::order;
use sparsescope_record::{EntryInfo, Environments, Manifest, SCHEMA, history_entry};

/// Deflate's default level.
const LEVEL: i64 = 6;

impl Bundle {
    /// Writes the zip. Writes nothing if the bundle contradicts itself, holds a float that is not
    /// finite, or exceeds the limits for reading bundles.
    pub fn write(&self, out: &mut impl Write) -> Result<(), BundleError> {
        let bytes = self.to_bytes()?;
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(BundleError::Write)
    }

    /// The zip in memory; see [`write`](Self::write).
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        self.check()?;
        let entries = self.entries()?;
        let manifest = pretty(&value_of("the manifest", &self.manifest(&entries))?);
        let bytes = deflate(&manifest, &entries).map_err(BundleError::Write)?;
        // Ensures that what is written can be read.
        let limits = Limits::default();
        limits.check("the bundle", self.runs.len() as u64, "runs", limits.runs)?;
        Archive::open(&bytes, &limits)?.check(&limits)?;
        Ok(bytes)
    }

    /// Every entry except the manifest, by name, of a checked bundle.
    fn entries(&self) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
        let mut entries = BTreeMap::new();
        let environments = Environments { environments: self.environments.clone() };
        let environments = value_of("the environment", &environments)?;
        entries.insert(ENVIRONMENT.into(), pretty(&environments));
        let others: HashSet<&str> = self.subjects.iter().map(|s| s.record.id.as_str()).collect();
        let mut on_matrices = Vec::new();
        let mut on_others: HashMap<&str, Vec<Value>> = HashMap::new();
        let subjects = self.subjects_by_id();
        for (index, run) in self.runs.iter().enumerate() {
            let mut value = value_of(&run_name(index, run), run)?;
            let subject = subjects.get(run.matrix.as_str());
            if let (Some(&subject), Some(fields)) = (subject, value.as_object_mut())
                && let Some(history) = fields.shift_remove("history")
            {
                entries.insert(history_entry(&run.key(subject).digest()), compact(&history));
            }
            let Some(&subject) = others.get(run.matrix.as_str()) else {
                on_matrices.push(value);
                continue;
            };
            // Runs on other subjects name them in the field `subject`.
            if let Some(fields) = value.as_object_mut() {
                fields.shift_remove("matrix");
                fields.shift_insert(0, "subject".to_owned(), subject.into());
            }
            on_others.entry(subject).or_default().push(value);
        }
        entries.insert(RUNS.into(), compact(&serde_json::json!({ "runs": on_matrices })));
        for SubjectFolder { folder, record, files } in &self.subjects {
            let id = &record.id;
            let runs = on_others.remove(id.as_str()).unwrap_or_default();
            let runs = compact(&serde_json::json!({ "runs": runs }));
            let record = value_of(&format!("subject `{id}`"), record)?;
            entries.insert(format!("{folder}/{id}/{SUBJECT}"), pretty(&record));
            entries.insert(format!("{folder}/{id}/{RUNS}"), runs);
            for (name, content) in files {
                entries.insert(format!("{folder}/{id}/{name}"), content.clone());
            }
        }
        entries.insert(RESULTS.into(), self.table()?);
        if let Some(plan) = &self.plan {
            entries.insert(PLAN.into(), pretty(plan));
        }
        for matrix in &self.matrices {
            let id = &matrix.record.id;
            let record = value_of(&format!("matrix `{id}`"), &matrix.record)?;
            entries.insert(format!("matrices/{id}/{MATRIX}"), pretty(&record));
            for (name, content) in &matrix.files {
                entries.insert(format!("matrices/{id}/{name}"), content.clone());
            }
        }
        entries.extend(self.others.iter().map(|(name, content)| (name.clone(), content.clone())));
        Ok(entries)
    }

    fn manifest(&self, entries: &BTreeMap<String, Vec<u8>>) -> Manifest {
        let info =
            |content: &Vec<u8>| EntryInfo { sha256: sha256(content), bytes: content.len() as u64 };
        Manifest {
            schema: SCHEMA,
            producer: self.producer.clone(),
            created: self.created.clone(),
            label: self.label.clone(),
            complete: self.complete,
            shard: self.shard,
            matrices: self.matrices.iter().map(|matrix| matrix.record.id.clone()).collect(),
            runs: self.runs_on_matrices(),
            entries: order::map(
                entries.iter().map(|(name, content)| (name.clone(), info(content))),
            ),
        }
    }
}

/// A zip of the manifest, then the entries sorted by name. It does not depend on the clock or the
/// system.
fn deflate(manifest: &[u8], entries: &BTreeMap<String, Vec<u8>>) -> std::io::Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .system(System::Unix);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let rest = entries.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
    for (name, content) in std::iter::once((MANIFEST, manifest)).chain(rest) {
        zip.start_file(name, options)?;
        zip.write_all(content)?;
    }
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn the_same_content_gives_the_same_bytes_and_the_manifest_comes_first() {
        let bundle = sample::bundle();
        let bytes = bundle.to_bytes().unwrap();
        assert_eq!(bytes, bundle.clone().to_bytes().unwrap());
        // PKWARE's APPNOTE: a local header has its method at offset 8, its time and date at 10 and
        // 12 (1980-01-01 is 0x21), its name from 30.
        assert_eq!(&bytes[..4], b"PK\x03\x04");
        assert_eq!(&bytes[8..14], &[8, 0, 0, 0, 0x21, 0]);
        assert_eq!(&bytes[30..43], b"manifest.json");
    }

    #[test]
    fn a_float_that_is_not_finite_names_its_field_and_run() {
        let mut bundle = sample::bundle();
        bundle.runs[1].check.worst = Some(f64::INFINITY);
        let error = bundle.to_bytes().unwrap_err().to_string();
        assert_eq!(
            error,
            "`check.worst` of runs[1] (cpu/csr/nnz on five-2fca02e9) is not a finite number"
        );
        let mut bundle = sample::bundle();
        bundle.runs[0].samples[1] = f64::NAN;
        let error = bundle.to_bytes().unwrap_err().to_string();
        assert!(error.starts_with("`samples[1]` of runs[0] ("), "{error}");
    }

    #[test]
    fn a_timing_without_a_passed_check_is_not_written() {
        let mut bundle = sample::bundle();
        bundle.runs[0].check.verdict = sparsescope_record::Verdict::Fail;
        bundle.runs[0].check.reason = Some("row 3 differs".into());
        let error = bundle.to_bytes().unwrap_err().to_string();
        assert!(error.contains("a timing although its check did not pass"), "{error}");
    }

    #[test]
    fn a_prediction_that_cannot_be_is_not_written() {
        let mut bundle = sample::bundle();
        bundle.runs[2].costs.predicted.as_mut().unwrap().useful_bytes = Some(u64::MAX);
        let error = bundle.to_bytes().unwrap_err().to_string();
        assert!(error.contains("runs[2]") && error.contains("impossible prediction"), "{error}");
    }
}
