//! The product with the transpose of A, which is made for it.

use std::sync::Arc;

use super::{SpmvProblem, SpmvSide, Transposed, copies};
use crate::experiment::configuration::Configuration;
use crate::experiment::error::PrepareError;
use crate::measure::{DEFAULT_SEED, integer_vector};
use sparsescope_matrix::matrix::{Csr, Precision, Real};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::parallel::lock;
use sparsescope_model::kernel::Op;
use sparsescope_model::kernel::parameters::OP;
use web_time::Instant;

impl SpmvProblem {
    /// With this x for the product with the transpose of A. Panics unless x has m elements.
    pub fn with_transposed(a: Arc<Csr>, x: Vec<f64>) -> Self {
        let problem = Self::drawn(a, DEFAULT_SEED);
        problem.transposed.get_or_init(|| problem.transposed_by(x));
        problem
    }

    /// The problem with the transpose of A and this x.
    fn transposed_by(&self, x: Vec<f64>) -> Box<Transposed> {
        let start = Instant::now();
        let a = Arc::new(self.a.transpose());
        let seconds = start.elapsed().as_secs_f64();
        Box::new(Transposed { problem: Self { seed: self.seed, ..Self::new(a, x) }, seconds })
    }

    /// The product with A, or with its transpose if a configuration requests it: x is the same if A is square, and
    /// otherwise drawn from the same seed.
    pub fn turned(&self, configuration: &Configuration) -> &Self {
        match configuration.parameters.get(&OP) {
            Op::AsIs => self,
            Op::Transposed => {
                let (rows, seed) = (self.a.rows(), self.seed.unwrap_or(DEFAULT_SEED));
                let is_square = rows == self.a.cols();
                let x = || if is_square { self.x.to_vec() } else { integer_vector(rows, seed) };
                &self.transposed.get_or_init(|| self.transposed_by(x())).problem
            }
        }
    }

    /// Fails if a configuration needs the transpose of A, and that needs more than `limit`.
    pub fn check_transposed(
        &self,
        configuration: &Configuration,
        limit: MemoryLimit,
    ) -> Result<(), PrepareError> {
        let bytes = match configuration.parameters.get(&OP) {
            Op::Transposed if self.transposed.get().is_none() => self.a.transpose_bytes(),
            _ => 0,
        };
        let checked = limit.check("the transpose of A", bytes);
        checked.map_err(|error| PrepareError::Refused(error.to_string()))
    }

    /// A in f32 for a kernel that multiplies by its transpose, which fits f32 with its own x; A·x need not. Rounded on
    /// first use. Fails if the copies need more than `limit`.
    pub fn single_for_transpose(
        &self,
        limit: MemoryLimit,
    ) -> Result<Arc<SpmvSide<f32>>, PrepareError> {
        self.single(limit).or_else(|_| {
            let mut misfit = lock(&self.misfit);
            if let Some(made) = &*misfit {
                return Ok(Arc::clone(made));
            }
            let bytes = self.rounded_bytes(Precision::F32).into();
            let checked = limit.check(copies(Precision::F32), bytes);
            checked.map_err(|error| PrepareError::Refused(error.to_string()))?;
            let x = self.x.iter().copied().map(f32::rounded).collect();
            let made = Arc::new(SpmvSide::new(Arc::new(self.a.map(f32::rounded)), Arc::new(x)));
            Ok(Arc::clone(misfit.insert(made)))
        })
    }

