//! One device: its context, stream, properties and loaded kernels.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, DriverError, result};
use cudarc::nvrtc::Ptx;
use sparsescope_core::kernel::{KernelDescriptor, UserKernel};
use sparsescope_core::memory::gigabytes;
use sparsescope_core::record::GpuAbsence;

use crate::cache::KernelCache;
use crate::kernels::Variant;
use crate::nvrtc::{CompileError, Nvrtc};
use crate::probe::{Probe, probe, status_name};
use crate::user_source;

/// A failure on the device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A driver call failed.
    #[error("the GPU driver failed to {doing}: {status}")]
    Driver {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The driver's status.
        status: String,
    },
    /// A kernel could not be built.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The device has too little free memory; found before allocating.
    #[error(
        "{what}: needs {needed} bytes ({}) of GPU memory, but only {free} bytes ({}) are free",
        gigabytes(*.needed), gigabytes(*.free)
    )]
    Memory {
        /// What would have been allocated.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A number exceeds a kernel's index range.
    #[error("{what} is {found}, more than this kernel's maximum of {most}")]
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// Actual number.
        found: u64,
        /// Maximum number.
        most: u64,
    },
    /// A kernel needs too many registers for a block of this size.
    #[error(
        "{function} uses {registers} registers per thread: on this GPU its blocks can have at most \
        {most} threads, not {block}"
    )]
    Block {
        /// The kernel's function.
        function: &'static str,
        /// Registers per thread.
        registers: u32,
        /// Maximum threads per block of the function.
        most: u32,
        /// Requested threads.
        block: u32,
    },
    /// No GPU kernel takes this format.
    #[error("no GPU kernel supports {0}")]
    Format(&'static str),
    /// The arrays of a format cannot be converted for the device.
    #[error("{0}")]
    Arrays(String),
    /// Another GPU of a group failed; this one would have waited forever.
    #[error("another GPU of the group failed")]
    Elsewhere,
    /// A call to a vendor's library failed.
    #[error("{library} failed: {call} returned {status}")]
    Library {
        /// Name of the library.
        library: &'static str,
        /// The function.
        call: &'static str,
        /// Its status.
        status: String,
    },
}

/// A number in the kernels' integer type, whose largest value stands for none.
pub(crate) fn count(what: &'static str, number: usize) -> Result<u32, DeviceError> {
    let (found, most) = (number as u64, u64::from(u32::MAX - 1));
    let fits = u32::try_from(number).ok().filter(|&number| number < u32::MAX);
    fits.ok_or(DeviceError::TooLarge { what, found, most })
}

/// The number of rows in the kernels' integer type.
pub(crate) fn row_count(rows: usize) -> Result<u32, DeviceError> {
    count("the number of rows", rows)
}

/// Converts the driver's status to errors that name what was being done.
pub(crate) trait Doing<T> {
    /// The value, or an error that names `doing`.
    fn doing(self, doing: &'static str) -> Result<T, DeviceError>;
}

impl<T> Doing<T> for Result<T, DriverError> {
    fn doing(self, doing: &'static str) -> Result<T, DeviceError> {
        self.map_err(|error| DeviceError::Driver { doing, status: status_name(error.0) })
    }
}

/// Properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Index under which it is opened, from 0.
    pub ordinal: usize,
    /// Model name.
    pub name: String,
    /// Compute capability: major and minor.
    pub capability: (u32, u32),
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Maximum threads per multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Maximum bytes of opt-in shared memory per block.
    pub shared_per_block: u32,
    /// Bytes of L2 cache.
    pub l2_bytes: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// PCI bus address, `0000:01:00.0`.
    pub bus: String,
}

/// A device in use. Work goes to one stream, in order; concurrent work goes to another [`Device`],
/// made by `beside`.
pub struct Device {
    stream: Arc<CudaStream>,
    opened: Arc<Opened>,
}

