//! The scalars of a solve on several GPUs: each has its share of every sum, and all compute the
//! same from the totals.

use super::state::{Form, Scalars, Vectors};
use super::sums::{Sum, shape, span};
use crate::arguments::{PcgConclude, PcgShareBegin, PcgShareReduce, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step};

/// Sums of an iteration: p·q over rows without halo and over the others, r·r, r·z, and the number
/// of stop requests, in the order of `pcg.cu`.
const SUMS: usize = 5;
const STOP: usize = 4;

/// What a solve's totals are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// ‖b‖.
    Begin = 0,
    /// α.
    Product = 1,
    /// The residual before the first iteration or after one, and β.
    Residual = 2,
}

/// A GPU's shares of sums, and the totals over all GPUs.
pub(crate) struct Shares {
    pub(crate) shares: Buffer<f64>,
    pub(crate) totals: Buffer<f64>,
    /// The number 1.
    one: Buffer<f64>,
}

impl Shares {
    /// A single array for both if a GPU is alone.
    pub(crate) fn new(device: &Device, is_alone: bool) -> Result<Self, DeviceError> {
        let array = || Buffer::of(device, "the partial sums", &[0.0; SUMS]);
        let shares = array()?;
        let totals = if is_alone { shares.clone() } else { array()? };
        let one = Buffer::of(device, "the number 1", &[1.0])?;
        Ok(Self { shares, totals, one })
    }

    /// Resets them: a GPU without rows of a kind never writes their share.
    pub(crate) fn reset(&self) -> [Step; 2] {
        [Step::zero(&self.shares), Step::zero(&self.totals)]
    }

    /// Requests a stop from this GPU, until the next reset: all stop once the next residual is
    /// summed.
    pub(crate) fn stop(&self) -> Step {
        let place = self.shares.part(STOP..STOP + 1);
        Step::copy(&place.expect("there is a share of stops"), &self.one) // invariant
    }

    /// The place of the share of p·q over rows without halo, or over the others.
    pub(crate) fn of_product(&self, with_halo: bool) -> Buffer<f64> {
        let place = usize::from(with_halo);
        self.shares.part(place..place + 1).expect("there are two shares of p·q") // invariant
    }
}

impl Scalars {
    /// The same solve's scalars for a launch of up to `blocks` blocks, which puts its share of a
    /// sum into `share` and runs beside others.
    pub(crate) fn for_share(
        &self,
        device: &Device,
        share: Buffer<f64>,
        blocks: u64,
    ) -> Result<Self, DeviceError> {
        let product = Sum::of(device, blocks.max(shape(self.rows).grid))?;
        Ok(Self { numbers: share, product, ..self.clone() })
    }

    /// r = b, and the share of b·b.
    pub(crate) fn share_begin(
        &self,
        device: &Device,
        shares: &Shares,
        v: &Vectors<'_>,
    ) -> Result<Step, DeviceError> {
        let arguments = PcgShareBegin {
            n: self.rows,
            span: span(self.rows),
            b: Reads(v.b),
            r: Writes(v.r),
            parts: Writes(&self.residual.parts),
            counts: Writes(&self.residual.counts),
            shares: Writes(&shares.shares),
        };
        // SAFETY: a block takes a span of elements, none from n on, and vectors have n; the sums of
        // blocks have enough space, and there is a share for each sum.
        unsafe { Launch::new(device, "pcg_share_begin", shape(self.rows), &arguments) }
            .map(Step::Launch)
    }

    /// r −= α·q, and the shares of r·r and r·z; before the first iteration r −= q.
    pub(crate) fn share_reduce(
        &self,
        device: &Device,
        is_first: bool,
        form: Form<'_>,
        shares: &Shares,
        v: &Vectors<'_>,
    ) -> Result<Step, DeviceError> {
        let (number, inverse, _) = form.parts(v.r);
        let arguments = PcgShareReduce {
            n: self.rows,
            span: span(self.rows),
            is_first: u32::from(is_first),
            form: number,
            inverse: Reads(inverse),
            q: Reads(v.q),
            r: Writes(v.r),
            parts: Writes(&self.residual.parts),
            counts: Writes(&self.residual.counts),
            numbers: Reads(&self.numbers),
            words: Reads(&self.words),
            shares: Writes(&shares.shares),
        };
        // SAFETY: as above; there is space for two sums per block.
        unsafe { Launch::new(device, "pcg_share_reduce", shape(self.rows), &arguments) }
            .map(Step::Launch)
    }

    /// Computes the scalars from the totals.
    pub(crate) fn conclude(
        &self,
        device: &Device,
        at: At,
        tol: f64,
        shares: &Shares,
    ) -> Result<Step, DeviceError> {
        let arguments = PcgConclude {
            at: at as u32,
            most: self.most,
            tol,
            totals: Reads(&shares.totals),
            numbers: Writes(&self.numbers),
            words: Writes(&self.words),
            told: Writes(&self.told),
        };
        let one = Shape { grid: 1, block: 1, shared_bytes: 0 };
        // SAFETY: one thread; scalars and totals have their numbers of elements. An iteration is
        // recorded before `most` of them are done, or once they are, and there is space for one
        // more.
        unsafe { Launch::new(device, "pcg_conclude", one, &arguments) }.map(Step::Launch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_both_sides_are_the_same() {
        let (_, source) = crate::kernels::Family::Pcg.source();
        let (product, residual) = (At::Product as u32, At::Residual as u32);
        for expected in [
            format!("SHARE_PQ = 0, SHARE_RR = 2, SHARE_RZ = 3, SHARE_STOP = {STOP};"),
            format!("AT_BEGIN = 0, AT_PRODUCT = {product}, AT_RESIDUAL = {residual};"),
        ] {
            assert!(source.contains(&expected), "{expected}");
        }
        assert!(crate::kernels::COMMON.1.contains("FOR_SHARE = 2;"));
    }
}
