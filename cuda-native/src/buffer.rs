//! Memory of the device that frees itself.

use std::any::Any;
use std::ops::{Add, Range};
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};
use sparsescope_core::matrix::Real;

use crate::device::{Device, DeviceError, Doing};

/// A share in memory of the device: as long as it is held, the memory is not freed.
pub(crate) type Memory = Arc<dyn Any + Send + Sync>;

/// Seconds that it took to make arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) allocate_s: f64,
    /// Copying what they hold to the device.
    pub(crate) upload_s: f64,
}

impl Add for Spent {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            allocate_s: self.allocate_s + other.allocate_s,
            upload_s: self.upload_s + other.upload_s,
        }
    }
}

/// An array on the device, or a part of one. Clones are the same memory, which is freed with the
/// last of them. Even an empty one takes memory, so that its address is valid.
///
/// Its contents are set once, when it is made; afterwards only kernels write to it, and
/// [`Step::fill`](crate::launch::Step::fill) where it holds values.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    memory: Arc<CudaSlice<T>>,
    start: usize,
    len: usize,
    spent: Spent,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { memory: Arc::clone(&self.memory), ..*self }
    }
}

impl<T: DeviceRepr + 'static> Buffer<T> {
    /// An array whose contents are left as they are. Its memory is checked for beforehand.
    pub(crate) fn unset(device: &Device, what: &str, len: usize) -> Result<Self, DeviceError> {
        let (memory, allocate_s) = allocate(device, what, len)?;
        let spent = Spent { allocate_s, upload_s: 0.0 };
        Ok(Self { memory: Arc::new(memory), start: 0, len, spent })
    }

    /// A copy of `host`.
    pub(crate) fn of(device: &Device, what: &str, host: &[T]) -> Result<Self, DeviceError> {
        let (mut memory, allocate_s) = allocate(device, what, host.len())?;
        let start = Instant::now();
        if !host.is_empty() {
            let copied = device.stream().memcpy_htod(host, &mut memory);
            copied.doing("copy to the device")?;
            // The host's memory may go before the stream comes to the copy.
            device.synchronize()?;
        }
        let spent = Spent { allocate_s, upload_s: start.elapsed().as_secs_f64() };
        Ok(Self { memory: Arc::new(memory), start: 0, len: host.len(), spent })
    }

    /// These elements of it.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Self> {
        let inside = range.start <= range.end && range.end <= self.len;
        let (start, len) = (self.start + range.start, range.len());
        let spent = Spent::default();
        inside.then(|| Self { memory: Arc::clone(&self.memory), start, len, spent })
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// There are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.len as u64 * size_of::<T>() as u64
    }

    /// What it took to make it; nothing for a part of another.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// Address on the device, valid while [`Buffer::memory`] is held.
    pub(crate) fn address(&self) -> u64 {
        let (first, _) = self.memory.device_ptr(self.memory.stream());
        first + self.start as u64 * size_of::<T>() as u64
    }

    /// What keeps its memory.
    pub(crate) fn memory(&self) -> Memory {
        Arc::clone(&self.memory) as Memory
    }
}

impl<T: DeviceRepr + Default + Clone + 'static> Buffer<T> {
    /// Its contents, once all work before is done.
    pub(crate) fn to_host(&self, device: &Device) -> Result<Vec<T>, DeviceError> {
        let mut host = vec![T::default(); self.len];
        if !host.is_empty() {
            let part = self.memory.try_slice(self.start..self.start + self.len);
            let part = part.expect("a part lies within its memory"); // invariant
            let copied = device.stream().memcpy_dtoh(&part, &mut host);
            copied.doing("copy from the device")?;
        }
        device.synchronize()?;
        Ok(host)
    }
}

impl<T: DeviceRepr + Real> Buffer<T> {
    /// Its contents, once all work before is done, and the seconds of copying them.
    pub(crate) fn read(&self, device: &Device) -> Result<(Vec<T>, f64), DeviceError> {
        // Written to, so that the copy need not wait for the system to find pages.
        let mut host = vec![T::NAN; self.len];
        device.synchronize()?;
        let start = Instant::now();
        if !host.is_empty() {
            let part = self.memory.try_slice(self.start..self.start + self.len);
            let part = part.expect("a part lies within its memory"); // invariant
            let copied = device.stream().memcpy_dtoh(&part, &mut host);
            copied.doing("copy from the device")?;
        }
        device.synchronize()?;
        Ok((host, start.elapsed().as_secs_f64()))
    }
}

/// Memory for so many elements, and the seconds that it took.
fn allocate<T: DeviceRepr>(
    device: &Device,
    what: &str,
    len: usize,
) -> Result<(CudaSlice<T>, f64), DeviceError> {
    let len = len.max(1);
    device.check_memory(what, (len as u64).saturating_mul(size_of::<T>() as u64))?;
    let start = Instant::now();
    // SAFETY: `DeviceRepr` types hold any bits; whoever reads the array writes it before.
    let memory = unsafe { device.stream().alloc::<T>(len) };
    let memory = memory.doing("allocate memory")?;
    device.synchronize()?;
    Ok((memory, start.elapsed().as_secs_f64()))
}
