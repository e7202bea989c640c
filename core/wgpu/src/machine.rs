//! State shared by all kernels on a device, and the device itself, which may be lost and reopened.

use std::sync::{Arc, Mutex};

use sparsescope_core::experiment::Interruptions;

use crate::answer::lock;
use crate::clock::Clock;
use crate::device::Device;
use crate::error::DeviceError;
use crate::grid::Launch;
use crate::memory;
use crate::operands::Uploads;
use crate::options::Options;
use crate::source::Source;

/// A device with the state shared by all kernels on it.
pub(crate) struct Machine {
    pub(crate) uploads: Uploads,
    clock: Mutex<Option<Arc<Clock>>>,
    flusher: Mutex<Option<Arc<Vec<Launch>>>>,
    pub(crate) device: Device,
}

impl Machine {
    async fn open(source: &Source, options: Options) -> Result<Self, DeviceError> {
        let device = source.device(options).await?;
        let (clock, flusher) = Default::default();
        Ok(Self { uploads: Uploads::new(), clock, flusher, device })
    }

    /// The clock, created on first use.
    pub(crate) async fn clock(&self) -> Result<Arc<Clock>, DeviceError> {
        if let Some(clock) = lock(&self.clock).as_ref() {
            return Ok(Arc::clone(clock));
        }
        let clock = Arc::new(Clock::new(&self.device).await?);
        *lock(&self.clock) = Some(Arc::clone(&clock));
        Ok(clock)
    }

    /// The cache flusher, created on first use.
    pub(crate) async fn flusher(&self) -> Result<Arc<Vec<Launch>>, DeviceError> {
        if let Some(flusher) = lock(&self.flusher).as_ref() {
            return Ok(Arc::clone(flusher));
        }
        let flusher = Arc::new(memory::flusher(&self.device).await?);
        *lock(&self.flusher) = Some(Arc::clone(&flusher));
        Ok(flusher)
    }
}

/// An adapter whose device is open; a lost device is reopened once.
pub(crate) struct Adapter {
    source: Source,
    options: Options,
    opened: Mutex<Opened>,
    /// Counts interruptions of the measurement.
    pub(crate) interruptions: Interruptions,
}

/// The current device, and whether it has been reopened.
struct Opened {
    machine: Arc<Machine>,
    is_second: bool,
}

impl Adapter {
    pub(crate) async fn open(
        source: Source,
        options: Options,
        interruptions: Interruptions,
    ) -> Result<Self, DeviceError> {
        let machine = Arc::new(Machine::open(&source, options).await?);
        let opened = Mutex::new(Opened { machine, is_second: false });
        Ok(Self { source, options, opened, interruptions })
    }

    /// The device opened last, lost or not.
    pub(crate) fn at_present(&self) -> Arc<Machine> {
        Arc::clone(&lock(&self.opened).machine)
    }

    /// The device, reopened if it was lost for the first time.
    pub(crate) async fn machine(&self) -> Result<Arc<Machine>, DeviceError> {
        let (machine, is_second) = {
            let opened = lock(&self.opened);
            (Arc::clone(&opened.machine), opened.is_second)
        };
        if !machine.device.is_lost() {
            return Ok(machine);
        }
        if is_second {
            machine.device.check()?;
        }
        let machine = Arc::new(Machine::open(&self.source, self.options).await?);
        *lock(&self.opened) = Opened { machine: Arc::clone(&machine), is_second: true };
        Ok(machine)
    }

    /// Destroys the device.
    pub(crate) fn lose_device(&self) {
        self.at_present().device.raw.destroy();
    }
}
