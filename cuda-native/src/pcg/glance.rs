//! A look at how far a solve has come, while it goes on.

use cudarc::driver::{CudaEvent, PinnedHostSlice, result, sys};

use super::state::Look;
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, Doing};

/// A place in the host's memory to which the scalars' words are copied, and when they have come. Words of the
/// same place come in the order in which one stream is asked for them.
pub(crate) struct Glance {
    words: PinnedHostSlice<u32>,
    come: CudaEvent,
}

impl Glance {
    pub(crate) fn new(device: &Device) -> Result<Self, DeviceError> {
        // SAFETY: any bits are a word, and they are read once a copy has come.
        let words = unsafe { device.context().alloc_pinned_with_flags(Look::WORDS, 0) };
        let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let come = device.context().new_event(flags).doing("make an event")?;
        Ok(Self { words: words.doing("allocate memory of the host")?, come })
    }

    /// Adds the copy of the words to the stream.
    pub(crate) fn ask(&mut self, device: &Device, words: &Buffer<u32>) -> Result<(), DeviceError> {
        let to = self.words.as_mut_ptr().doing("copy from the device")?;
        let stream = device.stream();
        // SAFETY: both sides have so many words; those of the host are pinned, and not looked at before the
        // event that follows.
        let copied = unsafe {
            let to = std::slice::from_raw_parts_mut(to, Look::WORDS);
            result::memcpy_dtoh_async(to, words.address(), stream.cu_stream())
        };
        copied.doing("copy from the device")?;
        self.come.record(stream).doing("record an event")
    }

    /// When they have come.
    pub(crate) fn come(&self) -> &CudaEvent {
        &self.come
    }

    /// Waits for them.
    pub(crate) fn look(&self) -> Result<Look, DeviceError> {
        self.come.synchronize().doing("finish its work")?;
        Ok(Look::of(self.words.as_slice().doing("copy from the device")?))
    }
}

impl Drop for Glance {
    /// Waits for a copy that nobody has looked at.
    fn drop(&mut self) {
        // Where that fails the context is lost, and its memory with it.
        let _ = self.come.synchronize();
    }
}
