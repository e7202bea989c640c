//! Memory of the device that frees itself.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};

use crate::device::{Device, DeviceError, Doing};

/// A share in memory of the device: as long as it is held, the memory is not freed.
pub(crate) type Memory = Arc<dyn Any + Send + Sync>;

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
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self { memory: Arc::clone(&self.memory), ..*self }
    }
}

impl<T: DeviceRepr + 'static> Buffer<T> {
    /// An array whose contents are left as they are. Its memory is checked for beforehand.
    pub(crate) fn unset(device: &Device, what: &str, len: usize) -> Result<Self, DeviceError> {
        let memory = Arc::new(allocate(device, what, len)?);
        Ok(Self { memory, start: 0, len })
    }

    /// A copy of `host`.
    pub(crate) fn of(device: &Device, what: &str, host: &[T]) -> Result<Self, DeviceError> {
        let mut memory = allocate(device, what, host.len())?;
        if !host.is_empty() {
            let copied = device.stream().memcpy_htod(host, &mut memory);
            copied.doing("copy to the device")?;
            // The host's memory may go before the stream comes to the copy.
            device.synchronize()?;
        }
        Ok(Self { memory: Arc::new(memory), start: 0, len: host.len() })
    }

    /// These elements of it.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Self> {
        let inside = range.start <= range.end && range.end <= self.len;
        let (start, len) = (self.start + range.start, range.len());
        inside.then(|| Self { memory: Arc::clone(&self.memory), start, len })
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of the elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.len as u64 * size_of::<T>() as u64
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

impl<T: DeviceRepr + Clone + Default + 'static> Buffer<T> {
    /// Its contents, once all work before is done.
    pub(crate) fn read(&self, device: &Device) -> Result<Vec<T>, DeviceError> {
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

fn allocate<T: DeviceRepr>(
    device: &Device,
    what: &str,
    len: usize,
) -> Result<CudaSlice<T>, DeviceError> {
    let len = len.max(1);
    device.check_memory(what, (len as u64).saturating_mul(size_of::<T>() as u64))?;
    // SAFETY: `DeviceRepr` types hold any bits; whoever reads the array writes it before.
    let memory = unsafe { device.stream().alloc::<T>(len) };
    memory.doing("allocate memory")
}
