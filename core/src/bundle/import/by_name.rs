//! Matrices that are known by name and size only.

use std::collections::HashMap;

use crate::bundle::{Bundle, MatrixFolder};
use crate::matrix::{RowLengths, Statistics, nnz_class, sha256};
use crate::record::{MatrixRecord, Source, Verdict, matrix_id};

use super::program::UNKNOWN;
use super::run::judged;

/// Whether a matrix is known by its name and size only: its values were never seen, and its
/// identity is made of these.
pub fn is_known_by_name(record: &MatrixRecord) -> bool {
    let of = &record.statistics;
    record.sha256 == identity_by_name(&record.name, [of.rows, of.cols, of.nnz])
}

/// Stands for the identity of a matrix of which no more is known. No canonical CSR begins like
/// this text.
fn identity_by_name(name: &str, [rows, cols, nnz]: [u64; 3]) -> String {
    sha256(format!("known by name only: {name}, {rows} x {cols}, {nnz} entries").as_bytes())
}

/// A matrix as another program tells it.
#[derive(Default)]
pub(super) struct Named {
    pub(super) name: String,
    /// Rows, columns and entries; 0 where they are not told.
    pub(super) size: [u64; 3],
    /// Who made it, where it is no matrix from elsewhere.
    pub(super) generator: Option<String>,
    pub(super) is_real: bool,
    pub(super) row: RowLengths,
}

impl Named {
    /// What a bundle holds of it.
    ///
    /// # Errors
    /// It has more entries than places, in words that follow its name.
    pub(super) fn record(self) -> Result<MatrixRecord, String> {
        let Self { name, size: [rows, cols, nnz], generator, is_real, row } = self;
        let places = u128::from(rows) * u128::from(cols);
        if places > 0 && u128::from(nnz) > places {
            return Err(format!("({name}) has {nnz} nonzeros in {rows} rows and {cols} columns"));
        }
        let sha256 = identity_by_name(&name, [rows, cols, nnz]);
        Ok(MatrixRecord {
            id: matrix_id(&name, &sha256),
            source: if generator.is_some() { Source::Generated } else { Source::Real },
            generator,
            reordered: None,
            field: if is_real { "real" } else { UNKNOWN }.into(),
            symmetry: UNKNOWN.into(),
            read_seconds: 0.0,
            statistics: Statistics {
                rows,
                cols,
                nnz,
                density: if places == 0 { 0.0 } else { nnz as f64 / rows as f64 / cols as f64 },
                nnz_class: nnz_class(nnz).into(),
                row,
                ..Statistics::default()
            },
            sha256,
            name,
        })
    }
}

impl Bundle {
    /// Matrices that are known by name only become those of equal name, rows, columns and entries
    /// among `known`, if there is a real one; where a size is not told, if there is only one. Rates
    /// of runs on these follow. Returns how many were recognised.
    pub fn recognise<'a>(&mut self, known: impl Iterator<Item = &'a MatrixRecord>) -> usize {
        let is_whole = |other: &&MatrixRecord| {
            other.source == Source::Real && other.reordered.is_none() && !is_known_by_name(other)
        };
        let mut whole: HashMap<&str, Vec<&MatrixRecord>> = HashMap::new();
        for other in known.filter(is_whole) {
            whole.entry(&other.name).or_default().push(other);
        }
        let mut recognised = 0;
        let mut counted: HashMap<String, u64> = HashMap::new();
        for MatrixFolder { record, .. } in &mut self.matrices {
            if record.source != Source::Real || !is_known_by_name(record) {
                continue;
            }
            let named = whole.get(record.name.as_str()).into_iter().flatten().copied();
            let mut candidates = named.filter(|other| has_size(other, record));
            let Some(other) = candidates.next() else { continue };
            if !has_size(record, other) && candidates.any(|next| next.sha256 != other.sha256) {
                continue;
            }
            let nnz = other.statistics.nnz;
            if nnz != record.statistics.nnz {
                counted.insert(record.id.clone(), nnz);
            }
            *record = MatrixRecord { id: record.id.clone(), ..other.clone() };
            recognised += 1;
        }
        for run in self.runs.iter_mut().filter(|run| run.check.verdict == Verdict::Pass) {
            if let Some(nnz) = counted.get(&run.matrix) {
                *run = judged(std::mem::take(run), *nnz, Ok(()));
            }
        }
        recognised
    }
}

/// Whether a matrix has the rows, columns and entries that are told of another.
fn has_size(record: &MatrixRecord, told: &MatrixRecord) -> bool {
    let size = |record: &MatrixRecord| {
        let of = &record.statistics;
        [of.rows, of.cols, of.nnz]
    };
    size(record).into_iter().zip(size(told)).all(|(has, told)| told == 0 || has == told)
}
