//! The factor of a preconditioner on the device, set up on either side.

use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::solving::Asked;
use sparsescope_core::experiment::{PrepareError, Watch};
use sparsescope_core::fsai::{Fsai, SetUp};
use sparsescope_core::kernel::SetUpBy;
use sparsescope_core::matrix::{AnyFormat, Csr};
use sparsescope_core::memory::MemoryLimit;

use super::source::Source;
use crate::arrays::Arrays;
use crate::device::{Device, DeviceError};
use crate::fsai::{DeviceFsai, FsaiSetUpError, GatheredBy};
use crate::refusal::refused;
use crate::upload::{Uploaded, Uploads};

/// Seconds of each phase of a setup, in order.
pub(super) type Phases = Vec<(&'static str, f64)>;

/// G and Gᵀ in CSR on the device, the source of operators in any format.
pub(super) struct Factor {
    pub(super) g: Source,
    pub(super) gt: Source,
    pub(super) phases: Phases,
    /// The setup's report.
    pub(super) report: SetUp,
}

impl Factor {
    /// Sets it up where requested, from A on the device in CSR; `None` when cancelled.
    pub(super) fn set_up(
        device: &Device,
        (a, uploads): (&Uploaded<f64>, &Uploads<f64>),
        asked: &Asked<'_>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, PrepareError> {
        let by = match asked.set_up_by() {
            SetUpBy::Device => GatheredBy::Device,
            SetUpBy::Split => GatheredBy::Processor,
            SetUpBy::Processor => {
                let Some(fsai) = asked.factor(memory, watch)? else { return Ok(None) };
                return Self::copied(device, uploads, &fsai).map(Some);
            }
        };
        let Arrays::Csr { row_ptr, slots } = a.copy() else {
            return Err(refused(DeviceError::Format("formats other than CSR here")));
        };
        let (host, inverse) = (asked.problem().a(), asked.inverse());
        let cancelled = || watch.is_cancelled();
        let a = (&**host, row_ptr, slots);
        let made = DeviceFsai::of_arrays(device, a, &inverse, by, memory, &cancelled);
        match made.map_err(refused_set_up)? {
            Some(made) => Self::stayed(device, asked, made).map(Some),
            None => Ok(None),
        }
    }

    /// A factor made on the device.
    fn stayed(device: &Device, asked: &Asked<'_>, made: DeviceFsai) -> Result<Self, PrepareError> {
        let report = made.report().clone();
        let [g, gt] = made.into_arrays().map(|arrays| Source::Made(Arc::new(arrays)));
        let phases = phases_of(&report);
        if asked.problem().is_g_wanted() {
            asked.keep(&g.to_host(device)?);
        }
        Ok(Self { g, gt, phases, report })
    }

    /// A factor made on the CPU.
    fn copied(device: &Device, uploads: &Uploads<f64>, fsai: &Fsai) -> Result<Self, PrepareError> {
        let begun = Instant::now();
        let upload = |of: &Arc<Csr>| {
            let copy = uploads.matrix(device, &AnyFormat::Csr(Arc::clone(of)));
            copy.and_then(Source::copied).map_err(refused)
        };
        let (g, gt) = (upload(fsai.g())?, upload(fsai.gt())?);
        let report = fsai.report().clone();
        let mut phases = phases_of(&report);
        phases.push(("transfer", begun.elapsed().as_secs_f64()));
        Ok(Self { g, gt, phases, report })
    }
}

fn phases_of(report: &SetUp) -> Phases {
    report.phases.iter().map(|phase| (phase.name, phase.seconds)).collect()
}

fn refused_set_up(error: FsaiSetUpError) -> PrepareError {
    match error {
        FsaiSetUpError::Device(error) => refused(error),
        FsaiSetUpError::Fsai(error) => error.into(),
    }
}
