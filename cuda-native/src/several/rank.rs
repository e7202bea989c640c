//! One GPU of a group, owned by its thread: its two streams, what it holds for kernels, and how it
//! waits for collective work.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaEvent, sys};

use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::device::{Device, DeviceError, Doing};
use crate::launch::{Step, enqueue};
use crate::memory::Memory;
use crate::nccl::Communicator;

/// A stream beside the device's own, with the communicator that uses it: the halo is exchanged here
/// while rows that do not need it are multiplied.
pub(crate) struct Lane {
    pub(crate) communicator: Communicator,
    pub(crate) device: Device,
}

/// One GPU of a group.
pub(crate) struct Rank {
    // First, so that graphs and arrays are dropped before the communicators and streams that they
    // use.
    held: BTreeMap<u64, Box<dyn Any>>,
    lane: Rc<Lane>,
    sums: Rc<Communicator>,
    memory: OnceCell<Memory>,
    /// Summed to make all ranks start at the same time.
    begin: [Buffer<f64>; 2],
    clock: Clock,
    done: CudaEvent,
    failed: Arc<AtomicBool>,
    rank: usize,
    ranks: usize,
    device: Device,
}

/// Interval between checks for failed communication.
const BETWEEN_CHECKS: Duration = Duration::from_millis(20);

impl Rank {
    /// Opens the streams of a device that is rank `rank` of `ranks`. `failed` is set once a rank
    /// cannot continue.
    pub(crate) fn new(
        device: Device,
        (halo, sums): (Communicator, Communicator),
        (rank, ranks): (usize, usize),
        failed: Arc<AtomicBool>,
    ) -> Result<Self, DeviceError> {
        let lane = Rc::new(Lane { communicator: halo, device: device.beside()? });
        let number = |what| Buffer::of(&device, what, &[0.0]);
        let begin = [number("a part of the initial sums")?, number("the initial sums")?];
        let clock = Clock::new(&device)?;
        let done = event(&device)?;
        let (sums, memory, held) = (Rc::new(sums), OnceCell::new(), BTreeMap::new());
        Ok(Self { held, lane, sums, memory, begin, clock, done, failed, rank, ranks, device })
    }

    /// Its rank, from 0.
    pub(crate) fn number(&self) -> usize {
        self.rank
    }

    /// Whether it is the only rank of the group.
    pub(crate) fn is_alone(&self) -> bool {
        self.ranks == 1
    }

    /// The device with its own stream.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The stream of the halo exchange.
    pub(crate) fn lane(&self) -> &Rc<Lane> {
        &self.lane
    }

    /// A step that sums all ranks' `shares` on the device's own stream; `None` if there is only one
    /// rank, whose shares and totals are one array.
    pub(crate) fn sum(&self, shares: &Buffer<f64>, totals: &Buffer<f64>) -> Option<Step> {
        let communicator = Rc::clone(&self.sums);
        let (shares, totals) = (shares.clone(), totals.clone());
        let sum = move |device: &Device| communicator.all_reduce(device, &shares, &totals);
        (!self.is_alone()).then(|| Step::Call(Box::new(sum)))
    }

    /// Stores something for a kernel under a number.
    pub(crate) fn hold(&mut self, number: u64, what: impl Any) {
        self.held.insert(number, Box::new(what));
    }

    /// Drops it, after all work is done.
    pub(crate) fn forget(&mut self, number: u64) -> Result<(), DeviceError> {
        let settled = self.finish();
        self.held.remove(&number);
        settled
    }

    /// Runs `work` on what is stored under a number.
    pub(crate) fn with<H: Any, T>(
        &mut self,
        number: u64,
        work: impl FnOnce(&Self, &mut H) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let missing = || DeviceError::Arrays("a GPU of the group has lost its data".to_owned());
        let mut held = self.held.remove(&number).ok_or_else(missing)?;
        let worked = held.downcast_mut::<H>().ok_or_else(missing).and_then(|held| work(self, held));
        self.held.insert(number, held);
        worked
    }

    /// Seconds of what `work` adds to the stream, from when all ranks have reached this point;
    /// waits for it.
    pub(crate) fn time(
        &self,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        let [share, total] = &self.begin;
        let together: Vec<Step> = self.sum(share, total).into_iter().collect();
        enqueue(&self.device, &together)?;
        self.clock.begin(&self.device)?;
        work()?;
        self.clock.end(&self.device)?;
        self.finish()?;
        self.clock.seconds()
    }

    /// Adds a cache flush to the stream.
    pub(crate) fn flush(&self) -> Result<(), DeviceError> {
        let memory = match self.memory.get() {
            Some(memory) => memory,
            None => {
                let made = Memory::new(&self.device)?;
                self.memory.get_or_init(|| made)
            }
        };
        memory.flush(&self.device)
    }

    /// Waits for all work on the device's own stream and its dependencies.
    pub(crate) fn finish(&self) -> Result<(), DeviceError> {
        self.done.record(self.device.stream()).doing("record an event")?;
        self.wait_for(&self.done)
    }

    /// Waits for an event, unless another GPU fails meanwhile: then work that would wait forever is
    /// aborted.
    pub(crate) fn wait_for(&self, event: &CudaEvent) -> Result<(), DeviceError> {
        let mut checked = Instant::now();
        while !event.try_is_complete().doing("synchronize")? {
            if self.has_failed() {
                self.lane.communicator.abort();
                self.sums.abort();
                return Err(DeviceError::Elsewhere);
            }
            if checked.elapsed() > BETWEEN_CHECKS {
                self.lane.communicator.check_progress()?;
                self.sums.check_progress()?;
                checked = Instant::now();
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Whether a rank of the group cannot continue.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

/// An event for ordering only, without timing.
pub(crate) fn event(device: &Device) -> Result<CudaEvent, DeviceError> {
    let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
    device.context().new_event(flags).doing("create an event")
}
