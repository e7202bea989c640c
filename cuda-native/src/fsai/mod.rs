//! Setup of the factorised sparse approximate inverse on the device: pattern, groups of rows, dense
//! systems, postfilter and transpose, with the same bits in every run.

mod classes;
mod error;
mod factor;
mod groups;
mod loaded;
mod matrix;
mod pattern;
mod phases;
mod powers;
mod queue;
mod request;
mod solver;
mod split;
mod systems;

use sparsescope_core::fsai::{
    Cancelled, FsaiError, FsaiParameters, PatternRule, SetUp, pattern_of,
};
use sparsescope_core::matrix::{Csr, Offset};
use sparsescope_core::memory::MemoryLimit;

use crate::arguments::Element;
use crate::arrays::{Arrays, Offsets, Slots};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
pub use error::FsaiSetUpError;
use factor::{DeviceFactor, transposed, without_small};
use loaded::load;
use matrix::Matrix;
use pattern::{DevicePattern, Kept};
use phases::Phases;
use queue::Queue;
pub use request::GatheredBy;
use request::Request;
use solver::Solver;
use systems::Systems;

/// Maximum number of rows: kernels use one bit of row numbers as a mark.
const MOST_ROWS: u64 = i32::MAX as u64;

/// A factorised sparse approximate inverse GᵀG of a symmetric positive definite n × n matrix, on a device.
#[derive(Debug)]
pub struct DeviceFsai {
    g: DeviceFactor,
    gt: DeviceFactor,
    report: SetUp,
}

