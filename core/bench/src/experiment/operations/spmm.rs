//! Y = A·X as a problem: the matrix and the columns of X, in each precision.

mod references;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use self::references::{ColumnReferences, Operands};
use super::side::{Side, SpmvSide, check_fit, fits_with, in_order};
use super::spmv::SpmvProblem;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::PrepareError;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::resident::Resident;
use crate::measure::integer_range;
use sparsescope_matrix::matrix::{Csr, Order, Precision, Real, copied, transposing_bytes};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_matrix::parallel::*;
use sparsescope_model::kernel::order_of_vectors;
use sparsescope_model::kernel::parameters::VECTORS;
use sparsescope_record::{Check, Operation, Work};

/// Y = A·X for any number of columns of X. X and results are stored by rows; a kernel that takes X by columns gets a
/// copy.
#[derive(Debug)]
pub struct SpmmProblem {
    /// A, its formats and its copy in f32, with the first column of X.
    product: SpmvProblem,
    columns: Columns,
    double: Mutex<Found<f64>>,
    single: Mutex<Found<f32>>,
    /// The first columns of X that are known to fit f32.
    fitting: Mutex<usize>,
}

/// A with its formats, and X of the columns of a configuration, in the precision of vectors and the kernel's order.
#[derive(Debug)]
pub enum SpmmSide {
    /// In f64.
    Double(Arc<SpmvSide<f64>>, Arc<Vec<f64>>),
    /// In f32.
    Single(Arc<SpmvSide<f32>>, Arc<Vec<f32>>),
}

/// Where the columns of X come from.
#[derive(Debug)]
enum Columns {
    /// Integers 1 to 5: column j from the seed plus j, so that the first is the x of SpMV, and the columns of a narrow
    /// X are the first of a wide one.
    Drawn(u64),
    /// This many, stored by rows; X of all columns in f64 is these.
    Given(usize, Arc<Vec<f64>>),
}

/// What was computed for columns of X in one format of vectors.
#[derive(Debug, Default)]
struct Found<T> {
    /// X by its number of columns.
    blocks: BTreeMap<usize, Arc<Vec<T>>>,
    /// What results are checked with, in each precision.
    references: BTreeMap<Precision, ColumnReferences>,
}

impl<T: Real> Found<T> {
    /// X of k columns, made on first use.
    fn block(&mut self, k: usize, make: impl FnOnce() -> Vec<T>) -> Arc<Vec<T>> {
        Arc::clone(self.blocks.entry(k).or_insert_with(|| Arc::new(make())))
    }
}

impl SpmmProblem {
    /// With columns of X drawn from a seed.
    pub fn drawn(a: Arc<Csr>, seed: u64) -> Self {
        Self::with(a, Columns::Drawn(seed))
    }

    /// With this X of k columns, stored by rows. Panics unless k is at least 1 and X has n·k elements.
    pub fn given(a: Arc<Csr>, k: usize, x: Vec<f64>) -> Self {
        assert!(k > 0 && x.len() == k * a.cols(), "X has k elements per column of A");
        // Its rows are accessed at random.
        Self::with(a, Columns::Given(k, Arc::new(copied(&x))))
    }

    fn with(a: Arc<Csr>, columns: Columns) -> Self {
        let first = columns.part(0..a.cols(), 0);
        let double = Mutex::new(columns.found());
        let (single, fitting) = Default::default();
        Self { product: SpmvProblem::of_columns(a, first), columns, double, single, fitting }
    }

    /// A as it was read, m × n.
    pub fn a(&self) -> &Arc<Csr> {
        self.product.a()
    }

    /// The number of columns of X that a configuration requests.
    pub fn vectors(configuration: &Configuration) -> usize {
        configuration.parameters.get(&VECTORS) as usize
    }

    /// A and its formats in f64.
    pub fn double(&self) -> &Arc<SpmvSide<f64>> {
        self.product.double()
    }

