//! The factor of a preconditioner on the device, however it was set up.

use std::sync::Arc;
use std::time::Instant;

use sparsescope_core::experiment::solving::Asked;
use sparsescope_core::experiment::{PrepareError, Watch};
use sparsescope_core::fsai::{Fsai, SetUp};
use sparsescope_core::matrix::{AnyFormat, Csr};
use sparsescope_core::memory::MemoryLimit;

use crate::device::Device;
use crate::refusal::refused;
use crate::upload::{Uploaded, Uploads};

/// Seconds of each phase of a set-up, in order.
pub(super) type Phases = Vec<(&'static str, f64)>;

/// G and Gᵀ in CSR on the device: what operators of any format are made of.
pub(super) struct Factor {
    pub(super) g: Arc<Uploaded<f64>>,
    pub(super) gt: Arc<Uploaded<f64>>,
    pub(super) phases: Phases,
    /// What the set-up tells of itself.
    pub(super) report: SetUp,
}

impl Factor {
    /// Set up on the processor and copied; none once it is cancelled.
    pub(super) fn set_up(
        device: &Device,
        uploads: &Uploads<f64>,
        asked: &Asked<'_>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, PrepareError> {
        let Some(fsai) = asked.factor(memory, watch)? else { return Ok(None) };
        Self::copied(device, uploads, &fsai).map(Some)
    }

    /// One that the processor has.
    fn copied(device: &Device, uploads: &Uploads<f64>, fsai: &Fsai) -> Result<Self, PrepareError> {
        let begun = Instant::now();
        let upload = |of: &Arc<Csr>| {
            uploads.matrix(device, &AnyFormat::Csr(Arc::clone(of))).map_err(refused)
        };
        let (g, gt) = (upload(fsai.g())?, upload(fsai.gt())?);
        let report = fsai.report().clone();
        let mut phases: Phases =
            report.phases.iter().map(|phase| (phase.name, phase.seconds)).collect();
        phases.push(("transfer", begun.elapsed().as_secs_f64()));
        Ok(Self { g, gt, phases, report })
    }
}
