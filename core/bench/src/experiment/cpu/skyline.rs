//! The CPU kernels for the skyline (Pareto front), bound to points.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::CpuBackend;
use crate::experiment::backend::{Availability, Prepared};
use crate::experiment::binding::Binds;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::SkylineProblem;
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use sparsescope_kernels::skyline::{Cancelled, Found, fast, own_points, serial, shared_marks};
use sparsescope_matrix::matrix::{Points, PointsView};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_record::Costs;

/// A kernel: returns the skyline points, or `None` when it was stopped.
type Kernel = fn(PointsView<'_>, MemoryLimit, &Cancelled<'_>) -> Result<Option<Found>, MemoryError>;

/// The launchers of this backend, in the order of the descriptors.
const LAUNCHERS: &[(&str, Kernel)] = &[
    ("cpu/skyline/serial", serial),
    ("cpu/skyline/own-points", own_points),
    ("cpu/skyline/shared-marks", shared_marks),
    ("cpu/skyline/fast", fast),
];

struct Skyline {
    id: &'static str,
    kernel: Kernel,
    points: Arc<Points>,
    limit: MemoryLimit,
    found: Found,
}

impl Task for Skyline {
    fn spoil(&mut self) {
        // No index is that large, so a result that was not overwritten fails the check.
        self.found = Found { indices: vec![u32::MAX], comparisons: 0 };
    }

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        let points = std::hint::black_box(self.points.view());
        let found = (self.kernel)(points, self.limit, &|| watch.is_cancelled());
        let failed = |error: MemoryError| KernelError::new(self.id, error.to_string());
        match found.map_err(failed)? {
            Some(found) => {
                self.found = found;
                Ok(Finished::Done)
            }
            None => Ok(Finished::Cancelled),
        }
    }

    fn output(&self) -> Output {
        Output::Points(self.found.clone())
    }
}

fn launcher(id: &str) -> Option<Kernel> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, kernel)| kernel)
}

impl Binds<SkylineProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        Availability::built(launcher(kernel.id).is_some())
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SkylineProblem,
        limit: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let id = configuration.kernel.id;
        let kernel = launcher(id)
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let points = Arc::clone(problem.points());
        // Memory traffic does not determine the time, so no minimum is given.
        let costs = Costs { format_bytes: points.bytes(), ..Costs::default() };
        let task = Box::new(Skyline { id, kernel, points, limit, found: Found::default() });
        self.prepared(configuration, |_| {
            Ok(Bound { task, parts: None, costs, params: BTreeMap::new() })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::experiment::backend::Backend;
    use crate::experiment::problem::Problem;
    use sparsescope_kernels::skyline::PointsPicture;
    use sparsescope_model::kernel::{DeviceKind, kernels};
    use sparsescope_record::{Operation, Verdict};

    #[test]
    fn launchers_are_in_step_with_the_descriptors() {
        let cpu = kernels(Operation::Skyline).iter().filter(|k| k.device == DeviceKind::Cpu);
        let ids: Vec<_> = cpu.map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, launched);
    }

    #[test]
    fn every_kernel_passes_the_gate_and_one_that_is_stopped_has_no_result() {
        // A staircase with the points below it, and a copy of one step.
        let step = |k: u32| [f64::from(k), f64::from(9 - k)];
        let below = |k: u32| [f64::from(k) - 0.5, f64::from(9 - k) - 0.5];
        let points: Vec<f64> =
            (0..10).flat_map(|k| [step(k), below(k)]).chain([step(3)]).flatten().collect();
        let points = Arc::new(Points::new(2, points).unwrap());
        let problem = SkylineProblem::new(points);
        let backend = CpuBackend::new();
        for kernel in kernels(Operation::Skyline).iter().filter(|k| k.device == DeviceKind::Cpu) {
            let configuration = Configuration { threads: 2, ..Configuration::usual(kernel) };
            let memory = MemoryLimit::unlimited();
            let mut prepared = backend.prepare(&configuration, &problem, memory).unwrap();
            let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
            let output = prepared.output(&Watch::cancelled_by(&go)).wait().unwrap().unwrap();
            let check = problem.check(&configuration, &output);
            assert_eq!(check.verdict, Verdict::Pass, "{} {:?}", kernel.id, check.reason);
            let Output::Points(found) = &output else { panic!("{}", output.kind()) };
            assert_eq!(found.indices, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20], "{}", kernel.id);
            assert!(problem.work(&output).comparisons > 0, "{}", kernel.id);
            assert_eq!(prepared.output(&Watch::cancelled_by(&stop)).wait().unwrap(), None);
        }
    }

    #[test]
    fn a_wrong_first_result_is_not_what_others_are_held_against() {
        let points = Arc::new(Points::new(1, vec![1.0, 3.0, 3.0, 2.0]).unwrap());
        let problem = SkylineProblem::new(points);
        let configuration = Configuration::usual(&kernels(Operation::Skyline)[0]);
        let verdict = |indices: &[u32]| {
            let found = Found { indices: indices.to_vec(), comparisons: 1 };
            problem.check(&configuration, &Output::Points(found)).verdict
        };
        for wrong in [&[1][..], &[1, 2, 3], &[0, 1, 2], &[], &[u32::MAX], &[2, 1], &[1, 1, 2]] {
            assert_eq!(verdict(wrong), Verdict::Fail, "{wrong:?}");
            assert!(problem.certificate().is_none());
            assert!(problem.files(1).is_empty());
        }
        assert_eq!(verdict(&[1, 2]), Verdict::Pass);
        assert!(problem.certificate().is_some());
        let picture = PointsPicture::from_files(&problem.files(1)).unwrap().unwrap();
        assert!((picture.is_kept(1), picture.is_kept(2)) == (true, true));
        assert!(picture.dominator(0).is_some() && picture.dominator(3).is_some());
        assert!(problem.files(0).is_empty());
        assert_eq!(verdict(&[1]), Verdict::Fail);
    }
}
