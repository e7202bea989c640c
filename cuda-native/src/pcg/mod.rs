//! Conjugate gradients on a GPU: `cuda/pcg/device`, entirely on the device, and the vendor's
//! libraries, called one after another.

mod distances;
mod distinct;
mod factor;
mod glance;
mod hacks;
mod operator;
mod preconditioner;
mod prepared;
mod program;
mod shares;
mod solver;
mod source;
mod state;
mod sums;
mod system;
mod vendor;

use sparsescope_core::experiment::solving::Asked;
use sparsescope_core::experiment::{
    Availability, Binds, Configuration, PrepareError, Prepared, SolveProblem, Watch,
};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::memory::MemoryLimit;

pub(crate) use glance::Glance;
pub(crate) use operator::Operator;
pub(crate) use shares::{At, Shares};
pub(crate) use source::Source;
pub(crate) use state::{Ended, Form, Product, Purpose, Scalars, Vectors};

use crate::backend::CudaBackend;
use crate::cusparse::Direction;
use crate::solves::PreparedSolver;
use prepared::OnOne;
use solver::Solver;
use vendor::Library;

/// How a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// By our own launches.
    Device,
    /// By the vendor's libraries, using either the factor's stored transpose or the transposed
    /// operation.
    Library(Direction),
}

/// One per kernel of this backend, in the order of the descriptors.
const LAUNCHERS: &[(&str, How)] = &[
    ("cuda/pcg/device", How::Device),
    ("vendor/cusparse/pcg", How::Library(Direction::Plain)),
    ("vendor/cusparse/pcg-transposed", How::Library(Direction::Transposed)),
];

fn launcher(id: &str) -> Option<How> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, how)| how)
}

impl Binds<SolveProblem> for CudaBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        let missing = match launcher(kernel.id) {
            Some(How::Device) => None,
            Some(How::Library(_)) => {
                self.machine.cusparse().err().or_else(|| self.machine.cublas().err())
            }
            None => return Availability::built(false),
        };
        missing.map_or(Availability::Available, Availability::Missing)
    }

    /// Does not run the setup yet.
    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SolveProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let id = configuration.kernel.id;
        let absent = || PrepareError::Unsupported("not included in this build".to_owned());
        let how = launcher(id).ok_or_else(absent)?;
        let has = Binds::<SolveProblem>::has(self, configuration.kernel);
        if let Availability::Missing(reason) = has {
            return Err(PrepareError::Unsupported(reason));
        }
        let asked = Asked::new(problem, configuration.parameters.clone());
        let params = problem.params(configuration);
        let (machine, uploads) = (&self.machine, &self.double);
        Ok(match how {
            How::Device => {
                let set_up = move |asked: &Asked<'p>, watch: &Watch<'_>| {
                    let made = Solver::set_up(machine, uploads, asked, memory, watch);
                    made.map(|made| made.map(|made| OnOne::of(machine, made)))
                };
                Box::new(PreparedSolver::new(Some(machine), id, asked, params, Box::new(set_up)))
            }
            How::Library(direction) => {
                let set_up = move |asked: &Asked<'p>, watch: &Watch<'_>| {
                    let made = Library::set_up(machine, uploads, (asked, direction), memory, watch);
                    made.map(|made| made.map(|made| OnOne::of(machine, made)))
                };
                Box::new(PreparedSolver::new(Some(machine), id, asked, params, Box::new(set_up)))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, kernels};
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::Solve).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }
}
