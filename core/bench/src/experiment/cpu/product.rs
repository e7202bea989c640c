//! A kernel for y = A·x or Y = A·X that is prepared and checked once, and then computes with any x or X.

use std::sync::Arc;

use super::machine::{Machine, wake_s};
use super::{auto, mkl, spmm, spmv};
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{SpmmProblem, SpmvProblem};
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::experiment::vectors::{admit_vectors, other_precision};
use crate::measure::DEFAULT_SEED;
use sparsescope_matrix::matrix::{Csr, Operands};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{KernelDescriptor, Mapping, kernel};
use sparsescope_record::{Check, Costs, Operation};

/// A kernel of SpMV or SpMM bound to its matrix.
pub struct CpuProduct {
    /// The kernel that runs: the chosen one of a kernel that chooses.
    kernel: &'static KernelDescriptor,
    task: Box<dyn Task>,
    /// Absent if the caller's thread computes everything: waking another one takes longer than a small SpMV.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// Rows and columns.
    size: (usize, usize),
    costs: Costs,
    check: Check,
}

impl CpuProduct {
    /// Binds the configuration's kernel, sets it up and checks its result for one x, or one X of the columns that the
    /// configuration requests. `None` when cancelled.
    pub(super) fn new(
        machine: &Machine,
        configuration: &Configuration,
        a: &Arc<Csr>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, PrepareError> {
        if configuration.kernel.operation == Operation::Spmm {
            let problem = SpmmProblem::drawn(Arc::clone(a), DEFAULT_SEED);
            return Self::checked(machine, configuration, (&problem, a), watch, |pool| {
                spmm::bind(configuration, &problem, memory, pool).map(Some)
            });
        }
        let (problem, near_bytes) = (SpmvProblem::of(a), machine.caches().private_bytes);
        Self::checked(machine, configuration, (&problem, a), watch, |pool| {
            match configuration.kernel.id {
                auto::ID => {
                    let (room, wake_s) = ((memory, near_bytes), wake_s(pool));
                    pool.install(|| auto::chosen(configuration, &problem, room, wake_s, watch))
                }
                id if mkl::has(id) => mkl::bind(configuration, &problem, memory).map(Some),
                _ => spmv::bind(configuration, &problem, memory, near_bytes, pool).map(Some),
            }
        })
    }

    /// The kernel that `bind` binds on its pool, set up and checked.
    fn checked(
        machine: &Machine,
        configuration: &Configuration,
        (problem, a): (&dyn Problem, &Csr),
        watch: &Watch<'_>,
        bind: impl FnOnce(&rayon::ThreadPool) -> Result<Option<Bound<'static>>, PrepareError>,
    ) -> Result<Option<Self>, PrepareError> {
        problem.admit(configuration)?;
        let threads = configuration.threads as usize;
        let is_library = mkl::has(configuration.kernel.id);
        let pool = if is_library { machine.caller(threads) } else { machine.pool(threads) };
        let pool = pool.map_err(|error| PrepareError::Unsupported(error.to_string()))?;
        let Some(bound) = bind(&pool)? else { return Ok(None) };
        let Bound { mut task, parts, mut costs, .. } = bound;
        let output = pool.install(|| -> Result<Option<Output>, PrepareError> {
            if task.set_up(&mut costs, watch)? == Finished::Cancelled {
                return Ok(None);
            }
            task.spoil();
            let ran = task.run(watch);
            task.rest();
            match ran {
                Ok(Finished::Done) => Ok(Some(task.output())),
                Ok(Finished::Cancelled) => Ok(None),
                Err(error) => Err(PrepareError::Refused(error.to_string())),
            }
        })?;
        let Some(output) = output else { return Ok(None) };
        let Some(check) = problem.check_watched(configuration, &output, watch) else {
            return Ok(None);
        };
        let chosen = costs.choice.as_ref().and_then(|choice| kernel(&choice.kernel));
        let kernel = chosen.unwrap_or(configuration.kernel);
        // A guided kernel gives its parts to all workers of the pool, however few they are.
        let is_alone = parts.unwrap_or(1) <= 1 && kernel.mapping != Mapping::GuidedHacks;
        let pool = (is_library || !is_alone).then_some(pool);
        let size = (a.rows(), a.cols());
        Ok(Some(Self { kernel, task, pool, size, costs, check }))
    }

    /// The kernel that runs; for a kernel that chooses, the chosen one.
    pub fn kernel(&self) -> &'static KernelDescriptor {
        self.kernel
    }

