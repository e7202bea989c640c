//! What is computed: a problem with its reference and the formats made for it, and what comes out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use web_time::Instant;

use crate::gate::Reference;
use crate::matrix::{AnyFormat, Csr, FormatError, FormatSpec};
use crate::memory::MemoryLimit;
use crate::record::Check;

/// A problem, one variant an operation.
#[derive(Debug)]
pub enum Problem {
    /// y = A·x.
    Spmv(SpmvProblem),
}

/// A result, one variant a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A vector, one element a row.
    Vector(Vec<f64>),
}

impl Problem {
    /// Checks a result against the reference.
    pub fn check(&self, output: &Output) -> Check {
        match (self, output) {
            (Self::Spmv(problem), Output::Vector(y)) => problem.reference.check(y),
        }
    }

    /// Floating-point operations of one execution.
    pub fn flops(&self) -> f64 {
        match self {
            Self::Spmv(problem) => 2.0 * problem.a.nnz() as f64,
        }
    }
}

/// y = A·x: the matrix, the vector, the checked-against result and every format made so far.
#[derive(Debug)]
pub struct SpmvProblem {
    a: Arc<Csr>,
    x: Vec<f64>,
    x_is_finite: bool,
    reference: Reference,
    formats: Mutex<BTreeMap<FormatSpec, Converted>>,
}

/// A format made from CSR, and what that took.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The matrix.
    pub matrix: AnyFormat,
    /// Seconds of the conversion; 0 for CSR itself.
    pub seconds: f64,
}

impl SpmvProblem {
    /// Computes the reference. x has n elements; panics otherwise.
    pub fn new(a: Arc<Csr>, x: Vec<f64>) -> Self {
        let reference = Reference::new(&a, &x);
        let x_is_finite = x.iter().all(|v| v.is_finite());
        Self { a, x, x_is_finite, reference, formats: Mutex::default() }
    }

    /// A, m × n.
    pub fn a(&self) -> &Arc<Csr> {
        &self.a
    }

    /// x, n elements.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// No element of x is infinite or NaN.
    pub fn x_is_finite(&self) -> bool {
        self.x_is_finite
    }

    /// The result that others are checked against.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// A in the given format, converted on first use. Fails before allocating when it needs more
    /// than `limit`.
    pub fn format(&self, spec: FormatSpec, limit: MemoryLimit) -> Result<Converted, FormatError> {
        if let Some(made) = self.formats().get(&spec) {
            return Ok(made.clone());
        }
        let start = Instant::now();
        let matrix = spec.build(&self.a, limit)?;
        let seconds = match spec {
            FormatSpec::Csr => 0.0,
            _ => start.elapsed().as_secs_f64(),
        };
        let made = Converted { matrix, seconds };
        self.formats().insert(spec, made.clone());
        Ok(made)
    }

    /// Forgets the formats made so far; memory is freed once no kernel holds them.
    pub fn drop_formats(&self) {
        self.formats().clear();
    }

    fn formats(&self) -> MutexGuard<'_, BTreeMap<FormatSpec, Converted>> {
        // The map is complete after every operation, so a panic elsewhere leaves it usable.
        self.formats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
