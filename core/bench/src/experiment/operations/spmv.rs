//! y = A·x as a problem: the matrix and the vector, in each precision; or y = alpha·op(A)·x + beta·y. The transpose is
//! made in `spmv/transposed.rs`.

mod transposed;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use super::side::{Side, SpmvSide, too_large};
use crate::experiment::configuration::Configuration;
use crate::experiment::error::PrepareError;
use crate::experiment::output::Output;
use crate::experiment::predict::predict;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use crate::measure::{DEFAULT_SEED, integer_vector, uniform_vector};
use sparsescope_kernels::gate::{Reference, Unrounded, against_f64};
use sparsescope_kernels::spmv::transposed::most_bytes;
use sparsescope_matrix::matrix::{
    Csr, DEFAULT_SIGMA, FormatError, FormatSize, FormatSpec, Number, Precision, Real, ValueCoding,
    copied,
};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
use sparsescope_matrix::parallel::lock;
use sparsescope_model::kernel::parameters::{OP, SCALE};
use sparsescope_model::kernel::{DeviceKind, LANES, Op, Reads, Scale};
use sparsescope_record::{Check, Operation, Predicted, Verdict, Work};

/// y = A·x.
#[derive(Debug)]
pub struct SpmvProblem {
    a: Arc<Csr>,
    x: Arc<Vec<f64>>,
    /// The column of X that x is, for errors; `None` if it is a vector of its own.
    column: Option<usize>,
    /// Why kernels that multiply padding by x are refused, if they are.
    no_padding: Option<&'static str>,
    double: OnceLock<Arc<SpmvSide<f64>>>,
    /// Rounded to other precisions on first use; or the reason why rounding is impossible.
    rounded: Mutex<BTreeMap<Precision, Result<Side, String>>>,
    /// A and x in f32 although A·x does not fit f32, for kernels that read them for the product with the transpose.
    misfit: Mutex<Option<Arc<SpmvSide<f32>>>>,
    sizes: Mutex<BTreeMap<FormatSpec, Result<FormatSize, FormatError>>>,
    /// The seed of x, if it is drawn.
    seed: Option<u64>,
    /// y before the product, where beta is not 0; drawn on first use unless it is given.
    start: OnceLock<Arc<Vec<f64>>>,
    /// The product with the transpose of A, made on first use.
    transposed: OnceLock<Box<Transposed>>,
}

/// The product with the transpose of A: y = A'·x.
#[derive(Debug)]
struct Transposed {
    problem: SpmvProblem,
    /// Seconds of the transposition.
    seconds: f64,
}

impl SpmvProblem {
    /// Fails if the vectors that the problem keeps besides A need more than `limit`; called before the first
    /// of them is allocated. A one-line file may declare any number of columns.
    pub fn check_vectors(a: &Csr, limit: MemoryLimit) -> Result<(), MemoryError> {
        // x as given and as kernels read it, y, the reference sums and their bounds.
        let elements = 2 * a.cols() as u128 + 3 * a.rows() as u128;
        limit.check("SpMV with x, y and its check", 8 * elements)
    }

    /// Panics unless x has n elements.
    pub fn new(a: Arc<Csr>, x: Vec<f64>) -> Self {
        assert_eq!(x.len(), a.cols(), "x has one element a column");
        let is_finite = x.iter().all(|v| v.is_finite());
        let reason = "multiplies padding by x, which has an infinite or NaN element";
        let no_padding = (!is_finite).then_some(reason);
        let (double, rounded, sizes) = Default::default();
        let (misfit, start, transposed) = Default::default();
        // x is accessed at random.
        let x = Arc::new(copied(&x));
        let (column, seed) = (None, None);
        Self { a, x, column, no_padding, double, rounded, misfit, sizes, seed, start, transposed }
    }

    /// With the first column of X.
    pub(super) fn of_columns(a: Arc<Csr>, first: Vec<f64>) -> Self {
        Self { column: Some(0), ..Self::new(a, first) }
    }

    /// With an x of integers 1 to 5 drawn from a seed.
    pub fn drawn(a: Arc<Csr>, seed: u64) -> Self {
        let x = integer_vector(a.cols(), seed);
        Self { seed: Some(seed), ..Self::new(a, x) }
    }

    /// With this y before each product. Panics unless it has one element per row of op(A).
    pub fn starting_with(self, configuration: &Configuration, y: Vec<f64>) -> Self {
        let of = self.turned(configuration);
        assert_eq!(y.len(), of.a.rows(), "y has one element a row");
        of.start.get_or_init(|| Arc::new(y));
        self
    }

