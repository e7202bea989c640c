//! Launchers of the skyline operator: for each kernel, its device steps.

mod fast;
mod kept;
mod operands;
mod plain;
mod workspace;

use std::any::Any;
use std::collections::BTreeMap;
use std::time::Instant;

use sparsescope_core::experiment::{
    Availability, Binds, Configuration, PrepareError, Prepared, SkylineProblem,
};
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::kernel::parameters::COUNTING;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Costs;

use crate::backend::CudaBackend;
use crate::device::DeviceError;
use crate::one_gpu::{OneGpu, Parts};
use crate::refusal::{admit_block, refused};
use kept::Kept;
use operands::{MOST_DIMENSIONS, Points, Search};
use plain::Form;

/// Default threads per block.
const DEFAULT_BLOCK: u32 = 64;

/// How a kernel is run.
#[derive(Clone, Copy)]
enum How {
    /// One thread per point, compared with all others.
    Plain(Form),
    Fast,
}

/// One per kernel of this backend, in the order of the descriptors.
const LAUNCHERS: &[(&str, How)] = &[
    ("cuda/skyline/row-major", How::Plain(Form::RowMajor)),
    ("cuda/skyline/row-major-local", How::Plain(Form::RowMajorLocal)),
    ("cuda/skyline/coalesced-local", How::Plain(Form::CoalescedLocal)),
    ("cuda/skyline/coalesced", How::Plain(Form::Coalesced)),
    ("cuda/skyline/coalesced-registers", How::Plain(Form::CoalescedRegisters)),
    ("cuda/skyline/fast", How::Fast),
];

fn launcher(id: &str) -> Option<How> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, how)| how)
}

impl How {
    /// Maximum coordinates of a point, and why.
    fn bound(self) -> (u32, &'static str) {
        match self {
            Self::Plain(form) => form.bound(),
            Self::Fast => (MOST_DIMENSIONS, "no kernel supports more"),
        }
    }

    /// Maximum number of points.
    fn most_points(self) -> u32 {
        match self {
            Self::Plain(_) => i32::MAX as u32,
            Self::Fast => fast::MOST_POINTS,
        }
    }

    /// N and D, if within the kernel's limits.
    fn admit(self, points: usize, dimensions: usize) -> Result<(u32, u32), PrepareError> {
        let (most, why) = self.bound();
        let own = u32::try_from(dimensions).ok().filter(|&own| own <= most);
        let own = own.ok_or_else(|| {
            let reason = format!(
                "the points have {dimensions} dimensions, but it takes at most {most}: {why}"
            );
            PrepareError::Refused(reason)
        })?;
        let most = self.most_points();
        let n = u32::try_from(points).ok().filter(|&n| n <= most);
        let too_many = DeviceError::TooLarge {
            what: "the number of points",
            found: points as u64,
            most: most.into(),
        };
        Ok((n.ok_or(too_many).map_err(refused)?, own))
    }
}

impl Binds<SkylineProblem> for CudaBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        Availability::built(launcher(kernel.id).is_some())
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SkylineProblem,
        _: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let (kernel, device) = (configuration.kernel, self.device());
        let how = launcher(kernel.id)
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let host = problem.points();
        let (points, dimensions) = how.admit(host.len(), host.dimensions())?;
        let block = configuration.block.unwrap_or(DEFAULT_BLOCK);
        admit_block(block)?;

        let rows = self.points.points(device, host).map_err(refused)?;
        let counting = configuration.parameters.get(&COUNTING);
        let kept = Kept::new(device, host.len(), counting).map_err(refused)?;
        let begun = Instant::now();
        let on_device = Points { device, rows: rows.copy(), points, dimensions, kept: &kept };
        let search = match how {
            How::Plain(form) => plain::bind(&on_device, form, block),
            How::Fast => fast::bind(&on_device),
        };
        let Search { bound, conversion_s } = search.map_err(refused)?;
        device.synchronize().map_err(refused)?;
        let bound_s = begun.elapsed().as_secs_f64();
        let spent = rows.copy().spent() + kept.spent() + bound.spent;
        let costs = Costs {
            conversion_s,
            plan_s: (bound_s - bound.spent.allocate_s - bound.spent.upload_s - conversion_s)
                .max(0.0),
            upload_s: Some(spent.upload_s),
            allocate_s: Some(spent.allocate_s),
            launches: bound.launches(device).map_err(refused)?,
            // The kernel is not bound by memory traffic, so no minimum bytes are given.
            format_bytes: host.bytes() + bound.workspace_bytes,
            ..Costs::default()
        };
        let _operands: Vec<Box<dyn Any>> = vec![Box::new(rows)];
        let parts = Parts { bound, y: kept, groups: None, passes: None, _operands };
        let mut params = BTreeMap::new();
        if kernel.allowed(COUNTING.id()).is_some() {
            params.insert(COUNTING.id().name().to_owned(), counting.as_str().to_owned());
        }
        let bound = OneGpu::kernel(&self.machine, kernel.id, parts, costs, params)?;
        Ok(Box::new(bound.prepared()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_core::kernel::{DeviceKind, kernels};
    use sparsescope_core::record::Operation;

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let cuda = kernels(Operation::Skyline).iter().filter(|k| k.device == DeviceKind::Cuda);
        let described: Vec<_> = cuda.map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn a_kernels_function_is_named_as_its_id_in_a_file_of_the_operation() {
        let sources: Vec<_> = crate::Family::ALL.iter().map(|family| family.source()).collect();
        for (id, _) in LAUNCHERS {
            let (_, name) = id.split_once('/').unwrap();
            let function = format!(" {}(", name.replace(['/', '-'], "_"));
            let with_it = |(file, source): &&(&str, &str)| {
                file.starts_with("skyline") && source.contains(&function) && source.contains(id)
            };
            assert!(sources.iter().any(|source| with_it(&source)), "{function}");
        }
    }

    #[test]
    fn what_a_kernel_has_no_room_for_is_refused_in_a_sentence() {
        let refusal =
            |id: &str, points, dimensions| match launcher(id).unwrap().admit(points, dimensions) {
                Err(PrepareError::Refused(reason)) => reason,
                other => panic!("{other:?}"),
            };
        for (id, most) in [
            ("cuda/skyline/row-major", 1000),
            ("cuda/skyline/row-major-local", 256),
            ("cuda/skyline/coalesced-local", 256),
            ("cuda/skyline/coalesced", 1000),
            ("cuda/skyline/coalesced-registers", 32),
            ("cuda/skyline/fast", 1000),
        ] {
            let how = launcher(id).unwrap();
            assert_eq!(how.admit(5, most).unwrap(), (5, most as u32), "{id}");
            let reason = refusal(id, 5, most + 1);
            let expected =
                format!("the points have {} dimensions, but it takes at most {most}: ", most + 1);
            assert!(reason.starts_with(&expected), "{id}: {reason}");
            let many = how.most_points() as usize;
            assert!(how.admit(many, 1).is_ok());
            assert!(refusal(id, many + 1, 1).contains("the number of points"), "{id}");
        }
    }
}
