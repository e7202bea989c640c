//! Peer access to a device's memory within a group: NCCL reads and writes arrays on other devices
//! of the same process directly, and memory from a pool is accessible only to its own device until
//! the pool's access is set.

use cudarc::driver::{DriverError, result, sys};

use crate::device::{Device, DeviceError, Doing};

/// Gives those of the first `ranks` devices that can reach it access to the device's memory pool;
/// NCCL uses another path to the rest.
pub(super) fn open_pool(device: &Device, ranks: usize) -> Result<(), DeviceError> {
    let own = device.context().cu_device();
    let reaches = |ordinal: usize| {
        let peer = result::device::get(ordinal as i32)?;
        let mut can = 0;
        // SAFETY: both devices exist, and the pointer is valid.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, peer, own) }.result()?;
        Ok::<bool, DriverError>(can != 0)
    };
    let mut access = Vec::new();
    for ordinal in (0..ranks).filter(|&ordinal| ordinal != device.properties().ordinal) {
        if reaches(ordinal).doing("report which GPUs can access each other")? {
            let type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
            let location = sys::CUmemLocation_st { type_, id: ordinal as i32 };
            let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            access.push(sys::CUmemAccessDesc_st { location, flags });
        }
    }
    if access.is_empty() || !device.context().has_async_alloc() {
        return Ok(());
    }
    let mut pool = std::ptr::null_mut();
    // SAFETY: the device exists, and the pointer is valid.
    let found = unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, own) };
    found.result().doing("report its memory pool")?;
    // SAFETY: the pool is the device's, and there are as many descriptors as stated.
    let opened = unsafe { sys::cuMemPoolSetAccess(pool, access.as_ptr(), access.len()) };
    opened.result().doing("grant other GPUs access to its memory")
}