    /// With the x that results are checked for where any x may follow.
    pub fn of(a: &Arc<Csr>) -> Self {
        Self::drawn(Arc::clone(a), DEFAULT_SEED)
    }

    /// The same, where even an x that is not finite may follow.
    pub fn of_any(a: &Arc<Csr>) -> Self {
        let reason = "multiplies padding by x, which may have an infinite or NaN element";
        Self { no_padding: Some(reason), ..Self::of(a) }
    }

    /// y before each product, numbers from −1 to 1 unless they are given.
    pub fn start(&self) -> &Arc<Vec<f64>> {
        let seed = self.seed.unwrap_or(DEFAULT_SEED);
        self.start.get_or_init(|| Arc::new(uniform_vector(self.a.rows(), seed)))
    }

    /// A as it was read, m × n.
    pub fn a(&self) -> &Arc<Csr> {
        &self.a
    }

    /// SpMV in f64, with its reference computed on first use.
    pub fn double(&self) -> &Arc<SpmvSide<f64>> {
        let make = || Arc::new(SpmvSide::new(Arc::clone(&self.a), Arc::clone(&self.x)));
        self.double.get_or_init(make)
    }

    /// SpMV in f32; fails as [`side`](Self::side).
    pub fn single(&self, limit: MemoryLimit) -> Result<Arc<SpmvSide<f32>>, PrepareError> {
        let single = match self.side(Precision::F32, limit)? {
            Side::Single(single) => Some(single),
            Side::Double(_) => None,
        };
        Ok(single.expect("f32 has vectors in f32")) // invariant
    }

    /// SpMV in a precision, with A and x rounded on first use. Fails if a value is too large for it, or, before
    /// allocating, if the copies need more than `limit`.
    pub fn side(&self, precision: Precision, limit: MemoryLimit) -> Result<Side, PrepareError> {
        if precision == Precision::F64 {
            return Ok(Side::Double(Arc::clone(self.double())));
        }
        let mut rounded = lock(&self.rounded);
        if !rounded.contains_key(&precision) {
            let bytes = self.rounded_bytes(precision).into();
            let checked = limit.check(copies(precision), bytes);
            checked.map_err(|error| PrepareError::Refused(error.to_string()))?;
        }
        let x = (&self.x, self.column);
        let made = rounded.entry(precision).or_insert_with(|| Side::rounded(&self.a, x, precision));
        made.clone().map_err(PrepareError::Refused)
    }

    /// Bytes of A in CSR and x in a precision other than f64. Values in fewer bits are kept in the format of the
    /// vectors; x exists in f64.
    fn rounded_bytes(&self, precision: Precision) -> u64 {
        let (values, bytes) = (self.a.nnz() as u64, precision.vectors().bytes());
        let x = if precision.in_f64() { 0 } else { self.x.len() as u64 * bytes };
        self.a.bytes() - values * (Number::F64.bytes() - bytes) + x
    }

    /// The format that a configuration reads; CSR for kernels that read no matrix. Values in fewer bits than vectors
    /// have codes only if they are requested.
    pub fn spec(configuration: &Configuration) -> FormatSpec {
        let mut params = configuration.parameters.format();
        if configuration.kernel.takes.order && params.sigma <= 1 {
            params.sigma = DEFAULT_SIGMA;
        }
        let precision = configuration.precision;
        if precision.values() != precision.vectors() && params.values == ValueCoding::Auto {
            params.values = ValueCoding::Plain;
        }
        configuration.kernel.format().map_or(FormatSpec::Csr, |format| format.with(&params))
    }

    /// The same, preceded by A and x in another precision where needed.
    fn with_copies(
        &self,
        mut arrays: Vec<Resident>,
        precision: Precision,
        memory: MemoryLimit,
    ) -> Vec<Resident> {
        if precision != Precision::F64 {
            let bytes = self.rounded_bytes(precision);
            let bytes = if bytes <= memory.get() { bytes } else { 0 };
            arrays.insert(0, Resident { name: copies(precision), bytes });
        }
        arrays
    }
}

impl Problem for SpmvProblem {
    fn operation(&self) -> Operation {
        Operation::Spmv
    }

    fn is_empty(&self) -> bool {
        self.a.nnz() == 0
    }

    fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        if configuration.parameters.get(&OP) == Op::Transposed {
            if self.check_transposed(configuration, memory).is_err() {
                return Vec::new();
            }
            let turned = self.turned(configuration);
            let mut arrays = turned.arrays(configuration, memory);
            arrays.extend(turned.results(configuration, memory));
            arrays.iter_mut().for_each(|array| array.name += ", transposed");
            let bytes = turned.a.bytes();
            arrays.push(Resident { name: "the transpose of A".to_owned(), bytes });
            let kernel = configuration.kernel;
            if kernel.reads_a_for_transpose() && kernel.library().is_none() {
                let value_bytes = configuration.precision.vectors().bytes() as usize;
                let bytes = most_bytes(&self.a, configuration.threads as usize, value_bytes);
                let bytes = bytes.min(memory.get().into()) as u64;
                arrays.push(Resident::own("plan", configuration, bytes));
            }
            // A library transposes A itself, and a GPU makes the transpose of A.
            let reads_a = kernel.device == DeviceKind::Cuda
                || kernel.library().is_some()
                || kernel.reads_a_for_transpose();
            return match reads_a {
                true => self.with_copies(arrays, configuration.precision, memory),
                false => arrays,
            };
        }
        let mut arrays = self.arrays(configuration, memory);
        arrays.extend(self.results(configuration, memory));
        arrays
    }

    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        let of = self.turned(configuration);
        // It exists, because the result was computed with it.
        match (of.side(configuration.precision, MemoryLimit::unlimited()).ok()?, output) {
            (Side::Double(side), Output::Vector(y)) => Some(of.check_in(&side, configuration, y)),
            (Side::Single(side), Output::Single(y)) => Some(of.check_in(&side, configuration, y)),
            _ => None,
        }
    }

    fn work(&self, _: &Output) -> Work {
        Work { flops: 2 * self.a.nnz() as u64, ..Work::default() }
    }

    fn predict(
        &self,
        configuration: &Configuration,
        memory: MemoryLimit,
        cancel: &AtomicBool,
    ) -> Option<Predicted> {
        let of = self.turned(configuration);
        match of.side(configuration.precision, memory).ok()? {
            Side::Double(side) => predict_in(&side, configuration, memory, cancel),
            Side::Single(side) => predict_in(&side, configuration, memory, cancel),
        }
    }

    fn release(&self) {
        if let Some(double) = self.double.get() {
            double.release();
        }
        // A rejection takes no memory, so its result can be kept.
        lock(&self.rounded).retain(|_, made| made.is_err());
        *lock(&self.misfit) = None;
        if let Some(transposed) = self.transposed.get() {
            transposed.problem.release();
        }
    }

    /// alpha and beta must fit the precision. Kernels that multiply padding by x need an x that is finite. The transpose
    /// of a matrix that is not square needs an x of its own.
    fn refusal(&self, configuration: &Configuration) -> Option<String> {
        let vectors = configuration.precision.vectors();
        let Scale { alpha, beta } = configuration.parameters.get(&SCALE);
        let is_beyond = |factor: &f64| !vectors.rounded(*factor).is_finite();
        if let Some(factor) = [alpha, beta].into_iter().find(is_beyond) {
            return Some(format!("the scale has {factor:e}, {}", too_large(vectors)));
        }
        let [rows, cols] = [self.a.rows(), self.a.cols()];
        let is_transposed = configuration.parameters.get(&OP) == Op::Transposed;
        let has_x = self.seed.is_some() || rows == cols || self.transposed.get().is_some();
        if is_transposed && !has_x {
            return Some(format!("the transpose needs an x of {rows} elements, found {cols}"));
        }
        let made = self.transposed.get().filter(|_| is_transposed);
        let of = made.map_or(self, |transposed| &transposed.problem);
        let reason = of.no_padding.filter(|_| configuration.kernel.needs.finite_x)?;
        Some(reason.to_owned())
    }
}

impl SpmvProblem {
    /// Checks a result in the precision of a side; without alpha and beta, also against the result in f64.
    fn check_in<T: Real>(
        &self,
        side: &SpmvSide<T>,
        configuration: &Configuration,
        y: &[T],
    ) -> Check {
        let (scale, precision) = (configuration.parameters.get(&SCALE), configuration.precision);
        if scale == Scale::NONE {
            let check = side.reference().check(y);
            if precision == Precision::F64 || check.verdict != Verdict::Pass {
                return check;
            }
            let unrounded = side.unrounded(|| Unrounded::new(&self.a, &self.x, precision));
            return against_f64(check, std::slice::from_ref(unrounded), 1, y);
        }
        let before: Vec<T> = self.start().iter().copied().map(T::rounded).collect();
        let factors = (T::rounded(scale.alpha), T::rounded(scale.beta));
        Reference::scaled(side.a(), side.x(), factors, &before).check(y)
    }

