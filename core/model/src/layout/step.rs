//! One step of a warp, and the receiver of steps.

use super::request::Request;
use crate::kernel::{Access, LANES};

/// The purpose of a warp's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Copying the block's part of x to shared memory.
    Fill,
    /// The loads before the loop: row pointers, lengths, hack offsets.
    Start,
    /// One step of the loop over slots or nonzeros, numbered from 0.
    Loop(u64),
    /// Storing the sum.
    End,
}

/// What a lane works on in a step: the slot that it reads and the row that its product is added to.
pub type LaneWork = Access;

/// One step of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The purpose.
    pub kind: StepKind,
    /// What each lane works on; absent for idle lanes, and outside loops over slots.
    pub lanes: [Option<LaneWork>; LANES as usize],
    /// The loads and stores of the warp, in order.
    pub requests: Vec<Request>,
}

/// Receives what the model of a warp reports.
pub(super) trait Sink {
    /// A step starts.
    fn step(&mut self, kind: StepKind);
    /// A lane works on a slot in this step.
    fn lane(&mut self, lane: usize, access: Access);
    /// The warp loads or stores in this step; at least one lane is active.
    fn request(&mut self, request: &Request);
}

/// Keeps every step.
impl Sink for Vec<Step> {
    fn step(&mut self, kind: StepKind) {
        self.push(Step { kind, lanes: [None; LANES as usize], requests: Vec::new() });
    }

    fn lane(&mut self, lane: usize, access: Access) {
        if let Some(step) = self.last_mut() {
            step.lanes[lane] = Some(access);
        }
    }

    fn request(&mut self, request: &Request) {
        if let Some(step) = self.last_mut() {
            step.requests.push(*request);
        }
    }
}
