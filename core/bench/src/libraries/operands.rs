//! What a library gets besides the matrix, for each operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::experiment::{
    Configuration, PrepareError, Problem, SpmmProblem, SpmvProblem, SymgsProblem,
};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::parameters::{MODE, VECTORS};

/// A matrix and the input of a kernel. The result is linear in the input: with the opposite sign, it has the opposite
/// sign.
pub(super) struct Operands {
    pub(super) a: Arc<Csr>,
    /// x; X by rows; or b and then x before the sweep.
    pub(super) x: Arc<Vec<f64>>,
    /// Vectors in the input and in the result.
    pub(super) vectors: [usize; 2],
    pub(super) minimal_bytes: u64,
    pub(super) params: BTreeMap<String, String>,
}

impl Operands {
    /// Those of a configuration of the problem.
    pub(super) fn of(
        problem: &dyn Problem,
        configuration: &Configuration,
        memory: MemoryLimit,
    ) -> Result<Self, PrepareError> {
        if let Some(problem) = problem.of::<SpmvProblem>() {
            let (a, x) = (Arc::clone(problem.a()), Arc::clone(problem.double().x()));
            let (minimal_bytes, params) = (a.minimal_bytes(), BTreeMap::new());
            return Ok(Self { a, x, vectors: [1; 2], minimal_bytes, params });
        }
        if let Some(problem) = problem.of::<SpmmProblem>() {
            problem.check_blocks(configuration, memory)?;
            let (a, k) = (Arc::clone(problem.a()), SpmmProblem::vectors(configuration));
            let minimal_bytes = problem.double().minimal_bytes(a.minimal_bytes(), k);
            let params = BTreeMap::from([(VECTORS.id().name().to_owned(), k.to_string())]);
            let x = problem.double_block(k);
            return Ok(Self { a, x, vectors: [k; 2], minimal_bytes, params });
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
            return Ok(Self { a, x, vectors: [2, 1], minimal_bytes, params });
        }
        let sentence = "kernel libraries compute SpMV, SpMM and single symmetric sweeps only";
        Err(PrepareError::Unsupported(sentence.to_owned()))
    }
}