    /// What results of SpMV in fewer bits than f64 are compared with: the reference and the result in f64, each with
    /// the bound of each element. With a scale it is a reference of its own, besides the previous y and its copies.
    fn results(&self, configuration: &Configuration, memory: MemoryLimit) -> Option<Resident> {
        let Configuration { precision, kernel, .. } = *configuration;
        let is_plain = configuration.parameters.get(&SCALE) == Scale::NONE;
        if precision == Precision::F64 && is_plain || kernel.operation != Operation::Spmv {
            return None;
        }
        let bytes = 32 * self.a.rows() as u64;
        let bytes = if bytes <= memory.get() { bytes } else { 0 };
        let precision = precision.as_str();
        let name = match is_plain {
            true => format!("y in f64, to check {precision}"),
            false => format!("previous y and the reference of a scale in {precision}"),
        };
        Some(Resident { name, bytes })
    }

    /// The arrays of a configuration with this A.
    fn arrays(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        let (spec, precision) = (Self::spec(configuration), configuration.precision);
        if configuration.kernel.reads == Reads::Chosen {
            // Two formats at a time, each barely larger than 1.5 times CSR.
            let bytes = self.a.bytes().saturating_mul(3).min(memory.get());
            let name = format!("formats tried in {}", precision.as_str());
            return self.with_copies(vec![Resident { name, bytes }], precision, memory);
        }
        if configuration.kernel.is_of_user_library() {
            return vec![Resident::shared(configuration, &self.a, memory)];
        }
        let mut sizes = lock(&self.sizes);
        // Counting slots passes over the whole matrix: do it once per format, not once per configuration.
        let size = sizes.entry(spec).or_insert_with(|| spec.size(&self.a));
        let bytes = match size {
            // Each slot holds one value. CSR exists already, and a rejected format takes no memory.
            Ok(size) if spec != FormatSpec::Csr => {
                let narrower = match spec {
                    // The number of distinct values is unknown in f32; it is at most the same.
                    FormatSpec::CsrCompact(_) | FormatSpec::HllCompact(..) => 0,
                    _ => Number::F64.bytes() - precision.vectors().bytes(),
                };
                let bytes = size.bytes - size.slots.saturating_mul(narrower).min(size.bytes);
                if bytes <= memory.get() { bytes } else { 0 }
            }
            _ => 0,
        };
        let format = Resident { name: format!("{spec} in {}", precision.as_str()), bytes };
        self.with_copies(vec![format], precision, memory)
    }
}

/// What the copies of A and x in a precision are called.
fn copies(precision: Precision) -> String {
    format!("A and x in {}", precision.as_str())
}