    /// A and its formats in f32; fails as [`SpmvProblem::single`].
    pub fn single(&self, limit: MemoryLimit) -> Result<Arc<SpmvSide<f32>>, PrepareError> {
        self.product.single(limit)
    }

    /// What a configuration multiplies, made on first use; X by columns is made each time. Fails if a value is too
    /// large for its precision, or if it needs more than `limit`.
    pub fn side(
        &self,
        configuration: &Configuration,
        limit: MemoryLimit,
    ) -> Result<SpmmSide, PrepareError> {
        self.check_blocks(configuration, limit)?;
        let (k, order) = (Self::vectors(configuration), order_of_vectors(configuration.kernel));
        Ok(match self.product.side(configuration.precision, limit)? {
            Side::Double(side) => SpmmSide::Double(side, in_order(order, self.double_block(k), k)),
            Side::Single(side) => SpmmSide::Single(side, in_order(order, self.single_block(k)?, k)),
        })
    }

    /// X of k columns in f64, made on first use.
    pub fn double_block(&self, k: usize) -> Arc<Vec<f64>> {
        lock(&self.double).block(k, || self.block(k))
    }

    /// X of k columns in f32, rounded on first use. Fails if a value, or the sum of a row's terms, is too large for
    /// f32.
    pub fn single_block(&self, k: usize) -> Result<Arc<Vec<f32>>, PrepareError> {
        let mut fitting = lock(&self.fitting);
        if *fitting < k && fits_with(self.a(), self.columns.largest(k), Precision::F32) {
            *fitting = k;
        }
        for j in *fitting..k {
            let column = self.column(j);
            let checked = check_fit(self.a(), (&column, Some(j)), Precision::F32);
            checked.map_err(PrepareError::Refused)?;
            *fitting = j + 1;
        }
        Ok(lock(&self.single).block(k, || self.block(k)))
    }

    /// Fails if X, Y and the references of a configuration need more than `limit`. Kernels that take X by columns have
    /// copies of X and Y, and need more while one of them is made. A given X is kept in f64.
    pub fn check_blocks(
        &self,
        configuration: &Configuration,
        limit: MemoryLimit,
    ) -> Result<(), PrepareError> {
        let k = Self::vectors(configuration);
        let blocks = self.blocks(k, configuration.precision);
        let mut bytes: u128 = blocks.iter().map(|(_, bytes)| bytes).sum();
        if order_of_vectors(configuration.kernel) == Order::ColumnMajor {
            let [(_, x), (_, y), ..] = blocks;
            let [rows, cols] = [self.a().rows(), self.a().cols()];
            bytes += x + y + transposing_bytes(cols, k).max(transposing_bytes(k, rows));
        }
        if let Columns::Given(given, x) = &self.columns {
            let is_shared = k == *given && configuration.precision.in_f64();
            bytes += if is_shared { 0 } else { 8 * x.len() as u128 };
        }
        let checked = limit.check(format!("SpMM with X, Y and its check for {k} columns"), bytes);
        checked.map_err(|error| PrepareError::Refused(error.to_string()))
    }

    /// Column j of X.
    fn column(&self, j: usize) -> Vec<f64> {
        self.columns.part(0..self.a().cols(), j)
    }

    /// X of k columns, rounded and stored by rows. Threads take rows: a pass over X for each column would miss the caches
    /// at every element.
    fn block<T: Real>(&self, k: usize) -> Vec<T> {
        const ROWS: usize = 4096;
        let n = self.a().cols();
        let mut block = zeroed(T::ZERO, k * n);
        block.par_chunks_mut(k * ROWS).enumerate().for_each(|(chunk, rows)| {
            let range = chunk * ROWS..n.min((chunk + 1) * ROWS);
            for j in 0..k {
                let column = self.columns.part(range.clone(), j);
                for (to, x) in rows.iter_mut().skip(j).step_by(k).zip(column) {
                    *to = T::rounded(x);
                }
            }
        });
        block
    }

