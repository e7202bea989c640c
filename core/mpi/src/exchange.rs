//! The halo exchange: messages that are set up once and started before each SpMV.

use rsmpi::ffi;
use rsmpi::traits::AsRaw;

use super::world::World;
use sparsescope_matrix::distributed::ExchangePlan;

/// The tag of halo messages.
const TAG: i32 = 17;

/// x of a rank, own elements and halo, with the messages that fill the halo.
pub(super) struct Exchange {
    plan: ExchangePlan,
    own: usize,
    /// Own elements and halo. Accessed only through this pointer, because MPI writes to it.
    x: *mut [f64],
    /// Elements to send, peer by peer.
    packed: *mut [f64],
    /// A receive from each peer that sends, then a send to each that receives.
    requests: Vec<ffi::MPI_Request>,
    is_under_way: bool,
}

// SAFETY: MPI is initialised so that any thread may call it if no other does, and an exchange is used by one
// thread at a time; it owns its pointers.
unsafe impl Send for Exchange {}

impl Exchange {
    /// Sets up the messages of a plan, for `own` elements of x followed by the halo.
    pub(super) fn new(world: &World, plan: ExchangePlan, own: Vec<f64>, halo: usize) -> Self {
        let own_len = own.len();
        let mut x = own;
        x.resize(own_len + halo, f64::NAN);
        let x = Box::into_raw(x.into_boxed_slice());
        let packed = Box::into_raw(vec![0.0; plan.sent()].into_boxed_slice());
        let communicator = world.communicator().as_raw();
        let mut requests = Vec::new();
        for receive in plan.receives() {
            // SAFETY: the request starts as null and is freed by `drop`; the space for `range` elements of
            // the halo is part of x, which lives as long as the request, and nobody reads it while the
            // request is started.
            unsafe {
                let mut request = ffi::RSMPI_REQUEST_NULL;
                ffi::MPI_Recv_init(
                    x.cast::<f64>().add(own_len + receive.range.start).cast(),
                    receive.range.len() as i32,
                    ffi::RSMPI_DOUBLE,
                    receive.peer as i32,
                    TAG,
                    communicator,
                    &raw mut request,
                );
                requests.push(request);
            }
        }
        let mut start = 0;
        for send in plan.sends() {
            // SAFETY: as above; the elements from `start` belong to this peer, and nobody writes them while
            // the request is started.
            unsafe {
                let mut request = ffi::RSMPI_REQUEST_NULL;
                ffi::MPI_Send_init(
                    packed.cast::<f64>().add(start).cast(),
                    send.list.len() as i32,
                    ffi::RSMPI_DOUBLE,
                    send.peer as i32,
                    TAG,
                    communicator,
                    &raw mut request,
                );
                requests.push(request);
            }
            start += send.list.len();
        }
        Self { plan, own: own_len, x, packed, requests, is_under_way: false }
    }

    /// Own elements of x, which may be read while the exchange is in progress.
    pub(super) fn own(&self) -> &[f64] {
        // SAFETY: the first `own` elements of x, which MPI never writes.
        unsafe { std::slice::from_raw_parts(self.x.cast::<f64>(), self.own) }
    }

    /// Own elements of x, for writing. Waits for an exchange in progress.
    pub(super) fn own_mut(&mut self) -> &mut [f64] {
        self.wait();
        // SAFETY: the first `own` elements of x, which MPI never accesses; nobody else holds them.
        unsafe { std::slice::from_raw_parts_mut(self.x.cast::<f64>(), self.own) }
    }

    /// Own elements and halo. Waits for an exchange in progress.
    pub(super) fn all(&mut self) -> &[f64] {
        self.wait();
        // SAFETY: no exchange is in progress, so nobody writes.
        unsafe { &*self.x }
    }

    /// Packs the elements to send.
    pub(super) fn pack(&mut self) {
        self.wait();
        // SAFETY: no exchange is in progress, so MPI does not read.
        let mut packed = unsafe { &mut *self.packed };
        for send in self.plan.sends() {
            let (message, rest) = packed.split_at_mut(send.list.len());
            send.pack(self.own(), message);
            packed = rest;
        }
    }

    /// Starts the exchange.
    pub(super) fn start(&mut self) {
        // SAFETY: the requests are set up and none is in progress; `pack` and `all` have ensured that.
        unsafe { ffi::MPI_Startall(self.requests.len() as i32, self.requests.as_mut_ptr()) };
        self.is_under_way = true;
    }

    /// Waits until the halo has arrived and the packed elements may be overwritten.
    pub(super) fn wait(&mut self) {
        if std::mem::take(&mut self.is_under_way) {
            let count = self.requests.len() as i32;
            // SAFETY: the requests were started.
            unsafe {
                ffi::MPI_Waitall(count, self.requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE)
            };
        }
    }

    /// Fills the halo with NaN, so that a missing element is detected.
    pub(super) fn spoil(&mut self) {
        self.wait();
        // SAFETY: no exchange is in progress, so nobody else accesses x.
        unsafe { &mut *self.x }.iter_mut().skip(self.own).for_each(|element| *element = f64::NAN);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.wait();
        for request in &mut self.requests {
            // SAFETY: the request is set up and not in progress.
            unsafe { ffi::MPI_Request_free(request) };
        }
        // SAFETY: both come from boxes, and no request uses them any more.
        unsafe {
            drop(Box::from_raw(self.x));
            drop(Box::from_raw(self.packed));
        }
    }
}
