//! The CPU kernels for many small dense systems, bound to a batch.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::CpuBackend;
use crate::experiment::backend::{Availability, Prepared};
use crate::experiment::binding::Binds;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::BatchedDenseProblem;
use crate::experiment::operations::batched_dense::Given;
use crate::experiment::output::Output;
use crate::experiment::problem::Problem;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use sparsescope_kernels::dense::{Solutions, Systems, cholesky, gauss};
use sparsescope_matrix::matrix::Batches;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_model::kernel::parameters::RHS;
use sparsescope_record::Costs;

/// A kernel; returns false when it was stopped.
type Kernel = fn(Systems<'_>, &mut Solutions, &(dyn Fn() -> bool + Sync)) -> bool;

/// The launchers of this backend, in the order of the descriptors.
const LAUNCHERS: &[(&str, Kernel)] = &[
    ("cpu/dense/gauss", gauss),
    ("cpu/dense/cholesky", cholesky),
    #[cfg(feature = "faer")]
    ("vendor/faer/cholesky", sparsescope_kernels::dense::faer_cholesky),
];

/// Kernels of the library, which not every build includes.
const FAER: &str = "vendor/faer/";

struct Dense {
    kernel: Kernel,
    batches: Arc<Batches>,
    right: Given,
    /// Solutions, by size.
    found: Vec<Solutions>,
}

impl Task for Dense {
    fn spoil(&mut self) {
        self.found.iter_mut().for_each(Solutions::spoil);
    }

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        for (k, (sized, found)) in self.batches.sizes().iter().zip(&mut self.found).enumerate() {
            let systems = Systems::new(sized.batch().view(), self.right.view(k));
            let systems = std::hint::black_box(systems);
            if !(self.kernel)(systems, found, &|| watch.is_cancelled()) {
                return Ok(Finished::Cancelled);
            }
        }
        Ok(Finished::Done)
    }

    fn output(&self) -> Output {
        Output::Systems(self.found.clone())
    }
}

fn launcher(id: &str) -> Option<Kernel> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, kernel)| kernel)
}

