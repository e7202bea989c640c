//! Sums over all ranks that are bitwise the same on every rank and in every run.

use rsmpi::ffi;
use rsmpi::traits::AsRaw;

use super::world::World;

/// Numbers per rank that are summed at once; the last one counts the ranks that want to stop.
pub(super) const WIDTH: usize = 5;

/// A reusable reduction. Every rank receives the numbers of all ranks and adds them in the order of the
/// ranks: MPI does not guarantee that its own sums are the same on all ranks, or from run to run, and ranks
/// with different sums would not end in the same iteration.
pub(super) struct Reduction {
    communicator: ffi::MPI_Comm,
    /// Accessed only through this pointer while in progress, as `all` is: MPI reads and writes there.
    own: *mut [f64; WIDTH],
    /// The numbers of each rank, rank after rank.
    all: *mut [f64],
    ranks: usize,
    request: Option<ffi::MPI_Request>,
}

// SAFETY: MPI is initialised so that any thread may call it if no other does, and a reduction is used by one
// thread at a time; it owns its pointers.
unsafe impl Send for Reduction {}

impl Reduction {
    /// A reduction over all ranks.
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
        // SAFETY: nothing is in progress, so MPI accesses neither; `all` has room for the numbers of every
        // rank.
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

    /// Starts the reduction; [`wait`](Self::wait) returns the sums.
    pub(super) fn start(&mut self, own: [f64; WIDTH]) {
        self.wait();
        // SAFETY: as above, and both live until the request is done, which `wait` and `drop` ensure.
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

    /// The sums of the reduction started last.
    pub(super) fn wait(&mut self) -> [f64; WIDTH] {
        if let Some(mut request) = self.request.take() {
            // SAFETY: the request was started and has not been waited for.
            unsafe { ffi::MPI_Wait(&raw mut request, ffi::RSMPI_STATUS_IGNORE) };
        }
        self.added()
    }

    fn added(&self) -> [f64; WIDTH] {
        // SAFETY: nothing is in progress, so nobody writes.
        let all = unsafe { &*self.all };
        debug_assert_eq!(all.len(), WIDTH * self.ranks);
        let (ranks, _) = all.as_chunks::<WIDTH>();
        ranks.iter().fold([0.0; WIDTH], |sums, of| std::array::from_fn(|k| sums[k] + of[k]))
    }
}

impl Drop for Reduction {
    fn drop(&mut self) {
        self.wait();
        // SAFETY: both come from boxes, and no request uses them any more.
        unsafe {
            drop(Box::from_raw(self.own));
            drop(Box::from_raw(self.all));
        }
    }
}
