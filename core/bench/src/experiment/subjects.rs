//! What each operation runs on: a table of its subjects, their suites, and its problem on a matrix.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch_source::BatchSource;
use super::operations::{Given, SolveProblem, SpmmProblem, SpmvProblem, SymgsProblem};
use super::other_source::OtherSource;
use super::points_source::PointsSource;
use super::problem::Problem;
use super::source::{MatrixSource, SourceError};
use super::subject::{LoadedSubject, SubjectSource};
use sparsescope_kernels::symgs::{Wavefronts, right_hand_side, starting_vector};
use sparsescope_matrix::generate::{
    BatchSuite, PointsSuite, Suite as MatrixSuite, batch_suites, points_suites, suites,
};
use sparsescope_matrix::matrix::{Csr, Extent};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
use sparsescope_record::{LoadedValues, Operation};

/// Why a complex matrix has no runs.
const REAL_ONLY: &str = "the matrix is complex; kernels compute with real matrices only";

/// The subjects of an operation.
struct Subjects {
    operation: Operation,
    default_suite: &'static str,
    kind: Kind,
    on_matrix: OnMatrix,
    /// The length of an x that users may give on a matrix of this extent, and the word for it.
    x: Option<LengthOfX>,
    /// Files that it adds to a matrix's folder, with pictures limited to a number of bytes after deflate.
    files: fn(&Csr, u64, MemoryLimit) -> BTreeMap<String, Vec<u8>>,
}

/// A kind of subject.
#[derive(Clone, Copy)]
struct Kind {
    /// Parses what a user names.
    parse: fn(&str) -> Result<SubjectSource, SourceError>,
    suites: fn() -> Vec<Suite>,
    are_matrices: bool,
    /// Their files may begin with a line of names.
    have_headers: bool,
}

/// The number of elements of x on a matrix, and what it counts: `columns`.
type LengthOfX = fn(Extent) -> (u64, &'static str);

/// The name of a suite, and its subjects as a user names them.
type Suite = (&'static str, Vec<String>);

/// The problem on a matrix, with its other input drawn from a seed unless it is given; fails with the reason.
type OnMatrix = fn(&Arc<Csr>, u64, Option<&[f64]>, MemoryLimit) -> Result<Box<dyn Problem>, String>;

const TABLE: &[Subjects] = &[
    Subjects {
        x: Some(|extent| (extent.cols, "columns")),
        ..on(Operation::Spmv, "mini", MATRICES, spmv)
    },
    Subjects {
        x: Some(|extent| (extent.rows, "rows")),
        files: |a, budget, limit| Wavefronts::files_of(a, budget, limit).unwrap_or_default(),
        ..on(Operation::Symgs, "sweeps", MATRICES, symgs)
    },
    on(Operation::Skyline, "points", POINTS, |_, _, _, _| {
        Err("skyline runs on points, not on a matrix".to_owned())
    }),
    on(Operation::Solve, "solver", MATRICES, solve),
    on(Operation::BatchedDense, "batches", BATCHES, |_, _, _, _| {
        Err("a matrix is not a batch of systems; use fsai:MATRIX for the systems of its rows"
            .to_owned())
    }),
    on(Operation::Spmm, "mini", MATRICES, spmm),
];

const MATRICES: Kind = Kind {
    parse: |text| Ok(SubjectSource::Matrix(MatrixSource::parse(text)?)),
    suites: || {
        let entries = |suite: &MatrixSuite| named(suite.entries.iter().map(|entry| entry.name));
        suites().iter().map(|suite| (suite.name, entries(suite))).collect()
    },
    are_matrices: true,
    have_headers: false,
};

const POINTS: Kind = Kind {
    parse: |text| Ok(other(PointsSource::parse(text)?)),
    suites: || {
        let entries = |suite: &PointsSuite| named(suite.entries.iter().map(|entry| entry.name));
        points_suites().iter().map(|suite| (suite.name, entries(suite))).collect()
    },
    are_matrices: false,
    have_headers: true,
};

const BATCHES: Kind = Kind {
    parse: |text| Ok(other(BatchSource::parse(text)?)),
    suites: || {
        let entries = |suite: &BatchSuite| named(suite.entries.iter().map(|entry| entry.name));
        batch_suites().iter().map(|suite| (suite.name, entries(suite))).collect()
    },
    are_matrices: false,
    have_headers: false,
};

/// A line of the table, for an operation that adds no files to a matrix's folder and takes no x.
const fn on(
    operation: Operation,
    default_suite: &'static str,
    kind: Kind,
    on_matrix: OnMatrix,
) -> Subjects {
    Subjects {
        operation,
        default_suite,
        kind,
        on_matrix,
        x: None,
        files: |_, _, _| BTreeMap::new(),
    }
}

fn other(source: impl OtherSource + 'static) -> SubjectSource {
    SubjectSource::Other(Box::new(source))
}

/// The entries of a suite as a user names them.
fn named(names: impl Iterator<Item = &'static str>) -> Vec<String> {
    names.map(|name| format!("suite:{name}")).collect()
}

fn too_large(error: MemoryError) -> String {
    error.to_string()
}

fn spmv(
    a: &Arc<Csr>,
    seed: u64,
    x: Option<&[f64]>,
    limit: MemoryLimit,
) -> Result<Box<dyn Problem>, String> {
    SpmvProblem::check_vectors(a, limit).map_err(too_large)?;
    let Some(x) = x else { return Ok(Box::new(SpmvProblem::drawn(Arc::clone(a), seed))) };
    let (elements, columns) = (x.len(), a.cols());
    if elements != columns {
        return Err(format!("x has {elements} elements, but the matrix has {columns} columns"));
    }
    Ok(Box::new(SpmvProblem::new(Arc::clone(a), x.to_vec())))
}

fn spmm(
    a: &Arc<Csr>,
    seed: u64,
    x: Option<&[f64]>,
    limit: MemoryLimit,
) -> Result<Box<dyn Problem>, String> {
    SpmvProblem::check_vectors(a, limit).map_err(too_large)?;
    if x.is_some() {
        return Err("spmm takes no x: the columns of X are drawn from a seed".to_owned());
    }
    Ok(Box::new(SpmmProblem::drawn(Arc::clone(a), seed)))
}

fn symgs(
    a: &Arc<Csr>,
    seed: u64,
    x: Option<&[f64]>,
    limit: MemoryLimit,
) -> Result<Box<dyn Problem>, String> {
    SymgsProblem::check_vectors(a, limit).map_err(too_large)?;
    let n = a.rows();
    let start = x.map_or_else(|| starting_vector(n, seed), <[f64]>::to_vec);
    if start.len() != n {
        let elements = start.len();
        return Err(format!("x has {elements} elements, but the matrix has {n} rows"));
    }
    Ok(Box::new(SymgsProblem::new(Arc::clone(a), right_hand_side(n, seed), start)?))
}

fn solve(
    a: &Arc<Csr>,
    _: u64,
    x: Option<&[f64]>,
    limit: MemoryLimit,
) -> Result<Box<dyn Problem>, String> {
    SolveProblem::check_vectors(a, limit).map_err(too_large)?;
    if x.is_some() {
        let no_x = "solve starts from zero or from the preconditioned b and takes no x";
        return Err(no_x.to_owned());
    }
    Ok(Box::new(SolveProblem::new(Arc::clone(a), Given::default())?))
}

impl Subjects {
    fn of(operation: Operation) -> &'static Self {
        let row = TABLE.iter().find(|row| row.operation == operation);
        row.expect("the table has every operation") // invariant
    }
}

impl SubjectSource {
    /// Parses what a user names for an operation. Does not check that a path exists.
    pub fn parse(operation: Operation, text: &str) -> Result<Self, SourceError> {
        (Subjects::of(operation).kind.parse)(text)
    }

    /// Whether an operation runs on matrices.
    pub fn are_matrices(operation: Operation) -> bool {
        Subjects::of(operation).kind.are_matrices
    }

    /// Whether files for an operation may begin with a line of names.
    pub fn have_headers(operation: Operation) -> bool {
        Subjects::of(operation).kind.have_headers
    }

    /// The length of the x that an operation takes from a user; `None` if it takes none.
    pub fn length_of_x(operation: Operation) -> Option<LengthOfX> {
        Subjects::of(operation).x
    }

    /// The default suite of an operation.
    pub fn default_suite(operation: Operation) -> &'static str {
        Subjects::of(operation).default_suite
    }

    /// The names of all suites of an operation.
    pub fn suites(operation: Operation) -> Vec<&'static str> {
        (Subjects::of(operation).kind.suites)().into_iter().map(|(name, _)| name).collect()
    }

    /// The subjects of a suite of an operation; `None` if there is no such suite.
    pub fn of_suite(operation: Operation, name: &str) -> Result<Option<Vec<Self>>, SourceError> {
        let Kind { parse, suites, .. } = Subjects::of(operation).kind;
        let suite = suites().into_iter().find(|(suite, _)| *suite == name);
        let parsed = |(_, entries): Suite| -> Result<_, _> {
            entries.iter().map(|entry| parse(entry)).collect()
        };
        suite.map(parsed).transpose()
    }
}

