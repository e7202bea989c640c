//! What a rank sends and receives before an SpMV, and how its rows are multiplied meanwhile.

use std::rc::Rc;

use sparsescope_core::distributed::ExchangePlan;
use sparsescope_core::kernel::{GridMapping, Work};

use super::rank::{Rank, event};
use crate::arguments::{HaloPack, Reads, Writes};
use crate::buffer::Buffer;
use crate::device::{Device, DeviceError, Doing};
use crate::launch::{Launch, Shape, Step, enqueue};
use crate::nccl::Passage;

/// Threads per block.
const BLOCK: u32 = 256;

/// The steps of an SpMV: all of it, and its parts for separate timing.
pub(crate) struct Overlapped {
    pub(crate) steps: Vec<Step>,
    pub(crate) pack: Rc<[Step]>,
    pub(crate) interior: Rc<[Step]>,
    pub(crate) boundary: Rc<[Step]>,
}

/// The halo exchange of a rank, prepared.
pub(crate) struct Exchange {
    pack: Vec<Step>,
    sends: Vec<Passage>,
    receives: Vec<Passage>,
}

impl Exchange {
    /// From the exchange plan of x, which has `own` elements of the rank, followed by those of
    /// others.
    pub(crate) fn of(
        device: &Device,
        plan: &ExchangePlan,
        (x, own): (&Buffer<f64>, usize),
    ) -> Result<Self, DeviceError> {
        let list: Vec<u32> = plan.sends().iter().flat_map(|send| &send.list).copied().collect();
        let list = Buffer::of(device, "the halo's elements", &list)?;
        let packed = Buffer::unset(device, "the packed halo", list.len())?;
        let part = |of: &Buffer<f64>, range| {
            of.part(range)
                .ok_or_else(|| DeviceError::Arrays("the halo is out of range of x".to_owned()))
        };
        let mut sends = Vec::new();
        let mut start = 0;
        for send in plan.sends() {
            let end = start + send.list.len();
            sends.push(Passage { peer: send.peer, elements: part(&packed, start..end)? });
            start = end;
        }
        let receive = |one: &sparsescope_core::distributed::Receive| {
            let range = own + one.range.start..own + one.range.end;
            Ok(Passage { peer: one.peer, elements: part(x, range)? })
        };
        let receives = plan.receives().iter().map(receive).collect::<Result<_, DeviceError>>()?;
        let pack =
            if list.is_empty() { Vec::new() } else { vec![pack(device, &list, x, &packed)?] };
        Ok(Self { pack, sends, receives })
    }

    fn is_idle(&self) -> bool {
        self.sends.is_empty() && self.receives.is_empty()
    }

    /// The steps of an SpMV: the halo is sent while `interior` is multiplied, `boundary` follows.
    pub(crate) fn around(
        self,
        rank: &Rank,
        interior: Vec<Step>,
        boundary: Vec<Step>,
    ) -> Result<Overlapped, DeviceError> {
        let is_idle = self.is_idle();
        let Self { pack, sends, receives } = self;
        let (pack, interior): (Rc<[Step]>, Rc<[Step]>) = (pack.into(), interior.into());
        let boundary: Rc<[Step]> = boundary.into();
        let several = |steps: &Rc<[Step]>| {
            let steps = Rc::clone(steps);
            Step::Call(Box::new(move |device: &Device| enqueue(device, &steps)))
        };
        if is_idle {
            let steps = vec![several(&interior), several(&boundary)];
            return Ok(Overlapped { steps, pack, interior, boundary });
        }
        let (fork, join) = (event(rank.device())?, event(rank.device())?);
        let (lane, packed) = (Rc::clone(rank.lane()), Rc::clone(&pack));
        let travel = Step::Call(Box::new(move |device: &Device| {
            fork.record(device.stream()).doing("record an event")?;
            lane.device.stream().wait(&fork).doing("wait for an event")?;
            enqueue(&lane.device, &packed)?;
            lane.communicator.exchange(&lane.device, &sends, &receives)
        }));
        let (lane, after) = (Rc::clone(rank.lane()), Rc::clone(&boundary));
        let meet = Step::Call(Box::new(move |device: &Device| {
            enqueue(&lane.device, &after)?;
            join.record(lane.device.stream()).doing("record an event")?;
            device.stream().wait(&join).doing("wait for an event")
        }));
        let steps = vec![travel, several(&interior), meet];
        Ok(Overlapped { steps, pack, interior, boundary })
    }
}

/// out = x at the columns of a list.
fn pack(
    device: &Device,
    list: &Buffer<u32>,
    x: &Buffer<f64>,
    out: &Buffer<f64>,
) -> Result<Step, DeviceError> {
    let (found, most) = (list.len() as u64, u64::from(u32::MAX));
    let too_large = DeviceError::TooLarge { what: "the number of elements sent", found, most };
    let n = u32::try_from(found).map_err(|_| too_large)?;
    let arguments = HaloPack { n, list: Reads(list), x: Reads(x), out: Writes(out) };
    let grid = GridMapping::ThreadPerRow.blocks(Work::Rows(found), BLOCK);
    let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
    // SAFETY: one thread per element of the list, none beyond it; the plan's lists name the rank's
    // own elements of x.
    unsafe { Launch::new(device, "halo_pack", shape, &arguments) }.map(Step::Launch)
}
