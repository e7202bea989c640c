//! The results of kernels, with guards around them that no kernel may write.

use sparsescope_core::experiment::Output;

use crate::buffer::{Buffer, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::{Step, enqueue};
use crate::value::DeviceReal;

/// Number of guard elements before and after a result that no kernel may write.
pub(crate) const GUARD: usize = 64;

/// The message when guards have changed.
pub(crate) const WROTE_BESIDE: &str = "it wrote outside its result";

/// The output of a kernel.
pub(crate) trait Written {
    /// Fills it with a value that no kernel computes.
    fn spoil(&self, device: &Device) -> Result<(), DeviceError>;

    /// The result or what is wrong with it, and the seconds of copying.
    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError>;
}

/// A result vector between guards.
pub(crate) struct GuardedVector<T> {
    with_guards: Buffer<T>,
    elements: Buffer<T>,
}

impl<T: DeviceReal> GuardedVector<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let host = vec![T::GUARD; len + 2 * GUARD];
        let with_guards = Buffer::of(device, "the vector y", &host)?;
        let elements = with_guards.part(GUARD..GUARD + len);
        let elements = elements.expect("the elements lie between the guards"); // invariant
        Ok(Self { with_guards, elements })
    }

    /// Time spent on creating it; the guards, which are for the check, are not counted as copies.
    pub(crate) fn spent(&self) -> Spent {
        Spent { upload_s: 0.0, ..self.with_guards.spent() }
    }

    /// The elements without the guards.
    pub(crate) fn elements(&self) -> &Buffer<T> {
        &self.elements
    }
}

impl<T: DeviceReal> Written for GuardedVector<T> {
    /// Fills the elements, not the guards, with NaN: all bits set.
    fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &[Step::fill(&self.elements, 0xff)])
    }

    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (mut host, seconds) = self.with_guards.read(device)?;
        let intact = |guard: &[T]| guard.iter().all(|v| v.is_guard());
        let after = host.split_off(GUARD + self.elements.len());
        let elements = host.split_off(GUARD);
        let result = match intact(&host) && intact(&after) {
            true => Ok(T::output(elements)),
            false => Err(WROTE_BESIDE.to_owned()),
        };
        Ok((result, seconds))
    }
}
