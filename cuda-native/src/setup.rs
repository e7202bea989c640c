//! Launches of a setup on the device, timed without allocation.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use crate::arguments::{Arguments, Element};
use crate::buffer::{Buffer, Memory, Spent};
use crate::device::{Device, DeviceError};
use crate::launch::{Launch, Shape, Step, enqueue};

/// Threads per block of kernels that take any number.
pub(crate) const BLOCK: u32 = 256;

/// A setup: its allocations are kept until its end, so that freeing is not timed either.
pub(crate) struct Setup<'a> {
    device: &'a Device,
    /// Seconds of allocating and copying since the last lap began.
    apart: Cell<f64>,
    lap: Cell<Instant>,
    spent: Cell<Spent>,
    kept: RefCell<Vec<Memory>>,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(device: &'a Device) -> Self {
        let (apart, spent, kept) = Default::default();
        Self { device, apart, lap: Cell::new(Instant::now()), spent, kept }
    }

    /// A setup, its result, and the seconds of computing that. It runs twice: the first run loads
    /// the code, which is not part of a plan.
    pub(crate) fn of<R>(
        device: &'a Device,
        make: impl Fn(&Self) -> Result<R, DeviceError>,
    ) -> Result<(Self, R, f64), DeviceError> {
        let timed = |setup: &Self| {
            setup.begin()?;
            let made = make(setup)?;
            Ok::<_, DeviceError>((made, setup.seconds()?))
        };
        drop(timed(&Self::new(device))?);
        let setup = Self::new(device);
        let (made, seconds) = timed(&setup)?;
        Ok((setup, made, seconds))
    }

    pub(crate) fn device(&self) -> &'a Device {
        self.device
    }

    /// Time spent so far on allocating and copying.
    pub(crate) fn spent(&self) -> Spent {
        self.spent.get()
    }

    /// Starts the clock.
    pub(crate) fn begin(&self) -> Result<(), DeviceError> {
        self.device.synchronize()?;
        self.apart.set(0.0);
        self.lap.set(Instant::now());
        Ok(())
    }

    /// Seconds since [`begin`](Self::begin), after all work is done.
    pub(crate) fn seconds(&self) -> Result<f64, DeviceError> {
        self.device.synchronize()?;
        Ok((self.lap.get().elapsed().as_secs_f64() - self.apart.get()).max(0.0))
    }

    /// Excludes the time of `make`, which allocates or copies.
    fn aside<T: Element>(
        &self,
        make: impl FnOnce() -> Result<Buffer<T>, DeviceError>,
    ) -> Result<Buffer<T>, DeviceError> {
        self.device.synchronize()?;
        let begun = Instant::now();
        let made = make()?;
        self.apart.set(self.apart.get() + begun.elapsed().as_secs_f64());
        self.spent.set(self.spent.get() + made.spent());
        self.kept.borrow_mut().push(made.memory());
        Ok(made)
    }

    /// Allocates an array of this many elements.
    pub(crate) fn array<T: Element>(
        &self,
        what: &str,
        len: usize,
    ) -> Result<Buffer<T>, DeviceError> {
        self.aside(|| Buffer::unset(self.device, what, len))
    }

    /// A copy of an array.
    pub(crate) fn upload<T: Element>(
        &self,
        what: &str,
        host: &[T],
    ) -> Result<Buffer<T>, DeviceError> {
        self.aside(|| Buffer::of(self.device, what, host))
    }

    /// An array with every byte set to this value.
    ///
    /// # Safety
    /// As for [`Step::fill_numbers`].
    pub(crate) unsafe fn filled<T: Element>(
        &self,
        what: &str,
        len: usize,
        byte: u8,
    ) -> Result<Buffer<T>, DeviceError> {
        let array = self.array(what, len)?;
        // SAFETY: the caller's promise.
        enqueue(self.device, &[unsafe { Step::fill_numbers(&array, byte) }])?;
        Ok(array)
    }

    /// Launches one thread for each of `threads`.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(crate) unsafe fn threads<A: Arguments>(
        &self,
        function: &str,
        threads: u64,
        arguments: &A,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(function, (threads.div_ceil(BLOCK.into()), BLOCK), arguments) }
    }

    /// Launches a grid of blocks.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(crate) unsafe fn blocks<A: Arguments>(
        &self,
        function: &str,
        (grid, block): (u64, u32),
        arguments: &A,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.shaped(function, Shape { grid, block, shared_bytes: 0 }, arguments) }
    }

    /// Launches blocks with shared memory.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    pub(crate) unsafe fn shaped<A: Arguments>(
        &self,
        function: &str,
        shape: Shape,
        arguments: &A,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        let launch = unsafe { Launch::new(self.device, function, shape, arguments)? };
        enqueue(self.device, &[Step::Launch(launch)])
    }

    /// One element, after all work is done.
    pub(crate) fn element<T: Element + Default + Clone>(
        &self,
        of: &Buffer<T>,
        place: usize,
    ) -> Result<T, DeviceError> {
        let one = of.part(place..place + 1).expect("the place lies in the array"); // invariant
        let one = one.to_host(self.device)?.into_iter().next();
        Ok(one.expect("a part of one element has one")) // invariant
    }
}