impl Binds<BatchedDenseProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        match launcher(kernel.id) {
            None if kernel.id.starts_with(FAER) => {
                Availability::Missing("this build has no faer (`--features faer`)".to_owned())
            }
            how => Availability::built(how.is_some()),
        }
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p BatchedDenseProblem,
        limit: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let kernel = launcher(configuration.kernel.id)
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let batches = Arc::clone(problem.batches());
        let bytes: u64 =
            problem.resident(configuration, limit).iter().map(|array| array.bytes).sum();
        limit
            .check("the solutions of the batch", bytes.into())
            .map_err(|error| PrepareError::Refused(error.to_string()))?;
        let sizes = || batches.sizes().iter().map(|s| (s.batch().unknowns(), s.batch().len()));
        let (format_bytes, minimal_bytes) = (batches.bytes(), problem.minimal_bytes());
        let costs = Costs { format_bytes, minimal_bytes, ..Costs::default() };
        let rhs = configuration.parameters.get(&RHS).as_str().to_owned();
        let right = problem.right_hand_sides(configuration);
        let found = sizes().map(|(n, systems)| Solutions::room_for(n, systems)).collect();
        let task = Box::new(Dense { kernel, batches, right, found });
        let params = BTreeMap::from([(RHS.id().name().to_owned(), rhs)]);
        self.prepared(configuration, |_| Ok(Bound { task, parts: None, costs, params }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::experiment::backend::Backend;
    use sparsescope_matrix::generate::{BatchSpec, generate_batch};
    use sparsescope_matrix::matrix::Batch;
    use sparsescope_model::kernel::{DeviceKind, Parameters, kernels};
    use sparsescope_record::{Operation, Verdict};

    #[test]
    fn launchers_are_in_step_with_the_descriptors() {
        let cpu = kernels(Operation::BatchedDense).iter().filter(|k| k.device == DeviceKind::Cpu);
        let here = |id: &&str| cfg!(feature = "faer") || !id.starts_with(FAER);
        let ids: Vec<_> = cpu.map(|k| k.id).filter(here).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, launched);
    }

    fn problem(recipe: &str) -> BatchedDenseProblem {
        let spec = BatchSpec::parse(recipe).unwrap();
        let never = AtomicBool::new(false);
        let batch = generate_batch(&spec, MemoryLimit::unlimited(), &never).unwrap();
        BatchedDenseProblem::new(Arc::new(batch.into()))
    }

    #[test]
    fn every_kernel_passes_the_gate_with_both_right_hand_sides_and_stops_when_told() {
        let backend = CpuBackend::new();
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        for (n, count) in [(1, 9), (2, 7), (3, 5), (5, 6), (8, 21), (28, 11), (77, 6), (131, 5)] {
            let problem = problem(&format!("spd-batch?n={n}&count={count}&bad=5"));
            for (id, _) in LAUNCHERS {
                for rhs in ["last-unit", "random"] {
                    let kernel = sparsescope_model::kernel::kernel(id).unwrap();
                    let parameters = Parameters::default().with(RHS.id(), rhs);
                    let threads = if kernel.takes.threads { 2 } else { 1 };
                    let configuration =
                        Configuration { parameters, threads, ..Configuration::usual(kernel) };
                    let memory = MemoryLimit::unlimited();
                    let mut prepared = backend.prepare(&configuration, &problem, memory).unwrap();
                    assert_eq!(prepared.params()["rhs"], rhs);
                    let output =
                        prepared.output(&Watch::cancelled_by(&go)).wait().unwrap().unwrap();
                    let check = problem.check(&configuration, &output);
                    assert_eq!(check.verdict, Verdict::Pass, "{id} n {n} {rhs} {:?}", check.reason);
                    let Output::Systems(found) = &output else { panic!("{}", output.kind()) };
                    let [found] = found.as_slice() else { panic!("one size of systems") };
                    let bad: Vec<usize> = (4..count).step_by(5).collect();
                    assert_eq!(found.flagged().collect::<Vec<_>>(), bad, "{id} {n}");
                    let solved = (count - bad.len()) as u64;
                    let n = n as u64;
                    let flops = (n * n * n * solved + 6 * n * n * solved) / 3;
                    assert_eq!(problem.work(&output).flops, flops);
                    assert_eq!(prepared.output(&Watch::cancelled_by(&stop)).wait().unwrap(), None);
                }
            }
            let files = problem.files(0);
            let told: serde_json::Value = serde_json::from_slice(&files["flagged.json"]).unwrap();
            assert_eq!(told["systems"], count);
            assert_eq!(told["numbers"].as_array().unwrap().len(), count / 5);
        }
    }

    #[test]
    fn systems_of_several_sizes_are_solved_and_told_apart_by_their_numbers() {
        let batch = |n: usize, corners: &[f64]| {
            let of = |corner: &f64| {
                let mut a = vec![0.0; n * n];
                a.iter_mut().step_by(n + 1).for_each(|value| *value = 2.0);
                a[n * n - 1] = *corner;
                a
            };
            Batch::new(n, corners.iter().flat_map(of).collect()).unwrap()
        };
        let sizes = vec![
            (batch(1, &[4.0, -1.0]), vec![3, 4]),
            (batch(3, &[16.0, -2.0, 4.0]), vec![0, 1, 2]),
        ];
        let batches = Arc::new(Batches::new(sizes).unwrap());
        let problem = BatchedDenseProblem::new(batches);
        let (backend, go) = (CpuBackend::new(), AtomicBool::new(false));
        for (id, _) in LAUNCHERS {
            let configuration =
                Configuration::usual(sparsescope_model::kernel::kernel(id).unwrap());
            let mut prepared =
                backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
            let output = prepared.output(&Watch::cancelled_by(&go)).wait().unwrap().unwrap();
            assert_eq!(problem.check(&configuration, &output).verdict, Verdict::Pass, "{id}");
            // Of size 4, then of 16 and 4 in the last place; 1/3 + 2 and 9 + 18 operations each.
            assert_eq!(problem.work(&output).flops, (7 + 2 * 81) / 3);
            let Output::Systems(mut found) = output else { panic!("no systems") };
            assert_eq!((found[0].x[0], &found[1].x[6..]), (0.25, &[0.0, 0.0, 0.25][..]), "{id}");
            found[1].x[8] = 0.3;
            let check = problem.check(&configuration, &Output::Systems(found.clone()));
            assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(2)));
            found[0].flagged[1] = false;
            let reason = problem.check(&configuration, &Output::Systems(found)).reason.unwrap();
            assert_eq!(reason, "system 4 is not positive definite but was not flagged");
        }
        let told: serde_json::Value =
            serde_json::from_slice(&problem.files(0)["flagged.json"]).unwrap();
        assert_eq!(told, serde_json::json!({"systems": 5, "flagged": 2, "numbers": [1, 4]}));
    }

    #[test]
    fn looking_for_what_has_no_solution_stops_when_told() {
        let problem = problem("spd-batch?n=10&count=100");
        assert_eq!(problem.find_reference(&AtomicBool::new(true)), Finished::Cancelled);
        assert_eq!(problem.find_reference(&AtomicBool::new(false)), Finished::Done);
        // Found once.
        assert_eq!(problem.find_reference(&AtomicBool::new(true)), Finished::Done);
    }

    #[test]
    fn solutions_that_do_not_fit_are_refused_with_their_bytes() {
        let problem = problem("spd-batch?n=10&count=100");
        let configuration =
            Configuration::usual(sparsescope_model::kernel::kernel("cpu/dense/gauss").unwrap());
        let limit = MemoryLimit::bytes(8099);
        let refused = CpuBackend::new().prepare(&configuration, &problem, limit).err().unwrap();
        assert!(refused.to_string().contains("needs 8100 bytes"), "{refused}");
    }
}
