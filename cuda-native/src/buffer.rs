//! Memory of the device that frees itself.

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};

use crate::device::{Device, DeviceError, Doing};

/// An array on the device. Even an empty one takes memory, so that its address is valid.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    memory: CudaSlice<T>,
    len: usize,
}

impl<T: DeviceRepr> Buffer<T> {
    /// An array whose contents are left as they are. Its memory is checked for beforehand.
    pub(crate) fn unset(device: &Device, what: &str, len: usize) -> Result<Self, DeviceError> {
        device.check_memory(what, Self::bytes_of(len))?;
        // SAFETY: `DeviceRepr` types hold any bits; whoever reads the array writes it before.
        let memory = unsafe { device.stream().alloc::<T>(len.max(1)) };
        Ok(Self { memory: memory.doing("allocate memory")?, len })
    }

    /// A copy of `host`.
    pub(crate) fn of(device: &Device, what: &str, host: &[T]) -> Result<Self, DeviceError> {
        let mut made = Self::unset(device, what, host.len())?;
        if !host.is_empty() {
            let copied = device.stream().memcpy_htod(host, &mut made.memory);
            copied.doing("copy to the device")?;
            // The host's memory may go before the stream comes to the copy.
            device.synchronize()?;
        }
        Ok(made)
    }

    fn bytes_of(len: usize) -> u64 {
        (len.max(1) as u64).saturating_mul(size_of::<T>() as u64)
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes taken.
    pub(crate) fn bytes(&self) -> u64 {
        Self::bytes_of(self.len)
    }

    /// Address on the device.
    pub(crate) fn address(&self) -> u64 {
        self.memory.device_ptr(self.memory.stream()).0
    }

    /// Overwrites the array.
    pub(crate) fn write(&mut self, device: &Device, host: &[T]) -> Result<(), DeviceError> {
        let copied = device.stream().memcpy_htod(host, &mut self.memory);
        copied.doing("copy to the device")?;
        device.synchronize()
    }
}

impl<T: DeviceRepr + Clone + Default> Buffer<T> {
    /// Its contents, once all work before is done.
    pub(crate) fn read(&self, device: &Device) -> Result<Vec<T>, DeviceError> {
        let mut host = vec![T::default(); self.memory.len()];
        let copied = device.stream().memcpy_dtoh(&self.memory, &mut host);
        copied.doing("copy from the device")?;
        device.synchronize()?;
        host.truncate(self.len);
        Ok(host)
    }
}