impl DeviceFsai {
    /// Copies A to the device and sets the inverse up there, as
    /// [`Fsai::set_up`](sparsescope_core::fsai::Fsai::set_up) does on the CPU; the copy is not
    /// timed. `limit` applies to host memory. `None` when cancelled.
    pub fn set_up(
        device: &Device,
        a: &Csr,
        parameters: &FsaiParameters,
        by: GatheredBy,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Option<Self>, FsaiSetUpError> {
        let offsets = Offsets::of(device, "the row offsets", a.row_ptr())?;
        let slots = Slots::of(device, a.col(), a.val())?;
        Self::of_arrays(device, (a, &offsets, &slots), parameters, by, limit, cancelled)
    }

    /// The same for a matrix on the device.
    pub(crate) fn of_arrays(
        device: &Device,
        (a, offsets, slots): (&Csr, &Offsets, &Slots<f64>),
        parameters: &FsaiParameters,
        by: GatheredBy,
        limit: MemoryLimit,
        cancelled: &Cancelled<'_>,
    ) -> Result<Option<Self>, FsaiSetUpError> {
        parameters.check()?;
        let (rows, cols) = (a.rows(), a.cols());
        if rows != cols {
            return Err(FsaiError::NotSquare { rows, cols }.into());
        }
        let (found, most) = (rows as u64, MOST_ROWS);
        if found > most {
            return Err(DeviceError::TooLarge { what: "the number of rows", found, most }.into());
        }
        let request = Request { a, parameters, by, limit, cancelled };
        match offsets {
            Offsets::Narrow(row_ptr) => Self::begun(device, (row_ptr, slots), &request),
            Offsets::Wide(row_ptr) => Self::begun(device, (row_ptr, slots), &request),
        }
    }

    fn begun<O: Offset + Element>(
        device: &Device,
        (row_ptr, slots): (&Buffer<O>, &Slots<f64>),
        request: &Request<'_>,
    ) -> Result<Option<Self>, FsaiSetUpError> {
        let &Request { a: host, parameters, by, cancelled, .. } = request;
        let rows = host.rows() as u32;
        if rows == 0 {
            let empty = || DeviceFactor::empty(device);
            return Ok(Some(Self { g: empty()?, gt: empty()?, report: SetUp::default() }));
        }
        load::<O>(device)?;
        let mut phases = Phases::new(device);
        let a = phases.run("prefilter", |setup| {
            Matrix::of(setup, (rows, host.nnz() as u64), (row_ptr, slots), parameters.shift)
        })?;
        let Some(pattern) = found_pattern(&mut phases, &a, request)? else { return Ok(None) };
        phases.report.entries_pattern = pattern.entries;
        let systems = match parameters.merge {
            _ if cancelled() => return Ok(None),
            None => Systems::of_rows(pattern),
            Some(merging) => {
                phases.run("group", |setup| groups::found(setup, &pattern, merging))?
            }
        };
        let queue = phases.run("values", |setup| Queue::of(setup, &systems))?;
        queue.tell(&systems, &mut phases.report);
        if cancelled() {
            return Ok(None);
        }
        let g = match by {
            GatheredBy::Device => phases.run("values", |setup| {
                let solver = Solver::new(setup, &a, &systems, &queue)?;
                solver.all()?;
                solver.finished()
            })?,
            GatheredBy::Processor => {
                match split::solved(&mut phases, request, &a, &systems, &queue)? {
                    Some(g) => g,
                    None => return Ok(None),
                }
            }
        };
        phases.report.entries_before_filter = g.entries();
        let tau = parameters.postfilter;
        let g = match tau > 0.0 {
            true => phases.run("postfilter", |setup| without_small(setup, &a, &g, tau))?,
            false => g,
        };
        phases.report.entries = g.entries();
        if cancelled() {
            return Ok(None);
        }
        let gt = phases.run("transpose", |setup| transposed(setup, &g))?;
        let report = phases.finished(device)?;
        Ok(Some(Self { g, gt, report }))
    }

    /// Times and results of the setup. The phases are those of the CPU; where systems are gathered
    /// there, `gather` and `transfer` precede `values`. `allocate` is everything else: allocating,
    /// freeing and copying.
    pub fn report(&self) -> &SetUp {
        &self.report
    }

    /// Bytes of device memory used by G and Gᵀ.
    pub fn bytes(&self) -> u64 {
        self.g.bytes() + self.gt.bytes()
    }

    /// G and Gᵀ in CSR, as stored on the device.
    pub(crate) fn into_arrays(self) -> [Arrays<f64>; 2] {
        [self.g, self.gt].map(DeviceFactor::into_arrays)
    }

    /// G, n × n, lower triangular with a positive diagonal, copied to the host.
    pub fn g(&self, device: &Device) -> Result<Csr, FsaiSetUpError> {
        self.g.to_host(device)
    }

    /// Its transpose.
    pub fn gt(&self, device: &Device) -> Result<Csr, FsaiSetUpError> {
        self.gt.to_host(device)
    }
}

/// The pattern before rows are merged; the host computes patterns that are not powers.
fn found_pattern<O: Offset + Element>(
    phases: &mut Phases<'_>,
    a: &Matrix<'_, O>,
    request: &Request<'_>,
) -> Result<Option<DevicePattern>, FsaiSetUpError> {
    let &Request { a: host, parameters, limit, cancelled, .. } = request;
    let (power, climbing) = match parameters.pattern {
        PatternRule::Recursive { power } => (power, false),
        PatternRule::Power { power } => (power, true),
        PatternRule::Adaptive { .. } | PatternRule::Given(_) => {
            phases.report.entries_prefiltered = host.nnz() as u64;
            let found =
                phases.on_host("pattern", || pattern_of(host, parameters, limit, cancelled))?;
            let Some(found) = found else { return Ok(None) };
            return Ok(Some(
                phases.run("pattern", |setup| DevicePattern::uploaded(setup, &found))?,
            ));
        }
    };
    let kept = phases.run("prefilter", |setup| Kept::of(setup, a, parameters.prefilter))?;
    phases.report.entries_prefiltered = kept.entries;
    if cancelled() {
        return Ok(None);
    }
    let pattern = phases.run("pattern", |setup| match power {
        1 => DevicePattern::lower(setup, a, &kept),
        _ => powers::found(setup, a, &kept, (power, climbing)),
    })?;
    Ok(Some(pattern))
}
