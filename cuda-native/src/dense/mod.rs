//! Launchers for batches of dense systems: for each kernel, the steps for the systems of each size.

mod cholesky;
mod found;
mod gauss;
mod library;
mod operands;

use std::any::Any;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::{
    Availability, BatchedDenseProblem, Binds, Configuration, PrepareError, Prepared, Problem,
};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::kernel::parameters::RHS;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Costs;

use crate::backend::CudaBackend;
use crate::buffer::{Buffer, Spent};
use crate::cublas::Cublas;
use crate::cusolver::Cusolver;
use crate::launch::Bound;
use crate::machine::Machine;
use crate::one_gpu::{OneGpu, Parts};
use crate::refusal::{admit_block, refused};
use crate::upload::UploadedRight;
use found::Found;
use library::Library;
use operands::{Asked, Sized, most_systems};

/// How a kernel is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Gauss,
    Cholesky,
    Cublas,
    Cusolver,
}

/// One per kernel of this backend, in the order of the descriptors.
const LAUNCHERS: &[(&str, How)] = &[
    ("cuda/dense/gauss-shared", How::Gauss),
    ("cuda/dense/cholesky", How::Cholesky),
    ("vendor/cublas/dense", How::Cublas),
    ("vendor/cusolver/dense", How::Cusolver),
];

fn launcher(id: &str) -> Option<How> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, how)| how)
}

/// A kernel, with the library that it calls.
enum Ready {
    /// Threads per block, if requested.
    Gauss(Option<u32>),
    Cholesky,
    Cublas(Rc<Cublas>),
    Cusolver(Rc<Cusolver>),
}

impl Ready {
    fn of(machine: &Machine, how: How, block: Option<u32>) -> Result<Self, PrepareError> {
        Ok(match how {
            How::Gauss => {
                block.map_or(Ok(()), admit_block)?;
                Self::Gauss(block)
            }
            How::Cholesky => Self::Cholesky,
            How::Cublas => Self::Cublas(machine.cublas().map_err(PrepareError::Unsupported)?),
            How::Cusolver => Self::Cusolver(machine.cusolver().map_err(PrepareError::Unsupported)?),
        })
    }

    /// The steps for systems of one size.
    fn bind(&self, systems: &Sized<'_>) -> Result<Asked, PrepareError> {
        match self {
            Self::Gauss(block) => gauss::bind(systems, *block),
            Self::Cholesky => cholesky::bind(systems).map_err(refused),
            Self::Cublas(library) => {
                library::bind(systems, Library::Cublas(Rc::clone(library))).map_err(refused)
            }
            Self::Cusolver(library) => {
                library::bind(systems, Library::Cusolver(Rc::clone(library))).map_err(refused)
            }
        }
    }
}

impl Binds<BatchedDenseProblem> for CudaBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        let missing = match launcher(kernel.id) {
            Some(How::Gauss | How::Cholesky) => None,
            Some(How::Cublas) => self.machine.cublas().err(),
            Some(How::Cusolver) => self.machine.cusolver().err(),
            None => return Availability::built(false),
        };
        missing.map_or(Availability::Available, Availability::Missing)
    }

    /// The systems are computed one size after another.
    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p BatchedDenseProblem,
        limit: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let (kernel, device, host) = (configuration.kernel, self.device(), problem.batches());
        let how = launcher(kernel.id)
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let ready = Ready::of(&self.machine, how, configuration.block)?;
        let bytes: u64 =
            problem.resident(configuration, limit).iter().map(|array| array.bytes).sum();
        limit
            .check("the solutions of the batch", bytes.into())
            .map_err(|error| PrepareError::Refused(error.to_string()))?;

        let matrices = self.batches.matrices(device, host).map_err(refused)?;
        let given = problem.given_right_hand_sides(configuration);
        let right =
            given.map(|right| self.batches.right(device, &right)).transpose().map_err(refused)?;
        let sizes =
            host.sizes().iter().map(|sized| (sized.batch().unknowns(), sized.batch().len()));
        let found = Found::new(device, sizes).map_err(refused)?;

        let begun = Instant::now();
        let mut bound = Bound::of(Vec::new());
        for (k, (a, place)) in matrices.copy().iter().zip(found.places()).enumerate() {
            let systems = most_systems(place.systems).map_err(refused)?;
            if systems == 0 {
                continue;
            }
            let b = right.as_ref().and_then(|right| right.copy().get(k));
            let n = place.unknowns;
            let asked = ready.bind(&Sized { device, systems, n, a, b, place })?;
            let Asked { reset, steps, finish, workspace_bytes, spent } = asked;
            bound.reset.extend(reset);
            bound.steps.extend(steps);
            bound.finish.extend(finish);
            bound.workspace_bytes += workspace_bytes;
            bound.spent = bound.spent + spent;
        }
        device.synchronize().map_err(refused)?;
        let bound_s = begun.elapsed().as_secs_f64();
        let spent = spent_on(matrices.copy(), right.as_ref()) + found.spent() + bound.spent;
        let costs = Costs {
            plan_s: (bound_s - bound.spent.allocate_s - bound.spent.upload_s).max(0.0),
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            launches: bound.launches(device).map_err(refused)?,
            format_bytes: host.bytes() + bound.workspace_bytes,
            minimal_bytes: problem.minimal_bytes(),
            ..Costs::default()
        };
        let mut _operands: Vec<Box<dyn Any>> = vec![Box::new(matrices)];
        _operands.extend(right.map(|right| Box::new(right) as Box<dyn Any>));
        let parts = Parts { bound, y: found, groups: None, passes: None, _operands };
        let rhs = configuration.parameters.get(&RHS).as_str().to_owned();
        let params = BTreeMap::from([(RHS.id().name().to_owned(), rhs)]);
        let bound = OneGpu::kernel(&self.machine, kernel.id, parts, costs, params)?;
        Ok(Box::new(bound.prepared()))
    }
}

/// Time spent on copying the operands.
fn spent_on(matrices: &[Buffer<f64>], right: Option<&Arc<UploadedRight>>) -> Spent {
    let right = right.into_iter().flat_map(|right| right.copy());
    let all = matrices.iter().chain(right).map(Buffer::spent);
    all.fold(Spent::default(), |sum, one| sum + one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, kernels};
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::BatchedDense).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn our_kernels_functions_are_named_as_their_ids_in_files_of_the_operation() {
        let sources: Vec<_> = crate::Family::ALL.iter().map(|family| family.source()).collect();
        for (id, _) in LAUNCHERS.iter().filter(|(id, _)| id.starts_with("cuda/")) {
            let (_, name) = id.split_once('/').unwrap();
            let function = format!(" {}", name.replace(['/', '-'], "_"));
            let with_it = |(file, source): &&(&str, &str)| {
                file.starts_with("dense") && source.contains(&function) && source.contains(id)
            };
            assert!(sources.iter().any(|source| with_it(&source)), "{function}");
        }
    }
}
