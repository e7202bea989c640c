//! The vectors of a system on the device.

use sparsescope_core::experiment::solving::Asked;
use sparsescope_core::pcg::{SolveParameters, Start};

use super::state::Vectors;
use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::guarded::{GuardedVector, Written};
use crate::solves::Failure;

/// b, the start of a solve if given, x between guards, and the work vectors.
pub(super) struct System {
    b: Buffer<f64>,
    start: Option<Buffer<f64>>,
    x: GuardedVector<f64>,
    r: Buffer<f64>,
    p: Buffer<f64>,
    q: Buffer<f64>,
}

impl System {
    /// For the requested system; the residual is stored where a preconditioner reads it, if it has
    /// a place.
    pub(super) fn new(
        device: &Device,
        asked: &Asked<'_>,
        how: &SolveParameters,
        residual: Option<Buffer<f64>>,
    ) -> Result<Self, DeviceError> {
        let rows = asked.problem().a().rows();
        let vector = |what| Buffer::unset(device, what, rows);
        let start = match &how.start {
            Start::Given(x) => Some(Buffer::of(device, "the starting vector", x)?),
            Start::Zero | Start::Preconditioned => None,
        };
        Ok(Self {
            b: Buffer::of(device, "the right-hand side", &asked.b())?,
            start,
            x: GuardedVector::new(device, rows)?,
            r: residual.map_or_else(|| vector("the vector r"), Ok)?,
            p: vector("the vector p")?,
            q: vector("the vector q")?,
        })
    }

    /// The vectors.
    pub(super) fn vectors(&self) -> Vectors<'_> {
        Vectors { b: &self.b, x: self.x.elements(), r: &self.r, p: &self.p, q: &self.q }
    }

    /// The start of a solve, if given.
    pub(super) fn start(&self) -> Option<&Buffer<f64>> {
        self.start.as_ref()
    }

    /// x, and the seconds of copying it.
    pub(super) fn read(&self, device: &Device) -> Result<(Vec<f64>, f64), Failure> {
        let (x, seconds) = self.x.read(device)?;
        Ok((x.map_err(Failure::Beside)?.in_f64(), seconds))
    }

    /// Bytes of all vectors.
    pub(super) fn bytes(&self) -> u64 {
        let given = self.start.as_ref().map_or(0, Buffer::bytes);
        5 * self.b.bytes() + given
    }

    /// Time spent on creating them.
    pub(super) fn spent(&self) -> Spent {
        let given = self.start.as_ref().map(Buffer::spent).unwrap_or_default();
        let worked_on = self.r.spent() + self.p.spent() + self.q.spent();
        self.b.spent() + given + self.x.spent() + worked_on
    }
}
