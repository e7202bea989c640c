//! How well a preconditioner works: conjugate gradients without one, with Jacobi, and with the
//! computed factor.

use std::sync::Arc;

use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{Operator, OperatorFormat, Preconditioner, SolveParameters, solve};

/// Limit of iterations, and of nonzeros visited, before giving up.
const MOST: usize = 5000;
const MOST_WORK: usize = 100_000_000;

/// One way to solve A x = b from x = 0 to a relative residual of 10⁻¹⁰.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    /// `None` if the limit was exceeded.
    pub(crate) iterations: Option<usize>,
    /// Lower bound on the condition number, estimated from the iterations.
    pub(crate) condition: f64,
}

/// The ways that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trials {
    pub(crate) none: Trial,
    pub(crate) jacobi: Trial,
    pub(crate) fsai: Trial,
    /// Nonzeros visited per iteration with G, relative to one without: (A + 2 G) / A.
    pub(crate) cost: f64,
}

impl Trials {
    /// Runs the trials for A and G; `None` if an iteration fails or would take too long.
    pub(crate) fn new(a: &Arc<Csr<f64>>, g: &Csr<f64>) -> Option<Self> {
        let limit = MemoryLimit::of_machine();
        let operator = Operator::new(a, OperatorFormat::Csr, limit).ok()?;
        let cost = (a.nnz() + 2 * g.nnz()) as f64 / a.nnz().max(1) as f64;
        let parameters = SolveParameters {
            max_iterations: MOST.min((MOST_WORK as f64 / cost) as usize / a.nnz().max(1)),
            parallel: false,
            limit,
            ..SolveParameters::default()
        };
        if parameters.max_iterations == 0 {
            return None;
        }
        // Scattered values: on grids a symmetric b excites few eigenvectors.
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        let b: Vec<f64> = (0..a.rows()).map(|i| ((i + 1) as f64 * golden).fract()).collect();
        let with = |k: &Preconditioner| {
            let solved = solve(&operator, a, k, &b, &parameters, &mut |_, _| true).ok()?;
            let iterations = solved.converged.then_some(solved.iterations);
            let condition = solved.ritz().map_or(1.0, |ritz| ritz.condition);
            Some(Trial { iterations, condition })
        };
        let [g, gt] = [g.clone(), g.transpose()].map(Arc::new);
        let fsai = Preconditioner::fsai(&g, &gt, OperatorFormat::Csr, Vec::new(), limit).ok()?;
        Some(Self {
            none: with(&Preconditioner::None)?,
            jacobi: with(&Preconditioner::jacobi(a, limit).ok()?)?,
            fsai: with(&fsai)?,
            cost,
        })
    }
}
