//! NCCL, loaded at run time: communication between GPUs.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::buffer::Buffer;
use crate::device::{Device, DeviceError};
use crate::library::{function_table, open};

type Handle = *mut c_void;

function_table! {
    /// The NCCL functions used; all but one return 0 on success.
    Functions {
        ncclGetVersion(*mut c_int) -> c_int;
        ncclGetErrorString(c_int) -> *const c_char;
        ncclCommInitAll(*mut Handle, c_int, *const c_int) -> c_int;
        ncclGetUniqueId(*mut UniqueId) -> c_int;
        ncclCommInitRank(*mut Handle, c_int, UniqueId, c_int) -> c_int;
        ncclCommDestroy(Handle) -> c_int;
        ncclCommAbort(Handle) -> c_int;
        ncclCommGetAsyncError(Handle, *mut c_int) -> c_int;
        ncclAllReduce(*const c_void, *mut c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int;
        ncclSend(*const c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int;
        ncclRecv(*mut c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int;
        ncclGroupStart() -> c_int;
        ncclGroupEnd() -> c_int;
    }
}

/// The ID through which the ranks of a communicator find one another, created by one rank and sent
/// to the others.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UniqueId([u8; UniqueId::BYTES]);

impl UniqueId {
    pub(crate) const BYTES: usize = 128;

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// From bytes, if there are exactly as many as the ID has.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// The library's constants for f64 and for sums.
const FLOAT64: c_int = 8;
const SUM: c_int = 0;

/// Its status while an operation is in progress.
const IN_PROGRESS: c_int = 7;

/// The library.
pub(crate) struct Nccl {
    functions: Functions,
    version: String,
}

impl Nccl {
    /// Loads the library, or returns why it cannot.
    pub(crate) fn find() -> Result<Arc<Self>, String> {
        if cfg!(windows) {
            return Err("NCCL: not available on Windows".to_owned());
        }
        let (library, path) =
            open(&["libnccl.so.2"], "nccl").map_err(|why| format!("NCCL: {why}"))?;
        let functions =
            Functions::new(library).map_err(|why| format!("{}: {why}", path.display()))?;
        let mut version = 0;
        // SAFETY: the pointer is valid.
        let status = unsafe { (functions.ncclGetVersion)(&mut version) };
        check(&functions, "ncclGetVersion", status).map_err(|error| error.to_string())?;
        Ok(Arc::new(Self { functions, version: version_name(version) }))
    }

    /// `2.27.3`.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// A communicator for each of these devices, in their order: rank k is on `ordinals[k]`.
    pub(crate) fn communicators(
        self: &Arc<Self>,
        ordinals: &[usize],
    ) -> Result<Vec<Communicator>, DeviceError> {
        let devices: Vec<c_int> = ordinals.iter().map(|&ordinal| ordinal as c_int).collect();
        let mut handles = vec![ptr::null_mut(); devices.len()];
        // SAFETY: both arrays have the stated number of elements.
        let status = unsafe {
            let count = devices.len() as c_int;
            (self.functions.ncclCommInitAll)(handles.as_mut_ptr(), count, devices.as_ptr())
        };
        check(&self.functions, "ncclCommInitAll", status)?;
        Ok(handles.into_iter().map(|handle| self.communicator(handle)).collect())
    }

    /// A new ID for a communicator of several processes.
    pub(crate) fn unique_id(&self) -> Result<UniqueId, DeviceError> {
        let mut id = UniqueId([0; UniqueId::BYTES]);
        // SAFETY: the pointer is valid.
        let status = unsafe { (self.functions.ncclGetUniqueId)(&mut id) };
        check(&self.functions, "ncclGetUniqueId", status)?;
        Ok(id)
    }

    /// This rank's part of the communicator with that ID, on the device of the current context.
    /// Waits for all ranks.
    pub(crate) fn join(
        self: &Arc<Self>,
        id: UniqueId,
        (rank, ranks): (usize, usize),
    ) -> Result<Communicator, DeviceError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid, and the ID is passed by value.
        let status = unsafe {
            let join = self.functions.ncclCommInitRank;
            join(&mut handle, ranks as c_int, id, rank as c_int)
        };
        check(&self.functions, "ncclCommInitRank", status)?;
        Ok(self.communicator(handle))
    }

    fn communicator(self: &Arc<Self>, handle: Handle) -> Communicator {
        Communicator { library: Arc::clone(self), handle, aborted: AtomicBool::new(false) }
    }
}

/// One GPU's part of a communicator. Its operations are added to a stream of that GPU.
pub(crate) struct Communicator {
    library: Arc<Nccl>,
    handle: Handle,
    aborted: AtomicBool,
}

// SAFETY: a communicator may be used from any thread, one at a time, which `&self` in one thread is.
unsafe impl Send for Communicator {}

/// Elements sent to or received from another rank: a part of an array, and the rank.
pub(crate) struct Passage {
    pub(crate) peer: usize,
    pub(crate) elements: Buffer<f64>,
}

impl Communicator {
    /// Adds to the device's stream: `totals` becomes the sum of all ranks' `shares`, the same bits on each.
    pub(crate) fn all_reduce(
        &self,
        device: &Device,
        shares: &Buffer<f64>,
        totals: &Buffer<f64>,
    ) -> Result<(), DeviceError> {
        assert_eq!(shares.len(), totals.len(), "as many sums as shares");
        let (from, to) = (shares.address() as *const c_void, totals.address() as *mut c_void);
        let stream = device.stream().cu_stream().cast();
        // SAFETY: both arrays have this many elements on the communicator's device and are kept
        // alive by the caller, who waits for the stream.
        self.check("ncclAllReduce", unsafe {
            let reduce = self.library.functions.ncclAllReduce;
            reduce(from, to, shares.len(), FLOAT64, SUM, self.handle, stream)
        })
    }

    /// Adds to the device's stream: sends and receives, all at once.
    pub(crate) fn exchange(
        &self,
        device: &Device,
        sends: &[Passage],
        receives: &[Passage],
    ) -> Result<(), DeviceError> {
        let functions = &self.library.functions;
        let stream = device.stream().cu_stream().cast();
        // SAFETY: the group is ended below.
        self.check("ncclGroupStart", unsafe { (functions.ncclGroupStart)() })?;
        let send = |one: &Passage| {
            let (from, count) = (one.elements.address() as *const c_void, one.elements.len());
            // SAFETY: as above.
            self.check("ncclSend", unsafe {
                let send = functions.ncclSend;
                send(from, count, FLOAT64, one.peer as c_int, self.handle, stream)
            })
        };
        let receive = |one: &Passage| {
            let (to, count) = (one.elements.address() as *mut c_void, one.elements.len());
            // SAFETY: as above.
            self.check("ncclRecv", unsafe {
                let receive = functions.ncclRecv;
                receive(to, count, FLOAT64, one.peer as c_int, self.handle, stream)
            })
        };
        let asked = sends.iter().try_for_each(send);
        let asked = asked.and_then(|()| receives.iter().try_for_each(receive));
        // Always end the group, or all later calls would belong to it. SAFETY: it was started
        // above.
        let ended = self.check("ncclGroupEnd", unsafe { (functions.ncclGroupEnd)() });
        asked.and(ended)
    }

    /// Fails if an earlier operation failed.
    pub(crate) fn check_progress(&self) -> Result<(), DeviceError> {
        if self.aborted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut status = 0;
        // SAFETY: the communicator is open, the pointer valid.
        let asked =
            unsafe { (self.library.functions.ncclCommGetAsyncError)(self.handle, &mut status) };
        self.check("ncclCommGetAsyncError", asked)?;
        match status {
            IN_PROGRESS => Ok(()),
            status => self.check("a communication between GPUs", status),
        }
    }

    /// Aborts operations in progress, so that the device's streams complete. The communicator is
    /// unusable afterwards.
    pub(crate) fn abort(&self) {
        if !self.aborted.swap(true, Ordering::Relaxed) {
            // SAFETY: the communicator is open, and closed here only.
            let _ = unsafe { (self.library.functions.ncclCommAbort)(self.handle) };
        }
    }

    fn check(&self, call: &'static str, status: c_int) -> Result<(), DeviceError> {
        check(&self.library.functions, call, status)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if !*self.aborted.get_mut() {
            // SAFETY: the communicator is open, and closed here only.
            let _ = unsafe { (self.library.functions.ncclCommDestroy)(self.handle) };
        }
    }
}

/// `2.27.3` from 22703; versions before 2.9 were encoded in hundreds.
fn version_name(version: c_int) -> String {
    let base = if version < 10_000 { 1000 } else { 10_000 };
    format!("{}.{}.{}", version / base, version % base / 100, version % 100)
}

fn check(functions: &Functions, call: &'static str, status: c_int) -> Result<(), DeviceError> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: the library returns a constant NUL-terminated string for any number.
    let text = unsafe { (functions.ncclGetErrorString)(status) };
    let meaning = match text.is_null() {
        true => String::new(),
        // SAFETY: as above.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    };
    let status = format!("{status} ({meaning})");
    Err(DeviceError::Library { library: "NCCL", call, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(version_name(22_703), "2.27.3");
        assert_eq!(version_name(2804), "2.8.4");
    }
}
