//! The CPU kernels for symmetric Gauss–Seidel, bound to a system.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::CpuBackend;
use crate::experiment::backend::{Availability, Prepared};
use crate::experiment::binding::Binds;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{SymgsProblem, SymgsSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Groups, Task, Watch};
use sparsescope_kernels::symgs::{
    Coloring, LevelSets, Mode, OperandError, Schedule, Workspace, serial,
};
use sparsescope_matrix::matrix::{Real, copied};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::parameters::MODE;
use sparsescope_model::kernel::{KernelDescriptor, Mapping};
use sparsescope_record::Costs;

/// The sweeps over x, stored in the order in which the kernel computes it.
struct Iteration<T> {
    side: Arc<SymgsSide<T>>,
    mode: Mode,
    way: Way<T>,
    start: Vec<T>,
    x: Vec<T>,
}

/// How rows are visited.
enum Way<T> {
    Serial,
    Ordered { schedule: Box<Schedule<T>>, groups: Groups, b: Vec<T>, workspace: Workspace<T> },
}

impl<T: Real> Task for Iteration<T>
where
    Output: From<Vec<T>>,
{
    fn is_in_place(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.x.copy_from_slice(&self.start);
    }

    fn spoil(&mut self) {}

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        let Self { side, mode, way, x, .. } = self;
        let x = std::hint::black_box(x.as_mut_slice());
        for done in 0..side.sweeps() {
            if watch.is_cancelled() {
                return Ok(Finished::Cancelled);
            }
            if done > 0 {
                watch.tell(f64::from(done) / f64::from(side.sweeps()));
            }
            match way {
                Way::Serial => serial::symgs(side.a(), side.diagonal(), *mode, side.b(), x, 1),
                Way::Ordered { schedule, b, workspace, .. } => {
                    schedule.symgs(*mode, b, x, workspace, 1);
                }
            }
        }
        Ok(Finished::Done)
    }

    fn output(&self) -> Output {
        match &self.way {
            Way::Serial => self.x.clone().into(),
            Way::Ordered { schedule, .. } => {
                let mut natural = self.x.clone();
                schedule.from_order(&self.x, &mut natural);
                natural.into()
            }
        }
    }

    fn groups(&self) -> Option<Groups> {
        match self.way {
            Way::Serial => None,
            Way::Ordered { groups, .. } => Some(groups),
        }
    }
}

/// Plans a kernel for a number of workers, with the seconds spent on finding dependencies; `None` for the
/// serial loop.
type Plan<T> = fn(&SymgsSide<T>, usize, MemoryLimit) -> Result<Option<Planned<T>>, OperandError>;
type Planned<T> = (Schedule<T>, f64);

/// Returns the result of `work` and its time in seconds.
fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed().as_secs_f64())
}

/// The launchers for one precision.
struct Launchers<T>(std::marker::PhantomData<T>);

impl<T: Real> Launchers<T> {
    /// The launchers of this backend, in the order of the descriptors.
    const ALL: &'static [(&'static str, Plan<T>)] = &[
        ("cpu/symgs/serial", |_, _, _| Ok(None)),
        ("cpu/symgs/levels", |side, workers, limit| {
            let (levels, seconds) = timed(|| LevelSets::of(side.a(), side.diagonal(), limit));
            Ok(Some((Schedule::levels(levels?, workers, limit)?, seconds)))
        }),
        ("cpu/symgs/colored", |side, workers, limit| {
            let (colors, seconds) = timed(|| Coloring::greedy(side.a(), limit));
            let schedule = Schedule::colored(side.a(), side.diagonal(), &colors?, workers, limit)?;
            Ok(Some((schedule, seconds)))
        }),
    ];

    fn of(id: &str) -> Option<Plan<T>> {
        Self::ALL.iter().find(|(known, _)| *known == id).map(|&(_, plan)| plan)
    }
}

