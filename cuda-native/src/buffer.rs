//! Device memory, freed on drop.

use std::any::Any;
use std::ops::{Add, Range};
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};
use sparsescope_core::matrix::{Real, repeated};

use crate::device::{Device, DeviceError, Doing};

/// Shared ownership of device memory: it is not freed while this is held.
pub(crate) type Memory = Arc<dyn Any + Send + Sync>;

/// Seconds spent on making arrays, without the look at free memory before large ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) allocate_s: f64,
    /// Copying their contents to the device.
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

/// An array on the device, or a part of one. Clones share the memory, which is freed with the last
/// of them. Even an empty one allocates memory, so that its address is valid.
///
/// Its contents are set once, when it is created; afterwards only kernels write to it, and
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
    /// An uninitialised array, for work on the device's stream. Checks for free memory first.
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
            // The host memory may be freed before the stream reaches the copy.
            device.synchronize()?;
        }
        let spent = Spent { allocate_s, upload_s: start.elapsed().as_secs_f64() };
        Ok(Self { memory: Arc::new(memory), start: 0, len: host.len(), spent })
    }

    /// The elements of `range`.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Self> {
        let inside = range.start <= range.end && range.end <= self.len;
        let (start, len) = (self.start + range.start, range.len());
        let spent = Spent::default();
        inside.then(|| Self { memory: Arc::clone(&self.memory), start, len, spent })
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.len as u64 * size_of::<T>() as u64
    }

    /// Time spent on creating it; zero for a part of another.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// Address on the device, valid while [`Buffer::memory`] is held.
    pub(crate) fn address(&self) -> u64 {
        let (first, _) = self.memory.device_ptr(self.memory.stream());
        first + self.start as u64 * size_of::<T>() as u64
    }

    /// The owner of its memory.
    pub(crate) fn memory(&self) -> Memory {
        Arc::clone(&self.memory) as Memory
    }
}

impl<T: DeviceRepr + Default + Clone + 'static> Buffer<T> {
    /// Copies its contents to the host, after all previous work.
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
    /// Its contents, after all previous work, and the seconds spent on copying them.
    pub(crate) fn read(&self, device: &Device) -> Result<(Vec<T>, f64), DeviceError> {
        // Touched, so that the copy does not wait for page faults.
        let mut host = repeated(T::NAN, self.len);
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

/// Allocates memory for `len` elements; also returns the seconds it took.
fn allocate<T: DeviceRepr>(
    device: &Device,
    what: &str,
    len: usize,
) -> Result<(CudaSlice<T>, f64), DeviceError> {
    let len = len.max(1);
    let needed = (len as u64).saturating_mul(size_of::<T>() as u64);
    device.check_memory(what, needed)?;
    let start = Instant::now();
    // SAFETY: any bits are valid for `DeviceRepr` types; the array is written before it is read.
    let of_stream = || unsafe { device.stream().alloc::<T>(len) };
    let memory = match of_stream() {
        Ok(memory) => memory,
        // Nobody looks for room for a small array before.
        Err(_) => {
            let free = device.room()?;
            if free < needed {
                return Err(DeviceError::Memory { what: what.to_owned(), needed, free });
            }
            of_stream().doing("allocate memory")?
        }
    };
    Ok((memory, start.elapsed().as_secs_f64()))
}