    /// Calls `with` on the references of a configuration made so far and its operands; `rounded` is A in its precision.
    fn refer<T: Real, R>(
        &self,
        found: &Mutex<Found<T>>,
        rounded: &Csr<T>,
        configuration: &Configuration,
        with: impl FnOnce(&mut ColumnReferences, &Operands<'_, T>) -> R,
    ) -> R {
        let (k, precision) = (Self::vectors(configuration), configuration.precision);
        let mut found = lock(found);
        let x = found.block(k, || self.block(k));
        // Every precision has the integers that are drawn.
        let given = match &self.columns {
            Columns::Drawn(_) => None,
            Columns::Given(all, x) => Some((*all, x.as_slice())),
        };
        let operands = Operands { a: self.a(), rounded, precision, k, x: &x, given };
        with(found.references.entry(precision).or_default(), &operands)
    }

    /// The arrays for k columns: their names and bytes.
    fn blocks(&self, k: usize, precision: Precision) -> [(&'static str, u128); 4] {
        let [rows, cols] = [self.a().rows(), self.a().cols()].map(|size| size as u128 * k as u128);
        let value = u128::from(precision.vectors().bytes());
        // A reference has the sum and the bound of each element in f64, as has the result in f64 that one in fewer bits
        // is compared with.
        let references = 16 * rows;
        let unrounded = if precision == Precision::F64 { 0 } else { references };
        [
            ("X", value * cols),
            ("Y", value * rows),
            ("references", references),
            ("results in f64", unrounded),
        ]
    }
}

impl Columns {
    /// What is known in f64 before anything is computed.
    fn found(&self) -> Found<f64> {
        let mut found = Found::default();
        if let Self::Given(k, x) = self {
            found.blocks.insert(*k, Arc::clone(x));
        }
        found
    }

    /// The largest size of an element of the first k columns.
    fn largest(&self, k: usize) -> f64 {
        match self {
            Self::Drawn(_) => 5.0,
            Self::Given(given, x) => {
                let sizes = x.par_chunks(*given).map(|row| {
                    row.iter().take(k).fold(0.0, |largest: f64, x| largest.max(x.abs()))
                });
                sizes.reduce(|| 0.0, f64::max)
            }
        }
    }

    /// These elements of column j.
    fn part(&self, rows: Range<usize>, j: usize) -> Vec<f64> {
        match self {
            Self::Drawn(seed) => {
                integer_range(rows.start as u64..rows.end as u64, seed.wrapping_add(j as u64))
            }
            Self::Given(k, x) => {
                x.iter().skip(rows.start * k + j).step_by(*k).take(rows.len()).copied().collect()
            }
        }
    }
}

impl Problem for SpmmProblem {
    fn operation(&self) -> Operation {
        Operation::Spmm
    }

    fn is_empty(&self) -> bool {
        self.product.is_empty()
    }

    fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        let (k, precision) = (Self::vectors(configuration), configuration.precision);
        let kernel = configuration.kernel;
        let mut arrays = self.product.resident(configuration, memory);
        let fitting = |bytes: u128| {
            u64::try_from(bytes).ok().filter(|bytes| *bytes <= memory.get()).unwrap_or(0)
        };
        let own = |what: &str, bytes: u128| Resident::own(what, configuration, fitting(bytes));
        let blocks = self.blocks(k, precision);
        let [(_, x), (_, y), ..] = blocks;
        for (what, bytes) in blocks.into_iter().filter(|&(_, bytes)| bytes > 0) {
            arrays.push(match what {
                "Y" => own(what, bytes),
                _ => {
                    let name = format!("{what} of {k} columns in {}", precision.as_str());
                    Resident { name, bytes: fitting(bytes) }
                }
            });
        }
        if order_of_vectors(kernel) == Order::ColumnMajor {
            arrays.push(own("X and Y by columns", x + y));
        }
        if kernel.is_of_user_library() {
            // The memory that it shares has X, and Y twice.
            arrays.push(own("X and another Y", x + y));
        }
        arrays
    }

    /// The references of a few more columns.
    fn extend_reference(&self, configuration: &Configuration) -> bool {
        match self.product.side(configuration.precision, MemoryLimit::unlimited()) {
            Ok(Side::Double(side)) => {
                self.refer(&self.double, side.a(), configuration, ColumnReferences::extend)
            }
            Ok(Side::Single(side)) => {
                self.refer(&self.single, side.a(), configuration, ColumnReferences::extend)
            }
            Err(_) => false,
        }
    }

    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        // It exists, because the result was computed with it.
        let side = self.product.side(configuration.precision, MemoryLimit::unlimited()).ok()?;
        Some(match (side, output) {
            (Side::Double(side), Output::Vector(y)) => {
                self.refer(&self.double, side.a(), configuration, |made, of| made.check(of, y))
            }
            (Side::Single(side), Output::Single(y)) => {
                self.refer(&self.single, side.a(), configuration, |made, of| made.check(of, y))
            }
            _ => return None,
        })
    }

