//! The halo on its way: messages that are set up once and started before each product.

use rsmpi::ffi;
use rsmpi::traits::AsRaw;

use super::world::World;
use crate::distributed::ExchangePlan;

/// The tag of messages of the halo.
const TAG: i32 = 17;

/// x of a rank, own elements and halo, with the messages that fill the halo.
pub(super) struct Exchange {
    plan: ExchangePlan,
    own: usize,
    /// Own elements and halo. Reached through its pointer alone, for MPI writes behind it.
    x: *mut [f64],
    /// What is sent, peer after peer.
    packed: *mut [f64],
    /// A receive of each peer that sends, then a send to each that receives.
    requests: Vec<ffi::MPI_Request>,
    is_under_way: bool,
}

// SAFETY: MPI is started so that any thread may call it when no other does, and an exchange is used by one
// thread at a time; its pointers are its own.
unsafe impl Send for Exchange {}

impl Exchange {
    /// Sets the messages of a plan up, for `own` elements of x and a halo behind them.
    pub(super) fn new(world: &World, plan: ExchangePlan, own: Vec<f64>, halo: usize) -> Self {
        let own_len = own.len();
        let mut x = own;
        x.resize(own_len + halo, f64::NAN);
        let x = Box::into_raw(x.into_boxed_slice());
        let packed = Box::into_raw(vec![0.0; plan.sent()].into_boxed_slice());
        let communicator = world.communicator().as_raw();
        let mut requests = Vec::new();
        for receive in plan.receives() {
            // SAFETY: the request begins as none and is freed by `drop`; the place for `range` elements of the halo
            // lies in x, which lives as long as the request and which nobody reads there while it is started.
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
            // SAFETY: as above; the elements from `start` are those of this peer, and nobody writes them while the
            // request is started.
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

    /// Own elements of x, which may be read while the halo travels.
    pub(super) fn own(&self) -> &[f64] {
        // SAFETY: the first `own` elements of x, which MPI never writes.
        unsafe { std::slice::from_raw_parts(self.x.cast::<f64>(), self.own) }
    }

    /// Own elements of x, to be written. Waits for what is under way.
    pub(super) fn own_mut(&mut self) -> &mut [f64] {
        self.wait();
        // SAFETY: the first `own` elements of x, which MPI never touches; nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.x.cast::<f64>(), self.own) }
    }

    /// Own elements and halo. Waits for the halo where it is under way.
    pub(super) fn all(&mut self) -> &[f64] {
        self.wait();
        // SAFETY: nothing is under way, so that nobody writes.
        unsafe { &*self.x }
    }

    /// Gathers what is sent.
    pub(super) fn pack(&mut self) {
        self.wait();
        // SAFETY: nothing is under way, so that MPI does not read.
        let mut packed = unsafe { &mut *self.packed };
        for send in self.plan.sends() {
            let (message, rest) = packed.split_at_mut(send.list.len());
            send.pack(self.own(), message);
            packed = rest;
        }
    }

    /// Lets the halo travel.
    pub(super) fn start(&mut self) {
        // SAFETY: the requests are set up and none is under way, `pack` and `all` have seen to that.
        unsafe { ffi::MPI_Startall(self.requests.len() as i32, self.requests.as_mut_ptr()) };
        self.is_under_way = true;
    }

    /// Waits until the halo is here and what was packed may be overwritten.
    pub(super) fn wait(&mut self) {
        if std::mem::take(&mut self.is_under_way) {
            let count = self.requests.len() as i32;
            // SAFETY: the requests were started.
            unsafe {
                ffi::MPI_Waitall(count, self.requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE)
            };
        }
    }

    /// Spoils the halo, so that an element that does not come is seen.
    pub(super) fn spoil(&mut self) {
        self.wait();
        // SAFETY: nothing is under way, so that nobody else reaches x.
        unsafe { &mut *self.x }.iter_mut().skip(self.own).for_each(|element| *element = f64::NAN);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.wait();
        for request in &mut self.requests {
            // SAFETY: it is set up and not under way.
            unsafe { ffi::MPI_Request_free(request) };
        }
        // SAFETY: both come from boxes, and no request has them any more.
        unsafe {
            drop(Box::from_raw(self.x));
            drop(Box::from_raw(self.packed));
        }
    }
}