impl Binds<SymgsProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        Availability::built(Launchers::<f64>::of(kernel.id).is_some())
    }

    /// Lays out the rows and binds the configuration's kernel to them on the pool that it will run on.
    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SymgsProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        self.prepared(configuration, |pool| match configuration.precision.in_f64() {
            true => bind_in(configuration, problem.double(), memory, pool),
            false => bind_in(configuration, &problem.single(memory)?, memory, pool),
        })
    }
}

fn bind_in<T: Real>(
    configuration: &Configuration,
    side: &Arc<SymgsSide<T>>,
    memory: MemoryLimit,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let plan = Launchers::of(configuration.kernel.id)
        .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
    let workers = configuration.threads as usize;
    let (planned, seconds) = timed(|| pool.install(|| plan(side, workers, memory)));
    let planned = planned.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let (a, mode) = (side.a(), configuration.parameters.get(&MODE));
    let (format_bytes, minimal_bytes) = (a.bytes(), side.minimal_bytes());
    let mut costs = Costs { format_bytes, minimal_bytes, ..Costs::default() };
    let mut start = copied(side.start());
    let way = match planned {
        None => Way::Serial,
        Some((schedule, plan_s)) => {
            (costs.plan_s, costs.conversion_s) = (plan_s, seconds - plan_s);
            costs.format_bytes = schedule.bytes();
            let mut b = copied(side.b());
            let mut back = copied(side.start());
            let ((), permute_s) = timed(|| {
                pool.install(|| {
                    schedule.to_order(side.b(), &mut b);
                    schedule.to_order(side.start(), &mut start);
                    schedule.from_order(&start, &mut back);
                });
            });
            costs.permute_s = Some(permute_s);
            let groups = match configuration.kernel.mapping {
                Mapping::Colors => Groups::Colors(schedule.groups()[0]),
                _ => Groups::Levels(schedule.groups()),
            };
            let (schedule, workspace) = (Box::new(schedule), Workspace::default());
            Way::Ordered { schedule, groups, b, workspace }
        }
    };
    let (side, x) = (Arc::clone(side), copied(&start));
    let params = BTreeMap::from([("mode".to_owned(), mode.as_str().to_owned())]);
    let task = Box::new(Iteration { side, mode, way, start, x });
    Ok(Bound { task, parts: None, costs, params })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::experiment::backend::Backend;
    use crate::experiment::problem::Problem;
    use sparsescope_kernels::symgs::{Diagonal, right_hand_side, starting_vector};
    use sparsescope_matrix::generate::{GeneratorSpec, generate};
    use sparsescope_matrix::matrix::{Csr, Precision};
    use sparsescope_model::kernel::{DeviceKind, kernel, kernels};
    use sparsescope_record::{Operation, Verdict};

    #[test]
    fn launchers_are_in_step_with_the_descriptors() {
        let cpu = kernels(Operation::Symgs).iter().filter(|k| k.device == DeviceKind::Cpu);
        let ids: Vec<_> = cpu.map(|k| k.id).collect();
        let launched: Vec<_> = Launchers::<f64>::ALL.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, launched);
    }

    #[test]
    fn several_sweeps_are_one_execution_that_can_be_stopped_between_them() {
        let spec = GeneratorSpec::parse("stencil7?n=6").unwrap();
        let flag = AtomicBool::new(false);
        let a = Arc::new(generate(&spec, MemoryLimit::unlimited(), &flag).unwrap());
        let (b, x) = (right_hand_side(a.rows(), 1), starting_vector(a.rows(), 1));
        let problem = SymgsProblem::with_sweeps(Arc::clone(&a), b.clone(), x.clone(), 3).unwrap();
        let backend = CpuBackend::new();
        for kernel in kernels(Operation::Symgs).iter().filter(|k| k.device == DeviceKind::Cpu) {
            let configuration = Configuration { threads: 2, ..Configuration::usual(kernel) };
            let memory = MemoryLimit::unlimited();
            let mut prepared = backend.prepare(&configuration, &problem, memory).unwrap();
            flag.store(false, Ordering::Relaxed);
            let told = Mutex::new(Vec::new());
            let tell = |share: f64| told.lock().unwrap().push((3.0 * share).round());
            let output = prepared.output(&Watch::new(&flag, &tell)).wait().unwrap().unwrap();
            assert_eq!(told.into_inner().unwrap(), [1.0, 2.0], "{}", kernel.id);
            let check = problem.check(&configuration, &output);
            assert_eq!(check.verdict, Verdict::Pass, "{} {:?}", kernel.id, check.reason);
            assert_eq!(problem.work(&output).iterations, 3);
            assert!(prepared.once().is_some_and(|seconds| seconds > 0.0));
            if kernel.exact {
                let mut expected = x.clone();
                let diagonal = Diagonal::of(&a, memory).unwrap();
                serial::symgs(&a, &diagonal, Mode::Standard, &b, &mut expected, 3);
                assert_eq!(output, Output::Vector(expected), "{}", kernel.id);
            }
            let stop = |_: f64| flag.store(true, Ordering::Relaxed);
            assert_eq!(
                prepared.output(&Watch::new(&flag, &stop)).wait().unwrap(),
                None,
                "{}",
                kernel.id
            );
        }
    }

    #[test]
    fn a_kernel_tells_the_levels_or_colours_that_it_follows() {
        // Row i of a bidiagonal matrix waits for row i - 1; every second row has the same colour.
        let lower: Vec<_> = (1..9).map(|i| (i, i - 1, -1.0)).collect();
        let all: Vec<_> = (0..9).map(|i| (i, i, 2.0)).chain(lower).collect();
        let a = Arc::new(Csr::from_triplets(9, 9, &all).unwrap());
        let problem = SymgsProblem::new(a, vec![1.0; 9], vec![0.0; 9]).unwrap();
        let backend = CpuBackend::new();
        let groups = |id: &str| {
            let configuration = Configuration::usual(kernel(id).unwrap());
            let memory = MemoryLimit::unlimited();
            backend.prepare(&configuration, &problem, memory).unwrap().groups()
        };
        assert_eq!(groups("cpu/symgs/serial"), None);
        assert_eq!(groups("cpu/symgs/levels"), Some(Groups::Levels([9, 9])));
        assert_eq!(groups("cpu/symgs/colored"), Some(Groups::Colors(2)));
    }

    #[test]
    fn every_kernel_passes_the_gate_in_both_modes_and_precisions_after_any_number_of_executions() {
        let spec = GeneratorSpec::parse("stencil27?n=7").unwrap();
        let never = AtomicBool::new(false);
        let a = Arc::new(generate(&spec, MemoryLimit::unlimited(), &never).unwrap());
        let (b, x) = (right_hand_side(a.rows(), 1), starting_vector(a.rows(), 1));
        let problem = SymgsProblem::new(a, b, x).unwrap();
        let backend = CpuBackend::new();
        let watch = Watch::cancelled_by(&never);
        for kernel in kernels(Operation::Symgs).iter().filter(|k| k.device == DeviceKind::Cpu) {
            for mode in Mode::ALL {
                for precision in Precision::UNIFORM {
                    let mut configuration =
                        Configuration { threads: 2, ..Configuration::usual(kernel) };
                    configuration.precision = precision;
                    configuration.parameters =
                        configuration.parameters.with(MODE.id(), mode.as_str());
                    let mut prepared = backend
                        .prepare(&configuration, &problem, MemoryLimit::unlimited())
                        .unwrap();
                    for _ in 0..2 {
                        let output = prepared.output(&watch).wait().unwrap().unwrap();
                        let check = problem.check(&configuration, &output);
                        assert_eq!(
                            check.verdict,
                            Verdict::Pass,
                            "{} {:?}",
                            kernel.id,
                            check.reason
                        );
                    }
                }
            }
        }
    }
}