    /// 2·k operations per nonzero, where Y has m·k elements.
    fn work(&self, output: &Output) -> Work {
        let elements = match output {
            Output::Vector(y) => y.len(),
            Output::Single(y) => y.len(),
            _ => 0,
        };
        let k = elements.checked_div(self.a().rows()).unwrap_or(0);
        Work { flops: 2 * self.a().nnz() as u64 * k as u64, ..Work::default() }
    }

    fn release(&self) {
        self.product.release();
        *lock(&self.double) = self.columns.found();
        *lock(&self.single) = Found::default();
    }

    /// X must have the columns, and be finite for kernels that may multiply padding by it.
    fn refusal(&self, configuration: &Configuration) -> Option<String> {
        let Columns::Given(given, x) = &self.columns else { return None };
        let k = Self::vectors(configuration);
        if k > *given {
            return Some(format!("X has {given} columns, expected at least {k}"));
        }
        if !configuration.kernel.needs.finite_x {
            return None;
        }
        let is_finite = x.chunks(*given).all(|row| row.iter().take(k).all(|x| x.is_finite()));
        let reason = "multiplies padding by X, which has an infinite or NaN element";
        (!is_finite).then(|| reason.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::configuration::Temperature;
    use crate::measure::integer_vector;
    use sparsescope_matrix::matrix::examples;
    use sparsescope_model::kernel::{KernelDescriptor, Mapping, Origin, Parameters, kernel};
    use sparsescope_record::Verdict;

    pub(super) fn of(id: &str, k: u32, precision: Precision) -> Configuration {
        let parameters = Parameters::default().with(VECTORS.id(), &k.to_string());
        Configuration { parameters, precision, ..Configuration::usual(kernel(id).unwrap()) }
    }

    #[test]
    fn a_narrow_x_has_the_first_columns_of_a_wide_one_and_the_first_is_that_of_spmv() {
        let n = 5000;
        let problem = SpmmProblem::drawn(Arc::new(Csr::from_triplets(1, n, &[]).unwrap()), 42);
        let [one, three] = [1, 3].map(|k| problem.double_block(k));
        assert_eq!(*one, integer_vector(n, 42));
        let column = |j: usize| three.iter().skip(j).step_by(3).copied().collect::<Vec<_>>();
        assert_eq!([column(0), column(2)], [integer_vector(n, 42), integer_vector(n, 44)]);
        assert!(
            problem.single_block(3).unwrap().iter().zip(&*three).all(|(s, d)| f64::from(*s) == *d)
        );
    }

    #[test]
    fn x_is_in_the_order_of_the_kernel() {
        let a = Arc::new(Csr::from_triplets(1, 3, &[(0, 0, 1.0)]).unwrap());
        let problem = SpmmProblem::given(a, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        for (id, expected) in [
            ("vendor/cusparse/spmm-alg1", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            ("vendor/cusparse/spmm-columns-alg1", [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]),
        ] {
            let side = |p| problem.side(&of(id, 2, p), MemoryLimit::unlimited()).unwrap();
            let SpmmSide::Double(_, double) = side(Precision::F64) else { panic!("f64") };
            let SpmmSide::Single(_, single) = side(Precision::F32) else { panic!("f32") };
            assert_eq!(*double, expected, "{id}");
            assert_eq!(*single, expected.map(|x| x as f32), "{id}");
        }
    }

    #[test]
    fn each_column_of_a_result_is_checked_in_its_precision_and_the_work_counts_all_columns() {
        let a = Arc::new(examples::five_by_five());
        let x = vec![1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 4.0, 1.0, 5.0, 1.0];
        let problem = SpmmProblem::given(a, 2, x);
        let y = vec![11.0, 7.0, 13.0, 6.0, 8.0, 3.0, 18.0, 5.0, 34.0, 7.0];
        let single = Output::Single(y.iter().map(|&y| y as f32).collect());
        let [double, of_single] =
            [Precision::F64, Precision::F32].map(|p| of("cpu/spmm/rows", 2, p));
        assert_eq!(problem.check(&of_single, &single).verdict, Verdict::Pass);
        assert_eq!(problem.compare(&double, &single), None);
        // Ten nonzeros, two columns.
        assert_eq!(
            [problem.work(&single).flops, problem.work(&Output::Vector(y.clone())).flops],
            [40; 2]
        );
        assert_eq!(problem.check(&double, &Output::Vector(y.clone())).verdict, Verdict::Pass);
        let first = of("cpu/spmm/rows", 1, Precision::F64);
        let narrow = y.iter().step_by(2).copied().collect();
        assert_eq!(problem.check(&first, &Output::Vector(narrow)).verdict, Verdict::Pass);
        let mut wrong = y;
        wrong[7] = 5.1;
        let reason = problem.check(&double, &Output::Vector(wrong)).reason.unwrap();
        assert!(reason.starts_with("column 1: row 3 is 5.1e0, expected 5e0"), "{reason}");
        let wide = of("cpu/spmm/rows", 3, Precision::F64);
        assert_eq!(problem.refusal(&wide).as_deref(), Some("X has 2 columns, expected at least 3"));
        assert_eq!(problem.refusal(&double), None);
    }

    #[test]
    fn an_x_that_is_not_finite_is_refused_only_by_kernels_that_may_multiply_padding() {
        let a = Arc::new(examples::five_by_five());
        let x = [1.0, 1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let problem = SpmmProblem::given(a, 2, x.to_vec());
        let refused = |id: &str, k: u32| problem.refusal(&of(id, k, Precision::F64));
        let reason = "multiplies padding by X, which has an infinite or NaN element";
        assert_eq!(refused("vendor/mkl/spmm", 2).as_deref(), Some(reason));
        assert_eq!(refused("vendor/mkl/spmm", 1), None, "it is in the second column");
        assert_eq!(["cpu/spmm/simd", "cpu/spmm/hll"].map(|id| refused(id, 2)), [None, None]);
    }

    #[test]
    fn what_f32_does_not_hold_is_named_with_its_row_and_column() {
        let a = Arc::new(Csr::from_triplets(1, 2, &[(0, 0, 1.0), (0, 1, 1.0)]).unwrap());
        let problem = SpmmProblem::given(a, 2, vec![1.0, 1.0, 1.0, 1e39]);
        assert!(problem.single_block(1).is_ok());
        let refused = problem.single_block(2).unwrap_err().to_string();
        assert_eq!(refused, "row 1, column 1 of X is 1e39, too large for f32");
        // The values and X fit, their products do not.
        let a = Arc::new(Csr::from_triplets(2, 1, &[(0, 0, 1.0), (1, 0, 1e22)]).unwrap());
        let problem = SpmmProblem::given(a, 3, vec![1e16, -1e16, 1e17]);
        assert!(problem.single_block(2).is_ok());
        let refused = problem.single_block(3).unwrap_err().to_string();
        let reason = "the terms of row 1, column 2 of Y, add up to 1e39, too large for f32";
        assert_eq!(refused, reason);
        let of_first = |a: f64, x: f64| {
            let a = Csr::from_triplets(1, 2, &[(0, 0, a), (0, 1, a)]).unwrap();
            let problem = SpmmProblem::given(Arc::new(a), 2, vec![x, 1.0, 1.0, 1.0]);
            let wide = of("cpu/spmm/rows", 2, Precision::F32);
            problem.side(&wide, MemoryLimit::unlimited()).unwrap_err().to_string()
        };
        assert_eq!(of_first(1.0, 1e39), "row 0, column 0 of X is 1e39, too large for f32");
        let sum = "the terms of row 0, column 0 of Y, add up to 6e38, too large for f32";
        assert_eq!(of_first(3e38, 1.0), sum);
    }

    #[test]
    fn memory_is_counted_for_every_column() {
        let problem = SpmmProblem::drawn(Arc::new(examples::five_by_five()), 42);
        let wide = of("cpu/spmm/nnz", 16, Precision::F32);
        let resident = problem.resident(&wide, MemoryLimit::unlimited());
        let bytes: Vec<u64> = resident.iter().map(|array| array.bytes).collect();
        // A and x in f32 as for SpMV, no other format; X and Y, and twice two numbers of 8 bytes per element of Y.
        assert_eq!(bytes, [124, 0, 4 * 80, 4 * 80, 16 * 80, 16 * 80]);
        let needed = 4 * 80 + 4 * 80 + 16 * 80 + 16 * 80;
        assert!(problem.check_blocks(&wide, MemoryLimit::bytes(needed)).is_ok());
        let refused = problem.check_blocks(&wide, MemoryLimit::bytes(needed - 1)).unwrap_err();
        let expected = format!("SpMM with X, Y and its check for 16 columns needs {needed} bytes");
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        // All of them share what others have, but each has its own Y.
        let others = [
            Configuration { threads: 2, ..wide.clone() },
            Configuration { block: Some(64), ..wide.clone() },
            Configuration { temperature: Temperature::Cold, ..wide.clone() },
        ];
        for other in others {
            let other = problem.resident(&other, MemoryLimit::unlimited());
            let own: Vec<u64> = other
                .iter()
                .filter(|array| !resident.contains(array))
                .map(|array| array.bytes)
                .collect();
            assert_eq!(own, [4 * 80]);
        }
        // Kernels that take X by columns have copies of X and Y.
        for (by_rows, by_columns) in [
            ("cpu/spmm/nnz", "cpu/spmm/columns"),
            ("vendor/mkl/spmm", "vendor/mkl/spmm-columns"),
            ("vendor/cusparse/spmm-alg1", "vendor/cusparse/spmm-columns-alg1"),
        ] {
            let resident =
                |id: &str| problem.resident(&of(id, 16, Precision::F32), MemoryLimit::unlimited());
            let arrays = resident(by_columns);
            assert_eq!(arrays.len(), resident(by_rows).len() + 1, "{by_columns}");
            assert_eq!(arrays.last().map(|array| array.bytes), Some(8 * 80), "{by_columns}");
            let columns = of(by_columns, 16, Precision::F32);
            let fits = |bytes| problem.check_blocks(&columns, MemoryLimit::bytes(bytes)).is_ok();
            // Y is turned with a list of a piece of each of its five rows.
            let list = 5 * size_of::<&[f32]>() + size_of::<Vec<&[f32]>>();
            let with_copies = needed + 4 * 80 + 4 * 80 + list as u64;
            assert_eq!([fits(with_copies), fits(with_copies - 1)], [true, false], "{by_columns}");
        }
        // A library has a copy of A, of 144 bytes, one of X and two of Y.
        let library = KernelDescriptor {
            origin: &[Origin::User],
            mapping: Mapping::Library,
            ..*kernel("cpu/spmm/serial").unwrap()
        };
        let kernel = Box::leak(Box::new(library));
        let library = Configuration { kernel, ..of("cpu/spmm/serial", 16, Precision::F64) };
        let resident = problem.resident(&library, MemoryLimit::unlimited());
        let bytes: Vec<u64> = resident.iter().map(|array| array.bytes).collect();
        assert_eq!(bytes, [144, 8 * 80, 8 * 80, 16 * 80, 2 * 8 * 80]);
    }

    #[test]
    fn what_was_made_is_dropped_when_released() {
        let problem = SpmmProblem::drawn(Arc::new(examples::five_by_five()), 42);
        problem.double_block(4);
        problem.check(&of("cpu/spmm/rows", 4, Precision::F64), &Output::Vector(vec![0.0; 20]));
        let counts = || {
            let double = lock(&problem.double);
            (double.blocks.len(), double.references.len())
        };
        assert_eq!(counts(), (1, 1));
        problem.release();
        assert_eq!(counts(), (0, 0));
    }

    #[test]
    fn a_given_x_exists_once_in_f64_and_twice_in_other_precisions_and_for_fewer_columns() {
        let a = Arc::new(examples::five_by_five());
        let problem = SpmmProblem::given(a, 2, vec![1.0; 10]);
        let Columns::Given(_, x) = &problem.columns else { panic!("X is given") };
        assert!(Arc::ptr_eq(x, &problem.double_block(2)));
        problem.release();
        assert!(Arc::ptr_eq(x, &problem.double_block(2)));
        // X, Y and the references with their bounds; in f32 also the results in f64, and X as it was given.
        for (k, precision, bytes) in [
            (2, Precision::F64, 80 + 80 + 160),
            (1, Precision::F64, 40 + 40 + 80 + 80),
            (2, Precision::F32, 40 + 40 + 160 + 160 + 80),
        ] {
            let configuration = of("cpu/spmm/rows", k, precision);
            let fits =
                |bytes| problem.check_blocks(&configuration, MemoryLimit::bytes(bytes)).is_ok();
            assert_eq!([fits(bytes - 1), fits(bytes)], [false, true], "{k} {precision:?}");
        }
    }

    #[test]
    fn each_precision_has_references_of_its_own_and_its_error_against_f64() {
        // Half of the values lie between two of bfloat16; the columns of X are ones and twos.
        let entries: Vec<_> = (0..60).map(|k| (k % 6, k / 6, 1.0 + 0.0037 * k as f64)).collect();
        let a = Arc::new(Csr::from_triplets(6, 10, &entries).unwrap());
        let problem = SpmmProblem::given(Arc::clone(&a), 2, [1.0, 2.0].repeat(10));
        let product = |precision: Precision, stored: &dyn Fn(f64) -> f64| {
            let sum = |i: usize| a.row(i).1.iter().map(|&value| stored(value)).sum::<f64>();
            let y = (0..6).flat_map(|i| [sum(i), 2.0 * sum(i)]);
            match precision.in_f64() {
                true => Output::Vector(y.collect()),
                false => Output::Single(y.map(|y| y as f32).collect()),
            }
        };
        for precision in Precision::ALL {
            let configuration = of("cuda/spmm/row-split", 2, precision);
            let rounded = product(precision, &|value| precision.values().rounded(value));
            let check = problem.check(&configuration, &rounded);
            assert_eq!(check.verdict, Verdict::Pass, "{precision:?} {:?}", check.reason);
            assert_eq!(check.rounding.is_some(), precision != Precision::F64);
            let Some(found) = check.rounding else { continue };
            let unit = precision.values().unit_roundoff();
            assert!(found.norm > unit / 100.0 && found.max <= found.bound, "{precision:?}");
            if precision != Precision::F32 {
                let kept = problem.check(&configuration, &product(precision, &|value| value));
                assert_eq!(kept.verdict, Verdict::Fail, "{precision:?}: values are not rounded");
            }
        }
    }
}
