//! Reads the progress of a running solve.

use cudarc::driver::{CudaEvent, PinnedHostSlice, result, sys};

use super::state::Look;
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, Doing};

/// Host memory to which the scalars' words are copied, and the event that marks the copy's
/// completion. Copies to the same place arrive in the order in which they were enqueued on one
/// stream.
pub(crate) struct Glance {
    words: PinnedHostSlice<u32>,
    come: CudaEvent,
}

impl Glance {
    pub(crate) fn new(device: &Device) -> Result<Self, DeviceError> {
        // SAFETY: any bits are a valid word, and they are read only after a copy has completed.
        let words = unsafe { device.context().alloc_pinned_with_flags(Look::WORDS, 0) };
        let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let come = device.context().new_event(flags).doing("create an event")?;
        Ok(Self { words: words.doing("allocate host memory")?, come })
    }

    /// Adds the copy of the words to the stream.
    pub(crate) fn ask(&mut self, device: &Device, words: &Buffer<u32>) -> Result<(), DeviceError> {
        let to = self.words.as_mut_ptr().doing("copy from the device")?;
        let stream = device.stream();
        // SAFETY: both sides have this many words; those of the host are pinned, and not read
        // before the event that follows.
        let copied = unsafe {
            let to = std::slice::from_raw_parts_mut(to, Look::WORDS);
            result::memcpy_dtoh_async(to, words.address(), stream.cu_stream())
        };
        copied.doing("copy from the device")?;
        self.come.record(stream).doing("record an event")
    }

    /// The event that marks their arrival.
    pub(crate) fn come(&self) -> &CudaEvent {
        &self.come
    }

    /// Waits for them.
    pub(crate) fn look(&self) -> Result<Look, DeviceError> {
        self.come.synchronize().doing("synchronize")?;
        Ok(Look::of(self.words.as_slice().doing("copy from the device")?))
    }
}

impl Drop for Glance {
    /// Waits for a pending copy.
    fn drop(&mut self) {
        // If that fails the context is lost, and its memory with it.
        let _ = self.come.synchronize();
    }
}