    /// Time of preparation and bytes of the format.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// How its check ended.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// Computes y = A·x. Fails unless x has one element per column, y one per row, both are in the precision
    /// that it was prepared for, and x is finite if the kernel multiplies padding by it. A kernel of SpMM computes
    /// Y = A·X for X and Y of any number of columns, stored by rows.
    pub fn multiply(&mut self, vectors: Operands<'_>) -> Result<(), KernelError> {
        let k = (self.kernel.operation != Operation::Spmm).then_some(1);
        admit_vectors(self.kernel, self.size, k, &vectors)?;
        let task = &mut self.task;
        // The threads of a library soon sleep by themselves: waiting for that takes longer than many an SpMV.
        let done = match &self.pool {
            None => task.multiply(vectors),
            Some(pool) => pool.install(|| task.multiply(vectors)),
        };
        done.unwrap_or_else(|| Err(other_precision(self.kernel)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::measure::{CacheSizes, cpu};
    use sparsescope_matrix::matrix::{Precision, examples};
    use sparsescope_model::kernel::parameters::MIN_FILL;
    use sparsescope_model::kernel::{DeviceKind, Parameters, kernels};
    use sparsescope_record::Verdict;

    fn product(configuration: &Configuration) -> CpuProduct {
        let machine = Machine::new(CacheSizes::of(&cpu()));
        let a = Arc::new(examples::five_by_five());
        let flag = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&flag);
        let made =
            CpuProduct::new(&machine, configuration, &a, MemoryLimit::unlimited(), &watch).unwrap();
        made.unwrap()
    }

    /// Every kernel of this crate that multiplies by A, blocks and diagonals with any fill.
    fn configurations() -> Vec<Configuration> {
        let here = |k: &&KernelDescriptor| k.device == DeviceKind::Cpu && !mkl::has(k.id);
        let mut all = Vec::new();
        for kernel in kernels(Operation::Spmv).iter().filter(|k| k.takes_defaults()).filter(here) {
            let parameters = match kernel.allowed(MIN_FILL.id()) {
                Some(_) => Parameters::default().with(MIN_FILL.id(), "0"),
                None => Parameters::default(),
            };
            for threads in [1, 3] {
                let threads = if kernel.takes.threads { threads } else { 1 };
                let parameters = parameters.clone();
                all.push(Configuration { parameters, threads, ..Configuration::usual(kernel) });
            }
        }
        all
    }

    #[test]
    fn every_kernel_computes_with_one_x_after_another() {
        for configuration in configurations() {
            let mut product = product(&configuration);
            let id = configuration.kernel.id;
            assert_eq!(product.check().verdict, Verdict::Pass, "{id}");
            for factor in [1.0, -2.0] {
                let x = [1.0, 2.0, 3.0, 4.0, 5.0].map(|x| factor * x);
                let mut y = [f64::NAN; 5];
                product.multiply(Operands::Double(&x, &mut y)).unwrap();
                assert_eq!(y, [11.0, 13.0, 8.0, 18.0, 34.0].map(|y| factor * y), "{id}");
            }
        }
    }

    #[test]
    fn a_kernel_of_spmm_computes_with_any_number_of_columns() {
        let here = |k: &&KernelDescriptor| k.device == DeviceKind::Cpu && !mkl::has(k.id);
        for kernel in kernels(Operation::Spmm).iter().filter(here) {
            let threads = if kernel.takes.threads { 2 } else { 1 };
            for precision in Precision::UNIFORM {
                let usual = Configuration::usual(kernel);
                let mut product = product(&Configuration { threads, precision, ..usual });
                assert_eq!(product.check().verdict, Verdict::Pass, "{}", kernel.id);
                for k in [1, 2, 3, 17, 40] {
                    // Column j of X is (1, 2, 3, 4, 5) times j + 1.
                    let of = |rows: [f64; 5]| -> Vec<f64> {
                        rows.iter().flat_map(|x| (0..k).map(move |j| x * (j + 1) as f64)).collect()
                    };
                    let x = of([1.0, 2.0, 3.0, 4.0, 5.0]);
                    let expected = of([11.0, 13.0, 8.0, 18.0, 34.0]);
                    let y: Vec<f64> = match precision.in_f64() {
                        true => {
                            let mut y = vec![f64::NAN; 5 * k];
                            product.multiply(Operands::Double(&x, &mut y)).unwrap();
                            y
                        }
                        false => {
                            let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
                            let mut y = vec![f32::NAN; 5 * k];
                            product.multiply(Operands::Single(&x, &mut y)).unwrap();
                            y.into_iter().map(f64::from).collect()
                        }
                    };
                    assert_eq!(y, expected, "{} {k} columns", kernel.id);
                }
                let refused = match precision.in_f64() {
                    true => product.multiply(Operands::Double(&[1.0; 9], &mut [0.0; 10])),
                    false => product.multiply(Operands::Single(&[1.0; 9], &mut [0.0; 10])),
                };
                let expected = "expected y with 10 elements and x with 10, found 10 and 9";
                assert_eq!(refused.unwrap_err().reason, expected);
            }
        }
    }

    /// Computes nothing.
    struct Restless;

    impl Task for Restless {
        fn spoil(&mut self) {}
        fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
            Ok(Finished::Done)
        }
        fn multiply(&mut self, _: Operands<'_>) -> Option<Result<(), KernelError>> {
            Some(Ok(()))
        }
        fn rest(&mut self) {
            panic!("it waits");
        }
        fn output(&self) -> Output {
            Output::Vector(Vec::new())
        }
    }

    #[test]
    fn no_product_waits_until_the_threads_of_a_library_sleep() {
        let serial = product(&Configuration::usual(kernel("cpu/csr/serial").unwrap()));
        let pool = Some(Arc::new(crate::measure::pool(1).unwrap()));
        let mut product = CpuProduct { task: Box::new(Restless), pool, ..serial };
        product.multiply(Operands::Double(&[1.0; 5], &mut [0.0; 5])).unwrap();
    }

    #[test]
    fn vectors_of_another_size_or_precision_are_refused() {
        let serial = Configuration::usual(kernel("cpu/csr/serial").unwrap());
        let single = Configuration { precision: Precision::F32, ..serial.clone() };
        let (mut double, mut single) = (product(&serial), product(&single));
        let mut y = [0f32; 5];
        single.multiply(Operands::Single(&[1.0; 5], &mut y)).unwrap();
        assert_eq!(y, [7.0, 6.0, 3.0, 5.0, 7.0]);
        let refused = double.multiply(Operands::Single(&[1.0; 5], &mut y)).unwrap_err();
        assert_eq!(refused.reason, "x and y are in another precision");
        let refused = double.multiply(Operands::Double(&[1.0; 4], &mut [0.0; 5])).unwrap_err();
        let expected = "expected y with 5 elements and x with 5, found 5 and 4";
        assert_eq!(refused.reason, expected);
    }

    #[test]
    fn an_x_that_is_not_finite_is_refused_where_padding_is_multiplied_by_it() {
        for configuration in configurations() {
            let mut product = product(&configuration);
            let done =
                product.multiply(Operands::Double(&[f64::NAN, 1.0, 1.0, 1.0, 1.0], &mut [0.0; 5]));
            assert_eq!(done.is_err(), product.kernel().needs.finite_x, "{}", product.kernel().id);
        }
    }
}
