//! Matrices known only by name and size.

use std::collections::HashMap;

use crate::{Bundle, MatrixFolder};
use sparsescope_matrix::matrix::{RowLengths, Statistics, nnz_class, sha256};
use sparsescope_record::{MatrixRecord, Source, Verdict, matrix_id};

use super::program::UNKNOWN;
use super::run::judged;

/// Whether a matrix is known only by name and size: its values were never seen, and its identity is
/// derived from these.
pub fn is_known_by_name(record: &MatrixRecord) -> bool {
    let of = &record.statistics;
    record.sha256 == identity_by_name(&record.name, [of.rows, of.cols, of.nnz])
}

/// A stand-in for the identity of a matrix about which no more is known. No canonical CSR starts
/// like this text.
fn identity_by_name(name: &str, [rows, cols, nnz]: [u64; 3]) -> String {
    sha256(format!("known by name only: {name}, {rows} x {cols}, {nnz} entries").as_bytes())
}

/// A matrix as another program describes it.
#[derive(Default)]
pub(super) struct Named {
    pub(super) name: String,
    /// Rows, columns and nonzeros; 0 if unknown.
    pub(super) size: [u64; 3],
    /// The generator of a generated matrix.
    pub(super) generator: Option<String>,
    pub(super) is_real: bool,
    pub(super) row: RowLengths,
}

impl Named {
    /// The record for a bundle.
    ///
    /// # Errors
    /// It has more nonzeros than places; the text follows its name in a message.
    pub(super) fn record(self) -> Result<MatrixRecord, String> {
        let Self { name, size: [rows, cols, nnz], generator, is_real, row } = self;
        let places = u128::from(rows) * u128::from(cols);
        if places > 0 && u128::from(nnz) > places {
            return Err(format!("({name}) has {nnz} nonzeros, too many for {rows} x {cols}"));
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
    /// Replaces matrices known only by name with those in `known` that have the same name, rows,
    /// columns and nonzeros, if a real one exists; if a size is unknown, only if there is exactly
    /// one. Rates of their runs are updated. Returns how many were recognised.
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

/// Whether a matrix has the known rows, columns and nonzeros of another.
fn has_size(record: &MatrixRecord, told: &MatrixRecord) -> bool {
    let size = |record: &MatrixRecord| {
        let of = &record.statistics;
        [of.rows, of.cols, of.nnz]
    };
    size(record).into_iter().zip(size(told)).all(|(has, told)| told == 0 || has == told)
}