impl LoadedSubject {
    /// Files that an operation adds to a matrix's folder besides the picture of its structure, with pictures
    /// limited to `budget` bytes after deflate: the progress of sweeps over the matrix. Empty if there is
    /// nothing to show, or if `limit` leaves no memory to compute it.
    pub fn files_of(
        &self,
        operation: Operation,
        budget: u64,
        limit: MemoryLimit,
    ) -> BTreeMap<String, Vec<u8>> {
        match self {
            Self::Matrix(loaded) => match &loaded.values {
                LoadedValues::Real(a) => (Subjects::of(operation).files)(a, budget, limit),
                LoadedValues::Complex(_) => BTreeMap::new(),
            },
            Self::Other(_) => BTreeMap::new(),
        }
    }

    /// The problem of an operation on this subject, with its other input given or drawn from the seed; fails
    /// with the reason. `limit` bounds the memory allocated.
    pub fn into_problem(
        self,
        operation: Operation,
        seed: u64,
        x: Option<&[f64]>,
        limit: MemoryLimit,
    ) -> Result<Box<dyn Problem>, String> {
        match self {
            Self::Matrix(loaded) => match &loaded.values {
                LoadedValues::Real(a) => (Subjects::of(operation).on_matrix)(a, seed, x, limit),
                LoadedValues::Complex(_) => Err(REAL_ONLY.to_owned()),
            },
            Self::Other(mut other) if other.problem.operation() == operation => {
                other.problem.reseed(seed);
                Ok(other.problem)
            }
            Self::Other(other) => {
                let (kind, word) = (other.record.kind, operation.as_str());
                Err(format!("{word} does not run on a {kind}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_subjects_and_its_default_suite_is_one_of_its_suites() {
        for &operation in Operation::ALL {
            let default = SubjectSource::default_suite(operation);
            assert!(SubjectSource::suites(operation).contains(&default), "{default}");
            let of_suite = SubjectSource::of_suite(operation, default).unwrap().unwrap();
            assert!(!of_suite.is_empty(), "{default}");
            assert!(SubjectSource::of_suite(operation, "none").unwrap().is_none());
        }
    }
}
