//! One GPU of a group, in the thread that has it: its two streams, what it holds for kernels, and how it
//! waits for work that others have a part in.

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

/// A stream beside the device's own, with the communicator whose work goes there: the halo travels here
/// while rows that need none of it are multiplied.
pub(crate) struct Lane {
    pub(crate) communicator: Communicator,
    pub(crate) device: Device,
}

/// One GPU of a group.
pub(crate) struct Rank {
    // First, so that graphs and arrays go before the communicators and streams that they use.
    held: BTreeMap<u64, Box<dyn Any>>,
    lane: Rc<Lane>,
    sums: Rc<Communicator>,
    memory: OnceCell<Memory>,
    /// What is added up so that all begin at once.
    begin: [Buffer<f64>; 2],
    clock: Clock,
    done: CudaEvent,
    failed: Arc<AtomicBool>,
    rank: usize,
    ranks: usize,
    device: Device,
}

/// Time between two looks at whether a communication failed.
const BETWEEN_CHECKS: Duration = Duration::from_millis(20);

impl Rank {
    /// Opens the streams of a device that is rank `rank` of `ranks`. `failed` is set once one of them cannot
    /// go on.
    pub(crate) fn new(
        device: Device,
        (halo, sums): (Communicator, Communicator),
        (rank, ranks): (usize, usize),
        failed: Arc<AtomicBool>,
    ) -> Result<Self, DeviceError> {
        let lane = Rc::new(Lane { communicator: halo, device: device.beside()? });
        let number = |what| Buffer::of(&device, what, &[0.0]);
        let begin = [number("a share of the beginning")?, number("the beginning")?];
        let clock = Clock::new(&device)?;
        let done = event(&device)?;
        let (sums, memory, held) = (Rc::new(sums), OnceCell::new(), BTreeMap::new());
        Ok(Self { held, lane, sums, memory, begin, clock, done, failed, rank, ranks, device })
    }

    /// Which of the group it is, from 0.
    pub(crate) fn number(&self) -> usize {
        self.rank
    }

    /// It has the group for itself.
    pub(crate) fn is_alone(&self) -> bool {
        self.ranks == 1
    }

    /// The device with its own stream.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The stream on which the halo travels.
    pub(crate) fn lane(&self) -> &Rc<Lane> {
        &self.lane
    }

    /// A step that adds up all ranks' `shares` on the device's own stream; none where there is one rank
    /// only, whose shares and totals are one array.
    pub(crate) fn sum(&self, shares: &Buffer<f64>, totals: &Buffer<f64>) -> Option<Step> {
        let communicator = Rc::clone(&self.sums);
        let (shares, totals) = (shares.clone(), totals.clone());
        let sum = move |device: &Device| communicator.all_reduce(device, &shares, &totals);
        (!self.is_alone()).then(|| Step::Call(Box::new(sum)))
    }

    /// Keeps something for a kernel under its number.
    pub(crate) fn hold(&mut self, number: u64, what: impl Any) {
        self.held.insert(number, Box::new(what));
    }

    /// Lets go of it, once all work is done.
    pub(crate) fn forget(&mut self, number: u64) -> Result<(), DeviceError> {
        let settled = self.finish();
        self.held.remove(&number);
        settled
    }

    /// Works with what is kept under a number.
    pub(crate) fn with<H: Any, T>(
        &mut self,
        number: u64,
        work: impl FnOnce(&Self, &mut H) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let missing =
            || DeviceError::Arrays("a GPU of the group lacks what it was given".to_owned());
        let mut held = self.held.remove(&number).ok_or_else(missing)?;
        let worked = held.downcast_mut::<H>().ok_or_else(missing).and_then(|held| work(self, held));
        self.held.insert(number, held);
        worked
    }

    /// Seconds of what `work` adds to the stream, from when all ranks have come so far; waits for it.
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

    /// Adds to the stream what pushes everything else out of the caches.
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

    /// Waits for all that has been added to the device's own stream and what that waits for.
    pub(crate) fn finish(&self) -> Result<(), DeviceError> {
        self.done.record(self.device.stream()).doing("record an event")?;
        self.wait_for(&self.done)
    }

    /// Waits for an event, unless another GPU fails meanwhile: what would wait for that for ever is given up.
    pub(crate) fn wait_for(&self, event: &CudaEvent) -> Result<(), DeviceError> {
        let mut checked = Instant::now();
        while !event.try_is_complete().doing("finish its work")? {
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

    /// One of the group cannot go on.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

/// An event that only orders.
pub(crate) fn event(device: &Device) -> Result<CudaEvent, DeviceError> {
    let flags = Some(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
    device.context().new_event(flags).doing("make an event")
}
