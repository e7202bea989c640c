//! A kernel for y = A·x that is prepared and checked once, and then computes with any x.

use std::sync::Arc;

use super::machine::{Machine, wake_s};
use super::{auto, mkl, spmv};
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::SpmvProblem;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::experiment::vectors::{admit_vectors, other_precision};
use sparsescope_matrix::matrix::{Csr, Operands};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{KernelDescriptor, Mapping, kernel};
use sparsescope_record::{Check, Costs};

/// An SpMV kernel bound to its matrix.
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
    /// Binds the configuration's kernel, sets it up and checks its result for one x. `None` when cancelled.
    pub(super) fn new(
        machine: &Machine,
        configuration: &Configuration,
        a: &Arc<Csr>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, PrepareError> {
        let problem = SpmvProblem::of(a);
        problem.admit(configuration)?;
        let threads = configuration.threads as usize;
        let is_library = mkl::has(configuration.kernel.id);
        let pool = if is_library { machine.caller(threads) } else { machine.pool(threads) };
        let pool = pool.map_err(|error| PrepareError::Unsupported(error.to_string()))?;
        let near_bytes = machine.caches().private_bytes;
        let bound = match configuration.kernel.id {
            auto::ID => {
                let (room, wake_s) = ((memory, near_bytes), wake_s(&pool));
                pool.install(|| auto::chosen(configuration, &problem, room, wake_s, watch))?
            }
            _ if is_library => Some(mkl::bind(configuration, &problem, memory)?),
            _ => Some(spmv::bind(configuration, &problem, memory, near_bytes, &pool)?),
        };
        let Some(Bound { mut task, parts, mut costs, .. }) = bound else { return Ok(None) };
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
        let check = problem.check(configuration, &output);
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
    /// that it was prepared for, and x is finite if the kernel multiplies padding by it.
    pub fn multiply(&mut self, vectors: Operands<'_>) -> Result<(), KernelError> {
        admit_vectors(self.kernel, self.size, &vectors)?;
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
    use sparsescope_record::{Operation, Verdict};

    fn product(configuration: &Configuration) -> CpuProduct {
        let machine = Machine::new(CacheSizes::of(&cpu()));
        let a = Arc::new(examples::five_by_five());
        let flag = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&flag);
        let made =
            CpuProduct::new(&machine, configuration, &a, MemoryLimit::unlimited(), &watch).unwrap();
        made.unwrap()
    }

    /// Every kernel of this crate, blocks and diagonals with any fill.
    fn configurations() -> Vec<Configuration> {
        let here = |k: &&KernelDescriptor| k.device == DeviceKind::Cpu && !mkl::has(k.id);
        let mut all = Vec::new();
        for kernel in kernels(Operation::Spmv).iter().filter(here) {
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
