//! The results of kernels, with guards around them that no kernel may write.

use std::ops::Range;

use sparsescope_core::experiment::Output;
use sparsescope_core::matrix::transposed;

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

/// A result vector between guards, or a matrix that is read by rows.
pub(crate) struct GuardedVector<T> {
    elements: Buffer<T>,
    /// Before and after the elements.
    guards: [Buffer<T>; 2],
    /// Time spent on allocating it; the guards, which are for the check, are not counted as copies.
    spent: Spent,
    /// The number of rows of a matrix that is stored by columns.
    rows: Option<usize>,
}

impl<T: DeviceReal> GuardedVector<T> {
    /// With elements that are NaN.
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let all = Buffer::unset(device, "the vector y", len + 2 * GUARD)?;
        let part = |range: Range<usize>| all.part(range).expect("it lies within"); // invariant
        let elements = part(GUARD..GUARD + len);
        let guards = [part(0..GUARD), part(GUARD + len..len + 2 * GUARD)];
        // Only these come from the host: Y of many columns is larger than A.
        let guard = Buffer::of(device, "the guards", &[T::GUARD; GUARD])?;
        let [before, after] = guards.each_ref().map(|to| Step::copy(to, &guard));
        enqueue(device, &[before, after, Step::fill(&elements, 0xff)])?;
        device.synchronize()?;
        Ok(Self { elements, guards, spent: all.spent(), rows: None })
    }

    /// A matrix that is stored by columns.
    pub(crate) fn by_columns(
        device: &Device,
        rows: usize,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        Ok(Self { rows: Some(rows), ..Self::new(device, rows * columns)? })
    }

    /// Time spent on creating it.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
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
        let (elements, seconds) = self.elements.read(device)?;
        for guard in &self.guards {
            let (guard, _) = guard.read(device)?;
            if !guard.iter().all(|v| v.is_guard()) {
                return Ok((Err(WROTE_BESIDE.to_owned()), seconds));
            }
        }
        let elements = match self.rows {
            Some(rows) => transposed(&elements, rows),
            None => elements,
        };
        Ok((Ok(T::output(elements)), seconds))
    }
}

/// A vector that needs no guards, because no kernel has it as its result.
impl<T: DeviceReal> Written for Buffer<T> {
    fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        enqueue(device, &[Step::fill(self, 0xff)])
    }

    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (host, seconds) = Buffer::read(self, device)?;
        Ok((Ok(T::output(host)), seconds))
    }
}

/// x after a symmetric sweep, with x between its two halves where the kernel keeps it.
pub(crate) struct Swept<T> {
    pub(crate) x: GuardedVector<T>,
    pub(crate) between: Option<Box<dyn Written>>,
}

impl<T: DeviceReal> Written for Swept<T> {
    fn spoil(&self, device: &Device) -> Result<(), DeviceError> {
        self.x.spoil(device)?;
        self.between.iter().try_for_each(|between| between.spoil(device))
    }

    fn read(&self, device: &Device) -> Result<(Result<Output, String>, f64), DeviceError> {
        let (x, seconds) = self.x.read(device)?;
        let Some(between) = &self.between else { return Ok((x, seconds)) };
        let (between, _) = between.read(device)?;
        let both = x.and_then(|x| Ok(Output::Sweep(Box::new([x, between?]))));
        Ok((both, seconds))
    }
}