/// What all streams of a device share.
struct Opened {
    context: Arc<CudaContext>,
    properties: Properties,
    probe: Probe,
    nvrtc: Nvrtc,
    architecture: u32,
    cache: KernelCache,
    modules: Mutex<BTreeMap<Variant, Arc<CudaModule>>>,
    /// Modules of users' sources, by the SHA-256 of the source.
    user_modules: Mutex<BTreeMap<(&'static str, Variant), Arc<CudaModule>>>,
}

/// A device's memory over the bytes up to which freed memory is kept for the next arrays: the rest
/// stays free for libraries and modules.
const KEPT_PART: u64 = 2;

/// Bytes that are allocated without asking how much memory is free: the answer takes longer than
/// the allocation.
const UNASKED: u64 = 1 << 20;

/// Above the priority of any stream.
const HIGHEST_PRIORITY: i32 = -100;

impl Device {
    /// Opens a device by its index, from 0.
    pub fn open(ordinal: usize) -> Result<Self, GpuAbsence> {
        let probe = probe()?;
        if ordinal >= probe.devices {
            return Err(GpuAbsence::NoSuchDevice { asked: ordinal, found: probe.devices });
        }
        let nvrtc = Nvrtc::find(Some(probe.driver_version))?;
        let failed = |call| {
            move |error: DriverError| GpuAbsence::DriverFailed {
                call,
                status: status_name(error.0),
            }
        };
        let context = CudaContext::new(ordinal).map_err(failed("cuDevicePrimaryCtxRetain"))?;
        // SAFETY: everything runs in order on the one stream made below, so that no event is needed
        // to order accesses to a buffer; code that uses another stream orders both with its own
        // events.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed("cuStreamCreate"))?;
        let properties = properties(&context, ordinal).map_err(failed("cuDeviceGetAttribute"))?;
        // Devices without pools have nothing to keep.
        let _ = keep_freed(&context, properties.memory_bytes / KEPT_PART);
        let (major, minor) = properties.capability;
        let architecture = nvrtc
            .architecture_for(major, minor)
            .map_err(|error| GpuAbsence::NvrtcMissing(error.to_string()))?;
        let (modules, user_modules) = Default::default();
        let cache = KernelCache::of_user();
        let opened = Opened {
            context,
            properties,
            probe,
            nvrtc,
            architecture,
            cache,
            modules,
            user_modules,
        };
        Ok(Self { stream, opened: Arc::new(opened) })
    }

    /// The same device with its own stream, whose blocks have priority over those of other streams.
    /// The streams are ordered only by events recorded in them.
    pub(crate) fn beside(&self) -> Result<Self, DeviceError> {
        // The driver clamps to its highest priority.
        let stream = self.context().new_stream_with_priority(HIGHEST_PRIORITY);
        let stream = stream.doing("create a stream")?;
        Ok(Self { stream, opened: Arc::clone(&self.opened) })
    }

    /// Its properties.
    pub fn properties(&self) -> &Properties {
        &self.opened.properties
    }

    /// CUDA version that the driver supports, in CUDA's encoding: 13000 is 13.0.
    pub fn driver_version(&self) -> i32 {
        self.opened.probe.driver_version
    }

    /// The compiler that builds its kernels.
    pub fn nvrtc(&self) -> &Nvrtc {
        &self.opened.nvrtc
    }

    /// The stream for all work.
    pub(crate) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// The context that the stream belongs to.
    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.opened.context
    }

