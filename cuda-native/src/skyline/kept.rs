//! A kernel's verdict on each point, checked for out-of-bounds writes.

use std::time::Instant;

use sparsescope_core::experiment::Output;
use sparsescope_core::kernel::Counting;
use sparsescope_core::skyline::Found;

use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::guarded::{GUARD, WROTE_BESIDE, Written};
use crate::launch::{Step, enqueue};

/// Value of a guard, and value of a result that no kernel has written.
const GUARDED: u8 = 0xa5;
const SPOILT: u8 = 0xff;

/// Flag of a kept point.
const KEPT: u8 = 1;

/// One flag per point between guards: 1 if the point is kept, otherwise 0. The number of
/// skyline points, if the device counts them, and the number of comparisons.
pub(crate) struct Kept {
    with_guards: Buffer<u8>,
    flags: Buffer<u8>,
    counting: Counting,
    count: Buffer<u32>,
    comparisons: Buffer<u64>,
}

impl Kept {
    pub(super) fn new(
        device: &Device,
        points: usize,
        counting: Counting,
    ) -> Result<Self, DeviceError> {
        let host = vec![GUARDED; points + 2 * GUARD];
        let with_guards = Buffer::of(device, "the skyline flags", &host)?;
        let flags = with_guards.part(GUARD..GUARD + points);
        let flags = flags.expect("the flags lie between the guards"); // invariant
        let count = Buffer::of(device, "the skyline count", &[0])?;
        let comparisons = Buffer::of(device, "the comparisons", &[0])?;
        Ok(Self { with_guards, flags, counting, count, comparisons })
    }

    /// Time spent on creating it; copies are only for the check.
    pub(super) fn spent(&self) -> Spent {
        let numbers = self.count.spent() + self.comparisons.spent();
        let spent = self.with_guards.spent() + numbers;
        Spent { upload_s: 0.0, ..spent }
    }

    pub(super) fn flags(&self) -> &Buffer<u8> {
        &self.flags
    }

    /// Where the skyline points are counted.
    pub(super) fn counting(&self) -> Counting {
        self.counting
    }

    /// The number of skyline points, to which kernels add.
    pub(super) fn count(&self) -> &Buffer<u32> {
        &self.count
    }

    /// The number of comparisons, to which kernels add.
    pub(super) fn comparisons(&self) -> &Buffer<u64> {
        &self.comparisons
    }

    /// Zeroes the numbers to which kernels add.
    pub(super) fn zeroed(&self) -> [Step; 2] {
        // SAFETY: neither is used as an index.
        unsafe { [Step::fill_numbers(&self.count, 0), Step::fill_numbers(&self.comparisons, 0)] }
    }
}

impl Written for Kept {
    fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        // SAFETY: no flag is used as an index.
        enqueue(device, &[unsafe { Step::fill_numbers(&self.flags, SPOILT) }])
    }

    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError> {
        device.synchronize()?;
        let start = Instant::now();
        let mut flags = self.with_guards.to_host(device)?;
        let comparisons = self.comparisons.to_host(device)?;
        let on_device = || Ok::<u32, DeviceError>(self.count.to_host(device)?.into_iter().sum());
        let count = match self.counting {
            Counting::Device => on_device()?,
            // The report's other method. No guard value is a flag.
            Counting::Host => flags.iter().map(|&flag| u32::from(flag == KEPT)).sum(),
        };
        let seconds = start.elapsed().as_secs_f64();
        let after = flags.split_off(GUARD + self.flags.len());
        let own = flags.split_off(GUARD);
        let intact = |guard: &[u8]| guard.iter().all(|&byte| byte == GUARDED);
        if !intact(&flags) || !intact(&after) {
            return Ok((Err(WROTE_BESIDE.to_owned()), seconds));
        }
        if self.counting == Counting::Host && on_device()? != 0 {
            return Ok((
                Err("it counted skyline points on the device: expected counting on the host"
                    .to_owned()),
                seconds,
            ));
        }
        Ok((found(&own, count, comparisons.into_iter().sum()), seconds))
    }
}

/// The points flagged as kept, whose number must be `count`.
fn found(flags: &[u8], count: u32, comparisons: u64) -> Result<Output, String> {
    let mut indices = Vec::new();
    for (index, flag) in (0..).zip(flags) {
        match *flag {
            0 => {}
            KEPT => indices.push(index),
            _ => {
                return Err(format!("it did not write the flag of point {}", u64::from(index) + 1));
            }
        }
    }
    match indices.len() == count as usize {
        true => Ok(Output::Points(Found { indices, comparisons })),
        false => Err(format!("it counted {count} skyline points, but flagged {}", indices.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_the_indices_of_those_kept_and_one_that_was_not_written_is_no_result() {
        let kept = |indices: &[u32]| {
            Ok(Output::Points(Found { indices: indices.to_vec(), comparisons: 7 }))
        };
        assert_eq!(found(&[], 0, 7), kept(&[]));
        assert_eq!(found(&[1, 0, 0, 1, 1], 3, 7), kept(&[0, 3, 4]));
        let unwritten = found(&[1, 0, SPOILT], 1, 7).unwrap_err();
        assert_eq!(unwritten, "it did not write the flag of point 3");
        let miscounted = found(&[1, 0, 1], 3, 7).unwrap_err();
        assert_eq!(miscounted, "it counted 3 skyline points, but flagged 2");
    }
}
