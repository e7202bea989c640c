//! Sums over all ranks that have the same bits on every rank and in every run.

use rsmpi::ffi;
use rsmpi::traits::AsRaw;

use super::world::World;

/// Numbers of a rank that are summed at once, the last one how many ranks want to stop.
pub(super) const WIDTH: usize = 5;

/// A reduction that is used again and again. Every rank gets the numbers of all ranks and adds them in the order of
/// the ranks: MPI promises neither that its own sums are the same on all ranks nor that they are from run to run,
/// and ranks whose numbers differ would not end in the same iteration.
pub(super) struct Reduction {
    communicator: ffi::MPI_Comm,
    /// Reached through its pointer alone while it is under way, as `all` is: MPI reads and writes there.
    own: *mut [f64; WIDTH],
    /// What each rank gave, rank after rank.
    all: *mut [f64],
    ranks: usize,
    request: Option<ffi::MPI_Request>,
}

// SAFETY: MPI is started so that any thread may call it when no other does, and a reduction is used by one thread
// at a time; its pointers are its own.
unsafe impl Send for Reduction {}

impl Reduction {
    /// Over all ranks.
    pub(super) fn new(world: &World) -> Self {
        let ranks = world.ranks();
        Self {
            communicator: world.communicator().as_raw(),
            own: Box::into_raw(Box::new([0.0; WIDTH])),
            all: Box::into_raw(vec![0.0; WIDTH * ranks].into_boxed_slice()),
            ranks,
            request: None,
        }
    }

    /// The sums of all ranks' numbers.
    pub(super) fn sums(&mut self, own: [f64; WIDTH]) -> [f64; WIDTH] {
        self.wait();
        // SAFETY: nothing is under way, so that MPI touches neither; `all` has room for the numbers of every rank.
        unsafe {
            *self.own = own;
            ffi::MPI_Allgather(
                self.own.cast(),
                WIDTH as i32,
                ffi::RSMPI_DOUBLE,
                self.all.cast::<f64>().cast(),
                WIDTH as i32,
                ffi::RSMPI_DOUBLE,
                self.communicator,
            );
        }
        self.added()
    }

    /// Begins to sum; [`wait`](Self::wait) has the sums.
    pub(super) fn start(&mut self, own: [f64; WIDTH]) {
        self.wait();
        // SAFETY: as above, and both live until the request is done, which `wait` and `drop` see to.
        unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            *self.own = own;
            ffi::MPI_Iallgather(
                self.own.cast(),
                WIDTH as i32,
                ffi::RSMPI_DOUBLE,
                self.all.cast::<f64>().cast(),
                WIDTH as i32,
                ffi::RSMPI_DOUBLE,
                self.communicator,
                &raw mut request,
            );
            self.request = Some(request);
        }
    }

    /// The sums of what was started last.
    pub(super) fn wait(&mut self) -> [f64; WIDTH] {
        if let Some(mut request) = self.request.take() {
            // SAFETY: the request was started and not waited for.
            unsafe { ffi::MPI_Wait(&raw mut request, ffi::RSMPI_STATUS_IGNORE) };
        }
        self.added()
    }

    fn added(&self) -> [f64; WIDTH] {
        // SAFETY: nothing is under way, so that nobody writes.
        let all = unsafe { &*self.all };
        debug_assert_eq!(all.len(), WIDTH * self.ranks);
        let (ranks, _) = all.as_chunks::<WIDTH>();
        ranks.iter().fold([0.0; WIDTH], |sums, of| std::array::from_fn(|k| sums[k] + of[k]))
    }
}

impl Drop for Reduction {
    fn drop(&mut self) {
        self.wait();
        // SAFETY: both come from boxes, and no request has them any more.
        unsafe {
            drop(Box::from_raw(self.own));
            drop(Box::from_raw(self.all));
        }
    }
}