    /// Waits for all work. Reports errors of kernels.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.stream.synchronize().doing("synchronize")
    }

    /// Bytes of free memory, after all pending frees; without what is kept for the next arrays.
    pub fn free_bytes(&self) -> Result<u64, DeviceError> {
        self.synchronize()?;
        let (free, _) = self.opened.context.mem_get_info().doing("report its free memory")?;
        Ok(free as u64)
    }

    /// The same if nothing is kept for the next arrays.
    pub fn room(&self) -> Result<u64, DeviceError> {
        self.synchronize()?;
        let _ = keep_none(&self.opened.context);
        self.free_bytes()
    }

    /// Fails if fewer than `needed` bytes are free, even when nothing is kept for the next arrays;
    /// does not look if they are at most 1 MiB.
    pub fn check_memory(&self, what: &str, needed: u64) -> Result<(), DeviceError> {
        if needed <= UNASKED || needed <= self.free_bytes()? {
            return Ok(());
        }
        let free = self.room()?;
        if needed <= free {
            return Ok(());
        }
        Err(DeviceError::Memory { what: what.to_owned(), needed, free })
    }

    /// A kernel by name; its family is built and loaded on first use.
    pub fn kernel(&self, variant: Variant, name: &str) -> Result<CudaFunction, DeviceError> {
        let mut modules = self.opened.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match modules.get(&variant) {
            Some(module) => Arc::clone(module),
            None => {
                let cubin = variant.build(
                    &self.opened.nvrtc,
                    &self.opened.cache,
                    self.opened.architecture,
                )?;
                let image = Ptx::from_binary(cubin);
                let module = self.opened.context.load_module(image).doing("load a kernel")?;
                modules.insert(variant, Arc::clone(&module));
                module
            }
        };
        module.load_function(name).doing("find a kernel in its module")
    }

    /// A user's kernel; its source is built as `like` and loaded on first use.
    pub(crate) fn user_kernel(
        &self,
        user: &'static UserKernel,
        like: Variant,
    ) -> Result<CudaFunction, DeviceError> {
        let mut modules = self.opened.user_modules.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (user.source.sha256.as_str(), like);
        let module = match modules.get(&key) {
            Some(module) => Arc::clone(module),
            None => {
                let tools = (&self.opened.nvrtc, &self.opened.cache);
                let cubin = user_source::build(user.source, like, tools, self.opened.architecture)?;
                let image = Ptx::from_binary(cubin);
                let module = self.opened.context.load_module(image).doing("load a kernel")?;
                modules.insert(key, Arc::clone(&module));
                module
            }
        };
        module.load_function(user.function()).doing("find a kernel in its module")
    }

    /// Fails if a user's kernel does not compile for this device.
    pub(crate) fn check_user_kernel(&self, kernel: &KernelDescriptor) -> Result<(), CompileError> {
        user_source::check_for(
            kernel,
            (&self.opened.nvrtc, &self.opened.cache),
            self.opened.architecture,
        )
    }
}

/// Lets the pool that arrays are allocated from hold up to `most` bytes, including those in use,
/// before it returns freed memory to the driver at every synchronization. The next arrays then need
/// not wait for memory.
fn keep_freed(context: &CudaContext, mut most: u64) -> Result<(), DriverError> {
    let which = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the device of an open context has a default pool or reports an error, and the
    // attribute is a 64-bit number.
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        result::mem_pool::set_attribute(pool, which, (&raw mut most).cast())
    }
}

/// Returns all freed memory to the driver.
fn keep_none(context: &CudaContext) -> Result<(), DriverError> {
    // SAFETY: as above.
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        result::mem_pool::trim_to(pool, 0)
    }
}

fn properties(context: &CudaContext, ordinal: usize) -> Result<Properties, DriverError> {
    let attribute = |which| Ok(u32::try_from(context.attribute(which)?).unwrap_or(0));
    let mut bus = [0u8; 32];
    // SAFETY: the buffer has the length that is passed; the string is NUL-terminated.
    let status = unsafe {
        let length = bus.len() as std::ffi::c_int;
        sys::cuDeviceGetPCIBusId(bus.as_mut_ptr().cast(), length, context.cu_device())
    };
    status.result()?;
    let bus: Vec<u8> = bus.into_iter().take_while(|&byte| byte != 0).collect();
    Ok(Properties {
        ordinal,
        name: context.name()?,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        shared_per_block: attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        l2_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        memory_bytes: context.total_mem()? as u64,
        bus: String::from_utf8_lossy(&bus).into_owned(),
    })
}
