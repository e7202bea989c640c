//! Times of the phases of a setup.

use std::time::Instant;

use sparsescope_core::fsai::{Phase, SetUp};

use crate::device::{Device, DeviceError};
use crate::setup::Setup;

/// The phases so far, and their results.
pub(super) struct Phases<'d> {
    device: &'d Device,
    begun: Instant,
    pub(super) report: SetUp,
}

impl<'d> Phases<'d> {
    pub(super) fn new(device: &'d Device) -> Self {
        Self { device, begun: Instant::now(), report: SetUp::default() }
    }

    pub(super) fn device(&self) -> &'d Device {
        self.device
    }

    /// Runs a phase or a part of one: times it without allocation and copies. Its temporary memory
    /// is freed at its end.
    pub(super) fn run<R, E: From<DeviceError>>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&Setup<'d>) -> Result<R, E>,
    ) -> Result<R, E> {
        let setup = Setup::new(self.device);
        setup.begin()?;
        let made = work(&setup)?;
        self.add(name, setup.seconds()?);
        Ok(made)
    }

    /// Runs a phase on the host, or copies: all of its time counts.
    pub(super) fn on_host<R, E>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let start = Instant::now();
        let made = work()?;
        self.add(name, start.elapsed().as_secs_f64());
        Ok(made)
    }

    fn add(&mut self, name: &'static str, seconds: f64) {
        match self.report.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.seconds += seconds,
            None => self.report.phases.push(Phase { name, seconds }),
        }
    }

    /// All phases, with the remaining time.
    pub(super) fn finished(mut self, device: &Device) -> Result<SetUp, DeviceError> {
        device.synchronize()?;
        let rest = self.begun.elapsed().as_secs_f64() - self.report.seconds();
        self.add("allocate", rest.max(0.0));
        Ok(self.report)
    }
}
