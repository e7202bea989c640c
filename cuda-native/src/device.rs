//! One device: its context and stream, what it is like, and the kernels loaded on it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, DriverError};
use cudarc::nvrtc::Ptx;
use sparsescope_core::kernel::{KernelDescriptor, UserKernel};
use sparsescope_core::memory::gigabytes;
use sparsescope_core::record::GpuAbsence;

use crate::cache::KernelCache;
use crate::kernels::Variant;
use crate::nvrtc::{CompileError, Nvrtc};
use crate::probe::{Probe, probe, status_name};
use crate::user_source;

/// Something on the device that did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A call of the driver failed.
    #[error("the GPU's driver failed to {doing}: {status}")]
    Driver {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The driver's answer.
        status: String,
    },
    /// A kernel could not be built.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The device has not enough free memory; found before allocating.
    #[error(
        "{what} needs {needed} bytes ({}) of the GPU's memory, of which {free} bytes ({}) are free",
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
    /// A number exceeds what a kernel counts with.
    #[error("{what} is {found}, more than the {most} that this kernel counts to")]
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        most: u64,
    },
    /// A kernel's registers do not suffice for a block of so many threads.
    #[error(
        "{function} takes {registers} registers a thread: on this GPU its blocks have at most {most} threads, \
         not {block}"
    )]
    Block {
        /// The kernel's function.
        function: &'static str,
        /// Registers that each thread takes.
        registers: u32,
        /// Most threads of a block of it.
        most: u32,
        /// Threads asked for.
        block: u32,
    },
    /// The device has no arrays for a format.
    #[error("no kernel on a GPU takes the format {0}")]
    Format(&'static str),
    /// The arrays of a format cannot be made as the device takes them.
    #[error("{0}")]
    Arrays(String),
    /// Another GPU of a group failed, for which this one would have waited in vain.
    #[error("another GPU of the group could not go on")]
    Elsewhere,
    /// A call of a vendor's library failed.
    #[error("{library} failed: {call} answered {status}")]
    Library {
        /// Name of the library.
        library: &'static str,
        /// The function.
        call: &'static str,
        /// Its answer.
        status: String,
    },
}

/// Turns the driver's answers into errors that say what was being done.
pub(crate) trait Doing<T> {
    /// The value, or an error that names `doing`.
    fn doing(self, doing: &'static str) -> Result<T, DeviceError>;
}

impl<T> Doing<T> for Result<T, DriverError> {
    fn doing(self, doing: &'static str) -> Result<T, DeviceError> {
        self.map_err(|error| DeviceError::Driver { doing, status: status_name(error.0) })
    }
}

/// What a device is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Number under which it is opened, from 0.
    pub ordinal: usize,
    /// Model name.
    pub name: String,
    /// Compute capability: major and minor.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Most threads that one of them holds.
    pub threads_per_multiprocessor: u32,
    /// Most bytes of shared memory that a block takes where it asks for them.
    pub shared_per_block: u32,
    /// Bytes of the second-level cache.
    pub l2_bytes: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Where it sits, `0000:01:00.0`.
    pub bus: String,
}

/// A device in use. Work goes to one stream, in order; what is to run beside that goes to another [`Device`],
/// which `beside` makes.
pub struct Device {
    stream: Arc<CudaStream>,
    opened: Arc<Opened>,
}

/// What all streams of a device have in common.
struct Opened {
    context: Arc<CudaContext>,
    properties: Properties,
    probe: Probe,
    nvrtc: Nvrtc,
    architecture: u32,
    cache: KernelCache,
    modules: Mutex<BTreeMap<Variant, Arc<CudaModule>>>,
    /// Those of users' sources, by the SHA-256 of these.
    user_modules: Mutex<BTreeMap<(&'static str, Variant), Arc<CudaModule>>>,
}

/// Above the priority of every stream.
const HIGHEST_PRIORITY: i32 = -100;

impl Device {
    /// Opens a device by its number, from 0.
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
        // SAFETY: everything runs on the one stream made below, in order, so that no event is
        // needed to order the use of a buffer; who uses another orders both with events of their own.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed("cuStreamCreate"))?;
        let properties = properties(&context, ordinal).map_err(failed("cuDeviceGetAttribute"))?;
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

    /// The same device with a stream of its own, whose blocks come before those of other streams. Nothing
    /// orders the streams but events that are recorded in them.
    pub(crate) fn beside(&self) -> Result<Self, DeviceError> {
        // The driver takes the highest priority that it has for one that is higher.
        let stream = self.context().new_stream_with_priority(HIGHEST_PRIORITY);
        let stream = stream.doing("make a stream")?;
        Ok(Self { stream, opened: Arc::clone(&self.opened) })
    }

    /// What it is like.
    pub fn properties(&self) -> &Properties {
        &self.opened.properties
    }

    /// CUDA version that the driver supports, as CUDA counts: 13000 is 13.0.
    pub fn driver_version(&self) -> i32 {
        self.opened.probe.driver_version
    }

    /// The compiler that builds its kernels.
    pub fn nvrtc(&self) -> &Nvrtc {
        &self.opened.nvrtc
    }

    /// The stream that all work goes to.
    pub(crate) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// The context that the stream belongs to.
    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.opened.context
    }

    /// Waits for all work. Errors of kernels show here.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.stream.synchronize().doing("finish its work")
    }

    /// Bytes of memory that are free, once everything before has been freed.
    pub fn free_bytes(&self) -> Result<u64, DeviceError> {
        self.synchronize()?;
        let (free, _) = self.opened.context.mem_get_info().doing("tell its free memory")?;
        Ok(free as u64)
    }

    /// Fails when `needed` bytes are not free.
    pub fn check_memory(&self, what: &str, needed: u64) -> Result<(), DeviceError> {
        let free = self.free_bytes()?;
        if needed <= free {
            return Ok(());
        }
        Err(DeviceError::Memory { what: what.to_owned(), needed, free })
    }

    /// A kernel by its name, its family built and loaded on first use.
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

    /// A user's kernel, its source built as `like` and loaded on first use.
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

    /// Fails when a user's kernel is not built for this device.
    pub(crate) fn check_user_kernel(&self, kernel: &KernelDescriptor) -> Result<(), CompileError> {
        user_source::check_for(
            kernel,
            (&self.opened.nvrtc, &self.opened.cache),
            self.opened.architecture,
        )
    }
}

fn properties(context: &CudaContext, ordinal: usize) -> Result<Properties, DriverError> {
    let attribute = |which| Ok(u32::try_from(context.attribute(which)?).unwrap_or(0));
    let mut bus = [0u8; 32];
    // SAFETY: the buffer has the length that is passed; the text ends with a zero.
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