fn predict_in<T: Real>(
    side: &SpmvSide<T>,
    configuration: &Configuration,
    memory: MemoryLimit,
    cancel: &AtomicBool,
) -> Option<Predicted> {
    let kernel = configuration.kernel;
    kernel.model?;
    let workers = match kernel.device {
        DeviceKind::Cpu | DeviceKind::Ranks => configuration.threads,
        // Kernels with a fixed block size ignore it.
        DeviceKind::Cuda | DeviceKind::Nccl | DeviceKind::Wgpu => {
            configuration.block.unwrap_or(LANES as u32)
        }
    };
    // The format exists because it was measured, unless it was built on a GPU.
    let made = side.format(SpmvProblem::spec(configuration), memory).ok()?;
    let value_bytes = configuration.precision.values().bytes() as u32;
    predict(kernel, (&made.matrix, value_bytes), workers, cancel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::examples;
    use sparsescope_model::kernel::parameters::VALUES;
    use sparsescope_model::kernel::{KernelDescriptor, Mapping, Origin, Parameters, kernel};

    fn problem() -> SpmvProblem {
        SpmvProblem::new(Arc::new(examples::five_by_five()), vec![1.0; 5])
    }

    fn in_f32(id: &str) -> Configuration {
        Configuration { precision: Precision::F32, ..Configuration::usual(kernel(id).unwrap()) }
    }

    #[test]
    fn rounded_copies_are_there_from_when_f32_is_asked_for_until_they_are_released() {
        let problem = problem();
        let has_copies = || !lock(&problem.rounded).is_empty();
        let f64_only = Configuration::usual(kernel("cpu/ell/serial").unwrap());
        problem.double().format(SpmvProblem::spec(&f64_only), MemoryLimit::unlimited()).unwrap();
        problem.resident(&f64_only, MemoryLimit::unlimited());
        assert!(!has_copies());
        problem.single(MemoryLimit::unlimited()).unwrap();
        assert!(has_copies());
        problem.release();
        assert!(!has_copies());
        // Ten nonzeros of 8 bytes, six row offsets and five elements of x of 4 bytes.
        let refused = problem.single(MemoryLimit::bytes(123)).unwrap_err();
        assert!(refused.to_string().starts_with("A and x in f32 needs 124 bytes"), "{refused}");
        assert!(!has_copies());
    }

    #[test]
    fn what_is_said_to_be_resident_are_the_bytes_of_the_copies_and_of_the_format() {
        let (problem, memory) = (problem(), MemoryLimit::unlimited());
        let side = problem.single(memory).unwrap();
        for id in ["cpu/csr/serial", "cpu/coo/serial", "cpu/ell/serial", "cpu/hll/serial"] {
            let configuration = in_f32(id);
            let spec = SpmvProblem::spec(&configuration);
            let format = match spec {
                FormatSpec::Csr => 0,
                _ => side.format(spec, memory).unwrap().matrix.bytes(),
            };
            let resident = problem.resident(&configuration, memory);
            let bytes: Vec<u64> = resident.iter().map(|array| array.bytes).collect();
            // Two numbers of 8 bytes per row for each of the two y that results are compared with.
            assert_eq!(bytes, [side.a().bytes() + 4 * 5, format, 32 * 5], "{id}");
        }
        // In f64 only a scale needs more than the vectors.
        let bytes = |scale: &str| -> Vec<u64> {
            let parameters = Parameters::default().with(SCALE.id(), scale);
            let csr = Configuration::usual(kernel("cpu/csr/serial").unwrap());
            let resident = problem.resident(&Configuration { parameters, ..csr }, memory);
            resident.iter().map(|array| array.bytes).collect()
        };
        assert_eq!((bytes("1"), bytes("2:1")), (vec![0], vec![0, 32 * 5]));
    }

    #[test]
    fn a_library_shares_a_copy_of_the_matrix() {
        let library = KernelDescriptor {
            id: "user/mine/rows",
            origin: &[Origin::User],
            mapping: Mapping::Library,
            ..*kernel("cpu/csr/serial").unwrap()
        };
        let configuration = Configuration::usual(Box::leak(Box::new(library)));
        let bytes = |memory: MemoryLimit| -> Vec<u64> {
            let resident = problem().resident(&configuration, memory);
            resident.iter().map(|array| array.bytes).collect()
        };
        // Ten nonzeros of 12 bytes, and six row offsets of 4.
        assert_eq!(bytes(MemoryLimit::unlimited()), [144]);
        assert_eq!(bytes(MemoryLimit::bytes(143)), [0], "it is refused");
    }

    #[test]
    fn where_any_x_may_follow_no_kernel_multiplies_padding_by_it() {
        let a = Arc::new(examples::five_by_five());
        let (padded, csr) = (kernel("cpu/ell/serial").unwrap(), kernel("cpu/csr/serial").unwrap());
        let refused = |problem: SpmvProblem, kernel| problem.refusal(&Configuration::usual(kernel));
        let reason = "multiplies padding by x, which may have an infinite or NaN element";
        assert_eq!(refused(SpmvProblem::of_any(&a), padded).as_deref(), Some(reason));
        assert_eq!(refused(SpmvProblem::of_any(&a), csr), None);
        assert_eq!(refused(SpmvProblem::of(&a), padded), None);
    }

    /// The rounding of a stored value.
    type Stored<'a> = &'a dyn Fn(f64) -> f64;

    /// A in which half of the values lie between two of bfloat16, x of ones, and what SpMV gives in each precision.
    fn between() -> (SpmvProblem, impl Fn(Precision, Stored<'_>) -> Output) {
        let entries: Vec<_> = (0..60).map(|k| (k % 6, k / 6, 1.0 + 0.0037 * k as f64)).collect();
        let a = Arc::new(Csr::from_triplets(6, 10, &entries).unwrap());
        let problem = SpmvProblem::new(Arc::clone(&a), vec![1.0; 10]);
        let product = move |precision: Precision, stored: Stored<'_>| {
            let sums = (0..6).map(|i| a.row(i).1.iter().map(|&value| stored(value)).sum::<f64>());
            match precision.in_f64() {
                true => Output::Vector(sums.collect()),
                false => Output::Single(sums.map(|sum| sum as f32).collect()),
            }
        };
        (problem, product)
    }

    fn csr_in(precision: Precision) -> Configuration {
        let kernel = kernel("cuda/csr/warp-shuffle").unwrap();
        Configuration { precision, ..Configuration::usual(kernel) }
    }

    #[test]
    fn a_result_in_fewer_bits_has_its_error_against_f64_within_what_rounding_explains() {
        let (problem, product) = between();
        for precision in Precision::ALL {
            let rounded = product(precision, &|value| precision.values().rounded(value));
            let check = problem.check(&csr_in(precision), &rounded);
            assert_eq!(check.verdict, Verdict::Pass, "{precision:?} {:?}", check.reason);
            assert_eq!(check.rounding.is_some(), precision != Precision::F64);
            let Some(found) = check.rounding else { continue };
            let unit = precision.values().unit_roundoff();
            assert!(
                found.norm > unit / 100.0 && found.norm <= found.bound,
                "{precision:?} {found:?}"
            );
            assert!(
                found.max <= found.bound && found.bound < 30.0 * unit,
                "{precision:?} {found:?}"
            );
        }
    }

    #[test]
    fn values_that_are_cut_off_kept_or_of_another_format_are_wrong() {
        let (problem, product) = between();
        let truncated =
            |value: f64| f64::from(f32::from_bits((value as f32).to_bits() & 0xffff_0000));
        let verdict = |precision: Precision, stored: Stored<'_>| {
            problem.check(&csr_in(precision), &product(precision, stored)).verdict
        };
        assert_eq!(verdict(Precision::Bf16F32, &truncated), Verdict::Fail, "rounded to zero");
        for precision in [Precision::F32F64, Precision::Bf16F32, Precision::F16F32] {
            let stored = |value: f64| value;
            assert_eq!(verdict(precision, &stored), Verdict::Fail, "{precision:?}: not rounded");
            for other in [Number::F32, Number::Bf16, Number::F16] {
                let is_right = other == precision.values();
                let expected = if is_right { Verdict::Pass } else { Verdict::Fail };
                let found = verdict(precision, &|value| other.rounded(value));
                assert_eq!(found, expected, "{precision:?} {other:?}");
            }
        }
    }

    #[test]
    fn copies_in_fewer_bits_take_the_bytes_of_the_vectors_format() {
        let (problem, memory) = (problem(), MemoryLimit::unlimited());
        for (precision, bytes) in
            [(Precision::F32F64, 144), (Precision::Bf16F32, 124), (Precision::F16F32, 124)]
        {
            let resident = problem.resident(&csr_in(precision), memory);
            let copies = format!("A and x in {}", precision.as_str());
            assert_eq!((&resident[0].name, resident[0].bytes), (&copies, bytes));
        }
    }

    #[test]
    fn values_in_fewer_bits_have_codes_only_if_they_are_requested() {
        let coding = |precision: Precision, parameters: Parameters| {
            let usual = Configuration::usual(kernel("cuda/hll/compact").unwrap());
            let spec = SpmvProblem::spec(&Configuration { precision, parameters, ..usual });
            let FormatSpec::HllCompact(_, coding) = spec else { panic!("{spec}") };
            coding
        };
        let requested = Parameters::default().with(VALUES.id(), "8");
        for precision in Precision::ALL {
            let is_uniform = Precision::UNIFORM.contains(&precision);
            let usual = if is_uniform { ValueCoding::Auto } else { ValueCoding::Plain };
            assert_eq!(coding(precision, Parameters::default()), usual, "{precision:?}");
            assert_eq!(coding(precision, requested.clone()), ValueCoding::Byte, "{precision:?}");
        }
    }

    #[test]
    fn a_result_in_the_other_precision_is_no_result() {
        let (problem, configuration) = (problem(), in_f32("cpu/csr/serial"));
        let y = problem.double().reference().y().to_vec();
        let single = y.iter().map(|&y| y as f32).collect();
        let check = problem.compare(&configuration, &Output::Single(single)).unwrap();
        assert_eq!(check.verdict, Verdict::Pass);
        assert_eq!(problem.compare(&configuration, &Output::Vector(y)), None);
    }
}