    /// Seconds that a configuration's transposition took; 0 without one.
    pub fn transposition_s(&self, configuration: &Configuration) -> f64 {
        match (configuration.parameters.get(&OP), self.transposed.get()) {
            (Op::Transposed, Some(transposed)) => transposed.seconds,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::output::Output;
    use crate::experiment::problem::Problem;
    use sparsescope_matrix::matrix::{FormatSpec, Precision, examples};
    use sparsescope_model::kernel::parameters::SCALE;
    use sparsescope_model::kernel::{Parameters, kernel};
    use sparsescope_record::Verdict;

    fn square() -> SpmvProblem {
        SpmvProblem::new(Arc::new(examples::five_by_five()), vec![1.0; 5])
    }

    /// 2 × 3, so that A' has an x of 2 elements.
    fn wide() -> Arc<Csr> {
        let entries = [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)];
        Arc::new(Csr::from_triplets(2, 3, &entries).unwrap())
    }

    fn computing(id: &str, op: &str, scale: &str) -> Configuration {
        let parameters = Parameters::default().with(OP.id(), op).with(SCALE.id(), scale);
        Configuration { parameters, ..Configuration::usual(kernel(id).unwrap()) }
    }

    #[test]
    fn what_is_requested_of_a_and_y_decides_the_expected_result() {
        let problem = SpmvProblem::with_transposed(wide(), vec![10.0, 20.0]);
        let scaled = computing("cpu/csr/serial", "t", "2:0.5");
        let problem = problem.starting_with(&scaled, vec![2.0, 4.0, 6.0]);
        let verdict = |configuration: &Configuration, y: &[f64]| {
            problem.check(configuration, &Output::Vector(y.to_vec())).verdict
        };
        let transposed = computing("cpu/csr/serial", "t", "1");
        assert_eq!(verdict(&transposed, &[10.0, 60.0, 20.0]), Verdict::Pass);
        assert_eq!(verdict(&scaled, &[21.0, 122.0, 43.0]), Verdict::Pass);
        assert_eq!(verdict(&scaled, &[21.0, 122.0, 42.0]), Verdict::Fail);
        let reason = "the result has 2 rows, expected 3";
        let check = problem.check(&transposed, &Output::Vector(vec![0.0; 2]));
        assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Fail, Some(reason)));
    }

    #[test]
    fn a_scale_that_is_infinite_in_the_precision_of_the_vectors_is_refused() {
        let problem = square();
        let refusal = |scale: &str, precision: Precision| {
            let configuration = computing("cpu/csr/serial", "n", scale);
            problem.refusal(&Configuration { precision, ..configuration })
        };
        let alpha = refusal("1e39", Precision::F32);
        assert_eq!(alpha.as_deref(), Some("the scale has 1e39, too large for f32"));
        let beta = refusal("1:-1e39", Precision::Bf16F32);
        assert_eq!(beta.as_deref(), Some("the scale has -1e39, too large for f32"));
        assert_eq!(refusal("1e38:-3e38", Precision::F32), None);
        assert_eq!([Precision::F64, Precision::F32F64].map(|p| refusal("1e39", p)), [None, None]);
    }

    #[test]
    fn the_x_of_the_transpose_is_drawn_from_the_seed_or_that_of_a_square_matrix() {
        let transposed = computing("cpu/csr/rows", "t", "1");
        let drawn = SpmvProblem::drawn(wide(), 7);
        assert_eq!(**drawn.turned(&transposed).double().x(), integer_vector(2, 7));
        let given = SpmvProblem::new(wide(), vec![1.0; 3]);
        let reason = "the transpose needs an x of 2 elements, found 3";
        assert_eq!(given.refusal(&transposed).as_deref(), Some(reason));
        let square = square();
        assert_eq!(square.refusal(&transposed), None);
        assert_eq!(square.turned(&transposed).double().x(), square.double().x());
        let resident = square.resident(&transposed, MemoryLimit::unlimited());
        let names: Vec<&str> = resident.iter().map(|array| array.name.as_str()).collect();
        let format = format!("{} in f64, transposed", FormatSpec::Csr);
        assert_eq!(names, [format.as_str(), "the transpose of A"]);
        // These read A, the check its transpose.
        for id in ["vendor/mkl/csr", "cpu/csr/transposed"] {
            let single = Configuration { precision: Precision::F32, ..computing(id, "t", "1") };
            let resident = square.resident(&single, MemoryLimit::unlimited());
            let copies = ["A and x in f32", "A and x in f32, transposed"];
            assert!(resident.iter().take(2).map(|array| array.name.as_str()).eq(copies), "{id}");
        }
    }

    #[test]
    fn a_is_rounded_once_for_its_transpose_even_if_its_own_product_does_not_fit() {
        let entries = [0, 1, 2].map(|j| (0, j, 3e38));
        let a = Arc::new(Csr::from_triplets(1, 3, &entries).unwrap());
        let problem = SpmvProblem::with_transposed(a, vec![1.0]);
        assert!(problem.single(MemoryLimit::unlimited()).is_err());
        let rounded = || problem.single_for_transpose(MemoryLimit::unlimited()).unwrap();
        let side = rounded();
        assert_eq!(side.a().val(), [3e38_f32; 3]);
        assert!(Arc::ptr_eq(&side, &rounded()));
        problem.release();
        assert_eq!(Arc::strong_count(&side), 1, "the problem keeps no copy");
        assert!(problem.single_for_transpose(MemoryLimit::bytes(10)).is_err());
    }

    #[test]
    fn the_plan_of_the_kernel_that_reads_a_is_counted_once_per_number_of_threads() {
        let plan = |threads: u32, memory: u64| {
            let usual = computing("cpu/csr/transposed", "t", "1");
            let configuration = Configuration { threads, ..usual };
            let resident = square().resident(&configuration, MemoryLimit::bytes(memory));
            resident.into_iter().find(|array| array.name.starts_with("plan of")).unwrap().bytes
        };
        // Each further thread has sums of five columns in two pairs of lines; ten pieces need less.
        let found = [1, 2, 4].map(|threads| plan(threads, 1 << 20));
        assert_eq!(found, [0, 2 * 128, 3 * 2 * 128]);
        assert_eq!(plan(4, 300), 300, "no plan takes more than the memory");
    }

    #[test]
    fn a_transpose_that_does_not_fit_is_refused_with_its_bytes() {
        let transposed = computing("cpu/csr/rows", "t", "1");
        // 12 bytes per nonzero, and 16 per column and one more.
        let problem = SpmvProblem::drawn(wide(), 7);
        let memory = MemoryLimit::bytes(12 * 3 + 16 * 4 - 1);
        let refused = problem.check_transposed(&transposed, memory).unwrap_err().to_string();
        assert!(refused.starts_with("the transpose of A needs 100 bytes"), "{refused}");
        assert_eq!(problem.resident(&transposed, memory), []);
        assert!(problem.transposed.get().is_none(), "it is not made to be counted");
        let resident = problem.resident(&transposed, MemoryLimit::bytes(100));
        // The transpose has four row offsets of 4 bytes.
        assert_eq!(resident.last().map(|array| array.bytes), Some(12 * 3 + 4 * 4));
    }
}
