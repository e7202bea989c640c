//! What a library gets besides the matrix, for each operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::experiment::solving::Asked;
use crate::experiment::{
    Configuration, PrepareError, Problem, SolveProblem, SpmmProblem, SpmvProblem, SymgsProblem,
};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::parameters::{MODE, VECTORS};

/// A matrix and the input of a kernel. The result is linear in the input: with the opposite sign, it has the opposite
/// sign.
pub(super) struct Operands<'p> {
    pub(super) a: Arc<Csr>,
    /// x; X by rows; or b and then x before the sweep or the solve.
    pub(super) x: Arc<Vec<f64>>,
    /// Vectors in the input and in the result.
    pub(super) vectors: [usize; 2],
    pub(super) minimal_bytes: u64,
    pub(super) params: BTreeMap<String, String>,
    /// The system of a solve.
    pub(super) asked: Option<Asked<'p>>,
}

impl<'p> Operands<'p> {
    /// Those of a configuration of the problem.
    pub(super) fn of(
        problem: &'p dyn Problem,
        configuration: &Configuration,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        if let Some(problem) = problem.of::<SpmvProblem>() {
            let (a, x) = (Arc::clone(problem.a()), Arc::clone(problem.double().x()));
            let (minimal_bytes, params) = (a.minimal_bytes(), BTreeMap::new());
            return Ok(Self { a, x, vectors: [1; 2], minimal_bytes, params, asked: None });
        }
        if let Some(problem) = problem.of::<SpmmProblem>() {
            problem.check_blocks(configuration, memory)?;
            let (a, k) = (Arc::clone(problem.a()), SpmmProblem::vectors(configuration));
            let minimal_bytes = problem.double().minimal_bytes(a.minimal_bytes(), k);
            let params = BTreeMap::from([(VECTORS.id().name().to_owned(), k.to_string())]);
            let x = problem.double_block(k);
            return Ok(Self { a, x, vectors: [k; 2], minimal_bytes, params, asked: None });
        }
        if let Some(problem) = problem.of::<SymgsProblem>()
            && problem.double().sweeps() == 1
        {
            let side = problem.double();
            let a = Arc::clone(side.a());
            let mode = configuration.parameters.get(&MODE).as_str().to_owned();
            let params = BTreeMap::from([(MODE.id().name().to_owned(), mode)]);
            let minimal_bytes = side.minimal_bytes();
            let x = Arc::new([&side.b()[..], &side.start()[..]].concat());
            return Ok(Self { a, x, vectors: [2, 1], minimal_bytes, params, asked: None });
        }
        if let Some(problem) = problem.of::<SolveProblem>() {
            let (a, b) = (Arc::clone(problem.a()), problem.b(&configuration.parameters));
            let zero = || Arc::new(vec![0.0; a.rows()]);
            let start = problem.given().start.clone().unwrap_or_else(zero);
            let x = Arc::new([&b[..], &start[..]].concat());
            let params = problem.params(configuration);
            let asked = Some(Asked::new(problem, configuration.parameters.clone()));
            // Bytes moved depend on the iterations, so no minimum is given.
            return Ok(Self { a, x, vectors: [2, 1], minimal_bytes: 0, params, asked });
        }
        let sentence =
            "kernel libraries compute SpMV, SpMM, single symmetric sweeps and solves only";
        Err(PrepareError::Unsupported(sentence.to_owned()))
    }

    /// The tolerance and the maximum number of iterations of a solve; zeros without one.
    pub(super) fn goal(&self) -> (f64, u64) {
        let Some(asked) = &self.asked else { return (0.0, 0) };
        let how = asked.how(false, MemoryLimit::unlimited());
        (how.tol, how.max_iterations as u64)
    }

    /// What the library must not change, and what it must not write outside of, as messages name them.
    pub(super) fn names(&self) -> [&'static str; 2] {
        if self.asked.is_some() { ["b or x0", "x"] } else { ["x", "y"] }
    }
}
